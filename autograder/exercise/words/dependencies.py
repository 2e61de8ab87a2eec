"""The dependency graph of parts: what follows from a variant, and from earlier answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.exercise.answers.kind import FormatError
from autograder.exercise.cache import Unfamiliar, Values, copied, remembered, size_of
from autograder.exercise.nearest import meant
from autograder.exercise.words.arguments import as_argument
from autograder.exercise.words.part import AuthoringError, arguments, computation, place_of

if TYPE_CHECKING:
    from autograder.exercise.words.part import Function, Misconception, Part
    from autograder.exercise.words.vocabulary import Exercise

_COUNTS = 10_000  # bytes of a variant's answers: more count as several
Known = dict[str, Any]  #: a variant's numbers, functions and answers to earlier parts, by name


def apply(compute: Function | Misconception | Part, known: Mapping[str, Any]) -> Any:
    """Call ``compute`` with the known values that its arguments name."""
    function = computation(compute)
    return function(
        **{name: as_argument(value) for name, value in _needed(function, known).items()}
    )


def _needed(function: Function, known: Mapping[str, Any]) -> Known:
    """Return what a function's arguments name.

    Raises
    ------
    AuthoringError
        If one of them names nothing.
    """
    try:
        return {name: known[name] for name in arguments(function)}
    except KeyError as error:
        name = str(error.args[0])
        raise AuthoringError(
            f"{place_of(function)}: `{name}`, an argument of `{function.__name__}`, is no number "
            f"of the variant, no earlier part and no function{meant(name, known)}; there are "
            f"{', '.join(known) or 'none'}"
        ) from None


def evaluate(part: Part, compute: Function | Misconception | Part, known: Mapping[str, Any]) -> Any:
    """Return what ``compute`` gives from the known values, as an answer to ``part``.

    It is worked out once for the same values, whoever has them.
    """
    function = computation(compute)
    needed = _needed(function, known)
    try:
        values = Values(needed)
    except Unfamiliar:
        return part.answer.read(apply(function, needed))
    return copied(_evaluated(part, function, values))


@remembered(lasts=True)
def _evaluated(part: Part, function: Function, values: Values) -> Any:
    return part.answer.read(apply(function, copied(values.values)))


def solve(exercise: Exercise, variant: Mapping[str, Any]) -> Known:
    """Return ``variant`` with the right functions, and the right answer to every part as read.

    Raises
    ------
    AuthoringError
        If a part gives no such answer as it declares.
    """
    try:
        values = Values(variant)
    except Unfamiliar:
        return _solved(exercise, variant)
    known: Known = copied(_solved_remembered(exercise, tuple(exercise.parts), values))
    return known


@remembered(weight=lambda known: 1 + size_of(known) // _COUNTS)
def _solved_remembered(exercise: Exercise, _: tuple[Part, ...], variant: Values) -> Known:
    return _solved(exercise, copied(variant.values))


def _solved(exercise: Exercise, variant: Mapping[str, Any]) -> Known:
    known = {**variant, **exercise.solutions}
    for part in exercise.parts:
        try:
            known[part.name] = evaluate(part, part, known)
        except FormatError as error:
            given = shorten(", ".join(f"{n} = {known[n]!r}" for n in part.needs), 200)
            raise AuthoringError(
                f"{place_of(part.compute)}, in {part.name}({given}): {error}"
            ) from error
    return known


def band(
    compute: Function | Misconception | Part, known: Mapping[str, Any], rounding: Mapping[str, Any]
) -> Any:
    """Return how far rounding of the carried values can move the result, entry by entry.

    A carried value is known only to the digits that the student wrote.  To first order the
    result moves by at most Σ ``|f(x ± h) − f(x)|`` over the entries x and their half units h; where
    it jumps, as through argmax, that counts nothing.

    Parameters
    ----------
    rounding
        Half units by name, each of the shape of the value in ``known``.

    Returns
    -------
    numpy.ndarray or float
        0.0 where nothing that ``compute`` depends on was rounded.
    """
    function = computation(compute)
    needed = _needed(function, known)
    rounded = {name: rounding[name] for name in needed if name in rounding}
    if not any(map(np.any, rounded.values())):
        return 0.0
    try:
        values = Values((needed, rounded))
    except Unfamiliar:
        return _band(function, needed, rounded)
    return copied(_band_remembered(function, values))


@remembered()
def _band_remembered(function: Function, values: Values) -> Any:
    return _band(function, *copied(values.values))


def _band(function: Function, known: Mapping[str, Any], rounded: Mapping[str, Any]) -> Any:
    centre = np.asarray(apply(function, known), float)
    total = np.zeros_like(centre)

    def moved(name: str, index: tuple[int, ...], step: float) -> Any:
        other = np.array(known[name], float)
        other[index] += step
        return np.abs(np.asarray(apply(function, {**known, name: other}), float) - centre)

    for name, halves in rounded.items():
        half = np.asarray(halves)
        for index in np.ndindex(half.shape):
            steps = [
                _smooth(partial(moved, name, index), sign * float(half[index])) for sign in (-1, 1)
            ]
            total += np.maximum(*steps)
    return np.where(np.isfinite(total), total, 0.0)


def _smooth(moved: Callable[[float], Any], step: float) -> Any:
    """Return by how much a step moves each entry; 0 where it jumps.

    Half a step moves it about half as far.  Through argmax, sign and round it moves as far or not
    at all, and no rounding excuses that.
    """
    whole, half = moved(step), moved(step / 2)
    return np.where((half > 0.15 * whole) & (half < 0.85 * whole), whole, 0.0)
