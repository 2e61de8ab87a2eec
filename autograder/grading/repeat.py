"""Ask another function what a check has asked a submission, and see whether it answers alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.exercise import alike
from autograder.exercise.cache import Unfamiliar, Values, remembered
from autograder.exercise.words.given import Held
from autograder.grading.answering import Exchange
from autograder.grading.ours import Ours
from autograder.sandbox import StudentError
from autograder.sandbox.wire.requests import (
    CallMethod,
    Differentiate,
    GetAttribute,
    Make,
    Request,
    SetAttribute,
    WithArguments,
)
from autograder.student.rounding import rounding_of

Function = Callable[..., Any]


class Exchanges(Values):
    """Requests with what came, known again where the same was asked and answered."""

    def __init__(self, calls: Sequence[Exchange]) -> None:
        super().__init__(
            [
                (type(c.request).__name__, vars(c.request), c.value, c.modified, c.raised, c.text)
                for c in calls
            ]
        )
        self.calls = calls


def repeats(asked: Sequence[Exchange]) -> Callable[[Function, bool], bool]:
    """Return what tells whether a function answers the recorded requests as the submission did.

    Where it is to be strict, types and changed arguments count as well.
    """
    recorded = renumbered(asked)
    try:
        calls = Exchanges(recorded)
    except Unfamiliar:  # then every comparison is made anew
        return lambda function, strict: _answers(function, recorded, strict)
    return lambda function, strict: _known(function, calls, strict)


def renumbered(calls: Sequence[Exchange]) -> list[Exchange]:
    """Give objects numbers in their order, so that the same requests are known again."""
    made = (each.request.key for each in calls if isinstance(each.request, Make))
    numbers = {key: i for i, key in enumerate(made)}

    def known(value: object) -> Any:
        return Held(numbers.get(value.key, value.key)) if isinstance(value, Held) else value

    def again(request: Request) -> Request:
        if isinstance(request, WithArguments):
            named = {name: known(value) for name, value in request.kwargs.items()}
            request = replace(request, args=tuple(map(known, request.args)), kwargs=named)
        match request:
            case Make() | CallMethod() | GetAttribute() | SetAttribute():
                return replace(request, key=numbers.get(request.key, -1))
            case Differentiate(_, _, int(key)):
                return replace(request, key=numbers.get(key, -1))
        return request

    return [replace(each, request=again(each.request)) for each in calls]


@remembered()
def _known(function: Function, calls: Exchanges, strict: bool) -> bool:
    return _answers(function, calls.calls, strict)


def _answers(function: Function, calls: Sequence[Exchange], strict: bool) -> bool:
    other = Ours(function)
    try:
        for each in calls:
            if each.raised:
                if _raised(other, each.request) != each.raised:
                    return False
                continue
            answer = other.ask(each.request)
            if not _same(each, answer.value):
                return False
            now, before = (_dtypes(answer.value), answer.modified), _dtypes(each.value)
            if strict and now != (before, each.modified):
                return False
    except Exception:  # a function that can't answer did not make this mistake
        return False
    return True


def _same(each: Exchange, value: object) -> bool:
    """Tell whether a function answers as the submission did.

    What is computed from numbers of few digits has no more, whatever type it has in the end.
    """
    if alike(each.value, value):
        return True
    request = each.request
    given = [*_arrays([request.args, request.kwargs])] if isinstance(request, WithArguments) else []
    precision = rounding_of(*given)
    return precision != rounding_of() and alike(each.value, value, *precision)


def _arrays(value: object) -> Iterator[np.ndarray[Any, Any]]:
    """Yield the arrays in arguments."""
    value = getattr(value, "array", value)
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _arrays(each)


def answers(function: Function, calls: Sequence[Exchange]) -> list[Any]:
    """Return what a function answers to each request."""
    other = Ours(function)
    return [other.ask(each.request).value for each in calls]


def texts(function: Function, calls: Sequence[Exchange]) -> list[str]:
    """Return what the exceptions say that a function raises, without the names of functions."""
    other, found = Ours(function), []
    for each in calls:
        try:
            other.ask(each.request)
        except StudentError as error:
            found.append(nameless(error.text))
    return found


def nameless(text: str) -> str:
    """Return what an exception says, whatever functions are called and how large arrays are.

    >>> nameless("mean() got an unexpected keyword argument 'axis'")
    "() got an unexpected keyword argument 'axis'"
    >>> nameless("cannot reshape array of size 5 into shape (2,newaxis)")
    'cannot reshape array of size # into shape ()'
    """
    return re.sub(r"\d+", "#", re.sub(r"[\w.<>]+\(\)|\([^()]*\)", "()", text))


def _raised(other: Ours, request: Request) -> str:
    """Return the name of the exception that a request raises; empty if it raises none."""
    try:
        other.ask(request)
    except StudentError as error:
        return error.type
    return ""


def _dtypes(value: object) -> Any:
    if isinstance(value, tuple | list):
        return [_dtypes(entry) for entry in value]
    return getattr(value, "dtype", type(value))
