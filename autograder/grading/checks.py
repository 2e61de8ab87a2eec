"""Run the checks of an exercise against a submission, and name what went wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from autograder.exercise import (
    Check,
    Exercise,
    Inconclusive,
    Misconception,
    Mismatch,
)
from autograder.grading.budget import CHECK_SECONDS, TOO_MUCH, Exhausted, bounded
from autograder.grading.recorder import Known, Recorder
from autograder.grading.replay import diagnose, raising, seed_of, slipped
from autograder.grading.results import Item, Status, hundredths, sentence
from autograder.sandbox import StudentError

Call = Callable[..., Any]

#: The note of checks that wait for a GPU.
NO_GPU = "no_gpu"
_LOST = "lost"
_LATER = (
    "This is checked on a GPU. The score is withheld until that is done; you lose nothing by it."
)


#: The exceptions that feedback names: which of them it is tells what is wrong, and little else.
_EXCEPTIONS = (
    "AttributeError",
    "IndexError",
    "KeyError",
    "NameError",
    "NotImplementedError",
    "RuntimeError",
    "TypeError",
    "ValueError",
    "ZeroDivisionError",
)


def grade_checks(
    exercise: Exercise,
    call: Call,
    *,
    secret: str = "",
    watch: Callable[[Check, Recorder], None] | None = None,
) -> list[Item]:
    """Run every check; ``call`` may be a sandboxed submission, the reference or a misconception.

    Inputs are drawn with the ``secret`` of a course; without one they are those that students see.

    A check is skipped where the one it comes after earned nothing.  After a call that ran out
    of time the remaining checks fail without being run: a hang costs its time once.  ``watch``
    is shown what each check recorded.
    """
    items: dict[str, Item] = {}
    runs: Known = {}
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
            recorder = Recorder(call, runs=runs)
            named = {item.note for item in items.values()}
            # Where several explain a failure, it is the one that explained others before.
            mistakes = sorted(exercise.misconceptions, key=lambda wrong: wrong.name not in named)
            items[check.name] = _run(exercise, check, recorder, secret, mistakes)
            timed_out = items[check.name].note in ("timeout", TOO_MUCH)
            if watch:
                watch(check, recorder)
    return list(items.values())


def _open(check: Check, secret: str) -> bool:
    """Tell whether feedback may hold what student code says.

    In a course never: a function that is called for a visible check may have seen hidden inputs.
    """
    return check.visible and not secret


def _without_details(error: StudentError) -> str:
    """Say what went wrong in words that student code has no hand in.

    Messages, and the names of classes of the student's own, may hold hidden inputs.
    """
    if error.kind == "exception":
        name = error.type if error.type in _EXCEPTIONS else "an exception"
        return f"your function raised {name}"
    if error.kind == "unsendable":
        return "your function did not return numbers, arrays, text or lists of these"
    if error.kind == "missing":
        return "your function is not defined: was its cell run, and is the name right?"
    if error.kind == "protocol":
        return "your function interfered with the connection to the grader"
    return error.message


def _run(
    exercise: Exercise,
    check: Check,
    call: Recorder,
    secret: str,
    mistakes: Sequence[Misconception],
) -> Item:
    item = _outcome(exercise, check, call, secret, mistakes)
    if item.note == _LOST:  # its objects went with a process that something else had spoiled
        call.begin()
        item = _outcome(exercise, check, call, secret, mistakes)
    if call.borrowed and item.status in (Status.FAILED, Status.PARTIAL):
        followed = _outcome(exercise, check, call.following(), secret, mistakes)
        if followed.status is Status.PASSED:
            text = "Right, given your own functions before."
            item = replace(followed, note="follow_through", feedback=text)
    call.release()
    item = replace(item, training=asdict(call.training)) if call.training else item
    return replace(item, curve=asdict(call.curve)) if call.curve else item


def _outcome(
    exercise: Exercise,
    check: Check,
    call: Recorder,
    secret: str,
    mistakes: Sequence[Misconception],
) -> Item:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            place, rng = f"{exercise.id}.{check.name}", seed_of(exercise, check, secret)
            bounded(place, lambda: check.run(call, rng), CHECK_SECONDS)
    except Exhausted as error:
        return _item(check, Status.FAILED, TOO_MUCH, str(error))
    except Inconclusive as unclear:
        return _item(
            check,
            Status.ERRORED,
            "inconclusive",
            f"Nothing is decided: {unclear}. The score is withheld; a person will look at it.",
        )
    except Mismatch as mismatch:
        note, credit = "", mismatch.credit
        text = sentence(mismatch.detail if _open(check, secret) else mismatch.message)
        known = None if check.gpu else diagnose(exercise, check, call, mismatch, mistakes, secret)
        if known:
            note, text = known.name, known.feedback
            credit = max(credit, known.credit)
        elif slip := None if check.gpu else slipped(exercise, call):
            note, text = slip.__name__, f"{text} {' '.join((slip.__doc__ or '').split())}"
        return _item(check, _earned(credit), note, text, credit=credit)
    except StudentError as error:
        note = str(error.kind) if error.kind in ("timeout", _LOST) else "student_error"
        if error.type == "NotImplementedError" or error.kind == "missing":
            note = "blank"
        text = sentence(error.message if _open(check, secret) else _without_details(error))
        if known := None if note == "blank" or check.gpu else raising(exercise, call, mistakes):
            note, text = known.name, f"{known.feedback} ({text})"
        credit = known.credit if known else 0.0
        return _item(check, _earned(credit), note, text, credit=credit)
    except Exception as error:  # a bug in the check: never the student's loss
        return _item(
            check,
            Status.ERRORED,
            "grader_error",
            f"The check itself failed ({type(error).__name__}); a person will look at it.",
        )
    note, feedback = call.remarks[0] if call.remarks else ("", "")
    return _item(check, Status.PASSED, note, feedback)


def _earned(credit: float) -> Status:
    return Status.PARTIAL if credit else Status.FAILED


def _item(
    check: Check, status: Status, note: str = "", feedback: str = "", *, credit: float = 0.0
) -> Item:
    credit = 1.0 if status is Status.PASSED else credit
    score = None if status is Status.ERRORED else hundredths(credit * check.points)
    return Item(check.name, check.rubric, status, score, check.points, note, feedback)
