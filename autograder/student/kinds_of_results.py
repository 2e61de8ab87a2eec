"""What kind of thing a result is, and how many: held against the right one before it is judged."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from autograder.student.differences import numbers_of

_COUNTED = 10  # of what came longer lists are only called long
_NO_RETURN = "None (is a `return` missing?)"


def other_kind(came: object, right: object, what: str = "the result") -> str:
    """Say in what way a result is of another kind than the right one; nothing where it isn't.

    Lists, tuples and tensors of numbers are arrays as well, an array of one entry is a number, and
    whatever can be taken apart into as many as a tuple has, each with axes enough, is one.

    >>> other_kind(None, np.zeros(3))
    'the result should be an array of numbers, not None (is a `return` missing?)'
    >>> other_kind((1.0, 2.0, 3.0), (1.0, 2.0))
    'the result should be a tuple of 2, not a tuple of 3'
    >>> other_kind(np.zeros((2, 3)), (np.zeros((2, 3)), 1.0))
    'the result should be a tuple of 2, not an array'
    """
    if right is None:
        return ""
    if isinstance(right, tuple):
        if _length(came) != len(right) or _is_but_one(came, right):
            return _should(what, f"a tuple of {len(right)}", came)
        pairs = enumerate(zip(_taken_apart(came), right))  # noqa: B905
        entries = (other_kind(c, r, f"entry {i} of {what}") for i, (c, r) in pairs)
        return next(filter(None, entries), "")
    if isinstance(right, str):
        return "" if isinstance(came, str) else _should(what, "text", came)
    if isinstance(right, dict):
        return "" if isinstance(came, dict) else _should(what, "a dictionary", came)
    if isinstance(right, list) and not _holds_numbers(right):
        return "" if _length(came) is not None else _should(what, "a list", came)
    given, asked = numbers_in(came), numbers_in(right)
    if given is None or (isinstance(came, (list, tuple)) and not asked.ndim and not given.ndim):
        return _should(what, _asked_for(asked), came)
    if not asked.ndim and given.size != 1:
        return _should(what, _asked_for(asked), came)
    return ""


def as_asked(came: Any, right: object) -> Any:
    """Return a result in the form of the right one, which is of the same kind."""
    if isinstance(right, tuple):
        return tuple(map(as_asked, _taken_apart(came), right))
    if isinstance(right, dict):
        return {key: as_asked(value, right.get(key)) for key, value in came.items()}
    if isinstance(right, list):
        if _length(came) is None:
            return as_numbers(came)
        came = list(_taken_apart(came))
        kinds = {type(entry) for entry in right}
        return [as_asked(entry, right[0]) for entry in came] if len(kinds) == 1 else came
    if right is None or isinstance(right, str) or _is_tensor(right):
        return came
    asked = np.asarray(right)
    if asked.ndim:
        return came if type(came) is np.ndarray else numbers_in(came)
    if isinstance(came, (bool, int, float, complex)) or type(came) is type(right):
        return came
    number = numbers_in(came).reshape(())[()]
    return bool(number) if asked.dtype.kind == number.dtype.kind == "b" else number


def as_numbers(value: Any) -> Any:
    """Return a result with the numbers of tensors in their places."""
    if isinstance(value, dict):
        return {key: as_numbers(entry) for key, entry in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(as_numbers, value))
    if not _is_tensor(value):
        return value
    array = np.asarray(numbers_of(value))
    return array if array.ndim else array[()]


def numbers_in(value: object) -> Any:
    """Return the array that a result is; None if it is none."""
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
    elif _is_tensor(value):
        array = np.asarray(numbers_of(value))
    else:
        try:
            array = np.asarray(as_numbers(value))
            if array.dtype == object and array.size and isinstance(array.flat[0], (int, Fraction)):
                array = array.astype(float)
        except (ValueError, TypeError, OverflowError):  # a ragged list
            return None
    return array if array.dtype.kind in "biufc" and not hasattr(value, "unordered") else None


def said_kind(value: object) -> str:
    """Say what kind of thing came, in words from a short list: nothing of what is in it."""
    if value is None:
        return _NO_RETURN
    if isinstance(value, str):
        return "text"
    if isinstance(value, dict):
        return "a dictionary"
    if isinstance(value, (set, frozenset)) or hasattr(value, "unordered"):
        return "a set"
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return f"a {kind} of {len(value)}" if len(value) < _COUNTED else f"a long {kind}"
    if isinstance(value, (bool, np.bool_)):
        return "True or False"
    if numbers_in(value) is None:
        return "a number that is too large"
    return "an array" if _length(value) is not None else "a number"


def _should(what: str, asked: str, came: object) -> str:
    return f"{what} should be {asked}, not {said_kind(came)}"


def _asked_for(asked: Any) -> str:
    if asked.ndim:
        return "an array of numbers"
    return "True or False" if asked.dtype.kind == "b" else "a number"


def _length(value: object) -> int | None:
    """Return into how many a result can be taken apart; of a set that is chance."""
    if hasattr(value, "unordered"):
        return None
    if isinstance(value, (tuple, list)):
        return len(value)
    shape = getattr(value, "shape", getattr(getattr(value, "array", None), "shape", ()))
    return shape[0] if shape else None


def _is_but_one(came: object, right: tuple[Any, ...]) -> bool:
    """Tell whether an array has fewer axes than one that holds all results would have."""
    if isinstance(came, (tuple, list)):
        return False
    arrays = [numbers_in(each) for each in right if not isinstance(each, (tuple, list, dict, str))]
    axes = max((array.ndim for array in arrays if array is not None), default=0)
    return bool(numbers_in(came).ndim <= axes)


def _taken_apart(value: object) -> Any:
    return value if isinstance(value, (tuple, list)) else numbers_in(value)


def _is_tensor(value: object) -> bool:
    """Tell whether it is a tensor of torch's, or one as it comes to the grader."""
    return hasattr(value, "detach") or (hasattr(value, "array") and hasattr(value, "dtype"))


def _holds_numbers(values: list[Any]) -> bool:
    return bool(values) and numbers_in(values) is not None
