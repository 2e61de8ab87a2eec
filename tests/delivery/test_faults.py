"""What fails a grading run is said in a sentence, loses nothing, and the next run completes it."""

import errno
import os
import shutil
import sqlite3
import time

import pytest

from autograder.course import files
from autograder.course.classes.simulate import simulate
from autograder.course.config import Course, CourseError
from autograder.course.graders.serial import Serial
from autograder.delivery.department.grading import grade_and_save
from autograder.delivery.nbgrader.marks import scores

from ..courses import MOTION as A

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]


def grade(course):
    return grade_and_save(course, [A], open_graders=lambda _: Serial(course))


def marks(course):
    return {student: mark.cells for student, mark in scores(course, A).items()}


@pytest.fixture(scope="module")
def class_of_two(shared_course):
    """A graded class, and its marks."""
    simulate(shared_course, A, 2)
    grade(shared_course)
    return shared_course, marks(shared_course)


@pytest.fixture
def graded(class_of_two, tmp_path):
    """A copy of the class that may be damaged."""
    return Course.load(shutil.copytree(class_of_two[0].root, tmp_path / "course"))


@pytest.fixture
def handed(graded):
    """The same, not graded yet."""
    for folder in ("records", "autograded"):
        shutil.rmtree(graded.root / folder)
    (graded.root / "gradebook.db").unlink()
    return graded


@pytest.fixture
def right(class_of_two):
    """The marks of an undisturbed run."""
    return class_of_two[1]


def completed(course, right):
    """Grade to the end; tell whether all is as without the fault."""
    assert grade(course).problems == []
    parts = list(course.root.rglob("*.part"))
    return marks(course) == right and not parts and grade(course).up_to_date == 2


@pytest.mark.parametrize("name", ["records/*/*.json", "autograded/*/*/*.ipynb"])
def test_what_is_half_written_is_made_again(graded, right, name):
    for path in graded.root.glob(name):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    shutil.rmtree(graded.root / "autograded" / "student_001")
    assert completed(graded, right)


def test_a_gradebook_that_another_program_locks_is_waited_for_by_nobody(graded, right):
    shutil.rmtree(graded.root / "records")
    config = graded.root / "course_config.py"
    url = f"sqlite:///{graded.root / 'gradebook.db'}?timeout=0.1"
    config.write_text(f"{config.read_text()}\nc.CourseDirectory.db_url = {url!r}\n")
    impatient = Course.load(graded.root)
    holder = sqlite3.connect(graded.root / "gradebook.db")
    holder.execute("BEGIN EXCLUSIVE")
    try:
        with pytest.raises(CourseError, match="is locked.*another program is writing to it"):
            grade(impatient)
    finally:
        holder.close()
    assert completed(impatient, right)


@pytest.mark.parametrize("after", [1, 6])
def test_a_disk_that_is_full_is_said_and_made_room_on(handed, right, monkeypatch, after):
    usual, calls = files._opened, []

    def full(*args, **options):
        calls.append(args)
        if len(calls) > after:
            raise OSError(errno.ENOSPC, "No space left on device")
        return usual(*args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(files, "_opened", full)
        with pytest.raises((CourseError, OSError), match="No space left on device"):
            grade(handed)
    assert completed(handed, right)


def test_a_clock_that_was_set_back_changes_nothing(graded, right):
    tomorrow = time.time() + 86400
    for path in graded.root.rglob("*"):
        os.utime(path, (tomorrow, tomorrow))
    again = graded.submission("student_001", A)
    again.write_bytes(again.read_bytes() + b"\n")
    outcome = grade(graded)
    assert outcome.graded == [("student_001", A)]
    assert completed(graded, right)
