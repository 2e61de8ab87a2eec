"""What a check hands to a student's function besides data: functions, objects, random generators.

A function's source travels into the process of the student's code with that one call, after the
cells have run, and with it what the function needs of its module: nothing of other checks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from autograder.exercise.words.source import standalone

_LIBRARIES = {"numpy", "torch", *sys.stdlib_module_names}
#: Objects that are in use have numbers from here on; where they are only counted, smaller ones.
FIRST_KEY = 1 << 32
_NAME = "given"  # what a function is called there: its own name could tell what it is


@dataclass(frozen=True)
class Given:
    """A function of the author's as an argument; see `given` and `made`.

    Attributes
    ----------
    function
        What is handed over, or makes it.
    args
        What the function is called with to make it; None hands over the function itself.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...] | None = None

    @property
    def ours(self) -> bool:
        """Is it a function of ours, and not one of a library that everybody has?"""
        return self.function.__module__.partition(".")[0] not in _LIBRARIES

    @property
    def made_of(self) -> tuple[Any, ...]:
        """All that it depends on."""
        return self.function, self.args

    @cached_property
    def source(self) -> str:
        """Code that defines the function under the name ``given``."""
        module, name = self.function.__module__, self.function.__name__
        if not self.ours:
            return f"from {module} import {name} as {_NAME}\n"
        return standalone(self.function, _NAME)

    @property
    def spec(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"source": self.source, "name": _NAME, "args": self.args}

    def here(self) -> Any:
        """Return it as it is in this process."""
        return self.function if self.args is None else self.function(*self.args)


@dataclass(frozen=True)
class Held:
    """An object that a call has made before, as an argument: the number by which it is known."""

    key: int


def given(function: Callable[..., Any]) -> Given:
    """Hand a function of yours to the student's: ``call(given(bowl), x)``.

    It stands in the exercise's module, or among the course's helpers.
    """
    return Given(function)


def made(function: Callable[..., Any], *args: object) -> Given:
    """Hand over what a function of yours returns for these arguments, which are plain data.

    It is called anew for each call of the student's, in the process of the student's code.  So one
    function can make many models: ``call(made(model, "looks ahead"), X)``.
    """
    return Given(function, args)


def seeded(seed: int) -> Given:
    """Hand over ``numpy.random.default_rng(seed)``, which no data can be."""
    return Given(np.random.default_rng, (seed,))


def hands_over(check: Callable[..., None]) -> bool:
    """Tell whether the module of a check uses what hands functions to the student's."""
    names = getattr(check, "__globals__", {})
    return any(value is given or value is made for value in names.values())


def tells(args: Iterable[Any], kwargs: dict[str, Any]) -> bool:
    """Tell whether a function of ours is among arguments: who keeps it might use it elsewhere."""
    return any(isinstance(value, Given) and value.ours for value in (*args, *kwargs.values()))


def portable(args: Iterable[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return arguments as plain data, and beside them what is given besides data, by its place."""
    places = [*enumerate(args), *kwargs.items()]
    special = {place: value for place, value in places if isinstance(value, Given | Held)}
    return {
        "args": tuple(None if i in special else value for i, value in enumerate(args)),
        "kwargs": {name: None if name in special else value for name, value in kwargs.items()},
        "given": [
            (place, value.spec if isinstance(value, Given) else {"object": value.key})
            for place, value in special.items()
        ],
    }
