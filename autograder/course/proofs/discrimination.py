"""What numbers and checks can tell apart: right from wrong, and one mistake from another."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.course.proofs.numbers_needed import alike
from autograder.exercise import Exercise, FormatError, Misconception, Part
from autograder.exercise.words.dependencies import evaluate, solve


def in_variants(indices: Sequence[int], of: int) -> str:
    """Say in which of the variants something holds, where it isn't all of them.

    >>> in_variants([3, 7], 64)
    ' in 2 of 64 variants (3, 7)'
    """
    if len(indices) == of:
        return ""
    some = ", ".join(map(str, indices[:5])) + ", …" * (len(indices) > 5)
    return f" in {len(indices)} of {of} variants ({some})"


@dataclass(frozen=True)
class Twins:
    """Two misconceptions that give the same answer: who makes one may be told of the other.

    Attributes
    ----------
    place
        The part or check that can't tell them apart.
    variants
        Indices of the variants in which a part can't; empty for a check, which has its own inputs.
    of
        How many variants there are.
    """

    place: str
    first: str
    second: str
    variants: list[int] = field(default_factory=list)
    of: int = 0

    @property
    def always(self) -> bool:
        """Are they one mistake, whatever the numbers?"""
        return len(self.variants) == self.of

    def __str__(self) -> str:
        pair = f"`{self.place}` can't tell `{self.first}` from `{self.second}`"
        return f"{pair}{in_variants(self.variants, self.of)}"


@dataclass(frozen=True)
class Hidden:
    """A misconception that some draws can't tell from the right answer.

    Attributes
    ----------
    draws
        In how many draws; these are no variants of a release.
    released
        Indices of the variants that hide it nevertheless.
    of
        How many variants there are.
    """

    misconception: str
    draws: int
    released: list[int]
    of: int

    def __str__(self) -> str:
        text = f"misconception `{self.misconception}` can't be told from the right answer"
        return f"{text}{in_variants(self.released, self.of)}"


def part_twins(exercise: Exercise, part: Part, pool: Sequence[Mapping[str, Any]]) -> list[Twins]:
    """Return every pair of a part's misconceptions that agree in some variant."""
    found: dict[tuple[str, str], list[int]] = {}
    for indices in alike(exercise, part, pool):
        values = _values(part, part.misconceptions, solve(exercise, pool[indices[0]]))
        names = list(values)
        for i, first in enumerate(names):
            for second in names[i + 1 :]:
                if part.answer.same(values[first], values[second]):
                    found.setdefault((first, second), []).extend(indices)
    return [Twins(part.name, *pair, sorted(i), len(pool)) for pair, i in found.items()]


def _values(
    part: Part, mistakes: Sequence[Misconception], known: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what each mistake gives; one that gives no answer at all is left out."""
    values = {}
    for wrong in mistakes:
        with np.errstate(all="ignore"), contextlib.suppress(FormatError):
            values[wrong.name] = evaluate(part, wrong, known)
    return values
