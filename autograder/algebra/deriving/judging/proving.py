"""Whether a chain proves itself when it is made: by verify and generate, not at each grading."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property

_PROVED = ContextVar("proved", default=False)


@contextmanager
def taken_as_proved() -> Iterator[None]:
    """Let chains that are made meanwhile go unproved: somebody has proved them before."""
    token = _PROVED.set(True)
    try:
        yield
    finally:
        _PROVED.reset(token)


class ProvesItself:
    """Something that proves itself when it is made, or before anybody loses by it."""

    def __post_init__(self) -> None:
        if not _PROVED.get():
            _ = self.proved

    @cached_property
    def proved(self) -> bool:
        """True; raises `ValueError` where the parts do not fit together."""
        self.prove()
        return True

    def prove(self) -> None:
        """Hold the parts against one another."""
        raise NotImplementedError
