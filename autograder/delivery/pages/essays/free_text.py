"""What students wrote where a person marks it, and what the gradebook holds of it."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from autograder.course.config import Course, CourseError
from autograder.course.discover import load_assignment
from autograder.course.release.handed_out import Release
from autograder.course.secret import secret_of
from autograder.course.submissions.handed_in import Unreadable, read_notebook
from autograder.course.submissions.records import read_grade
from autograder.delivery.nbgrader.marks import Mark, scores
from autograder.exercise import Exercise, Part
from autograder.grading.own_answer import as_written
from autograder.grading.rubric import RubricPoint, rubric_points
from autograder.student.notebook import grade_id, part_of, source_of

#: Codes of these letters make no word, no number and no date.
_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"


@dataclass(frozen=True)
class Asked:
    """A part of an exercise that is marked by hand."""

    exercise: Exercise
    part: Part

    @property
    def cell(self) -> str:
        """The grade_id of the cell in which students answer."""
        return part_of(self.exercise.id, self.part.name)

    @cached_property
    def rubric(self) -> list[RubricPoint]:
        """What the marker looks for."""
        return rubric_points(self.part)


@dataclass(frozen=True)
class FreeText:
    """One student's answer.

    Attributes
    ----------
    code
        What stands for the student in this answer, and in no other one.
    variant
        The student's numbers by name.
    cell
        The notebook's cell, with its pictures.
    """

    asked: Asked
    student: str
    code: str
    variant: dict[str, Any]
    cell: dict[str, Any]
    mark: Mark
    comment: str

    @property
    def text(self) -> str:
        """What was written."""
        return source_of(self.cell)

    @property
    def stamp(self) -> Stamp:
        """What there is to be marked, and what the gradebook holds, now."""
        mark = self.mark.manual, self.mark.pending
        return Stamp(_digest(self.text), _digest(repr(mark)), _digest(self.comment))


@dataclass(frozen=True)
class Stamp:
    """Digests by which it is noticed that something is not as it was when a sheet was written."""

    text: str
    mark: str
    comment: str

    def __str__(self) -> str:
        return f"{self.text}-{self.mark}-{self.comment}"


@dataclass(frozen=True)
class Codes:
    """Codes for people who shall not be known: only who has the course's secret can make them."""

    secret: str
    assignment: str

    def of(self, *names: str) -> str:
        """Return ten letters for, say, a cell and a student."""
        told = "\0".join(("essays", self.assignment, *names)).encode()
        number = int.from_bytes(hmac.digest(self.secret.encode(), told, "sha256"))
        return "".join(_LETTERS[number // 20**place % 20] for place in range(10))


@dataclass(frozen=True)
class Answers:
    """All answers of a class to the parts of an assignment that are marked by hand."""

    assignment: str
    codes: Codes
    asked: list[Asked]
    written: list[FreeText] = field(default_factory=list)

    def to(self, asked: Asked, marker: str = "") -> list[FreeText]:
        """Return the answers to one part, in an order that tells nothing; each marker has one."""
        own = [one for one in self.written if one.asked is asked]
        return sorted(own, key=lambda one: self.codes.of("order", marker, one.code))


def answers(course: Course, assignment: str) -> Answers:
    """Return what a class wrote, from the notebooks and the gradebook that formgrader shows.

    Raises
    ------
    CourseError
        If nothing of the assignment is marked by hand, or an autograded notebook can't be read.
    """
    sound = load_assignment(course, assignment).sound
    release = Release.load(course, assignment)
    asked = [Asked(e, part) for e in sound.values() for part in e.parts if part.manual]
    if not asked:
        raise CourseError(f"nothing of {assignment} is marked by hand: it has no Essay")
    found = Answers(assignment, Codes(secret_of(course), assignment), asked)
    for student, marks in sorted(scores(course, assignment).items()):
        if not any(one.cell in marks.cells for one in asked):
            continue
        cells = _cells(course, student, assignment)
        grade = read_grade(course, student, assignment)
        variants = {exercise.id: exercise.variant for exercise in grade.exercises} if grade else {}
        for one in asked:
            if one.cell not in marks.cells or one.cell not in cells:
                continue
            found.written.append(
                FreeText(
                    one,
                    student,
                    found.codes.of(one.cell, student),
                    release.pool(one.exercise.id)[variants.get(one.exercise.id, 0)],
                    cells[one.cell],
                    marks.cells[one.cell],
                    marks.comments.get(one.cell, ""),
                )
            )
    return found


def numbers(variant: Mapping[str, Any]) -> str:
    """Return a student's numbers as text.

    >>> numbers({"n": 4, "h": [1, 8]})
    'n = 4; h = [1, 8]'
    """
    return "; ".join(f"{name} = {as_written(value)}" for name, value in variant.items())


def _cells(course: Course, student: str, assignment: str) -> dict[str, dict[str, Any]]:
    try:
        notebook = read_notebook(course.submission(student, assignment, "autograded"))
    except Unreadable as error:
        raise CourseError(
            f"the autograded notebook of {student} can't be read ({error}): "
            f"`autograder grade {assignment} --student {student} --force` makes it again"
        ) from error
    return {grade_id(c): c for c in notebook["cells"]}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8]
