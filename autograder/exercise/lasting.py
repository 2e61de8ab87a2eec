"""What outlives a process: results that took long, for whoever asks for the same later.

What is kept stands under a hash of all that was asked.  What else it depends on (the engine, the
modules of the exercises, the libraries) is the affair of who keeps it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields, is_dataclass
from types import CodeType, FunctionType
from typing import Any, Protocol

import numpy as np

#: Seconds of processor time that a result must have taken: less is sooner worked out than read.
WORTH = 0.01
#: Whose functions are known by their names: files of theirs are hashed by who keeps results.
_OURS = ("autograder", "reference")
#: By what parts, checks, functions and misconceptions are known: they hold much besides.
_KNOWN_BY = ("compute", "run", "solution")
_DEEPEST = 30


class Results(Protocol):
    """Results with the names of the references that were called for them.

    A topic is what a function was asked about: a part, a function, a derivation.
    """

    def knows(self, topic: bytes) -> bool:
        """Tell whether there may be anything about a topic."""

    def find(self, key: bytes) -> tuple[Any, set[str]] | None:
        """Return what is kept under a key, if anything is."""

    def keep(self, topic: bytes, key: bytes, result: Any, names: set[str]) -> None:
        """Keep a result, if it is one that can be kept."""


_results: ContextVar[Results | None] = ContextVar("results", default=None)


@contextmanager
def lasting(results: Results) -> Iterator[None]:
    """Let what is worked out meanwhile be found here, and be kept."""
    token = _results.set(results)
    try:
        yield
    finally:
        _results.reset(token)


def are_kept() -> bool:
    """Tell whether results are kept now."""
    return _results.get() is not None


def recalled(topic: bytes, asked: object) -> tuple[Any, set[str]] | None:
    """Return what is kept of what was asked, with the names of the references that were called.

    Most of what is asked takes no time: of topics about which nothing is kept, no key is made.
    """
    kept = _results.get()
    if kept is None or not kept.knows(topic):
        return None
    key = key_of(topic, asked)
    return None if key is None else kept.find(key)


def keep(topic: bytes, asked: object, result: Any, names: set[str]) -> None:
    """Keep a result; not None, which nothing tells from what could not be found out."""
    kept = _results.get()
    if kept is None or result is None:
        return
    if (key := key_of(topic, asked)) is not None:
        kept.keep(topic, key, result, names)


def key_of(*asked: object) -> bytes | None:
    """Return a hash of what was asked; None where some of it has no name that lasts.

    >>> key_of("a", 1) == key_of("a", 1), key_of(1) == key_of(True), key_of(object())
    (True, False, None)
    """
    found = hashlib.sha256()
    try:
        for piece in _pieces(asked, 0):
            found.update(b"%d:" % len(piece))
            found.update(piece)
    except (_Nameless, ValueError):  # a name that a function uses may have no value yet
        return None
    return found.digest()


class _Nameless(Exception):
    """It has no name that another process would give it."""


def _pieces(value: Any, depth: int) -> Iterator[bytes]:
    """Yield what tells a value from all others, kind and length first."""
    if depth > _DEEPEST:
        raise _Nameless
    kind = type(value)
    if value is None or isinstance(value, bool | int | float | complex | str | np.generic):
        yield f"{kind.__name__} {value!r}".encode(errors="surrogatepass")
    elif kind is bytes:
        yield b"bytes"
        yield value
    elif kind in (tuple, list):
        yield b"%s %d" % (kind.__name__.encode(), len(value))
        for each in value:
            yield from _pieces(each, depth + 1)
    elif kind in (set, frozenset):
        yield b"set %d" % len(value)
        yield from sorted(b"".join(_pieces(each, depth + 1)) for each in value)
    elif isinstance(value, Mapping):
        yield b"mapping %d" % len(value)
        for item in value.items():
            yield from _pieces(item, depth + 1)
    elif isinstance(value, FunctionType):
        yield _place(value)
        yield from _written(value.__code__)
        held = [cell.cell_contents for cell in value.__closure__ or ()]
        held += [value.__defaults__, value.__kwdefaults__]
        yield from _pieces(held, depth + 1)
    elif isinstance(value, type):
        yield f"{value.__module__} {value.__qualname__}".encode()
    elif is_dataclass(value):
        yield _place(kind)
        names = [each.name for each in fields(value)]
        names = [name for name in names if name in _KNOWN_BY] or names
        yield from _pieces([getattr(value, name) for name in names], depth + 1)
    else:
        raise _Nameless


def _written(code: CodeType) -> Iterator[bytes]:
    """Yield where code stands and what it does: two functions may stand in one line."""
    yield b"%d" % code.co_firstlineno
    yield code.co_code
    yield repr(code.co_names).encode()
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _written(constant)
        elif not isinstance(constant, frozenset):  # whose order is not the same everywhere
            yield repr(constant).encode(errors="surrogatepass")


def _place(defined: FunctionType | type) -> bytes:
    """Return where something of ours was defined."""
    if (defined.__module__ or "").partition(".")[0] not in _OURS:  # `exec` may name none
        raise _Nameless
    return f"{defined.__module__} {defined.__qualname__}".encode()
