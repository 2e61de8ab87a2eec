"""Export scores, points given by hand and late penalties included, for other programs.

``csv``
    A row per student and assignment: ``student, name, assignment, submitted, late, score,
    max_score, late_penalty, waiting, <exercise>…``.  ``late`` says by how much, or which platform
    says so without; ``waiting`` counts cells that a person has yet to look at; the columns of other
    assignments' exercises are empty.
``canvas``
    Canvas's gradebook import: ``Student, ID, SIS Login ID, Section, <assignment>…``, and the
    points possible in the second row.  The id here is the login; ``ID`` is Canvas's own
    number, from the roster.
``moodle``
    For Moodle's import of grades: ``Username, First name, Last name, Email address,
    <assignment>…``.
``gradescope``
    The layout of Gradescope's own download: ``First Name, Last Name, SID, Email,`` and for each
    assignment its score, ``Max Points``, ``Submission Time`` and ``Lateness (H:M:S)``.

A student's cells are empty where nothing was handed in; whether that is a zero is not decided
here.  They are empty, too, where a score is not final: where points are withheld, or a person has
yet to give them.  ``partial`` sends what is there so far instead.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course.config import Course, CourseError
from autograder.course.files import write_atomically
from autograder.course.release import Release
from autograder.course.roster import Person
from autograder.delivery.marks import Mark, Marks, scores
from autograder.delivery.people import people

Rows = list[list[Any]]
#: What a spreadsheet takes for the beginning of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Book:
    """What is exported: marks by assignment and student; with those not final where ``partial``."""

    marks: dict[str, dict[str, Marks]]
    partial: bool

    def score(self, assignment: str, student: str) -> Any:
        """Return a score as it is written into a table."""
        own = self.marks[assignment].get(student)
        return "" if own is None else self.shown(own.score, own.cells.values())

    def shown(self, score: float, cells: Iterable[Mark]) -> Any:
        """Return points as they are written, or nothing where they wait."""
        return _plain(score) if self.partial or not any(c.pending for c in cells) else ""


@dataclass(frozen=True)
class Exported:
    """What was written, and about which scores something has to be said."""

    rows: int
    notes: list[str]


def export(
    course: Course,
    to: str,
    path: Path,
    *,
    assignments: Sequence[str] | None = None,
    partial: bool = False,
) -> Exported:
    """Write scores to ``path``, for ``to``: one of ``FORMATS``.

    Assignments that nothing was handed in for are left out.

    Raises
    ------
    CourseError
        If there is no such format, or an assignment isn't released.
    """
    if to not in FORMATS:
        raise CourseError(f"there is no export to {to!r}; there is {', '.join(FORMATS)}")
    book = {id: found for id in assignments or course.ids() if (found := scores(course, id))}
    rows = FORMATS[to](course, people(course), Book(book, partial))
    text = io.StringIO(newline="")
    csv.writer(text).writerows([list(map(harmless, row)) for row in rows])
    notes = [_not_final(id, own.values(), partial) for id, own in book.items()]
    if path.exists():
        notes.insert(0, f"{path} was there before and has been replaced")
    # A spreadsheet takes a file without the mark for another encoding; platforms need none.
    write_atomically(path, text.getvalue().encode("utf-8-sig" if to == "csv" else "utf-8"))
    return Exported(len(rows) - 1, [note for note in notes if note])


def harmless(cell: Any) -> Any:
    """Quote a text that a spreadsheet would take for a formula.

    >>> harmless("=HYPERLINK(1)"), harmless("Ada"), harmless(-1.5)
    ("'=HYPERLINK(1)", 'Ada', -1.5)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def _not_final(assignment: str, class_marks: Iterable[Marks], partial: bool) -> str:
    """Say how many scores of an assignment are not final, and why."""
    waiting = [own for own in class_marks if own.pending]
    if not waiting:
        return ""
    reasons = {
        "marking by hand": sum(own.unmarked for own in waiting),
        "what the grader withheld": sum(own.withheld for own in waiting),
    }
    why = ", ".join(f"{count} for {reason}" for reason, count in reasons.items() if count)
    done = "are sent as they are so far" if partial else "are left empty"
    more = "" if partial else "; --partial sends what is there"
    return f"{assignment}: {len(waiting)} scores are not final and {done} ({why}){more}"


def _csv(course: Course, class_list: dict[str, Person], book: Book) -> Rows:
    exercises = {id: list(Release.load(course, id).data["exercises"]) for id in book.marks}
    columns = [exercise for own in exercises.values() for exercise in own]
    head = ["student", "name", "assignment", "submitted", "late", "score", "max_score"]
    rows: Rows = [[*head, "late_penalty", "waiting", *columns]]
    for id, marks in book.marks.items():
        for student, person in sorted(class_list.items()):
            row: list[Any] = [student, person.name, id]
            if student in marks:
                own = marks[student]
                by_exercise = own.by_exercise(exercises[id])
                points = {
                    e: book.shown(sum(m.score for m in cells if not m.left_out), cells)
                    for e, cells in by_exercise.items()
                }
                late = _lateness(own.seconds_late) if own.seconds_late > 0 else own.lateness
                row += [own.submitted or "", late, book.score(id, student)]
                row += [_plain(own.max_score), _plain(own.late_penalty), len(own.pending)]
                row += [points.get(e, "") for e in columns]
            rows.append(row + [""] * (len(rows[0]) - len(row)))
    return rows


def _canvas(course: Course, class_list: dict[str, Person], book: Book) -> Rows:
    rows: Rows = [
        ["Student", "ID", "SIS Login ID", "Section", *(course.titles[id] for id in book.marks)]
    ]
    rows.append(
        ["    Points Possible", "", "", "", *(_max(marks) for marks in book.marks.values())]
    )
    for student, person in sorted(class_list.items()):
        name = f"{person.last_name}, {person.first_name}" if person.last_name else person.name
        rows.append(
            [
                name,
                " ".join(person.numbers.get("canvas", ())),
                student,
                person.section,
                *_scores(book, student),
            ]
        )
    return rows


def _moodle(course: Course, class_list: dict[str, Person], book: Book) -> Rows:
    head = ["Username", "First name", "Last name", "Email address"]
    rows: Rows = [[*head, *(course.titles[id] for id in book.marks)]]
    for student, person in sorted(class_list.items()):
        known = [student, person.first_name, person.last_name, person.email]
        rows.append([*known, *_scores(book, student)])
    return rows


def _gradescope(course: Course, class_list: dict[str, Person], book: Book) -> Rows:
    head = ["First Name", "Last Name", "SID", "Email"]
    for id in book.marks:
        title = course.titles[id]
        parts = ("Max Points", "Submission Time", "Lateness (H:M:S)")
        head += [title, *(f"{title} - {part}" for part in parts)]
    rows: Rows = [head]
    for student, person in sorted(class_list.items()):
        row: list[Any] = [person.first_name, person.last_name, student, person.email]
        for id, marks in book.marks.items():
            own = marks.get(student)
            row += [book.score(id, student), _max(marks)]
            row += [f"{own.submitted:%Y-%m-%d %H:%M:%S} +0000" if own and own.submitted else ""]
            row += [_lateness(own.seconds_late) if own else ""]
        rows.append(row)
    return rows


def _scores(book: Book, student: str) -> list[Any]:
    return [book.score(id, student) for id in book.marks]


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
