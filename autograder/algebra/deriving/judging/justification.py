"""By which rule a right step goes, and whether that is the reason that is given for it."""

from __future__ import annotations

import functools
from functools import cached_property
from itertools import combinations

from autograder.algebra.deriving.judging.premises import Premises
from autograder.algebra.deriving.judging.task import Finding
from autograder.algebra.deriving.lines.line import Line
from autograder.algebra.deriving.rewriting.rule_steps import TRIED, RuleSteps
from autograder.algebra.deriving.rewriting.rules import LINEARITY, RULES, Rule, all_named

_SEVERAL = "several steps at once; write them down one by one"


class Justification:
    """Holds the steps of an `IndexedChain` against its rules."""

    def __init__(self, chain: Premises) -> None:
        self._chain = chain

    def goes_by(self, before: Line, line: Line, *names: str) -> bool:
        """Whether a step goes by the rules of these names, and algebra."""
        return self._steps.go_by(before, line, names)

    @cached_property
    def _steps(self) -> RuleSteps:
        read = {
            name: (self._chain.read_form(fact.left), self._chain.read_form(fact.right))
            for name, fact in self._chain.facts.items()
        }
        known = {**RULES, **self._chain.known}
        return RuleSteps(known, read, self._chain.closed, self._chain.world)

    def unjustified(self, before: Line, line: Line) -> Finding | None:
        """Hold a right step against its rule; without one, against every rule that there is."""
        chain = self._chain
        # A transpose of a transpose is gone once it is read, and so is a sum of halves that is put
        # together on the way: no step is left to hold to a rule.
        gone = before.expr == line.expr and line.cancels in (before.cancels, False)
        if not chain.rules or gone:
            return None
        number = line.number
        names = all_named(line.rule, chain.known, chain.facts) if line.rule else ()
        if not names and line.rule and chain.reasons:
            other = all_named(line.rule, RULES, {})  # part of one that is listed
            right = any(self._is_reason(before, line, name) for name in other)
            if right and self._goes_by_one(before, line):
                return None
            known = ", ".join(chain.known)
            message = f"Line {number}: there is no rule {line.rule!r} here. The rules are: {known}."
            return Finding(number, "wrong_reason", message)
        if not names:
            if self._goes_by_one(before, line) or self._at_once(before, line):
                return self._without_reason(before, line) if chain.reasons else None
            if self.goes_by(before, line, *chain.facts):
                return None
            return Finding(number, "skipped", f"Line {number} is right, but takes {_SEVERAL}.")
        if any(self._is_reason(before, line, name) for name in names):
            return None
        if len(names) == 2 and not chain.is_target(line) and self.goes_by(before, line, *names):
            return None
        reason = " and ".join(names)
        if self._goes_by_one(before, line):
            message = f"Line {number} is right, but not for the reason given, {reason}."
            return Finding(number, "wrong_reason", message)
        obvious = any(self._is_obvious(name, chain.known[name]) for name in names)
        if obvious and self._at_once(before, line):
            return None
        message = f"Line {number} is right, but takes more than {reason}: {_SEVERAL}."
        return Finding(number, "skipped", message)

    def _goes_by_one(self, before: Line, line: Line) -> bool:
        """Whether a step goes by one of the rules that are listed."""
        return any(self.goes_by(before, line, rule) for rule in self._chain.known)

    def takes_both_apart(self, before: Line, line: Line) -> bool:
        """Whether each rule that a step goes by has to be used on both of its lines."""
        rules = [name for name in self._chain.known if self.goes_by(before, line, name)]
        return bool(rules) and all(self._steps.change_both(before, line, name) for name in rules)

    def _is_reason(self, before: Line, line: Line, name: str) -> bool:
        """Whether a step goes by the rule that is given for it, and needs it."""
        if self.goes_by(before, line, name) and self._is_needed(before, line, name):
            return True
        return name == "algebra" and self._by_algebra(before, line)

    def _at_once(self, before: Line, line: Line) -> bool:
        """Whether a step on the way, not the one to the result, goes by two obvious rules."""
        chain = self._chain
        obvious = [name for name, rule in chain.known.items() if self._is_obvious(name, rule)]
        if len(obvious) < 2 or chain.is_target(line) or not self.goes_by(before, line, *obvious):
            return False
        pairs = [p for p in combinations(obvious, 2) if self.goes_by(before, line, *p)]
        if not chain.is_but_for_names(line, chain.result):
            return bool(pairs)
        both = functools.partial(self._steps.change_both, before, line)
        return any(not any(map(both, pair)) for pair in pairs)  # else all comes out of that line

    def _is_obvious(self, name: str, rule: Rule) -> bool:
        fact = self._chain.facts.get(name)
        return rule.obvious or (fact is not None and "1" in (fact.left, fact.right))

    def _by_algebra(self, before: Line, line: Line) -> bool:
        """Whether algebra is reason enough: also for a factor of a sum, where no rule says so."""
        own = () if LINEARITY in self._chain.known else (LINEARITY,)
        return self.goes_by(before, line, "algebra", *own)

    def _without_reason(self, before: Line, line: Line) -> Finding | None:
        """Ask for the reason of a right step; what algebra alone does needs none."""
        if self._by_algebra(before, line):
            return None
        known = ", ".join(self._chain.known)
        message = f"Line {line.number} is right. Say why, behind a #. The reasons are: {known}."
        return Finding(line.number, "wrong_reason", message)

    def _is_needed(self, before: Line, line: Line, name: str) -> bool:
        """Whether algebra alone is not enough, or does what this rule says."""
        if name == "algebra" or not self.goes_by(before, line, "algebra"):
            return True
        if name != "linearity of sums":  # algebra takes numbers in and out of sums, and so does it
            return False
        sides = before.expr, line.expr
        cases = self._chain.world.cases(*sides, sizes=TRIED)
        return not all(self._steps.agree(*sides, env) for env in cases)
