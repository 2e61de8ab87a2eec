"""What the steps of a derivation may go by: rules, and facts that are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import sympy

from autograder.algebra.deriving.lines.line import Language, Line
from autograder.algebra.deriving.lines.structure import Structure, structure
from autograder.algebra.deriving.lines.world import World
from autograder.algebra.deriving.rewriting.rule_steps import TRIED, RuleSteps, Sides
from autograder.algebra.deriving.rewriting.rules import RULES, Fact, Rule
from autograder.algebra.deriving.rewriting.taken_apart import pads


@dataclass(frozen=True)
class StepRules:
    """The rules of a derivation, of which there may be none.

    Attributes
    ----------
    language, world
        What they are read with, and what the names mean.
    listed
        As the author gives them; a fact is a rule of its own.
    reasons
        Whether each step must say which rule it goes by.
    closed
        Functions that algebra knows nothing about.
    """

    language: Language
    world: World
    listed: Sequence[str | Rule | Fact] = ()
    reasons: bool = False
    closed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.listed)

    @cached_property
    def known(self) -> dict[str, Rule]:
        """The rules by name, algebra first."""
        known = {"algebra": RULES["algebra"]}
        for rule in self.listed:
            if isinstance(rule, str):
                if rule not in RULES:
                    raise ValueError(f"no rule {rule!r}; the rules are {', '.join(RULES)}")
                known[rule] = RULES[rule]
            else:
                known[rule.name] = rule if isinstance(rule, Rule) else Rule(rule.name)
        return known

    @cached_property
    def facts(self) -> dict[str, Fact]:
        """The facts by name."""
        return {rule.name: rule for rule in self.listed if isinstance(rule, Fact)}

    @cached_property
    def read_facts(self) -> dict[str, Sides]:
        """The two sides of each fact, by name."""
        read = self.language.read_form
        return {name: (read(fact.left), read(fact.right)) for name, fact in self.facts.items()}

    @cached_property
    def facts_of_one(self) -> list[str]:
        """The facts that say that something is 1."""
        return [name for name, fact in self.facts.items() if "1" in (fact.left, fact.right)]

    @cached_property
    def ones(self) -> Sequence[Structure]:
        """What a fact says to be 1."""
        sides = [(fact.left, fact.right) for fact in self.facts.values()]
        pairs = [*sides, *((right, left) for left, right in sides)]
        return [structure(self.language.tree(a)) for a, b in pairs if b == "1"]

    @cached_property
    def _identities(self) -> list[sympy.Expr]:
        """What a fact says to be I."""
        return [self.read_facts[name][0] for name, f in self.facts.items() if f.right == "I"]

    def is_times_one(self, before: Line, line: Line) -> bool:
        """Whether a line is another one, and beside it what is given to be 1, or I.

        A 1 inside the other one may well be replaced by that.
        """
        given = self._identities
        if line.expr in [product for f in given for product in (before.expr * f, f * before.expr)]:
            return True
        essence = self.language.essence
        ones = dict.fromkeys(self.ones, ("name", "#one"))  # bound indices are #1, #2, …
        plain = essence.with_names(line.structure, ones)
        earlier = essence.with_names(before.structure, ones)
        new = plain != line.essence and earlier == before.essence
        return new and essence.is_made_of(plain, [before.structure])

    def pads(self, before: Line, line: Line) -> bool:
        """Whether a line is another one, and beside it what goes out again, or is given to be 1."""
        sides = before.expr, line.expr
        found: bool = self.world.remembered(
            ("pads", *sides),
            lambda: pads(*sides, self.world, self._written_ones),
            sure=lambda _: True,
        )
        return found

    @cached_property
    def _written_ones(self) -> list[sympy.Expr]:
        pairs = [(fact.left, fact.right) for fact in self.facts.values()]
        pairs += [(right, left) for left, right in pairs]
        return [self.language.read_form(one) for one, other in pairs if other == "1"]

    @cached_property
    def _steps(self) -> RuleSteps:
        known = {**RULES, **self.known}
        return RuleSteps(known, self.read_facts, self.closed, self.world)

    def goes_by(self, before: Line, line: Line, *names: str) -> bool:
        """Whether a step goes by the rules of these names, and algebra."""
        return self._steps.go_by(before, line, names)

    def goes_by_one(self, before: Line, line: Line) -> bool:
        """Whether a step goes by one of the rules that are listed."""
        return any(self.goes_by(before, line, rule) for rule in self.known)

    def change_both(self, before: Line, line: Line, name: str) -> bool:
        """Whether a rule rewrites both of two lines."""
        return self._steps.change_both(before, line, name)

    def takes_both_apart(self, before: Line, line: Line) -> bool:
        """Whether each rule that a step goes by has to be used on both of its lines."""
        rules = [name for name in self.known if self.goes_by(before, line, name)]
        return bool(rules) and all(self.change_both(before, line, name) for name in rules)

    def are_alike(self, before: Line, line: Line) -> bool:
        """Whether two lines agree as they stand, no operator being looked into."""
        sides = before.expr, line.expr
        return all(self._steps.agree(*sides, e) for e in self.world.cases(*sides, sizes=TRIED))

    def lines_missing(self, before: Line, line: Line) -> int:
        """How many lines at least are missing in a step: one less than the rules that it needs."""
        needed = [name for name in (*self.known, *self.facts) if name != "algebra"]
        if not self.goes_by(before, line, *needed):
            return 1
        for name in tuple(needed):
            rest = [other for other in needed if other != name]
            needed = rest if self.goes_by(before, line, *rest) else needed
        return max(1, len(needed) - 1)
