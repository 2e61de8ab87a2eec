"""What is wrong with a derivation, and what it earns."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from autograder.algebra.building.functions import Diff
from autograder.algebra.comparing.verdict import HOPELESS
from autograder.algebra.deriving.judging.finding import Finding, Kind
from autograder.algebra.deriving.judging.passages import Step, steps_of
from autograder.algebra.deriving.judging.route import Route
from autograder.algebra.deriving.judging.task import Task
from autograder.algebra.deriving.judging.waypoint import Waypoint
from autograder.algebra.deriving.lines.language import read_one
from autograder.algebra.deriving.lines.line import Line
from autograder.algebra.reading.errors import ParseError

STEPS, WAYPOINTS, END = 0.4, 0.4, 0.2  # what each is worth, see Chain.examine


@dataclass(frozen=True)
class Examination:
    """What came of examining a derivation.

    Attributes
    ----------
    findings : tuple of Finding
        Empty for a derivation that earns everything.
    credit : float
        Between 0 and 1, see `Chain.examine`.
    review : bool
        Whether a step could not be decided, so that a person should look.
    """

    findings: tuple[Finding, ...]
    credit: float
    review: bool = False


def _senseless(line: Line) -> Finding:
    text = "has no value that could be computed: look at its logarithms, roots, powers and length."
    return Finding(line.number, "unreadable", f"Line {line.number} {text}")


class Examiner:
    """Examine a derivation; `unreadable` has a finding for each line that cannot be read.

    `struck` are the wrong steps whose lines were struck out: they count as steps that are not
    sound, and what is left is judged as if they had never been written.
    """

    def __init__(
        self,
        task: Task,
        lines: Sequence[Line],
        unreadable: list[Finding],
        struck: Sequence[Step] = (),
    ) -> None:
        self.task = task
        self.unreadable = unreadable
        self.struck = struck
        self.steps = steps_of(task, lines)
        self.wrong = [step for step in self.steps if step.wrong]
        self.asked = task.asked.min_lines - 1
        self.route = Route(task, self.steps)
        self.counted = [*self.route.counted, *self.route.followed]
        self.taken = self._asked_by(self.counted) + len(self.wrong) + len(unreadable)
        self.taken += self._stops_short

    def examination(self) -> Examination:
        """Put findings and credit together; a wrong line costs no more than its step."""
        if senseless := next(filter(self._is_senseless, self.steps), None):
            unreadable = [*self.unreadable, _senseless(senseless.line)]
            lines = [step.line for step in self.steps if step is not senseless]
            return Examiner(self.task, lines, unreadable, self.struck).examination()
        found = self._as_written()
        slips = [self._slip(step) for step in self.wrong]
        right = [s.line for s in self.steps if s.true and all(s.line is not slip for slip in slips)]
        if not slips or not right:
            return found
        without = Examiner(self.task, right, self.unreadable, self.wrong)._as_written()
        return without if without.credit > found.credit else found

    def _is_senseless(self, step: Step) -> bool:
        """Tell whether a step is undecided as its line can't even be compared with a number."""
        if step.verdict.equal is not None or step.verdict.how not in HOPELESS:
            return False
        try:
            number = read_one(self.task.ends.language, 0, "12345/678")
        except ParseError:  # here lines are equations
            return False
        return self.task.truth.compare(number, replace(step.line, relation="=")).how in HOPELESS

    def _slip(self, step: Step) -> Line:
        """Return the line that makes a step wrong: of two bounds that hold, the larger one."""
        if not step.true:
            return step.line
        bound = replace(step.line, relation="<=")
        return step.line if self.task.truth.compare(step.before, bound).equal else step.before

    def _as_written(self) -> Examination:
        findings = [
            *self.unreadable,
            *map(self._wrong, [*self.wrong, *self.struck]),
            *(step.doubt for step in self.steps if step.doubt and not self._jumps(step)),
            *self._jump(),
            *self._too_short(),
            *self._not_in_form(),
            *self._missing_waypoints(),
        ]
        waypoints, share = self.task.asked.waypoints, self._share(len(self.struck))
        missing = len(self.route.missing) - len(self._half_shown) / 2
        shown = 1 - missing / len(waypoints) if waypoints else share
        return Examination(
            tuple(sorted(findings, key=lambda finding: finding.line or float("inf"))),
            round(STEPS * share + WAYPOINTS * shown + END * self._ends_well(), 6),
            any(step.verdict.equal is None and not step.back for step in self.steps),
        )

    def _jumps(self, step: Step) -> bool:
        """Whether a step is the one that gives the result at once, from whatever line it came."""
        return self.route.jump is not None and step.line is self.route.jump.line

    def _share(self, struck: int = 0) -> float:
        """Return the share of steps that are sound; so many more were struck out."""
        sound = sum(step.worth for step in self.counted if step is not self.route.jump)
        if self.task.asked.waypoints_are_steps:
            sound -= len(self.route.missing) if self._no_slip else 0
        elif self._shows_nothing:  # one of them skips what is asked for, whichever it is
            sound = min(self.taken / 2, sound - 1)
        return max(0.0, sound) / max(self.taken + struck, self.asked, 1)

    @functools.cached_property
    def _shows_nothing(self) -> bool:
        """Whether nothing that is asked for is shown, and no slip is to blame for that."""
        return bool(self.task.asked.waypoints) and not self.route.shown and self._no_slip

    @property
    def _no_slip(self) -> bool:
        return not (self.wrong or self.unreadable)

    def _ends_well(self) -> float:
        """Return how much of what the result is worth is earned."""
        step, counted = self._end, self.route.counted
        if step is None or self.task.form.out_of_form(step.line):
            return 0.0
        if self._stops_short or not self.task.form.is_added_up(step.line):
            return 0.0
        if not step.true:
            return float(self._is_right_but_for_a_slip)
        if step.wrong:  # a bound that holds, but was said to be equal
            return 0.0
        if self.route.forced or not counted:
            return 0.0
        if self._shows_nothing or (self.task.asked.waypoints_are_steps and self._no_slip):
            return self._share()
        skipped = [step for step in counted if step.skips or step is self.route.jump]
        return 1 - self._asked_by(skipped) / self._asked_by(counted)

    def _asked_by(self, steps: Sequence[Step]) -> int:
        """Return for how many steps some count: one that skips several, for the lines it lacks."""
        return sum(
            self.task.rules.lines_missing(step.before, step.line)
            if step.skips and step is not self.route.jump
            else 1
            for step in steps
        )

    @functools.cached_property
    def _behind_a_slip(self) -> Sequence[Step]:
        """The steps that go on from the only slip there is, if one of them is more than algebra."""
        on = [step for step in self.route.followed if step.worth == 1]
        if len(self.wrong) != 1 or self.unreadable or self.struck:
            return ()
        return on if any(not self.task.comparison.is_routine(s.before, s.line) for s in on) else ()

    @property
    def _is_right_but_for_a_slip(self) -> bool:
        """Whether right steps lead to the only slip, and from there to the last line."""
        led = any(step.worth == 1 for step in self.route.counted)
        return led and bool(self._behind_a_slip) and self._behind_a_slip[-1] is self._end

    @property
    def _half_shown(self) -> Sequence[Waypoint]:
        """What is asked for and shown with the only slip in it, or behind that."""
        slips = [*self.wrong, *self._behind_a_slip] if self._behind_a_slip else []
        return [w for w in self.route.missing if any(w.reached(step.line) for step in slips)]

    @functools.cached_property
    def _end(self) -> Step | None:
        """The step to the last line, if that could be read and was not struck out."""
        gone = [f.line for f in self.unreadable] + [step.line.number for step in self.struck]
        if not self.steps or max(gone, default=0) > self.steps[-1].line.number:
            return None
        return self.steps[-1]

    @functools.cached_property
    def _stops_short(self) -> bool:
        """Whether a step by a rule is missing behind the last line, which is right."""
        step = self._end
        if step is None or not step.true or self.task.form.out_of_form(step.line):
            return False
        return not self.task.end.is_finished(step.line)

    def _too_short(self) -> list[Finding]:
        written = len(self.steps) + len(self.unreadable)
        other = self.wrong or self.route.jump  # which says why they are too few
        if self.taken >= self.asked or (other and written >= self.asked):
            return []
        steps = f"{self.asked} step{'s' * (self.asked > 1)}"
        return [Finding(0, "too_short", f"Show at least {steps} from {self.task.truth.origin}.")]

    def _not_in_form(self) -> list[Finding]:
        if (end := self._end) is None:
            return []
        # What a right line would show is missing in a wrong one whatever its form is.
        form = self.task.form.out_of_form if end.true else self.task.form.left_over
        message = form(end.line)
        if end.true and not message and not self.task.form.is_added_up(end.line):
            message = f"In line {end.line.number} something is still to be added up or cancelled."
        if self._stops_short:
            message = f"Line {end.line.number} is not the result yet: a step is missing behind it."
        return [Finding(end.line.number, "not_in_form", message)] if message else []

    def _missing_waypoints(self) -> list[Finding]:
        if self.route.jump or self.route.forced:  # which say what is missing
            return []
        begin = "Something that is asked for stands in no correct line before the result."
        return [Finding(0, "missing_waypoint", f"{begin} {w.rubric}") for w in self.route.missing]

    def _jump(self) -> list[Finding]:
        step = self.route.jump or self.route.forced
        if step is None or self.unreadable:
            return []
        number = step.line.number
        origin = "the derivative" if step.before.expr.has(Diff) else self.task.truth.origin
        asked = [waypoint.rubric for waypoint in self.route.missing]
        if step is self.route.forced and self.route.counted:
            says = f"Line {number} is right, but does not follow from the wrong line before it."
        else:
            asked = asked or ["Show the steps in between."]
            says = self._says_where_it_jumps(step, origin)
            if any(slip.line.number < number for slip in self.wrong):
                says = f"No right line leads from {origin} to line {number}, the result."
        return [Finding(number, "skipped", " ".join([says, *asked]))]

    def _says_where_it_jumps(self, step: Step, origin: str) -> str:
        task, number = self.task, step.line.number
        if not (task.end.is_result(step.line) or task.end.is_target(step.line)):
            return f"Line {number} is right, but takes several steps at once, as do all behind it."
        there = step.line.structure == task.result.structure
        more = "" if there else ", but for adding up and cancelling"
        return f"Line {number} jumps from {origin} to the result{more}."

    def _wrong(self, step: Step) -> Finding:
        message = self.task.truth.contradiction(step.verdict, step.before, step.line)
        kind: Kind = "wrong" if step.before.number else "wrong_start"
        return Finding(step.line.number, kind, f"{message}.")
