"""Grade a class: leave out what is up to date, and keep what is graded until it is saved."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

from autograder.course.config import Course
from autograder.course.grade import Graded, Grader
from autograder.course.graders import Open
from autograder.course.graders.pool import Pool
from autograder.course.graders.processes import sharing
from autograder.course.graders.recovery import recovering
from autograder.course.job import Job, job_of
from autograder.course.kept_runs import Tell, folder_of, keep_runs, kept_runs
from autograder.course.keys import Keys
from autograder.course.limits import check_limits
from autograder.course.records import keep, kept, recorded_key
from autograder.course.release import Release
from autograder.course.submissions import Handed


def grade_class(
    course: Course,
    work: Sequence[Handed],
    *,
    jobs: int | None = None,
    force: bool = False,
    trust_students: bool = False,
    gpu: bool = False,
    tell: Tell | None = None,
    opened: Open | None = None,
    meanwhile: Callable[[Sequence[Handed]], Sequence[Handed]] = lambda _: (),
) -> Iterator[Graded | Handed]:
    """Grade submissions, several at once; yield each as it is done.

    A submission whose record is up to date is yielded as it came, ungraded, unless ``force``; one
    that an interrupted run had graded but not saved is not run again either. The caller saves what
    is graded, and calls ``write_record`` last.

    Parameters
    ----------
    jobs
        How many at once; by default one per processor. With a GPU there is one process, because
        times are compared on it.
    tell
        Told, in a thread of its own, when an expensive call begins and ends.
    opened
        Opens graders; by default processes of this machine.
    meanwhile
        Called once, while graders of this machine get ready: with the submissions that are up to
        date. Those that it returns are not: their records are gone.
    """
    check_limits(course)
    keys = Keys(course)

    def lose(job: Job, reason: str) -> Graded:
        return Grader(course).lose(job, reason)

    due = {handed: keys.of(handed) for handed in work}
    current = {h: not force and recorded_key(course, h) == key for h, key in due.items()}
    with ExitStack() as stack:

        def here(todo: Sequence[Handed]) -> Open:
            width = min(width_of(jobs, gpu=gpu), len(todo))
            pool = stack.enter_context(
                Pool(width, trust_students=trust_students, gpu=gpu, tell=tell)
            )
            pool.load(course, todo[0].assignment)
            return sharing(pool)(course)

        changed = [handed for handed in work if not current[handed]]
        if changed and opened is None:
            opened = here(changed)
        for handed in meanwhile([handed for handed in work if current[handed]]):
            current[handed] = False
        waiting: dict[Handed, str] = {}
        for handed, key in due.items():
            if current[handed]:
                yield handed
            elif not force and (graded := kept(course, handed, key)):
                yield graded
            else:
                waiting[handed] = key
        if not waiting:
            return
        todo = _jobs(course, waiting)
        width = width_of(jobs, gpu=gpu)
        for graded in recovering(opened or here([*waiting]), width, todo, lose):
            names = graded.grade.student, graded.grade.assignment
            keep_runs(folder_of(course, *names), graded.runs)
            keep(course, graded)
            yield graded


def width_of(jobs: int | None, *, gpu: bool = False) -> int:
    """Return how many submissions are graded at once, where ``jobs`` were asked for."""
    return 1 if gpu else jobs or os.cpu_count() or 1


def _jobs(course: Course, waiting: dict[Handed, str]) -> Iterator[Job]:
    """Read submissions one by one, as there is somebody to grade them."""
    releases: dict[str, Release] = {}
    for handed, key in waiting.items():
        if handed.assignment not in releases:
            releases[handed.assignment] = Release.load(course, handed.assignment)
        runs = kept_runs(folder_of(course, handed.student, handed.assignment))
        yield job_of(handed, releases[handed.assignment], key=key, runs=runs)
