"""What is left of a formula once all that adds nothing is taken out, at any depth.

``exp(2*s - s)`` is ``exp(s)``, and ``x*(cos(t)^2 + sin(t)^2)`` is ``x``.  Names, sums and
derivatives count as what they are called: no definition is put in, and no fact is used.  So what is
taken out are zeros and ones that hold whatever the formula is about.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence

from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.bound_indices import BoundIndices, names_in
from autograder.algebra.deriving.lines.placeholders import MARK, Marks, marked_bases, numbers_apart
from autograder.algebra.deriving.lines.points import Points
from autograder.algebra.deriving.lines.real_points import RealPoints
from autograder.algebra.deriving.lines.reduction import Reduction
from autograder.algebra.deriving.lines.structure import Structure

_KEPT = 512

Pair = tuple[Structure, Structure]


class Essence:
    """Take out of formulas what adds nothing.

    `indexed` are the names that carry indices, `indices` what a maximum may be over, and `size` is
    how many there are; `positive` and `whole` are names of which that is known.

    Names stand for positive numbers here, but where zeros and ones are looked for.  Where √x² is
    not x, a line that says so is found wrong by those who compare lines.
    """

    def __init__(
        self,
        indexed: Collection[str] = (),
        indices: Collection[str] = (),
        size: str = "",
        *,
        positive: Collection[str] = (),
        whole: Collection[str] = (),
    ) -> None:
        self.bound = BoundIndices(indexed, indices)
        self.counts = frozenset({size, *indices})
        self.of = functools.lru_cache(_KEPT)(self._of)
        self._named = functools.lru_cache(_KEPT)(self._in_names)
        self._marks = functools.lru_cache(_KEPT)(self._marks_of)
        self.reals = RealPoints(self.bound, positive, {size, *indices, *whole})
        self._reduced = Reduction(self.bound, Points(self.bound.binds).values, self.reals).of

    def is_made_of(self, form: Structure, parts: Sequence[Structure]) -> bool:
        """Whether a formula only mixes some others, which are equal: nothing else stands in it.

        Indices, and how many there are, say nothing beside them: a sum over δ is 1.
        """
        wholes = sorted(map(self.of, parts), key=structures.leaves)
        names = {*filter(self._says, names_in(self._marked(form, wholes, MARK)))}
        number = next((whole for whole in wholes if whole[0] == "number"), None)
        if number and "@" in names:  # x*(@ - 0) is nothing where @ is 0
            return not set(names_in(self._marked(form, wholes, number)))
        if names == {"@"}:
            return True
        if not self.reals.matters(form):
            return False
        for part in sorted(parts, key=structures.leaves, reverse=True):
            form = structures.folded(form, {part: MARK}) if part[0] != "number" else form
        return self.reals.are_same(form, MARK)

    def _says(self, name: str) -> bool:
        """Whether a name in a mixture is more than an index, bound or not, or δ of two of them."""
        return not (name.startswith(("#", "delta")) or name in self.counts)

    def puts_in(self, equation: Pair, known: Sequence[Pair]) -> bool:
        """Whether an equation only has sides of known ones in it, each for the other one.

        Then it holds whatever these sides are: 2a = 2b says nothing beside a = b.
        """
        marks: list[tuple[Structure, Structure]] = []
        sides = [(self.of(side), place) for place, pair in enumerate(known) for side in pair]
        numbers = {place: side for side, place in sides if side[0] == "number"}
        for side, place in sorted(sides, key=lambda pair: structures.leaves(pair[0])):
            number, factors = numbers_apart(self._reduced(side, tuple(marks)))
            rest = structures.product_of(factors)
            if number and rest != structures.ONE:
                mark = numbers.get(place, ("name", f"@{place}"))
                shown = structures.product_of([("number", 1 / number), mark])
                marks.append((rest, self.of(shown)))
        known_as = tuple(marks)
        left, right = (self._reduced(self._reduced(e, known_as), known_as) for e in equation)
        return left == right

    def _marked(self, form: Structure, wholes: Sequence[Structure], mark: Structure) -> Structure:
        """Return the essence of a formula in which others are called @, or what number they are."""
        # Before a factor of one of them cancels.
        return self._reduced(form, self._marks(tuple(wholes), mark))

    def _marks_of(self, wholes: tuple[Structure, ...], mark: Structure) -> Marks:
        """Return what is called @ in a formula, so that none of these is left in it."""
        known: list[tuple[Structure, Structure]] = []
        for whole in wholes:
            number, factors = numbers_apart(self._reduced(whole, tuple(known), again=True))
            rest = structures.product_of(factors)
            if rest not in (MARK, structures.ONE) and number:
                shown = structures.product_of([("number", 1 / number), mark])
                known += [(rest, shown), *marked_bases(rest, shown)]
        return tuple(known)

    def with_names(self, form: Structure, meanings: Mapping[Structure, Structure]) -> Structure:
        """Return the essence of a formula in which names stand for what they mean."""
        marks = tuple((self.of(meaning), name) for meaning, name in meanings.items())
        return self._named(self.of(form), marks)

    def _in_names(self, form: Structure, marks: Marks) -> Structure:
        before = form
        for _ in range(len(marks) + 1):
            form, before = self._reduced(form, marks, again=True), form
            if form == before:
                break
        return form

    def _of(self, form: Structure) -> Structure:
        return self._reduced(form, ())
