"""What was worked out of exercises, kept until something changes that it depends on.

Numbers are drawn, checks recorded and mistakes tried in most of the time that `generate` and
`verify` take: where one exercise was changed, the others come out as they did.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, Self

from autograder.course.config import Course, CourseError
from autograder.course.digests import engine_digest, hash_file, hash_of, libraries_digest
from autograder.course.discover import Assignment
from autograder.course.files import make_private, write_atomically
from autograder.course.release.datafiles import data_files
from autograder.exercise import Exercise
from autograder.exercise.words.carried_source import all_carried

#: What of the engine has a hand in it.
_LAYERS = ("student", "algebra", "exercise", "sandbox", "grading")
_ROOMS = ("course/release", "course/proofs")


class Kept:
    """What was found of an assignment's exercises, in a file of the course, written at the end.

    Parameters
    ----------
    also
        Hashes of what else it depends on, besides the exercise, what that builds on, and what
        computes it.
    """

    def __init__(self, assignment: Assignment, also: Iterable[bytes] = ()) -> None:
        self._assignment = assignment
        self._common = hash_of([_computing(), *also])
        self._hashed = cache(hash_file)
        self._known = read(assignment.course, assignment.id)
        self._new: dict[str, tuple[str, Any]] = {}

    def of(self, exercise: Exercise, what: str, find: Callable[[], Any]) -> Any:
        """Return what was kept of an exercise under this name, or find out.

        It is JSON, and comes back as that also where it was found just now.
        """
        found = self.get(exercise, what)
        return self.put(exercise, what, find()) if found is None else found

    def get(self, exercise: Exercise, what: str) -> Any:
        """Return what was kept; None where there is nothing, or something has changed."""
        key, value = self._known.get(f"{exercise.id} {what}", ("", None))
        return value if key == self._key(exercise) else None

    def put(self, exercise: Exercise, what: str, found: object) -> Any:
        """Remember it, and return it as JSON."""
        value = json.loads(json.dumps(found))
        self._new[f"{exercise.id} {what}"] = (self._key(exercise), value)
        return value

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Write down what is new, if that can be: it is only found out once more otherwise."""
        if self._new:
            add(self._assignment.course, self._assignment.id, self._new)

    def _key(self, exercise: Exercise) -> str:
        """Hash all that it depends on: module, helpers, data, what is carried, and the engine."""
        course = self._assignment.course
        settings = f"{course.id} {course.gpu}".encode()
        files = modules(self._assignment, [exercise]) | data_files(course)
        return hash_of([self._common, settings, *map(self._hashed, sorted(files))]).hex()


def modules(assignment: Assignment, exercises: Iterable[Exercise]) -> set[Path]:
    """Return the files that exercises are loaded from: with helpers, and what is carried on."""
    references = assignment.course.root / "reference"
    found = {*references.glob("*.py")}
    for exercise in exercises:
        found.add(references / assignment.id / f"{exercise.id}.py")
        for one in all_carried(exercise.carried):
            found.add(references / one.assignment / f"{one.exercise}.py")
    return found


@cache
def _computing() -> bytes:
    """Hash what computes: the engine as it was when this process began, and the libraries."""
    return hash_of([engine_digest(*_LAYERS, *_ROOMS), libraries_digest()])


def read(course: Course, id: str) -> dict[str, tuple[str, Any]]:
    """Return what was kept of an assignment, by name with its key; nothing if it can't be read."""
    try:
        content = json.loads(_path(course, id).read_bytes())
        return {name: (key, value) for name, (key, value) in content.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def add(course: Course, id: str, new: dict[str, tuple[str, Any]]) -> None:
    """Keep more of an assignment, if that can be."""
    private, folder = course.private
    path, content = _path(course, id), json.dumps(read(course, id) | new).encode()
    with contextlib.suppress(CourseError):
        make_private(path.parent, folder)
        write_atomically(path, content, mode=private)


def _path(course: Course, id: str) -> Path:
    return course.root / "records" / f".{id}.json"
