"""Replay what a submission answered, to find the mistake that answers alike."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from autograder.exercise import Check, CheckedFunction, Misconception, Mismatch, alike
from autograder.exercise.answers.slips import FUNCTION_SLIPS, OF_SIZE, Slip, by_chance
from autograder.exercise.cache import Unfamiliar, remembered
from autograder.exercise.standing_in import standing_in
from autograder.exercise.words.variants import rng_for
from autograder.grading.interview import Interview
from autograder.grading.repeat import (
    Exchanges,
    answers,
    nameless,
    renumbered,
    repeats,
    texts,
)
from autograder.student.visible_checks import effortless

Function = Callable[..., Any]


def seed_of(function: CheckedFunction, check: Check, secret: str = "") -> np.random.Generator:
    """Return the generator of a check's inputs: the same for every student and every run."""
    return rng_for(*filter(None, [secret]), function.id, check.draws or check.name)


def diagnose(
    function: CheckedFunction,
    check: Check,
    call: Interview,
    mismatch: Mismatch,
    mistakes: Sequence[Misconception],
    secret: str = "",
) -> list[Misconception]:
    """Return the misconceptions that answer every recorded call as the student did.

    Types count only where the values are right: then the type, or a changed input, is what
    the check complained about.  A misconception that passes the check is not what failed it,
    nor is one that fails it in another way.  Where nothing could tell several apart, the first of
    them is enough: the others may have to be trained, or metered, to be tried.
    """
    if not (call.calls or call.metered) or call.unseen:  # no mistake is trained to say the same
        return []
    replays = repeats(call.calls)
    strict = bool(call.calls) and replays(function.solution, False)

    def failed_alike(wrong: Misconception) -> bool:
        asked = mismatch.free or replays(wrong, strict)
        failed = _failure(function, check, wrong, secret) if asked else None
        return failed is not None and _alike(failed, mismatch, by_message=not call.calls)

    found = filter(failed_alike, mistakes)
    settled = mismatch.free or (call.metered and mismatch.kind)
    return list(islice(_saying_the_same(call, found), 1 if settled else None))


def _alike(one: Mismatch, other: Mismatch, *, by_message: bool) -> bool:
    """Tell whether two functions fail a check in the same way."""
    if one.kind or other.kind or not by_message:
        return one.kind == other.kind
    return one.message == other.message


def raising(
    function: CheckedFunction, call: Interview, mistakes: Sequence[Misconception]
) -> list[Misconception]:
    """Return the misconceptions that raise what the submission raised, at the same call.

    Before that they must have answered as the submission did.
    """
    if not call.raised or answers_like_the_reference(function, call):
        return []
    return repeating(call, mistakes)


def answers_like_the_reference(function: CheckedFunction, call: Interview) -> bool:
    """Tell whether every recorded call was answered as by the reference, types included."""
    if not call.calls:
        return False
    return repeats(call.calls)(function.solution, True)


def repeating(call: Interview, mistakes: Sequence[Misconception]) -> list[Misconception]:
    """Return the misconceptions that answer every recorded call as the submission did."""
    replays = repeats(call.calls)
    return [*_saying_the_same(call, (wrong for wrong in mistakes if replays(wrong, False)))]


def _saying_the_same(call: Interview, found: Iterable[Misconception]) -> Iterable[Misconception]:
    """Return those that say the same where an exception is raised, one after the other."""
    if not any(each.raised for each in call.calls):
        return found
    recorded = renumbered(call.calls)
    own = [nameless(each.text) for each in recorded if each.raised]
    return (wrong for wrong in found if texts(wrong.compute, recorded) == own)


def slipped(function: CheckedFunction, call: Interview) -> Slip | None:
    """Return the slip that leads from the reference's answers to the submission's, if any."""
    if not call.calls or call.raised:
        return None
    try:
        calls = Exchanges(renumbered(call.calls))
    except Unfamiliar:
        return None
    return _slipped(function.solution, calls)


def idle(function: CheckedFunction, call: Interview) -> bool:
    """Tell whether all answers are one number everywhere, or empty, where the reference's are not.

    Properties may hold of them, and they may follow from another such function; they took no work.
    """
    given = call.returned
    if len(given) < len(call.calls) or not (effortless(given) or _empty(given)):
        return False
    try:
        with standing_in({}):  # right by themselves, not by the student's earlier functions
            right = answers(function.solution, call.calls)
    except Exception:  # what the reference can't answer is not looked at here
        return False
    return not (effortless(right) or _empty(right))


def _empty(values: Sequence[object]) -> bool:
    """Tell whether each of these is an array without entries."""
    arrays = [getattr(value, "array", value) for value in values]
    return bool(arrays) and all(isinstance(a, np.ndarray) and not a.size for a in arrays)


@remembered()
def _slipped(solution: Function, calls: Exchanges) -> Slip | None:
    try:
        right = answers(solution, calls.calls)
    except Exception:  # what the reference can't answer, no slip explains
        return None
    pairs = [(r, each.value) for r, each in zip(right, calls.calls, strict=True) if r is not None]
    if all(alike(given, right) for right, given in pairs):
        return None
    try:
        chance = by_chance(*zip(*pairs, strict=True))
    except (TypeError, ValueError, ArithmeticError):  # what came are no numbers
        return None
    for slip in FUNCTION_SLIPS:
        if chance and slip in OF_SIZE:
            continue
        # Off by 1 means too large by 1 at each call, or too small at each.
        if any(map(all, zip(*(_led(slip, *pair) for pair in pairs), strict=False))):
            return slip
    return None


def _led(slip: Slip, right: object, given: object) -> list[bool]:
    """Tell of each wrong answer that a slip leads to whether it was given."""
    found: list[bool] = []
    with np.errstate(all="ignore"), contextlib.suppress(TypeError, ValueError, ArithmeticError):
        if not isinstance(right, tuple):
            right, given = np.asarray(right), np.asarray(getattr(given, "array", given))
        found += (alike(given, wrong) for wrong in slip(right, given))
    return found


@remembered(lasts=True)
def _failure(
    function: CheckedFunction, check: Check, wrong: Misconception, secret: str
) -> Mismatch | None:
    """Return how a misconception fails a check; None if it passes, or can't be run there."""
    call = Interview(wrong)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check.run(call, seed_of(function, check, secret))
    except Mismatch as mismatch:
        return mismatch
    except Exception:  # it can't be run there, or is not to be measured
        return None
    finally:
        call.release()
    return None
