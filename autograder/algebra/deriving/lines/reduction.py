"""What is left of a formula without zeros and ones, wherever some others are called @ in it."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.bound_indices import BoundIndices, names_in
from autograder.algebra.deriving.lines.placeholders import (
    Marks,
    cancelled,
    marked_factors,
    marked_power,
    marked_terms,
    numbers_apart,
    power,
    size,
)
from autograder.algebra.deriving.lines.points import POINTS, Values
from autograder.algebra.deriving.lines.real_points import RealPoints
from autograder.algebra.deriving.lines.structure import Structure

MAX_TERMS, MAX_FACTORS = 12, 8  # of which every selection is looked at
_TOLERANCE = 1e-9
_MAX_DENOMINATOR = 720
_KEPT = 2048
_SIGNED = (("call", "abs"), ("call", "sign"))
_DELTAS: dict[Structure, Structure] = {
    ("name", f"delta{i}{j}"): structures.ONE if i == j else structures.ZERO
    for i in range(10)
    for j in range(10)
}


class Reduction:
    """Takes zeros and ones out of formulas, the innermost first."""

    def __init__(
        self,
        bound: BoundIndices,
        values: Callable[[Structure], Values | None],
        reals: RealPoints,
    ) -> None:
        self.bound, self.values, self.reals = bound, values, reals
        self._names = functools.lru_cache(_KEPT)(lambda form: frozenset(names_in(form)))
        self._candidates = functools.lru_cache(_KEPT)(self._parts_with_values)
        without_marks = functools.partial(self._with_marks, marks=(), needs=())
        self._plain = functools.lru_cache(_KEPT)(without_marks)

    def of(self, form: Structure, marks: Marks, *, again: bool = False) -> Structure:
        """Return the essence of a formula in which marks stand for others.

        `again` says that it is an essence: where no mark comes in, it stays as it is.
        """
        # Indices that are bound have other names in what is marked.
        needs = [frozenset(n for n in names_in(whole) if "#" not in n) for whole, _ in marks]
        return self._reduced(form, marks, needs, again=again)

    def _reduced(
        self, form: Structure, marks: Marks, needs: Sequence[frozenset[str]], *, again: bool
    ) -> Structure:
        """Reduce a formula, in which a mark may come in where all names that it `needs` are.

        Lines are made of parts of others: what is left of a part without marks is remembered.
        """
        names = self._names(form) if marks else frozenset()
        if any(need <= names for need in needs):
            return self._with_marks(form, marks, needs, again=again)
        return self._plain(form, again=again)

    def _with_marks(
        self, form: Structure, marks: Marks, needs: Sequence[frozenset[str]], *, again: bool
    ) -> Structure:
        inner = functools.partial(self._reduced, marks=marks, needs=needs, again=again)
        for whole, mark in marks:
            if form == whole:
                return mark
        before = form = self.reals.nothing(form)
        match form[0]:
            case "number":
                return form
            case "name":
                return _DELTAS.get(form, form)
            case "sum":
                terms = map(inner, form[1])
                form = marked_terms(structures.sum_of(terms), marks)
            case "product":
                factors = map(inner, form[1])
                form = marked_factors(structures.product_of(factors), marks)
            case "power":
                base, exponent = map(inner, form[1:])
                form = marked_power(power(base, exponent), marks)
            case _:
                if self.bound.binds(form):
                    form = self.bound.renamed(form)
                inside = tuple(map(inner, form[3]))
                form = size((*form[:3], inside))
                if (known := self.bound.counted(form)) is not None:
                    return self._reduced(known, marks, needs, again=False)
        if again and form == before:
            return form
        form = self._part_of_itself(self._product(self._sum(form)))
        return next((mark for whole, mark in marks if form == whole), form)

    def _sum(self, form: Structure) -> Structure:
        """Take terms out that come to 0, and put those together that come to a part of one."""
        form = _put_together(self.bound.added_up(form))
        if form[0] != "sum":
            return form
        terms = list(form[1])
        values = [self.values(t) for t in terms]
        if None in values:
            return form
        if (nothing := _zero(np.array(values))) is not None:
            return self._sum(
                structures.sum_of(t for t, out in zip(terms, nothing, strict=True) if not out)
            )
        for some in _selections(range(len(terms))):
            total = tuple(map(sum, zip(*(values[at] for at in some), strict=True)))
            if len(some) < len(terms) and (part := self._among(total, [terms[at] for at in some])):
                rest = [t for at, t in enumerate(terms) if at not in some]
                return self._sum(structures.sum_of([*rest, part]))
        return form

    def _product(self, form: Structure) -> Structure:
        """Take factors out that come to 1, and put numbers into one."""
        if form[0] != "product":
            return form
        number, factors = numbers_apart(form)
        factors = cancelled(factors)
        # Before 1s are looked for: in (x^2 - x)/(x - 1)*(1 - x) the fraction is x, and not -1.
        if (part := self._cancelled_by_values(factors)) is not None:
            return self._product(structures.product_of([("number", number), *part]))
        for some in _selections(factors):
            found = _number(_multiplied([self.values(f) for f in some]))
            if found:
                rest = _without(factors, some)
                return self._product(structures.product_of([("number", number * found), *rest]))
        return structures.product_of([("number", number), *factors]) if number else structures.ZERO

    def _cancelled_by_values(self, factors: Sequence[Structure]) -> list[Structure] | None:
        """Return what is left where a sum goes out: (x·y + x)/(y + 1) is x; so is |x|·sign(x)."""
        loose = [f for f in factors if _goes_out(f)]
        for some in _selections(factors) if loose else ():
            if not any(f in loose for f in some):
                continue
            part = self._among(_multiplied([self.values(f) for f in some]), some)
            if part is not None and part not in some:
                return [*_without(factors, some), part]
        return None

    def _part_of_itself(self, form: Structure) -> Structure:
        """Return the part of a formula that comes to the same as all of it, or the number."""
        if form[0] in ("number", "name"):
            return form
        values = self.values(form)
        number = _number(values)
        if number is not None:
            return ("number", number)
        part = self._among(values, [form])
        return form if part is None else part

    def _among(self, values: Values | None, forms: Sequence[Structure]) -> Structure | None:
        """Return a part of some formulas that has these values."""
        if values is None:
            return None
        for form in forms:
            for part, own in self._candidates(form):
                if _same(own, values) and part not in forms:
                    return part
        return None

    def _parts_with_values(self, form: Structure) -> tuple[tuple[Structure, Values], ...]:
        """Return the parts of a formula that are no numbers, and 1 over these."""
        parts = (part for part in self._parts(form) if part[0] != "number")
        both = dict.fromkeys(one for part in parts for one in (part, structures.inverse_of(part)))
        values = ((one, self.values(one)) for one in both)
        return tuple((one, own) for one, own in values if own is not None)

    def _parts(self, form: Structure) -> Iterator[Structure]:
        """Yield all that stands in a formula where it could be taken out; not what is bound."""
        for part in structures.inside(form):
            yield part
            if not self.bound.binds(part):
                yield from self._parts(part)


def _put_together(form: Structure) -> Structure:
    """Return a sum in which multiples of one product are that product, where they come to it."""
    if form[0] != "sum":
        return form
    found: dict[Structure, list[Fraction]] = {}
    for term in form[1]:
        number, factors = numbers_apart(term)
        found.setdefault(structures.product_of(factors), []).append(number)
    whole = {e for e, numbers in found.items() if len(numbers) > 1 and sum(numbers) == 1}
    return structures.sum_of(
        structures.product_of([("number", number), e])
        for e, numbers in found.items()
        for number in ([Fraction(1)] if e in whole else numbers)
    )


def _goes_out(factor: Structure) -> bool:
    """Whether what this factor cancels can't be seen from how it is written."""
    if structures.is_below(factor):
        factor = factor[1]
    elif factor[0] == "sum":
        return False
    if factor[:2] in _SIGNED:
        return True
    exponent = factor[2] if factor[0] == "power" and factor[1] != structures.E else structures.ONE
    return bool(factor[0] == "sum" or exponent[0] != "number")


def _zero(values: Any) -> Any:
    """Return which of some terms come to 0 together, the fewest of them."""
    if len(values) > MAX_TERMS:
        return None
    chosen = _choices(len(values))
    totals = abs(chosen @ values).max(axis=1)
    sizes = chosen @ abs(values).max(axis=1)
    found = np.flatnonzero(totals <= _TOLERANCE * sizes)
    return chosen[found[0]] if len(found) else None


@functools.cache
def _choices(count: int) -> Any:
    """Return all selections of so many things, the small ones first; none of them left out."""
    bits = (np.arange(1, 2**count)[:, None] >> np.arange(count)) & 1
    return bits[np.argsort(bits.sum(axis=1), kind="stable")]


def _selections(parts: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    most = len(parts) if len(parts) <= MAX_FACTORS else 2
    for count in range(2, most + 1):
        yield from itertools.combinations(parts, count)


def _without(parts: Sequence[Structure], some: Sequence[Structure]) -> list[Structure]:
    return list((Counter(parts) - Counter(some)).elements())


def _multiplied(values: Sequence[Values | None]) -> Values | None:
    result: Values = (1,) * POINTS
    for value in values:
        if value is None:
            return None
        result = tuple(a * b for a, b in zip(result, value, strict=True))
    return result


def _number(values: Values | None) -> Fraction | None:
    """Return the simple number that all values are."""
    if values is None or not _same(values, (values[0],) * len(values)):
        return None
    first = values[0]
    if abs(first) > 1e6 or abs(first.imag) > _TOLERANCE:
        return None
    number = Fraction(first.real).limit_denominator(_MAX_DENOMINATOR)
    return number if abs(first - complex(number)) <= _TOLERANCE * (1 + abs(first)) else None


def _same(some: Values | None, others: Values | None) -> bool:
    if some is None or others is None:
        return False
    pairs = zip(some, others, strict=True)
    return all(abs(a - b) <= _TOLERANCE * (abs(a) + abs(b)) for a, b in pairs)
