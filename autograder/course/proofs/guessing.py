"""What is earned without a thought, and whether it is too much.

`verify`, `generate` and `release` ask here, so that none of them lets through what another refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, zip_longest
from math import ceil
from typing import Any

from autograder.course.author_errors import raised
from autograder.course.config import CONFIG, Course, CourseError, line_of
from autograder.course.discover import Assignment
from autograder.course.proofs.blind import blind_guess
from autograder.course.release.drawing import all_drawn
from autograder.course.release.kept import Kept
from autograder.exercise import Exercise
from autograder.grading.results import hundredths

#: Answers without a thought earn at most this share of a whole assignment's points.
GUESSED = 0.02

_KEPT = "guesses"


@dataclass(frozen=True)
class Guessed:
    """What answers without a thought earn of an exercise.

    Attributes
    ----------
    guesses
        Points, for each of the answers that somebody may give everywhere.
    """

    assignment: str
    exercise: str
    points: float = 0.0
    guesses: tuple[float, ...] = field(default=(0.0,), kw_only=True)

    @property
    def blind(self) -> float:
        """Points for the best of these answers."""
        return max(self.guesses)


def guessed(found: Sequence[Guessed], course: Course) -> list[str]:
    """Say of which assignments answers without a thought earn too much, if all exercises are there.

    That is the same answer everywhere: nobody knows which one is best where. ``"guessed"`` of an
    assignment in course_config.py allows more, with a reason.
    """
    said = []
    for id, own in groupby(found, key=lambda each: each.assignment):
        every = [each for each in own if each.points]
        most, _ = course.guessed.get(id, (GUESSED, ""))
        blind, points = blindly(every), sum(each.points for each in every)
        if blind > most * points:
            worst = sorted((e for e in every if e.blind), key=lambda each: -each.blind)[:5]
            told = ", ".join(f"{each.exercise} {each.blind:g}" for each in worst)
            allowed = ceil(round(100 * blind / points, 6)) / 100  # a rounded one would not suffice
            where = line_of(course.root / CONFIG, f'"{id}"')
            said.append(
                f"{id}: answers without a thought earn {blind:g} of {points:g} points; more than "
                f"{100 * most:.3g}% is too much: ask for more than what is guessed, first in "
                f"{told}; or allow it with a reason in the entry of {id} in {where}: "
                f'"guessed": ({allowed:.2f}, "why")'
            )
    return said


def blindly(found: Sequence[Guessed]) -> float:
    """Return what the best answer without a thought earns, given everywhere."""
    each = zip_longest(*(own.guesses for own in found), fillvalue=0.0)
    return hundredths(max(map(sum, each), default=0.0))


def hold_to_limit(assignment: Assignment) -> None:
    """Refuse an assignment of which too much is earned without a thought.

    What `verify` or an earlier call found is asked, as long as nothing that it depends on has
    changed.  Where an exercise can't be loaded there is nothing to hold against the limit.

    Raises
    ------
    CourseError
        With what `verify` says of it.
    """
    if assignment.broken:
        return
    course = assignment.course
    with Kept(assignment) as kept:
        found = [
            Guessed(assignment.id, id, exercise.points, guesses=tuple(guesses))
            for id, exercise in assignment.sound.items()
            for guesses in [kept.of(exercise, _KEPT, partial(_tried, exercise, course.id))]
        ]
    if said := guessed(found, course):
        raise CourseError(said[0])


def keep(assignment: Assignment, found: Sequence[Guessed]) -> None:
    """Keep what was found just now."""
    with Kept(assignment) as kept:
        for each in found:
            if exercise := assignment.sound.get(each.exercise):
                kept.put(exercise, _KEPT, each.guesses)


def earned_blindly(exercise: Exercise, pool: Sequence[Any]) -> tuple[float, ...]:
    """Return what each answer without a thought earns, as points are written."""
    return tuple(map(hundredths, blind_guess(exercise, pool)))


def _tried(exercise: Exercise, course: str) -> tuple[float, ...]:
    try:
        return earned_blindly(exercise, all_drawn(exercise, course).pool)
    except Exception as error:  # whatever an author's function raises
        text = raised(exercise.id, error).removeprefix(f"{exercise.id}: ")
        raise CourseError(f"{exercise.id}: {text}") from error
