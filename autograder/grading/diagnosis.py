"""Judge one answer: against the true earlier answers, then the student's own, then the mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np

from autograder.exercise import FormatError, Judgement, Misconception, Part, Undecided
from autograder.exercise.answers.slips import (
    OF_SIZE,
    by_chance,
    is_trivial,
    one_entry_wrong,
    recognise,
)
from autograder.exercise.standing_in import standing_in
from autograder.exercise.words.dependencies import band, evaluate
from autograder.exercise.words.part import arguments, computation
from autograder.grading.own_values import Own
from autograder.grading.substance import vanishes
from autograder.sandbox import StudentError

#: What may be raised where nothing follows from what a student has.
_UNFIT = (ArithmeticError, LookupError, ValueError, TypeError, StopIteration)
NO_VALUE = (FormatError, StudentError, *_UNFIT)
#: So many wrong answers to earlier parts, of which some may not have been used.
MOST_WRONG = 3
Slack = Any  #: what rounding of carried values allows, entry by entry
Way = tuple[Any, Slack]  #: what comes of a computation; None where nothing does
Ways = Sequence[Way]  #: of each misconception, from the true answers or from the student's own


def judge(part: Part, answer: object, true: Mapping[str, Any], own: Own) -> Judgement:
    """Judge an answer that could be read.

    Raises
    ------
    Undecided
        If it can't be settled whether it is right.
    """
    first = by_itself(part, answer, true[part.name])
    for name in own.examples & set(part.needs):
        first = Judgement(0, feedback=f"This has to follow from your own `{name}`.")
    if first.credit == 1:
        return first
    follows: list[Any] = []
    for compute, (having, earlier) in product(part.followed, _havings(own)):
        needs = set(arguments(compute))
        if not earlier and not needs & (own.wrong | own.rounding.keys() | own.examples):
            continue
        with np.errstate(all="ignore"), standing_in(earlier) as cast:
            expected, slack = _from_own(part, compute, having)
        if expected is None or (earlier and not cast.called):
            continue
        if having is not own and not having.used:
            continue
        followed = by_itself(part, answer, expected, slack)
        free = needs & own.trivial | cast.called
        idle = free and (
            is_trivial(answer, true[part.name])
            or vanishes(expected, true[part.name], answer)
            or own.heedless(free)
            or own.idle_formula(free)
        )
        if followed.credit == 1 and not (needs & own.wrong or cast.called):
            return followed  # right: the earlier answers were only rounded, or are a witness
        if followed.credit == 1 and not idle:
            return Judgement(1, "follow_through", "Right, given your earlier answers.")
        if followed.credit > first.credit and not idle:
            first = followed
        follows.append(expected)
    if _follows_from_some(part, answer, true, own):
        return Judgement(1, "follow_through", "Right, given some of your earlier answers.")
    with np.errstate(all="ignore"):
        return _mistaken(part, answer, true, own, first) or _slipped(
            part, answer, true[part.name], follows, first
        )


def _havings(own: Own) -> list[tuple[Own, Mapping[str, Any]]]:
    """Return what may be followed from, each with the functions that stand in for references.

    First by the references' functions: what those of the student's own give may be worth less.
    """
    havings: list[tuple[Own, Mapping[str, Any]]] = [(own, {})]
    if own.earlier:
        havings.append((own, own.earlier))
    if mended := own.mended():
        havings.append((mended, mended.earlier))
    return havings


def _follows_from_some(part: Part, answer: object, true: Mapping[str, Any], own: Own) -> bool:
    """Tell whether some of the wrong earlier answers, and right ones for the others, lead to it."""
    for compute in part.routes:
        wrong = sorted(own.wrong.intersection(arguments(compute)))
        sizes = range(1, len(wrong)) if len(wrong) <= MOST_WRONG else ()
        for right in (names for size in sizes for names in combinations(wrong, size)):
            if own.trivial.intersection(wrong).difference(right):
                continue
            some = replace(own, known={**own.known, **{name: true[name] for name in right}})
            with np.errstate(all="ignore"):
                expected, slack = _from_own(part, compute, some)
            if expected is None or vanishes(expected, true[part.name], answer):
                continue
            if by_itself(part, answer, expected, slack).credit == 1:
                return True
    return False


def by_itself(part: Part, answer: Any, right: object, slack: Slack = 0.0) -> Judgement:
    """Judge an answer by the right one alone; what takes no work earns nothing in part."""
    found = part.answer.judge(answer, right, slack=slack)
    if found.credit < 1 and np.size(answer) > 1 and is_trivial(answer, right):
        return found._replace(credit=0.0, feedback="Your entries are all alike; right ones aren't.")
    return found


def misshapen(part: Part, raw: object, true: Mapping[str, Any], own: Own) -> Judgement | None:
    """Recognise a known mistake or a slip that gives another shape than the right answer's."""
    try:
        answer = part.answer.read(raw)
    except FormatError:
        return None
    nothing = Judgement(0)
    try:
        with np.errstate(all="ignore"):
            found = _mistaken(part, answer, true, own, nothing)
            found = found or _slipped(part, answer, true[part.name], [], nothing)
    except Undecided:  # whether it is a known mistake
        return None
    return found if found.note else None


def _mistaken(
    part: Part, answer: Any, true: Mapping[str, Any], own: Own, first: Judgement
) -> Judgement | None:
    """Name the misconceptions that give this answer: all of them, where numbers can't tell."""
    mistakes = part.misconceptions
    known = [[(_evaluate(part, wrong, true), 0.0) for wrong in mistakes]]
    found = _whole(part, answer, known[0])
    if not found:
        known.append(
            [_own_way(part, *each, true, own) for each in zip(mistakes, known[0], strict=True)]
        )
        # What others make of the student's own is the same by chance, as where nats and bits are
        # exchanged, so that comes second.
        found = _whole(part, answer, known[1])
    wholly, both = bool(found), False
    if not wholly and mistakes:
        right = _evaluate(part, part.compute, true), 0.0
        rights = [right[0], _own_way(part, part.compute, right, true, own)[0]]
        found = _in_part(part, answer, rights, known)
        if not found:
            found = _side_by_side(part, answer, rights, known)
            both = bool(found)
    if not found:
        return None
    # Sound steps before it count; with too few digits it earns half, as what is right does.
    earned = [wrong.credit * share for wrong, share in found.items()]
    credit = max(first.credit, min(earned) if both else max(earned))
    said = (" And elsewhere: " if both else " Or: ").join(wrong.feedback for wrong in found)
    said = f"Either: {said}" if len(found) > 1 and not both else said
    if not wholly and part.answer.together:
        told = dict.fromkeys([first.feedback, *(wrong.feedback for wrong in found)])
        said = " ".join(filter(None, told))
    elif not wholly and np.size(answer) > 1:
        said = f"{first.feedback} Where it is wrong: {said}".strip()
    if max(found.values()) < 1:
        said = f"{said} There are too few digits as well."
    return Judgement(credit, next(iter(found)).name, said)


def _whole(part: Part, answer: object, known: Ways) -> dict[Misconception, float]:
    """Return the misconceptions that give this answer."""
    return {
        wrong: 1.0
        for wrong, (value, slack) in zip(part.misconceptions, known, strict=True)
        if value is not None and part.answer.same(answer, value, slack=slack)
    }


def _in_part(
    part: Part, answer: object, rights: Sequence[Any], known: Sequence[Ways]
) -> dict[Misconception, float]:
    """Return the misconceptions that give every entry that is wrong, and how far they show."""
    found = {}
    for wrong, *ways in zip(part.misconceptions, *known, strict=True):
        shares = [
            part.answer.made(answer, value, right, slack=slack)
            for (value, slack), right in zip(ways, rights, strict=True)
            if value is not None and right is not None
        ]
        if any(shares):
            found[wrong] = max(shares)
    return found


def _side_by_side(
    part: Part, answer: Any, rights: Sequence[Any], known: Sequence[Ways]
) -> dict[Misconception, float]:
    """Return two misconceptions, each of which gives the wrong entries that aren't the other's.

    Where several pairs do, none is named.  One alone gives none of them all, as has been looked at:
    so each of the two has to take something out of what is left for the other.
    """
    kind = part.answer
    if np.size(answer) < 2 or len(part.misconceptions) < 2:
        return {}
    pairs: dict[frozenset[Misconception], dict[Misconception, float]] = {}
    for right, values in zip(rights, known, strict=True):
        left = {
            wrong: (value, slack, other)
            for wrong, (value, slack) in zip(part.misconceptions, values, strict=True)
            if right is not None and value is not None
            for other in [kind.without(answer, value, right, slack=slack)]
            if other is not answer and not np.array_equal(other, answer)
        }
        for (one, (a, reach, rest)), (other, (b, near, others)) in combinations(left.items(), 2):
            found = {
                one: kind.made(others, a, right, slack=reach),
                other: kind.made(rest, b, right, slack=near),
            }
            if all(found.values()):
                pairs[frozenset(found)] = found
    return next(iter(pairs.values())) if len(pairs) == 1 else {}


def _own_way(
    part: Part, compute: Callable[..., Any], first: Way, true: Mapping[str, Any], own: Own
) -> Way:
    """Evaluate on the student's own answers; where these are the true ones, that is done."""
    needs = arguments(computation(compute))
    if not own.earlier and all(own.known.get(name) is true.get(name) for name in needs):
        return first
    with standing_in(own.earlier):
        return _from_own(part, compute, own)


def _slipped(
    part: Part, answer: object, right: object, follows: list[Any], first: Judgement
) -> Judgement:
    """Name a slip that happens with any numbers, unless the kind of answer has said more.

    Where something else ``follows`` from the student's earlier answers, an answer that is off by a
    factor of 2, say, may be so by those: what follows is what it is compared with.
    """
    if first.note:
        return first
    other = [value for value in follows if not part.answer.same(value, right)]
    for value in other or [right]:
        slip = recognise(part.answer, answer, value)
        if slip is one_entry_wrong and first.feedback:  # how many are right is said already
            return first
        if slip and not (other and slip in OF_SIZE and by_chance([value], [answer])):
            text = " ".join((slip.__doc__ or "").split())
            compared = "Compared with what follows from your earlier answers:"
            text = f"{compared} {text}" if other else text
            feedback = f"{first.feedback} {text}".strip()
            return first._replace(note=slip.__name__, feedback=feedback)
    return first


def _from_own(part: Part, compute: Callable[..., Any], own: Own) -> tuple[Any, Slack]:
    value = _evaluate(part, compute, own.known)
    rounded = own.rounding.keys() & set(arguments(computation(compute)))
    if value is None or not rounded or part.answer.rounding(value) is None:
        return value, 0.0
    return value, band(compute, own.known, own.rounding)


def _evaluate(part: Part, compute: Callable[..., Any], known: Mapping[str, Any]) -> Any:
    """Evaluate, or return None where a carried value makes that impossible."""
    try:
        return evaluate(part, compute, known)
    except NO_VALUE:
        return None
