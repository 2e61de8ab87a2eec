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

``moodle-worksheet``
    Moodle's grading worksheet with grades in it, from one that was downloaded: the three columns
    that Moodle reads, of those who have a score.

A score is not final where points are withheld or a person has yet to give them; ``partial`` sends
what is there so far.  Platforms take an empty cell for "no grade" and erase what is there: so a
row without a final score is left out of what they import, and where that differs between
assignments, each gets a file of its own.  In ``csv`` and ``gradescope``, which people read, the
cells are empty; whether that is a zero is not decided here.

Platforms refuse points above their maximum: ``scale`` sends all scores as so many of that, and
Moodle gets what is above an assignment's points in a column of its own.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course.config import Course, CourseError
from autograder.course.files import write_atomically
from autograder.course.people.roster import Person
from autograder.delivery.nbgrader.marks import Marks, scores
from autograder.delivery.nbgrader.people import people
from autograder.delivery.platforms.score_tables import FORMATS, IMPORTED, Book, Rows
from autograder.delivery.platforms.teams import with_teams
from autograder.delivery.platforms.worksheet_grades import WORKSHEET, filled

#: What a spreadsheet takes for the beginning of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
#: What a new assignment of Moodle's has.
_MOODLE_MAXIMUM = 100.0


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
    scale: float = 0.0,
    worksheet: Path | None = None,
) -> Exported:
    """Write scores to ``path``, for ``to``: one of ``FORMATS``.

    Assignments that nothing was handed in for are left out.

    Parameters
    ----------
    scale
        Send scores as so many of this; 0 for as they are.
    worksheet
        The worksheet that Moodle handed out, for ``moodle-worksheet``.

    Raises
    ------
    CourseError
        If there is no such format, or an assignment isn't released.
    """
    if to not in (*FORMATS, WORKSHEET):
        raise CourseError(
            f"there is no export to {to!r}; there is {', '.join((*FORMATS, WORKSHEET))}"
        )
    if (to == WORKSHEET) != (worksheet is not None):
        raise CourseError(
            f"--to {WORKSHEET} and --worksheet FILE go together: the file is what Moodle handed out"
        )
    given = {id: found for id in assignments or course.ids() if (found := scores(course, id))}
    marks = {id: with_teams(course, id, found) for id, found in given.items()}
    book = Book(marks, partial, scale)
    class_list = {id: Person(id) for own in marks.values() for id in own} | people(course)
    notes = [_not_final(id, own.values(), book, to) for id, own in book.marks.items()]
    files: list[tuple[Path, Rows]]
    if worksheet:
        rows, more = filled(course, class_list, book, worksheet)
        files = [(path, rows)]
        notes += more
    else:
        parts = _parts(book, to)
        paths = [path] if len(parts) == 1 else [_beside(path, part) for part in parts]
        tables = [FORMATS[to](course, class_list, part) for part in parts]
        files = list(zip(paths, tables, strict=True))
        if to in IMPORTED:
            notes += [_above(course, id, book, to) for id in book.marks]
    there = [f"{file} was there before and has been replaced" for file, _ in files if file.exists()]
    if len(files) > 1:
        names = ", ".join(file.name for file, _ in files)
        there.append(f"not everybody has a score in each assignment: a file for each, {names}")
    for file, rows in files:
        text = io.StringIO(newline="")
        # What Moodle wrote goes back as it was.
        safe = rows if worksheet else [list(map(harmless, row)) for row in rows]
        csv.writer(text).writerows(safe)
        # A spreadsheet takes a file without the mark for another encoding; platforms need none.
        mark = "utf-8-sig" if to in ("csv", WORKSHEET) else "utf-8"
        write_atomically(file, text.getvalue().encode(mark))
    count = sum(len(rows) - 1 for _, rows in files)
    return Exported(count, [*there, *(note for note in notes if note)])


def _parts(book: Book, to: str) -> list[Book]:
    """Split what is sent so that no cell of a table that a platform imports is empty."""
    alike = len({frozenset(book.scored(id)) for id in book.marks}) <= 1
    if to not in IMPORTED or alike:
        return [book]
    return [book.of([id]) for id in book.marks]


def _beside(path: Path, part: Book) -> Path:
    return path.with_stem(f"{path.stem}-{next(iter(part.marks))}")


def _above(course: Course, assignment: str, book: Book, to: str) -> str:
    """Say what the platform refuses, and what to set there."""
    sent = [book.score(assignment, student) for student in book.scored(assignment)]
    highest, most = max(sent, default=0.0), book.maximum(assignment)
    title = course.titles[assignment]
    if to == "moodle" and most != _MOODLE_MAXIMUM:  # what is above is in a column of its own
        return (
            f"{assignment}: set the maximum grade of {title!r} in Moodle to {most:g} (a new one "
            f"has {_MOODLE_MAXIMUM:g}), since one score above it rejects the file; or --scale "
            f"{_MOODLE_MAXIMUM:g}"
        )
    if to == "canvas" and highest > most:
        return f"{assignment}: {title!r} has {most:g} points, and the highest score is {highest:g}"
    return ""


def harmless(cell: object) -> Any:
    """Quote a text that a spreadsheet would take for a formula.

    >>> harmless("=HYPERLINK(1)"), harmless("Ada"), harmless(-1.5)
    ("'=HYPERLINK(1)", 'Ada', -1.5)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def _not_final(assignment: str, class_marks: Collection[Marks], book: Book, to: str) -> str:
    """Say how many scores of an assignment are not final, and why."""
    waiting = [own for own in class_marks if own.pending]
    if not waiting:
        return ""
    reasons = {
        "marking by hand": sum(own.unmarked for own in waiting),
        "what the grader withheld": sum(own.withheld for own in waiting),
    }
    why = ", ".join(f"{count} for {reason}" for reason, count in reasons.items() if count)
    left = "are left empty" if to not in (*IMPORTED, WORKSHEET) else "are left out"
    done = "are sent as they are so far" if book.partial else left
    more = "" if book.partial else "; --partial sends what is there"
    of = f"{len(waiting)} of {len(class_marks)}"
    return f"{assignment}: {of} scores are not final and {done} ({why}){more}"
