"""Exercises prove themselves: what an author promises is tried, item by item."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from autograder.course.discover import Assignment
from autograder.course.sources import typed
from autograder.exercise import Exercise, FormatError, Part, apply, draw_pool, evaluate, solve
from autograder.grading.checks import grade_checks
from autograder.grading.parts import grade_parts
from autograder.grading.results import Item, Status
from autograder.sandbox import StudentError

#: Notes of checks that take a clock or a device, neither of which a proof may rest on.
UNPROVED = {"not_timed", "no_gpu"}


@dataclass(frozen=True)
class Proof:
    """What was found out about one exercise; it holds if there are no ``problems``."""

    assignment: str
    exercise: str
    points: float
    parts: int
    checks: int
    misconceptions: int
    variants: int
    problems: list[str]


def verify(assignment: Assignment, exercises: list[str] | None = None) -> list[Proof]:
    """Prove every exercise of an assignment, or those wanted; none stops the others."""
    proofs = []
    for id, exercise in assignment.exercises.items():
        if exercises and id not in exercises:
            continue
        if not isinstance(exercise, Exercise):
            proofs.append(Proof(assignment.id, id, 0, 0, 0, 0, 0, [exercise.message]))
            continue
        pool: list[dict[str, Any]] = []
        try:
            pool = draw_pool(exercise, assignment.course.id)
            problems = _problems(assignment, exercise, pool)
        except Exception as error:
            problems = [f"{type(error).__name__}: {error}".removeprefix(f"ValueError: {id}: ")]
        wrong = len(exercise.misconceptions)
        wrong += sum(len(part.misconceptions) for part in exercise.parts)
        proofs.append(
            Proof(
                assignment.id,
                id,
                exercise.points,
                len(exercise.parts),
                len(exercise.checks),
                wrong,
                len(pool),
                problems,
            )
        )
    return proofs


def _problems(assignment: Assignment, exercise: Exercise, pool: list[dict[str, Any]]) -> list[str]:
    problems = []
    for variant in pool:
        right = right_answers(exercise, variant)
        items = grade_parts(exercise, variant, right.__getitem__)
        problems += [f"the reference fails {_shown(i)} with {variant}" for i in _lost(items)]
    problems += _stub_earns(assignment, exercise, pool[0])
    problems += _functions(exercise) if exercise.solution else []
    for part in exercise.parts:
        problems += _part(exercise, part, pool)
    return list(dict.fromkeys(problems))


def right_answers(exercise: Exercise, variant: Mapping[str, Any]) -> dict[str, Any]:
    """Return the right answer to every part as a student would type it."""
    known = solve(exercise, variant)
    return {part.name: typed(part, apply(part, known)) for part in exercise.parts}


def _stub_earns(
    assignment: Assignment, exercise: Exercise, variant: Mapping[str, Any]
) -> list[str]:
    """Run the stub as it is released: it must define every name and earn nothing."""
    own = [c for c in assignment.cells if c.exercise == exercise.id and not c.part]
    stub = "\n".join(cell.source for cell in own if cell.kind == "code")
    names: dict[str, Any] = {}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(stub, f"<stub of {exercise.id}>", "exec"), names)
    except Exception as error:
        return [f"the stub does not run: {type(error).__name__}: {error}"]
    answers = [part.name for part in exercise.parts if not part.manual]
    wanted = [*answers, *([exercise.solution.__name__] if exercise.solution else [])]
    problems = [f"the stub does not define `{name}`" for name in wanted if name not in names]
    if problems:
        return problems
    items = grade_parts(exercise, variant, names.get)
    if exercise.solution:
        items += grade_checks(exercise, _as_student(names[exercise.solution.__name__]))
    return [f"the stub earns {i.score:g} for {i.name}" for i in items if i.score]


def _functions(exercise: Exercise) -> list[str]:
    problems = []
    assert exercise.solution
    caught: set[str] = set()
    for right in (exercise.solution, *exercise.alternatives):
        items = grade_checks(exercise, _as_student(right))
        unproved = [item for item in items if item.note in UNPROVED]
        caught |= {item.name for item in unproved}
        problems += [
            f"`{right.__name__}` is right but fails {_shown(item)}"
            for item in _lost(items)
            if item not in unproved
        ]
    for wrong in exercise.misconceptions:
        failed = [
            item
            for item in grade_checks(exercise, _as_student(wrong))
            if item.status in (Status.FAILED, Status.ERRORED) and item.note not in UNPROVED
        ]
        caught |= {item.name for item in failed}
        if not failed:
            problems.append(f"misconception `{wrong.name}` passes every check")
        for item in failed:
            if item.note != wrong.name:
                problems.append(
                    f"misconception `{wrong.name}` fails `{item.name}` as "
                    f"{item.note or 'nothing known'}: {item.feedback}"
                )
    for check in exercise.checks:
        if check.name not in caught:
            problems.append(f"no misconception fails the check `{check.name}`: is it needed?")
    if not exercise.checks:
        problems.append("the reference has no check")
    return problems


def _part(exercise: Exercise, part: Part, pool: list[dict[str, Any]]) -> list[str]:
    problems = []
    for alternative in part.alternatives:
        answers = {**right_answers(exercise, pool[0])}
        answers[part.name] = typed(part, apply(alternative, solve(exercise, pool[0])))
        item = _graded(exercise, part, pool[0], answers)
        if item.status is not Status.PASSED:
            problems.append(f"`{alternative.__name__}` is right but fails {_shown(item)}")
    for variant in pool:
        known, right = solve(exercise, variant), right_answers(exercise, variant)
        seen: dict[str, Any] = {}
        for wrong in part.misconceptions:
            with np.errstate(all="ignore"):
                raw = typed(part, apply(wrong, known))
                item = _graded(exercise, part, variant, {**right, part.name: raw})
                if item.note == "format_error":  # NaN, say: caught, if not by its name
                    continue
                value = evaluate(part, wrong, known)
            alike = [name for name, other in seen.items() if part.answer.same(value, other)]
            seen[wrong.name] = value
            if item.note != wrong.name and item.note not in alike:
                problems.append(
                    f"misconception `{wrong.name}` of `{part.name}` is graded "
                    f"{item.status} ({item.note or 'no note'}) with {variant}"
                )
    # Two mistakes may meet by chance in some variant; in all of them they are one mistake.
    problems += _twins(exercise, part, pool)
    return problems


def _twins(exercise: Exercise, part: Part, pool: list[dict[str, Any]]) -> list[str]:
    twins = {
        (a.name, b.name)
        for i, a in enumerate(part.misconceptions)
        for b in part.misconceptions[i + 1 :]
    }
    for variant in pool:
        if not twins:
            break
        known = solve(exercise, variant)
        values: dict[str, Any] = {}
        for wrong in part.misconceptions:
            with np.errstate(all="ignore"), contextlib.suppress(FormatError):
                values[wrong.name] = evaluate(part, wrong, known)
        twins = {
            (a, b)
            for a, b in twins
            if a in values and b in values and part.answer.same(values[a], values[b])
        }
    return [
        f"misconceptions `{a}` and `{b}` of `{part.name}` can't be told apart" for a, b in twins
    ]


def _as_student(function: Callable[..., Any]) -> Callable[..., Any]:
    """Call a function of ours as if it were a student's: what it raises is the student's."""
    function = getattr(function, "compute", function)

    @wraps(function)  # so that its own code is metered
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                return function(*args, **kwargs)
        except Exception as error:
            raise StudentError("exception", str(error), type=type(error).__name__) from error

    return call


def _graded(
    exercise: Exercise, part: Part, variant: Mapping[str, Any], answers: Mapping[str, Any]
) -> Item:
    """Grade a part, and of the others only those it follows from: proofs take their time."""
    needed = {part.name}
    for other in reversed(exercise.parts):
        if other.name in needed:
            for compute in (other.compute, *(wrong.compute for wrong in other.misconceptions)):
                needed |= set(signature(compute).parameters)
    only = copy(exercise)
    only.items = [other for other in exercise.parts if other.name in needed]
    return grade_parts(only, variant, answers.__getitem__)[-1]


def _lost(items: list[Item]) -> list[Item]:
    return [i for i in items if i.note != "manual" and i.status is not Status.PASSED]


def _shown(item: Item) -> str:
    return f"`{item.name}` ({item.status}, {item.note or 'no note'}: {item.feedback})"
