"""What functions with branches come to at one of some places: |x|, max, ⌊x⌋, cases.

Where an argument is on the same side everywhere, they are one of their branches: |e^x| is e^x, and
max(1, −x²) is 1.  Elsewhere |x| is some number for each size of x, so that max(x, 0) still is
(x + |x|)/2, and ⌊x⌋ one for each x.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence

from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.structure import Structure

BRANCHING = ("abs", "sign", "relu", "max", "min", "floor", "ceiling", "cases")
_RELATIONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_HALF: Structure = ("number", structures.ONE[1] / 2)
_TOLERANCE = 1e-9

Everywhere = Callable[[Structure], Sequence[complex]]  # what a formula comes to at each place
Unknown = Callable[[Structure, int], complex]  # a number for what is not known


class Branches:
    """Works out functions with branches."""

    def __init__(self, everywhere: Everywhere, unknown: Unknown) -> None:
        self.everywhere, self.unknown = everywhere, unknown

    def value(self, form: Structure, place: int) -> complex:
        """Return what a function of ``BRANCHING`` comes to; ValueError where that is nothing."""
        word, args = form[1], list(form[3])
        match word:
            case "abs":
                return self._size(args[0], place)
            case "sign":
                return self.everywhere(args[0])[place] / self._size(args[0], place)
            case "relu":
                return self._extreme([args[0], structures.ZERO], place, 1)
            case "max" | "min":
                return self._extreme(args, place, 1 if word == "max" else -1)
            case "cases":
                return self._chosen(form, args, place)
        rounded = {(math.floor if word == "floor" else math.ceil)(x) for x in self._real(args[0])}
        return complex(rounded.pop()) if len(rounded) == 1 else self.unknown(form, place)

    def _real(self, form: Structure) -> list[float]:
        values = self.everywhere(form)
        if any(abs(value.imag) > _TOLERANCE * (1 + abs(value)) for value in values):
            raise ValueError("a complex number")
        return [value.real for value in values]

    def _size(self, form: Structure, place: int) -> complex:
        values = self._real(form)
        scale = _TOLERANCE * max(map(abs, values))
        if all(value >= -scale for value in values):
            return complex(values[place])
        if all(value <= scale for value in values):
            return complex(-values[place])
        return self.unknown(("size", f"{abs(values[place]):.9g}"), place)

    def _extreme(self, forms: Sequence[Structure], place: int, sign: int) -> complex:
        first, *others = forms
        if not others:
            return self.everywhere(first)[place]
        second = others[0]
        minus = structures.product_of([structures.MINUS, second])
        both = self.everywhere(first)[place] + self.everywhere(second)[place]
        apart = self._size(structures.sum_of([first, minus]), place)
        if len(others) == 1:
            return (both + sign * apart) / 2
        size = ("call", "abs", (), (structures.sum_of([first, minus]),))
        part = structures.product_of([("number", sign * _HALF[1]), size])
        halves = [structures.product_of([_HALF, form]) for form in (first, second)]
        return self._extreme([structures.sum_of([*halves, part]), *others[1:]], place, sign)

    def _chosen(self, form: Structure, args: Sequence[Structure], place: int) -> complex:
        """Return the value whose condition holds everywhere, or what all values are."""
        values = [*args[::2]]
        at_all = [self.everywhere(value)[place] for value in values]
        if all(abs(value - at_all[0]) <= _TOLERANCE * abs(value) for value in at_all):
            return at_all[0]
        for value, condition in zip(at_all, args[1::2], strict=False):
            found = self._holds(condition)
            if found is None:
                return self.unknown(form, place)
            if found:
                return value
        if len(args) % 2 == 0:
            return self.unknown(form, place)
        return at_all[-1]

    def _holds(self, condition: Structure) -> bool | None:
        """Tell whether a condition holds at every place, or at none."""
        if condition[0] != "relation" or condition[2][0] not in _RELATIONS:
            return None
        sides = [self._real(side) for side in condition[3]]
        links = list(zip(condition[2], sides, sides[1:], strict=False))
        found = {
            all(_RELATIONS[mark](left[at], right[at]) for mark, left, right in links)
            for at in range(len(sides[0]))
        }
        return found.pop() if len(found) == 1 else None
