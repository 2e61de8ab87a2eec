"""An object of the student's, as a check uses it: methods, attributes, its own calls."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from autograder.exercise.words.given import Held, seeded
from autograder.exercise.words.part import computation


@dataclass(frozen=True)
class Gradients:
    """What a torch module or a function of tensors returned, and its derivatives.

    Differentiated is the sum of all results, each entry k times cos k.

    Attributes
    ----------
    value
        What it returned.
    inputs
        A gradient for each floating-point tensor among the arguments; None if nothing depends
        on it.
    parameters
        The same for the parameters, by name.
    count
        How many numbers the parameters hold.
    hidden
        How many further ones were found in what was computed: no parameters of the module.
    """

    value: Any
    inputs: list[Any]
    parameters: dict[str, Any]
    count: int
    hidden: int


class Home(Protocol):
    """Where objects are: another process, or this one."""

    def method(self, key: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a method."""

    def measured(self, key: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Count the work of a method on a copy of the object."""

    def differentiated(
        self, key: int | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Gradients:
        """Differentiate an object that is a module."""

    def get(self, key: int, name: str) -> Any:
        """Return what an attribute holds."""

    def set(self, key: int, name: str, value: object) -> None:
        """Give an attribute a value."""

    def is_method(self, key: int, name: str) -> bool:
        """Say whether an attribute is something to call."""


class Method:
    """A method of an object that is somewhere else."""

    def __init__(self, home: Home, key: int, name: str) -> None:
        self._home, self._key, self._name = home, key, name

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call it there."""
        return self._home.method(self._key, self._name, args, kwargs)

    def work(self, *args: object, **kwargs: object) -> Any:
        """Count the work that such a call is, as `call.work` does; the object stays as it was."""
        return self._home.measured(self._key, self._name, args, kwargs)


class Object:
    """An object that `call.make` has made: it is used as the reference's own would be.

    ``layer(x)`` calls it, ``layer.step(x)`` a method, ``layer.W_q`` reads an attribute as data, and
    ``layer.W_q = W`` sets one, and ``setattr(layer, "weights[W_q]", W)`` an entry of a dictionary
    that an attribute holds.  What the reference's class has as a method is one.
    """

    def __init__(self, home: Home, key: int, kind: type | None) -> None:
        vars(self).update(_home=home, _key=key, _kind=kind)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call the object itself."""
        return self._home.method(self._key, "__call__", args, kwargs)

    def work(self, *args: object, **kwargs: object) -> Any:
        """Count the work of that."""
        return self._home.measured(self._key, "__call__", args, kwargs)

    def gradients(self, *args: object, **kwargs: object) -> Gradients:
        """Call a torch module and differentiate what it returns."""
        home: Home = self._home
        return home.differentiated(self._key, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        known = getattr(self._kind, name, None)
        if callable(known) or (known is None and self._home.is_method(self._key, name)):
            return Method(self._home, self._key, name)
        return self._home.get(self._key, name)

    def __setattr__(self, name: str, value: object) -> None:
        self._home.set(self._key, name, value)


def kind_of(function: Callable[..., Any]) -> type | None:
    """Return the class of what a function makes, as far as that is written down."""
    function = inspect.unwrap(computation(function))
    if isinstance(function, type):
        return function
    if not callable(function):
        return None  # a stub that was left as a name
    said = inspect.get_annotations(function).get("return")
    return said if isinstance(said, type) else None


def held(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return arguments as they can travel.

    Objects are the numbers by which they are known.  Of a generator, which a reference hands on to
    what stands in for another one, comes a new one that is seeded by it.
    """
    return tuple(map(_travelling, args)), {name: _travelling(v) for name, v in kwargs.items()}


def _travelling(value: object) -> Any:
    if isinstance(value, Object):
        return Held(value._key)
    if isinstance(value, np.random.Generator):
        return seeded(int(value.integers(2**63)))
    return value
