"""Inputs that functions are practised on: other draws of the visible checks, with right results.

What a known mistake returns is recorded by marks alone: enough to know it again in a notebook.
What looks like the reference there has no mark, so nothing is told of hidden checks.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from autograder.course.release.check_json import asked_of, compared
from autograder.course.release.plain_json import encode
from autograder.exercise import Check, CheckedFunction, Exercise, Misconception
from autograder.exercise.words.variants import rng_for
from autograder.grading.answering import Exchange
from autograder.grading.interview import Interview
from autograder.grading.repeat import renumbered
from autograder.student.data import decode
from autograder.student.recognition import mark_of, same_mark
from autograder.student.released_files import (
    PracticeCheck,
    PracticeFunction,
    PracticeInputs,
    RecordedCall,
    RecordedCheck,
    RecordedFunction,
)
from autograder.student.repeating import repeated

#: Draws of each visible check, where there is room for so many.
DRAWS = 3
#: Numbers and words that the draws of a check may take; the first may take twice as many.  Their
#: characters aren't counted: how many digits a number has depends on how a processor rounds.
ROOM = 800

_DIGITS = {"float64": 10, "float32": 9}  # of a result; single precision has no more


def tried_functions(
    exercise: Exercise, recorded: Sequence[RecordedFunction]
) -> list[PracticeFunction]:
    """Return what the functions of an exercise are tried on; ``recorded`` as in check.json."""
    if not exercise.practice:
        return []
    pairs = zip(exercise.functions, recorded, strict=True)
    return [found for function, known in pairs if (found := _function(function, known))]


def _function(function: CheckedFunction, recorded: RecordedFunction) -> PracticeFunction | None:
    visible = [check for check in function.checks if check.visible]
    pairs = zip(visible, recorded["checks"], strict=True)
    if not (checks := [each for pair in pairs if (each := _check(function, *pair))]):
        return None
    used = sorted({place for c in checks for inputs in c["sets"] for place, _ in inputs["wrong"]})
    for check in checks:
        for inputs in check["sets"]:
            inputs["wrong"] = [(used.index(place), marks) for place, marks in inputs["wrong"]]
    says = [function.misconceptions[place].feedback for place in used]
    return {"name": function.name, "checks": checks, "says": says}


def _check(
    function: CheckedFunction, check: Check, recorded: RecordedCheck
) -> PracticeCheck | None:
    sets: list[PracticeInputs] = []
    room = ROOM
    for number in range(DRAWS):
        calls, most = _calls(function, check, recorded["calls"], number), room if sets else 2 * ROOM
        if calls is None or _leaves(calls) > most or any(calls == one["calls"] for one in sets):
            continue  # before each mistake is tried on them
        found: PracticeInputs = {"calls": calls, "wrong": _wrong(function, calls)}
        if (size := _leaves(found)) <= most:
            sets.append(found)
            room -= size
    if not sets:
        return None
    entry: PracticeCheck = {"rubric": recorded["rubric"], "sets": sets}
    if "varied" in recorded:
        entry["varied"] = True
    return entry


def _leaves(value: object) -> int:
    held = value.values() if isinstance(value, dict) else value
    return 1 if not isinstance(held, Iterable) or isinstance(held, str) else sum(map(_leaves, held))


def _calls(
    function: CheckedFunction, check: Check, like: Sequence[RecordedCall], number: int
) -> list[RecordedCall] | None:
    """Return one draw, None where the check asks otherwise than when it was recorded."""
    call = Interview(function.solution)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            check.run(call, _drawing(number, function.id, check.draws or check.name))
        made = renumbered(call.calls)
        return [_call(one, known) for one, known in zip(made, like, strict=True)]
    except Exception:  # other numbers than those it was written with
        return None
    finally:
        call.release()


def _wrong(function: CheckedFunction, calls: list[RecordedCall]) -> list[tuple[int, list[Any]]]:
    """Return the mistakes that show there, by their places, with the marks of each."""
    mistakes = enumerate(function.misconceptions)
    return [
        (place, marks) for place, each in mistakes if (marks := _marks(each, function.name, calls))
    ]


class _Short(np.random.Generator):
    """Draws numbers of few digits, which are short to ship and to read."""

    def normal(self, *args: Any, **kwargs: Any) -> Any:
        return np.round(super().normal(*args, **kwargs), 2)

    def standard_normal(self, *args: object, **kwargs: Any) -> Any:
        found = super().standard_normal(*args, **kwargs)
        return np.round(found, 2).astype(np.asarray(found).dtype)

    def uniform(self, *args: Any, **kwargs: Any) -> Any:
        return np.round(super().uniform(*args, **kwargs), 4)


def _drawing(number: int, *names: str) -> np.random.Generator:
    """Return the generator of a draw; no check of any course has it."""
    return _Short(rng_for("practice", str(number), *names).bit_generator)


def _call(made: Exchange, known: RecordedCall) -> RecordedCall:
    """Return a call with its result, compared as the visible check was found to compare.

    Raises
    ------
    ValueError
        If it is another kind of call than that one.
    """
    found = asked_of(made.request)
    kept = {key: known[key] for key in ("compare", "rtol", "unchanged") if key in known}
    if any(found.get(key) != known.get(key) for key in ("do", "object", "name")):
        raise ValueError("another kind of call")
    if ("value" in known) != (made.value is not None):
        raise ValueError("another kind of result")
    if "value" in known:
        value = _entries_of(made.value, decode(known["value"]))
        found["value"] = _shorter(encode(compared(value, known["compare"])))
    return {**found, **kept}  # type: ignore[typeddict-item]


def _entries_of(value: Any, known: Any) -> Any:
    """Return a value with those entries of dictionaries alone that are known to be looked at."""
    if isinstance(value, tuple):
        return tuple(map(_entries_of, value, known))
    return {key: value[key] for key in known} if isinstance(value, dict) else value


def _marks(mistake: Misconception, name: str, calls: list[RecordedCall]) -> list[Any]:
    """Return the marks of what a mistake returns until it raises; [] if these are the right ones.

    Only a mistake that fails there counts, and not by the type of its numbers alone.
    """
    tried = [*repeated(mistake.compute, name, calls, {})]
    raised = (number for number, each in enumerate(tried) if each.wrong and each.came is None)
    tried = tried[: next(raised, len(tried))]
    if not any(each.wrong for each in tried):
        return []
    pairs = [(mark_of(each.came), call) for each, call in zip(tried, calls, strict=False)]
    marks = [mark if "value" in call else None for mark, call in pairs]
    right = (mark_of(decode(call["value"])) for _, call in pairs if "value" in call)
    return [] if all(map(same_mark, filter(None, marks), right)) else marks


def _shorter(value: object) -> Any:
    """Return an encoded value with as many digits as are compared."""
    if isinstance(value, list):
        return [_shorter(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    digits = _DIGITS.get(str(value.get("dtype")))
    if digits and "tensor" not in value:
        return {key: _rounded(entry, digits) for key, entry in value.items()}
    return {key: _shorter(entry) for key, entry in value.items()}


def _rounded(value: object, digits: int) -> Any:
    if isinstance(value, list):
        return [_rounded(entry, digits) for entry in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value
