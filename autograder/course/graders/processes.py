"""Processes of this machine as the graders of one course."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from typing import Self

from autograder.course.config import Course
from autograder.course.graders import Graders, Open
from autograder.course.graders.pool import Pool
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.job import Job

_AHEAD = 2  # jobs for each process


class Processes:
    """A pool's processes, while they grade one course.

    Parameters
    ----------
    shared
        Whether others use the pool as well, and somebody else opens and closes it.
    """

    notes = ()

    def __init__(self, course: Course, pool: Pool, *, shared: bool = False) -> None:
        self._course, self._pool, self._shared = course, pool, shared
        self._pending: set[Future[Graded]] = set()
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        if self._shared:
            self._pool.mend()
        else:
            self._opened.enter_context(self._pool)
        return self

    def __exit__(self, *exception: object) -> None:
        for future in [*self._pending]:  # after an error; else there is none left
            future.cancel()
        self._opened.__exit__(*exception)  # type: ignore[arg-type]

    @property
    def room(self) -> int:
        """Each process has the submission that it grades, and the next one."""
        return _AHEAD * self._pool.width

    @property
    def judging(self) -> str:
        """What was being judged when the only process was lost."""
        return self._pool.judging

    def submit(self, job: Job) -> Future[Graded]:
        """Have a submission graded by the next process that is free."""
        future = self._pool.submit(self._course, job)
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return future

    def finish(self) -> None:
        """Hold nothing back."""


def sharing(pool: Pool) -> Callable[[Course], Open]:
    """Return what opens a pool's processes for one course after the other."""

    def of(course: Course) -> Open:
        def open_graders(width: int) -> Graders:
            if width < pool.width:  # one is to grade alone, so that it is known what ends it
                return Processes(course, pool.alone())
            return Processes(course, pool, shared=True)

        return open_graders

    return of
