"""Whether the steps of a derivation about indexed quantities go by rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy

from autograder.algebra.comparing.equivalence import equal
from autograder.algebra.deriving.lines.line import Line
from autograder.algebra.deriving.lines.opacity import Opaque
from autograder.algebra.deriving.lines.world import Env, World
from autograder.algebra.deriving.lines.written_out import rewritten, value
from autograder.algebra.deriving.rewriting import matrix_lines
from autograder.algebra.deriving.rewriting.assumptions import assume
from autograder.algebra.deriving.rewriting.bounds import bounded, signed
from autograder.algebra.deriving.rewriting.rules import Rule
from autograder.algebra.deriving.rewriting.sums import rearranged_twice

TRIED = (2, 3)  # numbers n for which a step is held against its rule

Sides = tuple[sympy.Expr, sympy.Expr]


@dataclass(frozen=True)
class RuleSteps:
    """Whether the steps of a derivation go by rules, and algebra.

    Attributes
    ----------
    known
        The rules by name; algebra always is one.
    facts
        The two sides of those that are facts, by name.
    closed
        Functions that algebra knows nothing about.
    world
        What the names of the derivation mean.
    """

    known: Mapping[str, Rule]
    facts: Mapping[str, Sides]
    closed: tuple[str, ...]
    world: World

    def go_by(self, before: Line, line: Line, names: Sequence[str]) -> bool:
        """Whether a step goes by the rules of these names."""
        found = self.world.remembered(
            ("by rules", before.expr, line.expr, line.relation, names),
            lambda: self._go_by(before, line, names),
            sure=lambda found: found is not None,
        )
        return bool(found)

    def _go_by(self, before: Line, line: Line, names: Sequence[str]) -> bool | None:
        rules = [self.known[name] for name in names]
        facts = {name: self.facts[name] for name in names if name in self.facts}
        rewrites = self.known["algebra"].rewrites + sum((rule.rewrites for rule in rules), ())
        sides = before.expr, line.expr
        if line.relation == "=" and matrix_lines.are_about_matrices(*sides):
            rewrites = (*rewrites, *(matrix_lines.assumed(*fact) for fact in facts.values()))
            return matrix_lines.same(*sides, rewrites, self.world)
        reorders = any(rule.reorders for rule in rules)
        beside = sum((rule.beside for rule in rules), ())
        bounds = sum((rule.bounds for rule in rules), ()) if line.relation == "<=" else ()
        undecided = False

        def agree(a: sympy.Expr, b: sympy.Expr, env: Env) -> bool:
            nonlocal undecided
            found = self.agree(a, b, env, facts, reorders=reorders)
            undecided |= found is None
            return found is True

        def leads(*sides: sympy.Expr) -> bool:
            left, right = (rewritten(side, rewrites, self.world) for side in sides)
            return any(
                all(
                    agree(rewritten(bound, rewrites, self.world), right, env)
                    for env in self.world.cases(bound, right, sizes=TRIED)
                )
                for bound in bounded(left, bounds, self.world)
            )

        try:
            if leads(*sides) or ("algebra" in names and self._are_alike(*sides)):
                return True
            plain = tuple(signed(side, self.world, TRIED) for side in sides)
            inner = tuple(rewritten(side, beside, self.world) for side in sides)
            # What a name stands for may be a quotient whose logarithm comes apart.
            put_in = (rewritten(side, rewrites, self.world) for side in sides)
            logs = tuple(
                sympy.expand_log(side, force=True) if side.has(sympy.log) else side
                for side in put_in
            )
            led = any(other != sides and leads(*other) for other in (plain, logs)) or (
                inner != sides
                and not rearranged_twice(*sides, lambda e: rewritten(e, beside, self.world))
                and leads(*inner)
            )
        except Exception:  # TooMuch, or a line that means nothing under this rule
            return False
        return led or (None if undecided else False)

    def change_both(self, before: Line, line: Line, name: str) -> bool:
        """Whether a rule rewrites both of two lines."""
        rewrites = (*self.known["algebra"].rewrites, *self.known[name].rewrites)
        sides = before.expr, line.expr
        return all(rewritten(side, rewrites, self.world) != side for side in sides)

    def _are_alike(self, a: sympy.Expr, b: sympy.Expr) -> bool:
        """Whether two lines agree term by term as they stand, no factor being taken out."""
        cases = self.world.cases(a, b, sizes=TRIED)
        return all(self.agree(a, b, env) is True for env in cases)

    def agree(
        self,
        a: sympy.Expr,
        b: sympy.Expr,
        env: Env,
        facts: Mapping[str, Sides] | None = None,
        *,
        reorders: bool = False,
    ) -> bool | None:
        """Whether two sides have the same value, and no operator is looked into.

        Returns
        -------
        bool or None
            None if that could not be decided.
        """

        def worked_out() -> bool | None:
            opaque = self._opaque(env, facts or {}, reorders=reorders)
            values = (value(e, env, self.world, opaque).xreplace(opaque.facts) for e in (a, b))
            return equal(*values).equal

        found: bool | None = self.world.remembered(
            ("agree", a, b, *env.items(), *(facts or ()), reorders),
            worked_out,
            sure=lambda found: found is not None,
        )
        return found

    def _opaque(self, env: Env, facts: Mapping[str, Sides], *, reorders: bool) -> Opaque:
        """Return the symbols for operators in one case, in which some facts hold."""

        def made() -> Opaque:
            opaque = Opaque(self.closed, reorders=reorders)
            for name, fact in facts.items():
                assume(name, fact, env, opaque, self.world)
            opaque.written.clear()  # it was written before all was assumed
            return opaque

        key = (*env.items(), *facts, reorders)
        found: Opaque = self.world.opaque(key, made)
        if found.is_full:
            self.world.opaque.keep(key, found := made())
        return found
