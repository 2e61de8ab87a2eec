"""The same exercises for tools that run their tests in the student's kernel.

nbgrader and otter-grader judge with code that runs beside the student's. Here that code is written
for them: a first cell brings the right answers of the notebook's own student, and what every check,
visible or hidden, asks of a function and what the reference answers. Numbers are compared by
``allclose``, formulas by their values at three points. This does less than the course's own checks
do: derivations count by their last line, misconceptions and earlier slips are not recognised, and
calls with more than 10,000 numbers are left out.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import subprocess
import sys
import time
import types
import warnings
import zipfile
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.proofs.sources import plain, typed
from autograder.course.release.handed_out import Release
from autograder.course.submissions.handed_in import Handed, submissions
from autograder.delivery.nbgrader import gradebook
from autograder.exercise import Exercise, Part
from autograder.exercise.words.dependencies import solve
from autograder.grading.demonstrations import only_shows
from autograder.grading.interview import Interview
from autograder.grading.replay import seed_of
from autograder.sandbox.wire.requests import Call
from autograder.student.notebook import source_of

MOST_NUMBERS = 10_000

SETUP = '''\
import json as _json, random as _random
import numpy as _np
_EXPECTED = _json.loads(r"""{expected}""")

def _value(text, point):
    text = str(text).replace("^", "**")
    names = {{n: getattr(_np, n) for n in ("exp", "log", "sqrt", "tanh", "sin", "cos")}}
    class Names(dict):
        def __missing__(self, name):
            return point.setdefault(name, _random.uniform(0.5, 2))
    return eval(text, {{"__builtins__": {{}}}}, Names(names))

def _same(given, right):
    if isinstance(right, str):
        try:
            for _ in range(3):
                point = {{}}
                if not _np.isclose(_value(right, point), _value(given, point)):
                    return False
            return True
        except Exception:
            return str(given) == right
    if isinstance(right, dict):
        given = {{str(key): value for key, value in given.items()}}
        return all(_same(given[key], right[key]) for key in right)
    if isinstance(right, list) and any(isinstance(entry, (str, list, dict)) for entry in right):
        return len(given) == len(right) and all(map(_same, given, right))
    return bool(_np.allclose(_np.asarray(given, float), right, rtol=1e-3, equal_nan=True))

def passes(exercise, names):
    """Whether the answers and the functions of an exercise are right."""
    expected = _EXPECTED[exercise]
    right = all(
        _same(names[name][-1:] if lines else names[name], value)
        for name, value, lines in expected["answers"]
    )
    for name, args, value in expected["calls"]:
        right &= _same(names[name](*map(_given, args)), value)
    return right

def _given(argument):
    return _np.array(argument) if isinstance(argument, list) else argument
'''
OTTER_TEST = """\
OK_FORMAT = True

test = {{
    "name": "{id}",
    "points": {points},
    "suites": [{{
        "type": "doctest", "scored": True, "setup": "", "teardown": "",
        "cases": [{{"code": ">>> passes({id!r}, globals())\\nTrue", "hidden": True}}],
    }}],
}}
"""


class Equivalents:
    """The test data of one assignment, and its submissions as the other tools take them."""

    def __init__(self, course: Course, id: str) -> None:
        self.course, self.id = course, id
        self.release = Release.load(course, id)
        self.exercises = load_assignment(course, id).sound
        self._calls = {name: _calls(exercise) for name, exercise in self.exercises.items()}

    def for_nbgrader(self, students: int, *, demonstrations: bool = True) -> None:
        """Rewrite the course's release and the first submissions; remove the other ones.

        Without ``demonstrations``, the cells that our grader does not run are emptied.
        """
        sealed = gradebook.seal(self._with_tests(self.release.notebook))
        gradebook.register(self.course, self.id, sealed)
        released = {_grade_id(cell): cell for cell in sealed["cells"] if _grade_id(cell)}
        path = self.course.folder("release") / self.id / f"{self.id}.ipynb"
        path.write_text(json.dumps(sealed))
        for handed in self._first(students):
            notebook = self._with_setup(handed)
            for cell in notebook["cells"]:
                if _grade_id(cell).startswith("check_"):
                    cell.update(source=released[_grade_id(cell)]["source"])
                    cell["metadata"] = released[_grade_id(cell)]["metadata"]
                cell["source"] = source_of(cell)
                if only_shows(cell) and not demonstrations:
                    cell["source"] = ""
            handed.path.write_text(json.dumps(notebook))

    def for_otter(self, students: int, python: str, folder: Path) -> tuple[Path, list[Path]]:
        """Write the archive that grades, and the notebooks that it grades."""
        tests = folder / f"{self.id}_tests"
        tests.mkdir()
        for id, exercise in self.exercises.items():
            text = OTTER_TEST.format(id=id, points=exercise.points)
            (tests / f"{id}.py").write_text(text)
        support = [
            self.course.folder("release") / self.id / f"check.{kind}" for kind in ("py", "json")
        ]
        for path in support:
            shutil.copy(path, tests.parent)
        archive = folder / f"{self.id}.zip"
        command = [python, "-m", "otter", "generate", "-t", tests.name, "-o", archive.name]
        command += ["--no-requirements", "--no-environment", *(path.name for path in support)]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        assert "check.py" in " ".join(zipfile.ZipFile(archive).namelist())
        notebooks = []
        for handed in self._first(students):
            path = folder / f"{handed.student}_{self.id}.ipynb"
            notebook = self._with_setup(handed)
            notebook["cells"][0]["source"] += "\nimport otter\ngrader = otter.Notebook()\n"
            for cell in notebook["cells"]:
                if _grade_id(cell).startswith("check_"):
                    cell["source"] = f"grader.check({_grade_id(cell).removeprefix('check_')!r})"
            path.write_text(json.dumps(notebook))
            notebooks.append(path)
        return archive, notebooks

    def bare(self, students: int) -> float:
        """Return the CPU seconds a submission of the students' code alone, in this process.

        That is its cells, run as plain Python, and every call that checks make.
        """
        check: Any = types.ModuleType("check")
        sys.modules["check"] = check
        total = 0.0
        handed = submissions(self.course, self.id)[:students]
        for each in handed:
            check.check = check.student = lambda *_: None
            check.your_numbers = self.release.numbers(each.student).__getitem__
            names: dict[str, Any] = {}
            steps: list[Callable[[], Any]] = []
            for cell in json.loads(each.path.read_text())["cells"]:
                source = source_of(cell)
                if cell["cell_type"] == "code" and not only_shows({**cell, "source": source}):
                    steps.append(partial(_run, source, names))
            steps += [partial(_call, names, *call) for call in self._asked()]
            quiet = np.errstate(all="ignore"), warnings.catch_warnings(action="ignore")
            with quiet[0], quiet[1], contextlib.redirect_stdout(io.StringIO()):
                for step in steps:
                    start = time.process_time()
                    with contextlib.suppress(Exception):
                        step()
                    total += time.process_time() - start
        return total / len(handed)

    @cache  # noqa: B019 -- one for each assignment
    def _asked(self) -> list[Any]:
        """Return the calls of the checks, as they are while everything is right."""
        asked = []
        for exercise in self.exercises.values():
            for function in exercise.functions:
                for check in function.checks:
                    call = Interview(function.solution)
                    check.run(call, seed_of(function, check))
                    called = [c.request for c in call.calls if isinstance(c.request, Call)]
                    asked += [(function.solution.__name__, c.args, c.kwargs) for c in called]
        return asked

    def _first(self, students: int) -> list[Handed]:
        """Return so many submissions, and remove the others."""
        handed = submissions(self.course, self.id)
        for other in handed[students:]:
            shutil.rmtree(other.path.parent)
        return handed[:students]

    def _with_tests(self, notebook: dict[str, Any]) -> dict[str, Any]:
        cells = []
        for cell in notebook["cells"]:
            id = _grade_id(cell)
            if id.startswith("check_"):
                test = f"assert passes({id.removeprefix('check_')!r}, globals())"
                cell = {**cell, "source": test}
            cells.append(cell)
        return {**notebook, "cells": cells}

    def _with_setup(self, handed: Handed) -> dict[str, Any]:
        notebook = json.loads(handed.path.read_text())
        expected = {}
        for id, exercise in self.exercises.items():
            variant = self.release.pool(id)[self.release.variant(id, handed.student)]
            known = solve(exercise, variant)
            answers = [
                [part.name, *_answer(part, known)] for part in exercise.parts if not part.manual
            ]
            expected[id] = {"answers": answers, "calls": self._calls[id]}
        source = SETUP.format(expected=json.dumps(expected).replace('"""', ""))
        metadata: dict[str, Any] = {}
        cell = {"cell_type": "code", "id": "setup", "metadata": metadata, "source": source}
        cell |= {"outputs": [], "execution_count": None}
        return {**notebook, "cells": [cell, *notebook["cells"]]}


def _run(source: str, names: dict[str, Any]) -> None:
    exec(compile(source, "cell", "exec"), names)


def _call(names: dict[str, Any], function: str, args: Any, kwargs: Any) -> None:
    names[function](*args, **kwargs)


def _answer(part: Part, known: Mapping[str, Any]) -> tuple[Any, bool]:
    """Return an answer as JSON, and whether it is a derivation, of which the last line counts."""
    value = known[part.name]
    text = _json(typed(part, value, known))
    return (text[-1:], True) if hasattr(value, "texts") else (text, False)


def _calls(exercise: Exercise) -> list[Any]:
    """Return what the checks ask of each function, and what the reference answers."""
    calls = []
    for function in exercise.functions:
        for check in function.checks:
            call = Interview(function.solution)
            with np.errstate(all="ignore"):
                check.run(call, seed_of(function, check))
            for recorded in call.calls:
                asked = recorded.request
                if not isinstance(asked, Call) or asked.kwargs:
                    continue
                if _numbers([*asked.args, recorded.value]) <= MOST_NUMBERS:
                    data = (plain(list(asked.args)), plain(recorded.value))
                    calls.append([function.solution.__name__, *map(_json, data)])
    return calls


def _numbers(value: Any) -> int:
    return sum(map(_numbers, value)) if isinstance(value, list | tuple) else np.size(value)


def _json(value: Any) -> Any:
    """Replace what JSON has no word for."""
    return json.loads(json.dumps(value, default=str))


def _grade_id(cell: dict[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))
