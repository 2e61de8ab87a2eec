"""Result records: what a grade was made from, and the grade itself, on disk."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path

import autograder
from autograder.course.config import Course
from autograder.course.files import write_atomically
from autograder.course.grade import Graded
from autograder.course.submissions import Handed
from autograder.grading.results import Grade


def write_record(course: Course, graded: Graded) -> None:
    """Write the result record of a submission, whole or not at all."""
    path = course.record(graded.grade.student, graded.grade.assignment)
    record = {**graded.grade.to_json(), "key": graded.key}
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, text.encode("utf-8", "replace"))


def read_grade(course: Course, student: str, assignment: str) -> Grade | None:
    """Return a recorded grade, or None where there is none that can be read."""
    try:
        record = json.loads(course.record(student, assignment).read_text("utf-8"))
        return Grade.from_json(record)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def key_of(course: Course, handed: Handed) -> str:
    """Return a hash of everything that a grade depends on: submission, assignment, engine."""
    link = handed.path.is_symlink()
    content = str(handed.path.readlink()).encode() if link else _hash_file(handed.path)
    parts = content, handed.student.encode(), _assignment_digest(course.root, handed.assignment)
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def recorded_key(course: Course, handed: Handed) -> str:
    """Return the key of the record that is there, or an empty text."""
    try:
        path = course.record(handed.student, handed.assignment)
        return str(json.loads(path.read_text("utf-8"))["key"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


@cache
def _assignment_digest(root: Path, assignment: str) -> bytes:
    """Hash the assignment, its references and the engine; once a run, they don't change in it."""
    files = [root / "course_config.py", *sorted((root / "reference" / assignment).glob("*.py"))]
    files += sorted((Course.load(root).folder("release") / assignment).glob("*"))
    for layer in ("algebra", "exercise", "sandbox", "grading", "course"):
        files += sorted((Path(autograder.__file__).parent / layer).glob("*.py"))
    return b"".join(_hash_file(path) for path in files)


def _hash_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        return repr(error).encode()
