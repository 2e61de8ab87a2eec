"""A line of a derivation: what it says, how it is written, and what it shows."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import sympy
from sympy.core.function import AppliedUndef

from autograder.algebra.building import chance
from autograder.algebra.building.numeric import Evaluator, Undefined, fixed_context
from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.essence import Essence
from autograder.algebra.deriving.lines.inert import Largest, Total, Uncomputed
from autograder.algebra.deriving.lines.placeholders import numbers_apart
from autograder.algebra.deriving.lines.structure import Structure
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.tree import Node

MAX_SPLIT_TERMS = 9  # of a sum whose parts are looked at
DIGITS = 30
TEXTS = 256  # of one derivation, of which a language keeps the trees


class Language(Protocol):
    """What the lines of a derivation are read with: its names, and what they mean."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that a line may use, but for those that carry indices."""

    @property
    def definitions(self) -> Mapping[str, str]:
        """What some of the names stand for."""

    @property
    def declared(self) -> frozenset[str]:
        """The names by which a line is told from what is said beside it."""

    @property
    def essence(self) -> Essence:
        """What takes out of formulas what adds nothing."""

    def hint(self) -> dict[str, object]:
        """Return what a student's notebook may know about a line."""

    def tree(self, text: str, *, latex: bool = False) -> Node:
        """Read `text` as a tree, by the one grammar that there is."""

    def build(self, tree: Node, text: str) -> sympy.Expr:
        """Return what a tree, or a part of one, says."""

    def read_form(self, text: str) -> sympy.Expr:
        """Return what a text says; derivatives stay as written."""

    def expand(self, expr: sympy.Expr, text: str = "") -> sympy.Expr:
        """Put definitions in and carry derivatives out."""

    def fold(self, expr: sympy.Expr) -> sympy.Expr:
        """Put the defined name wherever the sum that it stands for is written out."""

    def names_in(self, expr: sympy.Expr) -> set[str]:
        """Return the names that stand in an expression."""

    def shown_in(self, line: Line) -> set[str]:
        """Return all that a last line may not hold unless the result does, whatever cancels."""

    @property
    def written_out(self) -> Mapping[Structure, Structure]:
        """What the names mean that a line may put in, as it is written, and those names."""

    def behind(self, names: Collection[str]) -> set[str]:
        """Return the defined names by which some of `names` are defined."""


@dataclass(frozen=True)
class Line:
    """One line of a derivation.

    Attributes
    ----------
    number : int
        Counted from 1.
    text : str
        As written.
    expr : sympy.Expr
        As read: defined names stand as they are, derivatives (`Diff`) are not carried out.
    expanded : sympy.Expr
        Definitions put in and derivatives carried out.
    tree : Node
        How it is written.
    relation : str
        How it stands to the line before: ``"="`` or ``"<="``.
    rule : str
        The rule that the student gives for the step, if any.
    """

    number: int
    text: str
    expr: sympy.Expr
    expanded: sympy.Expr
    tree: Node = field(repr=False, compare=False)
    language: Language = field(repr=False, compare=False)
    relation: str = "="
    rule: str = ""

    def contains(self, *forms: str) -> bool:
        """Whether one of `forms` stands in the line as read, where common factors have cancelled.

        A sum that is written out counts as the name that is defined as that sum.
        """
        return any(self._folded.has(self.language.fold(self.language.read_form(f))) for f in forms)

    def shows(self, *forms: str) -> bool:
        """Whether one of `forms` stands in the line as written, its order and spelling aside.

        Some terms of a sum, or factors of a product, are enough.
        """
        parts = {structures.structure(self.language.tree(form)) for form in forms}
        return any(structures.holds(self.structure, part) for part in parts)

    def has_sum(self, *values: str) -> bool:
        """Whether a sum stands in the line as written that comes to one of `values`, or minus that.

        Definitions are put in first, and it must be for them: with p₁ + p₂ + p₃ = 1,
        ``has_sum("1")`` holds of ``p1*(p1 + p2 + p3)``, but ``has_sum("0")`` not of ``m - m``.
        Part of a sum is a sum, too.
        """
        wanted = [self._point.values(self.language.read_form(value)) for value in values]
        return any(
            _near(abs(total[0]), abs(value[0])) and not _near(abs(total[1]), abs(value[1]))
            for total in self._sums()
            for value in wanted
            if value
        )

    @property
    def products(self) -> Iterator[tuple[tuple[sympy.Expr, ...], tuple[sympy.Expr, ...]]]:
        """The factors of every product or quotient as written: those above, those below a line."""
        for above, below in structures.products(self.tree):
            try:
                yield tuple(map(self._part, above)), tuple(map(self._part, below))
            except ParseError:  # a factor under a running index
                continue

    @property
    def quotients(self) -> Iterator[tuple[sympy.Expr, sympy.Expr]]:
        """The numerator and the denominator of the line, however it can be read as a fraction.

        With zeros beside it, or in halves, it is the same one.
        """
        parts = itertools.chain.from_iterable(map(structures.quotients, self._alike))
        for above, below in parts:
            top, bottom = ([self._part(node) for node in nodes] for nodes in (above, below))
            for fraction in (
                (sympy.Mul(*top), sympy.Mul(*bottom)),
                (sympy.Mul(*top) / sympy.Mul(*bottom[:-1]), bottom[-1]),  # a/b/c
            ):
                if not fraction[1].is_number:
                    yield fraction

    @property
    def _alike(self) -> Iterator[Node]:
        """The line, and each term of it that says what all of it does, but for a number."""
        yield self.tree
        for terms in itertools.islice(structures.sums(self.tree), 1):
            for _, term in terms:
                node = structures.without_numbers(term)
                essence = self.language.essence.of(structures.structure(node))
                if numbers_apart(essence)[1] == numbers_apart(self.essence)[1]:
                    yield node

    def _part(self, node: Node) -> sympy.Expr:
        return self.language.build(node, self.text)

    @property
    def names(self) -> set[str]:
        """The names that stand in the line as read."""
        return self.language.names_in(self.expr)

    @property
    def operators(self) -> set[str]:
        """What is still to be carried out, ``D`` and ``E`` for example."""
        return {f.func.__name__ for f in self.expr.atoms(Uncomputed)}

    @functools.cached_property
    def written_names(self) -> set[str]:
        """The names that stand in the line as written, whatever cancels."""
        plain = {name.replace("_", ""): name for name in self.language.names}
        return {plain[word] for word in _words(self.structure) if word in plain}

    @functools.cached_property
    def shown_names(self) -> set[str]:
        """All that the last line may not hold unless the result does, whatever cancels."""
        return self.language.shown_in(self)

    @functools.cached_property
    def structure(self) -> Structure:
        """What this line has in common with other spellings of it; nothing cancels."""
        return structures.structure(self.tree)

    @functools.cached_property
    def essence(self) -> Structure:
        """The structure without all that adds nothing, at any depth."""
        return self.language.essence.of(self.structure)

    @functools.cached_property
    def key(self) -> Hashable:
        """What a line is known again by: how it is written, and what was read, in its order."""
        read = (self.expr, self.expanded)
        return (
            self.structure,
            *(e.as_immutable() if hasattr(e, "as_immutable") else e for e in read),
        )

    def is_spelled_as(self, other: Line) -> bool:
        """Whether another line is written alike, up to order, brackets and spelling."""
        in_order = self.expr.is_commutative or bool(self.expr == other.expr)
        return in_order and self.structure == other.structure

    @functools.cached_property
    def cancels(self) -> bool:
        """Whether something is written that cancels or is added up when it is read."""
        return structures.leaves(self.structure) > _leaves(self.expr)

    @functools.cached_property
    def _folded(self) -> sympy.Expr:
        return self.language.fold(self.expr)

    @functools.cached_property
    def _point(self) -> _Point:
        return _Point(self.language)

    def _sums(self) -> Iterator[tuple[Any, Any]]:
        """Yield what the sums in the line, and their parts, come to: with definitions, without.

        A sum to which something is added that comes to 0 is left out.
        """
        for written in structures.sums(self.tree):
            terms = []
            for sign, node in written[:MAX_SPLIT_TERMS]:
                try:
                    values = self._point.values(self._part(node))
                except ParseError:  # a term under a running index
                    continue
                if values:
                    terms.append(values if sign == "+" else (-values[0], -values[1]))
            nothing: list[set[int]] = []
            for count in range(2, len(terms) + 1):
                for part in itertools.combinations(range(len(terms)), count):
                    if any(known < {*part} for known in nothing):
                        continue
                    total = sum(terms[i][0] for i in part)
                    if _near(total, 0):
                        nothing.append({*part})
                    yield total, sum(terms[i][1] for i in part)


class _Point:
    """A point, unknown to students, at which expressions are worked out."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.context = fixed_context(DIGITS)
        self.at: dict[sympy.Symbol, Any] = {}

    def values(self, expr: sympy.Expr) -> tuple[Any, Any] | None:
        """Return the value with and without definitions put in, None where there is none."""
        try:
            return self._value(self.language.expand(expr)), self._value(expr)
        except (ParseError, Undefined, ArithmeticError, ValueError, TypeError):
            return None

    def _value(self, expr: sympy.Expr) -> Any:
        for symbol in expr.free_symbols - self.at.keys():
            self.at[symbol] = self.context.mpf(chance.draw.uniform(0.3, 1.7))
        return Evaluator(self.context, self.at)(expr)


def _near(a: object, b: Any) -> bool:
    return bool(abs(a - b) < 10 ** (5 - DIGITS) * (1 + abs(b)))


def _leaves(expr: sympy.Basic) -> int:
    """Return how many names stand in an expression, as `structures.leaves` counts them."""
    if expr.is_Symbol or isinstance(expr, AppliedUndef | sympy.KroneckerDelta):
        return 1
    if isinstance(expr, Total | Largest):
        return _leaves(expr.args[0]) + 1
    if expr.is_Pow and expr.exp.is_Integer:
        return _leaves(expr.base) * abs(int(expr.exp))
    return sum(map(_leaves, expr.args))


def _words(form: object) -> Iterator[str]:
    if isinstance(form, tuple):
        if len(form) == 2 and form[0] == "name":
            yield form[1]
        else:
            for part in form:
                yield from _words(part)
