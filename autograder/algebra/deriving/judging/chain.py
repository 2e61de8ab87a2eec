"""Derivations: chains of lines, each equal to the one before."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import sympy

from autograder.algebra.building.functions import Diff
from autograder.algebra.comparing.equivalence import equal
from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deriving.judging.disguises import Disguises
from autograder.algebra.deriving.judging.examination import Examination, Examiner
from autograder.algebra.deriving.judging.proving import is_taken_as_proved
from autograder.algebra.deriving.judging.task import Finding
from autograder.algebra.deriving.judging.waypoint import Waypoint
from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.language import numbered_lines
from autograder.algebra.deriving.lines.line import Line
from autograder.algebra.deriving.lines.structure import Structure, adds_nothing
from autograder.algebra.reading.errors import ParseError

_BECAUSE = "refuted: "  # a verdict that gives a reason in place of numbers


@dataclass(frozen=True)
class Chain(Disguises):
    """What a derivation must do: lead from `start` to `target` in steps that can be followed.

    Parameters
    ----------
    start : str
        The given expression.
    target : str
        What it must be shown to equal.
    names : tuple of str
        Every name that a line may use.
    definitions : mapping of str to str
        What some of the names stand for; may use each other.
    final_names : tuple of str, optional
        The names that the last line may contain; those of `target`, if omitted.
    waypoints : tuple of Waypoint
        What some line on the way must show; neither `start` nor `target` may show it by itself.
    ends : Waypoint, optional
        What the last line must show besides its names, where these don't tell it from `start`.
    min_lines : int
        How many different lines are asked for, the given expression among them.
    assumptions : mapping of str to str
        As for `parse`.

    Raises
    ------
    ValueError
        If the parts do not fit together: `start` is not equal to `target`, say.

    Examples
    --------
    >>> chain = Chain(
    ...     start="diff(log(Z), a)",
    ...     target="p",
    ...     names=("a", "b", "Z", "p"),
    ...     definitions={"Z": "exp(a) + exp(b)", "p": "exp(a)/Z"},
    ...     waypoints=(Waypoint("Show the chain rule.", lambda line: line.contains("1/Z")),),
    ... )
    >>> chain.examine(["diff(log(Z), a)", "diff(Z, a)/Z", "exp(a)/Z", "p"])
    Examination(findings=(), credit=1.0, review=False)
    >>> for finding in chain.examine(["diff(log(Z), a)", "p"]).findings:
    ...     print(finding.message)
    Line 2 jumps from the derivative to the result. Show the chain rule.
    Show at least 2 steps from the given expression.
    """

    start: str
    target: str
    names: tuple[str, ...]
    definitions: Mapping[str, str] = field(default_factory=dict)
    final_names: tuple[str, ...] | None = None
    waypoints: tuple[Waypoint, ...] = ()
    ends: Waypoint | None = None
    min_lines: int = 3
    assumptions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not is_taken_as_proved():
            _ = self.proved

    @functools.cached_property
    def proved(self) -> bool:
        """True; raises `ValueError` where the parts do not fit together."""
        self.prove()
        return True

    @property
    def told(self) -> tuple[str, ...]:
        """What students are told besides the given expression."""
        return ()

    def prove(self) -> None:
        """Hold the parts against one another; `ValueError` says where they do not fit."""
        verdict = self.follows(self.result)
        if verdict.equal is False:
            raise ValueError(f"start and target differ: {verdict.how}")
        for waypoint in self.waypoints:
            if waypoint.reached(self.given):
                raise ValueError(f"the given expression already shows: {waypoint.rubric}")
            if waypoint.reached(self.result):
                raise ValueError(f"the result shows by itself: {waypoint.rubric} Say it with ends")
        if self.ends and not self.ends.reached(self.result):
            raise ValueError(f"the target does not show: {self.ends.rubric}")

    def read(self, lines: Sequence[str]) -> list[Line]:
        """Read every line that is not blank; raises `ParseError`, which names the line.

        A line ``a = b`` counts as two, unless a stands before it already.
        """
        read: list[Line] = []
        for number, text in numbered_lines(lines):
            read += self.read_line(number, text, (self.given, *read))
        return read

    def examine(self, lines: Sequence[str]) -> Examination:
        """Check a derivation and say what it earns.

        A step is the passage from one line to the next, and from the given expression to line 1
        unless line 1 repeats it.  What goes round in a circle is no step, nor is a line that adds
        nothing to the one before (+ 0 or · 1 in disguise) and shows nothing that is asked for, nor
        what comes after the result.  A step is sound if its two lines are equal, whatever went
        before: one slip costs one step, and the line that is right again costs nothing.  A step
        that takes several at once is right, but shows none of them: it is as many unsound steps as
        it lacks lines, and what algebra alone does beside it counts as one step, in how many lines
        it may stand.  So does the first step if it gives the result at once: in one line, as the
        target multiplied out or factored, by carrying a derivative out, or without what the
        waypoints ask for.  The credit is the sum of

        - 0.4 times the share of sound steps; at least ``min_lines - 1`` steps are expected, and a
          line that cannot be read is one that is not sound,
        - 0.4 times the share of waypoints shown, before the result is there, by a line that is
          equal to the given expression,
        - 0.2 if the last line is equal to the given expression and in the form asked for, times
          the share of right steps that skip nothing.

        Where `waypoints_are_steps`, each waypoint that is missing is a step that was not shown.
        Without waypoints, steps count 0.8.  No finding and nothing to review means credit 1; a
        derivation that goes from the given expression straight to the result earns nothing, however
        often it goes there and back.
        """
        try:
            numbered = numbered_lines(lines)
        except ParseError as error:
            return Examination((Finding(0, "unreadable", str(error)),), 0.0)
        read: list[Line] = []
        unreadable: list[Finding] = []
        for number, text in numbered:
            try:
                read += self.read_line(number, text, (self.given, *read))
            except ParseError as error:
                unreadable.append(Finding(number, "unreadable", str(error)))
        return Examiner(self, read, unreadable).examination()

    def compare(self, before: Line, line: Line) -> Verdict:
        """Whether a line stands to an earlier one as the derivation says."""
        return equal(before.expanded, line.expanded)

    def follows(self, line: Line) -> Verdict:
        """Whether a line is right by itself: it stands to the given expression as it should."""
        return self.compare(self.given, line)

    #: What students are told about line 0.
    origin: ClassVar[str] = "the given expression"

    #: Are the waypoints all that tells a step from a jump?
    waypoints_are_steps: ClassVar[bool] = False

    def goes_on(self, slips: Sequence[Line], before: Line, line: Line) -> bool:  # noqa: ARG002
        """Whether a wrong line follows from earlier wrong ones and the right line before it."""
        return False

    def unjustified(self, before: Line, line: Line) -> Finding | None:  # noqa: ARG002
        """Say what is wrong with how a right line was reached; here any way will do."""
        return None

    def adds_nothing(self, before: Line, line: Line) -> bool:
        """Whether a line is the one before in disguise, if the two are equal."""
        # Z above and below prepares a step, where the names before are defined by Z.
        if (line.written_names - before.written_names) & self.behind(before.names):
            return False
        alike = adds_nothing(before.structure, line.structure)
        if alike and adds_nothing(before.in_names, line.in_names):
            return True
        if before.expr != line.expr:
            return False
        # sympy adds terms up and cancels when it reads a line: here that may be the step.
        return before.cancels == line.cancels or before.holds(line) or line.holds(before)

    def point(self, verdict: Verdict, *lines: Line) -> str:
        """Return the point that refutes, in the names that stand in the lines.

        With a derivative or entries under a running index in them that is not enough to follow
        the numbers: then, in the names that all others are defined by.
        """
        at = dict(re.findall(r"(\w+)=([^,]+)", verdict.point))
        names = sorted({name for line in lines for name in line.names})
        unclear = any(line.expr.has(Diff, sympy.Indexed) for line in lines)
        if unclear or at.keys() >= set(names):
            return verdict.point
        values = {self.read_form(name): sympy.Float(value) for name, value in at.items()}
        meanings = {name: self.expand(self.read_form(name), name) for name in names}
        known = {name: meaning.subs(values).evalf(4) for name, meaning in meanings.items()}
        return ", ".join(f"{name}={value}" for name, value in known.items() if value.is_number)

    def contradiction(self, verdict: Verdict, before: Line, line: Line) -> str:
        """Say how a wrong line differs from the one before."""
        other = f"line {before.number}" if before.number else self.origin
        bound = "at least as large as" if line.relation == "<=" else "equal to"
        message = f"Line {line.number} is not {bound} {other}"
        if verdict.how.startswith(_BECAUSE):
            return f"{message}: {verdict.how.removeprefix(_BECAUSE)}"
        if not verdict.values:
            return message
        (left, right), at = verdict.values, self.at(verdict, before, line)
        return f"{message}: {at}{other} is {left} and line {line.number} is {right}"

    def at(self, verdict: Verdict, *lines: Line) -> str:
        """Return where two lines differ, with a comma behind; nothing if that is everywhere."""
        point = self.point(verdict, *lines)
        return f"at {point}, " if point else ""

    def out_of_form(self, line: Line) -> str:
        """Say what the last line may not contain, if it does, or what it does not show."""
        if (left := self.left_over(line)) or not self.ends or self.ends.reached(line):
            return left
        return f"The last line does not have the form that is asked for. {self.ends.rubric}"

    def is_finished(self, line: Line) -> bool:  # noqa: ARG002
        """Whether algebra alone leads from a last line, which is right, to the result."""
        return True

    def is_added_up(self, line: Line) -> bool:
        """Whether nothing is left to be added up or cancelled; beside matrices I is a 1."""
        if line.expr.is_commutative:
            return not structures.adds_up(line.structure) or structures.adds_up(
                self.result.structure
            )
        return not line.cancels or self.result.cancels

    def left_over(self, line: Line) -> str:
        """Say what the last line may not contain, if it does, be it right or wrong."""
        shown = set() if line.expr.is_number else line.shown_names  # p - p is a number, too
        foreign = sorted((line.names | shown) - {*self.allowed_at_end, *self.result.shown_names})
        if foreign:
            allowed = self.allowed_at_end
            form = f"in {', '.join(allowed)}" if allowed else "as a number"
            return f"The last line still contains {', '.join(foreign)}: write the result {form}."
        return ""

    def is_result(self, line: Line) -> bool:
        """Whether a line has, as it is written, the form that is asked for at the end."""
        if not self._tells_the_result:
            return self.is_target(line)
        return not (line.written_names - set(self.allowed_at_end) or self.out_of_form(line))

    def is_target(self, line: Line) -> bool:
        """Whether a line is the target, as it is or with + 0 or · 1."""
        target = self.result
        if line.essence == target.essence or self.is_called_alike(line, target):
            return True
        if self.mixes(line, target):
            return True
        if not self.is_spelled_like(line, target):
            return False
        return bool(target.expr.is_number) or line.holds(target) or not line.cancels

    def leaps(self, before: Line, line: Line) -> bool:
        """Whether a line that is the first one to say something says the result.

        What is asked for on the way is missing then, or a derivative has been carried out, or the
        line is the target multiplied out or factored.
        """
        if not self.is_result(line):
            return False
        missing = bool(self.waypoints) or before.expr.has(Diff)
        return missing or (not line.cancels and line.expr in self._forms)

    def is_spelled_like(self, line: Line, other: Line) -> bool:
        """Whether two lines are read as the same."""
        return bool(line.expr == other.expr)

    def is_routine(self, before: Line, line: Line) -> bool:
        """Whether algebra alone does a step, where names are defined or a derivative is asked."""
        plain = not (self.definitions or self.given.expr.has(Diff))
        return not plain and equal(before.expr, line.expr).equal is True

    def lines_missing(self, before: Line, line: Line) -> int:  # noqa: ARG002
        """How many lines at least are missing in a step that takes several at once."""
        return 1

    def is_all_but_said(self, line: Line) -> bool:  # noqa: ARG002
        """Whether a line that nothing leads to is as good as the result; where rules are asked."""
        return False

    @functools.cached_property
    def _forms(self) -> tuple[sympy.Expr, ...]:
        target = self.result.expr
        return target, sympy.expand(target), sympy.factor(target)

    @functools.cached_property
    def written_out(self) -> Mapping[Structure, Structure]:
        """What given names mean that are gone at the end, and those names."""
        gone = {("name", name.replace("_", "")) for name in self.given.names}
        gone -= {("name", name.replace("_", "")) for name in self.allowed_at_end}
        return {what: name for what, name in super().written_out.items() if name in gone}

    @functools.cached_property
    def _tells_the_result(self) -> bool:
        return bool(self.out_of_form(self.given))

    @functools.cached_property
    def allowed_at_end(self) -> tuple[str, ...]:
        """The names that the last line may contain."""
        if self.final_names is not None:
            return self.final_names
        return tuple(sorted(self.result.names))
