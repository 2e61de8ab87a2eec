"""Whether a line of a derivation is its result, and whether anything leads there."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import sympy

from autograder.algebra.building.functions import Diff
from autograder.algebra.deriving.judging.comparison import LineComparison
from autograder.algebra.deriving.judging.ends import Ends
from autograder.algebra.deriving.judging.last_line import LastLine
from autograder.algebra.deriving.judging.named import Named
from autograder.algebra.deriving.judging.step_rules import StepRules
from autograder.algebra.deriving.lines.inert import unnamed
from autograder.algebra.deriving.lines.line import Line
from autograder.algebra.deriving.lines.memory import Memory
from autograder.algebra.deriving.rewriting.empty_sums import adds_empty_sums
from autograder.algebra.deriving.rewriting.taken_apart import are_alike, pads


class Says(Protocol):
    """Whether a line says something: more than the lines around it say."""

    def repeats(self, before: Line, line: Line) -> bool:
        """Whether a line only repeats an earlier one: with zeros and ones, or by other names."""

    def adds_nothing(self, before: Line, line: Line) -> bool:
        """Whether a line is the one before in disguise, if the two are equal."""

    def mixes(self, line: Line, *parts: Line) -> bool:
        """Whether a line only mixes other ones that are equal, and says nothing else."""


class Arrives(Protocol):
    """Whether a line is the result."""

    def is_result(self, line: Line) -> bool:
        """Whether a line has, as it is written, the form that is asked for at the end."""

    def is_target(self, line: Line) -> bool:
        """Whether a line is the target, maybe in disguise."""

    def leaps(self, before: Line, line: Line) -> bool:
        """Whether a line that is the first one to say something says the result."""

    def is_finished(self, line: Line) -> bool:
        """Whether algebra alone leads from a last line, which is right, to the result."""


@dataclass(frozen=True)
class Arrival:
    """Whether a line is the target; `to_show` is whether something must be shown before."""

    ends: Ends
    comparison: LineComparison
    rules: StepRules
    named: Named
    disguises: Says
    form: LastLine
    to_show: bool
    _targets: Memory = field(default_factory=Memory, compare=False, repr=False)

    def is_result(self, line: Line) -> bool:
        """Whether a line has, as it is written, the form that is asked for at the end."""
        if not self._tells_the_result:
            return self.is_target(line)
        return not (line.written_names - set(self.ends.allowed) or self.form.out_of_form(line))

    @cached_property
    def _tells_the_result(self) -> bool:
        return bool(self.form.out_of_form(self.ends.given))

    def is_target(self, line: Line) -> bool:
        """Whether a line is the target, as it is, with + 0 or · 1, or with what goes out."""

        def found() -> bool:
            if self._is_said(line):
                return True
            sides = self.ends.result.expr, line.expr
            return any(goes_out(*sides, self.rules.world) for goes_out in (adds_empty_sums, pads))

        told: bool = self._targets(line.key, found)  # asked again and again
        return told

    def _is_said(self, line: Line) -> bool:
        """Whether a line is the target, but for sums that go out."""
        target = self.ends.result
        if line.essence == target.essence or self.named.is_called_alike(line, target):
            return True
        if self.disguises.mixes(line, target):
            return True
        if unnamed(line.expr) != unnamed(target.expr):
            return False
        return bool(target.expr.is_number) or self.named.holds(line, target) or not line.cancels

    def is_finished(self, line: Line) -> bool:
        """Whether algebra alone leads from a last line to the result, or its bound is sharper."""
        if not self.rules:
            return not self.comparison.is_only_tried(line) or self._is_said(line)
        if self._is_said(line):
            return True
        if self.comparison.is_only_tried(line):
            return False
        by_algebra = self.rules.goes_by(line, self.ends.result, "algebra")
        return by_algebra or self.comparison.is_sharper(line)

    def leaps(self, before: Line, line: Line) -> bool:
        """Whether a line that is the first one to say something says the result.

        What is asked for on the way is missing then, or a derivative has been carried out, or the
        line is the target multiplied out or factored.  A step that goes by rules says what it
        skips.
        """
        if self.rules:
            return self._leaps_by_rules(before, line)
        if not self.is_result(line):
            return False
        missing = self.to_show or before.expr.has(Diff)
        return missing or (not line.cancels and line.expr in self._forms)

    @cached_property
    def _forms(self) -> tuple[sympy.Expr, ...]:
        target = self.ends.result.expr
        return target, sympy.expand(target), sympy.factor(target)

    def _leaps_by_rules(self, before: Line, line: Line) -> bool:
        """Whether a line says the result where the rules can't say what is skipped.

        Where names put in lead to the result at once, it says no more with other brackets, or with
        what such a name means; nor does it with a 1 beside it that is the reason for the step. Nor
        does it with names put in where only what both lines come to shows that they are equal.
        """
        rules, result = self.rules, self.ends.result
        if rules.is_times_one(result, line) or rules.pads(result, line):
            others = [name for name in rules.known if name not in rules.facts_of_one]
            return not any(rules.goes_by(before, line, name) for name in others)
        named = self.named.is_but_for_names(line, result)
        if not self._is_named_alone:
            return named and rules.takes_both_apart(before, line)
        if named:
            return True
        bracketed = are_alike(line.expr, result.expr, rules.world)
        form, end = map(self.named.by_name, (line, result))
        return bracketed or self.ends.language.essence.is_made_of(form, [end])

    @cached_property
    def _is_named_alone(self) -> bool:
        """Whether what names stand for leads from the given expression to the result at once."""
        ends = self.ends.given, self.ends.result
        by_names = "definition" in self.rules.known and self.rules.goes_by(*ends, "definition")
        return by_names and not self.rules.goes_by(*ends, "algebra")
