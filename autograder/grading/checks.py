"""Run the checks of an exercise against a submission, and name what went wrong."""

from __future__ import annotations

import builtins
import copy
import warnings
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from autograder.exercise import (
    Check,
    Exercise,
    Inconclusive,
    Misconception,
    Mismatch,
    alike,
    rng_for,
)
from autograder.exercise.remember import Unfamiliar, Values, remembered
from autograder.grading.recorder import Recorder, same
from autograder.grading.results import Item, Status, hundredths, sentence
from autograder.sandbox import StudentError

Call = Callable[..., Any]

#: The note of checks that wait for a GPU.
NO_GPU = "no_gpu"
_LATER = (
    "This is checked on a GPU. The score is withheld until that is done; you lose nothing by it."
)


def grade_checks(exercise: Exercise, call: Call) -> list[Item]:
    """Run every check; ``call`` may be a sandboxed submission, the reference or a misconception.

    A check is skipped where the one it comes after earned nothing.  After a call that ran out
    of time the remaining checks fail without being run: a hang costs its time once.
    """
    items: dict[str, Item] = {}
    timed_out = False
    for check in exercise.checks:
        if check.after and not items[check.after.name].score:
            items[check.name] = _item(
                check, Status.SKIPPED, "skipped", f"Not run: it builds on “{check.after.rubric}”"
            )
        elif check.gpu and not getattr(call, "has_gpu", False):
            items[check.name] = _item(check, Status.ERRORED, NO_GPU, _LATER)
        elif timed_out:
            items[check.name] = _item(
                check, Status.FAILED, "timeout", "Not run after a call that ran out of time."
            )
        else:
            items[check.name] = _run(exercise, check, Recorder(call))
            timed_out = items[check.name].note == "timeout"
    return list(items.values())


def seed_of(exercise: Exercise, check: Check) -> np.random.Generator:
    """Return the generator of a check's inputs: the same for every student and every run."""
    return rng_for(exercise.id, check.name)


def _without_details(error: StudentError) -> str:
    """Say what went wrong in words that student code has no hand in.

    Messages, and the names of classes of the student's own, may hold hidden inputs.
    """
    if error.kind == "exception":
        known = hasattr(builtins, error.type)
        return f"your function raised {error.type if known else 'an exception of its own'}"
    if error.kind == "unsendable":
        return "your function did not return numbers, arrays, text or lists of these"
    if error.kind == "missing":
        return "your function is not defined: was its cell run, and is the name right?"
    if error.kind == "protocol":
        return "your function interfered with the connection to the grader"
    return error.message


def _run(exercise: Exercise, check: Check, call: Recorder) -> Item:
    item = _outcome(exercise, check, call)
    if call.borrowed and item.status in (Status.FAILED, Status.PARTIAL):
        followed = _outcome(exercise, check, call.following())
        if followed.status is Status.PASSED:
            text = "Right, given your own functions before."
            item = replace(followed, note="follow_through", feedback=text)
    return replace(item, curve=asdict(call.curve)) if call.curve else item


def _outcome(exercise: Exercise, check: Check, call: Recorder) -> Item:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check.run(call, seed_of(exercise, check))
    except Inconclusive as unclear:
        return _item(
            check,
            Status.ERRORED,
            "inconclusive",
            f"Nothing is decided: {unclear}. The score is withheld; a person will look at it.",
        )
    except Mismatch as mismatch:
        known = None if check.gpu else diagnose(exercise, check, call, mismatch)
        earned, credit = Status.PARTIAL if mismatch.credit else Status.FAILED, mismatch.credit
        if known:
            return _item(check, earned, known.name, known.feedback, credit=credit)
        text = mismatch.detail if check.visible else mismatch.message
        return _item(check, earned, "", sentence(text), credit=credit)
    except StudentError as error:
        note = "timeout" if error.kind == "timeout" else "student_error"
        if error.type == "NotImplementedError" or error.kind == "missing":
            note = "blank"
        text = error.message if check.visible else _without_details(error)
        return _item(check, Status.FAILED, note, sentence(text))
    except Exception as error:  # a bug in the check: never the student's loss
        return _item(
            check,
            Status.ERRORED,
            "grader_error",
            f"The check itself failed ({type(error).__name__}); a person will look at it.",
        )
    note, feedback = call.remarks[0] if call.remarks else ("", "")
    return _item(check, Status.PASSED, note, feedback)


def diagnose(
    exercise: Exercise, check: Check, call: Recorder, mismatch: Mismatch
) -> Misconception | None:
    """Return the misconception that answers every recorded call as the student did, if any.

    Types count only where the values are right: then the type, or a changed input, is what
    the check complained about.  A misconception that passes the check is not what failed it,
    nor is one that fails it in another way.
    """
    if exercise.solution is None or not (call.calls or call.metered):
        return None
    replays = _replays(call)
    strict = bool(call.calls) and replays(exercise.solution, False)
    for wrong in exercise.misconceptions:
        if replays(wrong, strict):
            failed = _failure(exercise, check, wrong)
            if failed and _alike(failed, mismatch, by_message=not call.calls):
                return wrong
    return None


def _alike(one: Mismatch, other: Mismatch, *, by_message: bool) -> bool:
    """Tell whether two functions fail a check in the same way."""
    if one.kind or other.kind or not by_message:
        return one.kind == other.kind
    return one.message == other.message


@remembered()
def _failure(exercise: Exercise, check: Check, wrong: Misconception) -> Mismatch | None:
    """Return how a misconception fails a check; None if it passes, or can't be run there."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check.run(Recorder(wrong), seed_of(exercise, check))
    except Mismatch as mismatch:
        return mismatch
    except Inconclusive:
        return None
    return None


def _replays(call: Recorder) -> Callable[[Call, bool], bool]:
    """Return what tells whether a function answers the recorded calls as the submission did."""
    calls = [[each.args, each.kwargs, each.value] for each in call.calls]
    try:
        values = Values(calls)
    except Unfamiliar:  # then every comparison is made anew
        return lambda function, strict: _answers(function, calls, strict, call.modified)
    return lambda function, strict: _known(function, values, strict, call.modified)


@remembered()
def _known(function: Call, calls: Values, strict: bool, modified: bool) -> bool:
    return _answers(function, calls.values, strict, modified)


def _answers(function: Call, calls: list[Any], strict: bool, modified: bool) -> bool:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for asked_args, asked_kwargs, answered in calls:
                args, kwargs = copy.deepcopy((asked_args, asked_kwargs))
                value = function(*args, **kwargs)
                if not alike(answered, value):
                    return False
                changed = not same((args, kwargs), (asked_args, asked_kwargs))
                if strict and (_dtypes(value) != _dtypes(answered) or changed != modified):
                    return False
    except Exception:  # a function that can't answer did not make this mistake
        return False
    return True


def _dtypes(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_dtypes(entry) for entry in value]
    return getattr(value, "dtype", type(value))


def _item(
    check: Check, status: Status, note: str = "", feedback: str = "", *, credit: float = 0.0
) -> Item:
    credit = 1.0 if status is Status.PASSED else credit
    score = None if status is Status.ERRORED else hundredths(credit * check.points)
    return Item(check.name, check.rubric, status, score, check.points, note, feedback)
