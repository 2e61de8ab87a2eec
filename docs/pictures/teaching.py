"""Write the numbers of docs/teaching.md anew: hours, exercises, points, known mistakes.

.venv/bin/python docs/pictures/teaching.py
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from front import HERE, ROOT, hours, number

from autograder.course.config import Course
from autograder.course.discover import Assignment, load_assignment
from autograder.exercise import Exercise

PAGE = HERE.parent / "teaching.md"


def bank(exercise: Exercise) -> list[str]:
    """Return the names of the mistakes that are known of an exercise, each as often as it is."""
    of_parts = [mistake for part in exercise.parts for mistake in part.misconceptions]
    return [mistake.name for mistake in [*exercise.misconceptions, *of_parts]]


def counted(text: str, assignments: Sequence[Assignment]) -> str:
    """Return the page with its numbers made anew."""
    before, *sections = re.split(r"^(?=## )", text, flags=re.M)
    made = [_section(s, each) for s, each in zip(sections, assignments, strict=True)]
    return "".join([before, *made])


def _section(text: str, assignment: Assignment) -> str:
    exercises = assignment.sound
    sizes = {id: len(bank(exercise)) for id, exercise in exercises.items()}
    points = sum(exercise.points for exercise in exercises.values())
    head = (
        f"## {number(assignment)} {assignment.title}\n\n"
        f"*{hours(assignment):.1f} hours of core; in all "
        f"{len(exercises)} exercises, {points:g} points, {sum(sizes.values())} known mistakes.*\n"
    )
    text = re.sub(r"\A## .*\n\n\*.*\*\n", lambda _: head, text)
    return re.sub(
        r"\d+ mistakes of `(\w+)`",
        lambda found: f"{sizes[found[1]]} mistakes of `{found[1]}`",
        text,
    )


if __name__ == "__main__":
    course = Course.load(ROOT)
    PAGE.write_text(counted(PAGE.read_text(), [load_assignment(course, id) for id in course.ids()]))
