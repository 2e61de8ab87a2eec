"""Progress over the term, all assignments on one page: of the class, and of each student."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from autograder.course.config import Course
from autograder.course.submissions.hand_in import teams
from autograder.course.submissions.handed_in import submissions
from autograder.delivery.nbgrader.people import people
from autograder.delivery.pages.class_results import Quartiles, quartiles
from autograder.delivery.pages.feedback import page_of
from autograder.delivery.pages.final_grades import Sheet, sheets
from autograder.delivery.pages.rendering import write_page
from autograder.delivery.pages.solutions import over
from autograder.delivery.platforms.teams import with_teams


@dataclass(frozen=True)
class Stage:
    """An assignment of the term: what the class handed in, and what came of it.

    Attributes
    ----------
    due
        As it is written in course_config.py; empty where there is none.
    over
        Can nobody hand in on time any more?
    graded
        What is graded, by student; of a team, by each member.
    handed_in
        Everybody who handed in, graded or not.
    missing
        Who of the class did not.
    max_score
        None where nothing is graded yet.
    quartiles
        Of the class, where the course shows them.
    """

    id: str
    title: str
    due: str
    over: bool
    graded: Mapping[str, Sheet]
    handed_in: set[str]
    missing: list[str]
    max_score: float | None
    quartiles: Quartiles | None


@dataclass(frozen=True)
class Term:
    """The assignments that somebody has handed in or whose time is over, and the class by id."""

    stages: list[Stage]
    names: dict[str, str]

    def of(self, student: str) -> tuple[float, float]:
        """Return the points of a student, and the most of what the student has graded."""
        own = [(stage, stage.graded[student]) for stage in self.stages if student in stage.graded]
        return sum(s.score for _, s in own), sum(stage.max_score or 0.0 for stage, _ in own)

    def words(self, student: str) -> str:
        """Say what a student waits for and lacks, in the words by which the page filters."""
        own = [stage.graded[student] for stage in self.stages if student in stage.graded]
        words = {
            "open": any(sheet.open for sheet in own),
            "withheld": any(sheet.withheld for sheet in own),
            "late": any(sheet.marks.lateness for sheet in own),
            "missing": any(student in stage.missing for stage in self.stages),
        }
        return " ".join(word for word, holds in words.items() if holds)

    def lines(self) -> list[str]:
        """Say who has not handed in."""
        return [
            f"{stage.id}: {len(stage.missing)} of {len(self.names)} have not handed in: "
            + ", ".join(stage.missing)
            for stage in self.stages
            if stage.missing
        ]


def term(course: Course, ids: Iterable[str]) -> Term:
    """Return how far a class has come.

    Raises
    ------
    CourseError
        If the gradebook or a release can't be read.
    """
    handed = {
        id: {each.student for each in submissions(course, id)} | teams(course, id).keys()
        for id in ids
    }
    begun = {id: own for id, own in handed.items() if own or over(course, id)}
    names = {id: "" if one.name == id else one.name for id, one in people(course).items()}
    names |= {id: names.get(id, "") for own in begun.values() for id in own}
    return Term([_stage(course, id, names, own) for id, own in begun.items()], names)


def _stage(course: Course, id: str, names: Iterable[str], handed_in: set[str]) -> Stage:
    there = sheets(course, id)
    graded = with_teams(course, id, there)
    return Stage(
        id,
        course.titles[id],
        course.due.get(id, ""),
        over(course, id),
        graded,
        handed_in | graded.keys(),
        sorted({*names} - handed_in - graded.keys()),
        max((sheet.grade.max_score for sheet in there.values()), default=None),
        quartiles(there.values()) if course.quartiles else None,
    )


def write_progress(course: Course, found: Term) -> tuple[Path, list[Path]]:
    """Write the page of the class, and that of each student; return them."""
    folder = course.root / "reports"
    reports = {s.id: f"{s.id}.html" for s in found.stages if (folder / f"{s.id}.html").is_file()}
    students = dict(sorted(found.names.items()))
    page = write_page(
        folder / "progress.html",
        "term.html.j2",
        title=course.id,
        term=found,
        students=students,
        reports=reports,
    )
    return page, [_write_own(course, found, student) for student in students]


def _write_own(course: Course, found: Term, student: str) -> Path:
    path = course.folder("feedback") / student / "progress.html"
    pages = {stage.id: page_of(course, student, stage.id) for stage in found.stages}
    there = {id: page for id, page in pages.items() if page.is_file()}
    score, most = found.of(student)
    return write_page(
        path,
        "progress.html.j2",
        title=course.id,
        student=student,
        stages=found.stages,
        score=score,
        most=most,
        pages={id: quote(os.path.relpath(page, path.parent)) for id, page in there.items()},
    )
