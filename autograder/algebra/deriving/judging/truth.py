"""Whether the lines of a derivation are true, and how a wrong one differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deriving.judging.comparison import LineComparison
from autograder.algebra.deriving.lines.line import Line

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
    """Lines that are each equal to the one before, or at least as large."""

    comparison: LineComparison
    origin: str = ORIGIN

    def compare(self, before: Line, line: Line) -> Verdict:
        """Whether a line stands to an earlier one as the derivation says."""
        return self.comparison.compare(before, line)

    def follows(self, line: Line) -> Verdict:
        """Whether a line stands to the given expression as it should."""
        return self.comparison.follows(line)

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


def said_where(point: str) -> str:
    """Return where two lines differ, with a comma behind; nothing if that is everywhere."""
    return f"at {point}, " if point else ""
