"""Which exercises can be practised, and why others can't, by what was released."""

from __future__ import annotations

import json
from collections import defaultdict

from autograder.course.config import Course
from autograder.course.release.practising import HELP
from autograder.student.released_files import Help


def unpractised(course: Course, assignment: str) -> dict[str, str]:
    """Return for each exercise of a release why it can't be practised; nothing where it can."""
    text = (course.folder("release") / assignment / HELP).read_text("utf-8")
    helping: dict[str, Help] = json.loads(text)
    return {id: entry.get("unpractised", "") for id, entry in helping.items()}


def share_in_words(course: Course, assignments: list[str]) -> str:
    """Return how many of the exercises can be practised, and why others can't, a line a reason."""
    every = [each for id in assignments for each in unpractised(course, id).items()]
    left = defaultdict(list)
    for name, why in every:
        if why:
            left[why].append(name)
    can = len(every) - sum(map(len, left.values()))
    lines = [f"practice in {can} of {len(every)} exercises"]
    lines += [f"- not in {', '.join(names)}: {why}" for why, names in left.items()]
    return "\n".join(lines)
