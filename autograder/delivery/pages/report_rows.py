"""What stands beside a student's points in the class report: name, links, when it was handed in."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from urllib.parse import quote

from autograder.course.config import Course
from autograder.course.submissions.hand_in import partners
from autograder.delivery.nbgrader.database import time_zone
from autograder.delivery.nbgrader.people import people
from autograder.delivery.pages.final_grades import Sheet


@dataclass(frozen=True)
class ReportRow:
    """A student's line in the report of one assignment; texts are empty where nothing is known.

    Attributes
    ----------
    name
        Empty where it is no more than the id.
    page, notebook
        Addresses of the feedback and of the graded notebook, seen from reports/.
    submitted
        On the course's clock.
    late
        By how much, or who says so.
    """

    name: str
    page: str
    notebook: str
    submitted: str
    late: str


def entries(course: Course, id: str, found: Mapping[str, Sheet]) -> dict[str, ReportRow]:
    """Return what is known of those who handed in, by student."""
    known, zone = people(course), time_zone(course)
    listed = {}
    for student, sheet in found.items():
        name = known[student].name if student in known else ""
        others = partners(course, student, id)
        name = f"{name or student}, with {', '.join(others)}" if others else name
        moment = sheet.marks.submitted
        listed[student] = ReportRow(
            "" if name == student else name,
            _address(course, course.folder("feedback") / student / id / f"{id}.html"),
            _address(course, course.submission(student, id, "autograded")),
            f"{moment.replace(tzinfo=UTC).astimezone(zone):%Y-%m-%d %H:%M}" if moment else "",
            sheet.marks.lateness,
        )
    return listed


def waiting(found: Iterable[Sheet]) -> dict[str, list[str]]:
    """Return who waits for a person in which exercise, by its title."""
    listed: dict[str, list[str]] = {}
    for sheet in found:
        for section in sheet.sections:
            if section.waiting:
                listed.setdefault(section.title, []).append(sheet.grade.student)
    return listed


def _address(course: Course, path: Path) -> str:
    return quote(os.path.relpath(path, course.root / "reports")) if path.is_file() else ""
