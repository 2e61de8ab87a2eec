"""Export scores, points given by hand and late penalties included, for other programs.

``csv``
    A row per student and assignment: ``student, name, assignment, submitted, score, max_score,
    late_penalty, waiting, <exercise>…``.  ``waiting`` counts cells that a person has yet to look
    at; the columns of other assignments' exercises are empty.
``canvas``
    Canvas's gradebook import: ``Student, ID, SIS Login ID, Section, <assignment>…``, and the
    points possible in the second row.  The id here is the login; ``ID`` is the gradebook's
    ``lms_user_id``.
``moodle``
    For Moodle's import of grades: ``Username, First name, Last name, Email address,
    <assignment>…``.
``gradescope``
    The layout of Gradescope's own download: ``First Name, Last Name, SID, Email,`` and for each
    assignment its score, ``Max Points``, ``Submission Time`` and ``Lateness (H:M:S)``.

A student's cells are empty where nothing was handed in; whether that is a zero is not decided
here.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from autograder.course.config import Course, CourseError
from autograder.course.files import write_atomically
from autograder.course.release import Release
from autograder.delivery.marks import Marks, scores
from autograder.delivery.people import Person, people

Book = dict[str, dict[str, Marks]]  #: by assignment and student
Rows = list[list[Any]]


def export(course: Course, to: str, path: Path, *, assignments: Sequence[str] | None = None) -> int:
    """Write scores to ``path``, for ``to``: one of ``FORMATS``; return how many rows.

    Assignments that nothing was handed in for are left out.

    Raises
    ------
    CourseError
        If there is no such format, or an assignment isn't released.
    """
    if to not in FORMATS:
        raise CourseError(f"there is no export to {to!r}; there is {', '.join(FORMATS)}")
    book = {id: found for id in assignments or course.ids() if (found := scores(course, id))}
    rows = FORMATS[to](course, people(course), book)
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    write_atomically(path, text.getvalue().encode())
    return len(rows) - 1


def _csv(course: Course, class_list: dict[str, Person], book: Book) -> Rows:
    exercises = {id: list(Release.load(course, id).data["exercises"]) for id in book}
    columns = [exercise for own in exercises.values() for exercise in own]
    head = ["student", "name", "assignment", "submitted", "score", "max_score", "late_penalty"]
    rows: Rows = [[*head, "waiting", *columns]]
    for id, marks in book.items():
        for student, person in sorted(class_list.items()):
            row: list[Any] = [student, person.name, id]
            if student in marks:
                own = marks[student]
                by_exercise = own.by_exercise(exercises[id])
                points = {e: sum(mark.score for mark in by_exercise[e]) for e in by_exercise}
                waiting = sum(mark.pending for mark in own.cells.values())
                row += [own.submitted or "", _plain(own.score), _plain(own.max_score)]
                row += [_plain(own.late_penalty), waiting]
                row += [_plain(points[e]) if e in points else "" for e in columns]
            rows.append(row + [""] * (len(rows[0]) - len(row)))
    return rows


def _canvas(course: Course, class_list: dict[str, Person], book: Book) -> Rows:
    rows: Rows = [["Student", "ID", "SIS Login ID", "Section", *(course.titles[id] for id in book)]]
    rows.append(["    Points Possible", "", "", "", *(_max(marks) for marks in book.values())])
    for student, person in sorted(class_list.items()):
        name = f"{person.last_name}, {person.first_name}" if person.last_name else person.name
        rows.append([name, person.lms_id, student, "", *_scores(book, student)])
    return rows


def _moodle(course: Course, class_list: dict[str, Person], book: Book) -> Rows:
    head = ["Username", "First name", "Last name", "Email address"]
    rows: Rows = [[*head, *(course.titles[id] for id in book)]]
    for student, person in sorted(class_list.items()):
        known = [student, person.first_name, person.last_name, person.email]
        rows.append([*known, *_scores(book, student)])
    return rows


def _gradescope(course: Course, class_list: dict[str, Person], book: Book) -> Rows:
    head = ["First Name", "Last Name", "SID", "Email"]
    for id in book:
        title = course.titles[id]
        parts = ("Max Points", "Submission Time", "Lateness (H:M:S)")
        head += [title, *(f"{title} - {part}" for part in parts)]
    rows: Rows = [head]
    for student, person in sorted(class_list.items()):
        row: list[Any] = [person.first_name, person.last_name, student, person.email]
        for marks in book.values():
            own = marks.get(student)
            row += [_plain(own.score) if own else "", _max(marks)]
            row += [f"{own.submitted:%Y-%m-%d %H:%M:%S} +0000" if own and own.submitted else ""]
            row += [_lateness(own.seconds_late) if own else ""]
        rows.append(row)
    return rows


def _scores(book: Book, student: str) -> list[Any]:
    return [_plain(marks[student].score) if student in marks else "" for marks in book.values()]


def _max(marks: dict[str, Marks]) -> Any:
    return _plain(max((own.max_score for own in marks.values()), default=0.0))


def _plain(points: float) -> float:
    """Round away what sums of binary fractions leave behind."""
    return round(points, 6)


def _lateness(seconds: float) -> str:
    minutes, second = divmod(int(seconds), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{second:02}"


FORMATS: dict[str, Callable[[Course, dict[str, Person], Book], Rows]] = {
    "csv": _csv,
    "canvas": _canvas,
    "moodle": _moodle,
    "gradescope": _gradescope,
}
