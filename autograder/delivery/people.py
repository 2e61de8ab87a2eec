"""The class list: students declared in course_config.py, and those in the gradebook."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from autograder.course.config import Course
from autograder.delivery.database import opened

#: formgrader prints names as they are, and people choose the names that a learning platform has.
_NO_MARKUP = str.maketrans("<>", "‹›")


@dataclass(frozen=True)
class Person:
    """A student as the gradebook or course_config.py names them; texts are empty if unknown."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_id: str = ""

    @property
    def name(self) -> str:
        """First and last name, or the id."""
        return f"{self.first_name} {self.last_name}".strip() or self.id


def people(course: Course) -> dict[str, Person]:
    """Return every known student by id: those declared, and those in the gradebook."""
    found = {person.id: person for person in declared(course)}
    with opened(course) as gradebook:
        for row in gradebook.students:
            known = found.get(row.id, Person(row.id))
            found[row.id] = Person(
                row.id,
                row.first_name or known.first_name,
                row.last_name or known.last_name,
                row.email or known.email,
                row.lms_user_id or "",
            )
    return found


def roster(course: Course) -> set[str]:
    """Return whose submissions are taken; empty where course_config.py lists no students.

    A list there is complete, but for students that the gradebook holds already.  Without one
    anybody may hand in: the gradebook alone is no class list, grading itself enters students.
    """
    return set(people(course)) if declared(course) else set()


def declared(course: Course) -> list[Person]:
    """Return the class list of course_config.py.

    ``c.Course.students`` is a list of ids or maps names to ids; ``c.CourseDirectory.db_students``
    is nbgrader's former list of ``{"id": ..., "first_name": ..., "last_name": ..., "email": ...}``.
    """
    listed = course.config.Course.get("students", [])
    if isinstance(listed, dict):
        found = [Person(str(id), *_split(name)) for name, id in listed.items()]
    else:
        found = [Person(str(id)) for id in listed]
    for entry in course.config.CourseDirectory.get("db_students", []):
        rest = {k: str(entry.get(k) or "") for k in ("first_name", "last_name", "email")}
        found.append(Person(str(entry["id"]), **rest))
    return found


def _split(name: str) -> tuple[str, str]:
    first, _, last = name.strip().rpartition(" ")
    return first, last


def add_students(course: Course, students: Iterable[Person]) -> None:
    """Enter students into the gradebook, so that it lists those who hand nothing in, too."""
    with opened(course) as gradebook:
        for person in students:
            known = {"first_name": person.first_name, "last_name": person.last_name}
            known |= {"email": person.email, "lms_user_id": person.lms_id}
            known = {field: text.translate(_NO_MARKUP) for field, text in known.items()}
            gradebook.update_or_create_student(person.id, **{k: v for k, v in known.items() if v})
