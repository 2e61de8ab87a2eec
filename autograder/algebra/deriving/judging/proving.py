"""Whether a chain proves itself when it is made: by verify and generate, not at each grading."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_PROVED = ContextVar("proved", default=False)


@contextmanager
def taken_as_proved() -> Iterator[None]:
    """Let chains that are made meanwhile go unproved: somebody has proved them before."""
    token = _PROVED.set(True)
    try:
        yield
    finally:
        _PROVED.reset(token)


def is_taken_as_proved() -> bool:
    """Whether a chain that is made now was proved before."""
    return _PROVED.get()
