"""Limits of the course and of single exercises."""

import json
from contextlib import closing
from types import SimpleNamespace

import pytest

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course, CourseError
from autograder.course.limits import check_limits, exercise_limits, notebook_limits
from autograder.course.release.handed_out import Release
from autograder.course.submissions.zygotes import Zygotes
from autograder.delivery.department.grading import grade_and_save

from ..courses import MOTION


def configured(course, text):
    config = course.root / "course_config.py"
    config.write_text(f"{config.read_text()}\n{text}\n")
    return Course.load(course.root)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("c.Course.limits = {'cel_seconds': 1}", "did you mean 'cell_seconds'.*there are"),
        ("c.Course.limits = {'memory_mb': '1 GB'}", "memory_mb is '1 GB', and must be a whole"),
        ("c.Course.limits = {'memory_mb': 0.5}", "must be a whole number above 0"),
        ("c.Course.limits = {'cell_seconds': 0}", "cell_seconds is 0, and must be a number above"),
        ("c.Course.limits = {'cell_seconds': True}", "cell_seconds is True"),
        ("c.Course.limits = {'cell_seconds': float('nan')}", "cell_seconds is nan"),
        ("c.Course.exercise_limits = {'fal': {}}", "no exercise 'fal' .did you mean 'fall'"),
        ("c.Course.exercise_limits = {'fall': {'x': 1}}", r"exercise_limits\['fall'\]: 'x' is no"),
        ("c.Course.exercise_limits = {'fall': 3}", r"exercise_limits\['fall'\] is 3"),
    ],
)
def test_a_limit_that_is_none_is_named(course, text, says):
    simulate(course, MOTION, 1)
    course = configured(course, text)
    with pytest.raises(CourseError, match=says):
        check_limits(course)
    with pytest.raises(CourseError, match=says):
        grade_and_save(course, [MOTION])


def test_an_exercise_overrides_what_can_change_between_cells(course):
    course = configured(
        course,
        "c.Course.limits = {'cell_seconds': 3.0, 'memory_mb': 300}\n"
        "c.Course.exercise_limits = {'mean_speeds': {'call_seconds': 30, 'output_bytes': 4096},"
        " 'fall': {'memory_mb': 900, 'cell_seconds': 1}}",
    )
    check_limits(course)
    notebook, seconds = notebook_limits(course, ["mean_speeds", "fall"])
    assert (notebook.memory_mb, notebook.cell_seconds, seconds) == (900, 3.0, 120.0)
    speeds = exercise_limits(course, "mean_speeds", notebook)
    assert (speeds.call_seconds, speeds.output_bytes, speeds.cell_seconds) == (30, 4096, 3.0)
    fall = exercise_limits(course, "fall", notebook)
    assert (fall.cell_seconds, fall.memory_mb, fall.output_bytes) == (1, 900, notebook.output_bytes)
    other, _ = notebook_limits(course, ["spring"])
    assert other.memory_mb == 300


@pytest.mark.sandbox
def test_an_exercise_s_limits_hold_where_it_stands(course):
    course = configured(course, "c.Course.exercise_limits = {'fall': {'cell_seconds': 0.2}}")
    simulate(course, MOTION, 1)
    path = course.submission("student_001", MOTION)
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") in ("fall", "mean_speeds"):
            cell["source"] = ["print('first')\nimport time\ntime.sleep(0.7)\n", *cell["source"]]
    path.write_text(json.dumps(notebook))
    (grade,) = grade_and_save(course, [MOTION]).grades
    assert {e.id: e.score for e in grade.exercises} == {"fall": 0, "mean_speeds": 4}
    done = json.loads(course.submission("student_001", MOTION, "autograded").read_text())
    shown = [
        c for c in done["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == "fall"
    ]
    assert shown[0]["outputs"][0]["text"] == "first\n"
    assert shown[0]["outputs"][-1]["ename"] == "timeout"


def test_what_a_notebook_imports_is_imported_beforehand():
    def imports(*sources, tags=()):
        cells = [
            {"cell_type": "code", "source": source, "metadata": {"tags": [*tags]}}
            for source in sources
        ]
        return Release("a", {"cells": cells}, {}).imports

    assert imports("x = 1") == ("numpy",)
    assert imports("import numpy as np", "# import torch") == ("numpy",)
    assert imports("x = 2; import math, torch as t  # import sympy") == ("numpy", "torch")
    assert imports("def f(): from torch import nn") == ("numpy", "torch")
    assert imports("%matplotlib inline\nfrom matplotlib import pyplot", "    import torch.nn") == (
        "matplotlib.pyplot",
        "numpy",
        "torch",
    )
    assert imports("import matplotlib.pyplot as plt", tags=["demonstration"]) == ("numpy",)


@pytest.mark.sandbox
def test_assignments_with_the_same_needs_share_a_warm_process(course):
    with closing(Zygotes()) as zygotes:
        release = SimpleNamespace(imports=("numpy",), files={})
        limits, _ = notebook_limits(course, [])
        first = zygotes.of(release, limits)
        assert zygotes.of(SimpleNamespace(imports=("numpy",), files={}), limits) is first
        more, _ = notebook_limits(configured(course, "c.Course.limits = {'memory_mb': 99}"), [])
        assert zygotes.of(release, more) is not first
        assert zygotes.of(release, limits, {"numpy"}) is first
        assert zygotes.of(release, limits, {"statistics"}) is not first
