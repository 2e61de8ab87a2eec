"""Ask another function what a check has asked a submission, and see whether it answers alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from autograder.exercise import alike
from autograder.exercise.given import Held
from autograder.exercise.remember import Unfamiliar, Values, remembered
from autograder.grading.local import Local
from autograder.grading.recorder import Recorded, Recorder
from autograder.sandbox import StudentError

Call = Callable[..., Any]


def repeats(call: Recorder) -> Callable[[Call, bool], bool]:
    """Return what tells whether a function answers the recorded requests as the submission did.

    Where it is to be strict, types and changed arguments count as well.
    """
    calls = renumbered(call.calls)
    try:
        values = Values([list(vars(each).values()) for each in calls])
    except Unfamiliar:  # then every comparison is made anew
        return lambda function, strict: _answers(function, calls, strict)
    return lambda function, strict: _known(function, values, strict)


def renumbered(calls: Sequence[Recorded]) -> list[Recorded]:
    """Give objects numbers in their order, so that the same requests are known again."""
    numbers = {key: i for i, key in enumerate(e.key for e in calls if e.do == "make")}

    def known(value: Any) -> Any:
        return Held(numbers.get(value.key, value.key)) if isinstance(value, Held) else value

    return [
        replace(
            each,
            args=tuple(map(known, each.args)),
            kwargs={name: known(value) for name, value in each.kwargs.items()},
            key=numbers.get(each.key, -1),
        )
        for each in calls
    ]


@remembered()
def _known(function: Call, calls: Values, strict: bool) -> bool:
    return _answers(function, [Recorded(*each) for each in calls.values], strict)


def _answers(function: Call, calls: Sequence[Recorded], strict: bool) -> bool:
    other = Local(function)
    try:
        for each in calls:
            if each.raised:
                if _raised(other, each) != each.raised:
                    return False
                continue
            value = _ask(other, each)
            if not _alike(each.value, value):
                return False
            if strict and (_dtypes(value), other.modified) != (_dtypes(each.value), each.modified):
                return False
    except Exception:  # a function that can't answer did not make this mistake
        return False
    return True


def answers(function: Call, calls: Sequence[Recorded]) -> list[Any]:
    """Return what a function answers to each request."""
    other = Local(function)
    return [_ask(other, each) for each in calls]


def _raised(other: Local, each: Recorded) -> str:
    """Return the name of the exception that a request raises; empty if it raises none."""
    try:
        _ask(other, each)
    except StudentError as error:
        return error.type
    return ""


def _ask(other: Local, each: Recorded) -> Any:
    if each.do == "call":
        return other(*each.args, **each.kwargs)
    if each.do == "make":
        return other.make(each.key, each.args, each.kwargs)
    if each.do == "method":
        return other.method(each.key, each.name, each.args, each.kwargs)
    if each.do == "gradients":
        return other.gradients(None if each.key == -1 else each.key, each.args, each.kwargs)
    if each.do == "get":
        return other.get(each.key, each.name)
    return (
        other.set(each.key, each.name, *each.args) if each.do == "set" else other.seed(*each.args)
    )


def _alike(a: Any, b: Any) -> bool:
    if a is None or isinstance(a, str):
        return type(a) is type(b) and bool(a == b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_alike(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list) and len(a) == len(b):
        return all(map(_alike, a, b))
    return alike(a, b)


def _dtypes(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_dtypes(entry) for entry in value]
    return getattr(value, "dtype", type(value))
