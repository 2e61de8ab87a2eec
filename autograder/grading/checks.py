"""Run the checks of an exercise against a submission, and name what went wrong."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import cache
from typing import Any

from autograder.exercise import Check, CheckedFunction, Inconclusive, Misconception, Mismatch
from autograder.exercise.standing_in import standing_in
from autograder.grading.budget import TOO_MUCH, Exhausted
from autograder.grading.callee import Callee
from autograder.grading.earlier_code import explained
from autograder.grading.excuses import Earned
from autograder.grading.expectations import when_needed
from autograder.grading.followed import (
    attempt,
    follows,
    follows_mended,
    follows_otherwise,
    made_no_difference,
    took_no_work,
)
from autograder.grading.hidden_words import without_details
from autograder.grading.interview import Interview, Known
from autograder.grading.ours import Ours
from autograder.grading.pricing import IN_SINGLE, computed, priced
from autograder.grading.replay import (
    answers_like_the_reference,
    diagnose,
    idle,
    raising,
    repeating,
    slipped,
)
from autograder.grading.results import Item, Status, hundredths, sentence
from autograder.grading.telling_apart import told_apart, unvarying
from autograder.grading.watched import Watched, barred, borrowed
from autograder.sandbox import StudentError
from autograder.student.differences import SINGLE

Function = Callable[..., Any]

#: The note of checks that wait for a GPU.
NO_GPU = "no_gpu"
#: The note of checks that could not decide.
UNDECIDED = "inconclusive"
_LOST = "lost"
_NOT_THERE = ("missing", "left_over")
_IDLE = "Your function returns the same everywhere, whatever it is given."
_GIVEN = "Right, given your own functions before."
_LATER = (
    "This is checked on a GPU. Its points are withheld until that is done; you lose nothing by it."
)


def grade_checks(
    function: CheckedFunction,
    call: Callee | Function,
    *,
    secret: str = "",
    watch: Callable[[Check, Interview], None] | None = None,
) -> list[Item]:
    """Run every check; ``call`` may be a sandboxed submission, the reference or a misconception.

    Inputs are drawn with the ``secret`` of a course; without one they are those that students see.

    A check is skipped where the one it comes after earned nothing, unless that failed by a known
    mistake in something that was computed: what is right behind it counts.  After a call that ran
    out of time the remaining checks fail without being run: a hang costs its time once.  ``watch``
    is shown what each check recorded that does not stand behind a mistake.
    """
    items: dict[str, Item] = {}
    callee = Watched(call if isinstance(call, Callee) else Ours(call), function.without)
    runs: Known = {}
    slips: set[str] = set()
    known = {wrong.name for wrong in function.misconceptions if not wrong.fatal}
    earned = _earning(function, callee, secret)
    on_ours = cache(callee.on_ours)
    timed_out = False
    for check in function.checks:
        before = items[check.after.name] if check.after else None
        behind = bool(before and before.name in slips and before.note in known)
        if before and before.status is Status.ERRORED:
            items[check.name] = _item(check, Status.ERRORED, before.note, before.feedback)
        elif before and not (before.score or behind):
            items[check.name] = _not_run(check, before)
        elif check.gpu and not callee.has_gpu:
            items[check.name] = _item(check, Status.ERRORED, NO_GPU, _LATER)
        elif timed_out:
            items[check.name] = _item(
                check, Status.FAILED, "timeout", "Not run after a call that ran out of time."
            )
        else:
            asked = when_needed(function, check, secret, callee)
            named = {item.note for item in items.values()}
            # Where several explain a failure, it is the one that explained others before.
            mistakes = sorted(function.misconceptions, key=lambda wrong: wrong.name not in named)
            proven = any(item.status is Status.PASSED for item in items.values())
            interview = Interview(callee, runs=runs, asked=asked)
            found = _run(function, check, interview, secret, mistakes, proven, earned)
            used = callee.used()
            if used and (ours := on_ours()):  # what an earlier function uses was paid for there
                interview = Interview(ours, asked=asked)
                found = _run(function, check, interview, secret, mistakes, proven, earned)
                found, used = borrowed(found, used), ours.used()
            items[check.name] = barred(found, used) if used else found
            if behind and before and items[check.name].note == UNDECIDED:  # nobody need look at it
                items[check.name] = _not_run(check, before)
            timed_out = items[check.name].note in ("timeout", TOO_MUCH)
            if items[check.name].note and computed(function, interview, secret):
                slips.add(check.name)
            if watch and not behind:
                watch(check, interview)
    return priced(function, explained(function, callee, list(items.values()), secret), slips)


def _earning(function: CheckedFunction, call: Callee, secret: str) -> Earned:
    """Return what tells whether an earlier function of the student's passes a check of its own."""

    @cache
    def earned(name: str) -> bool:
        for one in function.carried:
            if one.name == name and (own := call.own(one.solution)):
                return any(item.score for item in grade_checks(one.function, own, secret=secret))
        return True  # of the same exercise: it is graded here

    return earned


def _open(check: Check, secret: str) -> bool:
    """Tell whether feedback may hold what student code says.

    In a course never: a function that is called for a visible check may have seen hidden inputs.
    """
    return check.visible and not secret


def _run(
    function: CheckedFunction,
    check: Check,
    call: Interview,
    secret: str,
    mistakes: Sequence[Misconception],
    proven: bool,
    earned: Earned,
) -> Item:
    item = _outcome(function, check, call, secret, mistakes, proven, earned)
    if item.note == _LOST:  # its objects went with a process that something else had spoiled
        call.begin()
        item = _outcome(function, check, call, secret, mistakes, proven, earned)
    call.release()
    item = replace(item, training=asdict(call.training)) if call.training else item
    return replace(item, curve=asdict(call.curve)) if call.curve else item


def _outcome(
    function: CheckedFunction,
    check: Check,
    call: Interview,
    secret: str,
    mistakes: Sequence[Misconception],
    proven: bool,
    earned: Earned,
) -> Item:
    failure = attempt(function, check, call, secret)
    wrong = isinstance(failure, Mismatch | StudentError)
    if wrong and not call.callee.unwritten and (call.borrowed or function.carried):
        found = _followed(function, check, call, secret, mistakes, proven, earned)
        if found:
            return found
    return _judged(function, check, call, failure, secret, mistakes)


def _followed(
    function: CheckedFunction,
    check: Check,
    call: Interview,
    secret: str,
    mistakes: Sequence[Misconception],
    proven: bool,
    earned: Earned,
) -> Item | None:
    """Run a check that failed once more, on top of the student's own earlier functions.

    What the reference answers on top of them is right, even where the check has no eye for it; a
    mistake may be known there.
    """
    if answers_like_the_reference(function, call):
        return None
    again = call.following()
    with contextlib.ExitStack() as open_:
        open_.callback(again.release)
        open_.enter_context(
            standing_in({o.name: again.own(o.solution).stand_in for o in function.carried})
        )
        failure = attempt(function, check, again, secret)
        # So do mistakes answer that build on another function of the same exercise.
        cast = {name: each.stand_in for name, each in again.borrowed.items()}
        own = {**cast, **{f"{function.id}.{name}": each for name, each in cast.items()}}
        if follows(function, again, failure):
            open_.enter_context(standing_in(own))
            if took_no_work(function, check, again, call.returned, secret):
                return None
            return _item(check, Status.PASSED, "follow_through", _GIVEN)
        if follows_otherwise(function, check, again, own, secret):
            return _item(check, Status.PASSED, "follow_through", _GIVEN)
        if follows_mended(function, check, again, own, secret, proven, earned):
            text = "Right, as far as your own functions before give anything to build on."
            return _item(check, Status.PASSED, "follow_through", text)
        if made_no_difference(again):
            return None
        open_.enter_context(standing_in(own))
        item = _judged(function, check, again, failure, secret, mistakes)
    return item if item.note in {wrong.name for wrong in mistakes} else None


def _judged(
    function: CheckedFunction,
    check: Check,
    call: Interview,
    failure: Exception | None,
    secret: str,
    mistakes: Sequence[Misconception],
) -> Item:
    """Say what came of a check, and which mistake explains it."""
    match failure:
        case None if idle(function, call):
            known = next(iter(repeating(call, mistakes)), None)
            return _failed(check, known, "idle", known.feedback if known else _IDLE)
        case None:
            note, feedback = call.remarks[0] if call.remarks else ("", "")
            return _item(check, Status.PASSED, note, feedback)
        case Exhausted():
            return _item(check, Status.FAILED, TOO_MUCH, str(failure))
        case Inconclusive():
            return _item(
                check,
                Status.ERRORED,
                UNDECIDED,
                f"Nothing is decided: {failure}. The score is withheld; a person will look at it.",
            )
        case Mismatch():
            return _mismatched(function, check, call, failure, secret, mistakes)
        case StudentError():
            return _raised(function, check, call, failure, secret, mistakes)
    return _item(  # a bug in the check: never the student's loss
        check,
        Status.ERRORED,
        "grader_error",
        f"The check itself failed ({type(failure).__name__}); a person will look at it.",
    )


def _mismatched(
    function: CheckedFunction,
    check: Check,
    call: Interview,
    failure: Mismatch,
    secret: str,
    mistakes: Sequence[Misconception],
) -> Item:
    """Name the mistake that answers as the student's function did, or say what differs."""
    text = sentence(failure.detail if _open(check, secret) else failure.message)
    if check.gpu:
        return _failed(check, None, "", text, failure.credit)
    alike = diagnose(function, check, call, failure, mistakes, secret)
    first = alike[0] if alike and failure.free else None  # other answers would tell nothing
    if known := first or told_apart(function, check, call, alike, secret, failure.kind):
        if unvarying(function, call, secret):  # no work, whatever answers alike
            known = replace(known, credit=0.0)
        return _failed(check, known, "", known.feedback, failure.credit)
    if unvarying(function, call, secret):
        return _failed(check, None, "idle", _IDLE)
    note = IN_SINGLE if SINGLE in failure.message else ""
    if slip := slipped(function, call):
        note, text = slip.__name__, f"{text} {' '.join((slip.__doc__ or '').split())}"
    return _failed(check, None, note, text, failure.credit)


def _raised(
    function: CheckedFunction,
    check: Check,
    call: Interview,
    failure: StudentError,
    secret: str,
    mistakes: Sequence[Misconception],
) -> Item:
    """Name the mistake that raises as the student's function did, or say what it raised."""
    note = str(failure.kind) if failure.kind in ("timeout", _LOST) else "student_error"
    if failure.type == "NotImplementedError" or failure.kind in _NOT_THERE:
        note = "blank"
    last = call.calls[-1].request if call.raised else None
    hidden = without_details(failure, last)
    text = sentence(failure.message if _open(check, secret) else hidden)
    silent = note == "blank" or check.gpu
    alike = [] if silent else raising(function, call, mistakes)
    if known := told_apart(function, check, call, alike, secret):
        text = f"{known.feedback} ({text})"
    return _failed(check, known, note, text)


def _not_run(check: Check, before: Item) -> Item:
    return _item(check, Status.SKIPPED, "skipped", f"Not run: it builds on “{before.rubric}”")


def _failed(
    check: Check, known: Misconception | None, note: str, text: str, credit: float = 0.0
) -> Item:
    """Return a failed item, by the name of a mistake where that is known."""
    if known:
        note, credit = known.name, max(credit, known.credit)
    return _item(check, Status.PARTIAL if credit else Status.FAILED, note, text, credit=credit)


def _item(
    check: Check, status: Status, note: str = "", feedback: str = "", *, credit: float = 0.0
) -> Item:
    credit = 1.0 if status is Status.PASSED else credit
    score = None if status is Status.ERRORED else hundredths(credit * check.points)
    return Item(check.name, check.rubric, status, score, check.points, note, feedback)
