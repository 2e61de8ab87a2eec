"""Which exercises can be practised, by what was released."""

from __future__ import annotations

import json

from autograder.course.config import Course
from autograder.course.release.practising import HELP
from autograder.student.released_files import CheckFile, Help


def practice_of(course: Course, assignment: str) -> dict[str, bool]:
    """Return for each exercise of a release whether it can be practised."""
    folder = course.folder("release") / assignment
    known: CheckFile = json.loads((folder / "check.json").read_text("utf-8"))
    path = folder / HELP
    helping: dict[str, Help] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return {id: "practice" in helping.get(id, {}) for id in known["exercises"]}


def share_in_words(course: Course, assignments: list[str]) -> str:
    """Return how many of the exercises can be practised, and which can't."""
    found = {id: practice_of(course, id) for id in assignments}
    every = [can for exercises in found.values() for can in exercises.values()]
    left = [name for exercises in found.values() for name, can in exercises.items() if not can]
    said = f"practice in {sum(every)} of {len(every)} exercises"
    return f"{said}; not in {', '.join(left)}" if left else said
