"""What examining a derivation asks of its task, and what it finds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deriving.judging.waypoint import Waypoint
from autograder.algebra.deriving.lines.line import Line

Kind = Literal[
    "unreadable",
    "wrong",
    "wrong_start",
    "wrong_reason",
    "skipped",
    "not_in_form",
    "missing_waypoint",
    "too_short",
]


@dataclass(frozen=True)
class Finding:
    """Something wrong with a derivation, in a sentence for the student."""

    line: int  # counted from 1; 0 is the whole derivation
    kind: Kind
    message: str


class Task(Protocol):
    """What a derivation must do, as far as its steps are judged by it; a `Chain` is one."""

    @property
    def origin(self) -> str:
        """What students are told about line 0."""

    @property
    def given(self) -> Line:
        """The given expression, as line 0."""

    @property
    def result(self) -> Line:
        """The target, as a line."""

    @property
    def waypoints(self) -> tuple[Waypoint, ...]:
        """What some line on the way must show."""

    @property
    def waypoints_are_steps(self) -> bool:
        """Whether each waypoint that is missing is a step that was not shown."""

    @property
    def min_lines(self) -> int:
        """How many different lines are asked for, the given expression among them."""

    @property
    def has_rules(self) -> bool:
        """Whether a step must go by one of some rules."""

    def line(self, number: int, text: str) -> Line:
        """Read one formula."""

    def compare(self, before: Line, line: Line) -> Verdict:
        """Whether a line stands to an earlier one as the derivation says."""

    def follows(self, line: Line) -> Verdict:
        """Whether a line is right by itself."""

    def goes_on(self, slips: Sequence[Line], before: Line, line: Line) -> bool:
        """Whether a line follows from earlier wrong ones and the line before it."""

    def unjustified(self, before: Line, line: Line) -> Finding | None:
        """Say what is wrong with how a right line was reached."""

    def is_routine(self, before: Line, line: Line) -> bool:
        """Whether a step goes by no rule but algebra, where there are others."""

    def lines_missing(self, before: Line, line: Line) -> int:
        """How many lines at least are missing in a step that takes several at once."""

    def is_all_but_said(self, line: Line) -> bool:
        """Whether a line that nothing leads to is as good as the result."""

    def adds_nothing(self, before: Line, line: Line) -> bool:
        """Whether a line is the one before in disguise, if the two are equal."""

    def repeats(self, before: Line, line: Line) -> bool:
        """Whether a line only repeats an earlier one: with zeros and ones, or by other names."""

    def bridges(self, line: Line, other: Line) -> bool:
        """Whether a quotient has the numerator and the denominator of another one."""

    def is_rid_of(self, names: Collection[str]) -> bool:
        """Whether some names are there at the beginning and may not be at the end."""

    def mixes(self, line: Line, *parts: Line) -> bool:
        """Whether a line only mixes other ones that are equal, and says nothing else."""

    def is_but_for_names(self, line: Line, other: Line) -> bool:
        """Whether a line is another one once what names mean is put in, and not before."""

    def says_the_start(self, line: Line) -> bool:
        """Whether a line is the given expression but for names, or a mixture of these."""

    def is_target(self, line: Line) -> bool:
        """Whether a line is the target, maybe in disguise."""

    def is_result(self, line: Line) -> bool:
        """Whether a line has, as it is written, the form that is asked for at the end."""

    def leaps(self, before: Line, line: Line) -> bool:
        """Whether a line that is the first one to say something says the result."""

    def out_of_form(self, line: Line) -> str:
        """Say what the last line may not contain, or does not show; nothing if all is well."""

    def is_finished(self, line: Line) -> bool:
        """Whether algebra alone leads from a last line, which is right, to the result."""

    def is_added_up(self, line: Line) -> bool:
        """Whether nothing is left to be added up or cancelled in a line."""

    def left_over(self, line: Line) -> str:
        """Say what the last line may not contain, be it right or wrong; nothing if all is well."""

    def contradiction(self, verdict: Verdict, before: Line, line: Line) -> str:
        """Say how a wrong line differs from the one before."""
