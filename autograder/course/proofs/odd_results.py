"""What else may come back: each check decides, whatever a function returns.

A forgotten `return`, a bare first result, a tensor, text: it is the student's, for better or worse,
and the score is never withheld.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.course.proofs.function_proofs import UNPROVED
from autograder.exercise import CheckedFunction
from autograder.grading.callee import Callee
from autograder.grading.checks import grade_checks
from autograder.grading.ours import Ours
from autograder.grading.results import Status
from autograder.grading.runs import Run
from autograder.sandbox import Reply, StudentError, Tensor, WireError
from autograder.sandbox.wire import decode, encode_parts
from autograder.sandbox.wire.requests import (
    Call,
    CallMethod,
    CountMethod,
    CountWork,
    GetAttribute,
    Lend,
    Request,
    Time,
    Watch,
)
from autograder.student.kinds_of_results import as_numbers

_ANSWERED = (Call, CallMethod, CountMethod, CountWork, GetAttribute, Lend, Time, Watch)


def _nothing(_: object) -> Any:
    return None


def _bare_first(value: object) -> Any:
    if isinstance(value, dict):
        return next(iter(value.values()), None)
    if isinstance(value, (tuple, list)):
        return value[0] if value else None
    array = np.asarray(as_numbers(value))
    return array[0] if array.ndim and len(array) else array


def _another_shape(value: object) -> Any:
    return _each(value, lambda array: np.stack([array, array]))


def _no_numbers(value: object) -> Any:
    return _each(value, lambda array: np.full(array.shape, np.nan))


def _endless(value: object) -> Any:
    return _each(value, lambda array: np.full(array.shape, np.inf))


def _empty(value: object) -> Any:
    return _each(value, lambda array: np.zeros((0, *array.shape[1:])))


def _complex(value: object) -> Any:
    return _each(value, lambda array: array + 1j)


def _text(_: object) -> Any:
    return "result"


def _dictionary(value: object) -> Any:
    return {"result": value}


def _too_many(value: object) -> Any:
    return value, value, value


def _empty_tuple(_: object) -> Any:
    return ()


def _ragged(_: object) -> Any:
    return [[1.0], [1.0, 2.0]]


def _huge(_: object) -> Any:
    return 10**400


def _an_object(_: object) -> Any:
    return object()


def _a_list(value: object) -> Any:
    return _each(value, np.ndarray.tolist)


def _a_tensor(value: object) -> Any:
    torch: Any = sys.modules.get("torch")
    if torch is None:  # as it comes to the grader
        return _each(value, lambda array: Tensor(array.dtype.name, array))
    return _each(value, torch.from_numpy)


ODD: tuple[Callable[[Any], Any], ...] = (
    _nothing,
    _bare_first,
    _another_shape,
    _no_numbers,
    _endless,
    _empty,
    _complex,
    _text,
    _dictionary,
    _too_many,
    _empty_tuple,
    _ragged,
    _huge,
    _an_object,
    _a_list,
    _a_tensor,
)


def odd_result_problems(function: CheckedFunction, secret: str) -> list[str]:
    """Return from which results the checks of a function can't decide."""
    problems = []
    right = Ours(function.solution)
    for odd in ODD:
        items = grade_checks(function, _Odd(right, odd), secret=secret)
        problems += [
            f"`{item.name}` can't decide where the result is{odd.__name__.replace('_', ' ')}: "
            f"{item.note}, {item.feedback}"
            for item in items
            if item.status is Status.ERRORED and item.note not in UNPROVED
        ]
    return problems


class _Odd(Callee):
    """The reference, but for what it returns."""

    def __init__(self, right: Callee, odd: Callable[[Any], Any]) -> None:
        self._right, self._odd, self.kind = right, odd, right.kind

    def begin(self) -> None:
        self._right.begin()

    def ask(self, request: Request) -> Reply:
        reply = self._right.ask(request)
        if not isinstance(request, _ANSWERED) or reply.value is None:
            return reply
        return replace(reply, value=self._sent(reply.value))

    def once(self, args: object, kwargs: object) -> Run:
        return Run(self._sent(self._right.once(args, kwargs).value))

    def _sent(self, value: object) -> Any:
        try:
            header, buffers = encode_parts(self._odd(value))
        except WireError as error:
            raise StudentError("unsendable", f"it returned {error}", text=str(error)) from error
        return decode(header, b"".join(buffers))


def _each(value: object, change: Callable[[Any], Any]) -> Any:
    """Change every array and number of a result."""
    if isinstance(value, tuple):
        return tuple(_each(entry, change) for entry in value)
    if isinstance(value, dict):
        return {key: _each(entry, change) for key, entry in value.items()}
    if isinstance(value, list) and not all(isinstance(entry, int | float) for entry in value):
        return [_each(entry, change) for entry in value]
    array = np.asarray(as_numbers(value))
    return change(array) if array.dtype.kind in "biufc" else value
