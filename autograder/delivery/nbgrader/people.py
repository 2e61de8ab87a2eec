"""The class list and the gradebook's students: they are the same people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from autograder.course.config import Course
from autograder.course.people.roster import Person, declared, roster_file
from autograder.course.people.roster_import import import_roster
from autograder.course.people.student_ids import STUDENT_ID
from autograder.delivery.nbgrader.database import open_gradebook

#: formgrader prints names as they are, and people choose the names that a learning platform has.
_NO_MARKUP = str.maketrans("<>", "‹›")


def people(course: Course) -> dict[str, Person]:
    """Return every known student by id: those on the roster, and those in the gradebook.

    What the roster says of a person counts before what the gradebook does.  Of the gradebook's,
    whose ids can't be a student's are left out: nothing of theirs is graded, and ids name folders.
    """
    found = {person.id: person for person in declared(course)}
    with open_gradebook(course) as gradebook:
        for row in gradebook.students:
            if not STUDENT_ID.fullmatch(row.id):
                continue
            known = found.get(row.id, Person(row.id))
            named = known.first_name or known.last_name
            numbers = {"canvas": (row.lms_user_id,)} if row.lms_user_id else {}
            found[row.id] = replace(
                known,
                first_name=known.first_name if named else row.first_name or "",
                last_name=known.last_name if named else row.last_name or "",
                email=known.email or row.email or "",
                numbers={**numbers, **known.numbers},
            )
    return found


def roster(course: Course) -> set[str]:
    """Return whose submissions are taken; empty where there is no class list.

    A list is complete, but for students that the gradebook holds already.  Without one
    anybody may hand in: the gradebook alone is no class list, grading itself enters students.
    """
    return set(people(course)) if declared(course) else set()


def add_students(course: Course, students: Iterable[Person]) -> None:
    """Enter students into the gradebook, so that it lists those who hand nothing in, too.

    Who is there already gets the name, address and number that changed.
    """
    with open_gradebook(course) as gradebook:
        there = {row.id: row for row in gradebook.students}
        for person in students:
            known = {"first_name": person.first_name, "last_name": person.last_name}
            known |= {"email": person.email}
            known |= {"lms_user_id": " ".join(person.numbers.get("canvas", ()))}
            known = {k: text.translate(_NO_MARKUP) for k, text in known.items() if text}
            row = there.get(person.id)
            if row is None or any(getattr(row, k) != text for k, text in known.items()):
                gradebook.update_or_create_student(person.id, **known)


def import_people(course: Course, source: Path) -> list[str]:
    """Take people over from a platform's export; return what was done, a line for each.

    Raises
    ------
    CourseError
        If the export can't be read.
    """
    done = import_roster(course, source)
    add_students(course, declared(course))
    file = roster_file(course).name
    counts = f"{len(done.new)} new in {file}, {len(done.completed)} completed ({done.source})"
    return [*done.notes, counts]
