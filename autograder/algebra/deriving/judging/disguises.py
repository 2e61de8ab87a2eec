"""Whether a line of a derivation says something: more than the lines around it say."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence

import sympy

from autograder.algebra.building.derivatives import carried_out
from autograder.algebra.building.functions import Diff
from autograder.algebra.comparing.equivalence import equal
from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.bound_indices import names_in
from autograder.algebra.deriving.lines.inert import D
from autograder.algebra.deriving.lines.language import Language
from autograder.algebra.deriving.lines.line import Line
from autograder.algebra.deriving.lines.naming import Naming
from autograder.algebra.deriving.lines.placeholders import MARK
from autograder.algebra.deriving.lines.structure import Structure, structure


class Disguises(Language):
    """What a derivation takes for a disguise of a line: zeros and ones, other names, mixtures."""

    start: str
    target: str

    @functools.cached_property
    def given(self) -> Line:
        """The given expression, as line 0."""
        return self.line(0, self.start)

    @functools.cached_property
    def result(self) -> Line:
        """The target, as a line."""
        return self.line(0, self.target)

    @property
    def has_rules(self) -> bool:
        """Whether a step must go by one of some rules."""
        return False

    def repeats(self, before: Line, line: Line) -> bool:
        """Whether a line only repeats an earlier one: with zeros and ones, or by other names.

        A derivative that stands there with other names in it has not been carried out yet.
        """
        if before.number == 0 and self.definitions and _same_fraction(before.expr, line.expr):
            return True
        if self.is_times_one(before, line):
            return True
        if line.expr.has(Diff) and not self.differentiates:  # diff(c*x, x) is c
            return bool(carried_out(line.expr, line.text) == before.expr)
        if before.essence != line.essence or line.essence[0] == "number":  # p - p, then 0
            return self.renames(before, line)
        return not self.is_rid_of(before.written_names - line.written_names)

    def is_times_one(self, before: Line, line: Line) -> bool:
        """Whether a line is the one before, and beside it what is given to be 1.

        A 1 inside the one before may well be replaced by that.
        """
        ones = dict.fromkeys(self.ones, ("name", "#one"))  # bound indices are #1, #2, …
        plain = self.essence.with_names(line.structure, ones)
        earlier = self.essence.with_names(before.structure, ones)
        new = plain != line.essence and earlier == before.essence
        return new and self.essence.is_made_of(plain, [before.structure])

    @property
    def ones(self) -> Collection[Structure]:
        """What is given to be 1."""
        return ()

    def is_rid_of(self, names: Collection[str]) -> bool:
        """Whether some names are there at the beginning and may not be at the end."""
        gone = self.given.written_names - self.result.written_names
        return bool(names) and gone.issuperset(names)

    def renames(self, before: Line, line: Line) -> bool:
        """Whether a derivative stands in a line as in the one before, whatever it is called."""
        if not (before.expr.has(Diff) and line.expr.has(Diff)):
            return False
        sides = (self.expand(self._undone(side.expr)) for side in (before, line))
        return equal(*sides).equal is True

    def _undone(self, expr: sympy.Expr) -> sympy.Expr:
        """Put a name for every derivative; what is differentiated counts, not how it is written."""
        for derivative in expr.atoms(Diff):
            inner, *by = derivative.args
            _, rest = sympy.expand(self.expand(inner)).as_independent(*by, as_Add=True)
            number, rest = rest.primitive() if rest.is_Add else rest.as_coeff_Mul()
            if rest.could_extract_minus_sign():
                number, rest = -number, -rest
            name = sympy.Symbol(f"{sympy.srepr(sympy.cancel(rest))} by {by}", real=True)
            expr = expr.xreplace({derivative: number * name})
        return expr

    def bridges(self, line: Line, other: Line) -> bool:
        """Whether a quotient has the numerator and the denominator of another one.

        A factor above and below that is cancelled later, or comes from what stood there before,
        is a step, and not 1 in disguise.
        """
        return any(
            all(self._same_value(a, b) for a, b in zip(one, another, strict=True))
            for one in line.quotients
            for another in other.quotients
        )

    def _same_value(self, one: sympy.Expr, other: sympy.Expr) -> bool:
        """Whether two parts of lines are equal."""
        return equal(self.expand(one), self.expand(other)).equal is True

    def mixes(self, line: Line, *parts: Line) -> bool:
        """Whether a line only mixes other ones that are equal, and says nothing else."""
        ways: list[Callable[[Line], Structure]] = [lambda one: one.structure]
        ways += [self._by_name] if self.differentiates else []
        if any(self.essence.is_made_of(way(line), list(map(way, parts))) for way in ways):
            return True
        others = [part for part in parts if part is not self.given]
        if len(others) == len(parts):
            return False
        return self._mixes_with_one(line, parts, others) or self._mixes_with_names(line, parts)

    def _mixes_with_names(self, line: Line, parts: Sequence[Line]) -> bool:
        """Whether several lines are in a mixture, with names put in."""
        if not self.definitions:
            return False
        out, made_of = self._naming.written_out, self.essence.is_made_of
        form, *ends = (out(one.structure) for one in (line, *parts))
        two = sorted(map(structures.leaves, {*ends}))[:2]
        if len(two) < 2 or structures.leaves(form) < sum(two):
            return False  # several don't find room in it
        return made_of(form, ends) and not any(made_of(form, [end]) for end in ends)

    def _mixes_with_one(self, line: Line, parts: Sequence[Line], others: Sequence[Line]) -> bool:
        """Whether the given expression is in a mixture, beside what is given to be 1.

        What is 1 beside the result alone may well be the last line but one.
        """
        ones = dict.fromkeys(self.ones, ("name", "#1"))
        form = self.essence.with_names(line.structure, ones)
        made_of = self.essence.is_made_of
        if form == line.essence or made_of(form, [other.structure for other in others]):
            return False
        return made_of(form, [part.structure for part in parts])

    def _by_name(self, line: Line) -> Structure:
        """Return how a line is written, with names for what they mean."""
        return self.essence.with_names(line.structure, self._meanings_written)

    @functools.cached_property
    def _naming(self) -> Naming:
        meanings = {key: self.essence.of(form) for form, key in self._meanings_written.items()}
        return Naming(meanings, self.essence.bound)

    @functools.cached_property
    def _defined(self) -> set[str]:
        return {part for key in self.definitions for part in (key, key.partition("_")[0])}

    @functools.cached_property
    def _meanings_written(self) -> Mapping[Structure, Structure]:
        return {
            structure(self.tree(v)): structure(self.tree(k)) for k, v in self.definitions.items()
        }

    def is_called_alike(self, line: Line, other: Line) -> bool:
        """Whether two lines differ by what is put in for names that stay until the end."""
        forms = [structures.folded(one.essence, self._staying) for one in (line, other)]
        return bool(self._staying) and forms[0] == forms[1]

    def is_but_for_names(self, line: Line, other: Line) -> bool:
        """Whether a line is another one once what names mean is put in, and not before.

        So is one that mixes the other one, with and without names put in.
        """
        if not self.definitions or line.essence == other.essence or other.essence[0] == "number":
            return False
        out = self._naming.written_out
        pairs = ((line.structure, other.structure), (line.essence, other.essence))
        forms = (structures.folded(out(one), {out(whole): MARK}) for one, whole in pairs)
        return any(set(names_in(form)) == {MARK[1]} for form in forms)

    def says_the_start(self, line: Line) -> bool:
        """Whether a line is the given expression but for names, or a mixture of these.

        To put all names in that must go says more.
        """
        if self.is_but_for_names(line, self.given):
            gone = (self.given.shown_names & self._defined) - self.result.shown_names
            must_go = {name.replace("_", "") for name in gone - self.staying}
            entries = map(self.essence.bound.entry, names_in(line.essence))
            return not must_go or any(base in must_go for base, _ in entries)
        if not self._staying or self.is_called_alike(self.given, line):
            return bool(self._staying)
        start, form = (
            self.essence.with_names(e.essence, self._staying) for e in (self.given, line)
        )
        return self.essence.is_made_of(form, [start])

    @functools.cached_property
    def staying(self) -> set[str]:
        """The defined names of the given expression that stay until the end.

        To put in what they mean leads nowhere, but where "definition" is a rule.  Nor does it where
        the result is a number.
        """
        end = self.result.written_names or self.given.written_names
        names = self.given.written_names & end & self.definitions.keys()
        return set() if self.has_rules else names

    @functools.cached_property
    def _staying(self) -> Mapping[Structure, Structure]:
        meanings = {k: structure(self.tree(self.definitions[k])) for k in sorted(self.staying)}
        return {self.essence.of(form): structure(self.tree(k)) for k, form in meanings.items()}

    @functools.cached_property
    def differentiates(self) -> bool:
        """Whether a derivative is given, so that putting definitions in is no step by itself."""
        return bool(self.given.expr.has(Diff, D))


def _same_fraction(one: sympy.Expr, other: sympy.Expr) -> bool:
    """Whether two formulas are one fraction, divided above and below.

    >>> a, b = sympy.symbols("a b")
    >>> _same_fraction(a / (a + b), 1 / (1 + b / a)), _same_fraction(a / (a + b), a / b)
    (True, False)
    """
    if not (one.is_commutative and other.is_commutative):
        return False
    return bool(_as_fraction(one) == _as_fraction(other))


def _as_fraction(expr: sympy.Expr) -> sympy.Expr:
    divides = any(power.exp.could_extract_minus_sign() for power in expr.atoms(sympy.Pow))
    return sympy.together(expr) if divides else expr
