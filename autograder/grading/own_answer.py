"""A student's answer as text, for the student to see beside the verdict."""

from __future__ import annotations

import reprlib

import numpy as np

LONGEST = 2000  # characters

_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxdict, _SHORT.maxstring, _SHORT.maxother = 3, 20, 200, 80
_SHORT.maxlist = _SHORT.maxtuple = _MOST = 30


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
    text = _number(raw) if isinstance(raw, float) else _short(raw, _SHORT.maxlevel)
    return text.replace("], [", "],\n [")


def _short(raw: object, level: int) -> str:
    """Write lists of lists without digits that nobody wrote, and no further than is read."""
    if isinstance(raw, float):
        return repr(float(f"{raw:.6g}"))
    if not isinstance(raw, list | tuple) or not raw or not level:
        return _SHORT.repr1(raw, level)
    entries = [_short(entry, level - 1) for entry in raw[:_MOST]]
    entries += ["..."] * (len(raw) > _MOST)
    if isinstance(raw, list):
        return f"[{', '.join(entries)}]"
    return f"({', '.join(entries)}{',' * (len(raw) == 1)})"


def _number(value: float) -> str:
    return f"{value:.6g}"
