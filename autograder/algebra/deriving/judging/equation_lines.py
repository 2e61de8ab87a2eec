"""Lines that are equations: whether they hold, say something, and are solved."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import sympy

from autograder.algebra.comparing.equations import NO_MULTIPLE, multiples
from autograder.algebra.comparing.equivalence import equal
from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deriving.judging.arrival import Arrival
from autograder.algebra.deriving.judging.comparison import LineComparison
from autograder.algebra.deriving.judging.disguises import Disguises
from autograder.algebra.deriving.judging.ends import Ends
from autograder.algebra.deriving.judging.justification import Justification
from autograder.algebra.deriving.judging.last_line import LastLine
from autograder.algebra.deriving.judging.named import Named
from autograder.algebra.deriving.judging.step_rules import StepRules
from autograder.algebra.deriving.judging.task import Task
from autograder.algebra.deriving.judging.truth import said_where
from autograder.algebra.deriving.judging.waypoint import Demands
from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.inert import D
from autograder.algebra.deriving.lines.language import line_parts, read_one
from autograder.algebra.deriving.lines.line import Language, Line
from autograder.algebra.deriving.lines.structure import Structure
from autograder.algebra.deriving.lines.world import World
from autograder.algebra.deriving.lines.written_out import rewritten, value
from autograder.algebra.deriving.rewriting.calculus import contraction, linear
from autograder.algebra.deriving.rewriting.for_every_n import equal_for_all
from autograder.algebra.deriving.rewriting.rules import DERIVATIVES
from autograder.algebra.reading.errors import ParseError

ORIGIN = "the given equation"
_KEPT = 128  # lines of which it is known whether they hold


def read_equations(language: Language, number: int, raw: object) -> list[Line]:
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
        lines.append(read_one(language, number, left + right, "=", text, written.reason))
    return lines


def sides_of(line: Line) -> tuple[sympy.Expr, sympy.Expr]:
    """Return the two sides of an equation as read."""
    left, right = (line.language.build(side, line.text) for side in line.tree.children)
    return left, right


def _forms_of(line: Line) -> tuple[Structure, Structure]:
    left, right = map(structures.structure, line.tree.children)
    return left, right


@dataclass(frozen=True)
class EquationTruth:
    """Whether equations hold for what the unknowns are, which the world says."""

    ends: Ends
    comparison: LineComparison
    world: World
    origin: str = ORIGIN

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
        at = said_where(self.comparison.point(verdict, before, line))
        apart = verdict.values[0].lstrip("-")
        return f"{message}: {at}where {other} holds, its sides are {apart} apart"

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
            worked_out = self._plain.put_in(expr)
            worked_out = rewritten(worked_out, (*DERIVATIVES, linear, contraction), self._plain)
            return equal_for_all(worked_out, sympy.S.Zero, world)
        except Exception as error:  # sympy's: it means nothing
            return Verdict(None, f"undecided: {type(error).__name__}")

    def _from_wrong(self, before: Line, line: Line) -> Verdict:
        """Compare two equations of which the first is wrong, for n = 2 and different indices."""
        env = max(self._plain.cases(before.expr, line.expr, sizes=(2,)), key=_different)
        one, other = (value(side.expr, env, self._plain) for side in (before, line))
        unknown = value(sides_of(self.ends.result)[0], env, self._plain)
        for solved, equation in ((before, other), (line, one)):
            for left, right in self._solved(solved, unknown, env):
                if equation.has(left):
                    return equal(equation.xreplace({left: right}), sympy.S.Zero)
        verdict = multiples(one, other)
        return Verdict(None, "undecided: perhaps") if verdict is NO_MULTIPLE else verdict

    def _put_in(self, slip: Line, before: Line, line: Line) -> bool:
        """Whether one line is a multiple of another where the unknown is what a wrong one says."""
        asked = sides_of(self.ends.result)[0]
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
        left, right = (value(side, env, self._plain) for side in sides_of(line))
        for a, b in ((left, right), (right, left)):
            if a == unknown and unknown not in b.free_symbols:
                yield a, b


def _different(env: dict[sympy.Symbol, sympy.Integer]) -> int:
    return len(set(env.values()))


@dataclass(frozen=True)
class EquationDisguises:
    """What is taken for a disguise of an equation; what also is one of a formula is `plain`."""

    ends: Ends
    plain: Disguises

    def adds_nothing(self, before: Line, line: Line) -> bool:
        """Whether a line is the one before with its sides exchanged, or terms moved across."""
        if before.structure == line.structure:
            return True
        return bool(before.expr in (line.expr, -line.expr)) and not self._isolates(before, line)

    def _isolates(self, before: Line, line: Line) -> bool:
        """Whether terms were moved away from what is asked for, where all starts with algebra."""
        asked, _ = sides_of(self.ends.result)
        beside = [
            sum(
                structures.leaves(form)
                for form, side in zip(_forms_of(e), sides_of(e), strict=True)
                if side.has(asked.func if asked.args else asked)
            )
            for e in (before, line)
        ]
        return not self.ends.given.expr.has(D) and beside[1] < beside[0]

    def mixes(self, line: Line, *parts: Line) -> bool:
        """Whether a line only has sides of other equations in it, each for the other one.

        Of names alone, as in x = a, every line says something that could come from there.
        """
        known = [sides for sides in map(_forms_of, parts) if {s[0] for s in sides} != {"name"}]
        return bool(known) and self.ends.language.essence.puts_in(_forms_of(line), known)

    def repeats(self, before: Line, line: Line) -> bool:
        """Whether a line only repeats an earlier one: the derivative still stands there."""
        asked = self.ends.given.expr.atoms(D)
        stays = bool(asked) and asked <= line.expr.atoms(D)
        return stays or self.plain.repeats(before, line)


def unsolved(result: Line, name: str, line: Line) -> str:
    """Say that a line is not solved for what is asked for, written `name`; nothing if it is."""
    asked, _ = sides_of(result)
    ends = [b for a, b in (sides_of(line), sides_of(line)[::-1]) if a == asked]
    if not ends or any(end.has(asked.func if asked.args else asked) for end in ends):
        return f"The last line is to be solved: {name} = …, without {name} on the right."
    return ""


@dataclass(frozen=True)
class EquationArrival:
    """Whether an equation is the result; `plain` knows when one that is has been reached."""

    ends: Ends
    form: LastLine
    plain: Arrival

    def is_result(self, line: Line) -> bool:
        """Whether a line is solved for what is asked for."""
        return not self.form.out_of_form(line)

    def is_target(self, line: Line) -> bool:
        """Whether a line is solved for what is asked for, or says the same on one side."""
        target = self.ends.result.expr
        return self.is_result(line) or line.expr in (target, -target)

    def leaps(self, before: Line, line: Line) -> bool:  # noqa: ARG002
        """Whether a first line says the result."""
        return self.is_target(line)

    def is_finished(self, line: Line) -> bool:
        """Whether the last line is known to be the result for every n."""
        return self.plain.is_finished(line)


def of_equations(
    ends: Ends, comparison: LineComparison, rules: StepRules, asked: Demands, name: str
) -> Task:
    """Put together what judges equations, of which `name` is solved for; there are no rules."""
    named = Named(ends, has_rules=False)
    disguises = EquationDisguises(ends, Disguises(ends, comparison, rules, named))
    solved = functools.partial(unsolved, ends.result, name)
    form = LastLine(ends, comparison, asked.shown, solved)
    to_show = bool(asked.waypoints)
    plain = Arrival(ends, comparison, rules, named, disguises, form, to_show)
    arrival = EquationArrival(ends, form, plain)
    return Task(
        ends,
        lambda number, raw, _before: read_equations(ends.language, number, raw),
        comparison,
        EquationTruth(ends, comparison, rules.world),
        rules,
        Justification(ends, rules, named, arrival),
        named,
        disguises,
        form,
        arrival,
        asked,
    )
