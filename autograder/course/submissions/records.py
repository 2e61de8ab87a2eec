"""Result records: what a grade was made from, and the grade itself, on disk.

A submission that was run but isn't in the gradebook yet waits in ``records/.unsaved/``, so that
no grader has to run it a second time, whatever ends the first one.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from autograder.course.config import Course
from autograder.course.files import (
    by_lines,
    make_private,
    put_in_place,
    write_atomically,
    write_in_place,
)
from autograder.course.schemas import refuse_later
from autograder.course.submissions.graded import Graded, Provenance, WholeNotebook, digests
from autograder.course.submissions.handed_in import Handed, Unreadable, read_notebook, texts
from autograder.course.typed_json import converted, decoded
from autograder.grading.results import SCHEMA, Grade

_NOTEBOOK = 0o644  # mode of an autograded notebook


@dataclass(frozen=True)
class Record:
    """A grade as it is kept: the file holds the entries of both."""

    grade: Grade
    provenance: Provenance

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Rebuild a record.

        Raises
        ------
        ValueError
            If it is of another schema, or an entry is missing or of another type.
        """
        return cls(Grade.from_json(data), converted(data, Provenance))

    def to_json(self) -> dict[str, Any]:
        """Return the file's content."""
        return self.grade.to_json() | vars(self.provenance)


@dataclass(frozen=True)
class NotedItem:
    """Of an item what tells whether it is marked by hand."""

    note: str


@dataclass(frozen=True)
class ScoredExercise:
    """Of an exercise's grade what the gradebook has of it as well."""

    id: str
    score: float | None
    items: list[NotedItem]


@dataclass(frozen=True)
class _Key:
    """Of a record what tells whether it is up to date."""

    schema: int
    key: str = ""


@dataclass(frozen=True)
class _Scores:
    """Of a record what is read of a whole class."""

    schema: int
    exercises: list[ScoredExercise]


def keep(course: Course, graded: Graded) -> Path:
    """Keep a graded submission until it is in the gradebook, as the files that it will be then.

    Whoever finds a whole record there finds the notebook that goes with it, or has moved it.
    """
    record, notebook = _unsaved(course, graded.grade.student, graded.grade.assignment)
    mode, folder = course.private
    make_private(course.root / "records", folder)
    record.unlink(missing_ok=True)
    write_in_place(notebook, graded.content, mode=_NOTEBOOK)
    write_in_place(record, graded.record, mode=mode)
    return record


def kept(course: Course, handed: Handed, key: str) -> Graded | None:
    """Return a submission that was graded from the same things but not saved, if there is one."""
    record, notebook = _unsaved(course, handed.student, handed.assignment)
    try:
        own = record.read_bytes()
        if _key_of(own, record) != key:
            return None
        try:
            content = notebook.read_bytes()
        except FileNotFoundError:
            names = handed.student, handed.assignment
            content = course.submission(*names, "autograded").read_bytes()
        decoded(content, WholeNotebook)
        return Graded.read(own, content)
    except (OSError, ValueError):  # one of them was written when the power went
        return None


def move_notebook(course: Course, graded: Graded) -> None:
    """Let the notebook that is kept be that in autograded/."""
    names = graded.grade.student, graded.grade.assignment
    shown = course.submission(*names, "autograded")
    put_in_place(_unsaved(course, *names)[1], shown, graded.content, mode=_NOTEBOOK)


def move_record(course: Course, graded: Graded) -> None:
    """Let the record that is kept be that of a saved submission."""
    names = graded.grade.student, graded.grade.assignment
    record = _unsaved(course, *names)[0]
    put_in_place(record, course.record(*names), graded.record, mode=course.private[0])


def write_record(course: Course, graded: Graded) -> None:
    """Write the result record of a submission that somebody else has saved."""
    names = graded.grade.student, graded.grade.assignment
    _write(course, course.record(*names), graded.record)
    for path in _unsaved(course, *names):
        path.unlink(missing_ok=True)


def write(course: Course, record: Record) -> None:
    """Write a result record, whole or not at all."""
    path = course.record(record.grade.student, record.grade.assignment)
    _write(course, path, by_lines(record.to_json(), "exercises"))


def _write(course: Course, path: Path, content: bytes) -> None:
    """Write into records/, which nobody else is to read: it holds everybody's marks."""
    mode, folder = course.private
    make_private(course.root / "records", folder)
    write_atomically(path, content, mode=mode)


def changed(course: Course, graded: Graded) -> set[str]:
    """Return the grade_ids of cells with another text than when they were last graded.

    What a person marked is the text of that time.  Of a submission whose record and autograded
    notebook are both gone nothing is known, and nothing said to be changed.
    """
    names = graded.grade.student, graded.grade.assignment
    record = read_record(course, *names)
    if record is None:
        return set()
    try:
        shown = course.submission(*names, "autograded")
        before = record.provenance.texts or digests(texts(read_notebook(shown)))
    except (OSError, Unreadable):
        return set()
    return {id for id, digest in graded.texts.items() if before.get(id) != digest}


def _unsaved(course: Course, student: str, assignment: str) -> tuple[Path, Path]:
    """Return where record and notebook are until they are saved."""
    folder = f"{course.root}/records/.unsaved/{assignment}"
    return Path(f"{folder}/{student}.json"), Path(f"{folder}/{student}.ipynb")


def reopen(course: Course, handed: Handed) -> None:
    """Let a graded submission be saved again: from what is on disk, or else graded again."""
    names = handed.student, handed.assignment
    if record := read_record(course, *names):
        with contextlib.suppress(OSError, Unreadable):
            notebook = read_notebook(course.submission(*names, "autograded"))
            keep(course, Graded.of(record.grade, notebook, record.provenance.key))
    course.record(*names).unlink(missing_ok=True)


def recorded(course: Course, assignment: str) -> set[str]:
    """Return whose submissions of an assignment have a record."""
    return {path.parent.name for path in (course.root / "records").glob(f"*/{assignment}.json")}


def read_record(course: Course, student: str, assignment: str) -> Record | None:
    """Return a record, or None where there is none that can be read.

    Raises
    ------
    CourseError
        If a later version wrote it.
    """
    path = course.record(student, assignment)
    try:
        return _record(json.loads(path.read_bytes()), path)
    except (OSError, ValueError, AttributeError):
        return None


def _record(data: dict[str, Any], path: Path) -> Record:
    refuse_later(data.get("schema"), SCHEMA, path)
    return Record.from_json(data)


def read_grade(course: Course, student: str, assignment: str) -> Grade | None:
    """Return a recorded grade, or None where there is none that can be read."""
    record = read_record(course, student, assignment)
    return record.grade if record else None


def read_scores(course: Course, student: str, assignment: str) -> list[ScoredExercise]:
    """Return the scores of a record; a tenth of the time that `read_grade` takes."""
    path = course.record(student, assignment)
    try:
        read = decoded(path.read_bytes(), _Scores)
    except (OSError, ValueError):
        return []
    refuse_later(read.schema, SCHEMA, path)
    return read.exercises


def recorded_key(course: Course, handed: Handed) -> str:
    """Return the key of the record that is there, or an empty text."""
    path = course.record(handed.student, handed.assignment)
    try:
        return _key_of(path.read_bytes(), path)
    except (OSError, ValueError):
        return ""


def _key_of(content: bytes, path: Path) -> str:
    read = decoded(content, _Key)
    refuse_later(read.schema, SCHEMA, path)
    return read.key
