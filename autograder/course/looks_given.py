"""Looks that students were given a code for: looks.csv beside the gradebook, and the codes.

A code opens what the notebook can tell of one part and one variant.  What a look costs is charged
by this list alone: nothing that a student keeps, changes or deletes has a part in it.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import hmac
import io
from collections.abc import Collection, Iterable
from pathlib import Path

from autograder.course.config import Course, CourseError
from autograder.course.files import write_atomically
from autograder.course.secret import secret_of

FILE = "looks.csv"
_HEAD = ("student", "exercise", "part")
_CODE = 10  # bytes: far more than anybody tries


def drawn_with(course: Course, *names: str) -> bytes:
    """Return bytes that depend on names, and that nobody knows who hasn't the course's secret."""
    message = "\0".join(("look", course.id, *names)).encode()
    return hmac.new(secret_of(course).encode(), message, hashlib.sha256).digest()


def code_of(course: Course, exercise: str, part: str, variant: int) -> str:
    """Return the code of a look, none where looks are free."""
    if not course.look:
        return ""
    number = drawn_with(course, exercise, part, str(variant))[:_CODE]
    return base64.b32encode(number).decode()


def given(course: Course) -> list[tuple[str, str, str]]:
    """Return student, exercise and part of each look that a code was given for.

    Raises
    ------
    CourseError
        If the list is not as it was written.
    """
    path = _file(course)
    rows = list(csv.reader(io.StringIO(path.read_text("utf-8")))) if path.is_file() else [[*_HEAD]]
    if rows[:1] != [[*_HEAD]] or any(len(row) != len(_HEAD) for row in rows):
        raise CourseError(f"{path} is no list of looks: its lines are {','.join(_HEAD)}")
    return [(student, exercise, part) for student, exercise, part in rows[1:]]


def give(course: Course, student: str, exercise: str, part: str) -> None:
    """Write down that a student was given the code of a look."""
    _write(course, [*given(course), (student, exercise, part)])


def rename_in_looks(course: Course, old: str, new: str) -> None:
    """Charge another for a student's looks, or nobody where ``new`` is empty."""
    if _file(course).is_file():
        looks = given(course)
        _write(course, [(new if who == old else who, *look) for who, *look in looks])


def looks_of(course: Course, people: Collection[str]) -> tuple[tuple[str, str], ...]:
    """Return exercise and part of the looks of those who hand in together."""
    if not course.look:
        return ()
    found = {(exercise, part) for who, exercise, part in given(course) if who in people}
    return tuple(sorted(found))


def _write(course: Course, looks: Iterable[tuple[str, ...]]) -> None:
    rows = dict.fromkeys(look for look in looks if look[0])
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_HEAD, *rows])
    write_atomically(_file(course), text.getvalue().encode(), mode=course.private[0])


def _file(course: Course) -> Path:
    return course.root / FILE
