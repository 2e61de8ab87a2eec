"""Who grades is a door: the same job gives the same grade, whoever does it, and is lost by none."""

import os
import pickle
from concurrent.futures import BrokenExecutor, Future
from dataclasses import replace

import pytest

from autograder.course.classes.classroom import grade_class
from autograder.course.classes.simulate import simulate
from autograder.course.config import CourseError
from autograder.course.graders.pool import Pool
from autograder.course.graders.processes import Processes
from autograder.course.graders.serial import Serial
from autograder.course.release.handed_out import Release
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.grading_options import GradingOptions
from autograder.course.submissions.handed_in import Handed, submissions
from autograder.course.submissions.job import job_of
from autograder.course.submissions.keys import Keys
from autograder.grading.results import Grade
from autograder.sandbox.isolation import TIERS, Isolation

from ..courses import MOTION as A


@pytest.fixture
def work(course):
    simulate(course, A, 3)
    return submissions(course, A)


def records(found):
    return {g.grade.student: replace(g.grade, runtime={}).to_json() for g in found}


def job(course, handed):
    return job_of(handed, Release.load(course, A), key="k")


def test_a_grader_refuses_a_machine_that_isolates_too_little(course, work):
    course = replace(course, minimum_tier="A")
    with (
        Grader(course, isolation=Isolation("B")) as grader,
        pytest.raises(CourseError, match="demands isolation tier A"),
    ):
        grader.grade_job(job(course, work[0]))


def test_what_is_no_known_tier_isolates_nothing():
    assert not Isolation("D").isolates
    assert [tier for tier in TIERS if Isolation(tier).isolates] == ["A", "A-", "B"]


@pytest.mark.parametrize(("asked", "taken"), [(None, 1), ("3", 2)])
def test_a_grader_takes_one_thread_unless_more_are_asked_for(course, monkeypatch, asked, taken):
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    torch.set_num_threads(2)  # as whoever has loaded it before, on a machine of two processors
    monkeypatch.delenv("OMP_NUM_THREADS")
    if asked:
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
    try:
        Grader(course).close()
        assert os.environ["OMP_NUM_THREADS"] == (asked or "1")  # for what is loaded later
        assert torch.get_num_threads() == taken
    finally:
        torch.set_num_threads(before)


@pytest.mark.sandbox
def test_processes_and_one_grader_here_give_the_same_records(course, work):
    found = [
        records(grade_class(course, work, GradingOptions(force=True), open_graders=open_graders))
        for open_graders in (lambda _: Serial(course), lambda width: Processes(course, Pool(width)))
    ]
    assert found[0] == found[1]
    assert len(found[0]) == 3


@pytest.mark.sandbox
def test_a_job_travels_without_the_files_that_it_was_read_from(course, work):
    travelled = pickle.loads(pickle.dumps(job(course, work[0])))
    assert str(course.root) not in repr(travelled)
    work[0].path.unlink()
    with Serial(course) as graders:
        graded = graders.submit(travelled).result()
    assert graded.key == "k"
    assert graded.grade.score > 0


def test_what_cannot_be_read_travels_as_a_sentence(course, work):
    work[0].path.write_bytes(b"")
    work[1].path.unlink()
    work[1].path.symlink_to("elsewhere")
    assert job(course, work[1]).unreadable.startswith("The file is a symbolic link")
    with Grader(course) as grader:
        for handed in work[:2]:
            graded = grader.grade_job(job(course, handed))
            assert graded.grade.score == 0
            assert "unreadable_submission" in str(graded.grade.to_json())


class Fragile:
    """Graders that are lost by the second submission, and by what was barred not yet."""

    room, judging = 4, "fall.time"

    def __init__(self, done, knows):
        self.done, self.judging = done, "fall.time" if knows else ""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def finish(self):
        pass

    def submit(self, job):
        future = Future()
        self.done.append(job)
        if job.student == "student_002" and not job.barred:
            future.set_exception(BrokenExecutor())
        else:
            future.set_result(Graded.of(Grade(A, job.student, "A", []), {"cells": []}, job.key))
        return future


@pytest.mark.parametrize("knows", [True, False])
def test_who_ends_graders_costs_the_others_nothing(course, work, knows):
    done = []
    found = {
        g.grade.student: g.grade
        for g in grade_class(
            course, work, GradingOptions(jobs=2), open_graders=lambda _: Fragile(done, knows)
        )
    }
    assert sorted(found) == [handed.student for handed in work]
    assert [exercise.status for exercise in found["student_001"].exercises] == []
    bad = found["student_002"].exercises
    assert bad == [] if knows else {e.status.value for e in bad} == {"errored"}
    assert {job.barred for job in done if job.student == "student_002"} == (
        {(), ("fall.time",)} if knows else {()}
    )


def test_only_as_many_submissions_are_read_as_graders_need(course, work, monkeypatch):
    read = []
    monkeypatch.setattr(
        "autograder.course.classes.classroom.job_of",
        lambda handed, *_, **more: read.append(handed) or job_of(handed, *_, **more),
    )
    many = [Handed(f"s{i}", A, work[0].path) for i in range(20)]
    grading = grade_class(
        course, many, GradingOptions(jobs=2), open_graders=lambda _: Fragile([], True)
    )
    next(grading)
    assert len(read) <= 4


def test_graders_are_at_work_before_the_class_is_looked_through(course, work):
    done, seen = [], []

    def look(up_to_date):
        seen.append((list(up_to_date), len(done)))
        return []

    def open_graders(_):
        return Fragile(done, True)

    grading = grade_class(
        course, work, GradingOptions(jobs=1), open_graders=open_graders, meanwhile=look
    )
    graded = [next(grading)]
    assert seen == [([], 1)]  # with the first submission given out, and before its grade is known
    assert len([*graded, *grading]) == len(work)
    assert len(seen) == 1


def test_where_nothing_is_due_no_graders_are_opened(course, work, monkeypatch):
    monkeypatch.setattr(
        "autograder.course.classes.classroom.recorded_key", lambda _, h: Keys(course).of(h)
    )
    asked, opened = [], []

    def graders(_):
        opened.append(True)
        return Fragile([], True)

    def look(up_to_date):
        asked.extend(up_to_date)
        return lost

    lost = []
    assert list(grade_class(course, work, open_graders=graders, meanwhile=look)) == []
    assert (asked, opened) == (work, [])
    lost = work[:1]  # of which the gradebook knows nothing
    (graded,) = grade_class(course, work, open_graders=graders, meanwhile=look)
    assert graded.grade.student == work[0].student
