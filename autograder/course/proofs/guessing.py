"""What is earned without a thought, and whether it is too much.

`verify`, `generate` and `release` ask here, so that none of them lets through what another refuses.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby, zip_longest
from math import ceil
from typing import Any

from autograder.course.author_errors import raised
from autograder.course.config import CONFIG, Course, CourseError, line_of
from autograder.course.discover import Assignment
from autograder.course.files import make_private, write_atomically
from autograder.course.proofs.blind import blind_guess
from autograder.course.release.datafiles import folder_of
from autograder.course.release.drawing import all_drawn
from autograder.course.submissions.keys import GRADING, engine_digest, hash_file
from autograder.exercise import Exercise
from autograder.grading.results import hundredths

#: Answers without a thought earn at most this share of a whole assignment's points.
GUESSED = 0.02

_FILE = ".guesses.json"


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
    kept = _Kept(assignment)
    found = [
        Guessed(assignment.id, id, exercise.points, guesses=kept.of(exercise))
        for id, exercise in assignment.sound.items()
    ]
    kept.write()
    if said := guessed(found, assignment.course):
        raise CourseError(said[0])


def keep(assignment: Assignment, found: Sequence[Guessed]) -> None:
    """Keep what was found just now."""
    kept = _Kept(assignment)
    for each in found:
        if exercise := assignment.sound.get(each.exercise):
            kept.put(exercise, each.guesses)
    kept.write()


class _Kept:
    """What was found before, in a file of the course.

    A function that does nothing takes as long to try as all mistakes together.
    """

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._path = assignment.course.root / "records" / _FILE
        self._engine = engine_digest(*GRADING)
        self._known = self._before = _read(self._path)

    def of(self, exercise: Exercise) -> tuple[float, ...]:
        """Return what was kept of an exercise, or find out."""
        key, points = self._known.get(self._name(exercise), ("", ()))
        if key != self._key(exercise):
            points = _tried(exercise, self._assignment.course.id)
            self.put(exercise, points)
        return points

    def put(self, exercise: Exercise, points: tuple[float, ...]) -> None:
        """Remember it."""
        self._known = {**self._known, self._name(exercise): (self._key(exercise), points)}

    def write(self) -> None:
        """Write down what is new, if that can be: it is only found out once more otherwise."""
        if self._known == self._before:
            return
        private, folder = self._assignment.course.private
        with contextlib.suppress(CourseError):
            make_private(self._path.parent, folder)
            write_atomically(self._path, json.dumps(self._known).encode(), mode=private)

    def _name(self, exercise: Exercise) -> str:
        return f"{self._assignment.id}/{exercise.id}"

    def _key(self, exercise: Exercise) -> str:
        """Hash all that it depends on: module, helpers, data, what is carried, and the engine."""
        course, id = self._assignment.course, self._assignment.id
        references = course.root / "reference"
        own = references / id / f"{exercise.id}.py"
        modules = references.glob("*/*.py") if exercise.carried else [own]
        files = [*references.glob("*.py"), *modules, *folder_of(course, id).glob("*")]
        settings = f"{course.id} {course.gpu}".encode()
        parts = [self._engine, settings, *map(hash_file, sorted(files))]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _read(path: Any) -> dict[str, tuple[str, tuple[float, ...]]]:
    """Return what was kept; nothing where that can't be read."""
    try:
        content = json.loads(path.read_bytes())
        return {
            str(name): (str(key), tuple(float(each) for each in points))
            for name, (key, points) in content.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def earned_blindly(exercise: Exercise, pool: Sequence[Any]) -> tuple[float, ...]:
    """Return what each answer without a thought earns, as points are written."""
    return tuple(map(hundredths, blind_guess(exercise, pool)))


def _tried(exercise: Exercise, course: str) -> tuple[float, ...]:
    try:
        return earned_blindly(exercise, all_drawn(exercise, course).pool)
    except Exception as error:  # whatever an author's function raises
        text = raised(exercise.id, error).removeprefix(f"{exercise.id}: ")
        raise CourseError(f"{exercise.id}: {text}") from error
