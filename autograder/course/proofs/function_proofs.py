"""What is proved of a function that students write: its checks tell right from wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

from autograder.course.author_errors import raised
from autograder.course.proofs.discrimination import Twins
from autograder.course.proofs.distances import Distance, Distances
from autograder.course.proofs.prices import Price
from autograder.course.proofs.said import lost, shown
from autograder.exercise import CheckedFunction, Misconception
from autograder.exercise.words.part import computation
from autograder.grading.checks import NO_GPU, grade_checks
from autograder.grading.expectations import when_needed
from autograder.grading.followed import attempt
from autograder.grading.interview import Interview
from autograder.grading.local import Local
from autograder.grading.results import Item, Status, hundredths
from autograder.sandbox import StudentError
from autograder.sandbox.replies import one_line

#: Notes of checks that take a clock or a device, neither of which a proof may rest on.
UNPROVED = {"not_timed", NO_GPU}


def function_problems(
    function: CheckedFunction,
    secret: str,
    twins: list[Twins],
    distances: list[Distance],
    prices: list[Price],
) -> list[str]:
    """Try every right and every wrong implementation on the inputs of a course's ``secret``.

    Misconceptions that no check can tell apart are added to ``twins``, what checks of work
    measured to ``distances``, and what each misconception costs to ``prices``.
    """
    trial = _Trial(function, secret)
    for right in (function.solution, *function.alternatives):
        if own := trial.right(right):
            return own  # all else follows from it
    for wrong in function.misconceptions:
        prices.append(trial.wrong(wrong))
    problems = trial.problems
    for check in function.checks:
        if check.name not in trial.caught:
            problems.append(f"no misconception fails the check `{check.name}`: is it needed?")
    if not function.checks:
        problems.append(f"`{function.name}` has no check")
    if function.given:
        problems += _given_problems(function, function.given, secret)
    twins += trial.twins
    distances += trial.measured.found()
    return problems


@dataclass
class _Trial:
    """The implementations tried so far, and what that showed.

    ``caught`` are the checks that something wrong failed, or that can't be proved here.
    """

    function: CheckedFunction
    secret: str
    problems: list[str] = field(default_factory=list)
    caught: set[str] = field(default_factory=set)
    twins: list[Twins] = field(default_factory=list)
    measured: Distances = field(default_factory=Distances)

    def right(self, right: Callable[..., Any]) -> list[str]:
        """Demand that a right function passes; return the errors of its author's, if there are."""
        items, errors = self._graded(right, right=True)
        if own := _author_s_errors(self.function, right, items, errors, self.secret):
            return own
        unproved = [item for item in items if item.note in UNPROVED]
        self.caught |= {item.name for item in unproved}
        self.problems += [
            f"`{right.__name__}` is right but fails {shown(item)}"
            for item in lost(items)
            if item not in unproved
        ]
        return []

    def wrong(self, wrong: Misconception) -> Price:
        """Demand that a misconception fails by its own name, and return what it costs."""
        graded, errors = self._graded(wrong, right=False)
        items = [item for item in graded if item.note not in UNPROVED]
        if unknown := next((error for error in errors if isinstance(error, NameError)), None):
            # A slip of the author's, no mistake.
            self.problems.append(raised(self.function.id, unknown))
        failed = [i for i in items if i.status not in (Status.PASSED, Status.SKIPPED)]
        self.caught |= {item.name for item in failed}
        if not failed:
            self.problems.append(f"misconception `{wrong.name}` passes every check")
        for item in failed:
            self._compare_name(item, wrong)
        points = hundredths(sum(item.max_score - (item.score or 0.0) for item in items))
        of = sum(item.max_score for item in items)
        return Price(self.function.name, wrong.name, points, of, wrong.fatal)

    def _compare_name(self, item: Item, wrong: Misconception) -> None:
        if item.note == wrong.name:
            return
        if item.note in {other.name for other in self.function.misconceptions}:
            self.twins.append(Twins(item.name, item.note, wrong.name))
        else:
            self.problems.append(
                f"misconception `{wrong.name}` fails `{item.name}` as "
                f"{item.note or 'nothing known'}: {item.feedback}"
            )

    def _graded(
        self, function: Callable[..., Any], *, right: bool
    ) -> tuple[list[Item], list[Exception]]:
        """Grade a function of ours as a student's; return what came, and what it raised."""
        errors: list[Exception] = []
        call, watch = as_student(function, errors), self.measured.watch(right=right)
        return grade_checks(self.function, call, watch=watch, secret=self.secret), errors


def _given_problems(function: CheckedFunction, given: Callable[..., Any], secret: str) -> list[str]:
    """Demand that what is given away is right, and that it earns nothing as an answer."""
    name = f"`{given.__name__}`, which is given,"
    items = grade_checks(replace(function, without={}), as_student(given), secret=secret)
    problems = [f"{name} fails {shown(i)}" for i in lost(items) if i.note not in UNPROVED]
    earned = sum(i.score or 0.0 for i in grade_checks(function, as_student(given), secret=secret))
    if earned:
        problems.append(
            f"{name} earns {earned:g} points as an answer: say what an answer may not use, "
            "@exercise.reference(without=…)"
        )
    return problems


def _author_s_errors(
    function: CheckedFunction,
    right: Callable[..., Any],
    items: list[Item],
    errors: list[Exception],
    secret: str,
) -> list[str]:
    """Say what a right function raised, or a check that it was given to: where, and for what."""
    found = [raised(function.id, error) for error in errors[:1] if lost(items)]
    broken = {item.name for item in items if item.note == "grader_error"}
    for check in (check for check in function.checks if check.name in broken):
        callee = Local(as_student(right))
        asked = when_needed(function, check, secret, callee)
        failure = attempt(function, check, Interview(callee, asked=asked), secret)
        if failure:
            found.append(raised(function.id, failure))
    return found


def as_student(
    function: Callable[..., Any], errors: list[Exception] | None = None
) -> Callable[..., Any]:
    """Call a function of ours as if it were a student's: what it raises is the student's.

    It is added to ``errors``, as well.
    """
    function = computation(function)

    @wraps(function)  # so that its own code is metered
    def call(*args: object, **kwargs: object) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:  # as a student's is told
            if errors is not None:
                errors.append(error)
            name, text = type(error).__name__, one_line(str(error))
            raise StudentError("exception", str(error), type=name, text=text) from error

    return call
