"""Processes of this machine that grade, for whatever course a job is of.

They are forked from one that has imported what they need, and end with the one who asked for them.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from multiprocessing import connection, get_context, parent_process
from typing import TYPE_CHECKING, Any, Self

from autograder.course.config import Course
from autograder.course.graders.starting import warm_up
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.grading_options import DEFAULT, GradingOptions
from autograder.course.submissions.job import Job
from autograder.course.submissions.kept_runs import Tell
from autograder.sandbox import Isolation, probe

if TYPE_CHECKING:
    from autograder.course.submissions.grade import Grader

_LONGEST = 200  # bytes of an item's name


class Pool:
    """So many processes; each has the course of its last job loaded.

    Jobs of one course should follow one another, therefore.

    Parameters
    ----------
    tell
        Told, in a thread of its own, when an expensive call begins and ends.
    """

    def __init__(
        self,
        width: int,
        options: GradingOptions = DEFAULT,
        *,
        tell: Tell | None = None,
    ) -> None:
        self.width, self._options, self._tell = width, options, tell
        self._told: Any = get_context("forkserver").SimpleQueue() if tell else None
        self._listener = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> Self:
        warm_up()
        self._isolation = probe()  # it is this machine's, so it is tried once for all of them
        self._begin()
        if self._told:
            self._listener.start()
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        # After Ctrl-C what has not begun need not.
        self._executor.shutdown(wait=kind is None, cancel_futures=kind is not None)
        if self._told:
            self._told.put(None)
            self._listener.join()

    def submit(self, course: Course, job: Job) -> Future[Graded]:
        """Have a submission graded by the next process that is free."""
        return self._executor.submit(_grade, str(course.root), job)

    def alone(self) -> Pool:
        """Return one of a single process, which tells what it judges."""
        return Pool(1, self._options, tell=self._tell)

    def mend(self) -> None:
        """Begin anew if a process was lost, and all the others with it."""
        try:
            self._executor.submit(os.getpid)
        except BrokenExecutor:
            self._executor.shutdown(wait=False)
            self._begin()

    @property
    def judging(self) -> str:
        """What was being judged when the only process was lost."""
        return "" if self._judging is None else str(self._judging.value.decode(errors="replace"))

    def _begin(self) -> None:
        context = get_context("forkserver")
        self._judging: Any = context.Array("c", _LONGEST, lock=False) if self.width == 1 else None
        shared = self._isolation, self._options, self._told, self._judging
        self._executor = ProcessPoolExecutor(self.width, context, _start, shared)

    def _listen(self) -> None:
        assert self._tell
        while (heard := self._told.get()) is not None:
            self._tell(*heard)


class _Here:
    """What a process of the pool has loaded."""

    def __init__(self, isolation: Isolation, options: GradingOptions, tell: Tell) -> None:
        from autograder.course.submissions.zygotes import Zygotes

        self._zygotes = Zygotes(isolation, trust=options.trust_students)
        self._options, self._tell = options, tell
        self._root = ""
        self._grader: Grader | None = None

    def grader(self, root: str) -> Grader:
        """Keep one course alone: its references are modules, and another's have the same names."""
        from autograder.course.submissions.grade import Grader

        if self._grader is not None and root == self._root:
            return self._grader
        if self._grader is not None:
            self._grader.close()
            self._grader = None
            self._zygotes.spare()
        self._grader = Grader(
            Course.load(root), self._options, tell=self._tell, zygotes=self._zygotes
        )
        self._root = root
        return self._grader


_here: _Here


def _start(isolation: Isolation, options: GradingOptions, told: Any, judging: Any) -> None:
    global _here
    from autograder.grading import budget

    def judged(item: str) -> None:
        if judging is not None:
            judging.value = item.encode()[: _LONGEST - 1]

    def tell(student: str, function: str) -> None:
        if told is not None:
            told.put((student, function))

    budget.may_end(judged)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _here = _Here(isolation, options, tell)


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, and with it the student's code."""
    if parent := parent_process():
        connection.wait([parent.sentinel])
        os._exit(1)


def _grade(root: str, job: Job) -> Graded:
    return _here.grader(root).grade_job(job)
