"""A course with one small assignment, and grades for it that no engine has to make."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.course.config import Course
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.records import write_record
from autograder.delivery import nbgrader_settings
from autograder.delivery.nbgrader import gradebook
from autograder.grading.results import ExerciseGrade, Grade, Item, Status
from autograder.student.released_files import CheckFile, RecordedExercise

ROOT = Path(__file__).resolve().parents[2]
A = "a01_tiny"

STUBS = {"qk": "scores = None", "norm": "total = None", "qk_why": "Write here."}


def cell(kind, grade_id, source, **nbgrader):
    code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    flags = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    metadata = {"nbgrader": flags | {"grade_id": grade_id} | nbgrader} if grade_id else {}
    id = grade_id or "title"
    return {"cell_type": kind, "id": id, "metadata": metadata, "source": source, **code}


def released(extra=()):
    """Return the notebook: two exercises, the first with a part marked by hand."""
    cells = [
        cell("markdown", "", "# Tiny"),
        cell("code", "qk", STUBS["qk"], solution=True),
        cell("code", "check_qk", 'check("qk")', grade=True, locked=True, points=2),
        cell("markdown", "qk_why", STUBS["qk_why"], grade=True, solution=True, points=3),
        cell("code", "norm", STUBS["norm"], solution=True),
        cell("code", "check_norm", 'check("norm")', grade=True, locked=True, points=1),
        *extra,
    ]
    spec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": spec, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def grade_of(student, *, qk=2.0, norm=1.0, note="", feedback="", notices=(), **more):
    """Return a grade; None for an exercise withholds it."""

    def item(name, rubric, score, most):
        if score is None:
            return Item(name, rubric, Status.ERRORED, None, most, "grader_error", "It broke.")
        status = Status.PASSED if score == most else Status.PARTIAL if score else Status.FAILED
        return Item(name, rubric, status, score, most, note, feedback, **more)

    hand = Item("why", "Says why.", Status.SKIPPED, None, 3, "manual", "Marked by hand.")
    exercises = [
        ExerciseGrade.of("qk", [item("scores", "Scores `q·k`.", qk, 2), hand]),
        ExerciseGrade.of("norm", [item("total", "The sum.", norm, 1)]),
    ]
    return Grade(A, student, "A", exercises, list(notices), {"seconds": 0.1})


def graded(student, *, answer="Because.", changed=True, **grade):
    """Return a graded submission as the engine gives it."""
    result = grade_of(student, **grade)
    notebook = gradebook.seal(released())
    for plain in notebook["cells"]:
        id = plain["metadata"].get("nbgrader", {}).get("grade_id", "")
        if id == "qk_why":
            plain["source"] = answer
        elif id in STUBS and changed:
            plain["source"] = "scores = total = 1"
        elif id.startswith("check_"):
            exercise = next(e for e in result.exercises if f"check_{e.id}" == id)
            out = [{"output_type": "stream", "name": "stdout", "text": "found\n"}]
            if exercise.score is not None:
                data = {"text/plain": repr(float(exercise.score))}
                out.append(
                    {
                        "output_type": "execute_result",
                        "execution_count": 1,
                        "metadata": {},
                        "data": data,
                    }
                )
            plain["outputs"] = out
    return Graded.of(result, notebook)


@pytest.fixture
def partly():
    """A function that returns a submission of whose first exercise half a point is withheld."""

    def partly(student):
        found = graded(student)
        qk, norm = found.grade.exercises
        waits = Item("on_gpu", "Grows.", Status.ERRORED, None, 0.5, "no_gpu", "Later.")
        qk = ExerciseGrade.of("qk", [*qk.items, waits])
        return replace(found, grade=replace(found.grade, exercises=[qk, norm]))

    return partly


@pytest.fixture(scope="session")
def template(tmp_path_factory):
    """Return the course's folder: made once, since nbgrader takes seconds to make a gradebook."""
    root = tmp_path_factory.mktemp("tiny")
    (root / nbgrader_settings.FILE).write_text(nbgrader_settings.TEXT)
    (root / "course_config.py").write_text(
        'c = get_config()\nc.CourseDirectory.course_id = "tiny"\n'
        f'c.Course.assignments = [{{"id": "{A}", "title": "Tiny & small"}}]\n'
    )
    notebook = gradebook.seal(released())
    folder = root / "release" / A
    folder.mkdir(parents=True)
    (folder / f"{A}.ipynb").write_text(json.dumps(notebook))
    titles = {"qk": ("Queries <and> keys", 5), "norm": ("Norm", 1)}
    exercises: dict[str, RecordedExercise] = {
        id: {"title": t, "points": p, "functions": [], "parts": [], "pool": [{}]}
        for id, (t, p) in titles.items()
    }
    exercises["qk"]["parts"] = [
        {"name": name, "rubric": "", "points": 2.5, "hint": hint}
        for name, hint in (
            ("scores", {"kind": "numbers", "shape": [2]}),
            ("why", {"kind": "essay"}),
        )
    ]
    data: CheckFile = {"schema": 1, "course": "tiny", "assignment": A, "exercises": exercises}
    (folder / "check.json").write_text(json.dumps(data))
    gradebook.register(Course.load(root), A, notebook)
    return root


@pytest.fixture
def tiny(tmp_path, template):
    """Return the course, released and registered."""
    root = shutil.copytree(template, tmp_path / "tiny")
    return configure(root, f'c.Exchange.root = "{tmp_path / "exchange"}"')


def configure(root, *lines):
    """Add to course_config.py and return the course as it is then."""
    path = root / "course_config.py"
    path.write_text("\n".join([path.read_text(), *lines, ""]))
    return Course.load(root)


def hand_in(course, student, *, timestamp="2026-05-04 10:00:00.000000 UTC"):
    """Write a submission into submitted/."""
    path = course.submission(student, A)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(released()))
    if timestamp is not None:
        path.with_name("timestamp.txt").write_text(timestamp)
    return path


def save(course, *batch):
    """Save graded submissions as `autograder grade` does."""
    gradebook.save(course, batch)
    for one in batch:
        write_record(course, one)


@pytest.fixture
def nbgrader(tmp_path):
    """Return a function that runs an nbgrader command in a folder."""
    environment = os.environ | {
        "HOME": str(tmp_path),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "jupyter"),
        "JUPYTER_DATA_DIR": str(tmp_path / "jupyter"),
        "JUPYTER_PLATFORM_DIRS": "1",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
    }

    def run(folder, *arguments):
        command = [sys.executable, "-m", "nbgrader", *map(str, arguments)]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stderr

    return run


def _gives(function):
    """Return a fixture that is the function itself: test modules can't import a conftest."""
    return pytest.fixture(lambda: function, scope="session", name=function.__name__)


released_, graded_, hand_in_, configure_, save_ = map(
    _gives, (released, graded, hand_in, configure, save)
)
