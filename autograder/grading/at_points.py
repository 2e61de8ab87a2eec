"""Whether a formula may be another one: by their values at a few points, before any algebra."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from autograder.exercise import Formula
from autograder.exercise.answers.kind import Answer

_NO_NUMBERS = ("vector", "matrix", "function")
_NEAR, _NOISE = 1e-6, 1e-10
_GOLDEN = 0.6180339887


def excluding(kind: Answer, formula: Any) -> Callable[[Any], bool]:
    """Return whether a formula that was read can't be this one.

    Where it has no real value at a point, or another function stands in it, nothing is excluded.
    """
    known = [*_values(kind, formula)] if isinstance(kind, Formula) else []

    def excludes(other: Any) -> bool:
        return any(_differ(_value(other, point), value) for point, value in known)

    return excludes


def _values(kind: Formula, formula: Any) -> Iterator[tuple[dict[str, float], float]]:
    """Yield points and the formula's value there: two between 0 and 1, and two above."""
    assumed = kind.assumptions
    if kind.definitions or any(word in text for text in assumed.values() for word in _NO_NUMBERS):
        return
    for number in range(4):
        point: dict[str, float] = {}
        for place, name in enumerate(kind.names.split(), 4 * number + 1):
            part = place * _GOLDEN % 1
            whole = "integer" in assumed.get(name, assumed.get("*", ""))
            point[name] = 2 + place if whole else 0.1 + 0.8 * part + (number > 1) * (1 + 3 * part)
        value = _value(formula, point)
        if value is not None:
            yield point, value


def _differ(other: float | None, value: float) -> bool:
    if other is None:
        return False
    return abs(other - value) > _NEAR * max(abs(other), abs(value)) + _NOISE


def _value(formula: Any, point: dict[str, float]) -> float | None:
    from autograder.algebra.building.numeric import Undefined, value_at  # few answers need it

    try:
        return float(value_at(formula, point))
    except (Undefined, ArithmeticError, AttributeError, TypeError, ValueError):
        return None
