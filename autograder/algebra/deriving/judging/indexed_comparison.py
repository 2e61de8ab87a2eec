"""How lines with indices compare: for n = 2 … 5, and for every n where that can be shown."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

import sympy

from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deriving.judging.ends import Ends
from autograder.algebra.deriving.judging.step_rules import StepRules
from autograder.algebra.deriving.lines.indexed_binding import BINDERS
from autograder.algebra.deriving.lines.inert import D
from autograder.algebra.deriving.lines.line import Line
from autograder.algebra.deriving.rewriting import calculus, matrix_lines
from autograder.algebra.deriving.rewriting.assumptions import assumed_values
from autograder.algebra.deriving.rewriting.for_every_n import at_most, equal_for_all, only_tried
from autograder.algebra.deriving.rewriting.rules import Fact


@dataclass(frozen=True)
class IndexedComparison:
    """Lines with indices; `hidden` are the names that students do not see."""

    ends: Ends
    rules: StepRules
    relation: str = "="
    hidden: Collection[str] = ()

    @property
    def bounds(self) -> bool:
        """Whether a line may be at least as large as the one before."""
        return self.relation == "<="

    def compare(self, before: Line, line: Line) -> Verdict:
        """Compare for n = 2 … 5 and every coincidence of indices, for every n where possible."""
        return self._compared(before.expr, line.expr, line.relation)

    def follows(self, line: Line) -> Verdict:
        """Whether the given expression equals the line, or is at most that."""
        return self._compared(self.ends.given.expr, line.expr, self.relation)

    def same(self, one: sympy.Expr, other: sympy.Expr) -> bool:
        """Whether two parts of lines are equal, whatever n is."""
        return self._compared(one, other, "=").equal is True

    def holds(self, fact: Fact) -> bool:
        """Whether a fact is one, without the use of any."""
        read = self.ends.language.read_form
        return bool(self._compared(read(fact.left), read(fact.right), "=", given=False).equal)

    def _compared(
        self, a: sympy.Expr, b: sympy.Expr, relation: str, *, given: bool = True
    ) -> Verdict:
        """Compare two lines; `given` is whether the facts may be used for that."""
        verdict: Verdict = self.rules.world.remembered(
            ("compared", a, b, relation, given),
            lambda: self._decide(a, b, relation, given),
            sure=lambda verdict: verdict.equal is not None,
        )
        return verdict

    def _decide(self, a: sympy.Expr, b: sympy.Expr, relation: str, given: bool) -> Verdict:
        compare = at_most if relation == "<=" else equal_for_all
        world = self.rules.world
        try:
            if relation == "=" and matrix_lines.are_about_matrices(a, b):
                facts = self.rules.read_facts.values() if given else ()
                known = (matrix_lines.assumed(*fact) for fact in facts)
                return matrix_lines.compare(a, b, known, world)
            return compare(a, b, world)
        except Exception as error:  # sympy's: it means nothing
            # A line that can be read may still mean nothing: the norm of a matrix, say.
            return Verdict(None, f"undecided: {type(error).__name__}")

    def point(self, verdict: Verdict, *lines: Line) -> str:
        """Return the point that refutes, which names entries, ``z_1``, and n where it matters.

        What is hidden is left out; the names that it makes what they are assumed to be are not.
        """
        bases = {name.partition("_")[0] for name in self.hidden}
        if not any(map(self._has_entries, lines)):
            bases.add(self.rules.world.names.size)
        shown = [at for at in verdict.point.split(", ") if re.split("[_=]", at)[0] not in bases]
        if self.hidden:
            shown += assumed_values(self.rules.world, verdict.point)
        return ", ".join(shown)

    def _has_entries(self, line: Line) -> bool:
        """Whether what a line comes to depends on how many entries there are."""
        names = self.rules.world.names
        own = {symbol.name for symbol in line.expr.free_symbols}
        return line.expr.has(*BINDERS) or names.size in own or bool(line.names & {*names.indexed})

    def renames(self, before: Line, line: Line) -> bool:
        """Whether a derivative stands in a line as in the one before, whatever it is called."""
        if not (before.expr.has(D) and line.expr.has(D)):
            return False
        before, line = (
            replace(e, expr=e.expr.replace(D, calculus.without_constant)) for e in (before, line)
        )
        return self.rules.goes_by(before, line, *({"definition"} & self.rules.known.keys()))

    def is_routine(self, before: Line, line: Line) -> bool:
        """Whether a step goes by no rule but algebra, or another name, where there are others."""
        names = {"definition"} & self.rules.known.keys() if self.ends.differentiates else ()
        return self.rules.goes_by(before, line, "algebra", *names)

    def is_only_tried(self, line: Line) -> bool:
        """Whether a line is known to be the result for some n alone."""
        sides = line.expr, self.ends.result.expr
        return self.same(*sides) and only_tried(*sides, self.rules.world)

    def is_sharper(self, line: Line) -> bool:
        """Whether a line is a bound, and another one than the result."""
        return self.bounds and self._compared(*self._to_result(line), "=").equal is False

    def is_too_large(self, line: Line) -> bool:
        """Whether a line is a bound, and larger than the result."""
        return self.bounds and self._compared(*self._to_result(line), "<=").equal is False

    def _to_result(self, line: Line) -> tuple[sympy.Expr, sympy.Expr]:
        return line.expr, self.ends.result.expr
