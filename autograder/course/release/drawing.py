"""The variants of a release, with an end to drawing them where an author's function has none."""

from __future__ import annotations

from functools import cache
from typing import Any

from autograder.course.author_errors import raised
from autograder.course.config import CourseError
from autograder.exercise import Exercise
from autograder.exercise.words.arguments import calling_once
from autograder.exercise.words.dependencies import solve
from autograder.exercise.words.variants import Draws, draws
from autograder.grading.budget import Exhausted, bounded

#: Of processor time, for all variants of an exercise: far more than any of ours takes.
DRAW_SECONDS = 120.0


@cache  # what is drawn for a release is also what answers without a thought are tried on
def all_drawn(exercise: Exercise, course: str, most: int | None = None) -> Draws:
    """Draw the variants, or the first of them, unless that has no end.

    Raises
    ------
    ValueError
        If it takes too long, or there aren't enough variants.
    """
    try:
        with calling_once():
            return bounded(
                f"{exercise.id}.draw", lambda: draws(exercise, course, most), DRAW_SECONDS
            )
    except Exhausted:
        raise ValueError(
            f"{exercise.id}: the variants are not drawn after {DRAW_SECONDS:g} seconds of "
            "processor time, or take all memory: does a loop in `draw`, or in what is computed "
            "from the numbers, ever end?"
        ) from None


def drawn(exercise: Exercise, course: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the variants of a release, each with the same and the right answers by name.

    Raises
    ------
    CourseError
        If there aren't enough variants, or no answers.
    """
    try:
        pool = all_drawn(exercise, course).pool
        return [(variant, solve(exercise, variant)) for variant in pool]
    except Exception as error:  # whatever an author's function raises
        text = raised(exercise.id, error)
        raise CourseError(f"{exercise.id}: {text.removeprefix(f'{exercise.id}: ')}") from error
