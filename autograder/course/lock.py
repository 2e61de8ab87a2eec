"""One grader at a time on a course."""

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

    The lock is the kernel's and ends with the process, however that ends.

    Raises
    ------
    CourseError
        If somebody else is grading, or the folder can't be written.
    """
    path = course.root / "records" / ".lock"
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
                f"another process ({file.read().strip() or 'just started'}) is grading this "
                "course: wait until it is done, then run this again"
            ) from None
        try:
            file.truncate(0)
            file.write(f"number {os.getpid()}\n")
            file.flush()
        except OSError as error:
            raise unwritable(path.parent, error) from error
        sweep(course.root.iterdir())
        for folder in (path.parent, course.folder("autograded")):
            sweep(folder.rglob(".*"))
        yield
