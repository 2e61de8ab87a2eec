"""Grade a class: many submissions, several at once, and go on after an interruption."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from autograder.course.config import Course
from autograder.course.grade import Graded, Grader
from autograder.course.records import key_of, recorded_key
from autograder.course.submissions import Handed
from autograder.sandbox import Isolation, probe


def grade_class(
    course: Course,
    work: Sequence[Handed],
    *,
    jobs: int | None = None,
    force: bool = False,
    trust_students: bool = False,
) -> Iterator[Graded | Handed]:
    """Grade submissions in several processes; yield each as it is done.

    A submission whose record is up to date is yielded as it came, ungraded, unless ``force``.
    The caller saves what is graded; ``write_record`` last, so that an interrupted run goes on
    where it stopped.
    """
    keys = {handed: key_of(course, handed) for handed in work}
    waiting = []
    for handed in work:
        if force or recorded_key(course, handed) != keys[handed]:
            waiting.append(handed)
        else:
            yield handed
    waiting.reverse()
    jobs = max(1, min(jobs or os.cpu_count() or 1, len(waiting)))
    while waiting:
        with _graders(course, jobs, trust_students) as pool:
            running: dict[Future[Graded], Handed] = {}
            try:
                while waiting or running:
                    while waiting and len(running) < 2 * jobs:
                        handed = waiting.pop()
                        running[pool.submit(_grade_one, handed, keys[handed])] = handed
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        graded = future.result()
                        del running[future]
                        yield graded
            except BrokenProcessPool:
                # One of the running ones took its grader down: find out which, one at a time.
                for handed in running.values():
                    yield _alone(course, handed, keys[handed], trust_students)


def _graders(course: Course, jobs: int, trust_students: bool) -> ProcessPoolExecutor:
    """Return processes that grade, forked from one that has imported what they need."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["autograder.course.grade"])
    return ProcessPoolExecutor(jobs, context, _start, (str(course.root), trust_students, probe()))


_grader: Grader  # of a grading process


def _start(root: str, trust_students: bool, isolation: Isolation) -> None:
    global _grader
    _grader = Grader(Course.load(root), trust_students=trust_students, isolation=isolation)


def _grade_one(handed: Handed, key: str) -> Graded:
    return _grader.grade(handed, key=key)


def _alone(course: Course, handed: Handed, key: str, trust_students: bool) -> Graded:
    """Grade a submission in a process of its own; if that dies too, withhold its scores."""
    with _graders(course, 1, trust_students) as pool:
        try:
            return pool.submit(_grade_one, handed, key).result()
        except BrokenProcessPool:
            reason = "The grader itself was ended while it graded this submission."
            return Grader(course).lose(handed, reason, key=key)
