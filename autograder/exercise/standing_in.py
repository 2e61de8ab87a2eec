"""The student's own earlier functions in place of the references that an exercise builds on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

Function = Callable[..., Any]


@dataclass
class Cast:
    """Who stands in for whom.

    Attributes
    ----------
    own
        The student's functions by name.
    called
        The names of those that have been called meanwhile.
    """

    own: Mapping[str, Function] = field(default_factory=dict)
    called: set[str] = field(default_factory=set)


_cast: ContextVar[Cast | None] = ContextVar("cast", default=None)
_asked: ContextVar[set[str] | None] = ContextVar("asked", default=None)


@contextmanager
def standing_in(own: Mapping[str, Function]) -> Iterator[Cast]:
    """Let these functions stand in for the references of the same name.

    Examples
    --------
    >>> half = replaceable(lambda x: x / 2, "half")
    >>> with standing_in({"half": lambda x: x // 2}) as cast:
    ...     half(3), cast.called
    (1, {'half'})
    >>> half(3)
    1.5
    """
    token = _cast.set(cast := Cast(own))
    try:
        yield cast
    finally:
        _cast.reset(token)


def replaces(names: Iterable[str]) -> bool:
    """Tell whether a student's function stands in for one of these references."""
    cast = _cast.get()
    return cast is not None and not cast.own.keys().isdisjoint(names)


@contextmanager
def noting() -> Iterator[set[str]]:
    """Note which references are called that another function may stand in for.

    Examples
    --------
    >>> half = replaceable(lambda x: x / 2, "half")
    >>> with noting() as names:
    ...     half(3), names
    (1.5, {'half'})
    """
    names: set[str] = set()
    token = _asked.set(names)
    try:
        yield names
    finally:
        _asked.reset(token)
        note(names)


def note(names: Iterable[str]) -> None:
    """Count these as called, where what they gave is known already."""
    if (asked := _asked.get()) is not None:
        asked.update(names)


def replaceable(solution: Function, name: str) -> Function:
    """Return a function or class that is the reference, unless another one stands in for it.

    Of a class, what stands in for it makes the objects; its subclasses stay what they are.
    """
    if isinstance(solution, type):
        return _replaceable_class(solution, name)

    @wraps(solution)
    def current(*args: object, **kwargs: object) -> Any:
        own = _current(name)
        return own(*args, **kwargs) if own else solution(*args, **kwargs)

    return current


def _replaceable_class(solution: type, name: str) -> type:
    def new(cls: type, *args: object, **kwargs: object) -> Any:
        own = _current(name) if cls is current else None
        if own is None:
            return object.__new__(cls)
        return getattr(own, "make", own)(*args, **kwargs)

    known = ("__module__", "__qualname__", "__doc__")
    body = {each: getattr(solution, each) for each in known} | {"__new__": new}
    current = type(solution)(solution.__name__, (solution,), body)
    return current


def _current(name: str) -> Function | None:
    """Return what stands in for a reference, if anything does, and note that it is called."""
    note([name])
    cast = _cast.get()
    if cast is None or name not in cast.own:
        return None
    cast.called.add(name)
    return cast.own[name]
