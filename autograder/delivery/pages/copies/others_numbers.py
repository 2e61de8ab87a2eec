"""Who answered whose numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from autograder.course.config import Course
from autograder.course.people.student_ids import typed_id
from autograder.course.release.handed_out import Release
from autograder.course.submissions.handed_in import Unreadable, read_notebook
from autograder.grading.results import Grade


@dataclass(frozen=True)
class OtherNumbers:
    """A student whose answers fit other numbers than the own ones.

    Attributes
    ----------
    exercises
        Where they do.
    whose
        Those of the class who have these numbers, with the exercises; those with most, first.
    typed
        The id in the notebook, where it is another one.
    by_chance
        How many of the class have such numbers in one exercise by chance, on average.
    """

    student: str
    exercises: list[str]
    whose: dict[str, list[str]]
    typed: str
    by_chance: float


def of_others(course: Course, release: Release, grades: Mapping[str, Grade]) -> list[OtherNumbers]:
    """Return who of the class answered somebody else's numbers, the most telling first."""
    found = []
    for student, grade in grades.items():
        fits = {
            exercise.id: {variant for item in exercise.items for variant in item.fits or ()}
            for exercise in grade.exercises
        }
        fits = {id: variants for id, variants in fits.items() if variants}
        typed = _typed(course, release.assignment, student)
        if not fits and typed not in grades:
            continue
        whose = {
            other: [id for id, those in fits.items() if release.variant(id, other) in those]
            for other in grades
            if other != student
        }
        named = {
            other: ids
            for other, ids in sorted(whose.items(), key=lambda of: (-len(of[1]), of[0]))
            if ids or other == typed
        }
        shares = [len(those) / len(release.pool(id)) for id, those in fits.items()]
        by_chance = (len(grades) - 1) * sum(shares) / len(shares) if shares else 0.0
        found.append(OtherNumbers(student, [*fits], named, typed, by_chance))
    return sorted(found, key=lambda one: (-_most(one), one.student))


def _most(one: OtherNumbers) -> int:
    return max(map(len, one.whose.values()), default=0)


def _typed(course: Course, assignment: str, student: str) -> str:
    """Return the id in the notebook, where it is not the student's."""
    try:
        typed = typed_id(read_notebook(course.submission(student, assignment)))
    except Unreadable:
        return ""
    return typed if typed != student else ""
