"""Result records: what a grade was made from, and the grade itself, on disk.

A submission that was run but isn't in the gradebook yet waits in ``records/.unsaved/``, so that
no grader has to run it a second time, whatever ends the first one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.course.config import Course
from autograder.course.files import by_lines, write_atomically
from autograder.course.grade import Graded
from autograder.course.submissions import Handed, texts
from autograder.grading.results import Grade


def keep(course: Course, graded: Graded) -> Path:
    """Keep a graded submission until it is in the gradebook, whole or not at all."""
    path = _unsaved(course, graded.grade.student, graded.grade.assignment)
    content = {"record": _record(graded), "notebook": graded.notebook}
    write_atomically(path, json.dumps(content).encode())
    return path


def kept(course: Course, handed: Handed, key: str) -> Graded | None:
    """Return a submission that was graded from the same things but not saved, if there is one."""
    try:
        content = json.loads(_unsaved(course, handed.student, handed.assignment).read_bytes())
        if content["record"]["key"] == key:
            return Graded(Grade.from_json(content["record"]), content["notebook"], key)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def write_record(course: Course, graded: Graded) -> None:
    """Write the result record of a saved submission, whole or not at all."""
    names = graded.grade.student, graded.grade.assignment
    write_atomically(course.record(*names), by_lines(_record(graded), "exercises"))
    _unsaved(course, *names).unlink(missing_ok=True)


def _record(graded: Graded) -> dict[str, Any]:
    digests = {id: _digest(text) for id, text in texts(graded.notebook).items()}
    return {**graded.grade.to_json(), "key": graded.key, "texts": digests}


def changed(course: Course, grade: Grade, notebook: Mapping[str, Any]) -> set[str]:
    """Return the grade_ids of cells with another text than when they were last graded.

    What a person marked is the text of that time.  Of a submission whose record and autograded
    notebook are both gone nothing is known, and nothing said to be changed.
    """
    names = grade.student, grade.assignment
    now = {id: _digest(text) for id, text in texts(notebook).items()}
    try:
        before = json.loads(course.record(*names).read_bytes()).get("texts")
        if before is None:  # a record of an earlier version
            shown = json.loads(course.submission(*names, "autograded").read_bytes())
            before = {id: _digest(text) for id, text in texts(shown).items()}
        return {id for id, digest in now.items() if before.get(id) != digest}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()


def _digest(text: str) -> str:
    """Tell texts apart in a record, which need not hold them."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


def _unsaved(course: Course, student: str, assignment: str) -> Path:
    return course.root / "records" / ".unsaved" / student / f"{assignment}.json"


def reopen(course: Course, handed: Handed) -> None:
    """Let a graded submission be saved again: from what is on disk, or else graded again."""
    names = handed.student, handed.assignment
    try:
        record = json.loads(course.record(*names).read_bytes())
        notebook = json.loads(course.submission(*names, "autograded").read_bytes())
        keep(course, Graded(Grade.from_json(record), notebook, record["key"]))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    course.record(*names).unlink(missing_ok=True)


def recorded(course: Course, assignment: str) -> set[str]:
    """Return whose submissions of an assignment have a record."""
    return {path.parent.name for path in (course.root / "records").glob(f"*/{assignment}.json")}


def read_grade(course: Course, student: str, assignment: str) -> Grade | None:
    """Return a recorded grade, or None where there is none that can be read."""
    try:
        record = json.loads(course.record(student, assignment).read_text("utf-8"))
        return Grade.from_json(record)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def recorded_key(course: Course, handed: Handed) -> str:
    """Return the key of the record that is there, or an empty text."""
    try:
        path = course.record(handed.student, handed.assignment)
        return str(json.loads(path.read_text("utf-8"))["key"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
