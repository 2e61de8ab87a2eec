"""What numbers in a text may be worked out with: constants, functions and operations, bounded."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from autograder.student.powers_of_ten import EULER

MOST_BITS = 4096  # of a number that is worked out exactly
_MOST = 170  # a larger number's factorial is beyond what a float can hold

CONSTANTS = {"pi": math.pi, "π": math.pi, "e": math.e, EULER: math.e}
SPECIAL = {"inf": math.inf, "infinity": math.inf, "oo": math.inf, "nan": math.nan}


def _factorial(number: Any) -> Any:
    if number != int(number):
        raise ValueError("only whole numbers have one")
    return math.factorial(int(number)) if number <= _MOST else math.inf


_EXACT: dict[str, Callable[[Any], Any]] = {
    "abs": abs,
    "ceil": math.ceil,
    "floor": math.floor,
    "factorial": _factorial,
}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    **_EXACT,
    "exp": math.exp,
    "log": math.log,
    "ln": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "tanh": math.tanh,
}


def applied(name: str, number: Fraction | float) -> Fraction | float:
    """Return the value of a function, exactly where it has whole ones."""
    if name not in _EXACT:
        return float(FUNCTIONS[name](float(number)))
    value = _EXACT[name](number)
    return Fraction(value) if isinstance(value, int) else value


def operated(sign: str, a: Fraction | float, b: Fraction | float) -> Any:
    """Work out an operation, exactly as long as the numbers are short."""
    if sign == "^":
        size = _bits(a) * abs(float(b))
        if isinstance(b, Fraction) and b.denominator == 1 and size <= MOST_BITS:
            return a ** int(b)
        return math.pow(a, b)
    if _bits(a) + _bits(b) > MOST_BITS:
        a, b = float(a), float(b)
    if sign == "+":
        return a + b
    if sign == "-":
        return a - b
    return a * b if sign == "*" else a / b


def _bits(number: Fraction | float) -> int:
    if isinstance(number, Fraction):
        return max(number.numerator.bit_length(), number.denominator.bit_length())
    return 64
