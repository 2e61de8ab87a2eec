"""What a function earns that does nothing: a property that holds of anything is none."""

from __future__ import annotations

import contextlib
import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np

from autograder.exercise import CheckedFunction
from autograder.exercise.words.part import computation
from autograder.grading.checks import grade_checks
from autograder.grading.local import Local
from autograder.grading.results import Status
from autograder.student.differences import numbers_of

#: Of an exercise's points, for what does nothing.
MOST = 0.05

Change = Callable[[Any, tuple[Any, ...]], Any]


@dataclass(frozen=True)
class Vacuous:
    """What earns points without doing anything.

    Attributes
    ----------
    tried
        What comes in the place of each right result.
    points, of
        What that earns, and what the exercise is worth.
    checks
        Which checks it passes.
    """

    function: str
    tried: str
    points: float
    of: float
    checks: tuple[str, ...]

    @property
    def too_much(self) -> bool:
        """Is it more than a check or two may let pass?"""
        return self.points > MOST * self.of and self.tried != SLIP

    def __str__(self) -> str:
        passed = ", ".join(f"`{name}`" for name in self.checks)
        return (
            f"`{self.function}` earns {self.points:g} of {self.of:g} with {self.tried} for every "
            f"result: {passed} should ask for something that this isn't"
        )


#: What theory says, and noise, looks like the result of an experiment that is given a seed.
NOISE = "the results of other draws, with some noise,"

#: A factor too many is a slip, which may leave much right; what it earns is told, and no problem.
SLIP = "twice the right numbers"


def vacuous(function: CheckedFunction, points: float) -> list[Vacuous]:
    """Return what each way to do nothing earns, where it earns anything.

    Parameters
    ----------
    points
        What the exercise is worth.
    """
    found = []
    asked: list[Any] = []
    for tried, change in _tries().items():
        wrong: list[bool] = []
        idle = _idle(_right(function), _noting(change, wrong, asked))
        items = grade_checks(function, idle)
        # What a known mistake keeps is due to it, whatever else gives that result.
        passed = {item.name: item.score or 0.0 for item in items if item.status is Status.PASSED}
        if passed and any(wrong):
            earned = float(sum(passed.values()))
            found.append(Vacuous(function.name, tried, earned, points, tuple(passed)))
    if asked and all(isinstance(value, _PLAIN) for value in asked) and _passes_by_noise(function):
        names = tuple(check.name for check in function.checks)
        earned = float(sum(check.points for check in function.checks))
        found.append(Vacuous(function.name, NOISE, earned, points, names))
    return found


_PLAIN = (int, float, np.integer, np.floating)  #: Sizes and seeds: nothing to compute with.


def _passes_by_noise(function: CheckedFunction) -> bool:
    """Tell whether every check is passed by what came for other draws, and half a percent of noise.

    Only numbers are given to such a function, so its checks must ask for an experiment.
    """
    return all(
        _by_noise(replace(function, checks=(replace(check, after=None),)))
        for check in function.checks
    )


def _by_noise(function: CheckedFunction) -> bool:
    rng, right = np.random.default_rng(0), _right(function)
    kept: list[tuple[Any, Any]] = []

    def keeping(*args: object) -> Any:
        kept.append((args, right(*args)))
        return kept[-1][1]

    grade_checks(function, keeping, secret="other draws")
    others = iter(kept)

    def known(*args: object) -> Any:
        other, value = next(others, (args, None))
        if other == args:  # it has no other draws
            return None
        return _through(value, lambda array: array * (1 + rng.normal(0, 0.005, array.shape)))

    return grade_checks(function, known)[0].status is Status.PASSED


def _right(function: CheckedFunction) -> Any:
    """Return what gives the right results; of a training, from the one run of the reference."""
    solution = computation(function.solution)
    if not any(check.draws for check in function.checks):
        return solution

    @wraps(solution)
    def known(*args: object, **kwargs: object) -> Any:
        return copy.deepcopy(Local(solution).once(args, kwargs).value)

    return known


def _noting(change: Change, wrong: list[bool], asked: list[Any]) -> Change:
    """Do the same, and note what is given, and whether another result than the right one comes."""

    def noting(value: object, args: tuple[Any, ...]) -> Any:
        asked.extend(args)
        changed = change(value, args)
        wrong.append(_plain(changed) != _plain(value))
        return changed

    return noting


def _plain(value: Any) -> str:
    found: list[Any] = []

    def note(array: Any) -> Any:
        found.append(array.tolist())
        return array

    _through(value, note)
    return repr((type(value).__name__, found))


def _tries() -> dict[str, Change]:
    def filled(number: float) -> Change:
        return lambda value, _args: _through(value, lambda array: np.full_like(array, number))

    return {
        "None": lambda *_: None,
        "False": lambda *_: False,
        "True": lambda *_: True,
        "zeros": filled(0),
        "ones": filled(1),
        "NaN": lambda value, _args: _through(value, lambda array: np.full(array.shape, np.nan)),
        "the first argument": lambda _, args: args[0] if args else None,
        "the last argument": lambda _, args: args[-1] if args else None,
        SLIP: lambda value, _args: _through(value, lambda a: ~a if a.dtype == bool else 2 * a),
    }


def _idle(solution: Any, change: Change) -> Any:
    """Return a function, or a class with the same methods, that does nothing with what it gets."""
    if not isinstance(solution, type):
        return _changed(solution, change, 0)

    def __init__(self: object, *args: object, **kwargs: object) -> None:
        with contextlib.suppress(Exception):  # a wrong one may not be made at all
            vars(self)["_right"] = solution(*args, **kwargs)

    def method(name: str) -> Any:
        @_changing(change, 1)
        def call(self: object, *args: object, **kwargs: object) -> Any:
            return getattr(vars(self).get("_right"), name)(*args, **kwargs)

        return call

    names = [name for name, _ in inspect.getmembers(solution, inspect.isfunction)]
    own = {name: method(name) for name in names if name == "__call__" or not name.startswith("_")}
    return type(solution.__name__, (), {**own, "__init__": __init__})


def _changed(function: Callable[..., Any], change: Change, skipped: int) -> Any:
    changed: Any = wraps(function)(_changing(change, skipped)(function))
    changed.__signature__ = inspect.signature(function)
    del changed.__wrapped__  # an expensive call would be one of the reference itself
    return changed


def _changing(change: Change, skipped: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def changing(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: object, **kwargs: object) -> Any:
            try:
                given = *args[:skipped], *copy.deepcopy(args[skipped:])  # an object keeps its state
                value = function(*given, **copy.deepcopy(kwargs))
            except Exception:  # who does nothing refuses nothing
                value = None
            return change(value, (*args[skipped:], *kwargs.values()))

        return call

    return changing


def _through(value: Any, change: Callable[[Any], Any]) -> Any:
    """Change the numbers in a result, which may be tuples, lists and dictionaries of arrays."""
    if isinstance(value, tuple | list):
        return type(value)(_through(entry, change) for entry in value)
    if isinstance(value, dict):
        return {key: _through(entry, change) for key, entry in value.items()}
    if hasattr(value, "detach"):
        return value.new_tensor(change(numbers_of(value)))
    if isinstance(value, np.ndarray | np.generic | bool | int | float):
        made = change(np.asarray(value))
        return made[()] if isinstance(made, np.ndarray) and not made.ndim else made
    return value
