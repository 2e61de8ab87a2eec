"""Formulas in which a number was rounded."""

from __future__ import annotations

from typing import Any

from autograder.algebra.building.numeric import Undefined, value_at
from autograder.exercise.cache import remembered

_FEW_DIGITS = 8  # below a line: 0.5, 0.25 and 0.125 are exact
_NEAR = 5e-3
EXACT = (
    "As a number this comes close, but a formula is exact: write fractions, roots and constants, "
    "such as 1/3, not decimals such as 0.333."
)


@remembered()
def is_rounded(given: Any, expected: Any) -> bool:
    """Whether a formula with decimals comes close to the right one, as 0.333 does to 1/3."""
    if getattr(given, "is_Matrix", True) or getattr(expected, "is_Matrix", True):
        return False  # of a formula in matrices
    numbers = [n for n in given.atoms() if n.is_Rational]
    if not any(n.q > _FEW_DIGITS and 10**12 % n.q == 0 for n in numbers):
        return False
    names = sorted(symbol.name for symbol in given.free_symbols | expected.free_symbols)
    try:
        for shift in (0.7, 1.3, 2.1):
            at = {name: shift + place / 7 for place, name in enumerate(names)}
            right = value_at(expected, at)
            if abs(value_at(given, at) - right) > _NEAR * abs(right):
                return False
    except Undefined:
        return False
    return True
