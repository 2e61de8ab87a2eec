"""Marks of results: few numbers by which a result is known again, instead of the result.

A known mistake's results need not be shown, only recognised, and they would take much room.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.student.differences import numbers_of
from autograder.student.kinds_of_results import numbers_in

_TOLERANCE = 1e-5  # of the sum of sizes: more than what single precision rounds


def mark_of(value: object) -> Any:
    """Return the mark of a result: of an array its shape, a sum with uneven weights, and its size.

    The sum and the size are a list of their own: rounding moves both by so much of the size.

    >>> mark_of(np.array([1.0, 2.0]))
    [[2], [-0.291991, 3.0], 0]
    >>> mark_of((True, "yes"))
    [[[], [0.540302, 1.0], 0], 'yes']
    """
    numbers = numbers_in(value)
    if numbers is not None and numbers.dtype.kind != "c":
        flat = np.asarray(numbers_of(numbers), float).ravel()
        finite = np.isfinite(flat)
        flat = np.where(finite, flat, 0.0)
        told = float(flat @ np.cos(np.arange(1, flat.size + 1))), float(np.abs(flat).sum())
        return [[*numbers.shape], [float(f"{x:.6g}") for x in told], int((~finite).sum())]
    if isinstance(value, dict):
        return [[str(key), mark_of(value[key])] for key in sorted(value, key=str)]
    if isinstance(value, (tuple, list)):
        return [mark_of(entry) for entry in value]
    return str(value)[:40]


def same_mark(one: object, other: object) -> bool:
    """Tell whether two marks are those of one result, rounding aside."""
    if not isinstance(one, list) or not isinstance(other, list) or len(one) != len(other):
        return bool(one == other)
    if len(one) == 2 and all(isinstance(told, float) for told in (*one, *other)):
        near = abs(one[0] - other[0]) + abs(one[1] - other[1]) <= _TOLERANCE * (one[1] + other[1])
        return bool(near)
    return all(map(same_mark, one, other))
