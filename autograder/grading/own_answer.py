"""A student's answer as text, for the student to see beside the verdict."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

LONGEST = 2000  # characters

_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxdict, _SHORT.maxstring, _SHORT.maxother = 3, 20, 200, 80
_SHORT.maxlist = _SHORT.maxtuple = 30


def as_written(raw: object) -> str:
    r"""Write plain data down: text as it is, a line for each line or row, no digits without need.

    >>> as_written(["a + b", "b + a"])
    'a + b\nb + a'
    >>> print(as_written(np.array([[1 / 3, 2], [0, 1]])))
    [[0.333333, 2.      ],
     [0.      , 1.      ]]
    >>> as_written([1, 2 / 3]), as_written("D"), as_written(None)
    ('[1, 0.666667]', 'D', '')
    """
    raw = getattr(raw, "array", raw)  # a tensor arrives as its numbers and its type
    if raw is None:
        return ""
    if isinstance(raw, list | tuple) and raw and all(isinstance(line, str) for line in raw):
        raw = "\n".join(line[:LONGEST] for line in raw[:100])
    if not isinstance(raw, str):
        raw = _numbers(raw)
    text = raw if len(raw) <= LONGEST else f"{raw[:LONGEST]} …"
    return text.encode("utf-8", "replace").decode()  # half a character can't be kept


def _numbers(raw: object) -> str:
    if isinstance(raw, np.ndarray):
        ends = 3 if raw.ndim < 4 else 1  # of each axis: the product of all of them is written
        return np.array2string(raw, separator=", ", threshold=200, precision=6, edgeitems=ends)
    text = _number(raw) if isinstance(raw, float) else _SHORT.repr(_rounded(raw, 3))
    return text.replace("], [", "],\n [")


def _rounded(raw: object, depth: int) -> Any:
    """Leave out digits that nobody wrote, in the first entries of lists of lists."""
    if isinstance(raw, list | tuple) and depth:
        entries = [_rounded(entry, depth - 1) for entry in raw[:31]]
        return tuple(entries) if isinstance(raw, tuple) else entries
    return float(_number(raw)) if isinstance(raw, float) else raw


def _number(value: float) -> str:
    return f"{value:.6g}"
