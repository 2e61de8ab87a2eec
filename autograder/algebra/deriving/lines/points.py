"""What formulas come to at some points, by which zeros and ones in disguise are found."""

from __future__ import annotations

import cmath
import functools
import hashlib
import math
from collections.abc import Callable

from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.branches import BRANCHING, Branches
from autograder.algebra.deriving.lines.structure import Structure

POINTS = 2  # with names for positive numbers
_SCALES = (1, 1, 20, 20, 200, 200)  # of names at points for functions with branches
_KEPT = 2048

Values = tuple[complex, ...]
#: Functions whose values say which they are.
KNOWN: dict[str, Callable[..., complex]] = {
    **{name: getattr(cmath, name) for name in ("log", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: getattr(cmath, name) for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")},
    "log2": lambda x: cmath.log(x, 2),
    "log10": cmath.log10,
    "log1p": lambda x: cmath.log(1 + x),
    "expm1": lambda x: cmath.exp(x) - 1,
    "logaddexp": lambda x, y: cmath.log(cmath.exp(x) + cmath.exp(y)),
    "hypot": lambda x, y: cmath.sqrt(x * x + y * y),
    "sigmoid": lambda x: 1 / (1 + cmath.exp(-x)),
    "cot": lambda x: cmath.cos(x) / cmath.sin(x),
    "sec": lambda x: 1 / cmath.cos(x),
    "csc": lambda x: 1 / cmath.sin(x),
    "coth": lambda x: cmath.cosh(x) / cmath.sinh(x),
    "sech": lambda x: 1 / cmath.cosh(x),
    "csch": lambda x: 1 / cmath.sinh(x),
}


def worked_out(
    form: Structure, of: Callable[[Structure], complex], otherwise: Callable[[], complex]
) -> complex:
    """Return what a formula comes to, by what its parts do; ``otherwise`` of all else."""
    match form[0]:
        case "number":
            return complex(form[1])
        case "name" if form == structures.E:
            return complex(cmath.e)
        case "name" if form == structures.PI:
            return complex(cmath.pi)
        case "sum":
            return sum(map(of, form[1]))
        case "product":
            return math.prod(map(of, form[1]))
        case "power":
            return of(form[1]) ** of(form[2])
        case "call" if form[1] in KNOWN:
            return complex(KNOWN[form[1]](*map(of, form[3])))
    return otherwise()


class Points:
    """Works formulas out; `binds` says whether one is over an index, and so a name for itself."""

    def __init__(self, binds: Callable[[Structure], bool]) -> None:
        self.binds = binds
        self.branches = Branches(self._everywhere, self._drawn)
        self.values = functools.lru_cache(_KEPT)(self._values)
        self._wider = functools.lru_cache(_KEPT)(self._wider_values)

    def _values(self, form: Structure) -> Values | None:
        """Return what a formula comes to at two points, None where there is no value."""
        return self._at(form, range(POINTS))

    def _wider_values(self, form: Structure) -> Values | None:
        """Return what it comes to at points where names may be negative."""
        return self._at(form, range(POINTS, POINTS + len(_SCALES)))

    def _everywhere(self, form: Structure) -> Values:
        found, more = self.values(form), self._wider(form)
        if found is None or more is None:
            raise ValueError("no value")
        return (*found, *more)

    def _at(self, form: Structure, places: range) -> Values | None:
        try:
            return tuple(self._value(form, place) for place in places)
        except (ValueError, ArithmeticError, TypeError):  # a function of too many numbers
            return None

    def _value(self, form: Structure, place: int) -> complex:
        def of(part: Structure) -> complex:
            values = self.values(part) if place < POINTS else self._wider(part)
            if values is None:
                raise ValueError("no value")
            return complex(values[place if place < POINTS else place - POINTS])

        def otherwise() -> complex:
            if form[0] == "call" and form[1] in BRANCHING and form[3] and not self.binds(form):
                return self.branches.value(form, place)
            return self._drawn(form, place)

        return worked_out(form, of, otherwise)

    @staticmethod
    def _drawn(form: Structure, place: int) -> complex:
        digest = hashlib.sha256(f"{place}{form!r}".encode()).digest()
        size = int.from_bytes(digest[:8], "big") / 2**64 * 1.4 + 0.3
        if form[0] == "name" and place >= POINTS:
            size *= _SCALES[place - POINTS] * (-1) ** (digest[8] % 2)
        return complex(size)
