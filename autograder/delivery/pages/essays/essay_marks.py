"""Enter the marks of a sheet in nbgrader's gradebook: all of them, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course.config import Course
from autograder.course.lock import grading
from autograder.delivery.nbgrader.gradebook import refresh_times
from autograder.delivery.nbgrader.marks import ByHand, enter
from autograder.delivery.pages.essays.free_text import answers
from autograder.delivery.pages.essays.marked_rows import Marked, read_marked
from autograder.delivery.pages.rendering import counted


@dataclass(frozen=True)
class Entered:
    """What came of reading sheets.

    Attributes
    ----------
    lines
        What was done, or would be.
    problems
        Why nothing was; a sentence for each cell.
    """

    lines: list[str]
    problems: list[str] = field(default_factory=list)


def read_essays(
    course: Course,
    assignment: str,
    paths: Sequence[Path],
    *,
    dry_run: bool = False,
    replace: bool = False,
) -> Entered:
    """Enter marks and comments; an empty cell says nothing, and takes nothing away.

    Parameters
    ----------
    dry_run
        Only say what would be done.
    replace
        Also replace what the gradebook holds by now that it did not when the sheet was written.

    Raises
    ------
    CourseError
        If a file can't be read, or somebody is grading.
    """
    with grading(course):
        found = answers(course, assignment)
        marked, problems = read_marked(found, paths)
        changes: dict[tuple[str, str], ByHand] = {}
        for one in marked:
            if not replace:
                problems += _meanwhile(one)
            if (change := _change(one)) != ByHand():
                changes[one.written.student, one.written.asked.cell] = change
        if problems:
            return Entered(["nothing was entered"], problems)
        if changes and not dry_run:
            enter(course, assignment, changes)
            refresh_times(course, assignment)  # a penalty may be a share of the points
    marks = sum(change.points is not None for change in changes.values())
    comments = sum(change.comment is not None for change in changes.values())
    done = "would be" if dry_run else "were"
    lines = [f"marks that {done} entered in the gradebook: {marks}; comments: {comments}"]
    if same := len(marked) - len(changes):
        lines.append(f"rows that say what is there already: {same}")
    if not dry_run and changes:
        lines.append(f"run `autograder feedback {assignment}` for the students' pages")
    return Entered(lines)


def _change(one: Marked) -> ByHand:
    """Return what is to be entered; nothing of what is there already."""
    mark = one.written.mark
    same = one.points == mark.manual and not mark.pending
    return ByHand(
        None if same else one.points,
        one.comment if one.comment not in ("", one.written.comment) else None,
    )


def _meanwhile(one: Marked) -> list[str]:
    """Say what the gradebook holds that it did not when the sheet was written."""
    now, change, found = one.written.stamp, _change(one), []
    advice = "empty the cell to keep that, or enter the sheet with --replace"
    if change.points is not None and one.stamp.mark != now.mark:
        column = list(one.split)[-1] if one.split else "points"
        held = one.written.mark.manual
        has = "no mark" if held is None else counted(held)
        found.append(
            f"{one.row.at(column)}: {counted(change.points)} here, and {one.written.code} has "
            f"{has} by now, given after the sheet was written; {advice}"
        )
    if change.comment is not None and one.stamp.comment != now.comment:
        found.append(
            f"{one.row.at('comment')}: {one.written.code} has another comment by now, "
            f"{one.written.comment!r}; {advice}"
        )
    return found
