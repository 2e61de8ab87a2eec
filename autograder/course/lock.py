"""One grader at a time on a course, and one watch."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from autograder.course.config import Course, CourseError
from autograder.course.files import sweep, unwritable
from autograder.course.purposes import Purpose, is_on_server


@contextmanager
def grading(course: Course) -> Iterator[Callable[[], None]]:
    """Keep other graders away from the course, and clear away what a killed one left half done.

    Those on other machines are kept away where the gradebook is on a server.

    Yields
    ------
    Callable
        Raises CourseError if the connection to that server was lost by now, and others may grade.

    Raises
    ------
    CourseError
        If somebody else is grading, or the folder or the server can't be used.
    """
    said = "is grading this course: wait until it is done, then run this again"
    with _alone_on_server(course, Purpose.GRADING, said) as confirm, _alone(course, ".lock", said):
        sweep(course.root.iterdir())
        for top in (course.root / "records", course.folder("autograded")):
            for folder, _, files in os.walk(top):  # ten times as fast as a pattern
                sweep(Path(folder, name) for name in files if name.startswith("."))
        yield confirm


@contextmanager
def watching(course: Course) -> Iterator[None]:
    """Keep other watches away from the course, as `grading` keeps graders away.

    Raises
    ------
    CourseError
        If there is one already, or the folder or the server can't be used.
    """
    said = "watches this course already: let it work, or end it first"
    with _alone_on_server(course, Purpose.WATCHING, said), _alone(course, ".watch", said):
        yield


def _alone_on_server(
    course: Course, purpose: Purpose, said: str
) -> AbstractContextManager[Callable[[], None]]:
    """Hold a lock of the server, where the gradebook is on one: it knows the holder's machine."""
    if is_on_server(course.database):
        from autograder.course.server import alone  # brings SQLAlchemy, a fifth of a second

        return alone(course.database, purpose, said)
    return nullcontext(lambda: None)


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
