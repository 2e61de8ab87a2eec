"""Write grades into the grading worksheet that Moodle handed out, for its import.

It goes to the assignment, where an import into the gradebook would override it for good. Moodle
reads three of its columns by their headings, which are in the marker's language: so these come from
the file that was downloaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from autograder.course.config import Course, CourseError
from autograder.course.people.roster import Person
from autograder.course.submissions.hand_in import hand_in
from autograder.delivery.platforms.moodle_worksheet import (
    MoodleWorksheet,
    WorksheetRow,
    read_worksheet,
)
from autograder.delivery.platforms.owners import fits
from autograder.delivery.platforms.score_tables import Book, Rows

WORKSHEET = "moodle-worksheet"


def filled(
    course: Course, class_list: Mapping[str, Person], book: Book, path: Path
) -> tuple[Rows, list[str]]:
    """Return the worksheet with the scores that are sent, and what has to be said.

    Rows without a score are left out, and so are comments: an empty one would empty the comment.

    Raises
    ------
    CourseError
        If it is no worksheet, or scores of several assignments are asked for.
    """
    if len(book.marks) != 1:
        raise CourseError(
            "a worksheet is of one assignment that somebody handed in: `autograder export a03 --to "
            f"{WORKSHEET} --worksheet a03.csv -o grades.csv`"
        )
    (assignment,) = book.marks
    sheet = read_worksheet(course, path)
    found: dict[str, WorksheetRow] = {}
    notes, unknown, above = [], [], []
    for student in sorted(book.scored(assignment)):
        row = _row(course, class_list.get(student, Person(student)), assignment, sheet)
        if row is None or row in found.values():
            unknown.append(student)
        elif book.score(assignment, student) > row.maximum:
            above.append(student)
        else:
            found[student] = row
    head = next(iter(sheet.rows.values())).cells
    rows: Rows = [list(head)]
    for student, row in found.items():
        rows.append(list({**row.cells, sheet.grade: book.score(assignment, student)}.values()))
    if unknown:
        notes.append(
            f"not found in {path.name}: {', '.join(unknown)}; `autograder roster import "
            f"{path.name}` puts Moodle's numbers into students.csv"
        )
    most = next(iter(sheet.rows.values())).maximum
    if above:
        notes.append(
            f"left out, since Moodle skips what is above its maximum of {most:g}: "
            f"{', '.join(above)}; set the maximum grade there to {book.maximum(assignment):g} or "
            "more, and download the worksheet anew"
        )
    if book.maximum(assignment) != most:
        notes.append(
            f"{assignment} has {book.maximum(assignment):g} points and {most:g} in Moodle: set the "
            f"maximum grade there, or --scale {most:g}"
        )
    if locked := [student for student, row in found.items() if row.locked]:
        notes.append(
            f"{len(locked)} grades are locked in Moodle, and stay there as they are: an import "
            "into the gradebook overrides the assignment. Unlock them in the gradebook first"
        )
    return rows, notes


def _row(
    course: Course, person: Person, assignment: str, sheet: MoodleWorksheet
) -> WorksheetRow | None:
    """Return a student's row: by the number of the hand-in, the roster's, address, name."""
    known = hand_in(course, person.id, assignment)
    numbers = (
        known.number if known.platform == "moodle" and not known.team else "",  # a group's
        *person.numbers.get("moodle", ()),
    )
    for number in numbers:
        if number in sheet.rows:
            return sheet.rows[number]
    rows = list(sheet.rows.values())
    mail = person.email.casefold()
    same = [row for row in rows if mail and row.email.casefold() == mail]
    same = same or [row for row in rows if row.name and fits(row.name, person, exactly=True)]
    return same[0] if len(same) == 1 else None
