"""Which of a student's numbers a part is about: variants that share these are tried once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from autograder.exercise import Exercise, Part
from autograder.exercise.cache import Unfamiliar, Values
from autograder.exercise.words.part import ORDERS, arguments


def needed(exercise: Exercise, part: Part) -> set[str]:
    """Return the part's name and all that it, or a mistake in it, is computed from."""
    names = {part.name}
    for other in reversed(exercise.parts):
        if other.name in names:
            names |= {other.after.name} if other.after else set()
            mistakes = [wrong.compute for wrong in other.misconceptions]
            for compute in (*other.followed, *mistakes):
                names |= set(arguments(compute))
    return names


def alike(exercise: Exercise, part: Part, pool: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Return the indices of variants that have the same numbers for a part, by these."""
    names = needed(exercise, part)
    found: dict[Hashable, list[int]] = {}
    for index, variant in enumerate(pool):
        both = variant, variant.get(ORDERS, {})
        own = [{name: each[name] for name in sorted(names & each.keys())} for each in both]
        try:
            found.setdefault(Values(own).key, []).append(index)
        except Unfamiliar:  # by itself, then
            found[index] = [index]
    return [*found.values()]
