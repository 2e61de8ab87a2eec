"""Jobs that go to a cluster's workers together: many while there are many, one after a loss."""

import subprocess
import sys
from concurrent.futures import CancelledError
from itertools import count

import pytest

from autograder.course.graders import EndsGraders
from autograder.course.graders.batches import Pace
from autograder.course.graders.cluster import Cluster
from autograder.course.graders.greeting import GreetedWorker
from autograder.course.graders.messages import SECRET, packed_grades, unpacked_jobs
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.job import Job
from autograder.grading.results import Grade

KEY = b"k" * 32


class Asked:
    """Dask's future of a batch, which the test answers."""

    def __init__(self, jobs, worker):
        self.jobs = [job.student for job in unpacked_jobs(jobs, KEY)]
        self.worker, self.status, self._told = worker, "pending", []

    def add_done_callback(self, tell):
        self._told.append(tell)

    def cancel(self):
        self.status = "cancelled"

    def result(self):
        if self.status == "cancelled":
            raise CancelledError
        return self._result

    def answer(self, *, without=(), seconds=0.1, result=None):
        found = [
            None
            if student in without
            else Graded.of(
                Grade("m01", student, "A", [], [], {"seconds": seconds}), {"cells": []}, "k"
            )
            for student in self.jobs
        ]
        self._result = packed_grades(found, KEY) if result is None else result
        self.end("finished")

    def end(self, status):
        self.status = status
        for tell in self._told:
            tell(self)


class Client:
    """Dask's, with workers that do nothing by themselves."""

    def __init__(self):
        self.asked = []

    def submit(self, _function, _digest, _proof, jobs, *, workers, **_):
        self.asked.append(Asked(jobs, *workers))
        return self.asked[-1]

    @property
    def sizes(self):
        return [len(asked.jobs) for asked in self.asked]

    def open(self):
        return [asked for asked in self.asked if asked.status == "pending"]


@pytest.fixture
def graders(course, monkeypatch):
    """Two workers of a cluster, each one job wide."""
    monkeypatch.setenv(SECRET, "a long random text")
    cluster = Cluster(course, "tcp://127.0.0.1:1", insecure=True)
    cluster._client = Client()
    for name in ("one", "two"):
        cluster._workers[name] = GreetedWorker(name, 1, "p", KEY)
    return cluster


@pytest.fixture
def fast(graders):
    """The same, once it is known that a job takes 0.1 s: sixteen of them go at once."""
    graders._pace.took(0.1)
    return graders


_NAMES = count()


def submitted(graders, number):
    """Submit so many jobs; return their futures by student."""
    jobs = [Job(f"s{next(_NAMES)}", "m01") for _ in range(number)]
    return {job.student: graders.submit(job) for job in jobs}


def grades(futures):
    return {student for student, future in futures.items() if future.result(0).grade.student}


def answer_all(graders, **how):
    while open := graders._client.open():
        open[0].answer(**how)


def test_who_asks_imports_no_algebra():
    code = "import sys, autograder.course.graders.cluster; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_is_not_known_to_be_short_goes_singly(graders):
    futures = submitted(graders, graders.room)
    assert graders._client.sizes == [1] * 4
    graders.finish()
    answer_all(graders, seconds=2.0)
    assert graders._client.sizes == [1] * 6
    assert grades(futures) == set(futures)


@pytest.mark.parametrize(("seconds", "size"), [(0.001, 16), (0.1, 16), (0.3, 5), (0.9, 2), (60, 1)])
def test_a_batch_takes_a_second_or_two(seconds, size):
    pace = Pace()
    for _ in range(3):
        pace.took(seconds)
    assert pace.most == size


def test_one_long_job_among_short_ones_makes_batches_small():
    pace = Pace()
    for _ in range(9):
        pace.took(0.1)
    pace.took(10.0)
    assert pace.most == 1


def test_while_jobs_come_batches_are_full_and_the_last_ones_small(fast):
    futures = submitted(fast, 60)
    sizes = fast._client.sizes
    assert sizes == [1, 16, 16, 16]  # the first one waits for nothing
    fast.finish()
    answer_all(fast)
    assert grades(futures) == set(futures)
    rest = fast._client.sizes[4:]
    assert sum(rest) == 11
    assert rest == sorted(rest, reverse=True)
    assert rest[-2:] == [1, 1]


def test_what_waits_for_a_full_batch_does_not_wait_for_ever(fast):
    """Where nobody says that no more jobs come."""
    futures = submitted(fast, 4)
    answer_all(fast)
    assert grades(futures) == set(futures)


def test_there_is_always_room_for_full_batches(fast):
    submitted(fast, fast.room)
    fast._client.asked[0].answer()
    assert fast._client.sizes == [1, 16, 16, 16, 16]


def test_however_many_workers_there_are_memory_is_bounded(fast):
    fast._workers |= {f"{i}": GreetedWorker(f"{i}", 1, "p", KEY) for i in range(254)}
    assert fast.room == 2000
    futures = submitted(fast, fast.room)
    assert fast._client.sizes == [1, *[16] * 124]
    fast.finish()
    answer_all(fast)
    assert grades(futures) == set(futures)


def batch_of(graders, futures):
    """Return the first batch that holds several jobs."""
    return next(asked for asked in graders._client.open() if len(asked.jobs) > 1)


def test_after_a_death_the_jobs_of_a_batch_are_asked_singly_and_each_once(fast):
    futures = submitted(fast, 41)
    dead = batch_of(fast, futures).worker
    theirs = [asked for asked in fast._client.open() if asked.worker == dead]
    lost = [student for asked in theirs for student in asked.jobs]
    before = len(fast._client.asked)
    fast._lost(fast._workers.pop(dead))
    fast.finish()
    answer_all(fast)
    again = fast._client.asked[before:]
    assert sorted(asked.jobs[0] for asked in again if asked.jobs[0] in lost) == sorted(lost)
    assert all(len(asked.jobs) == 1 for asked in again if asked.jobs[0] in lost)
    assert grades(futures) == set(futures)


def test_a_suspect_has_a_worker_for_itself(fast):
    submitted(fast, 41)
    fast._lost(fast._workers.pop("one"))
    fast.finish()
    suspects = {number for number, task in fast._tasks._open.items() if task.failures}
    while open := fast._client.open():
        running = [batch.numbers for batch in fast._workers["two"].running]
        if any(set(numbers) & suspects for numbers in running):
            assert len(running) == 1
            assert len(running[0]) == 1
        open[0].answer()
    assert not suspects & fast._tasks._open.keys()


def test_a_job_that_ends_workers_takes_no_neighbour_with_it(fast):
    futures = submitted(fast, 41)
    poison = batch_of(fast, futures).jobs[3]
    fast.finish()
    deaths = 0
    while open := fast._client.open():
        if poison in open[0].jobs:
            deaths += 1
            fast._workers["new"] = GreetedWorker("new", 1, "p", KEY)
            fast._lost(fast._workers.pop(open[0].worker))
            fast._workers[open[0].worker] = fast._workers.pop("new")
            fast._workers[open[0].worker].address = open[0].worker
            fast._hand_out()
        else:
            open[0].answer()
    assert deaths == 2
    with pytest.raises(EndsGraders):
        futures.pop(poison).result(0)
    assert grades(futures) == set(futures)


def test_what_comes_to_nothing_costs_its_neighbours_nothing(fast):
    futures = submitted(fast, 41)
    batch = batch_of(fast, futures)
    failing = batch.jobs[4]
    batch.answer(without={failing})
    assert all(futures[student].done() for student in batch.jobs if student != failing)
    assert not futures[failing].done()
    fast.finish()
    answer_all(fast)  # elsewhere it goes well
    assert sum(failing in asked.jobs for asked in fast._client.asked) == 2
    assert grades(futures) == set(futures)


def test_what_comes_to_nothing_twice_is_given_up(fast):
    futures = submitted(fast, 41)
    failing = batch_of(fast, futures).jobs[4]
    fast.finish()
    answer_all(fast, without={failing})
    with pytest.raises(EndsGraders):
        futures.pop(failing).result(0)
    assert grades(futures) == set(futures)


@pytest.mark.parametrize(
    "result",
    [b"", "text", packed_grades([], KEY), packed_grades([None] * 17, KEY)],
    ids=["nothing", "a text", "none of them", "one too many"],
)
def test_an_answer_that_does_not_fit_is_none(fast, result):
    futures = submitted(fast, 41)
    batch = batch_of(fast, futures)
    batch.answer(result=result)
    assert not any(futures[student].done() for student in batch.jobs)
    fast.finish()
    answer_all(fast)
    assert grades(futures) == set(futures)


def test_what_a_lost_connection_called_off_is_no_fault_of_a_job_s(fast):
    futures = submitted(fast, 41)
    for asked in fast._client.open():
        asked.end("cancelled")
    fast._recover()
    fast._hand_out()
    assert not any(task.failures for task in fast._tasks._open.values())
    fast.finish()
    answer_all(fast)
    assert grades(futures) == set(futures)


def test_a_late_answer_of_a_lost_worker_counts_for_nothing(fast):
    submitted(fast, 41)
    batch = batch_of(fast, {})
    fast._lost(fast._workers.pop(batch.worker))
    open_before = len(fast._tasks._open)
    batch.answer()
    assert len(fast._tasks._open) == open_before


def test_who_breaks_off_calls_all_of_it_off(fast):
    submitted(fast, 41)
    fast._attendant = type("Thread", (), {"join": lambda _: None})()
    fast._client.close = lambda: None
    open = fast._client.open()
    fast.__exit__(KeyboardInterrupt)
    assert open
    assert {asked.status for asked in open} == {"cancelled"}
