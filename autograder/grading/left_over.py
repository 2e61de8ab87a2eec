"""Whose a name of the notebook is: what one exercise leaves under it is no answer to another.

Exercises of a notebook may ask for the same name.  Where the cell of the second stops before it has
written its own, or doesn't write it any more, the first one's must not be taken for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from autograder.exercise import Exercise
from autograder.grading.own_text import LONGEST, WORD, Names, Unparsable, looking, names
from autograder.grading.phases import Cells
from autograder.sandbox import CellRun, StudentError

_NONE = Names(frozenset(), frozenset())


@dataclass(frozen=True)
class _Left:
    """What stands under a name that an exercise asks for, and which exercise's cell left it."""

    exercise: str
    name: str
    other: str

    @property
    def said(self) -> StudentError:
        return StudentError(
            "left_over",
            f"the cell of this exercise doesn't define `{self.name}`, and what `{self.other}` left "
            "under this name isn't taken for it",
        )


class LeftOver:
    """Follow a notebook's cells as they are run.

    Parameters
    ----------
    exercises
        Those of the notebook, by id.
    """

    def __init__(self, exercises: Iterable[Exercise]) -> None:
        self._asked = {exercise.id: frozenset(_asked(exercise)) for exercise in exercises}
        asked = Counter(name for names in self._asked.values() for name in names)
        self._shared = frozenset(name for name, times in asked.items() if times > 1)
        self._by: dict[str, str] = {}  # whose cell made a name last, of those that several ask for
        self._left: list[_Left] = []

    def run(self, cells: Cells, source: str, number: int, exercise: str = "") -> CellRun:
        """Run a cell: an exercise's own, or one that belongs to none."""
        found = self._names(source)
        own = sorted(self._asked.get(exercise, frozenset()) & self._by.keys())
        own = [name for name in own if self._by[name] != exercise]
        # What the cell makes without having used it is put aside, so that the same value is seen.
        aside = [name for name in own if name in found.made - found.used]
        run = cells.execute(source, number, own, aside)
        self._left += [
            _Left(exercise, name, self._by[name])
            for name in own
            # What was not put aside may have been given the same number again.
            if name in run.unchanged and (run.error or name in aside or name not in found.made)
        ]
        self._made(found.made & self._shared, exercise)
        return run

    def answered(self, exercise: str) -> None:
        """Say that an exercise has been read: what stands under its names is its own."""
        for name in self._asked.get(exercise, frozenset()) & self._shared:
            self._by.setdefault(name, exercise)

    def of(self, exercise: str) -> Mapping[str, StudentError]:
        """Return the names that only another exercise gives a value, and what to say of that."""
        return {left.name: left.said for left in self._left if left.exercise == exercise}

    def _names(self, source: str) -> Names:
        """Return the names of a cell, as far as several exercises ask for them.

        Most cells hold none: then nothing is parsed, unless they may be written in other letters.
        """
        plain = source.isascii() and len(source) <= LONGEST
        if plain and self._shared.isdisjoint(WORD.findall(source)):
            return _NONE
        return looking("names", lambda: _names(source), Names(self._shared, self._shared))

    def _made(self, made: Set[str], exercise: str) -> None:
        left = {each.name for each in self._left if each.exercise == exercise}
        for name in made - left:
            if name in self._asked.get(exercise, frozenset()):
                self._by[name] = exercise
            else:  # a cell of the student's own, for whatever comes
                self._by.pop(name, None)
                self._left = [each for each in self._left if each.name != name]


def _asked(exercise: Exercise) -> set[str]:
    return {part.name for part in exercise.parts if not part.manual} | exercise.solutions.keys()


def _names(source: str) -> Names:
    """Return the names of a cell; of one that can't be parsed, every word may be either."""
    try:
        return names(source)
    except Unparsable:
        words = frozenset(WORD.findall(source))
        return Names(words, words)
