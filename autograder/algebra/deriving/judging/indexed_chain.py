"""Derivations about indexed quantities, step by step and rule by rule."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

import sympy

from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deriving.judging.justification import Justification
from autograder.algebra.deriving.judging.premises import IndexedLine, Premises
from autograder.algebra.deriving.judging.task import Finding
from autograder.algebra.deriving.lines.indexed_binding import BINDERS
from autograder.algebra.deriving.lines.inert import D, unnamed
from autograder.algebra.deriving.lines.line import Line
from autograder.algebra.deriving.lines.written_out import rewritten
from autograder.algebra.deriving.rewriting import calculus, matrix_lines
from autograder.algebra.deriving.rewriting.assumptions import assumed_values
from autograder.algebra.deriving.rewriting.empty_sums import adds_empty_sums
from autograder.algebra.deriving.rewriting.for_every_n import at_most, equal_for_all, only_tried
from autograder.algebra.deriving.rewriting.rules import Fact


@dataclass(frozen=True)
class IndexedChain(Premises):
    """A derivation with indices, for any number n of them, whose steps go by rules.

    A line may begin with ``=`` or ``<=`` and end with a reason: ``= p_i - p_i^2  # algebra``.
    A right step without a reason must go by one of the `rules`, or by several facts: what is given
    may be put in at once.  A reason must be the right one, or two that are needed together, but not
    for the step to the result; unless `reasons` are asked for, one that names no rule is a note,
    which counts nothing.

    Parameters
    ----------
    start, target, names, definitions, final_names, waypoints, min_lines
        As for `Chain`; `names` are those without indices, and a definition may have indices:
        ``{"p_i": "exp(z_i)/sum(exp(z_k), k)"}``.
    indexed, matrices, permutations, by_rows, positive, indices, size, sizes, parts
        The other names, see `LineNames`.
    rules : tuple of str or Rule or Fact
        What a step may go by; ``"algebra"`` always is one.  Without rules any true step is right.
    reasons : bool
        Whether each step must say which rule it goes by.
    relation : str
        ``"<="``, if the derivation shows that `start` is at most `target`.
    moments : mapping of str to pair of str
        For a random name with independent entries, their mean and variance:
        ``{"q_i": ("0", "s^2")}``.
    normal, vectors : tuple of str
        Names whose entries are independent standard normal variables, or vectors.
    where : mapping of str to str
        For names of which a `Fact` assumes something: all that they can be.  R S = I is assumed
        with ``{"S": "R^(-1)"}``, and ‖x‖ = ‖y‖ with
        ``{"x_i": "u_i*sqrt(sum(v_j^2, j))", "y_i": "v_i*sqrt(sum(u_j^2, j))"}``.  A line is right
        if it holds for these; a step may use the fact alone.
    hidden : tuple of str
        Names that only `where` uses, ``("u_i", "v_i")``.
    closed : tuple of str
        Functions that algebra knows nothing about, ``("sin", "cos")`` say, so that using their
        addition theorem is a step of its own.

    Examples
    --------
    >>> chain = IndexedChain(
    ...     start="D(log(sum(exp(z_k), k)), z_j)",
    ...     target="p_j",
    ...     names=(),
    ...     indexed=("z", "p"),
    ...     definitions={"p_i": "exp(z_i)/sum(exp(z_k), k)"},
    ...     rules=("chain rule", "derivative of a sum", "derivative of exp", "definition",
    ...            "delta contraction"),
    ... )
    >>> lines = [
    ...     "D(sum(exp(z_k), k), z_j)/sum(exp(z_k), k)  # chain rule",
    ...     "sum(D(exp(z_k), z_j), k)/sum(exp(z_k), k)  # derivative of a sum",
    ...     "sum(exp(z_k)*delta(k,j), k)/sum(exp(z_k), k)  # derivative of exp",
    ...     "exp(z_j)/sum(exp(z_k), k)  # delta contraction",
    ...     "p_j  # definition",
    ... ]
    >>> chain.examine(lines)
    Examination(findings=(), credit=1.0, review=False)
    >>> chain.examine(lines[:1] + lines[3:]).findings[0].kind
    'skipped'
    """

    def goes_by(self, before: Line, line: Line, *names: str) -> bool:
        """Whether a step goes by the rules of these names, and algebra."""
        return self._justification.goes_by(before, line, *names)

    def unjustified(self, before: Line, line: Line) -> Finding | None:
        """Hold a right step against its rule; without one, against every rule that there is."""
        return self._justification.unjustified(before, line)

    @cached_property
    def _justification(self) -> Justification:
        return Justification(self)

    def prove(self) -> None:
        """Hold the parts against one another, and prove the facts."""
        super().prove()
        for fact in self.facts.values():
            left, right = self.read_form(fact.left), self.read_form(fact.right)
            if not self._compared(left, right, "=", given=False).equal:
                hint = "; if it is assumed, say with `where` what makes it true"
                raise ValueError(f"the fact {fact.name!r} does not hold{hint}")

    def point(self, verdict: Verdict, *lines: Line) -> str:
        """Return the point that refutes, which names entries, ``z_1``, and n where it matters.

        What is hidden is left out; the names that it makes what they are assumed to be are not.
        """
        bases = {name.partition("_")[0] for name in self.hidden}
        if not any(map(self._has_entries, lines)):
            bases.add(self.size)
        shown = [at for at in verdict.point.split(", ") if re.split("[_=]", at)[0] not in bases]
        if self.hidden:
            shown += assumed_values(self.world, verdict.point)
        return ", ".join(shown)

    def _has_entries(self, line: Line) -> bool:
        """Whether what a line comes to depends on how many entries there are."""
        own = {symbol.name for symbol in line.expr.free_symbols}
        return line.expr.has(*BINDERS) or self.size in own or bool(line.names & {*self.indexed})

    def compare(self, before: Line, line: Line) -> Verdict:
        """Compare for n = 2 … 5 and every coincidence of indices, for every n where possible."""
        return self._compared(before.expr, line.expr, line.relation)

    def follows(self, line: Line) -> Verdict:
        """Whether the given expression equals the line, or is at most that."""
        return self._compared(self.given.expr, line.expr, self.relation)

    def _compared(
        self, a: sympy.Expr, b: sympy.Expr, relation: str, *, given: bool = True
    ) -> Verdict:
        """Compare two lines; `given` is whether the facts may be used for that."""
        verdict: Verdict = self.world.remembered(
            ("compared", a, b, relation, given),
            lambda: self._decide(a, b, relation, given),
            sure=lambda verdict: verdict.equal is not None,
        )
        return verdict

    def _decide(self, a: sympy.Expr, b: sympy.Expr, relation: str, given: bool) -> Verdict:
        compare = at_most if relation == "<=" else equal_for_all
        try:
            if relation == "=" and matrix_lines.are_about_matrices(a, b):
                known = map(self._assumed, self.facts.values()) if given else ()
                return matrix_lines.compare(a, b, known, self.world)
            return compare(a, b, self.world)
        except Exception as error:  # sympy's: it means nothing
            # A line that can be read may still mean nothing: the norm of a matrix, say.
            return Verdict(None, f"undecided: {type(error).__name__}")

    def _same_value(self, one: sympy.Expr, other: sympy.Expr) -> bool:
        """Whether two parts of lines are equal, whatever n is."""
        return self._compared(one, other, "=").equal is True

    @property
    def bounds(self) -> bool:
        """Whether a line may be at least as large as the one before."""
        return self.relation == "<="

    @property
    def told(self) -> tuple[str, ...]:
        """The rules; where reasons are asked for, the result and what its names mean as well."""
        way = (self.target, *self.definitions.values()) if self.reasons else ()
        return (*self.known, *way)

    @property
    def has_rules(self) -> bool:
        """Whether a step must go by one of some rules."""
        return bool(self.rules)

    def adds_nothing(self, before: Line, line: Line) -> bool:
        """Whether a line is the one before in disguise; a factor may be 1 by a rule."""
        if self._adds_empty_sums(before, line):
            return True
        if not super().adds_nothing(before, line):
            return False
        same = bool(before.expr == line.expr)
        return same or not self.has_rules or self.goes_by(before, line, "algebra")

    def repeats(self, before: Line, line: Line) -> bool:
        """Whether a line only repeats an earlier one, maybe with sums beside it that go out."""
        return super().repeats(before, line) or self._adds_empty_sums(before, line)

    def is_target(self, line: Line) -> bool:
        """Whether a line is the target, as it is, or with what goes out."""
        return super().is_target(line) or self._adds_empty_sums(self.result, line)

    def _adds_empty_sums(self, before: Line, line: Line) -> bool:
        return adds_empty_sums(before.expr, line.expr, self.world)

    def renames(self, before: Line, line: Line) -> bool:
        """Whether a derivative stands in a line as in the one before, whatever it is called."""
        if not (before.expr.has(D) and line.expr.has(D)):
            return False
        before, line = (
            replace(e, expr=e.expr.replace(D, calculus.without_constant)) for e in (before, line)
        )
        return self.goes_by(before, line, *({"definition"} & self.known.keys()))

    def is_spelled_like(self, line: Line, other: Line) -> bool:
        """Whether two lines are read as the same, the names of bound indices aside."""
        return bool(unnamed(line.expr) == unnamed(other.expr))

    def leaps(self, before: Line, line: Line) -> bool:
        """Whether a first line says the result; a step that goes by rules says what it skips.

        Where names put in lead to the result at once, it says no more with other brackets, or with
        what such a name means; nor does it with a 1 beside it that is the reason for the step. Nor
        does it with names put in where only what both lines come to shows that they are equal.
        """
        if self.has_rules:
            others = [name for name in self.known if name not in self._facts_of_one]
            if self.is_times_one(self.result, line):
                return not any(self.goes_by(before, line, name) for name in others)
            named = self.is_but_for_names(line, self.result)
            if not self._is_named_alone:
                return named and self._justification.takes_both_apart(before, line)
            if named:
                return True
            bracketed = sympy.expand(line.expr - self.result.expr) == 0
            by_name = [self._by_name(one) for one in (line, self.result)]
            return bool(bracketed) or self.essence.is_made_of(by_name[0], by_name[1:])
        return super().leaps(before, line)

    @cached_property
    def _is_named_alone(self) -> bool:
        """Whether what names stand for leads from the given expression to the result at once."""
        ends = self.given, self.result
        by_names = "definition" in self.known and self.goes_by(*ends, "definition")
        return by_names and not self.goes_by(*ends, "algebra")

    def is_routine(self, before: Line, line: Line) -> bool:
        """Whether a step goes by no rule but algebra, or another name, where there are others."""
        names = {"definition"} & self.known.keys() if self.differentiates else ()
        return self.goes_by(before, line, "algebra", *names)

    def lines_missing(self, before: Line, line: Line) -> int:
        """How many lines at least are missing in a step: one less than the rules that it needs."""
        needed = [name for name in (*self.known, *self.facts) if name != "algebra"]
        if not self.goes_by(before, line, *needed):
            return 1
        for name in tuple(needed):
            rest = [other for other in needed if other != name]
            needed = rest if self.goes_by(before, line, *rest) else needed
        return max(1, len(needed) - 1)

    def is_all_but_said(self, line: Line) -> bool:
        """Whether a line is the result but for sums of equal terms, and what is given to be 1.

        Such a line is made from the result: Σ w_k times it, say, or the sum of n equal parts of it.
        Where that is all that is asked for, it may well stand there.
        """

        def leads(before: Line) -> bool:
            shown = rewritten(before.expr, (calculus.counted,), self.world)
            return self.goes_by(replace(before, expr=shown), self.result, *self._facts_of_one)

        if self.is_times_one(self.result, line):
            return True
        return self.has_rules and leads(line) and not leads(self.given)

    @cached_property
    def _facts_of_one(self) -> list[str]:
        return [name for name, fact in self.facts.items() if "1" in (fact.left, fact.right)]

    def is_times_one(self, before: Line, line: Line) -> bool:
        """Whether a line is another one, and beside it what is given to be 1, or I."""
        facts = [(fact.left, fact.right) for fact in self.facts.values()]
        given = [self.read_form(left) for left, right in facts if right == "I"]
        products = [product for f in given for product in (before.expr * f, f * before.expr)]
        return line.expr in products or super().is_times_one(before, line)

    def out_of_form(self, line: Line) -> str:
        """Say what is wrong with the form of the last line, or that its bound is too large."""
        found = super().out_of_form(line)
        target = self.result.expr
        if not found and self.bounds and self._compared(line.expr, target, "<=").equal is False:
            return "The last line is larger than the bound that is asked for."
        return found

    def is_finished(self, line: Line) -> bool:
        """Whether algebra alone leads from a last line to the result, or its bound is sharper."""
        target = self.result
        if super().is_target(line):
            return True
        same = self._compared(line.expr, target.expr, "=").equal
        if same and only_tried(line.expr, target.expr, self.world):
            return False
        if not self.has_rules or self.goes_by(line, target, "algebra"):
            return True
        return self.bounds and same is False

    def left_over(self, line: Line) -> str:
        """Say which names or operators are left that the target does not have."""
        target = self.result
        assert isinstance(line, IndexedLine)
        assert isinstance(target, IndexedLine)
        if left := sorted(line.operators - target.operators - {"Total"}):
            shown = ", ".join(_WRITTEN.get(name, name) for name in left)
            return f"In the last line {shown} is still to be carried out."
        return super().left_over(line)

    def _assumed(self, fact: Fact) -> matrix_lines.Rewrite:
        return matrix_lines.assumed(self.read_form(fact.left), self.read_form(fact.right))


_WRITTEN = {"D": "a derivative", "E": "an expectation", "Var": "a variance", "Largest": "a maximum"}
