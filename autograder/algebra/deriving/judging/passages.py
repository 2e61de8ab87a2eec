"""The steps of a derivation, each held against what its task says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deadlines import guard
from autograder.algebra.deriving.judging.finding import Finding
from autograder.algebra.deriving.judging.task import Task
from autograder.algebra.deriving.lines.line import Line


@dataclass
class Step:
    """The passage from one line to another."""

    before: Line
    line: Line
    verdict: Verdict
    true: bool  # does the line follow from the given expression, as far as can be decided?
    doubt: Finding | None = None  # what is wrong with how a right line was reached
    back: bool = False  # from a wrong line to a right one: the slip was paid for before
    strays: bool = False  # back by no rule, from no line that stands there
    forced: bool = False  # back to the target, which does not follow from the wrong line
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


def steps_of(task: Task, lines: Sequence[Line]) -> list[Step]:
    """Compare each line with the one before, and with the given expression."""
    steps: list[Step] = []
    before, true, right = task.given, True, task.given
    slips: list[Line] = []
    for line in lines:
        if not line.is_spelled_as(before):  # a repetition is no step
            try:
                with guard.limit(guard.STEP_SECONDS):
                    step = _step(task, before, line, right if not true else None, slips)
                    if step.back and task.end.is_target(line):
                        known = line is lines[-1] or line.structure == task.result.structure
                        step.forced = known and not _follows(task, slips, before, step)
            except guard.Late:
                step = Step(before, line, Verdict(None, "undecided: this takes too long"), True)
            undecided = step.verdict.equal is None and line is not lines[-1]
            if undecided and task.disguises.mixes(line, task.given, task.result):
                continue  # what it comes to could not be found, but what it says: nothing
            true = step.true
            steps.append(step)
            right = line if true else right
            slips += [] if true else [line]
        before = line
    return steps


def _step(task: Task, before: Line, line: Line, right: Line | None, slips: Sequence[Line]) -> Step:
    """Compare two lines; `right` is the last right one, if that isn't the line before."""
    verdict = task.truth.compare(before, line)
    true = right is None and verdict.equal is True
    if not true:
        true = task.truth.follows(line).equal is not False
    if right is not None and true:
        strays = bool(task.rules) and _skips(task, right, line)
        return Step(right, line, verdict, true, back=True, strays=strays)
    if verdict.equal is False and task.truth.goes_on(slips, before, line):
        return Step(before, line, Verdict(True, "as a slip has it"), False, goes_on=True)
    doubt = task.reasons.unjustified(before, line) if verdict.equal else None
    return Step(before, line, verdict, true, doubt)


def _follows(task: Task, slips: Sequence[Line], before: Line, step: Step) -> bool:
    """Whether a right line may follow from the wrong one before it."""
    if step.verdict.equal is False:
        return task.truth.goes_on(slips, before, step.line)
    return not (step.verdict.equal and _skips(task, before, step.line))


def _skips(task: Task, before: Line, line: Line) -> bool:
    doubt = task.reasons.unjustified(before, line)
    return doubt is not None and doubt.kind == "skipped"
