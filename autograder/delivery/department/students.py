"""Rename, merge and remove students, with everything that hangs on them."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from nbgrader import api

from autograder.course.config import Course, CourseError
from autograder.course.files import make_private, write_atomically
from autograder.course.lock import grading
from autograder.course.looks_given import rename_in_looks
from autograder.course.people.roster import read_roster, roster_file, write_roster
from autograder.course.people.student_ids import checked_id
from autograder.course.submissions.hand_in import partners
from autograder.course.submissions.records import Record, read_record, write
from autograder.delivery.nbgrader.database import open_gradebook
from autograder.delivery.nbgrader.extensions import rename_in_extensions
from autograder.delivery.nbgrader.people import people
from autograder.delivery.platforms.teams import rename_in_teams

_STEPS = ("submitted", "autograded", "feedback")


@dataclass(frozen=True)
class Change:
    """What becomes of a student.

    Attributes
    ----------
    new
        The id that takes everything over; empty to remove it.
    moved, aside
        Assignments that go over, and those that are put aside because ``new`` has them, too, or
        nobody takes them.
    shared
        Those of them that are put aside and are others' as well, with whose.
    """

    old: str
    new: str
    moved: list[str]
    aside: list[str]
    shared: dict[str, list[str]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Say what is to be done."""
        lines = [f"{self.old} becomes {self.new}" if self.new else f"{self.old} is removed"]
        if self.moved:
            lines.append(
                f"submissions, scores, marks and feedback go over: {', '.join(self.moved)}"
            )
        if self.aside:
            why = f"{self.new} has them, too" if self.new else "with all scores and marks"
            lines.append(f"put aside in removed/ ({why}): {', '.join(self.aside)}")
        for assignment, others in self.shared.items():
            lines.append(
                f"{assignment} was handed in together with {', '.join(others)}: collect it again"
            )
        return lines


def planned(course: Course, old: str, new: str, *, merge: bool = False) -> Change:
    """Return what renaming ``old``, merging it into ``new``, or removing it does.

    Raises
    ------
    CourseError
        If ``old`` is nobody; one of them can't be an id, is taken, or to merge with is nobody.
    """
    for id in (old, new) if new or merge else (old,):
        checked_id(id)
    known, both = people(course), _assignments(course, old)
    if old not in known and not both:
        raise CourseError(
            f"{old} is no student of this course: `autograder roster show` lists them"
        )
    theirs = _assignments(course, new) if new else set()
    there = new in known or bool(theirs)
    if old == new or (merge and not there):
        raise CourseError(f"{new} is nobody else of this course to merge {old} with")
    if new and there and not merge:
        raise CourseError(f"{new} is a student already: `autograder student merge {old} {new}`")
    alike = [id for id in known if id.casefold() == new.casefold() and id not in (old, new)]
    if new and not there and alike:
        raise CourseError(
            f"{new} is {alike[0]} but for capital letters, and a class list can't hold both: "
            "choose another id"
        )
    aside = both & theirs if new else both
    shared = {id: others for id in sorted(aside) if (others := partners(course, old, id))}
    return Change(old, new, sorted(both - aside), sorted(aside), shared)


def apply(course: Course, change: Change) -> Path | None:
    """Do it; return the folder with what was put aside, if anything was.

    Points that a person gave go over with the text that they were given for.  The automatic ones
    are made anew by the next ``autograder grade``, with the new id's numbers.
    """
    make_private(course.root / "removed", course.private[1])
    stamp = f"{datetime.now():%Y-%m-%d_%H-%M-%S}"
    removed = course.root / "removed" / f"{change.old}_{stamp}"
    with grading(course):
        if change.aside:
            _put_aside(course, change, removed)
        for assignment in change.moved:
            _move(course, change.old, change.new, assignment)
        _in_gradebook(course, change)
        _in_roster(course, change)
        rename_in_extensions(course, change.old, change.new)
        rename_in_looks(course, change.old, change.new)
        rename_in_teams(course, change.old, change.new)
        for step in _STEPS:
            shutil.rmtree(course.folder(step) / change.old, ignore_errors=True)
        shutil.rmtree(course.root / "records" / change.old, ignore_errors=True)
    return removed if change.aside else None


def _assignments(course: Course, student: str) -> set[str]:
    """Return the assignments of which anything is there of a student."""
    folders = [*(course.folder(step) for step in _STEPS)]
    found = {path.name for f in folders for path in (f / student).glob("*") if path.is_dir()}
    found |= {path.stem for path in (course.root / "records" / student).glob("*.json")}
    with open_gradebook(course) as gradebook:
        rows = gradebook.db.query(api.SubmittedAssignment).filter_by(student_id=student)
        return found | {row.assignment.name for row in rows}


def _put_aside(course: Course, change: Change, removed: Path) -> None:
    """Move files and write down scores, so that a person could bring them back."""
    for assignment in change.aside:
        for step in _STEPS:
            source = course.folder(step) / change.old / assignment
            if source.is_dir():
                (removed / step).mkdir(parents=True, exist_ok=True)
                shutil.move(source, removed / step / assignment)
        record = course.record(change.old, assignment)
        if record.is_file():
            write_atomically(removed / "records" / record.name, record.read_bytes())
            record.unlink()
    scores: list[dict[str, Any]] = []
    with open_gradebook(course) as gradebook:
        for row in gradebook.db.query(api.SubmittedAssignment).filter_by(student_id=change.old):
            if row.assignment.name in change.aside:
                for notebook in row.notebooks:
                    scores += [{**grade.to_dict(), "kind": "grade"} for grade in notebook.grades]
                    scores += [{**one.to_dict(), "kind": "comment"} for one in notebook.comments]
                gradebook.db.delete(row)
        gradebook.db.commit()
    write_atomically(removed / "gradebook.json", json.dumps(scores, indent=1).encode())


def _move(course: Course, old: str, new: str, assignment: str) -> None:
    for step in _STEPS:
        source = course.folder(step) / old / assignment
        if source.is_dir():
            (course.folder(step) / new).mkdir(parents=True, exist_ok=True)
            source.rename(course.folder(step) / new / assignment)
    if record := read_record(course, old, assignment):
        grade, provenance = replace(record.grade, student=new), replace(record.provenance, key="")
        write(course, Record(grade, provenance))
    course.record(old, assignment).unlink(missing_ok=True)


def _in_gradebook(course: Course, change: Change) -> None:
    with open_gradebook(course) as gradebook:
        row = gradebook.db.get(api.Student, change.old)
        if row is None:
            return
        if change.new:
            names = ("first_name", "last_name", "email", "lms_user_id")
            known = {name: getattr(row, name) for name in names if getattr(row, name)}
            there = gradebook.db.get(api.Student, change.new)
            if there is not None:
                known = {k: v for k, v in known.items() if not getattr(there, k)}
            gradebook.update_or_create_student(change.new, **known)
            for submission in list(row.submissions):
                submission.student_id = change.new
            gradebook.db.commit()
            gradebook.db.refresh(row)
        gradebook.db.delete(row)
        gradebook.db.commit()


def _in_roster(course: Course, change: Change) -> None:
    path = roster_file(course)
    if not path.is_file():
        return
    listed = {person.id: person for person in read_roster(path)}
    person = listed.pop(change.old, None)
    if person and change.new:
        listed.setdefault(change.new, replace(person, id=change.new))
    if person:
        write_roster(path, listed.values())
