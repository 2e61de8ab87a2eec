"""Grade all courses of a folder, one after the other, with one pool of graders."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from autograder.course.config import CONFIG, Course, CourseError
from autograder.course.files import unusable
from autograder.course.graders import Open
from autograder.course.graders.pool import Pool
from autograder.course.graders.processes import sharing
from autograder.course.submissions.grading_options import DEFAULT, GradingOptions
from autograder.course.submissions.handed_in import submissions
from autograder.delivery.department.bar import Bar
from autograder.delivery.department.grading import (
    NothingToGrade,
    Outcome,
    grade_and_save,
    without_gpu,
)
from autograder.sandbox import SandboxError, probe

#: Opens graders for a course.
Opener = Callable[[Course], Open]


@dataclass(frozen=True)
class CourseRow:
    """What became of one course.

    Attributes
    ----------
    name
        Of its folder.
    outcome
        None where it was not graded, or not to its end.
    reason
        Why that is so; it is no fault where there was nothing to grade.
    """

    name: str
    outcome: Outcome | None
    reason: str = ""
    failed: bool = False
    seconds: float = 0.0

    @property
    def well(self) -> bool:
        """Whether nobody has to look at it."""
        return not self.failed and not (self.outcome and self.outcome.problems)

    def to_json(self) -> dict[str, Any]:
        """Return what became of it as data."""
        return {
            "reason": self.reason,
            "failed": self.failed,
            "up_to_date": self.outcome.up_to_date if self.outcome else 0,
            "problems": self.outcome.problems if self.outcome else [],
            "grades": [g.to_json() for g in self.outcome.grades] if self.outcome else [],
        }

    def lines(self) -> list[str]:
        """Say what there is to look at."""
        said = [*self.outcome.notes, *self.outcome.problems] if self.outcome else [self.reason]
        return [f"{self.name}: {line}" for line in said]


def courses_table(rows: Sequence[CourseRow]) -> Table:
    """Return a table with a row per course: what a grading run did there."""
    table = Table(title="Courses", title_justify="left", box=None, pad_edge=False)
    table.add_column("course", overflow="fold")
    for name in ("graded", "up to date", "to look at", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for row in rows:
        done = row.outcome
        counts = (len(done.graded), done.up_to_date, len(done.problems)) if done else ("–",) * 3
        said = "" if done else "not graded" if row.failed else "nothing handed in"
        table.add_row(escape(row.name), *map(str, counts), f"{row.seconds:.1f}", said)
    return table


def courses_in(folder: Path) -> list[Path]:
    """Return the folders of the courses in a folder, by name.

    Raises
    ------
    CourseError
        If there is none, or the folder is that of a course itself.
    """
    folder = folder.resolve()
    if (folder / CONFIG).is_file():
        raise CourseError(
            f"{folder} is a course, and --all-courses takes the folder that courses are in: name "
            f"that, `--course {folder.parent}`, or leave out --all-courses"
        )
    found = sorted(path.parent for path in folder.glob(f"*/{CONFIG}"))
    if not found:
        raise CourseError(
            f"no folder in {folder} has a {CONFIG}: --all-courses takes the folder that courses "
            "are in, as `--course DIR`"
        )
    return found


def grade_courses(
    folder: Path,
    wanted: list[str] | None = None,
    options: GradingOptions = DEFAULT,
    *,
    bar: Callable[[int], Bar] | None = None,
    opener: Opener | None = None,
) -> list[CourseRow]:
    """Grade every course as `grade_and_save` does; one that can't be graded costs no other one.

    Parameters
    ----------
    wanted
        Assignments, by names that each course is asked for.
    bar
        Makes the progress bar, for so many submissions.
    opener
        Opens graders for a course; by default all share the processes of one pool.

    Raises
    ------
    CourseError
        If there is no course in the folder.
    """
    roots = courses_in(folder)
    counts = [_count(root, wanted) for root in roots]
    shown = bar(sum(counts)) if bar else None
    rows: list[CourseRow] = []
    with ExitStack() as stack:
        if opener is None:
            gpu = options.gpu and not without_gpu(options.trust_students)
            here = replace(options, gpu=gpu)
            pool = Pool(here.width, here, tell=shown.tell if shown else None)
            opener = _here(stack.enter_context(pool), options.trust_students)
        for i, root in enumerate(roots):
            if shown:
                shown.name(root.name)
            rows.append(_grade(root, wanted, opener, options, shown))
            if shown:
                shown.reach(sum(counts[: i + 1]))
    return rows


def _here(pool: Pool, trust_students: bool) -> Opener:
    """Return what opens a pool for courses that this machine's isolation is good enough for."""
    share = sharing(pool)

    def opener(course: Course) -> Open:
        course.demand(probe(), trust_students=trust_students)
        return share(course)

    return opener


def _grade(
    root: Path,
    wanted: list[str] | None,
    opener: Opener,
    options: GradingOptions,
    bar: Bar | None,
) -> CourseRow:
    began = time.monotonic()
    outcome, reason, failed = None, "", False
    try:
        course = Course.load(root)
        outcome = grade_and_save(
            course, course.ids(wanted), options, bar=bar, open_graders=opener(course)
        )
    except NothingToGrade as error:
        reason = str(error)
    except (CourseError, SandboxError) as error:
        reason, failed = str(error), True
    except OSError as error:
        reason, failed = str(unusable(error)), True
    except Exception as error:  # ours: no other course waits for it to be mended
        reason, failed = (
            f"the autograder itself failed ({type(error).__name__}: {error}): "
            f"`autograder grade --course {root}` shows where",
            True,
        )
    return CourseRow(root.name, outcome, reason, failed, time.monotonic() - began)


def _count(root: Path, wanted: Sequence[str] | None) -> int:
    """Return how many submissions a course has, for the bar; what is wrong is said later."""
    try:
        course = Course.load(root)
        return sum(len(submissions(course, id)) for id in course.ids([*wanted] if wanted else None))
    except (CourseError, OSError):
        return 0
