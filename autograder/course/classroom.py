"""Grade a class: many submissions, several at once, and go on after an interruption."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection, forkserver, get_context, parent_process
from typing import Any

from autograder.course.config import Course
from autograder.course.grade import Graded, Grader
from autograder.course.limits import check_limits
from autograder.course.records import keep, kept, key_of, recorded_key
from autograder.course.runs import Tell
from autograder.course.submissions import Handed
from autograder.grading import budget
from autograder.sandbox import Isolation, probe

_PRELOADED = ["autograder.course.grade", "autograder.algebra"]


def warm_up() -> None:
    """Start the process that graders are forked from; it imports while the caller goes on."""
    # Its arrays are small, and a second thread would take a processor from students' code.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    forkserver.set_forkserver_preload(_PRELOADED)
    forkserver.ensure_running()


def grade_class(
    course: Course,
    work: Sequence[Handed],
    *,
    jobs: int | None = None,
    force: bool = False,
    trust_students: bool = False,
    gpu: bool = False,
    tell: Tell | None = None,
) -> Iterator[Graded | Handed]:
    """Grade submissions in several processes; yield each as it is done.

    A submission whose record is up to date is yielded as it came, ungraded, unless ``force``; one
    that an interrupted run had graded but not saved is not run again either. The caller saves what
    is graded, and calls ``write_record`` last.  With a GPU there is one process, because times are
    compared on it.  ``tell`` is told, in a thread of its own, when an expensive call begins and
    ends.
    """
    check_limits(course)
    keys: dict[Handed, str] = {}
    waiting = []
    for handed in work:
        key = key_of(course, handed)
        if not force and recorded_key(course, handed) == key:
            yield handed
        elif not force and (graded := kept(course, handed, key)):
            yield graded
        else:
            waiting.append(handed)
            keys[handed] = key
    waiting.reverse()
    jobs = 1 if gpu else max(1, min(jobs or os.cpu_count() or 1, len(waiting)))
    while waiting:
        with _heard(tell) as told, _graders(course, jobs, trust_students, gpu, told) as pool:
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
                    yield _alone(course, handed, keys[handed], trust_students, gpu)


@contextmanager
def _heard(tell: Tell | None) -> Iterator[Any]:
    """Return a queue for graders to say what they are doing, and tell it."""
    if tell is None:
        yield None
        return
    told = get_context("forkserver").SimpleQueue()

    def listen() -> None:
        while (heard := told.get()) is not None:
            tell(*heard)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield told
    finally:
        told.put(None)
        listener.join()


def _graders(
    course: Course,
    jobs: int,
    trust_students: bool,
    gpu: bool,
    told: Any = None,
    judging: Any = None,
    barred: Iterable[str] = (),
) -> ProcessPoolExecutor:
    """Return processes that grade, forked from one that has imported what they need.

    What expensive calls they make is ``told``. What one of them is judging stands in ``judging``,
    for whoever finds it ended.
    """
    warm_up()
    arguments = (str(course.root), trust_students, probe(), gpu, told, judging, tuple(barred))
    return ProcessPoolExecutor(jobs, get_context("forkserver"), _start, arguments)


_grader: Grader  # of a grading process


def _start(
    root: str,
    trust_students: bool,
    isolation: Isolation,
    gpu: bool,
    told: Any,
    judging: Any,
    barred: tuple[str, ...],
) -> None:
    global _grader

    def judged(item: str) -> None:
        if judging is not None:
            judging.value = item.encode()[: len(judging) - 1]

    def tell(student: str, function: str) -> None:
        if told is not None:
            told.put((student, function))

    budget.may_end(judged)
    budget.bar(barred)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _grader = Grader(
        Course.load(root),
        trust_students=trust_students,
        isolation=isolation,
        gpu=gpu,
        keep_runs=True,
        tell=tell,
    )


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, and with it the student's code."""
    if parent := parent_process():
        connection.wait([parent.sentinel])
        os._exit(1)


def _grade_one(handed: Handed, key: str) -> Graded:
    graded = _grader.grade(handed, key=key)
    keep(_grader.course, graded)
    return graded


def _alone(course: Course, handed: Handed, key: str, trust_students: bool, gpu: bool) -> Graded:
    """Grade a submission in a process of its own.

    An answer that ends the process, because judging it has no end, is barred from the next one.
    If anything else ends it, the scores are withheld.
    """
    barred: set[str] = set()
    judging = get_context("forkserver").Array("c", 200, lock=False)
    while True:
        with _graders(course, 1, trust_students, gpu, None, judging, barred) as pool:
            try:
                return pool.submit(_grade_one, handed, key).result()
            except BrokenProcessPool:
                item = judging.value.decode(errors="replace")
        if not item or item in barred:
            reason = "The grader itself was ended while it graded this submission."
            return Grader(course).lose(handed, reason, key=key)
        barred.add(item)
