"""What a known mistake costs: it is paid for once, and of a function not with everything."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.exercise import CheckedFunction, alike
from autograder.grading.answering import Exchange
from autograder.grading.interview import Interview
from autograder.grading.results import Item, Status, hundredths
from autograder.grading.telling_apart import unvarying
from autograder.sandbox.wire.requests import Call, CallMethod
from autograder.student.differences import SINGLE

#: No mistake costs a larger share of a function's points, unless it is declared fatal.
DEAREST = 0.6
#: What numbers are that are right to single precision alone: one slip, if of unknown cause.
IN_SINGLE = "in_single_precision"
_UNEARNED = (Status.SKIPPED, Status.FAILED, Status.PARTIAL)


def paid_once(items: Sequence[Item]) -> list[Item]:
    """Charge each mistake once: of the items that fail by it, the dearest one pays.

    Examples
    --------
    >>> from functools import partial
    >>> slip = partial(Item, rubric="", status=Status.FAILED, score=0.0, mistake="Not scaled.")
    >>> [item.score for item in paid_once([slip("a", max_score=2.0), slip("b", max_score=3.0)])]
    [2.0, 0.0]
    """
    found = list(items)
    for failed in _by_mistake(items):
        dearest = max(failed, key=_lost)
        free = {item.name for item in failed if item is not dearest}
        found = [_paid(item, dearest) if item.name in free else item for item in found]
    return found


def priced(function: CheckedFunction, items: Sequence[Item], slips: Collection[str]) -> list[Item]:
    """Charge each known mistake once, and leave two fifths of the function's points to it.

    Parameters
    ----------
    slips
        The names of the checks in which something was computed and came out wrong: for what takes
        no work there is no other price than the points.
    """
    said = {wrong.name: wrong.feedback for wrong in function.misconceptions if not wrong.fatal}
    said[IN_SINGLE] = SINGLE
    mistakes = [said.get(item.note, "") if item.name in slips else "" for item in items]
    named = [
        item if item.mistake == mistake else replace(item, mistake=mistake)
        for item, mistake in zip(items, mistakes, strict=True)
    ]
    found = paid_once(named)
    for failed in _by_mistake(named):
        behind = _behind(function, {item.name for item in failed})
        found = _capped(found, {item.name for item in failed}, behind)
    return found


def computed(function: CheckedFunction, call: Interview, secret: str) -> bool:
    """Tell whether answers were computed, rightly or not: neither a constant, nor what came in."""
    if unvarying(function, call, secret):
        return False
    asked = [each for each in call.calls if isinstance(each.request, Call | CallMethod)]
    return call.metered or not (asked and all(map(_echoes, asked)))


def _echoes(each: Exchange) -> bool:
    """Tell whether a call returned one of its arguments as it came."""
    request: Any = each.request
    given = [*request.args, *request.kwargs.values()]
    arrays = (a for a in given if isinstance(a, np.ndarray) and a.size != 1)
    return any(alike(each.value, a) for a in arrays)


def _by_mistake(items: Sequence[Item]) -> list[list[Item]]:
    """Return the items that lose by a known mistake, those together that lose by the same."""
    found: dict[str, list[Item]] = {}
    for item in items:
        if item.mistake and item.status in (Status.FAILED, Status.PARTIAL) and _lost(item):
            found.setdefault(item.mistake, []).append(item)
    return list(found.values())


def _capped(items: list[Item], failed: Collection[str], behind: Collection[str]) -> list[Item]:
    """Give back what a mistake costs too much, where it failed and in what rests on that.

    What fails behind it by no other known mistake fails by this one.
    """
    lost = (item for item in items if item.status in _UNEARNED and not item.mistake)
    resting = {item.name for item in lost if item.name in behind}
    charged = [item for item in items if item.name in {*failed, *resting}]
    of = sum(item.max_score for item in items)
    relief = hundredths(max(0.0, sum(map(_lost, charged)) - DEAREST * of))
    kept: dict[str, Item] = {}
    for item in sorted(charged, key=lambda item: item.name in resting):
        if back := min(relief, _lost(item)):
            relief = hundredths(relief - back)
            kept[item.name] = _kept(item, back)
    return [kept.get(item.name, item) for item in items]


def _lost(item: Item) -> float:
    return item.max_score - (item.score or 0.0)


def _paid(item: Item, dearest: Item) -> Item:
    """Return an item whose mistake is paid for elsewhere."""
    said = f"{item.feedback} That is paid for with “{dearest.rubric}”"
    return replace(item, status=Status.PARTIAL, score=item.max_score, feedback=said)


def _kept(item: Item, back: float) -> Item:
    """Return an item that keeps some of its points."""
    status = item.status if item.status is Status.SKIPPED else Status.PARTIAL
    return replace(item, status=status, score=hundredths((item.score or 0.0) + back))


def _behind(function: CheckedFunction, names: Collection[str]) -> set[str]:
    """Return the checks that come after these, or after one that does."""
    found: set[str] = set()
    for check in function.checks:
        if check.after and check.after.name in {*names, *found}:
            found.add(check.name)
    return found
