"""What a check has asked and what came back, held against what the reference answers."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, get_args, get_origin

import numpy as np

from autograder.exercise import Mismatch
from autograder.exercise.cache import deepcopied
from autograder.exercise.words.part import computation
from autograder.sandbox.wire import Tensor, TensorNumbers
from autograder.sandbox.wire.requests import Call, Request, WithArguments
from autograder.student.kinds_of_results import as_asked, as_numbers, other_kind


@dataclass(frozen=True)
class Exchange:
    """One request that a check made, and what came back: a value, or an exception's name and text.

    Attributes
    ----------
    modified
        Was an argument changed in place?
    """

    request: Request
    value: Any = None
    modified: bool = False
    raised: str = ""
    text: str = ""


def apart(request: Request) -> Request:
    """Return a request that stays what it is, whatever becomes of its arguments."""
    if not isinstance(request, WithArguments):
        return copy.deepcopy(request)
    return replace(request, args=deepcopied(request.args), kwargs=deepcopied(request.kwargs))


@dataclass(frozen=True)
class Expectation:
    """The number and kind of results that a check asks for, request by request.

    Attributes
    ----------
    answers
        What was asked, and something of the same kind as what the reference answers; None where
        anything may come.
    run
        The same for an expensive call.
    plain
        The same for calls that are not among `answers`.
    """

    answers: tuple[tuple[Hashable, Any], ...] = ()
    run: Any = None
    plain: Any = None

    def answered(self, number: int, request: Request, value: object) -> Any:
        """Return the answer to a request, the so-and-so-manieth, in the form that is asked for.

        Raises
        ------
        Mismatch
            If it is of another kind.
        """
        key, right = self.answers[number] if number < len(self.answers) else ("", None)
        if key == asking(request):
            return _held(value, right)
        if isinstance(request, Call) and self.plain is not None:
            return _held(value, self.plain)
        return self.as_before(request, value)

    def as_before(self, request: Request, value: object) -> Any:
        """Return an answer in the form of the last one to such a request that is known of.

        It is in no other form where it is of another kind: there it may be.
        """
        known = (right for key, right in reversed(self.answers) if key == asking(request))
        right = next(known, None)
        return value if other_kind(value, right) else _held(value, right)

    def trained(self, value: object) -> Any:
        """Return what came of an expensive call, with numbers for tensors."""
        return _held(as_numbers(value), self.run)


def asking(request: Request) -> Hashable:
    """Return what tells requests apart whose answers may be of different kinds."""
    named = frozenset(getattr(request, "kwargs", ()))
    return type(request).__name__, getattr(request, "name", ""), named


def annotated(solution: Callable[..., Any]) -> Any:
    """Return something of the kind that a function says it returns; None where it says nothing."""
    solution = inspect.unwrap(computation(solution))
    said = None if isinstance(solution, type) else inspect.get_annotations(solution).get("return")
    return _of_type(said)


def _of_type(said: object) -> Any:
    if get_origin(said) is tuple:
        return tuple(map(_of_type, get_args(said)))
    kind = get_origin(said) or said
    known: dict[Any, Any] = {dict: {}, list: [], str: "", float: 0.0, int: 0, bool: False}
    return np.empty(0) if kind is np.ndarray else known.get(kind)


def _held(value: object, right: object) -> Any:
    if right is None:
        return value
    if wrong := other_kind(value, right):
        raise Mismatch(wrong)
    return _going_back(as_asked(value, right), value)


def _going_back(asked: object, came: object, *, inside: bool = False) -> Any:
    """Return an answer in the form that is asked for, with tensors that go back as tensors.

    Only what is inside something that the function has made, such as the arrays of a state: what
    it returns by itself are numbers, and a check may ask with them as with its own.
    """
    if isinstance(asked, dict) and isinstance(came, dict):
        return {key: _going_back(asked[key], came[key], inside=True) for key in asked}
    if isinstance(asked, list | tuple) and isinstance(came, list | tuple):
        kept = inside or isinstance(asked, list)
        return type(asked)(
            _going_back(each, its, inside=kept or isinstance(each, tuple))
            for each, its in zip(asked, came, strict=True)
        )
    if inside and isinstance(came, Tensor) and isinstance(asked, np.ndarray | Tensor):
        return came.array.view(TensorNumbers)
    return asked
