"""Whether a formula may be another one: by their values at a few points, before any algebra."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from autograder.exercise import Formula
from autograder.exercise.answers.kind import Answer

_FUNCTIONS: dict[str, Any] = {
    **{name: getattr(math, name) for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "tanh")},
    "__builtins__": {},
    "abs": abs,
    "pi": math.pi,
    "e": math.e,
    "E": math.e,
}
_NO_NUMBERS = ("vector", "matrix", "function")
_NEAR, _NOISE = 1e-6, 1e-10
_GOLDEN = 0.6180339887


def excluding(kind: Answer, formula: Any) -> Callable[[object], bool]:
    """Return whether a text, which is a reference's own, can't be this formula.

    Where it has no real value at a point, or another function stands in it, nothing is excluded.
    """
    known = [*_values(kind, formula)] if isinstance(kind, Formula) else []

    def excludes(text: object) -> bool:
        if not known or not isinstance(text, str):
            return False
        try:
            code = compile(ast.parse(text.replace("^", "**"), mode="eval"), "<formula>", "eval")
        except (SyntaxError, ValueError):
            return False
        return any(_differ(code, point, value) for point, value in known)

    return excludes


def _values(kind: Formula, formula: Any) -> Iterator[tuple[dict[str, float], float]]:
    """Yield points and the formula's value there: two between 0 and 1, and two above."""
    from autograder.algebra.building.numeric import Undefined, value_at  # few answers need it

    assumed = kind.assumptions
    if kind.definitions or any(word in text for text in assumed.values() for word in _NO_NUMBERS):
        return
    for number in range(4):
        point: dict[str, float] = {}
        for place, name in enumerate(kind.names.split(), 4 * number + 1):
            part = place * _GOLDEN % 1
            whole = "integer" in assumed.get(name, assumed.get("*", ""))
            point[name] = 2 + place if whole else 0.1 + 0.8 * part + (number > 1) * (1 + 3 * part)
        try:
            yield point, float(value_at(formula, point))
        except (Undefined, ArithmeticError, TypeError, ValueError):
            continue


def _differ(code: CodeType, point: dict[str, float], value: float) -> bool:
    try:
        other = eval(code, _FUNCTIONS, point)
        return bool(abs(other - value) > _NEAR * max(abs(other), abs(value)) + _NOISE)
    except (ArithmeticError, NameError, TypeError, ValueError):
        return False
