"""What an answer builds on: the student's own code of an earlier exercise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.exercise.loading import load_earlier

#: The method of an exercise that says so; what it returns stands in the students' notebook.
METHOD = "carries"


@dataclass(frozen=True)
class Carried:
    """A function or class of an earlier exercise.

    Attributes
    ----------
    assignment, exercise
        Where students wrote it.
    function
        It, as an exercise of its own: reference, checks and mistakes.
    below
        What its exercise carried from still earlier ones.
    """

    assignment: str
    exercise: str
    function: Any
    below: tuple[Carried, ...] = ()

    @property
    def solution(self) -> Callable[..., Any]:
        """The reference."""
        found: Callable[..., Any] = self.function.solution
        return found

    @property
    def name(self) -> str:
        """The name that it has in notebooks."""
        return self.solution.__name__


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
            '"a04_multi_head/mha_numpy"'
        ) from error
    for function in exercise.functions:
        if function.solution.__name__ == name:
            return Carried(assignment, id, function, tuple(exercise.carried))
    known = ", ".join(exercise.solutions) or "none"
    raise ValueError(f"{place} asks for no function or class {name!r}; it has {known}")
