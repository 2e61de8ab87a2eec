"""What an answer builds on: the student's own code of an earlier exercise."""

from __future__ import annotations

from autograder.exercise.words.checked import Carried
from autograder.exercise.words.loading import load_earlier

#: The method of an exercise that says so; what it returns stands in the students' notebook.
METHOD = "carries"


def earlier(place: str, name: str) -> Carried:
    """Find a function of another exercise.

    Raises
    ------
    ValueError
        If there is no such exercise, or it has no such function.
    """
    assignment, _, id = place.partition("/")
    try:
        exercise = load_earlier(place).exercise
    except FileNotFoundError as error:
        raise ValueError(
            f"no exercise {place!r} is known; write it as assignment/exercise, like "
            '"a04_waves/spectrum"'
        ) from error
    for function in exercise.functions:
        if function.name == name:
            return Carried(assignment, id, function, exercise.carried)
    known = ", ".join(exercise.solutions) or "none"
    raise ValueError(f"{place} asks for no function or class {name!r}; it has {known}")
