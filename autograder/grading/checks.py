"""Run the checks of an exercise against a submission, and name what went wrong."""

from __future__ import annotations

import builtins
import copy
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.exercise import Check, Exercise, Misconception, Mismatch, alike, rng_for
from autograder.grading.results import Item, Status, sentence
from autograder.sandbox import StudentError

Call = Callable[..., Any]


@dataclass(frozen=True)
class Recorded:
    """One call that a check made, and what came back."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    value: Any


class Recorder:
    """A call that remembers what it was asked and what it answered.

    Attributes
    ----------
    calls
        Every call that returned.
    modified
        Did the last call change one of its arguments in place?
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self.calls: list[Recorded] = []
        self.modified = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call and record."""
        asked = copy.deepcopy((args, kwargs))
        value = self._call(*args, **kwargs)
        self.calls.append(Recorded(*asked, value))
        self.modified = getattr(self._call, "modified", False) or not _same(asked, (args, kwargs))
        return value


def grade_checks(exercise: Exercise, call: Call) -> list[Item]:
    """Run every check; ``call`` may be a sandboxed submission, the reference or a misconception.

    A check is skipped where the one it comes after did not pass.  After a call that ran out
    of time the remaining checks fail without being run: a hang costs its time once.
    """
    items: dict[str, Item] = {}
    timed_out = False
    for check in exercise.checks:
        if check.after and items[check.after.name].status is not Status.PASSED:
            items[check.name] = _item(
                check, Status.SKIPPED, "skipped", f"Not run: it builds on “{check.after.rubric}”"
            )
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
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check.run(call, seed_of(exercise, check))
    except Mismatch as mismatch:
        known = diagnose(exercise, check, call)
        if known:
            return _item(check, Status.FAILED, known.name, known.feedback)
        text = mismatch.detail if check.visible else mismatch.message
        return _item(check, Status.FAILED, "", sentence(text))
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
    return _item(check, Status.PASSED)


def diagnose(exercise: Exercise, check: Check, call: Recorder) -> Misconception | None:
    """Return the misconception that answers every recorded call as the student did, if any.

    Types count only where the values are right: then the type, or a changed input, is what
    the check complained about.  A misconception that passes the check is not what failed it.
    """
    if not call.calls or exercise.solution is None:
        return None
    strict = _replays(exercise.solution, call, strict=False)
    for wrong in exercise.misconceptions:
        if _replays(wrong, call, strict=strict) and _fails(exercise, check, wrong):
            return wrong
    return None


def _fails(exercise: Exercise, check: Check, wrong: Misconception) -> bool:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check.run(Recorder(wrong), seed_of(exercise, check))
    except Mismatch:
        return True
    return False


def _replays(function: Call, call: Recorder, *, strict: bool) -> bool:
    """Tell whether ``function`` answers the recorded calls as the submission did."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for recorded in call.calls:
                args, kwargs = copy.deepcopy((recorded.args, recorded.kwargs))
                value = function(*args, **kwargs)
                if not alike(recorded.value, value):
                    return False
                changed = not _same((args, kwargs), (recorded.args, recorded.kwargs))
                if strict and (
                    _dtypes(value) != _dtypes(recorded.value) or changed != call.modified
                ):
                    return False
    except Exception:  # a function that can't answer did not make this mistake
        return False
    return True


def _same(a: Any, b: Any) -> bool:
    """Tell whether two trees of arguments are identical, bit for bit."""
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    if isinstance(a, tuple | list):
        return all(map(_same, a, b))
    if isinstance(a, dict):
        return all(_same(a[key], b[key]) for key in a)
    return bool(a == b)


def _dtypes(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_dtypes(entry) for entry in value]
    return getattr(value, "dtype", type(value))


def _item(check: Check, status: Status, note: str = "", feedback: str = "") -> Item:
    score = None if status is Status.ERRORED else check.points if status is Status.PASSED else 0.0
    return Item(check.name, check.rubric, status, score, check.points, note, feedback)
