"""Recognise right answers to something else: to another part, or to somebody else's numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.exercise import Exercise, Judgement, Part, Undecided
from autograder.exercise.answers.slips import is_telling
from autograder.exercise.words.dependencies import solve
from autograder.grading.results import Item

#: So many numbers must fit those of somebody else: fewer may be the student's own slip.
TELLING = 3


def another_part(
    parts: list[Part], part: Part, answer: object, true: Mapping[str, Any]
) -> Judgement | None:
    """Say that an answer is the right one to another part."""
    for other in parts:
        if type(other.answer) is not type(part.answer) or other is part or other.answer.free:
            continue
        right = true[other.name]
        if not is_telling(right) or np.shape(right) != np.shape(true[part.name]):
            continue
        try:
            if part.answer.same(answer, right) and not part.answer.same(right, true[part.name]):
                return Judgement(0, "another_part", f"This is the right answer to `{other.name}`.")
        except Undecided:
            continue
    return None


def puzzling(items: Sequence[Item]) -> set[str]:
    """Return the names of what is wrong and unexplained."""
    return {item.name for item in items if item.score == 0 and not item.note}


def others_named(
    exercise: Exercise,
    variant: Mapping[str, Any],
    given: Mapping[str, Any],
    items: list[Item],
    pool: Sequence[Mapping[str, Any]],
) -> list[Item]:
    """Say of what is wrong and unexplained that it answers other numbers, if all of it does.

    Parameters
    ----------
    given
        The answers that could be read.
    pool
        All variants of the release.
    """
    personal = _personal(exercise, variant)
    wrong = puzzling(items) & personal
    told = [part for part in exercise.parts if part.name in personal and not part.manual]
    if not wrong or any(part.name not in given for part in told):
        return items
    true = solve(exercise, variant)
    off = [part for part in told if not _is_right(part, given[part.name], true[part.name])]
    if sum(int(np.size(given[part.name])) for part in off) < TELLING:
        return items
    fits = []
    for variant_of_others, known in enumerate(solve(exercise, other) for other in pool):
        if all(_is_right(part, given[part.name], known[part.name]) for part in told):
            fits.append(variant_of_others)
    if not fits:
        return items
    return [_of_others(item, fits) if item.name in wrong else item for item in items]


def _personal(exercise: Exercise, variant: Mapping[str, Any]) -> set[str]:
    """Return the parts whose answer depends on the student's numbers."""
    known = set(variant)
    for part in exercise.parts:
        if known & set(part.needs):
            known.add(part.name)
    return known - set(variant)


def _is_right(part: Part, answer: object, expected: object) -> bool:
    try:
        return part.answer.same(answer, expected)
    except Undecided:
        return False


def _of_others(item: Item, fits: list[int]) -> Item:
    text = "This answers other numbers than yours. Is the id in the first cell your own?"
    return replace(item, note="other_variant", feedback=text, fits=fits)
