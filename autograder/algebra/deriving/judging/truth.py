"""Whether the lines of a derivation are true, and how a wrong one differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deriving.judging.comparison import LineComparison
from autograder.algebra.deriving.lines.line import Line
from autograder.algebra.deriving.lines.memory import Memory

ORIGIN = "the given expression"
_BECAUSE = "refuted: "  # a verdict that gives a reason in place of numbers


class Truth(Protocol):
    """Whether lines are true."""

    @property
    def origin(self) -> str:
        """What students are told about line 0."""

    def compare(self, before: Line, line: Line) -> Verdict:
        """Whether a line stands to an earlier one as the derivation says."""

    def follows(self, line: Line) -> Verdict:
        """Whether a line is right by itself."""

    def goes_on(self, slips: Sequence[Line], before: Line, line: Line) -> bool:
        """Whether a wrong line follows from earlier wrong ones and the line before it."""

    def contradiction(self, verdict: Verdict, before: Line, line: Line) -> str:
        """Say how a wrong line differs from the one before."""


@dataclass(frozen=True)
class Equalities:
    """Lines that are each equal to the one before, or at least as large.

    What a line is to one that is proved to be the given expression, it is to all of these: that is
    found out once.  How a wrong one differs is looked for where it is told, behind a right one.
    """

    comparison: LineComparison
    given: Line
    origin: str = ORIGIN
    _known: Memory = field(default_factory=Memory, compare=False, repr=False)

    def compare(self, before: Line, line: Line) -> Verdict:
        """Whether a line stands to an earlier one as the derivation says."""
        if self.comparison.bounds:
            return self.comparison.compare(before, line)
        earlier, own = self._to_given(before), self._to_given(line)
        if earlier and _is_proved(own):
            return earlier
        if own and own.equal and _is_proved(earlier):
            return own
        verdict = self.comparison.compare(before, line)
        if verdict.equal is not None and earlier and _is_proved(earlier):
            self._known.keep(line.key, _by_way_of(earlier, verdict))
        elif verdict.equal is not None and own and _is_proved(own):
            self._known.keep(before.key, _by_way_of(own, verdict))
        return verdict

    def follows(self, line: Line) -> Verdict:
        """Whether a line stands to the given expression as it should."""
        if not self.comparison.bounds and (known := self._to_given(line)):
            return known
        return self.comparison.follows(line)

    def _to_given(self, line: Line) -> Verdict | None:
        """Return what is known of a line beside the given expression."""
        if line.key == self.given.key:
            return Verdict(True, "proved")
        known: Verdict | None = self._known.get(line.key)
        return known

    def goes_on(self, slips: Sequence[Line], before: Line, line: Line) -> bool:  # noqa: ARG002
        """Never: a wrong line says nothing that could be put in elsewhere."""
        return False

    def contradiction(self, verdict: Verdict, before: Line, line: Line) -> str:
        """Say how a wrong line differs from the one before."""
        other = f"line {before.number}" if before.number else self.origin
        bound = "at least as large as" if line.relation == "<=" else "equal to"
        message = f"Line {line.number} is not {bound} {other}"
        if verdict.how.startswith(_BECAUSE):
            return f"{message}: {verdict.how.removeprefix(_BECAUSE)}"
        if not verdict.values:
            return message
        left, right = verdict.values
        at = said_where(self.comparison.point(verdict, before, line))
        return f"{message}: {at}{other} is {left} and line {line.number} is {right}"


def _is_proved(verdict: Verdict | None) -> bool:
    """Tell whether two lines are equal at every point, and for every n."""
    return verdict is not None and verdict.how.startswith("proved") and "alone" not in verdict.how


def _by_way_of(known: Verdict, verdict: Verdict) -> Verdict:
    """Return what is known of a line that stands so to another, which is proved; n may be there."""
    if not _is_proved(verdict):
        return verdict
    return max(known, verdict, key=lambda each: len(each.how))


def said_where(point: str) -> str:
    """Return where two lines differ, with a comma behind; nothing if that is everywhere."""
    return f"at {point}, " if point else ""
