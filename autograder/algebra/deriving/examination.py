"""What is wrong with a derivation, and what it earns."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from autograder.algebra.building.functions import Diff
from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deadlines import guard

if TYPE_CHECKING:
    from autograder.algebra.deriving.chain import Chain, Line, Waypoint

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


class Step(NamedTuple):
    """The passage from one line to another."""

    before: Line
    line: Line
    verdict: Verdict
    true: bool  # does the line follow from the given expression?
    doubt: Finding | None = None  # what is wrong with how a right line was reached

    @property
    def skips(self) -> bool:
        """Whether the step takes several steps at once, so that none of them is shown."""
        return self.doubt is not None and self.doubt.kind == "skipped"

    @property
    def worth(self) -> float:
        """What the step counts: half, if the line is right and its reason is not."""
        if self.verdict.equal is not True or self.skips:
            return 0.0
        return 0.5 if self.doubt else 1.0


class Examiner:
    """Examine a derivation; `unreadable` has a finding for each line that cannot be read."""

    def __init__(self, chain: Chain, lines: Sequence[Line], unreadable: list[Finding]) -> None:
        self.chain = chain
        self.unreadable = unreadable
        self.steps = _steps(chain.given, lines)
        self.taken = len(self.steps) + len(unreadable)
        self.asked = chain.min_lines - 1
        self.jump = self._find_jump()
        if self.jump:
            self.steps[self.steps.index(self.jump)] = self._with_jump(self.jump)

    def examination(self) -> Examination:
        """Put findings and credit together."""
        findings = [
            *self.unreadable,
            *(_wrong(step) for step in self.steps if step.verdict.equal is False),
            *(step.doubt for step in self.steps if step.doubt),
            *self._too_short(),
            *self._not_in_form(),
            *self._missing_waypoints(),
        ]
        sound = sum(step.worth for step in self.steps)
        share = sound / max(self.taken, self.asked, 1)
        waypoints = self.chain.waypoints
        shown = 1 - len(self.missing) / len(waypoints) if waypoints else share
        at_end = self.end is not None and self.end.true and not self._foreign(self.end.line)
        shown_on_the_way = 1 - sum(step.skips for step in self.steps) / max(self.taken, 1)
        return Examination(
            tuple(sorted(findings, key=lambda finding: finding.line or float("inf"))),
            round(STEPS * share + WAYPOINTS * shown + END * at_end * shown_on_the_way, 6),
            any(step.verdict.equal is None for step in self.steps),
        )

    @functools.cached_property
    def missing(self) -> list[Waypoint]:
        """The waypoints that no true line shows."""
        return [
            waypoint
            for waypoint in self.chain.waypoints
            if not any(step.true and waypoint.reached(step.line) for step in self.steps)
        ]

    @functools.cached_property
    def end(self) -> Step | None:
        """The step to the last line, if that could be read."""
        if not self.steps or any(f.line > self.steps[-1].line.number for f in self.unreadable):
            return None
        return self.steps[-1]

    def _foreign(self, line: Line) -> str:
        """Say what the result may not contain, if `line` does."""
        return self.chain.out_of_form(line)

    def _too_short(self) -> list[Finding]:
        if self.taken >= self.asked:
            return []
        steps = f"{self.asked} step{'s' * (self.asked > 1)}"
        return [Finding(0, "too_short", f"Show at least {steps} from the given expression.")]

    def _not_in_form(self) -> list[Finding]:
        if self.end is None or not (message := self._foreign(self.end.line)):
            return []
        return [Finding(self.end.line.number, "not_in_form", message)]

    def _missing_waypoints(self) -> list[Finding]:
        if self.jump:  # which says what is missing
            return []
        begin = "Something that is asked for stands in no correct line."
        return [Finding(0, "missing_waypoint", f"{begin} {w.rubric}") for w in self.missing]

    def _find_jump(self) -> Step | None:
        """Find the step that gives the result at once, where something is to be shown between."""
        if self.unreadable or self.asked < 2 or len(self.missing) < len(self.chain.waypoints):
            return None
        for step in self.steps:
            if not step.true or step.verdict.equal is not True:
                continue
            from_given = step.before.expr == self.chain.given.expr
            if from_given and step.line.expr == self.chain.read_form(self.chain.target):
                return step
            if self.chain.waypoints and not self._foreign(step.line):
                return step if step.before.expr.has(Diff) else None
        return None

    def _with_jump(self, step: Step) -> Step:
        origin = "derivative" if step.before.expr.has(Diff) else "given expression"
        begin = f"Line {step.line.number} jumps from the {origin} to the result."
        asked = " ".join(w.rubric for w in self.missing) or "Show the steps in between."
        finding = Finding(step.line.number, "skipped", f"{begin} {asked}")
        return step._replace(doubt=finding)


def _steps(given: Line, lines: Sequence[Line]) -> list[Step]:
    steps: list[Step] = []
    before, true = given, True
    for line in lines:
        if line.expr != before.expr:  # a repetition is no step
            try:
                with guard.limit(guard.STEP_SECONDS):
                    step = _step(given, before, line, true)
            except guard.Late:
                step = Step(before, line, Verdict(None, "undecided: this takes too long"), False)
            true = step.true
            steps.append(step)
        before = line
    return steps


def _step(given: Line, before: Line, line: Line, true: bool) -> Step:
    verdict = given.chain.compare(before, line)
    doubt = given.chain.unjustified(before, line) if verdict.equal else None
    if not (true and verdict.equal):
        true = given.chain.follows(line).equal is True
    return Step(before, line, verdict, true, doubt)


def _wrong(step: Step) -> Finding:
    number, before = step.line.number, step.before.number
    other = f"line {before}" if before else "the given expression"
    bound = "at least as large as" if step.line.relation == "<=" else "equal to"
    message = f"Line {number} is not {bound} {other}"
    if step.verdict.values:
        left, right = step.verdict.values
        point = step.line.chain.point(step.verdict, step.before, step.line)
        message += f": at {point}, {other} is {left} and line {number} is {right}"
    return Finding(number, "wrong" if before else "wrong_start", f"{message}.")
