"""What feedback says of a call with hidden inputs: words that student code has no hand in.

Messages, and the names of classes of the student's own, may hold what the function was given.
"""

from __future__ import annotations

import builtins
import collections
import itertools
import types
from typing import Any

import numpy as np

from autograder.sandbox import StudentError
from autograder.sandbox.wire.requests import GetAttribute, Request, WithArguments
from autograder.student.travelling import READABLE

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
_NOUNS: tuple[tuple[Any, str], ...] = (
    (type(None), "None"),
    (bool | np.bool_, "True or False"),
    (int | np.integer, "a whole number"),
    (float | np.floating, "a number"),
    (str, "text"),
    (list, "a list"),
    (tuple, "a tuple"),
    (dict, "a dictionary"),
)
_TYPES = {
    name
    for module in (builtins, collections, itertools, types)
    for kind in vars(module).values()
    if isinstance(kind, type) and not issubclass(kind, BaseException)
    for name in (kind.__name__,)
}
_PHRASES = {
    "more values in lists and dictionaries than can be read",
    "more data than can be sent",
    "lists nested too deeply",
    "a masked array",
    "an array of dtype object",
    "a tensor that is not an ordinary dense one",
    "text with unpaired surrogates",
    *(f"{article} {name} object" for name in _TYPES for article in ("a", "an")),
    *(f"a dictionary with a {name} object as a key" for name in ("tuple", "float", "bool")),
}


def without_details(error: StudentError, request: Request | None = None) -> str:
    """Say what went wrong in which line, and of what the function was given only the kind."""
    if error.kind == "exception":
        if isinstance(request, GetAttribute) and error.type == "AttributeError" and not error.line:
            return f"your object has no `{request.name}`"  # which the text asks for
        name = error.type if error.type in _EXCEPTIONS else "an exception"
        return f"your function raised {name}{_where(error)}{_given(request)}"
    if error.kind == "unsendable":
        what = error.text if error.text in _PHRASES else "an object that is not plain data"
        return f"your function returned {what}; {READABLE}"
    if error.kind == "missing":
        return "your function is not defined: was its cell run, and is the name right?"
    if error.kind == "protocol":
        return "your function interfered with the connection to the grader"
    return error.message


def _where(error: StudentError) -> str:
    return f" in the line `{error.line}`" if error.line else ""


def _given(request: Request | None) -> str:
    """Say what kind of things a call was given: how many axes arrays have, and no size."""
    if not isinstance(request, WithArguments) or not (request.args or request.kwargs):
        return ""
    named = [f"{name}={_kind(value)}" for name, value in request.kwargs.items()]
    return f", given {', '.join([*map(_kind, request.args), *named])}"


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        axes = "1 axis" if value.ndim == 1 else f"{value.ndim} axes"
        return f"an array with {axes} ({value.dtype})"
    if hasattr(value, "detach"):
        axes = "1 axis" if value.ndim == 1 else f"{value.ndim} axes"
        return f"a tensor with {axes} ({str(value.dtype).removeprefix('torch.')})"
    for kind, noun in _NOUNS:
        if isinstance(value, kind):
            return noun
    return "an object"
