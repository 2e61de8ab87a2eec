"""One grader at a time on a course, and one watch."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from autograder.course.config import Course, CourseError
from autograder.course.files import sweep, unwritable


@contextmanager
def grading(course: Course) -> Iterator[None]:
    """Keep other graders away from the course, and clear away what a killed one left half done.

    Raises
    ------
    CourseError
        If somebody else is grading, or the folder can't be written.
    """
    said = "is grading this course: wait until it is done, then run this again"
    with _alone(course, ".lock", said):
        sweep(course.root.iterdir())
        for folder in (course.root / "records", course.folder("autograded")):
            sweep(folder.rglob(".*"))
        yield


@contextmanager
def watching(course: Course) -> Iterator[None]:
    """Keep other watches away from the course.

    Raises
    ------
    CourseError
        If there is one already, or the folder can't be written.
    """
    with _alone(course, ".watch", "watches this course already: let it work, or end it first"):
        yield


@contextmanager
def _alone(course: Course, name: str, said: str) -> Iterator[None]:
    """Hold a lock of the course: the kernel's, which ends with the process, however that ends."""
    path = course.root / "records" / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+")
    except OSError as error:
        raise unwritable(path.parent, error) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise CourseError(
                f"another process ({file.read().strip() or 'just started'}) {said}"
            ) from None
        try:
            file.truncate(0)
            file.write(f"number {os.getpid()}\n")
            file.flush()
        except OSError as error:
            raise unwritable(path.parent, error) from error
        yield
