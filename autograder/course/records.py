"""Result records: what a grade was made from, and the grade itself, on disk.

A submission that was run but isn't in the gradebook yet waits in ``records/.unsaved/``, so that
no grader has to run it a second time, whatever ends the first one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import stat
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import autograder
from autograder.course.config import Course
from autograder.course.files import by_lines, write_atomically
from autograder.course.grade import Graded
from autograder.course.limits import notebook_limits
from autograder.course.release import Release
from autograder.course.roster import whose_numbers
from autograder.course.secret import secret_of
from autograder.course.submissions import MAX_BYTES, Handed, Unreadable, read_notebook, texts
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


def key_of(course: Course, handed: Handed) -> str:
    """Return a hash of everything that a grade depends on, and of nothing else.

    That is the submission, its exercises and what they share, the released assignment, the
    engine, what the course grants these exercises and how many of them count, and its secret.
    """
    path = handed.path
    content = str(path.readlink()).encode() if path.is_symlink() else _hash_file(path, MAX_BYTES)
    release = Release.load(course, handed.assignment)
    granted = notebook_limits(course, release.data["exercises"]), course.gpu
    best = sorted(course.best.get(handed.assignment, {}).items())
    own = {id: course.exercise_limits.get(id) for id in release.data["exercises"]}
    settings = repr((granted, best, sorted(own.items()))).encode()
    asked = _built_on(course.folder("release"), handed.assignment)
    digest = _assignment_digest(course.root, course.folder("release"), asked)
    secret = hashlib.sha256(secret_of(course).encode()).digest()
    parts = content, _numbers_of(course, handed).encode(), settings, digest, secret
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _numbers_of(course: Course, handed: Handed) -> str:
    """Return whose numbers a submission is graded with."""
    if course.config.Course.get("typed_ids", False) is True:
        with contextlib.suppress(Unreadable):
            return whose_numbers(course, handed.student, read_notebook(handed.path))[0]
    return handed.student


def recorded_key(course: Course, handed: Handed) -> str:
    """Return the key of the record that is there, or an empty text."""
    try:
        path = course.record(handed.student, handed.assignment)
        return str(json.loads(path.read_text("utf-8"))["key"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


@cache
def _built_on(release: Path, assignment: str) -> tuple[str, ...]:
    """Return an assignment and those whose code is carried into it, also by way of others."""
    found = [assignment]
    for one in found:
        with contextlib.suppress(OSError, ValueError):  # not released
            data = json.loads((release / one / "check.json").read_bytes())
            below = {each["assignment"] for each in data.get("carried", {}).values()}
            found += sorted(below.difference(found))
    return tuple(found)


@cache
def _assignment_digest(root: Path, release: Path, assignments: tuple[str, ...]) -> bytes:
    """Hash an assignment, its references and the engine; once a run, they don't change in it.

    Behind it come the assignments whose code is carried into it.
    """
    files = sorted((root / "reference").glob("*.py"))
    for assignment in assignments:
        files += sorted((root / "reference" / assignment).glob("*.py"))
    files += sorted((release / assignments[0]).glob("*"))
    files += sorted(Path(autograder.__file__).parent.rglob("*.py"))
    return b"".join(_hash_file(path) for path in files)


def _hash_file(path: Path, most: int | None = None) -> bytes:
    """Hash a file; of one that can't be read, or is larger than is read, say so."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe would be waited for
            return b"no file"
        if most is not None and status.st_size > most:
            return b"%d bytes" % status.st_size
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError as error:
        return repr(error).encode()
