"""Ask another function what a check has asked a submission, and see whether it answers alike."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from autograder.exercise import alike
from autograder.exercise.cache import Unfamiliar, Values, remembered, size_of
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

_KEPT, _COUNTS = 4000, 50_000  # recordings of answers, and bytes: a larger one counts as several


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


@dataclass(frozen=True)
class Told:
    """What a function answered to a request; ``raised`` is None where it raised nothing."""

    value: Any = None
    modified: bool = False
    raised: str | None = None


class Requests(Values):
    """Requests, one after the other, known again where all of them are the same."""

    def __init__(self, calls: Sequence[Exchange]) -> None:
        super().__init__([(type(each.request).__name__, vars(each.request)) for each in calls])
        self.calls = calls


class Recorded:
    """Recorded requests, to be put to other functions as well."""

    def __init__(self, calls: Sequence[Exchange]) -> None:
        self._calls = calls
        self._known: Requests | None = None
        with contextlib.suppress(Unfamiliar):  # then they are asked anew each time
            self._known = Requests(calls)

    def alike(self, function: Function, strict: bool) -> bool:
        """Tell whether a function answers as the submission did."""
        known = self._known
        try:
            told = _remembered(function, known) if known else _told(function, self._calls)
            return all(map(partial(_alike, strict), self._calls, told))
        except Exception:  # a function that can't answer did not make this mistake
            return False


def repeats(asked: Sequence[Exchange]) -> Callable[[Function, bool], bool]:
    """Return what tells whether a function answers the recorded requests as the submission did.

    Where it is to be strict, types and changed arguments count as well.  Most functions differ
    where something comes for the first time, so that is what they are asked for first.
    """
    recorded = renumbered(asked)
    comes = (i for i, each in enumerate(recorded, 1) if each.raised or each.value is not None)
    first = next(comes, len(recorded))
    parts = [recorded[:first], recorded] if first < len(recorded) else [recorded]
    recordings = list(map(Recorded, parts))
    return lambda function, strict: all(each.alike(function, strict) for each in recordings)


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


def _told(function: Function, calls: Sequence[Exchange]) -> list[Told]:
    """Ask a function all of it, and return what comes."""
    other, found = Ours(function), []
    for each in calls:
        try:
            answer = other.ask(each.request)
        except StudentError as error:
            found.append(Told(raised=error.type))
        else:
            found.append(Told(answer.value, answer.modified))
    return found


@remembered(lambda found: _lasts(found), size=_KEPT, weight=lambda found: _weight(found))
def _remembered(function: Function, asked: Requests) -> list[Told]:
    return _told(function, asked.calls)


def _lasts(found: list[Told]) -> bool:
    """Tell whether the same would come at any other time."""
    return not any(each.raised in ("MemoryError", "RecursionError") for each in found)


def _weight(found: list[Told]) -> int:
    return 1 + sum(size_of(each.value) for each in found) // _COUNTS


def _alike(strict: bool, each: Exchange, other: Told) -> bool:
    """Tell whether something else answers a request alike; if strict, with the same types."""
    if each.raised or other.raised is not None:
        return each.raised == other.raised
    if not _same(each, other.value):
        return False
    now, before = (_dtypes(other.value), other.modified), (_dtypes(each.value), each.modified)
    return now == before or not strict


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


def _dtypes(value: object) -> Any:
    if isinstance(value, tuple | list):
        return [_dtypes(entry) for entry in value]
    return getattr(value, "dtype", type(value))
