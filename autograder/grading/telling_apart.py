"""Which known mistake it was, where a few numbers don't tell: the student's function is asked on.

A check ends with the first answer that is wrong.  That may be one small number, which several
mistakes give, or one by chance; what the check would have asked next says more.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Hashable, Iterable, Iterator, Sequence

import numpy as np

from autograder.exercise import Check, CheckedFunction, Misconception
from autograder.exercise.answers.slips import by_chance
from autograder.exercise.cache import Unfamiliar, Values, remembered, size_of
from autograder.exercise.standing_in import standing_in
from autograder.exercise.words.given import Held
from autograder.grading.answering import Exchange
from autograder.grading.expectations import Looking
from autograder.grading.interview import Interview
from autograder.grading.repeat import answers, renumbered, repeats
from autograder.grading.replay import seed_of
from autograder.sandbox import StudentError
from autograder.sandbox.wire.requests import Call, Request
from autograder.student.visible_checks import effortless

_MOST = 24  # further requests
_EACH = 4  # requests of each check, to see whether answers ever vary


def told_apart(
    function: CheckedFunction,
    check: Check,
    call: Interview,
    found: Sequence[Misconception],
    secret: str = "",
    kind: str = "",
) -> Misconception | None:
    """Return which of the mistakes that answer a check alike it was; None if by chance alone.

    Parameters
    ----------
    call
        What was asked and answered until the check failed.
    kind
        In which way it failed, where that is told.
    """
    if not found:
        return None
    if call.metered:  # what came is not known, unless the way to it says enough
        told = [] if kind else [*_everywhere(function, call, secret)]
        return next(iter(_agreeing(told, found)), None)
    chance = _by_chance(function, call)
    if not (chance or len(found) > 1):
        return found[0]
    told = [*_answered(call, _asked(function, check, secret)[len(call.calls) :])]
    left = _agreeing(told, found)
    if not left:
        return None if chance else found[0]
    if chance and unvarying(function, call, secret):  # a mistake that is none is no better
        return next(iter(_agreeing([*_everywhere(function, call, secret)], left)), None)
    for other in function.checks:
        if len(left) > 1 and other is not check and not other.gpu:
            left = _agreeing([*_answered(call, _asked(function, other, secret))], left) or left
    return left[0]


def unvarying(function: CheckedFunction, call: Interview, secret: str) -> bool:
    """Tell whether the answers are one number or truth value, whatever any check asks.

    Those of the reference are not.
    """
    given = [*map(_brief, call.returned)]
    if not given or len(given) < len(call.calls) or not effortless(2 * given):
        return False
    told: list[Exchange] = []
    for each in _everywhere(function, call, secret):
        told.append(each)
        given.append(_brief(each.value))
        if not effortless(2 * given):  # no other answer can change that
            return False
    try:
        with standing_in({}):
            right = answers(function.solution, told)
    except StudentError:  # what the reference can't answer is not looked at here
        return False
    return effortless(given) and not effortless(2 * right)


def _brief(value: object) -> object:
    """Return two entries of an array that is one number alone: all of them say no more."""
    if isinstance(value, np.ndarray) and value.size > 2 and effortless([value]):
        return value.ravel()[:2]
    return value


def _everywhere(function: CheckedFunction, call: Interview, secret: str) -> Iterator[Exchange]:
    """Return what is answered to the first that each of the checks asks, one by one."""
    yield from _answered(call, _of_all(function, secret))


@remembered()
def _of_all(function: CheckedFunction, secret: str) -> tuple[Call, ...]:
    """Return the first that each of the checks asks, what has a small answer before the rest."""
    checks = (check for check in function.checks if not check.gpu)
    asked = [each for check in checks for each in _weighed(function, check, secret)[:_EACH]]
    return tuple(request for request, _ in sorted(asked, key=lambda each: each[1]))


def _by_chance(function: CheckedFunction, call: Interview) -> bool:
    """Tell whether the wrong answers are so few and plain numbers that other mistakes give them."""
    plain = [each for each in renumbered(call.calls) if not each.raised]
    try:
        right = answers(function.solution, plain)
        return by_chance(right, [each.value for each in plain])
    except Exception:  # what the reference can't answer, or what are no numbers
        return False


def _asked(function: CheckedFunction, check: Check, secret: str) -> list[Call]:
    """Return what a check asks of a function that is right, as far as it asks for results alone."""
    return [request for request, _ in _weighed(function, check, secret)]


@remembered()
def _weighed(function: CheckedFunction, check: Check, secret: str) -> tuple[tuple[Call, int], ...]:
    """Return the same, with the bytes that the right answers take."""
    call = Looking(function.solution)
    with warnings.catch_warnings(), standing_in({}):
        warnings.simplefilter("ignore")
        with contextlib.suppress(Exception):  # the check's verdict, whatever it is
            check.run(call, seed_of(function, check, secret))
    call.release()
    asked = [(c.request, size_of(c.value)) for c in call.calls if isinstance(c.request, Call)]
    return tuple(each for each in asked if not _of_objects(each[0]))[:_MOST]


def _of_objects(request: Call) -> bool:
    return any(isinstance(each, Held) for each in (*request.args, *request.kwargs.values()))


def _answered(call: Interview, requests: Iterable[Call]) -> Iterator[Exchange]:
    """Ask the student's function, and return what it answers, up to where it hangs.

    What was asked so for another reason is not asked again, nor what the check began with.
    """
    begun = {known: each for each in call.calls[:_EACH] if (known := _known(each.request))}
    for request in requests:
        told = call.aside.get(id(request)) or begun.get(_known(request))
        if told is None:
            try:
                answer = call.callee.ask(request)
            except StudentError as error:
                if not error.type:
                    break
                told = Exchange(request, raised=error.type, text=error.text)
            else:
                told = Exchange(request, answer.value, answer.modified)
            call.aside[id(request)] = told
        yield told


def _known(request: Request) -> Hashable:
    """Return by what a plain call is known again, or None."""
    if not isinstance(request, Call):
        return None
    try:
        return Values((request.args, request.kwargs)).key
    except Unfamiliar:
        return None


def _agreeing(told: list[Exchange], found: Sequence[Misconception]) -> list[Misconception]:
    """Return the mistakes that answer as the student's function does."""
    alike = repeats(told)
    return [wrong for wrong in found if alike(wrong, False)]
