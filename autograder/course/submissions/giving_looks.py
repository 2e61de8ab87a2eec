"""Give a student the code that opens a look, and write down who has it."""

from __future__ import annotations

import json

from autograder.course.config import Course, CourseError
from autograder.course.looks_given import code_of, give
from autograder.course.people.student_ids import checked_id
from autograder.course.release.handed_out import Release
from autograder.course.release.looking import FILE
from autograder.exercise.nearest import meant
from autograder.exercise.words.variants import pick


def give_look(course: Course, student: str, part: str) -> str:
    """Return what to tell a student: the cell with the code.

    Parameters
    ----------
    part
        ``a02/by_hand.result``.

    Raises
    ------
    CourseError
        If there is no such look, or looks need no code.
    """
    checked_id(student)
    if not course.look:
        raise CourseError("looks need no code in this course: c.Course.look is their price")
    assignment, _, place = part.partition("/")
    exercise, _, name = place.partition(".")
    (id,) = course.ids([assignment])
    path = course.folder("release") / id / FILE
    looks = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    there_are = [f"{id}/{each}.{one}" for each in looks for one in looks[each]]
    if name not in looks.get(exercise, {}):
        raise CourseError(
            f"{part} offers no look{meant(f'{id}/{place}', there_are)}; there are "
            f"{', '.join(there_are) or 'none: run `autograder generate`'}"
        )
    pool = Release.load(course, id).data["exercises"][exercise]["pool"]
    variant = pick(course.id, student, exercise, len(pool))
    code = code_of(course, exercise, name, variant)
    give(course, student, exercise, name)
    shown = "-".join(code[start : start + 4] for start in range(0, len(code), 4))
    return f'check("{exercise}", answer="{name}", code="{shown}")'
