"""What is carried from earlier exercises as code of its own, where a student has none."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from autograder.exercise.words.cell_names import names
from autograder.exercise.words.checked import Carried
from autograder.exercise.words.source import standalone


def source_of_carried(each: Iterable[Carried], elsewhere: Collection[str] = ()) -> str:
    """Return code that defines these references, and what they were built on in turn.

    Parameters
    ----------
    elsewhere
        Names that are defined by other code.
    """
    found: dict[str, str] = {}

    def add(one: Carried) -> None:
        source = standalone(one.solution, one.name)
        used = names(source).used
        for below in one.below:
            if below.name in used and below.name not in {*elsewhere, *found}:
                add(below)
        found[one.name] = source

    for one in each:
        add(one)
    return "\n".join(found.values())


def all_carried(carried: Iterable[Carried]) -> list[Carried]:
    """Return what is carried, and what was carried into it before, each once."""
    found: dict[tuple[str, str, str], Carried] = {}
    waiting = [*carried]
    while waiting:
        one = waiting.pop(0)
        if one.place not in found:
            found[one.place] = one
            waiting += one.below
    return list(found.values())
