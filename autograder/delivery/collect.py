"""Bring submissions in: from nbgrader's exchange, or from what a learning platform hands out."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from autograder.course.config import Course
from autograder.course.files import write_atomically
from autograder.course.release import Release
from autograder.delivery.database import submitted_at
from autograder.delivery.exchange import NOT_COLLECTED, run
from autograder.delivery.handed import File, Origin, Problem, identify, notebooks_in, origin
from autograder.delivery.people import people, roster


@dataclass
class Collection:
    """What came of collecting.

    Attributes
    ----------
    new, updated, unchanged
        (student, assignment) of each submission.
    problems
        What was left where it was, and why.
    """

    new: list[tuple[str, str]] = field(default_factory=list)
    updated: list[tuple[str, str]] = field(default_factory=list)
    unchanged: list[tuple[str, str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Say it on the console."""
        counts = (
            f"{len(self.new)} new, {len(self.updated)} updated, {len(self.unchanged)} unchanged"
        )
        return [counts, *map(str, self.problems)]


def collect(course: Course, ids: Sequence[str], source: str | Path = "exchange") -> Collection:
    """Bring submissions into submitted/<student>/<assignment>/.

    An earlier submission is replaced by a later one, never the other way round.  Where
    course_config.py lists students, nobody else's submission is taken.

    Parameters
    ----------
    source
        ``"exchange"`` for nbgrader's, or a folder or zip file of a learning platform
        (``handed`` says which layouts are known).

    Raises
    ------
    CourseError
        If there is no such source.
    """
    if source == "exchange":
        return _from_exchange(course, ids)
    collector = _Collector(course, ids)
    with notebooks_in(Path(source)) as (files, problems):
        collector.result.problems += problems
        for file in files:
            collector.take(file)
        collector.store()
    return collector.result


def _from_exchange(course: Course, ids: Sequence[str]) -> Collection:
    result = Collection()
    for id in ids:
        before = _times(course, id)
        log = run(course, "collect", id)
        refused = re.findall(rf"^\[WARNING\] (.+) ({NOT_COLLECTED}: .+)$", log, re.M)
        result.problems += [Problem(path, f"{reason}.") for path, reason in refused]
        for student, time in _times(course, id).items():
            kind = "new" if student not in before else "unchanged"
            kind = "updated" if kind == "unchanged" and before[student] != time else kind
            getattr(result, kind).append((student, id))
    return result


def _times(course: Course, id: str) -> dict[str, datetime | None]:
    folders = sorted(course.folder("submitted").glob(f"*/{id}"))
    return {f.parent.name: submitted_at(course, f.parent.name, id) for f in folders}


@dataclass(frozen=True)
class _Found:
    """A notebook whose owner and assignment are known."""

    file: File
    digest: bytes
    origin: Origin


class _Collector:
    """Sorts notebooks by student and assignment, and keeps the latest of each."""

    def __init__(self, course: Course, ids: Sequence[str]) -> None:
        self.course, self.ids, self.result = course, ids, Collection()
        self.known = people(course)
        self.roster = roster(course)
        self.cells = {id: _grade_ids(Release.load(course, id).notebook) for id in course.ids()}
        self.latest: dict[tuple[str, str], _Found] = {}
        self.twofold: dict[tuple[str, str], list[_Found]] = {}  # several people under one id

    def take(self, file: File) -> None:
        """Find out whose notebook this is and of which assignment."""
        try:
            content = file.read()
            named, stem = origin(file.path, list(self.cells))
            student = identify(named, self.known)
            assignment = self._assignment(stem, content)
            if assignment not in self.ids:
                return
            if self.roster and student not in self.roster:
                raise ValueError(
                    f"{student} is not on the roster; "
                    "if the id is right, add it to c.Course.students"
                )
        except ValueError as error:
            self.result.problems.append(Problem(file.path, f"{error}."))
            return
        place = student, assignment
        found = _Found(file, sha256(content).digest(), named)
        other = self.latest.setdefault(place, found)
        if other.origin != found.origin:
            self.twofold.setdefault(place, [other]).append(found)
        elif other.digest != found.digest:
            first, last = sorted((other, found), key=lambda f: f.file.order)
            self.latest[place] = last
            self.result.problems.append(
                Problem(
                    first.file.path,
                    f"{student} handed in {assignment} twice; what counts is {last.file.path}.",
                )
            )

    def _assignment(self, stem: str, content: bytes) -> str:
        """Recognise an assignment by the cells, or by the file's name where they can't be read."""
        try:
            inside = _grade_ids(json.loads(content))
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            inside = set()
        shared = {id: len(cells & inside) for id, cells in self.cells.items()}
        likely = max(shared, key=lambda id: (shared[id], id == stem))
        if shared[likely]:
            return likely
        if stem in self.cells:
            return stem
        raise ValueError("neither its name nor its cells are of an assignment of this course")

    def store(self) -> None:
        """Write what is new into submitted/."""
        for (student, assignment), claims in self.twofold.items():
            del self.latest[student, assignment]
            others = ", ".join(found.file.path for found in claims[1:])
            self.result.problems.append(
                Problem(
                    claims[0].file.path,
                    f"this and {others} would both be {student}'s {assignment}, and the platform "
                    "names two people; neither is taken: put their names on the roster.",
                )
            )
        for (student, assignment), found in sorted(self.latest.items()):
            place = student, assignment
            path = self.course.submission(student, assignment)
            there = path.is_file()
            time = submitted_at(self.course, student, assignment)
            if there and sha256(path.read_bytes()).digest() == found.digest:
                self.result.unchanged.append(place)
            elif there and time and (found.file.time is None or found.file.time <= time):
                self.result.problems.append(
                    Problem(
                        found.file.path,
                        f"a submission of {assignment} by {student} that is at least as new was "
                        "collected before; it stays.",
                    )
                )
            else:
                write_atomically(path, found.file.read())
                stamp = f"{found.file.time:%Y-%m-%d %H:%M:%S.%f} UTC" if found.file.time else ""
                write_atomically(path.with_name("timestamp.txt"), stamp.encode())
                (self.result.updated if there else self.result.new).append(place)


def _grade_ids(notebook: dict[str, Any]) -> set[str]:
    """Return the grade_ids of a notebook's cells; the file may hold anything."""
    ids = (cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in notebook["cells"])
    return {id for id in ids if isinstance(id, str)}
