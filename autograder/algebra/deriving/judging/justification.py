"""By which rule a right step goes, and whether that is the reason that is given for it."""

from __future__ import annotations

import functools
from dataclasses import replace
from itertools import combinations

from autograder.algebra.deriving.judging.arrival import Arrives
from autograder.algebra.deriving.judging.ends import Ends
from autograder.algebra.deriving.judging.finding import Finding
from autograder.algebra.deriving.judging.named import Named
from autograder.algebra.deriving.judging.step_rules import StepRules
from autograder.algebra.deriving.lines.line import Line
from autograder.algebra.deriving.lines.written_out import rewritten
from autograder.algebra.deriving.rewriting import calculus
from autograder.algebra.deriving.rewriting.rules import LINEARITY, RULES, Rule, all_named
from autograder.algebra.deriving.rewriting.taken_apart import are_alike

_SEVERAL = "several steps at once; write them down one by one"


class Justification:
    """Holds the steps of a derivation against its rules, if it has any."""

    def __init__(self, ends: Ends, rules: StepRules, named: Named, arrival: Arrives) -> None:
        self._ends, self._rules, self._named, self._arrival = ends, rules, named, arrival

    def unjustified(self, before: Line, line: Line) -> Finding | None:
        """Hold a right step against its rule; without one, against every rule that there is."""
        rules = self._rules
        # A transpose of a transpose is gone once it is read, and so is a sum of halves that is put
        # together on the way: no step is left to hold to a rule.
        gone = before.expr == line.expr and line.cancels in (before.cancels, False)
        if not rules or gone:
            return None
        number = line.number
        names = all_named(line.rule, rules.known, rules.facts) if line.rule else ()
        if not names and line.rule and rules.reasons:
            other = all_named(line.rule, RULES, {})  # part of one that is listed
            right = any(self._is_reason(before, line, name) for name in other)
            if right and rules.goes_by_one(before, line):
                return None
            known = ", ".join(rules.known)
            message = f"Line {number}: there is no rule {line.rule!r} here. The rules are: {known}."
            return Finding(number, "wrong_reason", message)
        if not names:
            if rules.goes_by_one(before, line) or self._at_once(before, line):
                return self._without_reason(before, line) if rules.reasons else None
            if rules.goes_by(before, line, *rules.facts):
                return None
            return Finding(number, "skipped", f"Line {number} is right, but takes {_SEVERAL}.")
        if any(self._is_reason(before, line, name) for name in names):
            return None
        both = len(names) == 2 and rules.goes_by(before, line, *names)
        if both and self._may_share(before, line):
            return None
        reason = " and ".join(names)
        if rules.goes_by_one(before, line):
            message = f"Line {number} is right, but not for the reason given, {reason}."
            return Finding(number, "wrong_reason", message)
        obvious = any(self._is_obvious(name, rules.known[name]) for name in names)
        if obvious and self._at_once(before, line):
            return None
        message = f"Line {number} is right, but takes more than {reason}: {_SEVERAL}."
        return Finding(number, "skipped", message)

    def _is_reason(self, before: Line, line: Line, name: str) -> bool:
        """Whether a step goes by the rule that is given for it, and needs it."""
        if self._rules.goes_by(before, line, name) and self._is_needed(before, line, name):
            return True
        return name == "algebra" and self._by_algebra(before, line)

    def _at_once(self, before: Line, line: Line) -> bool:
        """Whether a step goes by two obvious rules."""
        rules = self._rules
        obvious = [name for name, rule in rules.known.items() if self._is_obvious(name, rule)]
        if len(obvious) < 2 or not rules.goes_by(before, line, *obvious):
            return False
        pairs = [p for p in combinations(obvious, 2) if rules.goes_by(before, line, *p)]
        if not (pairs and self._may_share(before, line)):
            return False
        target = self._ends.result
        other = line.expr != target.expr and are_alike(line.expr, target.expr, rules.world)
        if not (other or self._named.is_but_for_names(line, target)):
            return True
        both = functools.partial(rules.change_both, before, line)
        return any(not any(map(both, pair)) for pair in pairs)  # else all comes out of that line

    def _may_share(self, before: Line, line: Line) -> bool:
        """Whether two rules may share a line: in the one to the result, where more stands before.

        Else they would be the whole derivation.
        """
        if not self._arrival.is_target(line):
            return True
        start, named = self._ends.given, self._named
        return not (
            self._rules.goes_by(start, before, "algebra")
            or self._rules.pads(start, before)
            or named.says_the_start(before)
            or named.is_but_for_names(before, start)
        )

    def _is_obvious(self, name: str, rule: Rule) -> bool:
        fact = self._rules.facts.get(name)
        return rule.obvious or (fact is not None and "1" in (fact.left, fact.right))

    def _by_algebra(self, before: Line, line: Line) -> bool:
        """Whether algebra is reason enough: also for a factor of a sum, where no rule says so."""
        own = () if LINEARITY in self._rules.known else (LINEARITY,)
        return self._rules.goes_by(before, line, "algebra", *own)

    def _without_reason(self, before: Line, line: Line) -> Finding | None:
        """Ask for the reason of a right step; what algebra alone does needs none."""
        if self._by_algebra(before, line):
            return None
        known = ", ".join(self._rules.known)
        message = f"Line {line.number} is right. Say why, behind a #. The reasons are: {known}."
        return Finding(line.number, "wrong_reason", message)

    def _is_needed(self, before: Line, line: Line, name: str) -> bool:
        """Whether algebra alone is not enough, or does what this rule says."""
        if name == "algebra" or not self._rules.goes_by(before, line, "algebra"):
            return True
        # Algebra takes numbers in and out of sums, and so does linearity.
        return name == LINEARITY and not self._rules.are_alike(before, line)

    def is_all_but_said(self, line: Line) -> bool:
        """Whether a line that nothing leads to is as good as the result.

        It is the result but for sums of equal terms, and what is given to be 1.  Such a line is
        made from the result: Σ w_k times it, say, or the sum of n equal parts of it.  Where that
        is all that is asked for, it may well stand there.
        """
        rules, result = self._rules, self._ends.result

        def leads(before: Line) -> bool:
            shown = rewritten(before.expr, (calculus.counted,), rules.world)
            return rules.goes_by(replace(before, expr=shown), result, *rules.facts_of_one)

        if rules.is_times_one(result, line) or rules.pads(result, line):
            return True
        return bool(rules) and leads(line) and not leads(self._ends.given)
