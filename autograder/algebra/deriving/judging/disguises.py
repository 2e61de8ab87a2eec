"""Whether a line of a derivation says something: more than the lines around it say."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sympy

from autograder.algebra.building.derivatives import carried_out
from autograder.algebra.building.functions import Diff
from autograder.algebra.deriving.judging.comparison import LineComparison
from autograder.algebra.deriving.judging.ends import Ends
from autograder.algebra.deriving.judging.named import Named
from autograder.algebra.deriving.judging.step_rules import StepRules
from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.line import Line
from autograder.algebra.deriving.lines.structure import Structure, adds_nothing
from autograder.algebra.deriving.rewriting.empty_sums import adds_empty_sums


class Disguises:
    """What a derivation takes for a disguise of a line: zeros and ones, other names, mixtures."""

    def __init__(
        self, ends: Ends, comparison: LineComparison, rules: StepRules, named: Named
    ) -> None:
        self._ends, self._comparison, self._rules, self._named = ends, comparison, rules, named
        self._language = ends.language
        self._essence = ends.language.essence

    def repeats(self, before: Line, line: Line) -> bool:
        """Whether a line only repeats an earlier one: with zeros and ones, or by other names.

        So does one with sums beside it that go out.
        """
        return self._says_again(before, line) or self._adds_empty_sums(before, line)

    def _says_again(self, before: Line, line: Line) -> bool:
        """Whether a line repeats another one, but for sums that go out.

        A derivative that stands there with other names in it has not been carried out yet.
        """
        defined = bool(self._language.definitions)
        if before.number == 0 and defined and _same_fraction(before.expr, line.expr):
            return True
        if self._rules.is_times_one(before, line):
            return True
        if line.expr.has(Diff) and not self._ends.differentiates:  # diff(c*x, x) is c
            return bool(carried_out(line.expr, line.text) == before.expr)
        if before.essence != line.essence or line.essence[0] == "number":  # p - p, then 0
            return self._comparison.renames(before, line)
        return not self._ends.is_rid_of(before.written_names - line.written_names)

    def adds_nothing(self, before: Line, line: Line) -> bool:
        """Whether a line is the one before in disguise; a factor may be 1 by a rule."""
        if self._adds_empty_sums(before, line):
            return True
        if not self._is_disguised(before, line):
            return False
        same = bool(before.expr == line.expr)
        return same or not self._rules or self._rules.goes_by(before, line, "algebra")

    def _is_disguised(self, before: Line, line: Line) -> bool:
        # Z above and below prepares a step, where the names before are defined by Z.
        if (line.written_names - before.written_names) & self._language.behind(before.names):
            return False
        alike = adds_nothing(before.structure, line.structure)
        if alike and adds_nothing(*map(self._named.in_names, (before, line))):
            return True
        if before.expr != line.expr:
            return False
        # sympy adds terms up and cancels when it reads a line: here that may be the step.
        holds = self._named.holds
        return before.cancels == line.cancels or holds(before, line) or holds(line, before)

    def _adds_empty_sums(self, before: Line, line: Line) -> bool:
        return adds_empty_sums(before.expr, line.expr, self._rules.world)

    def mixes(self, line: Line, *parts: Line) -> bool:
        """Whether a line only mixes other ones that are equal, and says nothing else."""
        ways: list[Callable[[Line], Structure]] = [lambda one: one.structure]
        ways += [self._named.by_name] if self._ends.differentiates else []
        if any(self._essence.is_made_of(way(line), list(map(way, parts))) for way in ways):
            return True
        others = [part for part in parts if part is not self._ends.given]
        if len(others) == len(parts):
            return False
        return self._mixes_with_one(line, parts, others) or self._mixes_with_names(line, parts)

    def _mixes_with_names(self, line: Line, parts: Sequence[Line]) -> bool:
        """Whether several lines are in a mixture, with names put in."""
        if not self._language.definitions:
            return False
        out, made_of = self._named.written_out, self._essence.is_made_of
        form, *ends = (out(one.structure) for one in (line, *parts))
        two = sorted(map(structures.leaves, {*ends}))[:2]
        if len(two) < 2 or structures.leaves(form) < sum(two):
            return False  # several don't find room in it
        return made_of(form, ends) and not any(made_of(form, [end]) for end in ends)

    def _mixes_with_one(self, line: Line, parts: Sequence[Line], others: Sequence[Line]) -> bool:
        """Whether the given expression is in a mixture, beside what is given to be 1.

        What is 1 beside the result alone may well be the last line but one.
        """
        ones = dict.fromkeys(self._rules.ones, ("name", "#1"))
        form = self._essence.with_names(line.structure, ones)
        made_of = self._essence.is_made_of
        if form == line.essence or made_of(form, [other.structure for other in others]):
            return False
        return made_of(form, [part.structure for part in parts])


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
