"""Read scores from nbgrader's gradebook, with what people gave by hand; enter what they give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from nbgrader import api

from autograder.course.config import Course
from autograder.course.release.handed_out import Release
from autograder.course.submissions.hand_in import hand_in
from autograder.delivery.nbgrader.database import open_gradebook, submitted_at
from autograder.grading.results import ALL, Counting, Role
from autograder.student.notebook import CHECK, part_of


class EnginePoints(NamedTuple):
    """What the engine gave for a graded cell, and what there is to be had."""

    score: float | None
    most: float


@dataclass(frozen=True)
class Mark:
    """What the gradebook holds for one graded cell.

    Attributes
    ----------
    auto, manual
        Points by the engine and by a person; None where there are none.
    extra
        Extra credit, on top of either.
    pending
        Does a person still have to look?
    left_out
        Is it beyond the best ones, where only so many count?
    role
        What its exercise is to the points.
    """

    auto: float | None
    manual: float | None
    extra: float
    max_score: float
    pending: bool
    left_out: bool = False
    role: Role = "core"

    @property
    def score(self) -> float:
        """The points as nbgrader counts them: a person's before the engine's."""
        given = self.auto if self.manual is None else self.manual
        return 0.0 if given is None else given + self.extra


@dataclass
class Marks:
    """What the gradebook holds for one submission; cells and comments by grade_id.

    ``rule`` says which points count, ``said_late`` is the platform that calls it late and doesn't
    say by how much, if one does.
    """

    cells: dict[str, Mark] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    late_penalty: float = 0.0
    submitted: datetime | None = None
    seconds_late: float = 0.0
    said_late: str = ""
    rule: Counting = ALL

    @property
    def score(self) -> float:
        """All points, less the penalty for being late."""
        earned = self.rule.total((mark.role, mark.score) for mark in self.counting)
        return max(0.0, earned - self.late_penalty)

    @property
    def max_score(self) -> float:
        """Points that are needed for everything."""
        needed = [mark for mark in self.counting if mark.role != "star"]
        return self.rule.total((mark.role, mark.max_score) for mark in needed)

    @property
    def lateness(self) -> str:
        """How late it is, or who says that it is; nothing where it is in time.

        >>> Marks(seconds_late=3661).lateness, Marks(said_late="canvas").lateness
        ('61 min', 'says canvas')
        """
        if self.seconds_late > 0:
            return _how_long(self.seconds_late)
        return f"says {self.said_late}" if self.said_late else ""

    @property
    def counting(self) -> list[Mark]:
        """What is not left out."""
        return [mark for mark in self.cells.values() if not mark.left_out]

    @property
    def withheld(self) -> bool:
        """Does the score of an exercise wait, because the grader could not decide?"""
        return any(m.manual is None and c.startswith(CHECK) for c, m in self.pending)

    @property
    def unmarked(self) -> bool:
        """Has a person yet to mark something, for the first time or again?"""
        return any(m.manual is not None or not c.startswith(CHECK) for c, m in self.pending)

    @property
    def pending(self) -> list[tuple[str, Mark]]:
        """The cells whose points are not final, by grade_id."""
        return [(cell, mark) for cell, mark in self.cells.items() if mark.pending]

    def by_exercise(self, exercises: Iterable[str]) -> dict[str, list[Mark]]:
        """Return the marks of each exercise: its check cell's and its hand-marked parts'."""
        found: dict[str, list[Mark]] = {id: [] for id in exercises}
        for cell, mark in self.cells.items():
            if id := owner(cell, found):
                found[id].append(mark)
        return found

    def _leave_out(self, cells: Iterable[str], best: int) -> None:
        """Count the best of these cells alone.

        One that waits for a person may yet be the best, and one that was written goes before a
        blank one.
        """

        def rank(cell: str) -> tuple[float, bool, str]:
            mark = self.cells[cell]
            return -(mark.max_score if mark.pending else mark.score), mark.manual is None, cell

        for cell in sorted(self.cells.keys() & set(cells), key=rank)[best:]:
            self.cells[cell] = replace(self.cells[cell], left_out=True)

    def count_by(self, rule: Counting, exercises: Iterable[str]) -> None:
        """Count the points as a course's rule says."""
        self.rule = rule
        for part, best in rule.best.items():
            self._leave_out([part_of(id, part) for id in exercises], best)
        for cell, mark in self.cells.items():
            self.cells[cell] = replace(mark, role=rule.role(owner(cell, exercises)))


def owner(cell: str, exercises: Iterable[str]) -> str:
    """Return the exercise that a graded cell belongs to.

    >>> owner("check_fall", ["fall", "fall_time"])
    'fall'
    >>> owner("fall_time_why", ["fall", "fall_time"])
    'fall_time'
    """
    name = cell.removeprefix(CHECK)
    return max((id for id in exercises if f"{name}_".startswith(f"{id}_")), key=len, default="")


def scores(course: Course, assignment: str) -> dict[str, Marks]:
    """Return what the gradebook holds of an assignment, by student."""
    found: dict[str, Marks] = defaultdict(Marks)
    with open_gradebook(course) as gradebook:
        rows = _graded_cells(
            gradebook,
            assignment,
            api.Grade.auto_score,
            api.Grade.manual_score,
            api.Grade.extra_credit,
            api.GradeCell.max_score,
            api.Grade.needs_manual_grade,
        )
        # A server gives rows in whatever order; points add up to the same bits in one order alone.
        for student, cell, auto, manual, extra, *rest in sorted(rows, key=lambda row: row[:2]):
            found[student].cells[cell] = Mark(auto, manual, extra or 0.0, *rest)
        comments = (
            gradebook.db.query(
                api.Comment.comment, api.BaseCell.name, api.SubmittedAssignment.student_id
            )
            .join(api.BaseCell, api.BaseCell.id == api.Comment.cell_id)
            .join(api.SubmittedNotebook, api.SubmittedNotebook.id == api.Comment.notebook_id)
            .join(api.SubmittedAssignment)
            .join(api.Assignment)
            .filter(api.Assignment.name == assignment)
        )
        for comment, cell, student in comments:
            if comment:
                found[student].comments[cell] = comment
        submissions = (
            gradebook.db.query(api.SubmittedAssignment, api.SubmittedNotebook)
            .join(api.SubmittedNotebook)
            .join(api.Assignment)
            .filter(api.Assignment.name == assignment)
        )
        for submission, notebook in submissions:
            marks = found[submission.student_id]
            marks.submitted = submission.timestamp
            marks.said_late = said_late(course, submission.student_id, assignment)
            marks.late_penalty = notebook.late_submission_penalty or 0.0
            if submission.assignment.duedate:  # nbgrader fails on an extension without one
                marks.seconds_late = submission.total_seconds_late
    counting = course.counting.get(assignment, ALL)
    if counting != ALL:
        exercises = Release.load(course, assignment).data["exercises"]
        for marks in found.values():
            marks.count_by(counting, exercises)
    return dict(found)


def said_late(course: Course, student: str, assignment: str) -> str:
    """Return the platform that calls a hand-in late without saying by how much, if one does."""
    known = hand_in(course, student, assignment)
    return known.platform if known.late and not submitted_at(course, student, assignment) else ""


def engine_scores(course: Course, assignment: str) -> dict[str, dict[str, EnginePoints]]:
    """Return what the engine gave, by student and graded cell: no more, for a large class."""
    found: dict[str, dict[str, EnginePoints]] = defaultdict(dict)
    with open_gradebook(course) as gradebook:
        columns = api.Grade.auto_score, api.GradeCell.max_score
        for student, cell, *auto in _graded_cells(gradebook, assignment, *columns):
            found[student][cell] = EnginePoints(*auto)
    return dict(found)


def _graded_cells(gradebook: Any, assignment: str, *columns: object) -> Any:
    """Query rows of student, cell and these columns."""
    return (
        gradebook.db.query(api.SubmittedAssignment.student_id, api.GradeCell.name, *columns)
        .select_from(api.Grade)
        .join(api.GradeCell, api.GradeCell.id == api.Grade.cell_id)
        .join(api.SubmittedNotebook, api.SubmittedNotebook.id == api.Grade.notebook_id)
        .join(api.SubmittedAssignment)
        .join(api.Assignment)
        .filter(api.Assignment.name == assignment)
    )


@dataclass(frozen=True)
class ByHand:
    """What a person gives to a cell; None leaves what is there."""

    points: float | None = None
    comment: str | None = None


def enter(course: Course, assignment: str, given: Mapping[tuple[str, str], ByHand]) -> None:
    """Enter points and comments by student and grade_id in one transaction, as formgrader does.

    Raises
    ------
    CourseError
        If the gradebook can't be written.
    """
    with open_gradebook(course) as gradebook:
        for kind in (api.Grade, api.Comment):
            rows = (
                gradebook.db.query(kind, api.BaseCell.name, api.SubmittedAssignment.student_id)
                .join(api.BaseCell, api.BaseCell.id == kind.cell_id)
                .join(api.SubmittedNotebook, api.SubmittedNotebook.id == kind.notebook_id)
                .join(api.SubmittedAssignment)
                .join(api.Assignment)
                .filter(api.Assignment.name == assignment)
            )
            for row, cell, student in rows:
                by_hand = given.get((student, cell), ByHand())
                if kind is api.Comment and by_hand.comment is not None:
                    row.manual_comment = by_hand.comment
                elif kind is api.Grade and by_hand.points is not None:
                    row.manual_score, row.needs_manual_grade = by_hand.points, False
        gradebook.db.commit()


def _how_long(seconds: float) -> str:
    """Say how long something took, in the unit that fits.

    >>> _how_long(30), _how_long(5400), _how_long(200_000)
    ('1 min', '90 min', '2.3 days')
    """
    minutes = max(1, round(seconds / 60))
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes / 60:.0f} h" if minutes < 48 * 60 else f"{minutes / 1440:.1f} days"
