"""Read scores from nbgrader's gradebook, with what people gave by hand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from nbgrader import api

from autograder.course.config import Course
from autograder.course.release import Release
from autograder.delivery.database import CHECK, opened


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
    """

    auto: float | None
    manual: float | None
    extra: float
    max_score: float
    pending: bool
    left_out: bool = False

    @property
    def score(self) -> float:
        """The points as nbgrader counts them: a person's before the engine's."""
        given = self.auto if self.manual is None else self.manual
        return 0.0 if given is None else given + self.extra


@dataclass
class Marks:
    """What the gradebook holds for one submission; cells and comments by grade_id."""

    cells: dict[str, Mark] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    late_penalty: float = 0.0
    submitted: datetime | None = None
    seconds_late: float = 0.0

    @property
    def score(self) -> float:
        """All points, less the penalty for being late."""
        return max(0.0, sum(mark.score for mark in self.counting) - self.late_penalty)

    @property
    def max_score(self) -> float:
        """Points that could be had."""
        return sum(mark.max_score for mark in self.counting)

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

    def leave_out(self, cells: Iterable[str], best: int) -> None:
        """Count the best of these cells alone.

        One that waits for a person may yet be the best, and one that was written goes before a
        blank one.
        """

        def rank(cell: str) -> tuple[float, bool, str]:
            mark = self.cells[cell]
            return -(mark.max_score if mark.pending else mark.score), mark.manual is None, cell

        for cell in sorted(self.cells.keys() & set(cells), key=rank)[best:]:
            self.cells[cell] = replace(self.cells[cell], left_out=True)


def owner(cell: str, exercises: Iterable[str]) -> str:
    """Return the exercise that a graded cell belongs to.

    >>> owner("check_qk", ["qk", "qk_norm"])
    'qk'
    >>> owner("qk_norm_why", ["qk", "qk_norm"])
    'qk_norm'
    """
    name = cell.removeprefix(CHECK)
    return max((id for id in exercises if f"{name}_".startswith(f"{id}_")), key=len, default="")


def scores(course: Course, assignment: str) -> dict[str, Marks]:
    """Return what the gradebook holds of an assignment, by student."""
    found: dict[str, Marks] = defaultdict(Marks)
    with opened(course) as gradebook:
        rows = (
            gradebook.db.query(api.Grade, api.GradeCell, api.SubmittedAssignment.student_id)
            .join(api.GradeCell, api.GradeCell.id == api.Grade.cell_id)
            .join(api.SubmittedNotebook, api.SubmittedNotebook.id == api.Grade.notebook_id)
            .join(api.SubmittedAssignment)
            .join(api.Assignment)
            .filter(api.Assignment.name == assignment)
        )
        for grade, cell, student in rows:
            found[student].cells[cell.name] = Mark(
                grade.auto_score,
                grade.manual_score,
                grade.extra_credit or 0.0,
                cell.max_score,
                grade.needs_manual_grade,
            )
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
            marks.late_penalty = notebook.late_submission_penalty or 0.0
            if submission.assignment.duedate:  # nbgrader fails on an extension without one
                marks.seconds_late = submission.total_seconds_late
    for part, best in course.best.get(assignment, {}).items():
        cells = [f"{id}_{part}" for id in Release.load(course, assignment).data["exercises"]]
        for marks in found.values():
            marks.leave_out(cells, best)
    return dict(found)
