"""About how large a number is in which no name stands, found with few digits and no patience.

The grader computes such a number before it builds it, and refuses what is out of range: towers of
powers, and what has no value.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable
from fractions import Fraction

from autograder.algebra.reading.amounts import Amount
from autograder.algebra.reading.tree import Node

LARGEST_LOGARITHM = 1000
LARGEST_POWER, LARGEST_INDEXED_POWER = 10_000, 12  # of what holds a name
MOST_BITS_OF_POWER = 2000
_NEAR = 1e-9  # zero, but for rounding
_CONSTANTS = {"pi": cmath.pi, "π": cmath.pi, "e": cmath.e, "E": cmath.e}
_FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    "exp": cmath.exp,
    "log": cmath.log,
    "ln": cmath.log,
    "sqrt": cmath.sqrt,
    "sin": cmath.sin,
    "cos": cmath.cos,
    "tan": cmath.tan,
}
_POLES = {"tan": cmath.cos, "sec": cmath.cos, "cot": cmath.sin, "csc": cmath.sin}


def magnitude(node: Node) -> complex | None:
    """Return about what a number is; None where that is not known, or it is out of range."""
    try:
        return _computed(node)
    except (ArithmeticError, ValueError, KeyError):
        return None


def power_problem(node: Node, base: Amount, exponent: Amount, *, indexed: bool) -> str:
    """Say why a power is not built, "" if it is; `indexed` of lines with indices."""
    most = LARGEST_INDEXED_POWER if indexed else LARGEST_POWER
    constant = base.constant and exponent.constant
    if exponent.constant and indexed and not exponent.exact:
        return f"a power may be at most {most}"
    if exponent.exact and exponent.number is not None and exponent.constant:
        known = base.number if base.exact and base.constant else None
        most = LARGEST_LOGARITHM if constant and not indexed else most
        too_large = abs(exponent.number) > most or (known and _is_long(known, exponent.number))
        return "this power is too large" if too_large else ""
    if constant and base.number == 0:
        return "this power is not defined"
    return "this number is too large" if constant and _is_tower(node) else ""


def _is_tower(node: Node) -> bool:
    base, exponent = map(magnitude, node.children)
    if not base or exponent is None:
        return False
    return abs(exponent * cmath.log(base)) > LARGEST_LOGARITHM


def _is_long(base: Fraction, exponent: Fraction) -> bool:
    length = max(abs(base.numerator).bit_length(), base.denominator.bit_length())
    return length > MOST_BITS_OF_POWER or length * abs(exponent) > MOST_BITS_OF_POWER


def is_large_argument(node: Node) -> bool:
    """Whether a number is too large for an exponential."""
    value = magnitude(node)
    return value is not None and abs(value) > LARGEST_LOGARITHM


def is_pole(word: str, node: Node) -> bool:
    """Whether a function has no value there, as tan(pi/2) has none."""
    value = magnitude(node)
    return word in _POLES and value is not None and abs(_POLES[word](value)) < _NEAR


def _computed(node: Node) -> complex:
    word = node.token.text
    match node.kind:
        case "group":
            return _computed(node.children[0])
        case "number":
            return complex(float(Fraction(word)))
        case "name":
            return complex(_CONSTANTS[word])
        case "negative":
            return -_computed(node.children[0])
        case "power":
            base, exponent = map(_computed, node.children)
            return base**exponent
        case "call" if len(node.children) == 1:
            return _FUNCTIONS[word](_computed(node.children[0]))
        case "chain":
            total = _computed(node.children[0])
            for mark, child in zip(node.marks, node.children[1:], strict=True):
                right = _computed(child)
                total = _combined(mark, total, right)
            return total
    raise ValueError(node.kind)


def _combined(mark: str, a: complex, b: complex) -> complex:
    match mark:
        case "+":
            return a + b
        case "-":
            return a - b
        case "/":
            return a / b
    return a * b
