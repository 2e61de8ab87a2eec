"""Derivations whose lines are equations: Lagrange, stationarity, completing the square."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import sympy

from autograder.algebra.comparing.equations import NO_MULTIPLE, multiples
from autograder.algebra.comparing.equivalence import equal
from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deriving.judging.indexed_chain import IndexedChain
from autograder.algebra.deriving.judging.premises import IndexedLine
from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.inert import D
from autograder.algebra.deriving.lines.language import line_parts
from autograder.algebra.deriving.lines.line import Line
from autograder.algebra.deriving.lines.structure import Structure
from autograder.algebra.deriving.lines.world import World
from autograder.algebra.deriving.lines.written_out import rewritten, value
from autograder.algebra.deriving.rewriting.calculus import contraction, linear
from autograder.algebra.deriving.rewriting.for_every_n import equal_for_all
from autograder.algebra.deriving.rewriting.rules import DERIVATIVES
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.tree import Node

_KEPT = 128  # lines of which it is known whether they hold


@dataclass(frozen=True)
class Equation(IndexedLine):
    """A line that is an equation; what it comes to is its left side minus its right side."""

    @property
    def sides(self) -> tuple[sympy.Expr, sympy.Expr]:
        """The two sides as read."""
        left, right = (self.chain.build(side, self.text) for side in self.tree.children)
        return left, right


@dataclass(frozen=True)
class EquationChain(IndexedChain):
    """A derivation that solves an equation: each line is one that follows from the line before.

    ``a = b = c`` are two of them, and an arrow may stand in front.  What the equation determines is
    said with `where`; a line follows if it holds there, and says something: one that holds
    whatever the names are is none.

    Parameters
    ----------
    start, target : str
        The given equation; and what it is solved to, a name on the left: ``"s = sqrt(L)"``.
    where : mapping of str to str
        What all unknowns are, the one that is asked for among them.
    names, indexed, positive, definitions, final_names, waypoints, min_lines
        As for `IndexedChain`.

    Examples
    --------
    >>> chain = EquationChain(
    ...     start="D(L/s + s, s) = 0",
    ...     target="s = sqrt(L)",
    ...     names=("L", "s"),
    ...     positive=("L", "s"),
    ...     where={"s": "sqrt(L)"},
    ... )
    >>> chain.examine(["1 - L/s^2 = 0", "s^2 = L", "s = sqrt(L)"])
    Examination(findings=(), credit=1.0, review=False)
    >>> chain.examine(["1 - L/s = 0", "s = sqrt(L)"]).findings[0].message.partition(":")[0]
    "Line 1 doesn't follow from the given equation"
    """

    line_type: ClassVar[type[Line]] = Equation
    origin: ClassVar[str] = "the given equation"
    waypoints_are_steps: ClassVar[bool] = True

    def prove(self) -> None:
        """Hold the parts against one another; equations hold for what the unknowns are."""
        if self.relation != "=" or self.rules or not self.where:
            raise ValueError("equations have no rules and need `where`: what the unknowns are")
        holds = self.follows(self.given)
        if holds.equal is False:
            raise ValueError(f"the given equation does not hold for `where`: {holds.how}")
        super().prove()

    def read_line(self, number: int, raw: object, before: Sequence[Line] = ()) -> list[Line]:  # noqa: ARG002
        """Read the equations of one line."""
        text, written = line_parts(number, raw)
        if len(written.sides) < 2 or any(side.relation != "=" for side in written.sides):
            reason = f"Line {number} cannot be read: expected an equation, such as a = b"
            raise ParseError(reason, text, 0)
        first, *others = written.sides
        lines = []
        for side in others:
            right = side.text.lstrip()
            left = f"{first.text} =".ljust(len(side.text) - len(right))
            lines.append(self.line(number, left + right, "=", text, written.reason))
        return lines

    def hint(self) -> dict[str, object]:
        """Return what a notebook may know about a line: the names, and that it is an equation."""
        return {**super().hint(), "equations": True}

    def build(self, tree: Node, text: str) -> sympy.Expr:
        """Return what a tree says; of an equation, its left side minus its right side."""
        if tree.kind == "relation" and tree.marks == ("=",):
            left, right = (super(EquationChain, self).build(side, text) for side in tree.children)
            return left - right
        return super().build(tree, text)

    def follows(self, line: Line) -> Verdict:
        """Whether a line holds for what the unknowns are, and not for everything."""
        return self._holds(line.expr)

    def compare(self, before: Line, line: Line) -> Verdict:
        """Whether a line follows from an earlier one; from a wrong one, too."""
        if self.follows(before).equal is not False:
            return self.follows(line)
        try:
            return self._from_wrong(before, line)
        except Exception as error:  # sympy's: it means nothing
            return Verdict(None, f"undecided: {type(error).__name__}")

    def goes_on(self, slips: Sequence[Line], before: Line, line: Line) -> bool:
        """Whether a wrong line follows if an earlier one is put into the line before it."""
        try:
            return any(self._put_in(slip, before, line) for slip in slips)
        except Exception:  # what means nothing follows from nothing
            return False

    def contradiction(self, verdict: Verdict, before: Line, line: Line) -> str:
        """Say where a line fails to hold."""
        other = f"line {before.number}" if before.number else self.origin
        message = f"Line {line.number} doesn't follow from {other}"
        if "whatever" in verdict.how:
            return f"{message}: it holds whatever the names are, so it says nothing"
        if not verdict.values:
            return message
        at, apart = self.at(verdict, before, line), verdict.values[0].lstrip("-")
        return f"{message}: {at}where {other} holds, its sides are {apart} apart"

    def adds_nothing(self, before: Line, line: Line) -> bool:
        """Whether a line is the one before with its sides exchanged, or terms moved across."""
        if before.structure == line.structure:
            return True
        return bool(before.expr in (line.expr, -line.expr)) and not self._isolates(before, line)

    def _isolates(self, before: Line, line: Line) -> bool:
        """Whether terms were moved away from what is asked for, where all starts with algebra."""
        asked, _ = self._sides(self.result)
        beside = [
            sum(
                structures.leaves(form)
                for form, side in zip(self._forms_of(e), self._sides(e), strict=True)
                if side.has(asked.func if asked.args else asked)
            )
            for e in (before, line)
        ]
        return not self.given.expr.has(D) and beside[1] < beside[0]

    def mixes(self, line: Line, *parts: Line) -> bool:
        """Whether a line only has sides of other equations in it, each for the other one.

        Of names alone, as in x = a, every line says something that could come from there.
        """
        known = [sides for sides in map(self._forms_of, parts) if {s[0] for s in sides} != {"name"}]
        return bool(known) and self.essence.puts_in(self._forms_of(line), known)

    @staticmethod
    def _forms_of(line: Line) -> tuple[Structure, Structure]:
        left, right = map(structures.structure, line.tree.children)
        return left, right

    def repeats(self, before: Line, line: Line) -> bool:
        """Whether a line only repeats an earlier one: the derivative still stands there."""
        asked = self.given.expr.atoms(D)
        stays = bool(asked) and asked <= line.expr.atoms(D)
        return stays or super().repeats(before, line)

    def left_over(self, line: Line) -> str:
        """Say that the last line is not solved for what is asked for."""
        asked, _ = self._sides(self.result)
        ends = [b for a, b in (self._sides(line), self._sides(line)[::-1]) if a == asked]
        if not ends or any(end.has(asked.func if asked.args else asked) for end in ends):
            shown = self.target.partition("=")[0].strip()
            return f"The last line is to be solved: {shown} = …, without {shown} on the right."
        return super().left_over(line)

    def is_result(self, line: Line) -> bool:
        """Whether a line is solved for what is asked for."""
        return not self.out_of_form(line)

    def is_target(self, line: Line) -> bool:
        """Whether a line is solved for what is asked for, or says the same on one side."""
        target = self.result.expr
        return self.is_result(line) or line.expr in (target, -target)

    def leaps(self, before: Line, line: Line) -> bool:  # noqa: ARG002
        """Whether a first line says the result."""
        return self.is_target(line)

    @staticmethod
    def _sides(line: Line) -> tuple[sympy.Expr, sympy.Expr]:
        assert isinstance(line, Equation)
        return line.sides

    @functools.cached_property
    def _holds(self) -> Callable[[sympy.Expr], Verdict]:
        def holds(expr: sympy.Expr) -> Verdict:
            verdict = self._differs(expr, self.world)
            if verdict.equal is not False and self._differs(expr, self._plain).equal is True:
                return Verdict(False, "refuted: it holds whatever the names are")
            return verdict

        return functools.lru_cache(_KEPT)(holds)  # each line is compared with those around it

    @functools.cached_property
    def _plain(self) -> World:
        """What the lines are about where nothing is known of the unknowns."""
        return replace(self.world, assumed={})

    def _differs(self, expr: sympy.Expr, world: World) -> Verdict:
        """Compare with 0; derivatives are taken before anything is put in for the unknowns."""
        try:
            opened = self._plain.put_in(expr)
            opened = rewritten(opened, (*DERIVATIVES, linear, contraction), self._plain)
            return equal_for_all(opened, sympy.S.Zero, world)
        except Exception as error:  # sympy's: it means nothing
            return Verdict(None, f"undecided: {type(error).__name__}")

    def _from_wrong(self, before: Line, line: Line) -> Verdict:
        """Compare two equations of which the first is wrong, for n = 2 and different indices."""
        env = max(self._plain.cases(before.expr, line.expr, sizes=(2,)), key=_different)
        one, other = (value(side.expr, env, self._plain) for side in (before, line))
        unknown = value(self._sides(self.result)[0], env, self._plain)
        for solved, equation in ((before, other), (line, one)):
            for left, right in self._solved(solved, unknown, env):
                if equation.has(left):
                    return equal(equation.xreplace({left: right}), sympy.S.Zero)
        verdict = multiples(one, other)
        return Verdict(None, "undecided: perhaps") if verdict is NO_MULTIPLE else verdict

    def _put_in(self, slip: Line, before: Line, line: Line) -> bool:
        """Whether one line is a multiple of another where the unknown is what a wrong one says."""
        asked = self._sides(self.result)[0]
        case = next(self._plain.cases(slip.expr, asked, sizes=(2,)))
        known = {
            left: right
            for place in (sympy.S.One, sympy.Integer(2))
            for env in [{**case, **dict.fromkeys(asked.args, place)}]
            for left, right in self._solved(slip, value(asked, env, self._plain), env)
        }
        env = max(self._plain.cases(before.expr, line.expr, sizes=(2,)), key=_different)
        sides = (value(side.expr, env, self._plain) for side in (before, line))
        return bool(known) and multiples(*(side.xreplace(known) for side in sides)).equal is True

    def _solved(
        self, line: Line, unknown: sympy.Symbol, env: dict[sympy.Symbol, sympy.Integer]
    ) -> Iterable[tuple[sympy.Symbol, sympy.Expr]]:
        left, right = (value(side, env, self._plain) for side in self._sides(line))
        for a, b in ((left, right), (right, left)):
            if a == unknown and unknown not in b.free_symbols:
                yield a, b


def _different(env: dict[sympy.Symbol, sympy.Integer]) -> int:
    return len(set(env.values()))
