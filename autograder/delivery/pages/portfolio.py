"""A page of a student's work for others to read: pictures, tables and texts, and no points.

A line ``# proud`` in the cell of an answer chooses its exercise.  Of a notebook with such lines the
page shows what they choose, and of that also the code and the derivations.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from autograder.course.config import Course, CourseError
from autograder.course.discover import Assignment, load_assignment
from autograder.course.release.handed_out import Release
from autograder.course.submissions.handed_in import Unreadable, as_released, read_notebook, texts
from autograder.course.submissions.kept_runs import read_runs
from autograder.delivery.nbgrader.people import people
from autograder.delivery.pages.final_grades import Section, Sheet, sheets
from autograder.delivery.pages.picture import describe_exhibit, exhibit_svg
from autograder.delivery.pages.rendering import write_page
from autograder.delivery.pages.sanitise import beneath, rendered
from autograder.delivery.platforms.teams import with_teams
from autograder.exercise import Exercise, Table
from autograder.exercise.words.exhibit import Exhibit
from autograder.grading import own_text
from autograder.grading.own_answer import LONGEST
from autograder.grading.results import Status
from autograder.student.notebook import part_of

_PROUD = re.compile(r"^[ \t]*#[ \t]*proud[ \t]*$\n?", re.M | re.I)


@dataclass(frozen=True)
class Picture:
    """An address that is a picture, and words for those who don't see it."""

    address: str
    words: str


@dataclass(frozen=True)
class ShownWork:
    """What is shown of one exercise.

    Attributes
    ----------
    checked
        What was checked of the student's functions and held, in sentences.
    trainings
        The training runs.
    exhibits
        Captions, with a table or a picture each.
    written
        The student's texts, as HTML that is safe to show.
    derivations
        What they are of, and their lines, of those that are right.
    code
        The cell, where it defines functions; empty where it isn't shown.
    """

    title: str
    source: str
    checked: list[str]
    trainings: list[dict[str, Any]]
    exhibits: list[tuple[str, Table | Picture]]
    written: list[Markup]
    derivations: list[tuple[str, str]]
    code: str


def write_portfolios(
    course: Course, ids: Sequence[str], to: Path, students: Sequence[str] = ()
) -> list[Path]:
    """Write a page for each graded submission and return the pages.

    Raises
    ------
    CourseError
        If an assignment isn't released, nothing of it is graded, or a student handed nothing in.
    """
    pages = []
    names = {id: f"{one.first_name} {one.last_name}".strip() for id, one in people(course).items()}
    for id in ids:
        found = with_teams(course, id, sheets(course, id))
        if unknown := sorted({*students} - found.keys()) or ([] if found else ["anybody"]):
            raise CourseError(
                f"there is no graded submission of {', '.join(unknown)} to {id}: "
                f"`autograder grade {id}` comes first"
            )
        assignment, release = load_assignment(course, id), Release.load(course, id)
        for student in students or found:
            pages.append(
                write_page(
                    to / student / f"{id}.html",
                    "portfolio.html.j2",
                    title=course.titles[id],
                    name=names.get(student) or student,
                    works=_works(course, assignment, release, found[student]),
                )
            )
    return pages


def _works(
    course: Course, assignment: Assignment, release: Release, sheet: Sheet
) -> list[ShownWork]:
    student = sheet.grade.student
    runs = {name: run.value for name, run in read_runs(course, student, assignment.id).items()}
    notebook = _notebook(course, student, assignment.id)
    blank = as_released(notebook, release)
    written = {id: text for id, text in texts(notebook).items() if id not in blank}
    chosen = {id for id, text in written.items() if _PROUD.search(text)}
    found = []
    for section in sheet.sections:
        id = section.grade.id
        if (exercise := assignment.sound.get(id)) and (id in chosen or not chosen):
            found.append(_work(exercise, section, runs, written, whole=id in chosen))
    return [
        one
        for one in found
        if one.checked or one.exhibits or one.written or one.derivations or one.code
    ]


def _work(
    exercise: Exercise,
    section: Section,
    runs: Mapping[str, Any],
    written: Mapping[str, str],
    *,
    whole: bool,
) -> ShownWork:
    """Return what is shown of an exercise; its code and derivations only of the ``whole``."""
    items = section.grade.items
    checks = {check.name for check in exercise.checks}
    known = dict(runs) | {item.name: _answer(item.given) for item in items if item.given}
    drawn = ((exhibit.caption, _drawn(exhibit, known)) for exhibit in exercise.exhibits)
    essays = (written.get(part_of(exercise.id, p.name), "") for p in exercise.parts if p.manual)
    return ShownWork(
        section.title,
        exercise.source,
        [i.rubric for i in items if i.name in checks and i.status is Status.PASSED],
        [item.training for item in items if item.training],
        [(caption, shown) for caption, shown in drawn if shown is not None],
        [beneath(rendered({}, text)) for text in essays if text],
        _derivations(exercise, section) if whole else [],
        _PROUD.sub("", written[exercise.id]).strip() if whole and exercise.functions else "",
    )


def _derivations(exercise: Exercise, section: Section) -> list[tuple[str, str]]:
    lines = {part.name for part in exercise.parts if part.answer.kind == "derivation"}
    return [
        (item.rubric, item.given)
        for item in section.grade.items
        if item.name in lines and item.status is Status.PASSED
    ]


def _drawn(exhibit: Exhibit, known: Mapping[str, Any]) -> Table | Picture | None:
    """Return a table or a picture; nothing, where the student's data are not what it takes."""
    if any(known.get(name) is None for name in exhibit.needs):
        return None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            shown = exhibit.show(**{name: known[name] for name in exhibit.needs})
            if isinstance(shown, Table):
                return shown
            return Picture(exhibit_svg(shown), describe_exhibit(shown))
    except Exception:  # whatever the author's function, or drawing, raises on a wrong answer
        return None


def _answer(text: str) -> Any:
    """Return an answer as an array, from the record; None where it is none, or was cut."""
    return own_text.array(text) if len(text) <= LONGEST else None


def _notebook(course: Course, student: str, assignment: str) -> dict[str, Any]:
    for step in ("autograded", "submitted"):
        try:
            return read_notebook(course.submission(student, assignment, step))
        except Unreadable:
            continue
    return {"cells": []}
