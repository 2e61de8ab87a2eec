"""What a formula may use, and what its parts come to: numbers, some of which stand for names."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import NamedTuple

_AT_ZERO = dict.fromkeys(("sin", "tan", "sinh", "tanh", "erf", "sqrt", "norm"), 0)
_AT_ZERO |= {"exp": 1, "cos": 1}
EXTREMA = ("max", "Max", "maximum", "min", "Min", "minimum")
ABSOLUTE = ("abs", "Abs", "fabs", "absolute", "norm")
BINOMIALS = ("binomial", "binom", "comb")
LARGEST_FACTORIAL = 300
_STANDS = 2**59 - 55  # a prime, below the line of what stands for a name
_LONG = 2**50


class Amount(NamedTuple):
    """What a part of a formula comes to.

    Attributes
    ----------
    number
        Its value, or one that stands for it; None where nobody knows.
    exact
        Whether it is its value.
    constant
        Whether no name stands in it.
    matrix
        Whether it is a matrix.
    about
        About what it is, where that is known and `number` is not its value.
    """

    number: Fraction | None = None
    exact: bool = False
    constant: bool = False
    matrix: bool = False
    about: complex | None = None


class Vocabulary(NamedTuple):
    """What a formula may use.

    Attributes
    ----------
    known
        Names as declared, by how they are written without underscores.
    constants
        Names such as ``pi``.
    calls
        By function, how many arguments it takes.
    indexed
        Names that carry indices, of lines with indices.
    indices
        What may be an index there.
    blocks
        Names of matrices, where lists are block matrices.
    defined
        Names that stand for something else, which are no variables.
    """

    known: Mapping[str, str]
    constants: Collection[str]
    calls: Mapping[str, tuple[int, int]]
    indexed: Collection[str] = ()
    indices: Collection[str] = ()
    blocks: Collection[str] = ()
    defined: Collection[str] = ()


def combined(mark: str, left: Amount, right: Amount) -> Amount:
    """Return what an operation makes of two amounts."""
    a, b = left.number, right.number
    exact, constant = left.exact and right.exact, left.constant and right.constant
    matrix = left.matrix or right.matrix
    if a is None or b is None:
        zero = mark in "*∘" and (a == 0 or b == 0)
        return Amount(Fraction(0) if zero else None, zero, zero or constant, matrix)
    value = a + b if mark == "+" else a - b if mark == "-" else a / b if mark == "/" else a * b
    return Amount(value, exact or value == 0, constant or value == 0, matrix)


def applied(word: str, args: list[Amount]) -> Amount:
    """Return the value of a function, or a number that stands for it."""
    first, constant = args[0].number, all(one.constant for one in args)
    if word == "transpose":
        return args[0]
    if word in ("KroneckerDelta", "delta"):
        apart = combined("-", *args)
        if apart.number is not None and (apart.exact or _is_plain(apart.number)):
            return Amount(Fraction(apart.number == 0), True, True)
    if word in _AT_ZERO and first == 0:
        return Amount(Fraction(_AT_ZERO[word]), True, True)
    if word in BINOMIALS and (
        args[1].number == 0 or (first is not None and first == args[1].number)
    ):
        return Amount(Fraction(1), True, True)
    if word in ("log", "ln", "log2", "log10") and first == 1:
        return Amount(Fraction(0), True, True)
    if word == "log" and len(args) == 2 and first is not None and first == args[1].number:
        return Amount(Fraction(1), True, True)
    if constant and all(one.exact and one.number is not None for one in args):
        numbers = [one.number for one in args if one.number is not None]
        if word in ABSOLUTE:
            return Amount(abs(numbers[0]), True, True)
        if word in ("sign", "sgn"):
            return Amount(Fraction((numbers[0] > 0) - (numbers[0] < 0)), True, True)
        if word in EXTREMA:
            chosen = max if word.lower().startswith("max") else min
            return Amount(chosen(numbers), True, True)
        if word == "factorial" and numbers[0].denominator == 1 and numbers[0] <= LARGEST_FACTORIAL:
            return Amount(Fraction(math.factorial(int(numbers[0]))), True, True)
        if word in BINOMIALS and all(n.denominator == 1 for n in numbers):
            above, below = map(int, numbers)
            if 0 <= below <= above <= LARGEST_FACTORIAL:
                return Amount(Fraction(math.comb(above, below)), True, True)
        whole, below = numbers[0].as_integer_ratio()
        if word == "log2" and whole > 0 and whole.bit_count() == below == 1:
            return Amount(Fraction(whole.bit_length() - 1), True, True)
        if word == "relu":
            return Amount(max(numbers[0], Fraction(0)), True, True)
    return Amount(opaque(word, *args), constant=constant)


def exact_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    """Return a power of numbers where it is a fraction: 8^(2/3) is 4."""
    whole, degree = exponent.numerator, exponent.denominator
    if degree == 1:
        return base**whole
    if base < 0 or degree > LARGEST_FACTORIAL:
        return None
    try:
        parts = base.as_integer_ratio()
        roots = [math.isqrt(p) if degree == 2 else round(p ** (1 / degree)) for p in parts]
    except OverflowError:
        return None
    root = Fraction(*roots) if roots[1] else Fraction(0)
    return root**whole if root**degree == base else None


def opaque(word: str, *args: Amount) -> Fraction | None:
    """Return the same number for the same function of the same numbers."""
    if any(one.number is None for one in args):
        return None
    return standing_for(f"{word} {' '.join(str(one.number) for one in args)}")


def _is_plain(number: Fraction) -> bool:
    """Whether what stands for names has gone out of a number: it would be long."""
    return max(map(abs, number.as_integer_ratio())) < _LONG


def standing_for(name: str) -> Fraction:
    """Return the number that stands for a name."""
    return Fraction(random.Random(name).getrandbits(60) | 1, _STANDS)


def takes_too_long(word: str, args: list[Amount]) -> bool:
    """Whether a number has too many digits for a factorial."""
    known = [one.number for one in args if one.exact and one.constant and one.number is not None]
    sizes = [max(map(abs, number.as_integer_ratio())) for number in known]
    return word in ("factorial", *BINOMIALS) and max(sizes, default=0) >> 16 > 0


def positive(amount: Amount) -> bool:
    """Whether a number is known to be positive."""
    return amount.number is not None and amount.number > 0
