"""Say where a student's own earlier code is what keeps an exercise from working."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from autograder.exercise import Check, CheckedFunction, Mismatch
from autograder.exercise.words.checked import Carried
from autograder.grading.budget import CHECK_SECONDS, bounded
from autograder.grading.callee import Callee
from autograder.grading.interview import Interview
from autograder.grading.replay import seed_of
from autograder.grading.results import Item, Status
from autograder.sandbox import StudentError
from autograder.sandbox.wire.requests import Call, CallMethod
from autograder.student.visible_checks import effortless

#: Notes of checks that know no mistake: perhaps nothing works at all.
_UNKNOWN = ("", "blank", "idle", "student_error", "timeout")
_FOUND = {"missing": "is not defined", "timeout": "takes too long"}


def explained(
    function: CheckedFunction, call: Callee, items: Sequence[Item], secret: str
) -> list[Item]:
    """Add to the first check that failed for no known reason that earlier code fails by itself.

    That is tried on the first check of its own exercise. What is merely wrong is followed.
    """
    found = list(items)
    for number, item in enumerate(items):
        if item.status is Status.FAILED and item.note in _UNKNOWN and not call.unwritten:
            own = ((one, call.own(one.solution)) for one in function.carried)
            said = [_failing(one, each, secret) for one, each in own if each]
            found[number] = replace(item, feedback=" ".join(filter(None, [item.feedback, *said])))
            break
    return found


def _failing(carried: Carried, own: Callee, secret: str) -> str:
    """Say that an earlier function gives nothing, if that is so."""
    function = carried.function
    check = next((check for check in function.checks if not check.gpu), None)
    what = _tried(function, check, own, secret) if check else ""
    if not what:
        return ""
    return (
        f"This builds on your own `{carried.name}`, which {what} when it is called by itself: mend "
        "that in its cell of this notebook."
    )


def _tried(
    function: CheckedFunction, check: Check, own: Callee, secret: str, *, again: bool = False
) -> str:
    """Return what is wrong with an earlier function, unless it is right or merely wrong."""
    call = Interview(own)
    place, rng = f"{function.id}.{check.name}", seed_of(function, check, secret)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bounded(place, lambda: check.run(call, rng), CHECK_SECONDS)
    except StudentError as error:
        if error.kind == "lost" and not again:  # with a process that had run later cells
            return _tried(function, check, own, secret, again=True)
        return _FOUND.get(error.kind, "raises an exception")
    except Mismatch:
        values = [each.value for each in call.calls if isinstance(each.request, Call | CallMethod)]
        return "returns the same number everywhere" if values and effortless(values) else ""
    except Exception:  # nothing is known of it then
        return ""
    finally:
        call.release()
    return ""
