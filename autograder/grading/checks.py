"""Run the checks of an exercise against a submission, and name what went wrong."""

from __future__ import annotations

import builtins
import copy
import importlib
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from autograder.exercise import (
    Check,
    Exercise,
    Inconclusive,
    Misconception,
    Mismatch,
    Work,
    alike,
    rng_for,
)
from autograder.exercise.clocks import Curve
from autograder.exercise.gpu import Timing
from autograder.exercise.remember import remembered
from autograder.grading.results import Item, Status, sentence
from autograder.sandbox import StudentError
from autograder.sandbox.meter import metered

Call = Callable[..., Any]

#: The note of checks that wait for a GPU.
NO_GPU = "no_gpu"
_LATER = (
    "This is checked on a GPU. The score is withheld until that is done; you lose nothing by it."
)


@dataclass(frozen=True)
class Recorded:
    """One call that a check made, and what came back."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    value: Any


class Recorder:
    """A call that remembers what it was asked and what it answered.

    What is metered or timed is not remembered: such calls are large, and say how a function
    works rather than what it returns.

    Attributes
    ----------
    calls
        Every call that returned.
    modified
        Did the last call change one of its arguments in place?
    metered
        Was the work of a call counted?
    remarks
        Notes with sentences for the student, should the check pass.
    curve
        Times that were measured for a picture.
    """

    def __init__(self, call: Call) -> None:
        self._call = call
        self.calls: list[Recorded] = []
        self.modified = self.metered = False
        self.remarks: list[tuple[str, str]] = []
        self.curve: Curve | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call and record."""
        asked = copy.deepcopy((args, kwargs))
        value = self._call(*args, **kwargs)
        self.calls.append(Recorded(*asked, value))
        self.modified = getattr(self._call, "modified", False) or not _same(asked, (args, kwargs))
        return value

    def work(self, *args: Any, **kwargs: Any) -> Work:
        """Call and count the work; a function of our own is metered here.

        Raises
        ------
        StudentError
            If the call fails without a meter as well.
        Inconclusive
            If it fails with the meter alone, or takes too long or too much memory.
        """
        self.metered = True
        meter = getattr(self._call, "metered", None) or partial(_metered, self._call)
        try:
            value, counts = meter(*args, **kwargs)
        except StudentError as error:
            if error.kind == "timeout" or error.type == "MemoryError":
                raise Inconclusive("counting the work took too long, or too much memory") from error
            self._call(*copy.deepcopy(args), **copy.deepcopy(kwargs))
            raise Inconclusive(f"the work could not be counted ({error.kind})") from error
        return Work(value, **counts)

    def outline(self, *shapes: tuple[int, ...], dtype: str = "float32") -> Work:
        """Count the work of a call with torch tensors of these shapes that hold no numbers.

        So it can be counted for n = 65,536 in moments and without memory; there is no value, so
        this says nothing about whether the result is right.

        Raises
        ------
        StudentError
            If the call fails.
        """
        self.metered = True
        outlined = getattr(self._call, "outlined", None) or partial(_outlined, self._call)
        return Work(None, **outlined(*shapes, dtype=dtype))

    @property
    def clocked(self) -> bool:
        """Is this a submission, in a process whose time can be read?"""
        return hasattr(self._call, "timed")

    def seconds(self, *args: Any, **kwargs: Any) -> tuple[Any, float | None]:
        """Call and return the processor time; None for a function of our own."""
        timed = getattr(self._call, "timed", None)
        return timed(*args, **kwargs) if timed else (self._call(*args, **kwargs), None)

    def reference_seconds(self, *args: Any, **kwargs: Any) -> tuple[Any, float | None]:
        """Do the same with the reference; only a submission is compared with it."""
        timed = getattr(self._call, "reference_timed", None)
        return timed(*args, **kwargs) if timed else (None, None)

    def on_gpu(
        self, shape: tuple[int, ...], dtype: str, rows: Any, *, sdpa: bool = False
    ) -> Timing | None:
        """Time calls on a GPU; of a submission alone."""
        timing: Timing | None = self._call.on_gpu(shape, dtype, rows, sdpa=sdpa)  # type: ignore[attr-defined]
        return timing

    def remark(self, note: str, feedback: str) -> None:
        """Say something beside the verdict."""
        self.remarks.append((note, feedback))


def _metered(function: Call, *args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """Meter a function of our own, in this process."""
    torch = "torch" in sys.modules  # importing it takes seconds
    torchmeter = importlib.import_module("autograder.sandbox.torchmeter") if torch else None
    return metered(getattr(function, "compute", function), args, kwargs, torchmeter)


def _outlined(function: Call, *shapes: tuple[int, ...], dtype: str) -> dict[str, Any]:
    """Outline a function of our own, in this process."""
    torchmeter = importlib.import_module("autograder.sandbox.torchmeter")
    found: dict[str, Any] = torchmeter.outlined(
        getattr(function, "compute", function), shapes, dtype
    )
    return found


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
    strict = bool(call.calls) and _replays(exercise.solution, call, strict=False)
    for wrong in exercise.misconceptions:
        if _replays(wrong, call, strict=strict):
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
