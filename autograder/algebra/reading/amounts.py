"""What a formula may use, and what its parts come to: numbers, some of which stand for names."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Collection, Mapping
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
    ordered = mark in "*∘" and matrix and not (left.constant or right.constant)
    if a is None or b is None or ordered:
        zero = mark in "*∘" and (a == 0 or b == 0)
        return Amount(Fraction(0) if zero else None, zero, zero or constant, matrix)
    value = a + b if mark == "+" else a - b if mark == "-" else a / b if mark == "/" else a * b
    zero = value == 0  # of blocks that go out nothing is left
    return Amount(value, exact or zero, constant or zero, matrix and not zero)


def applied(word: str, args: list[Amount]) -> Amount:
    """Return the value of a function, or a number that stands for it."""
    if word == "transpose":
        return args[0]
    constant = all(one.constant for one in args)
    numbers = [one.number for one in args if one.exact and one.number is not None]
    value: Fraction | int | None = _whatever_names_are(word, args)
    if value is None and constant and len(numbers) == len(args) and word in _OF_NUMBERS:
        value = _OF_NUMBERS[word](*numbers)
    if value is None:
        return Amount(opaque(word, *args), constant=constant)
    return Amount(Fraction(value), True, True)


def _whatever_names_are(word: str, args: list[Amount]) -> int | None:
    """Return what a function comes to for any values of the names in it: log(1), exp(x - x)."""
    first, *others = [one.number for one in args]
    like_the_next = first is not None and others[:1] == [first]
    if word in _AT_ZERO and first == 0:
        return _AT_ZERO[word]
    if word in ("log", "ln", "log2", "log10") and first == 1:
        return 0
    if word == "log" and like_the_next:
        return 1
    if word in BINOMIALS and (like_the_next or others == [0]):
        return 1
    if word in ("KroneckerDelta", "delta"):
        apart = combined("-", *args)
        if apart.number is not None and (apart.exact or _is_plain(apart.number)):
            return int(apart.number == 0)
    return None


def _whole_factorial(number: Fraction) -> int | None:
    is_read = number.denominator == 1 and number <= LARGEST_FACTORIAL
    return math.factorial(int(number)) if is_read else None


def _choices(above: Fraction, below: Fraction) -> int | None:
    is_read = above.denominator == below.denominator == 1 and 0 <= below <= above
    return math.comb(int(above), int(below)) if is_read and above <= LARGEST_FACTORIAL else None


def _whole_log2(number: Fraction) -> int | None:
    whole, below = number.as_integer_ratio()
    is_power = whole > 0 and whole.bit_count() == below == 1
    return whole.bit_length() - 1 if is_power else None


#: What functions make of numbers; None where that is no fraction, or too large.
_OF_NUMBERS: dict[str, Callable[..., Fraction | int | None]] = {
    **dict.fromkeys(ABSOLUTE, abs),
    **dict.fromkeys(("sign", "sgn"), lambda number: (number > 0) - (number < 0)),
    **dict.fromkeys(EXTREMA[:3], lambda *numbers: max(numbers)),
    **dict.fromkeys(EXTREMA[3:], lambda *numbers: min(numbers)),
    **dict.fromkeys(BINOMIALS, _choices),
    "factorial": _whole_factorial,
    "log2": _whole_log2,
    "relu": lambda number: max(number, 0),
}


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
