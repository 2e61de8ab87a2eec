"""What judging a derivation is put together from."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autograder.algebra.deriving.judging.arrival import Arrival, Arrives, Says
from autograder.algebra.deriving.judging.comparison import LineComparison
from autograder.algebra.deriving.judging.disguises import Disguises
from autograder.algebra.deriving.judging.ends import Ends
from autograder.algebra.deriving.judging.justification import Justification
from autograder.algebra.deriving.judging.last_line import LastLine
from autograder.algebra.deriving.judging.named import Named
from autograder.algebra.deriving.judging.step_rules import StepRules
from autograder.algebra.deriving.judging.truth import Equalities, Truth
from autograder.algebra.deriving.judging.waypoint import Demands
from autograder.algebra.deriving.lines.language import read_line
from autograder.algebra.deriving.lines.line import Line

ReadLine = Callable[[int, object, Sequence[Line]], list[Line]]


@dataclass(frozen=True)
class Task:
    """What a derivation must do, as far as its steps are judged by it.

    Attributes
    ----------
    ends
        What it leads from and to.
    read_line
        Reads a numbered line behind others.
    comparison
        How lines compare by value, and by algebra alone.
    truth
        Whether lines are true, and how a wrong one differs.
    rules, reasons
        What steps may go by, and whether one does.
    named, disguises
        Whether a line says something.
    form, end
        Whether it is the result.
    asked
        What must be shown on the way and at the end.
    """

    ends: Ends
    read_line: ReadLine
    comparison: LineComparison
    truth: Truth
    rules: StepRules
    reasons: Justification
    named: Named
    disguises: Says
    form: LastLine
    end: Arrives
    asked: Demands

    @property
    def given(self) -> Line:
        """The given expression, as line 0."""
        return self.ends.given

    @property
    def result(self) -> Line:
        """The target, as a line."""
        return self.ends.result

    def bridges(self, line: Line, other: Line) -> bool:
        """Whether a quotient has the numerator and the denominator of another one.

        A factor above and below that is cancelled later, or comes from what stood there before,
        is a step, and not 1 in disguise.
        """
        return any(
            all(self.comparison.same(a, b) for a, b in zip(one, another, strict=True))
            for one in line.quotients
            for another in other.quotients
        )


def of_equalities(ends: Ends, comparison: LineComparison, rules: StepRules, asked: Demands) -> Task:
    """Put together what judges lines that are each equal to the one before, or a bound."""
    named = Named(ends, has_rules=bool(rules))
    disguises = Disguises(ends, comparison, rules, named)
    form = LastLine(ends, comparison, asked.shown)
    to_show = bool(asked.waypoints)
    arrival = Arrival(ends, comparison, rules, named, disguises, form, to_show)
    return Task(
        ends,
        functools.partial(read_line, ends.language, bounds=comparison.bounds),
        comparison,
        Equalities(comparison, ends.given),
        rules,
        Justification(ends, rules, named, arrival),
        named,
        disguises,
        form,
        arrival,
        asked,
    )
