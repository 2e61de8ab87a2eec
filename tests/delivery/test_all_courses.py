"""All courses of a folder are graded by one pool, each as it is graded alone."""

import fcntl
import os
import shutil
from concurrent.futures import BrokenExecutor
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from autograder.cli import app
from autograder.course.classes.classroom import grade_class
from autograder.course.classes.simulate import simulate
from autograder.course.config import Course, CourseError
from autograder.course.graders.pool import Pool
from autograder.course.graders.processes import Processes, sharing
from autograder.course.graders.serial import Serial
from autograder.course.release.handed_out import Release
from autograder.course.submissions.grading_options import GradingOptions
from autograder.course.submissions.handed_in import submissions
from autograder.course.submissions.job import job_of
from autograder.delivery.department.all_courses import courses_table, grade_courses
from autograder.delivery.department.grading import Outcome

from ..courses import MOTION as A

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def handed(shared_course):
    """A sample course in which two students have handed in."""
    simulate(shared_course, A, 2)
    return shared_course


@pytest.fixture
def folder(handed, tmp_path):
    """Courses of the same names, of which the second is on the moon."""
    for name, g in (("earth", 9.81), ("moon", 1.62)):
        course = Course.load(shutil.copytree(handed.root, tmp_path / "all" / name))
        (course.root / "reference/helpers.py").write_text(f"g = {g}\n")
        fall = course.root / "reference" / A / "fall.py"
        late = "    from reference.helpers import g\n    return np.sqrt(2 * h / g)"
        fall.write_text(fall.read_text().replace("    return np.sqrt(2 * h / g)", late))
    return tmp_path / "all"


def broken(folder, name, text=""):
    """Add a course whose configuration ends so."""
    root = shutil.copytree(folder / "earth", folder / name)
    with (root / "course_config.py").open("a") as file:
        file.write(f"\n{text}\n")
    return root if text else Course.load(root)


def records(found):
    return {g.grade.student: replace(g.grade, runtime={}).to_json() for g in found}


def alone(course):
    return records(
        grade_class(course, submissions(course, A), open_graders=lambda _: Serial(course))
    )


def test_each_course_gets_the_grades_that_it_gets_alone(folder):
    courses = [Course.load(folder / name) for name in ("earth", "moon")]
    right = [alone(course) for course in courses]
    shutil.rmtree(courses[0].root / "records")
    shutil.rmtree(courses[1].root / "records")
    rows = grade_courses(folder, ["m01"], GradingOptions(jobs=1))  # one process has both courses
    assert [(row.name, row.well, len(row.outcome.graded)) for row in rows] == [
        ("earth", True, 2),
        ("moon", True, 2),
    ]
    found = [{g.student: replace(g, runtime={}).to_json() for g in r.outcome.grades} for r in rows]
    assert found == right
    assert found[0] != found[1]
    assert [row.outcome.up_to_date for row in grade_courses(folder)] == [2, 2]


def test_a_broken_course_is_one_sentence_and_the_others_go_on(folder):
    broken(folder, "a_config", "1 / 0")
    broken(folder, "b_exit", "import sys; sys.exit()")
    shutil.rmtree(broken(folder, "c_release").folder("release"))
    (broken(folder, "d_cells").folder("release") / A / f"{A}.ipynb").write_text('{"cells": 3}')
    (broken(folder, "e_book").root / "gradebook.db").write_text("none" * 999)
    broken(folder, "f_address", "c.CourseDirectory.db_url = 5")
    shutil.rmtree(broken(folder, "g_empty").folder("submitted"))
    broken(folder, "h_limits", "c.Course.limits = {'cell_secs': 3}")
    locked = broken(folder, "i_locked").root / "records"
    locked.mkdir(exist_ok=True)
    with (locked / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = CliRunner().invoke(app, ["grade", "--all-courses", "--course", str(folder)])
    said = {
        name: text
        for name, _, text in (line.partition(": ") for line in done.output.splitlines())
        if (folder / name).is_dir()
    }
    assert {name: text for name, text in said.items() if name in ("earth", "moon")} == {}
    expected = {
        "a_config": "division by zero",
        "b_exit": "can't be read",
        "c_release": "run `autograder generate m01_motion`",
        "d_cells": "run `autograder generate m01_motion`",
        "e_book": "restore it from a backup",
        "f_address": "no address of a database",
        "g_empty": "there are no submissions",
        "h_limits": "did you mean 'cell_seconds'",
        "i_locked": "is grading this course",
    }
    assert said.keys() == expected.keys()
    assert [name for name, text in expected.items() if text not in said[name]] == []
    assert done.exit_code == 1
    assert [len(list((folder / n / "records").glob("*/*.json"))) for n in ("earth", "moon")] == [
        2,
        2,
    ]


def test_a_course_without_submissions_is_no_fault(folder):
    for name in ("earth", "moon"):
        shutil.rmtree(folder / name / "submitted")
    rows = grade_courses(folder)
    assert [row.well for row in rows] == [True, True]
    assert list(courses_table(rows).columns[-1].cells) == ["nothing handed in"] * 2


def test_a_fault_of_the_engine_costs_the_other_courses_nothing(folder, monkeypatch):
    def failing(course, *_, **__):
        if course.root.name == "earth":
            raise RuntimeError("oops")
        return Outcome(course)

    monkeypatch.setattr("autograder.delivery.department.all_courses.grade_and_save", failing)
    earth, moon = grade_courses(folder)
    assert "RuntimeError: oops" in earth.reason
    assert (earth.well, moon.well) == (False, True)


def test_a_process_that_is_lost_is_lost_to_one_course_alone(folder):
    course, other = (Course.load(folder / name) for name in ("earth", "moon"))
    work = submissions(course, A)
    with Pool(1) as pool:
        with Processes(course, pool, shared=True) as graders:
            pool._executor.submit(os._exit, 1)
            with pytest.raises(BrokenExecutor):
                graders.submit(job_of(work[0], Release.load(course, A))).result()
        done = grade_class(
            other, submissions(other, A), GradingOptions(jobs=1), open_graders=sharing(pool)(other)
        )
        assert len(records(done)) == 2


@pytest.mark.parametrize(
    ("place", "says"),
    [("earth", "is a course, and --all-courses takes"), ("earth/submitted", "no folder in")],
)
def test_a_folder_that_holds_no_courses_is_refused(folder, place, says):
    with pytest.raises(CourseError, match=says):
        grade_courses(folder / place)
