"""A grader may be killed at any moment: the same command again completes its work."""

import fcntl
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course, CourseError
from autograder.course.submissions.handed_in import submissions
from autograder.course.submissions.keys import Keys
from autograder.course.submissions.records import kept
from autograder.delivery.department.grading import grade_and_save
from autograder.delivery.nbgrader.marks import scores

from ..courses import MOTION as A
from ..courses import runtimes
from ..processes import descendants, gone

pytestmark = [pytest.mark.sandbox, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
GRADE = "from autograder.cli import main; main()"
# Kills the grader in the nth call of a function, before or after it does its work. The six
# submissions are saved in two transactions.
KILLED = """
import os, signal, sys
from importlib import import_module
import_module("autograder.delivery.department.grading").BATCH = 4
_, module, name, n, when, *arguments = sys.argv
module = import_module(module)
original = getattr(module, name)
calls = 0
def wrapped(*args, **kwargs):
    global calls
    calls += 1
    if calls == int(n) and when == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    result = original(*args, **kwargs)
    if calls >= int(n):  # the nth itself may have raised
        os.kill(os.getpid(), signal.SIGKILL)
    return result
setattr(module, name, wrapped)
sys.argv[1:] = arguments
from autograder.cli import main
main()
"""


FOLDERS = ("records", "autograded")


@pytest.fixture(scope="module")
def in_one_go(shared_course):
    """A class of honest submissions that nobody disturbed, and the marks of its cells."""
    simulate(shared_course, A, 9)
    for student in ("student_004", "student_005", "student_006"):
        shutil.rmtree(shared_course.folder("submitted") / student)
    grade_and_save(shared_course, [A])
    given = {student: mark.cells for student, mark in scores(shared_course, A).items()}
    for folder in FOLDERS:
        shutil.rmtree(shared_course.root / folder)
    (shared_course.root / "gradebook.db").unlink()
    return shared_course, given


@pytest.fixture
def handed(in_one_go, tmp_path):
    """The same class, not graded yet."""
    return Course.load(shutil.copytree(in_one_go[0].root, tmp_path / "course"))


@pytest.fixture
def given(in_one_go):
    """What each cell of theirs gets."""
    return in_one_go[1]


def start(course, code, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments, "grade", A, "--jobs", "2"],
        cwd=course.root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def consistent(course):
    """Check that all there is on disk can be used, and that records are in the gradebook."""
    for path in course.folder("autograded").rglob("*.ipynb"):
        assert json.loads(path.read_bytes())["cells"]
    database = course.root / "gradebook.db"
    if database.exists():
        with sqlite3.connect(database) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert connection.execute("SELECT * FROM alembic_version").fetchone()
        connection.close()
    records = {path.parent.name for path in (course.root / "records").glob(f"*/{A}.json")}
    if records:
        marks = scores(course, A)
        for student in records:
            record = json.loads(course.record(student, A).read_text())
            assert marks[student].score == record["score"]


def complete(course, seen, given):
    """Grade to the end, and compare with a class that was graded in one go."""
    process = start(course, GRADE)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    consistent(course)
    after = runtimes(course)
    assert after.keys() == {handed.student for handed in submissions(course, A)}
    assert {student: after[student] for student in seen} == seen  # not run a second time
    assert [p for f in FOLDERS for p in (course.root / f).rglob("*.part")] == []
    assert [p for p in (course.root / "records" / ".unsaved").rglob("*") if p.is_file()] == []
    assert {student: mark.cells for student, mark in scores(course, A).items()} == given


def test_killed_at_random_moments(handed, given):
    rng = random.Random(20)
    seen = {}
    for _ in range(6):
        process = start(handed, GRADE)
        time.sleep(rng.uniform(0.2, 4))
        children = descendants(process.pid)
        process.kill()
        process.communicate()
        deadline = time.monotonic() + 10
        while not all(map(gone, children)):
            assert time.monotonic() < deadline, "a process outlives the grader"
            time.sleep(0.02)
        consistent(handed)
        now = runtimes(handed)
        assert {student: now[student] for student in seen} == seen
        seen = now
    complete(handed, seen, given)


@pytest.mark.parametrize(
    ("module", "name", "n", "when"),
    [
        ("autograder.delivery.nbgrader.database", "_make", 1, "after"),
        ("autograder.delivery.nbgrader.gradebook", "register", 1, "after"),
        ("autograder.delivery.nbgrader.gradebook", "_write_autograded", 3, "after"),
        ("autograder.delivery.nbgrader.gradebook", "_save_assignment", 1, "after"),
        ("autograder.delivery.nbgrader.gradebook", "_save_assignment", 2, "before"),
        ("autograder.delivery.nbgrader.entering", "move_record", 1, "before"),
        ("autograder.delivery.nbgrader.entering", "move_record", 2, "after"),
        ("autograder.course.files", "_part_of", 4, "after"),
        ("autograder.course.submissions.records", "write_in_place", 5, "after"),
        ("autograder.delivery.nbgrader.gradebook", "move_notebook", 3, "after"),
    ],
)
def test_killed_at_the_worst_moments(handed, given, module, name, n, when):
    process = start(handed, KILLED, module, name, str(n), when)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL, output
    time.sleep(1)
    consistent(handed)
    complete(handed, runtimes(handed), given)


def test_what_was_graded_is_not_lost_when_the_submission_changes(handed):
    process = start(handed, KILLED, "autograder.delivery.nbgrader.gradebook", "save", "1", "before")
    process.communicate(timeout=120)
    found = submissions(handed, A)  # whichever of them were graded first
    first = next(each for each in found if kept(handed, each, Keys(handed).of(each)))
    first.path.write_text(first.path.read_text().replace("seconds = ", "seconds = 2, #"))
    assert kept(handed, first, Keys(handed).of(first)) is None
    grade_and_save(handed, [A])
    consistent(handed)


def test_a_second_grader_says_so(handed):
    lock = handed.root / "records" / ".lock"
    lock.parent.mkdir()
    with lock.open("w") as file:
        file.write("number 77\n")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(CourseError, match=r"another process \(number 77\) is grading"):
            grade_and_save(handed, [A])
        process = start(handed, GRADE)
        output, _ = process.communicate(timeout=60)
        assert process.returncode == 1
        assert "is grading this course" in " ".join(output.split())
    assert len(grade_and_save(Course.load(handed.root), [A]).graded) == 6
