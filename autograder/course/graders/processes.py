"""Graders in processes of this machine, forked from one that has imported what they need."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection, forkserver, get_context, parent_process
from typing import Any, Self

from autograder.course.config import Course
from autograder.course.files import environment
from autograder.course.grade import Graded, Grader
from autograder.course.job import Job
from autograder.course.runs import Tell
from autograder.grading import budget
from autograder.sandbox import Isolation, probe

_PRELOADED = [__name__, "autograder.algebra"]
_LONGEST = 200  # bytes of an item's name
_SOCKET = 107 - len("/pymp-xxxxxxxx/listener-xxxxxxxx")  # what a socket's name leaves to its folder


def warm_up() -> None:
    """Start the process that graders are forked from; it imports while the caller goes on."""
    forkserver.set_forkserver_preload(_PRELOADED)
    # Its arrays are small, and a second thread would take a processor from students' code.
    with (
        environment(OPENBLAS_NUM_THREADS=os.environ.get("OPENBLAS_NUM_THREADS", "1")),
        _short_folder(),
    ):
        forkserver.ensure_running()


@contextmanager
def _short_folder() -> Iterator[None]:
    """Keep the socket that asks for processes in a folder that leaves room for its name."""
    usual = tempfile.gettempdir()
    if len(os.fsencode(usual)) > _SOCKET:
        tempfile.tempdir = "/tmp"
    try:
        yield
    finally:
        tempfile.tempdir = usual


class Processes:
    """So many graders, each in a process that ends with this one.

    Parameters
    ----------
    trust_students
        Run student code without isolation where this machine offers none.
    gpu
        Run the checks that need a GPU.
    tell
        Told, in a thread of its own, when an expensive call begins and ends.
    """

    def __init__(
        self,
        course: Course,
        width: int,
        *,
        trust_students: bool = False,
        gpu: bool = False,
        tell: Tell | None = None,
    ) -> None:
        self.width = width
        self._course, self._trust, self._gpu, self._tell = course, trust_students, gpu, tell
        context = get_context("forkserver")
        self._told: Any = context.SimpleQueue() if tell else None
        self._judging: Any = context.Array("c", _LONGEST, lock=False) if width == 1 else None
        self._listener = threading.Thread(target=self._listen, daemon=True)

    def __enter__(self) -> Self:
        warm_up()
        # It is this machine's, so it is tried once for all of them.
        machine = str(self._course.root), probe()
        wanted = self._trust, self._gpu, self._told, self._judging
        context = get_context("forkserver")
        self._pool = ProcessPoolExecutor(self.width, context, _start, (*machine, *wanted))
        if self._told:
            self._listener.start()
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        # After Ctrl-C what has not begun need not.
        self._pool.shutdown(wait=kind is None, cancel_futures=kind is not None)
        if self._told:
            self._told.put(None)
            self._listener.join()

    def submit(self, job: Job) -> Future[Graded]:
        """Have a submission graded by the next one that is free."""
        return self._pool.submit(_grade, job)

    @property
    def judging(self) -> str:
        """What was being judged when the only one was lost."""
        return "" if self._judging is None else str(self._judging.value.decode(errors="replace"))

    def _listen(self) -> None:
        assert self._tell
        while (heard := self._told.get()) is not None:
            self._tell(*heard)


_grader: Grader  # of a grading process


def _start(
    root: str, isolation: Isolation, trust_students: bool, gpu: bool, told: Any, judging: Any
) -> None:
    global _grader

    def judged(item: str) -> None:
        if judging is not None:
            judging.value = item.encode()[: _LONGEST - 1]

    def tell(student: str, function: str) -> None:
        if told is not None:
            told.put((student, function))

    budget.may_end(judged)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _grader = Grader(
        Course.load(root), trust_students=trust_students, isolation=isolation, gpu=gpu, tell=tell
    )


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, and with it the student's code."""
    if parent := parent_process():
        connection.wait([parent.sentinel])
        os._exit(1)


def _grade(job: Job) -> Graded:
    return _grader.grade_job(job)
