"""About how large a number is in which no name stands, found with few digits and no patience.

The grader computes such a number before it builds it, and refuses what is out of range: towers of
powers, and what has no value.
"""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable
from fractions import Fraction

from autograder.algebra.reading.amounts import ABSOLUTE, EXTREMA, Amount

LARGEST_LOGARITHM = 1000
LARGEST_ANGLE = 1e60
LARGEST_POWER, LARGEST_INDEXED_POWER = 10_000, 12  # of what holds a name
MOST_BITS_OF_POWER = 2000
_NEAR = 1e-9  # zero, but for rounding
_FAR = 1e6  # angles beyond it have lost too many digits
_OF_ANGLES = ("sin", "cos", "tan", "cot")
_CONSTANTS = {"pi": cmath.pi, "e": cmath.e, "E": cmath.e, "I": 1j}


def _bounded(
    function: Callable[[complex], complex], most: float = LARGEST_LOGARITHM
) -> Callable[[complex], complex]:
    """Return a function that is infinite where the grader doesn't compute it."""
    return lambda x: function(x) if abs(x) <= most else complex("inf")


def _logarithm(base: float) -> Callable[[complex], complex]:
    """Return a logarithm, which says nothing of what is out of range: log(exp(900)) is 900."""
    return lambda x: cmath.log(x, base) if cmath.isfinite(x) else cmath.nan


_FUNCTIONS: dict[str, Callable[..., complex]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": operator.pow,
    "exp": cmath.exp,
    "sqrt": cmath.sqrt,
    **{name: _bounded(getattr(cmath, name), LARGEST_ANGLE) for name in ("sin", "cos", "tan")},
    "sinh": cmath.sinh,
    "cosh": cmath.cosh,
    "tanh": cmath.tanh,
    "log10": _logarithm(10),
    "log2": _logarithm(2),
    "factorial": lambda x: math.gamma(x.real + 1),
    "floor": lambda x: math.floor(x.real),
    "sgn": lambda x: (x.real > 0) - (x.real < 0),
    "sign": lambda x: (x.real > 0) - (x.real < 0),
}
_FUNCTIONS["cot"] = _bounded(lambda x: 1 / cmath.tan(x), LARGEST_ANGLE)
_FUNCTIONS |= dict.fromkeys(("log", "ln"), _logarithm(cmath.e)) | dict.fromkeys(ABSOLUTE, abs)
_FUNCTIONS |= dict.fromkeys(("ceil", "ceiling"), lambda x: math.ceil(x.real))
_FUNCTIONS |= dict.fromkeys(EXTREMA[:3], lambda *xs: max(x.real for x in xs))
_FUNCTIONS |= dict.fromkeys(EXTREMA[3:], lambda *xs: min(x.real for x in xs))
for _name in ("asin", "acos", "atan"):
    _FUNCTIONS |= dict.fromkeys((_name, f"arc{_name[1:]}"), _bounded(getattr(cmath, _name)))
_POLES = {"tan": cmath.cos, "sec": cmath.cos, "cot": cmath.sin, "csc": cmath.sin}


def constant(word: str) -> complex | None:
    """Return about what a constant is, None for one that is not known here."""
    return _CONSTANTS.get(word)


def sized(amount: Amount, word: str, *args: Amount) -> Amount:
    """Return an amount with about what it is, which an operation or a function makes of others."""
    if not amount.constant or amount.exact or word not in _FUNCTIONS:
        return amount
    if word in _OF_ANGLES and (value := _at_an_angle(word, *args)) is not None:
        return Amount(value, True, True)
    known = [about for about in map(about_what, args) if about is not None]
    if len(known) < len(args):
        return amount
    try:
        return amount._replace(about=complex(_FUNCTIONS[word](*known)))
    except (OverflowError, ZeroDivisionError):  # exp(900), 1/exp(-900)
        return amount._replace(about=complex("inf"))
    except (ArithmeticError, ValueError, TypeError):
        return amount


def _at_an_angle(word: str, angle: Amount) -> Fraction | None:
    """Return sin, cos, tan or cot of a multiple of π/12 where it is rational, as sin(π) is 0."""
    turned = 12 * (angle.about or 0) / cmath.pi
    if not angle.about or abs(turned) > _FAR or abs(turned - round(turned.real)) > _NEAR:
        return None
    value = _FUNCTIONS[word](angle.about)
    twice = round(2 * value.real) if abs(value) < 2 else 0
    return Fraction(twice, 2) if abs(value - twice / 2) < _NEAR else None


def about_what(amount: Amount) -> complex | None:
    """Return about what a number is; None where that is not known, or it is out of range."""
    if not (amount.exact and amount.constant and amount.number is not None):
        return amount.about
    try:
        return complex(float(amount.number))
    except OverflowError:
        return None


def power_problem(base: Amount, exponent: Amount, *, indexed: bool) -> str:
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
    return "this number is too large" if constant and _is_tower(base, exponent) else ""


def _is_tower(base: Amount, exponent: Amount) -> bool:
    below, above = about_what(base), about_what(exponent)
    if not below or above is None:
        return False
    return abs(above * cmath.log(below)) > LARGEST_LOGARITHM


def _is_long(base: Fraction, exponent: Fraction) -> bool:
    length = max(abs(base.numerator).bit_length(), base.denominator.bit_length())
    return length > MOST_BITS_OF_POWER or length * abs(exponent) > MOST_BITS_OF_POWER


def is_large_argument(amount: Amount) -> bool:
    """Whether a number is too large for an exponential."""
    if amount.exact and amount.constant and amount.number is not None:
        return abs(amount.number) > LARGEST_LOGARITHM
    return amount.about is not None and abs(amount.about) > LARGEST_LOGARITHM


def is_pole(word: str, amount: Amount) -> bool:
    """Whether a function has no value there, as tan(pi/2) has none."""
    if word not in _POLES:
        return False
    if amount.exact and amount.number is not None:
        return amount.number == 0 and word in ("cot", "csc")
    return amount.about is not None and abs(_POLES[word](amount.about)) < _NEAR
