"""Where two pieces of data differ: the one comparison of results, for check and for grading.

Arrays, tensors, numbers and lists of numbers are compared entry by entry within the tolerance of
their types; tuples, lists and dictionaries of anything by what they hold; the rest by equality.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autograder.student.rounding import rounding_of

#: What is said of numbers that are right to single precision alone, from whatever cause.
SINGLE = (
    "is right to the digits of float32 alone: is a step computed in that type, is a constant "
    "short, or is a small term, such as an ε, missing or in another place?"
)
_SINGLE = 2e-6  # sixteen roundings of float32


@dataclass(frozen=True)
class Comparison:
    """What counts in a comparison.

    Attributes
    ----------
    value, shape, dtype
        Whether values, or else only the shape, and exact types of numbers count.  What should be
        true or false counts as a type always.
    more
        Whether a dictionary may have further entries.
    rtol, atol
        Tolerances; by default those of the less precise of the two types.
    of_largest
        Whether ``rtol`` is relative to the largest entry of an array instead of to each.
    """

    value: bool = True
    shape: bool = True
    dtype: bool = False
    more: bool = False
    rtol: float | None = None
    atol: float | None = None
    of_largest: bool = False


@dataclass(frozen=True)
class Difference:
    """The first difference that was found.

    Attributes
    ----------
    kind
        "length", "entry", "ragged", "numbers", "other", "shape", "dtype", "nan" or "value".
    came, right
        What differs: two arrays, where both are.
    at
        The indices and keys that lead there.
    close
        Which entries agree; of the kind "value" alone.
    """

    kind: str
    came: Any
    right: Any
    at: tuple[Any, ...] = ()
    close: Any = None


_NUMBERS = Comparison()


def difference(came: object, right: object, rules: Any = _NUMBERS) -> Difference | None:
    """Return where a value first differs from the right one; None where they agree.

    Parameters
    ----------
    came, right
        The two values.
    rules : Comparison, or list of such for the entries of a tuple
        What counts.

    Examples
    --------
    >>> difference([1.0, 2.0 + 1e-12], np.array([1.0, 2.0]))
    >>> difference((1, {"a": 2.0}), (1, {"a": 2.5})).at
    (1, 'a')
    """
    if isinstance(right, (tuple, list, dict)) and not holds_numbers(right):
        return _between_trees(came, right, rules)
    numbers = np.asarray(numbers_of(right))
    if numbers.dtype.kind not in "bifuc":
        same = type(came) is type(right) and came == right
        return None if same else Difference("other", came, right)
    return _between_arrays(came, numbers, rules)


def _between_trees(came: object, right: Any, rules: object) -> Difference | None:
    if isinstance(came, np.ndarray) and came.ndim and not isinstance(right, dict):
        came = tuple(came)  # it is unpacked like one
    fits = dict if isinstance(right, dict) else (tuple, list)
    more = isinstance(rules, Comparison) and rules.more
    if not isinstance(came, fits) or (len(came) != len(right) and not more):
        return Difference("length", came, right)
    for key in right if fits is dict else range(len(right)):
        if fits is dict and key not in came:
            return Difference("entry", came, right, (key,))
        own = rules[key] if isinstance(rules, list) else rules
        if found := difference(came[key], right[key], own):
            return replace(found, at=(key, *found.at))
    return None


def _between_arrays(came: object, right: Any, rule: Comparison) -> Difference | None:
    try:
        given = np.asarray(numbers_of(came))
    except ValueError:
        return Difference("ragged", came, right)
    if given.dtype.kind not in "bifuc":
        return Difference("numbers", came, right)
    if isinstance(came, list) and given.size == right.size == 0:
        return None  # lists of nothing have no axes to tell
    if given.shape != right.shape and (rule.value or rule.shape):
        return Difference("shape", given, right)
    truth = right.dtype.kind == "b" and (right.ndim or given.item() not in (0, 1))
    if given.dtype != right.dtype and (rule.dtype or truth):
        return Difference("dtype", given, right)
    if not rule.value:
        return None
    if np.any(np.isnan(given) & ~np.isnan(right)):
        return Difference("nan", given, right)
    close = _close(given, right, rule)
    return None if close.all() else Difference("value", given, right, close=close)


def _close(given: Any, right: Any, rule: Comparison) -> Any:
    if {given.dtype.kind, right.dtype.kind} <= set("biu"):
        return given == right
    rtol, atol = rounding_of(given, right)
    rtol = rtol if rule.rtol is None else rule.rtol
    atol = atol if rule.atol is None else rule.atol
    if rule.of_largest:
        largest = np.max(np.abs(right), initial=0, where=np.isfinite(right))
        rtol, atol = 0.0, max(atol, rtol * largest)
    right = right.astype(np.result_type(right, 1.0), copy=False)  # |−2⁶³| is no integer
    with np.errstate(all="ignore"):  # as np.isclose does, in half of its time
        near = np.abs(given - right) <= atol + rtol * np.abs(right)
        same = (near & np.isfinite(right)) | (given == right)
        return same | (np.isnan(given) & np.isnan(right))


def right_in_float32(given: Any, right: Any) -> bool:
    """Tell whether numbers that should be double precision are right to that of float32 alone."""
    if not given.dtype == right.dtype == np.float64 or not np.isfinite(right).all():
        return False
    off, size = np.abs(given - right).max(initial=0), np.abs(right).max(initial=0)
    return bool(off < _SINGLE * size)


def numbers_of(value: object) -> Any:
    """Return the numbers of a tensor of torch's, or of one as it comes to a grader; else the value.

    numpy has no bfloat16.
    """
    if not hasattr(value, "detach"):
        return getattr(value, "array", value)
    tensor = value.detach().cpu()
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()


def holds_numbers(value: object) -> bool:
    """Tell whether it is a list of numbers, also a nested one."""
    try:
        return isinstance(value, list) and np.asarray(value).dtype.kind in "bifuc"
    except (ValueError, TypeError):  # a ragged one, or of tensors
        return False
