"""Right answers for the students' own numbers, once the course allows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.proofs.part_proofs import right_answers
from autograder.course.release.handed_out import Release
from autograder.delivery.nbgrader.database import open_gradebook
from autograder.delivery.nbgrader.extensions import extensions
from autograder.exercise import Choice, Exercise
from autograder.exercise.words.dependencies import solve
from autograder.grading.own_answer import as_written


@dataclass(frozen=True)
class Solutions:
    """The right answers of one assignment, variant by variant."""

    exercises: Mapping[str, Exercise]
    release: Release

    @cached_property
    def _known(self) -> dict[tuple[str, int], dict[str, str]]:
        return {}

    def answers(self, exercise: str, variant: int) -> dict[str, str]:
        """Return the right answer to each part as text, for one student's numbers."""
        found = self.exercises.get(exercise)
        if found is None:
            return {}
        if (exercise, variant) not in self._known:
            answers = right_answers(found, self.release.pool(exercise)[variant])
            true = solve(found, self.release.pool(exercise)[variant])
            self._known[exercise, variant] = {
                part.name: part.answer.in_words(true[part.name]) or as_written(answers[part.name])
                for part in found.parts
                if not part.manual
            }
        return self._known[exercise, variant]

    def letters(self, exercise: str, variant: int, part: str) -> str:
        """Return the author's letters of what is right in a choice."""
        found = self.exercises.get(exercise)
        return str(solve(found, self.release.pool(exercise)[variant])[part]) if found else ""

    def options(self, exercise: str, part: str) -> dict[str, str]:
        """Return by the author's letters what there is to choose from, where it is mixed."""
        found = self.exercises.get(exercise)
        kinds = [p.answer for p in found.parts if p.name == part] if found else []
        return {
            letter: text
            for kind in kinds
            if isinstance(kind, Choice)
            for letter, text in zip(kind.letters, kind.statements, strict=False)
        }

    def varies(self, exercise: str, part: str) -> bool:
        """May the right answer to a part depend on a student's numbers?"""
        found = self.exercises.get(exercise)
        return any(p.name == part and p.needs for p in found.parts) if found else False

    def functions(self, exercise: str) -> dict[str, str]:
        """Return what each reference says of itself, by the function's name."""
        found = self.exercises.get(exercise)
        solutions = found.solutions if found else {}
        return {
            name: " ".join(solution.__doc__.split())
            for name, solution in solutions.items()
            if solution.__doc__
        }


def solutions(course: Course, assignment: str) -> Solutions | None:
    """Return the right answers, or None while students may not see them.

    ``c.Course.solutions = True`` shows them after the due date and the last extension of it.
    """
    if not course.solutions or not over(course, assignment):
        return None
    return Solutions(load_assignment(course, assignment).sound, Release.load(course, assignment))


def over(course: Course, assignment: str) -> bool:
    """Tell whether nobody can hand in on time any more; never where there is no due date."""
    with open_gradebook(course) as gradebook:
        found = next((a for a in gradebook.assignments if a.name == assignment), None)
        if found is None or found.duedate is None:
            return False
        granted = [s.extension for s in found.submissions if s.extension]
        last: datetime = found.duedate + max(granted, default=timedelta())
    last = max([last, *extensions(course).get(assignment, {}).values()])
    return datetime.now(UTC).replace(tzinfo=None) > last
