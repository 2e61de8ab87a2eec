"""Whether a check that failed is passed on top of the student's own earlier functions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from autograder.exercise import Check, CheckedFunction, Inconclusive, Mismatch
from autograder.exercise.standing_in import standing_in
from autograder.grading.budget import CHECK_SECONDS, Exhausted, bounded
from autograder.grading.excuses import Earned, Excused
from autograder.grading.expectations import blamed
from autograder.grading.interview import Interview
from autograder.grading.repeat import answers, repeats
from autograder.grading.replay import answers_like_the_reference, idle, seed_of
from autograder.grading.substance import insubstantial
from autograder.sandbox import StudentError
from autograder.student.visible_checks import effortless

Function = Callable[..., Any]


def attempt(
    function: CheckedFunction, check: Check, call: Interview, secret: str
) -> Exception | None:
    """Run a check, and return what it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            place, rng = f"{function.id}.{check.name}", seed_of(function, check, secret)
            bounded(place, lambda: check.run(call, rng), CHECK_SECONDS)
    except (Mismatch, StudentError, Inconclusive, Exhausted) as error:
        return error
    except Exception as error:  # what came is no answer, or the check itself is wrong
        return blamed(function, check, call, secret) or error
    return None


def follows(function: CheckedFunction, call: Interview, failure: Exception | None) -> bool:
    """Tell whether what came of a check on top of earlier functions is right given these.

    From an exception nothing follows, nor from a check that could not go on with what came.
    """
    if failure is None:
        return True
    decided = isinstance(failure, Mismatch) and not any(each.raised for each in call.calls)
    return decided and answers_like_the_reference(function, call)


def follows_otherwise(
    function: CheckedFunction,
    check: Check,
    call: Interview,
    own: Mapping[str, Function],
    secret: str,
) -> bool:
    """Tell whether a check is passed where an alternative is what is right.

    That may build on other functions than the reference does. On top of the student's own it has
    to answer as the submission did.
    """
    alike = repeats(call.calls)
    for way in function.alternatives:
        with standing_in(own) as cast:
            if not (alike(way, True) and cast.called):
                continue
        other, again = replace(function, solution=way), call.following()
        with standing_in({**own, f"{function.id}.{function.name}": way}):
            failure = attempt(function, check, again, secret)
            right = follows(other, again, failure) and not took_no_work(
                other, check, again, call.returned, secret
            )
        again.release()
        if right:
            return True
    return False


def took_no_work(
    function: CheckedFunction, check: Check, call: Interview, before: list[Any], secret: str
) -> bool:
    """Tell whether what follows was answered without computing anything."""
    given = [*before, *call.returned]
    return (
        idle(function, call)
        or _on_nothing(call)
        or _one_number(function, check, given, secret)
        or insubstantial(function, call)
    )


def follows_mended(
    function: CheckedFunction,
    check: Check,
    call: Interview,
    own: Mapping[str, Function],
    secret: str,
    proven: bool,
    earned: Earned,
) -> bool:
    """Tell whether a check is passed where the references answer for functions that give nothing.

    What is called must be seen to be right somewhere: by this check, or by one before; and so
    must the functions that give nothing here, by the checks of their own exercises.
    """
    if call.metered:
        return False
    excused = Excused(call.callee, function.solution, own, earned)
    mended = call.following(excused)
    with standing_in({one.name: mended.own(one.solution) for one in function.carried}):
        failure = attempt(function, check, mended, secret)
    mended.release()
    given = excused.answered
    if failure is not None or not (given or proven):
        return False
    return not (given and _one_number(function, check, given, secret))


def made_no_difference(call: Interview) -> bool:
    """Tell whether the student's own earlier functions answered as their references do."""
    with standing_in({}):
        return all(
            own.reference is None or repeats(own.calls)(own.reference, True)
            for own in call.borrowed.values()
        )


def _on_nothing(call: Interview) -> bool:
    """Tell whether an earlier function that the check asked returned one number everywhere.

    From that nothing follows but what can be written without it.
    """
    for own in call.borrowed.values():
        if own.reference is not None and own.returned and effortless(own.returned):
            with standing_in({}):
                right = answers(own.reference, own.calls)
            if not effortless(2 * right):
                return True
    return False


def _one_number(function: CheckedFunction, check: Check, given: list[Any], secret: str) -> bool:
    """Tell whether one number was returned whatever came in, where the right ones are others.

    The student's own earlier functions may ask for no more, such as masks of ones alone.
    """
    if not effortless(given):
        return False
    right = Interview(function.solution)
    with standing_in({}):
        attempt(function, check, right, secret)
    right.release()
    return not effortless(2 * right.returned)  # as often as it was asked: one number tells nothing
