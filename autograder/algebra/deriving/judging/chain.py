"""Derivations: chains of lines, each equal to the one before."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deriving.judging.comparison import PlainComparison
from autograder.algebra.deriving.judging.ends import Ends
from autograder.algebra.deriving.judging.examination import Examination, Examiner
from autograder.algebra.deriving.judging.finding import Finding
from autograder.algebra.deriving.judging.proving import is_taken_as_proved
from autograder.algebra.deriving.judging.step_rules import StepRules
from autograder.algebra.deriving.judging.task import Task, of_equalities
from autograder.algebra.deriving.judging.waypoint import Demands, Waypoint
from autograder.algebra.deriving.lines.indexed import LineNames
from autograder.algebra.deriving.lines.language import PlainLanguage, numbered_lines, read_one
from autograder.algebra.deriving.lines.line import Language, Line
from autograder.algebra.deriving.lines.world import World
from autograder.algebra.reading.errors import ParseError


@dataclass(frozen=True)
class Chain:
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

    @functools.cached_property
    def language(self) -> Language:
        """What the lines are read with."""
        return PlainLanguage(self.names, self.definitions, self.assumptions)

    @functools.cached_property
    def endpoints(self) -> Ends:
        """The given expression and the target, as lines."""
        given, result = (read_one(self.language, 0, text) for text in (self.start, self.target))
        return Ends(given, result, self.final_names)

    @functools.cached_property
    def task(self) -> Task:
        """What judges the lines."""
        rules = StepRules(self.language, World(LineNames()))  # none
        return of_equalities(self.endpoints, PlainComparison(self.endpoints), rules, self.asked)

    @property
    def asked(self) -> Demands:
        """What is asked for on the way and at the end."""
        return Demands(self.waypoints, self.ends, self.min_lines)

    @property
    def given(self) -> Line:
        """The given expression, as line 0."""
        return self.task.given

    @property
    def result(self) -> Line:
        """The target, as a line."""
        return self.task.result

    @property
    def told(self) -> tuple[str, ...]:
        """What students are told besides the given expression."""
        return ()

    @property
    def drawn(self) -> dict[str, object]:
        """What a notebook has to know to draw numbers for the names."""
        positive = [name for name, what in self.assumptions.items() if what == "positive"]
        return {"definitions": dict(self.definitions), "positive": positive}

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
            read += self.task.read_line(number, text, (self.given, *read))
        return read

    def follows(self, line: Line) -> Verdict:
        """Whether a line is right by itself, and how that is known."""
        return self.task.truth.follows(line)

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
                read += self.task.read_line(number, text, (self.given, *read))
            except ParseError as error:
                unreadable.append(Finding(number, "unreadable", str(error)))
        return Examiner(self.task, read, unreadable).examination()
