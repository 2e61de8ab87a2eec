"""What is wrong with a derivation, and what it earns."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from autograder.algebra.building.functions import Diff
from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deadlines import guard

if TYPE_CHECKING:
    from autograder.algebra.deriving.chain import Chain
    from autograder.algebra.deriving.line import Line
    from autograder.algebra.deriving.waypoint import Waypoint

STEPS, WAYPOINTS, END = 0.4, 0.4, 0.2  # what each is worth, see Chain.examine

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


@dataclass
class Step:
    """The passage from one line to another."""

    before: Line
    line: Line
    verdict: Verdict
    true: bool  # does the line follow from the given expression, as far as can be decided?
    doubt: Finding | None = None  # what is wrong with how a right line was reached
    back: bool = False  # from a wrong line to a right one: the slip was paid for before
    goes_on: bool = False  # from a right line, with an earlier slip put in

    @property
    def wrong(self) -> bool:
        """Whether the line is said to follow, and does not."""
        return self.verdict.equal is False and not self.back

    @property
    def skips(self) -> bool:
        """Whether the step takes several steps at once, so that none of them is shown."""
        return self.doubt is not None and self.doubt.kind == "skipped"

    @property
    def worth(self) -> float:
        """What the step counts: half, if the line is right and its reason is not."""
        if self.skips or (self.verdict.equal is not True and not self.back):
            return 0.0
        return 0.5 if self.doubt else 1.0


class Examiner:
    """Examine a derivation; `unreadable` has a finding for each line that cannot be read."""

    def __init__(self, chain: Chain, lines: Sequence[Line], unreadable: list[Finding]) -> None:
        self.chain = chain
        self.unreadable = unreadable
        self.steps = _steps(chain, lines)
        self.wrong = [step for step in self.steps if step.wrong]
        self.asked = chain.min_lines - 1
        self.route = Route(chain, self.steps, self.asked)
        self.taken = len(self.route.counted) + len(self.wrong) + len(unreadable)

    def examination(self) -> Examination:
        """Put findings and credit together."""
        findings = [
            *self.unreadable,
            *map(_wrong, self.wrong),
            *(step.doubt for step in self.steps if step.doubt and step is not self.route.jump),
            *self._jump(),
            *self._too_short(),
            *self._not_in_form(),
            *self._missing_waypoints(),
        ]
        share = self._sound() / max(self.taken, self.asked, 1)
        waypoints = self.chain.waypoints
        shown = 1 - len(self.route.missing) / len(waypoints) if waypoints else share
        at_end = self._ends_well()
        return Examination(
            tuple(sorted(findings, key=lambda finding: finding.line or float("inf"))),
            round(STEPS * share + WAYPOINTS * shown + END * at_end, 6),
            any(step.verdict.equal is None for step in self.steps),
        )

    def _sound(self) -> float:
        """Return how many sound steps there are."""
        if self.route.jump:
            return 0.0
        sound = sum(step.worth for step in self.route.counted)
        if self.chain.waypoints_are_steps:
            sound -= len(self.route.missing) if self._no_slip else 0
        elif self.shows_nothing:  # one of them skips what is asked for, whichever it is
            sound = min(1.0, sound - 1)
        return max(0.0, sound)

    @functools.cached_property
    def shows_nothing(self) -> bool:
        """Whether nothing that is asked for is shown, and no slip is to blame for that."""
        return bool(self.chain.waypoints) and not self.route.shown and self._no_slip

    @property
    def _no_slip(self) -> bool:
        return not (self.wrong or self.unreadable)

    def _ends_well(self) -> float:
        """Return how much of what the result is worth is earned."""
        step = self._end
        if step is None or not step.true or self.chain.out_of_form(step.line):
            return 0.0
        if step.wrong:  # a bound that holds, but was said to be equal
            return 0.0
        if self.route.jump or not self.route.counted:
            return 0.0
        if self.shows_nothing or (self.chain.waypoints_are_steps and self._no_slip):
            return self._sound() / max(self.taken, self.asked, 1)
        return 1 - sum(step.skips for step in self.route.counted) / max(self.taken, 1)

    @functools.cached_property
    def _end(self) -> Step | None:
        """The step to the last line, if that could be read."""
        if not self.steps or any(f.line > self.steps[-1].line.number for f in self.unreadable):
            return None
        return self.steps[-1]

    def _too_short(self) -> list[Finding]:
        if self.taken >= self.asked:
            return []
        steps = f"{self.asked} step{'s' * (self.asked > 1)}"
        return [Finding(0, "too_short", f"Show at least {steps} from the given expression.")]

    def _not_in_form(self) -> list[Finding]:
        if self._end is None or not (message := self.chain.out_of_form(self._end.line)):
            return []
        return [Finding(self._end.line.number, "not_in_form", message)]

    def _missing_waypoints(self) -> list[Finding]:
        if self.route.jump:  # which says what is missing
            return []
        begin = "Something that is asked for stands in no correct line before the result."
        return [Finding(0, "missing_waypoint", f"{begin} {w.rubric}") for w in self.route.missing]

    def _jump(self) -> list[Finding]:
        step = self.route.jump
        if step is None or self.unreadable:
            return []
        origin = "derivative" if step.before.expr.has(Diff) else "given expression"
        begin = f"Line {step.line.number} jumps from the {origin} to the result."
        if any(slip.line.number < step.line.number for slip in self.wrong):
            begin = f"No right line leads from the {origin} to line {step.line.number}, the result."
        asked = " ".join(w.rubric for w in self.route.missing) or "Show the steps in between."
        return [Finding(step.line.number, "skipped", f"{begin} {asked}")]


class Route:
    """The way that the right lines of a derivation take to the result.

    Attributes
    ----------
    counted : list of Step
        The steps that count, sound or skipped.
    shown : list of Waypoint
        What a right line shows before the result is there.
    jump : Step or None
        The step that gives the result at once, where something is to be shown between.
    """

    def __init__(self, chain: Chain, steps: Sequence[Step], asked: int) -> None:
        self.chain = chain
        self.asked = asked
        self.counted: list[Step] = []
        self.shown: list[Waypoint] = []
        self.jump: Step | None = None
        self._arrived = self._polished = self._left = False
        self._resumed: Line | None = None  # the line by which a slip was left, if that says more
        before, new_before = chain.given, False
        for step in steps:
            if step.goes_on:
                self._note(step.line)
        for step in _without_circles(chain.given, steps):
            if self._jumps(step):
                self.jump = step
                self._arrived = True
                self.counted.append(step)
                continue
            new = self._note(step.line) if not self._arrived else []
            idle = not (new or new_before) and chain.adds_nothing(before, step.line)
            # How a right line follows from a wrong one, no rule can tell.
            idle = idle or (step.back and chain.has_rules)
            if step.back and chain.has_rules and not chain.adds_nothing(chain.given, step.line):
                self._resumed = step.line
            self._take(step, idle=idle)
            before, new_before = step.line, bool(new)
        self.counted += _followed(chain, steps)

    @property
    def missing(self) -> list[Waypoint]:
        """What no right line shows on the way."""
        return [waypoint for waypoint in self.chain.waypoints if waypoint not in self.shown]

    def _jumps(self, step: Step) -> bool:
        """Whether a line is the result, by itself or in disguise, before anything is shown."""
        if self._arrived or self.counted or self.shown or self.asked < 2:
            return False
        if step.before is self._resumed:  # behind a slip, by a step that can be held to a rule
            return False
        if self._arrives(step):
            return True
        in_disguise = bool(step.line.expr == self.chain.result.expr)
        return in_disguise and not any(waypoint.reached(step.line) for waypoint in self.missing)

    def _arrives(self, step: Step) -> bool:
        """Whether a step leads to the result; one that goes by a rule may do so early."""
        by_rule = self.chain.has_rules and not step.skips
        if by_rule and step.line.expr != self.chain.result.expr:
            return False
        return self.chain.is_result(step.line)

    def _note(self, line: Line) -> list[Waypoint]:
        """Return what this line is the first one to show."""
        new = [waypoint for waypoint in self.missing if waypoint.reached(line)]
        self.shown += new
        return new

    def _take(self, step: Step, *, idle: bool) -> None:
        arrives = self._arrives(step)
        if self._arrived:
            # What comes after the result: one step to another form of it may count, no more.
            self._left = self._left or not arrives
            if not (idle or self._left or self._polished):
                self._polished = True
                self.counted.append(step)
            return
        self._arrived = arrives
        if not idle:
            self.counted.append(step)


def _without_circles(given: Line, steps: Sequence[Step]) -> list[Step]:
    """Return the steps to right lines, without those between two lines that are the same."""
    path: list[Step] = []
    places = {given.structure: 0}
    for step in steps:
        if not step.true:
            continue
        place = places.get(step.line.structure)
        if place is None:
            path.append(step)
            places[step.line.structure] = len(path)
        else:
            del path[place:]
            places = {form: at for form, at in places.items() if at <= place}
    return path


def _followed(chain: Chain, steps: Sequence[Step]) -> list[Step]:
    """Return the sound steps from one wrong line to the next, which go on from a slip."""
    sound, polished = [], False
    for step in steps:
        if step.true or not step.verdict.equal or chain.adds_nothing(step.before, step.line):
            continue
        if chain.is_result(step.before) and chain.is_result(step.line):
            if polished:
                continue
            polished = True
        sound.append(step)
    return sound


def _steps(chain: Chain, lines: Sequence[Line]) -> list[Step]:
    steps: list[Step] = []
    before, true, right = chain.given, True, chain.given
    slips: list[Line] = []
    for line in lines:
        if line.structure != before.structure:  # a repetition is no step
            try:
                with guard.limit(guard.STEP_SECONDS):
                    step = _step(chain, before, line, right if not true else None)
                    if step.verdict.equal is False and chain.goes_on(slips, before, line):
                        step = Step(
                            before, line, Verdict(True, "as a slip has it"), False, goes_on=True
                        )
            except guard.Late:
                step = Step(before, line, Verdict(None, "undecided: this takes too long"), True)
            true = step.true
            steps.append(step)
            right = line if true else right
            slips += [] if true else [line]
        before = line
    return steps


def _step(chain: Chain, before: Line, line: Line, right: Line | None) -> Step:
    """Compare two lines; `right` is the last right one, if that isn't the line before."""
    verdict = chain.compare(before, line)
    true = right is None and verdict.equal is True
    if not true:
        true = chain.follows(line).equal is not False
    if right is not None and true:
        return Step(right, line, verdict, true, back=True)
    doubt = chain.unjustified(before, line) if verdict.equal else None
    return Step(before, line, verdict, true, doubt)


def _wrong(step: Step) -> Finding:
    message = step.line.chain.contradiction(step.verdict, step.before, step.line)
    kind: Kind = "wrong" if step.before.number else "wrong_start"
    return Finding(step.line.number, kind, f"{message}.")
