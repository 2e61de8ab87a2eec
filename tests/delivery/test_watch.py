"""Whoever puts notebooks where they are watched for finds them graded, once, whatever happens."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from autograder.course.classes.expected import expected_scores
from autograder.course.classes.simulate import simulate
from autograder.course.config import Course, CourseError
from autograder.course.lock import watching
from autograder.delivery.department import arrivals
from autograder.delivery.department.releasing import hand_out
from autograder.delivery.department.watch import Watcher, watch
from autograder.delivery.nbgrader.database import small_text
from autograder.delivery.nbgrader.exchange import inbound
from autograder.delivery.nbgrader.marks import scores
from autograder.delivery.pages.feedback import page_of

from ..courses import MOTION, runtimes

A = "a01_tiny"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Two looks a moment apart are enough for files that a test writes at once."""
    monkeypatch.setattr(arrivals, "SETTLE", 0.01)
    monkeypatch.setattr(arrivals, "PATIENCE", 0.0)


@pytest.fixture
def engine(monkeypatch, graded, save):
    """Take the engine's place where only what happens around it matters; give whom it graded."""
    done = []

    def grade_and_save(course, ids, options):
        from autograder.course.submissions.handed_in import submissions
        from autograder.delivery.department.grading import Outcome

        now = [(h.student, h.assignment) for id in ids for h in submissions(course, id)]
        new = [names for names in now if names[0] in options.students]
        save(course, *(graded(student) for student, _ in new))
        done.extend(student for student, _ in new)
        return Outcome(course, new)

    monkeypatch.setattr("autograder.delivery.department.watch.grade_and_save", grade_and_save)
    return done


@pytest.fixture
def inbox(tmp_path, released):
    """Return a function that puts a notebook into the folder that is watched."""
    root = tmp_path / "inbox"
    root.mkdir()

    def put(student="", text=None):
        if student:
            path = root / f"{student}.ipynb"
            path.write_text(json.dumps(released()) if text is None else text)
        return root

    return put


NO_DUE = (
    "feedback is not published, since it has no due date: give it one, or say --feedback now, or "
    'c.Course.watch_feedback = "now" in course_config.py'
)


def watching_for(course, source, lines, **options):
    return Watcher(course.root, [A], source, say=lines.append, **options)


def test_what_arrives_in_a_folder_is_graded_once(tiny, inbox, engine):
    lines = []
    work = watching_for(tiny, inbox("ada"), lines)
    assert work.once()
    assert work.once()
    inbox("bob")
    assert work.once()
    assert engine == ["ada", "bob"]
    assert lines == [
        "collected: 1 new, 0 updated",
        f"{A}: 1 graded",
        f"{A}: {NO_DUE}",
        "collected: 1 new, 0 updated",
        f"{A}: 1 graded",
    ]


def test_half_a_notebook_is_waited_for_and_named(tiny, inbox, engine, released):
    whole = json.dumps(released())
    lines = []
    inbox("ada")
    work = watching_for(tiny, inbox("bob", whole[: len(whole) // 2]), lines)
    work.once()
    assert engine == ["ada"]
    assert lines[0].startswith("bob.ipynb: it holds no JSON: half of a notebook, or none")
    work.once()
    assert sum("bob" in line for line in lines) == 1  # said once
    inbox("bob")
    work.once()
    assert engine == ["ada", "bob"]


def test_a_file_that_still_grows_is_waited_for(tiny, inbox, engine, monkeypatch):
    file = inbox("ada") / "ada.ipynb"
    monkeypatch.setattr(arrivals.time, "sleep", lambda _: file.write_text(file.read_text() + " "))
    lines = []
    work = watching_for(tiny, inbox(), lines)
    work.once()
    assert engine == []
    assert lines == ["ada.ipynb: it is still being written; it is taken when it is all there"]
    monkeypatch.setattr(arrivals.time, "sleep", lambda _: None)
    work.once()
    assert engine == ["ada"]


def test_a_pipe_is_named_and_nobody_waits_for_it(tiny, inbox, engine):
    os.mkfifo(inbox("ada") / "eve.ipynb")
    lines = []
    watching_for(tiny, inbox(), lines).once()
    assert engine == ["ada"]
    assert "eve.ipynb: it is no ordinary file." in lines


def test_feedback_is_published_when_the_course_says(tiny, inbox, engine, configure):
    due = '"due": "{} 01:00 UTC"'

    def course(date, when="due"):
        listed = f'c.Course.assignments = [{{"id": "{A}", "title": "T", {due.format(date)}}}]'
        return configure(tiny.root, listed, f'c.Course.watch_feedback = "{when}"')

    def published(found, **options):
        from autograder.course.release.handed_out import Release
        from autograder.delivery.nbgrader.gradebook import register

        register(found, A, Release.load(found, A).notebook)
        work = watching_for(found, inbox("ada"), lines := [], **options)
        work.once()
        return page_of(found, "ada", A).is_file(), lines

    there, lines = published(course("2999-01-01"))
    assert not there
    assert lines[-1] == (
        f"{A}: feedback is published after 2999-01-01 01:00 UTC and the last extension of it"
    )
    assert not published(course("2999-01-01", "never"), feedback="due")[0]
    there, lines = published(course("2001-01-01"))
    assert there
    assert lines[-1] == f"{A}: feedback of 1 published"
    page_of(tiny, "ada", A).unlink()  # as of a watch that was killed before it wrote the page
    assert published(course("2999-01-01"), feedback="now")[0]
    with pytest.raises(
        CourseError, match="watch_feedback is 'later'; it is one of now, due, never"
    ):
        published(course("2999-01-01", "later"))


def test_feedback_is_published_again_where_the_clock_was_set_back(tiny, inbox, engine, released):
    lines = []
    work = watching_for(tiny, inbox("ada"), lines, feedback="now")
    tomorrow = time.time() + 86400
    work.once()
    for path in tiny.root.rglob("*"):
        os.utime(path, (tomorrow, tomorrow))
    inbox("ada", json.dumps(released() | {"metadata": {"changed": 1}}))
    os.utime(inbox() / "ada.ipynb", (tomorrow + 1, tomorrow + 1))
    before = page_of(tiny, "ada", A).stat().st_ino
    lines.clear()
    work.once()
    assert engine == ["ada", "ada"]
    assert lines[-1] == f"{A}: feedback of 1 published"
    assert page_of(tiny, "ada", A).stat().st_ino != before
    lines.clear()
    work.once()
    assert lines == []


def test_a_second_watch_says_so_and_a_person_s_grading_is_waited_for(tiny, inbox, engine):
    with (
        watching(tiny),
        pytest.raises(CourseError, match=r"number \d+\) watches this course already"),
    ):
        watch(watching_for(tiny, inbox(), []), every=1, once=True)
    assert watch(watching_for(tiny, inbox("ada"), []), every=1, once=True)


def test_what_can_not_be_used_is_said_once_and_tried_again(tiny, inbox, engine, monkeypatch):
    lines, naps = [], []
    work = watching_for(tiny, inbox("ada"), lines)
    away = inbox().rename(inbox().with_name("away"))

    def nap(seconds):
        naps.extend([seconds] if seconds == 7 else [])
        if seconds == 7 and len(naps) == 2:
            away.rename(inbox())
        if len(naps) == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("autograder.delivery.department.watch.time.sleep", nap)
    assert watch(work, every=7, once=False)
    assert engine == ["ada"]
    said = [line[9:] for line in lines]
    assert said[1].endswith("is no folder: make it, or name another with --from; it is tried again")
    assert said[2:] == [
        "collected: 1 new, 0 updated",
        f"{A}: 1 graded",
        f"{A}: {NO_DUE}",
        "stopped; the next watch goes on here",
    ]


@pytest.mark.slow
# nbgrader leaves a file open when it releases feedback
@pytest.mark.filterwarnings("ignore:.*unclosed file", "ignore:Exception ignored in.*FileIO")
def test_the_exchange_is_watched_and_feedback_goes_back(
    tiny, nbgrader, engine, tmp_path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    lines = []
    work = watching_for(tiny, "exchange", lines, feedback="now")
    assert work.once()  # nothing is released yet
    hand_out(tiny, [A], "exchange")
    student = tmp_path / "home"
    student.mkdir()
    as_ada = ("--course", tiny.id, f"--Exchange.root={tmp_path / 'exchange'}")
    nbgrader(student, "fetch_assignment", A, *as_ada)
    nbgrader(student, "submit", A, "--student=ada", *as_ada)
    (sent,) = inbound(tiny).iterdir()
    secret = (sent / "submission_secret.txt").rename(tmp_path / "secret")  # not all there yet
    assert work.once()
    assert "it is still being handed in" in lines[-1]
    assert engine == []
    secret.rename(sent / "submission_secret.txt")
    assert work.once()
    assert engine == ["ada"]
    assert small_text(tiny.submission("ada", A).with_name("submission_secret.txt"))
    nbgrader(student, "fetch_feedback", A, *as_ada)
    (fetched,) = (student / A / "feedback").glob(f"*/{A}.html")
    assert fetched.read_text() == page_of(tiny, "ada", A).read_text()


def started(course, source, *more):
    code = "from autograder.cli import main; main()"
    options = ["watch", MOTION, "--from", str(source), "--feedback", "now", "--jobs", "2", *more]
    return subprocess.Popen(
        [sys.executable, "-c", code, *options],
        cwd=course.root,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.mark.slow
@pytest.mark.sandbox
def test_killed_at_random_moments_nothing_is_lost_and_nothing_graded_twice(course, tmp_path):
    simulate(course, MOTION, 8)
    for hang in ("student_003", "student_004", "student_005", "student_006"):
        shutil.rmtree(course.folder("submitted") / hang)
    expected = {
        student: sum(each.score for each in exercises.values())
        for student, exercises in expected_scores(course)[MOTION].items()
        if course.submission(student, MOTION).is_file()
    }
    queue = [course.submission(student, MOTION) for student in sorted(expected)]
    waiting = shutil.move(course.folder("submitted"), tmp_path / "waiting")
    source = tmp_path / "inbox"
    source.mkdir()

    def arrive():
        for path in queue:
            time.sleep(2)
            name = f"{path.parents[1].name}.ipynb"
            shutil.copy(waiting / path.relative_to(course.folder("submitted")), source / name)

    arriving = threading.Thread(target=arrive)
    arriving.start()
    rng, seen = random.Random(13), {}
    for _ in range(3):
        process = started(course, source, "--every", "1")
        time.sleep(rng.uniform(2, 7))
        process.kill()
        process.communicate()
        now = runtimes(course)
        assert {student: now[student] for student in seen} == seen  # nothing was run again
        seen = now
    arriving.join()
    process = started(course, source, "--every", "1")
    assert "watching" in process.stdout.readline()  # from now on a signal ends it well
    deadline = time.monotonic() + 60
    while not all(page_of(course, student, MOTION).is_file() for student in expected):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    process.terminate()
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 0, output
    assert output.splitlines()[-1].endswith("stopped; the next watch goes on here")
    after = runtimes(course)
    assert {student: after[student] for student in seen} == seen
    assert {s: m.score for s, m in scores(Course.load(course.root), MOTION).items()} == expected
    process = started(course, source, "--once")  # cron's: there is nothing left to do
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, runtimes(course)) == (0, after), output
