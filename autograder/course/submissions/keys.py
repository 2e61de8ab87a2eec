"""Keys of records: a grade with the same key would come out the same, and is not made again."""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from autograder.course.config import Course
from autograder.course.digests import GRADING, engine_digest, hash_file, hash_of
from autograder.course.limits import notebook_limits
from autograder.course.looks_given import looks_of
from autograder.course.people.roster import Person, declared, whose_numbers
from autograder.course.release.handed_out import Release
from autograder.course.secret import secret_of
from autograder.course.submissions.handed_in import (
    MAX_BYTES,
    Handed,
    Unreadable,
    parse_notebook,
    read_content,
)
from autograder.course.typed_json import decoded
from autograder.student.released_files import CheckFile


class Keys:
    """The keys of submissions, by what course and engine are when this is made.

    What submissions have in common is read once; whoever grades later makes another one.
    """

    def __init__(self, course: Course) -> None:
        self._course = course
        self._engine = engine_digest(*GRADING)
        self._secret = hashlib.sha256(secret_of(course).encode()).digest()
        self._assignments: dict[str, bytes] = {}

    def of(self, handed: Handed) -> str:
        """Return a hash of everything that a grade depends on, and of nothing else.

        That is the submission, its exercises and what they share, the released assignment, the
        engine, what the course grants these exercises and how many of them count, and its secret.
        """
        file = _File.of(handed.path)
        if handed.assignment not in self._assignments:
            self._assignments[handed.assignment] = self._assignment(handed.assignment)
        looks = looks_of(self._course, (handed.student, *handed.team))
        own = f"{self._numbers_of(handed, file)}{looks or ''}".encode()
        return hash_of([file.digest, own, self._assignments[handed.assignment]]).hex()

    def _assignment(self, assignment: str) -> bytes:
        """Hash all that the submissions of an assignment have in common."""
        course = self._course
        exercises = Release.load(course, assignment).data["exercises"]
        granted = notebook_limits(course, exercises), course.gpu, course.hint_cost
        price = (course.look,) if course.look else ()
        counting = course.counting.get(assignment)
        own = sorted((id, course.exercise_limits.get(id)) for id in exercises)
        settings = repr((granted, counting, own, *price)).encode()
        return hash_of(
            [settings, self._engine, self._secret, *map(hash_file, files_of(course, assignment))]
        )

    def _numbers_of(self, handed: Handed, file: _File) -> str:
        """Return whose numbers a submission is graded with: the class list may say another's."""
        with contextlib.suppress(Unreadable):
            own = (handed.student, file.notebook, handed.team)
            return whose_numbers(self._course, *own, people=self._people)[0]
        return handed.student

    @cached_property
    def _people(self) -> dict[str, Person]:
        return {person.id: person for person in declared(self._course)}


@dataclass(frozen=True)
class _File:
    """A file that was handed in, read once: by its content a grade is known again.

    Attributes
    ----------
    digest
        A hash of it, or what is wrong with it.
    content
        None where it is not read.
    """

    digest: bytes
    content: bytes | None = None

    @classmethod
    def of(cls, path: Path) -> Self:
        """Read it."""
        try:
            content = read_content(path)
        except (Unreadable, OSError):
            if path.is_symlink():
                return cls(str(path.readlink()).encode())
            return cls(hash_file(path, MAX_BYTES))
        return cls(hashlib.sha256(content).digest(), content)

    @property
    def notebook(self) -> dict[str, Any]:
        """What is in it.

        Raises
        ------
        Unreadable
            If it is no notebook.
        """
        if self.content is None:
            raise Unreadable
        return parse_notebook(self.content)


def files_of(course: Course, assignment: str) -> list[Path]:
    """Return the course's files on which an assignment's grades depend.

    Those of what is carried into it stand before its own.
    """
    release, references = course.folder("release"), course.root / "reference"
    files = sorted(references.glob("*.py"))
    for each in _built_on(release, assignment):
        files += sorted((references / each).rglob("*.py"))
    return files + sorted((release / assignment).glob("*"))


def _built_on(release: Path, assignment: str) -> list[str]:
    """Return an assignment and those whose code is carried into it, also by way of others."""
    found = [assignment]
    for one in found:
        with contextlib.suppress(OSError, ValueError):  # not released
            data = decoded((release / one / "check.json").read_bytes(), CheckFile)
            below = {each["assignment"] for each in data.get("carried", {}).values()}
            found += sorted(below.difference(found))
    return found
