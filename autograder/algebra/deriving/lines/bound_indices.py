"""Indices that are bound in a formula as it is written: of sums, and of the largest of some."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction

from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.placeholders import numbers_apart
from autograder.algebra.deriving.lines.structure import Structure

_DELTAS = ("delta", "KroneckerDelta")


class BoundIndices:
    """Tell what binds an index, and give bound ones names that do not depend on where they stand.

    `indexed` are the names that carry indices, and `indices` what a maximum may be over.
    """

    def __init__(self, indexed: Collection[str], indices: Collection[str]) -> None:
        self.indices = frozenset(indices)
        self.indexed = sorted((name.replace("_", "") for name in indexed), key=len, reverse=True)

    def binds(self, form: Structure) -> bool:
        """Whether this is over an index: ``max(a, b)`` is the larger one of two."""
        if form[:2] not in structures.BINDERS or len(form[3]) < 2:
            return False
        index = form[3][1]
        own = index[0] == "name" and (index[1] in self.indices or index[1].startswith("#"))
        return form[1] != "max" or own

    def renamed(self, form: Structure, new: str = "") -> Structure:
        """Name a bound index by how many are bound inside: a sum is the same in another sum."""
        body, index, *ends = form[3]
        if index[0] != "name":
            return form
        new = new or f"#{self._bound_in(body)}"
        inside = self.with_indices(body, {index[1]: new})
        return (*form[:3], (inside, ("name", new), *ends))

    def _bound_in(self, form: Structure) -> int:
        inside = max(map(self._bound_in, structures.inside(form)), default=0)
        return inside + self.binds(form)

    def with_indices(self, form: Structure, places: Mapping[str, str]) -> Structure:
        """Return a formula in which other indices stand."""
        match form[0]:
            case "number":
                return form
            case "name":
                if form[1] in places:
                    return ("name", places[form[1]])
                base, indices = self.entry(form[1])
                return ("name", base + "".join(places.get(i, i) for i in indices))
            case "sum":
                return structures.sum_of(self.with_indices(t, places) for t in form[1])
            case "product":
                return structures.product_of(self.with_indices(f, places) for f in form[1])
            case "power":
                parts = (self.with_indices(part, places) for part in form[1:])
                return structures.power_of(*parts)
        return (*form[:3], tuple(self.with_indices(child, places) for child in form[3]))

    def entry(self, name: str) -> tuple[str, tuple[str, ...]]:
        """Take a name with indices apart: zk is z at k."""
        for base in self.indexed:
            if name.startswith(base) and len(name) > len(base):
                return base, tuple(re.findall(r"#\d|\w", name[len(base) :]))
        return name, ()

    def added_up(self, form: Structure) -> Structure:
        """Return a formula in which sums over an index that are multiples of one are added up."""
        found: dict[Structure, list[Fraction]] = {}
        for term in structures.terms(form).elements():
            number, sum_ = self._number_outside(term)
            found.setdefault(sum_, []).append(number)
        if all(len(numbers) == 1 or not self.binds(e) for e, numbers in found.items()):
            return form
        return structures.sum_of(
            structures.product_of([("number", sum(numbers, Fraction(0))), e])
            for e, numbers in found.items()
            if sum(numbers)
        )

    def _number_outside(self, term: Structure) -> tuple[Fraction, Structure]:
        """Take a number out of a term, and out of the sum over an index that is left."""
        number, factors = numbers_apart(term)
        rest = structures.product_of(factors)
        if rest[:2] != ("call", "sum") or not self.binds(rest):
            return number, rest
        body, *bound = rest[3]
        inside, factors = numbers_apart(body)
        if not factors:
            return number, rest
        return number * inside, (*rest[:3], (structures.product_of(factors), *bound))

    def counted(self, form: Structure) -> Structure | None:
        """Return what a sum of equal terms, the largest of these, or a δ of two numbers is."""
        if form[1] in _DELTAS and all(i[0] == "number" for i in form[3]):
            return structures.ONE if len({*form[3]}) == 1 else structures.ZERO
        if not self.binds(form):
            return None
        body: Structure = form[3][0]
        _, index, *ends = form[3]
        if index[0] != "name" or any(index[1] in name for name in names_in(body)):
            return None
        if form[1] == "max" or body == structures.ZERO:
            return body
        if form[1] != "sum" or [end[0] for end in ends] != ["number"] * 2:
            return None
        times = max(ends[1][1] - ends[0][1] + 1, Fraction(0))
        return structures.product_of([("number", times), body])


def names_in(form: Structure) -> Iterator[str]:
    """Yield the names in a formula, those of what is no operation among them."""
    if form[0] == "name":
        if form not in (structures.E, structures.PI):
            yield form[1]
    else:
        for part in structures.inside(form):
            yield from names_in(part)
        if form[0] not in ("number", "sum", "product", "power", "call"):
            yield form[0]
