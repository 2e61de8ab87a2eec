"""Whether the last line of a derivation has the form that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from autograder.algebra.deriving.judging.comparison import LineComparison
from autograder.algebra.deriving.judging.ends import Ends
from autograder.algebra.deriving.judging.waypoint import Waypoint
from autograder.algebra.deriving.lines import structure as structures
from autograder.algebra.deriving.lines.line import Line

_WRITTEN = {"D": "a derivative", "E": "an expectation", "Var": "a variance", "Largest": "a maximum"}


def _nothing(line: Line) -> str:  # noqa: ARG001
    return ""


@dataclass(frozen=True)
class LastLine:
    """What the last line may contain and must show.

    Attributes
    ----------
    shown
        What it must show besides its names.
    unsolved
        Says what else is missing in a line, of an equation say; nothing if all is well.
    """

    ends: Ends
    comparison: LineComparison
    shown: Waypoint | None = None
    unsolved: Callable[[Line], str] = _nothing

    def out_of_form(self, line: Line) -> str:
        """Say what the last line may not contain, or does not show, or that it is too large."""
        if left := self.left_over(line):
            return left
        if self.shown and not self.shown.reached(line):
            return f"The last line does not have the form that is asked for. {self.shown.rubric}"
        if self.comparison.is_too_large(line):
            return "The last line is larger than the bound that is asked for."
        return ""

    def left_over(self, line: Line) -> str:
        """Say what the last line may not contain, if it does, be it right or wrong."""
        if said := self.unsolved(line):
            return said
        result, allowed = self.ends.result, self.ends.allowed
        if left := sorted(line.operators - result.operators - {"Total"}):
            written = ", ".join(_WRITTEN.get(name, name) for name in left)
            return f"In the last line {written} is still to be carried out."
        shown = set() if line.expr.is_number else line.shown_names  # p - p is a number, too
        foreign = sorted((line.names | shown) - {*allowed, *result.shown_names})
        if foreign:
            form = f"in {', '.join(allowed)}" if allowed else "as a number"
            return f"The last line still contains {', '.join(foreign)}: write the result {form}."
        return ""

    def is_added_up(self, line: Line) -> bool:
        """Whether nothing is left to be added up or cancelled; beside matrices I is a 1."""
        result = self.ends.result
        if line.expr.is_commutative:
            return not structures.adds_up(line.structure) or structures.adds_up(result.structure)
        return not line.cancels or result.cancels
