"""Exercises prove themselves: what an author promises is tried, item by item."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np

from autograder.course.discover import Assignment, Broken
from autograder.course.discrimination import Hidden, Twins, in_variants, part_twins
from autograder.course.sources import typed
from autograder.exercise import (
    Draws,
    Exercise,
    Part,
    apply,
    draws,
    evaluate,
    hidden_mistakes,
    solve,
)
from autograder.grading.checks import NO_GPU, grade_checks
from autograder.grading.parts import grade_parts
from autograder.grading.results import Item, Status
from autograder.sandbox import StudentError

#: Notes of checks that take a clock or a device, neither of which a proof may rest on.
UNPROVED = {"not_timed", NO_GPU}


@dataclass(frozen=True)
class Proof:
    """What was found out about one exercise; it holds if there are no ``problems``.

    Attributes
    ----------
    notes
        What an author may like to know, and need not change.
    hidden, twins
        Misconceptions that numbers or a check could not tell from the right answer, or from
        each other.
    """

    assignment: str
    exercise: str
    points: float = 0.0
    parts: int = 0
    checks: int = 0
    misconceptions: int = 0
    variants: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    hidden: list[Hidden] = field(default_factory=list)
    twins: list[Twins] = field(default_factory=list)


def verify(assignment: Assignment, exercises: list[str] | None = None) -> list[Proof]:
    """Prove every exercise of an assignment, or those wanted; none stops the others."""
    return [
        _proof(assignment, id, exercise)
        for id, exercise in assignment.exercises.items()
        if not exercises or id in exercises
    ]


def _proof(assignment: Assignment, id: str, exercise: Exercise | Broken) -> Proof:
    if isinstance(exercise, Broken):
        return Proof(assignment.id, id, problems=[exercise.message])
    wrong = len(exercise.misconceptions)
    wrong += sum(len(part.misconceptions) for part in exercise.parts)
    sizes = (exercise.points, len(exercise.parts), len(exercise.checks), wrong)
    proof = Proof(assignment.id, id, *sizes)
    try:
        drawn = draws(exercise, assignment.course.id)
        proof = replace(proof, variants=len(drawn.pool), hidden=_hidden(exercise, drawn))
        _examine(assignment, exercise, drawn.pool, proof)
    except Exception as error:
        text = f"{type(error).__name__}: {error}".removeprefix(f"ValueError: {id}: ")
        proof.problems.append(text)
    return replace(proof, problems=list(dict.fromkeys(proof.problems)))


def _examine(
    assignment: Assignment, exercise: Exercise, pool: list[dict[str, Any]], proof: Proof
) -> None:
    """Add what is found to the proof's lists."""
    problems = proof.problems
    problems += _stub_earns(assignment, exercise, pool[0])
    for function in exercise.functions:
        problems += _function(function, proof.twins)
    for part in exercise.parts:
        if part.manual:
            continue
        drawn = bool(_needed(exercise, part) & pool[0].keys())
        problems += _part(exercise, part, pool if drawn else pool[:1])
        proof.twins.extend(part_twins(exercise, part, pool if drawn else pool[:1]))
    problems += [str(hidden) for hidden in proof.hidden if hidden.released]
    problems += [str(twins) for twins in proof.twins if twins.always]
    proof.notes.extend(str(twins) for twins in proof.twins if not twins.always)
    if left := [hidden for hidden in proof.hidden if hidden.draws]:
        counts = ", ".join(f"`{hidden.misconception}` {hidden.draws}" for hidden in left)
        proof.notes.append(f"draws left out, because a mistake gave the right answer: {counts}")


def _hidden(exercise: Exercise, drawn: Draws) -> list[Hidden]:
    """Return which misconceptions were hidden by a draw, or are by a variant of the release."""
    released: dict[str, list[int]] = {}
    for index, variant in enumerate(drawn.pool):
        for name in hidden_mistakes(exercise, variant):
            released.setdefault(name, []).append(index)
    return [
        Hidden(name, drawn.hidden.get(name, 0), released.get(name, []), len(drawn.pool))
        for name in {**drawn.hidden, **released}
    ]


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
    functions = {f.solution.__name__: f for f in exercise.functions if f.solution}
    wanted = [*answers, *functions]
    problems = [f"the stub does not define `{name}`" for name in wanted if name not in names]
    if problems:
        return problems
    items = grade_parts(exercise, variant, names.get)
    for name, function in functions.items():
        items += grade_checks(function, _as_student(names[name]))
    return [f"the stub earns {i.score:g} for {i.name}" for i in items if i.score]


def _function(exercise: Exercise, twins: list[Twins]) -> list[str]:
    problems = []
    known = {wrong.name for wrong in exercise.misconceptions}
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
            if item.note in known - {wrong.name}:
                twins.append(Twins(item.name, item.note, wrong.name))
            elif item.note != wrong.name:
                problems.append(
                    f"misconception `{wrong.name}` fails `{item.name}` as "
                    f"{item.note or 'nothing known'}: {item.feedback}"
                )
    for check in exercise.checks:
        if check.name not in caught:
            problems.append(f"no misconception fails the check `{check.name}`: is it needed?")
    if not exercise.checks:
        problems.append(f"`{exercise.solution.__name__}` has no check")
    return problems


def _part(exercise: Exercise, part: Part, pool: list[dict[str, Any]]) -> list[str]:
    found: dict[str, list[int]] = {}  # what is wrong, and in which variants
    for index, variant in enumerate(pool):
        known, right = solve(exercise, variant), right_answers(exercise, variant)
        for compute in (part.compute, *part.alternatives):
            raw = typed(part, apply(compute, known))
            item = _graded(exercise, part, variant, {**right, part.name: raw})
            if item.status is not Status.PASSED:
                text = f"`{compute.__name__}` is right but fails {_shown(item)}"
                found.setdefault(text, []).append(index)
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
                text = f"misconception `{wrong.name}` of `{part.name}` is graded {item.status}"
                text += f" ({item.note or 'no note'})"
                found.setdefault(text, []).append(index)
    return [f"{text}{in_variants(indices, len(pool))}" for text, indices in found.items()]


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
    needed = _needed(exercise, part)
    only = copy(exercise)
    only.items = [other for other in exercise.parts if other.name in needed]
    return grade_parts(only, variant, answers.__getitem__)[-1]


def _needed(exercise: Exercise, part: Part) -> set[str]:
    """Return the part's name and all that it, or a mistake in it, is computed from."""
    needed = {part.name}
    for other in reversed(exercise.parts):
        if other.name in needed:
            mistakes = [wrong.compute for wrong in other.misconceptions]
            for compute in (other.compute, *other.alternatives, *mistakes):
                needed |= set(signature(compute).parameters)
    return needed


def _lost(items: list[Item]) -> list[Item]:
    return [i for i in items if i.note != "manual" and i.status is not Status.PASSED]


def _shown(item: Item) -> str:
    return f"`{item.name}` ({item.status}, {item.note or 'no note'}: {item.feedback})"
