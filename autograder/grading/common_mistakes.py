"""Which answers of an exercise fail by one and the same mistake, for which they pay once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from autograder.exercise import Exercise, Part
from autograder.exercise.answers.slips import is_trivial
from autograder.grading.changes import Place
from autograder.grading.one_change import changed_too, shared
from autograder.grading.own_values import Own
from autograder.grading.results import Item, Status

Known = Mapping[str, Any]


def with_mistakes(exercise: Exercise, items: Sequence[Item], true: Known, own: Own) -> list[Item]:
    """Say which items fail by a known mistake, or by one change of a helper, that took some work.

    Where it shows as zeros, say, it may have taken none. One such item can be charged together with
    others, the dearest: several that took none would go free by one that did.
    """
    known = {p.name: _mistake(p, i, true, own) for p, i in zip(exercise.parts, items, strict=True)}
    changed = shared(_changed(exercise.parts, items, known, true, own))
    said = {name: one or changed.get(name, "") for name, one in known.items()}
    found = [replace(i, mistake=said[i.name]) if said[i.name] else i for i in items]
    idle = [i for i in found if i.mistake and is_trivial(own.given.get(i.name), true[i.name])]
    dearest = {i.mistake: i.name for i in sorted(idle, key=lambda i: i.max_score)}
    others = {i.name for i in idle} - {*dearest.values()}
    return [replace(i, mistake="") if i.name in others else i for i in found]


def _changed(
    parts: Sequence[Part], items: Sequence[Item], known: Mapping[str, str], true: Known, own: Own
) -> dict[str, Set[Place]]:
    """Return by which one change wrong answers come out, those too that are right in part."""
    places = frozenset[Place]().union(*own.changed.values())
    return {
        part.name: own.changed[part.name]
        if part.name in own.changed
        else changed_too(part, own.given[part.name], true, own, places)
        for part, item in zip(parts, items, strict=True)
        if item.status in (Status.FAILED, Status.PARTIAL)
        and part.name in own.given
        and not known[part.name]
    }


def _mistake(part: Part, item: Item, true: Known, own: Own) -> str:
    if (
        not item.note
        or own.given.get(part.name) is None
        or not part.answer.says_much(true[part.name])
    ):
        return ""
    return next((w.feedback for w in part.misconceptions if w.name == item.note), "")
