"""Grade one submission: run its cells in order, and each exercise where its check cell stands."""

from __future__ import annotations

import ast
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.exercise import Exercise
from autograder.grading.checks import grade_checks
from autograder.grading.demonstrations import tagged
from autograder.grading.gpu import Gpu
from autograder.grading.parts import grade_parts
from autograder.grading.results import ExerciseGrade, Grade, Item, Status
from autograder.grading.rubric import rubric_cell
from autograder.grading.runner import Runner
from autograder.grading.student import StudentCall
from autograder.grading.yardstick import Yardstick
from autograder.sandbox import Limits, StudentError, Zygote

Notebook = dict[str, Any]


@dataclass(frozen=True)
class Assigned:
    """One exercise as one student has it.

    Attributes
    ----------
    exercise
        None where the author's module is broken; then ``fault`` says how.
    max_score
        Points as released.
    variant, pool
        Index of the student's numbers, and the numbers of everybody.
    """

    id: str
    exercise: Exercise | None
    max_score: float
    variant: int = 0
    pool: Sequence[Mapping[str, Any]] = ({},)
    fault: str = ""


def grade_submission(
    assignment: str,
    student: str,
    notebook: Notebook,
    assigned: Sequence[Assigned],
    zygote: Zygote,
    *,
    notices: Sequence[str] = (),
    limits: Mapping[str, Limits] | None = None,
    seconds: float = 120.0,
    yardstick: Yardstick | None = None,
    gpu: Gpu | None = None,
) -> tuple[Grade, Notebook]:
    """Run a restored notebook and grade every exercise.

    Parameters
    ----------
    notebook
        As JSON, with the released check cells in their places; it is not changed.
    assigned
        The assignment's exercises.
    limits
        What cells and calls of single exercises may use; else it is what the zygote grants.
    seconds
        For all cells and calls together.
    yardstick
        Times the references, where a submission is compared with them.
    gpu
        Runs the checks that need one; without it these are withheld.

    Returns
    -------
    Grade
        The result record.
    dict
        The notebook with outputs; a check cell shows what was found and its score, and above a
        part marked by hand stands its rubric.
    """
    started = time.monotonic()
    todo = {exercise.id: exercise for exercise in assigned}
    done: dict[str, ExerciseGrade] = {}
    stopped: dict[str, StudentError] = {}  # why a solution cell stopped, by exercise
    answered: set[str] = set()  # variables in which earlier exercises have their answers
    cells: list[dict[str, Any]] = []
    numbers = {a.id: dict(a.pool[a.variant]) for a in assigned if a.pool[a.variant]}
    by_hand = _by_hand(assigned)
    with Runner(zygote, numbers, seconds=seconds) as runner:
        for number, cell in enumerate(notebook["cells"], 1):
            cell = dict(cell)
            grade_id = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
            if cell["cell_type"] == "code":
                cell["execution_count"] = number
                own = (limits or {}).get(grade_id.removeprefix("check_"))
                runner.limits = own or zygote.limits
                if grade_id.startswith("check_"):
                    id = grade_id.removeprefix("check_")
                    done[id] = _grade(todo[id], runner, stopped.get(id), yardstick, gpu)
                    cell["outputs"] = _report(done[id], number)
                    if exercise := todo[id].exercise:
                        answered |= {part.name for part in exercise.parts}
                    runner.settle()
                elif tagged(cell):
                    cell["outputs"] = [_NOT_RUN]
                else:
                    if grade_id in todo:
                        runner.settle()
                    exercise = todo[grade_id].exercise if grade_id in todo else None
                    if exercise and (stale := _stale(exercise, cell["source"], answered)):
                        runner.execute(_FORGET.format(names=stale), number)
                    run = runner.execute(cell["source"], number)
                    cell["outputs"] = run.outputs
                    if run.error and grade_id in todo:
                        stopped[grade_id] = run.error
            if grade_id in by_hand:
                cells.append(by_hand[grade_id])
            cells.append(cell)
        for id in todo.keys() - done.keys():  # nothing but answers marked by hand
            done[id] = _grade(todo[id], runner, stopped.get(id), yardstick, gpu)
    runtime = {
        "seconds": round(time.monotonic() - started, 4),
        "cpu_seconds": round(runner.cpu_seconds, 4),
        "peak_mb": round(runner.peak_mb, 1),
    }
    grade = Grade(
        assignment,
        student,
        zygote.isolation.tier,
        [done[id] for id in todo],
        list(notices),
        runtime,
    )
    return grade, {**notebook, "cells": cells}


def lost(
    assignment: str,
    student: str,
    assigned: Sequence[Assigned],
    *,
    note: str,
    reason: str,
    errored: bool,
    isolation: str = "none",
) -> Grade:
    """Return the grade of a submission that could not be run at all.

    ``errored`` says whose fault that is: ours withholds every score, the student's earns 0.
    """
    status, score = (Status.ERRORED, None) if errored else (Status.FAILED, 0.0)
    exercises = []
    for a in assigned:
        items = a.exercise.items if a.exercise else []
        rows = [Item(i.name, i.rubric, status, score, i.points, note, reason) for i in items]
        rows = rows or [Item(a.id, "", status, score, a.max_score, note, reason)]
        exercises.append(ExerciseGrade.of(a.id, rows, variant=a.variant))
    return Grade(assignment, student, isolation, exercises, [reason])


_NOT_RUN = {
    "output_type": "stream",
    "name": "stdout",
    "text": "(This cell only shows something: it is not run while grading.)\n",
}


def _by_hand(assigned: Sequence[Assigned]) -> dict[str, dict[str, Any]]:
    """Return a cell with the rubric for each part marked by hand, by the part's grade_id."""
    return {
        f"{a.id}_{part.name}": rubric_cell(a.exercise, part, a.pool[a.variant])
        for a in assigned
        if a.exercise
        for part in a.exercise.parts
        if part.manual
    }


#: Answers of two exercises may have one name.  Where the second cell stops before it has written
#: its own, the first one's must not be taken for it.
_FORGET = "for _name in {names}:\n    globals().pop(_name, None)\ndel _name"


def _stale(exercise: Exercise, source: str, answered: set[str]) -> list[str]:
    """Return which earlier answers a solution cell is about to replace by its own."""
    own = answered & {part.name for part in exercise.parts}
    if not own:
        return []
    try:
        nodes = ast.walk(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return sorted(own)
    return sorted(
        own & {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    )


def _grade(
    assigned: Assigned,
    runner: Runner,
    stopped: StudentError | None,
    yardstick: Yardstick | None,
    gpu: Gpu | None,
) -> ExerciseGrade:
    exercise = assigned.exercise
    if exercise is None:
        return _withheld(assigned, f"This exercise can't be graded now ({assigned.fault}).")
    try:
        items = {
            item.name: item
            for item in grade_parts(
                exercise, assigned.pool[assigned.variant], runner.read, pool=assigned.pool
            )
        }
        for function in exercise.functions:
            assert function.solution
            with StudentCall(runner, function.solution, yardstick, gpu) as call:
                items |= {item.name: item for item in grade_checks(function, call)}
    except Exception as error:  # never the student's loss, and never the next exercise's
        return _withheld(assigned, f"The grader failed here ({type(error).__name__}: {error}).")
    ordered = [_because(items[item.name], stopped) for item in exercise.items]
    return ExerciseGrade.of(exercise.id, ordered, variant=assigned.variant)


def _because(item: Item, stopped: StudentError | None) -> Item:
    """Say that an answer is missing because its cell stopped."""
    if stopped is None or item.note != "blank":
        return item
    note = "timeout" if stopped.kind == "timeout" else "cell_error"
    text = f"There is no answer to read, because the cell stopped: {stopped.message}"
    return replace(item, note=note, feedback=text.rstrip(".") + ".")


def _withheld(assigned: Assigned, reason: str) -> ExerciseGrade:
    text = f"{reason} The score is withheld; a person will look at it."
    item = Item(assigned.id, "", Status.ERRORED, None, assigned.max_score, "grader_error", text)
    return ExerciseGrade.of(assigned.id, [item], variant=assigned.variant)


def _report(grade: ExerciseGrade, number: int) -> list[dict[str, Any]]:
    """Return a check cell's outputs: what was found, then the score as nbgrader reads it."""
    lines = []
    for item in grade.items:
        points = f"{'–' if item.score is None else format(item.score, 'g')}/{item.max_score:g}"
        lines.append(f"{item.status:8} {points:>7}  {item.name}: {item.rubric}")
        if item.feedback:
            lines.append(f"{'':18}{item.feedback}")
    text = {"output_type": "stream", "name": "stdout", "text": "\n".join(lines) + "\n"}
    if grade.score is None:
        return [text]
    score = {
        "output_type": "execute_result",
        "execution_count": number,
        "metadata": {},
        "data": {"text/plain": repr(float(grade.score))},
    }
    return [text, score]
