"""Build what students get: a notebook, check.py, check.json, and what reads formulas.

Everything is put together from text that holds no answers; nothing has to be taken out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import nbformat

from autograder.course.config import CourseError
from autograder.course.discover import Assignment, SourceCell
from autograder.course.release.carried_exercises import carried
from autograder.course.release.check_json import record
from autograder.course.release.datafiles import digests, written
from autograder.course.release.drawing import drawn
from autograder.course.release.kept import Kept
from autograder.course.release.looking import FILE as LOOKS
from autograder.course.release.looking import looks
from autograder.course.release.overview import told
from autograder.course.release.plain_json import alike, dump
from autograder.course.release.practising import DIGITS, HELP, helped
from autograder.course.release.releasable import problems
from autograder.course.release.shipping import shipped
from autograder.exercise import Exercise, Part
from autograder.exercise.words.arguments import calling_once
from autograder.grading.demonstrations import TAG
from autograder.student.data import SCHEMA
from autograder.student.notebook import check_of, grade_id, new_cell, part_of
from autograder.student.released_files import CheckFile, Help

SETUP = """\
from check import {names}
{imports}
student("")  # your id, between the quotes"""

_NUMPY = "import numpy as np"

PRACTICE = """

# Not graded: practice("{id}") gives other numbers to try your hand at, and says at once what is
# right and what went wrong; solution() shows how these come out."""

TRIED = """

# Not graded: practice("{id}") tries your code on other inputs, and says what went wrong."""

HINT = """

# hint("{id}") helps you on with an exercise, a little; there may be a second hint and a third."""

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def build(assignment: Assignment) -> dict[str, bytes]:
    """Return the files of release/<assignment>/ by name; the same bytes every time.

    Raises
    ------
    CourseError
        With everything that keeps the assignment from being released, and what to do.
    """
    if wrong := problems(assignment):
        raise CourseError("\n".join([f"{assignment.id} can't be released:", *wrong]))
    files = written(assignment.course, assignment.id)
    course = assignment.course.id
    with Kept(assignment) as kept:
        found = {
            id: kept.of(exercise, "release", partial(_worked_out, exercise, course))
            for id, exercise in assignment.sound.items()
        }
    data: CheckFile = {
        "schema": SCHEMA,
        "course": course,
        "assignment": assignment.id,
        "exercises": {id: each["check"] for id, each in found.items()},
    }
    if code := carried(assignment):
        data["carried"] = code
    if files:
        data["data"] = digests(files)
    helping: dict[str, Help] = {id: each["help"] for id, each in found.items()}
    looking = {} if assignment.course.look is None else looks(assignment)
    answers = [part.answer for exercise in assignment.sound.values() for part in exercise.parts]
    return {
        f"{assignment.id}.ipynb": _notebook(assignment, helping),
        **shipped({type(answer) for answer in answers}),
        **files,
        "check.json": dump(data),
        **({HELP: dump(helping)} if helping else {}),
        **({LOOKS: dump(looking)} if looking else {}),
    }


def _worked_out(exercise: Exercise, course: str) -> dict[str, Any]:
    """Return what check.json and help.json say of an exercise."""
    variants = drawn(exercise, course)
    recorded = record(exercise, variants)
    graded = [known for _, known in variants]
    with calling_once():
        help_ = helped(exercise, course, graded, recorded["functions"])
    return {"check": recorded, "help": help_}


def stale(files: Mapping[str, bytes], folder: Path) -> list[str]:
    """Return the names of files that are missing from ``folder``, differ there, or are too many.

    Results recorded on another processor may differ in their last digits: where two JSON files
    differ in nothing else they count as the same, and what is there stays.
    """
    found = (path for path in folder.glob("*") if path.exists())  # a link may lead nowhere
    there = {path.name for path in found if not path.name.startswith((".", "__"))}
    return sorted(
        (there - files.keys())
        | {
            name
            for name, content in files.items()
            if name not in there or not _same((folder / name).read_bytes(), content, name)
        }
    )


def _notebook(assignment: Assignment, helping: Mapping[str, Help]) -> bytes:
    cells: list[dict[str, Any]] = []
    for cell in told(assignment):
        exercise = assignment.sound.get(cell.exercise)
        cells += [_plain(cell)] if exercise is None else _graded(cell, exercise)
    after_title = 1 if cells and cells[0]["cell_type"] == "markdown" else 0
    cells.insert(after_title, new_cell("code", _set_up(assignment, helping)))
    for number, plain in enumerate(cells):
        plain["id"] = grade_id(plain) or f"cell-{number:02d}"
    ids = [plain["id"] for plain in cells]
    if twice := sorted({id for id in ids if ids.count(id) > 1}):
        raise CourseError(f"{assignment.id}: two cells would be called {', '.join(twice)}; rename")
    notebook = nbformat.from_dict(
        {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    )
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook, version=4)
    return (text.rstrip("\n") + "\n").encode()


def _set_up(assignment: Assignment, helping: Mapping[str, Help]) -> str:
    """Return the first cell: whose notebook it is, and what helps, with an example of each."""
    used, said = ["check", "student", "your_numbers"], ""
    if carried(assignment):
        used.append("carry")
    practised = {id: entry["practice"] for id, entry in helping.items() if "practice" in entry}
    if practised:
        used.append("practice")
    if ids := [id for id, found in practised.items() if found["sets"]]:
        used.append("solution")
        said += PRACTICE.format(id=ids[0])
    elif practised:
        said += TRIED.format(id=next(iter(practised)))
    if ids := [id for id, entry in helping.items() if "hints" in entry]:
        used.append("hint")
        said += HINT.format(id=ids[0])
    if any("moving(" in c.source for c in assignment.cells if c.demonstration):
        used.append("moving")
    numpy = any(_NUMPY in c.source.splitlines() for c in assignment.cells if c.kind == "code")
    imports = f"{_NUMPY}\n" if numpy else ""  # there, whichever cell is run next
    return SETUP.format(names=", ".join(sorted(used)), imports=imports) + said


def _plain(cell: SourceCell) -> dict[str, Any]:
    """Return a cell of the text; the code of what only shows something is folded away."""
    folded = {"tags": [TAG], "jupyter": {"source_hidden": True}}
    return new_cell(cell.kind, cell.source, folded if cell.demonstration else {})


def _graded(cell: SourceCell, exercise: Exercise) -> list[dict[str, Any]]:
    """Return a part marked by hand, or a solution cell and the check cell behind it."""
    if cell.part:
        part: Part = next(part for part in exercise.parts if part.name == cell.part)
        name = part_of(exercise.id, part.name)
        return [new_cell(cell.kind, cell.source, _answered(name, part.points))]
    if not exercise.auto_points:
        return [new_cell(cell.kind, cell.source)]
    source = f'check("{exercise.id}")'
    check = _nbgrader(check_of(exercise.id), solution=False, points=exercise.auto_points)
    return [
        new_cell(cell.kind, cell.source, _answered(exercise.id)),
        new_cell("code", source, {"deletable": False, "editable": False, "nbgrader": check}),
    ]


def _answered(name: str, points: float | None = None) -> dict[str, Any]:
    """Return the metadata of a cell that students write in."""
    return {"deletable": False, "nbgrader": _nbgrader(name, solution=True, points=points)}


def _nbgrader(name: str, *, solution: bool, points: float | None = None) -> dict[str, Any]:
    """Return nbgrader's metadata of a cell; delivery adds the checksum."""
    graded = {}
    if points is not None:
        graded["points"] = int(points) if points % 1 == 0 else round(points, 6)
    return {
        "grade": bool(graded),
        "grade_id": name,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
        **graded,
    }


def _same(old: bytes, new: bytes, name: str) -> bool:
    if old == new or not name.endswith(".json"):
        return old == new
    try:
        return alike(json.loads(old), json.loads(new), DIGITS if name == HELP else None)
    except ValueError:
        return False
