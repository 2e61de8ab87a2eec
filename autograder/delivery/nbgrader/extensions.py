"""Later due dates of single students: extensions.csv beside course_config.py."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from pathlib import Path

from nbgrader import api

from autograder.course.config import Course, CourseError
from autograder.course.files import write_atomically
from autograder.course.people.roster import read_table
from autograder.course.people.student_ids import checked_id
from autograder.delivery.nbgrader.database import open_gradebook, zoned
from autograder.delivery.nbgrader.people import people

FILE = "extensions.csv"
_COLUMNS = ("student", "assignment", "until")


def extensions(course: Course) -> dict[str, dict[str, datetime]]:
    """Return until when students may hand in, by assignment and student (UTC).

    Raises
    ------
    CourseError
        If a line can't be read.
    """
    found: dict[str, dict[str, datetime]] = {}
    for line, row in enumerate(_rows(course), 2):
        if row.keys() < set(_COLUMNS):
            raise CourseError(f"{path_of(course)}: its columns are {', '.join(_COLUMNS)}")
        until = zoned(row["until"], f"{path_of(course)}, line {line}: the date")
        found.setdefault(row["assignment"], {})[row["student"]] = until
    return found


def extend(course: Course, student: str, assignment: str, until: str) -> str:
    """Grant a student a later due date; an empty one takes it back. Return what was done.

    Raises
    ------
    CourseError
        If the student is unknown, the assignment has no due date, or the date is none.
    """
    if checked_id(student) not in people(course):
        raise CourseError(f"{student} is no student of this course: students.csv lists them")
    if assignment not in course.due:
        raise CourseError(
            f"{assignment} has no due date that could be extended: set one in course_config.py"
        )
    rows = [r for r in _rows(course) if (r["student"], r["assignment"]) != (student, assignment)]
    if until:
        moment = zoned(until, "the date")
        due = zoned(course.due[assignment], f"the due date of {assignment}")
        if moment <= due:
            raise CourseError(f"{until} is not after the due date, {course.due[assignment]}")
        rows.append({"student": student, "assignment": assignment, "until": until})
    _write(course, rows)
    if not until:
        _forget(course, student, assignment)
        return f"{student}, {assignment}: as everybody, until {course.due[assignment]}"
    return f"{student}, {assignment}: until {until}"


def _forget(course: Course, student: str, assignment: str) -> None:
    """Take an extension out of the gradebook, where one granted otherwise would stay."""
    with open_gradebook(course) as gradebook:
        for row in gradebook.db.query(api.SubmittedAssignment).filter_by(student_id=student):
            if row.assignment.name == assignment:
                row.extension = None
        gradebook.db.commit()


def rename_in_extensions(course: Course, old: str, new: str) -> None:
    """Let a student's extensions be another id's; nobody's where that is empty."""
    rows = _rows(course)
    kept = [row for row in rows if row["student"] != old or new]
    for row in kept:
        row["student"] = new if row["student"] == old else row["student"]
    if any(row["student"] == new for row in kept) or len(kept) < len(rows):
        _write(course, kept)


def _write(course: Course, rows: list[dict[str, str]]) -> None:
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    write_atomically(path_of(course), text.getvalue().encode())


def _rows(course: Course) -> list[dict[str, str]]:
    return read_table(path_of(course)) if path_of(course).is_file() else []


def path_of(course: Course) -> Path:
    """Return where extensions are."""
    return course.root / FILE
