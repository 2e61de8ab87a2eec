"""Grade one submission: run its cells in order, then call its functions."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.exercise.words.carried_source import all_carried
from autograder.exercise.words.part import ORDERS
from autograder.grading.as_references import AsReferences
from autograder.grading.demonstrations import shown, tagged
from autograder.grading.gpu import Gpu
from autograder.grading.hints import hints_taken, with_hints
from autograder.grading.left_over import LeftOver
from autograder.grading.look_prices import with_looks
from autograder.grading.one_exercise import Assigned, OneExercise
from autograder.grading.own import Places
from autograder.grading.phases import Calls, Cells
from autograder.grading.results import ALL, Counting, ExerciseGrade, Grade, Item, Status
from autograder.grading.rubric import rubric_cell
from autograder.grading.runner import Runner
from autograder.grading.runs import Runs
from autograder.grading.yardstick import Yardstick
from autograder.sandbox import Limits, Zygote
from autograder.student.notebook import CHECK, grade_id, part_of

Notebook = dict[str, Any]


@dataclass(frozen=True)
class SubmissionRun:
    """What is needed to run one submission and to grade it.

    Attributes
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
    runs
        Where expensive calls are kept, so that no other grading repeats them.
    secret
        The course's, with which inputs are drawn.
    blank
        The grade_ids of cells that are as they were released: no rubric stands above them.
    counting
        Which of the points count.
    hint_cost
        The share of an exercise's automatic points that a hint costs.
    looks, look_cost
        Exercise and part of each look that a code was given for, and the share of the part's
        points that it costs.
    """

    assignment: str
    student: str
    notebook: Notebook
    assigned: Sequence[Assigned]
    zygote: Zygote
    notices: Sequence[str] = ()
    limits: Mapping[str, Limits] = field(default_factory=dict)
    seconds: float = 120.0
    yardstick: Yardstick | None = None
    gpu: Gpu | None = None
    runs: Runs | None = None
    secret: str = ""
    blank: Collection[str] = ()
    counting: Counting = ALL
    hint_cost: float = 0.0
    looks: Collection[tuple[str, str]] = ()
    look_cost: float = 0.0

    def limit(self, phase: Cells | Calls, exercise: str) -> None:
        """Let what is done for an exercise use what it may."""
        phase.limits = self.limits.get(exercise) or self.zygote.limits


def grade_submission(run: SubmissionRun) -> tuple[Grade, Notebook]:
    """Run a restored notebook and grade every exercise.

    Returns
    -------
    Grade
        The result record.
    dict
        The notebook with outputs; a check cell shows what was found and its score, and above a
        part marked by hand, where something was written, stands its rubric.
    """
    started = time.monotonic()
    exercises = {a.id: OneExercise(a, run.secret) for a in run.assigned}
    numbers = {
        a.id: {name: value for name, value in a.pool[a.variant].items() if name != ORDERS}
        for a in run.assigned
    }
    with Runner(run.zygote, numbers, seconds=run.seconds, runs=run.runs) as runner:
        cells, checks = _answered(run, runner, exercises, numbers)
        places = Places({id: exercises[id].place for id in checks}, _first(run.notebook, exercises))
        carried = {exercises[id].place: exercises[id].carried for id in checks}
        calls = runner.calls(places.wanted(carried))
        waiting, right = [*checks], AsReferences()
        while waiting:
            id = min(waiting, key=lambda id: exercises[id].order(calls, waiting))
            waiting.remove(id)
            run.limit(calls, id)
            exercises[id].call(calls, run.yardstick, run.gpu, places, right)
            calls.settle()
    taken = hints_taken(run.notebook)
    grades = {
        id: with_hints(one.grade, taken.get(id, 0), one.hints, run.hint_cost)
        for id, one in exercises.items()
    }
    grades = {
        id: with_looks(grade, [part for of, part in run.looks if of == id], run.look_cost)
        for id, grade in grades.items()
    }
    for id, cell in checks.items():
        cell["outputs"] = _report(grades[id], cell["execution_count"])
    runtime = {
        "seconds": round(time.monotonic() - started, 4),
        "cpu_seconds": round(runner.cpu_seconds, 4),
        "peak_mb": round(runner.peak_mb, 1),
    }
    grade = Grade(
        run.assignment,
        run.student,
        run.zygote.isolation.tier,
        list(grades.values()),
        list(run.notices),
        runtime,
        run.counting,
    )
    return grade, {**run.notebook, "cells": cells}


def _answered(
    run: SubmissionRun,
    runner: Cells,
    exercises: Mapping[str, OneExercise],
    numbers: Mapping[str, Mapping[str, Any]],
) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Run the cells in order, and read the answers where their check cells stand.

    Returns
    -------
    list
        The cells with their outputs, and a rubric above each part marked by hand.
    dict
        The check cells among them, by exercise.
    """
    rubrics = {id: cell for id, cell in _by_hand(run.assigned).items() if id not in run.blank}
    cells: list[dict[str, Any]] = []
    checks: dict[str, dict[str, Any]] = {}
    left_over = LeftOver(m.exercise for m in exercises.values() if m.exercise)
    followed = _followed_by_checks(run.notebook)
    for number, released in enumerate(run.notebook["cells"], 1):
        cell = dict(released)
        name = grade_id(cell)
        if cell["cell_type"] == "code":
            cell["execution_count"] = number
            id = name.removeprefix(CHECK)
            run.limit(runner, id)
            if name.startswith(CHECK):
                checks[id] = cell
                exercises[id].read(runner, number, left_over.of(id))
                left_over.answered(id)
                runner.settle(number)
            elif tagged(cell):
                cell["outputs"] = [shown(cell, numbers)]
            else:
                one = exercises.get(id)
                if one:
                    runner.settle(number)
                if check := followed.get(number):
                    place, checked = check
                    exercises[checked].ahead(runner, place)
                ran = left_over.run(runner, cell["source"], number, id if one else "")
                cell["outputs"] = ran.outputs
                if ran.error and one:
                    one.stopped = ran.error
        if name in rubrics:
            cells.append(rubrics[name])
        cells.append(cell)
    for id in exercises.keys() - checks.keys():  # nothing but answers marked by hand
        exercises[id].read(runner)
    runner.settle(len(cells) + 1)
    return cells, checks


def _followed_by_checks(notebook: Notebook) -> dict[int, tuple[int, str]]:
    """Return by the numbers of cells, behind which no other runs before a check cell, that one."""
    found: dict[int, tuple[int, str]] = {}
    last = 0
    for number, cell in enumerate(notebook["cells"], 1):
        name = grade_id(cell)
        if name.startswith(CHECK):
            found[last], last = (number, name.removeprefix(CHECK)), 0
        elif cell["cell_type"] == "code" and not tagged(cell):
            last = number
    return found


def _first(notebook: Notebook, exercises: Mapping[str, OneExercise]) -> dict[str, int]:
    """Return for exercises of other notebooks the number of the first cell that builds on them."""
    others = {
        id: away
        for id, own in exercises.items()
        if (away := {one.exercise for one in all_carried(own.carried)} - exercises.keys())
    }
    found: dict[str, int] = {}
    for number, cell in enumerate(notebook["cells"], 1) if others else ():
        for id in others.get(grade_id(cell), ()):
            found.setdefault(id, number)
    return found


def lost(
    assignment: str,
    student: str,
    assigned: Sequence[Assigned],
    *,
    note: str,
    reason: str,
    errored: bool,
    isolation: str = "none",
    counting: Counting = ALL,
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
    return Grade(assignment, student, isolation, exercises, [reason], {}, counting)


def _by_hand(assigned: Sequence[Assigned]) -> dict[str, dict[str, Any]]:
    """Return a cell with the rubric for each part marked by hand, by the part's grade_id."""
    return {
        part_of(a.id, part.name): rubric_cell(a.exercise, part, a.pool[a.variant])
        for a in assigned
        if a.exercise
        for part in a.exercise.parts
        if part.manual
    }


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
