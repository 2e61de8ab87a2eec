"""What is proved of a function that students write: its checks tell right from wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from autograder.course.discrimination import Twins
from autograder.course.proofs.distances import Distance, Distances
from autograder.course.proofs.prices import Price
from autograder.course.proofs.said import lost, shown
from autograder.exercise import CheckedFunction
from autograder.exercise.part import computation
from autograder.grading.checks import NO_GPU, grade_checks
from autograder.grading.results import Status, hundredths
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
    problems = []
    measured = Distances()
    known = {wrong.name for wrong in function.misconceptions}
    caught: set[str] = set()
    for right in (function.solution, *function.alternatives):
        items = grade_checks(
            function, as_student(right), watch=measured.watch(right=True), secret=secret
        )
        unproved = [item for item in items if item.note in UNPROVED]
        caught |= {item.name for item in unproved}
        problems += [
            f"`{right.__name__}` is right but fails {shown(item)}"
            for item in lost(items)
            if item not in unproved
        ]
    for wrong in function.misconceptions:
        items = [
            item
            for item in grade_checks(
                function, as_student(wrong), watch=measured.watch(right=False), secret=secret
            )
            if item.note not in UNPROVED
        ]
        points = hundredths(sum(item.max_score - (item.score or 0.0) for item in items))
        of = sum(item.max_score for item in items)
        prices.append(Price(function.name, wrong.name, points, of, wrong.fatal))
        failed = [i for i in items if i.status not in (Status.PASSED, Status.SKIPPED)]
        caught |= {item.name for item in failed}
        if not failed:
            problems.append(f"misconception `{wrong.name}` passes every check")
        for item in failed:
            if item.note in known - {wrong.name}:
                twins.append(Twins(item.name, item.note, wrong.name))
            elif item.note != wrong.name:
                problems.append(
                    f"misconception `{wrong.name}` fails `{item.name}` as "
                    f"{item.note or 'nothing known'}: {item.feedback}"
                )
    for check in function.checks:
        if check.name not in caught:
            problems.append(f"no misconception fails the check `{check.name}`: is it needed?")
    if not function.checks:
        problems.append(f"`{function.name}` has no check")
    distances += measured.found()
    return problems


def as_student(function: Callable[..., Any]) -> Callable[..., Any]:
    """Call a function of ours as if it were a student's: what it raises is the student's."""
    function = computation(function)

    @wraps(function)  # so that its own code is metered
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception as error:
            name, text = type(error).__name__, one_line(str(error))
            raise StudentError("exception", str(error), type=name, text=text) from error

    return call
