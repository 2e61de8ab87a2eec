"""Values as a line of text."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 70
_SHORT.maxlevel = 4
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = _SHORT.maxset = _SHORT.maxfrozenset = 20


def block(values: dict[str, Any], size: int = 30) -> list[str]:
    """Return ``name = value`` with the further lines of a value under its first."""
    lines: list[str] = []
    for name, value in values.items():
        first, *rest = _shown(value, size).splitlines() or [""]
        lines += [f"{name} = {first}", *(" " * (len(name) + 3) + line for line in rest)]
    return lines


def counted(shape: Any) -> str:
    """Say how many numbers an array of a shape holds."""
    if len(shape) == 0:
        return "one number"
    if len(shape) > 1:
        return f"an array of shape {tuple(shape)}"
    return f"{shape[0]} number{'s' * (shape[0] != 1)}"


def _shown(value: object, size: int) -> str:
    """Write a value, or only its shape where it has many entries."""
    if not isinstance(value, np.ndarray):
        return f"{value:.6g}" if isinstance(value, (float, np.floating)) else brief(value)
    kind = "" if value.dtype in (float, int, bool) else f" ({value.dtype})"
    if value.size > size:
        return f"array of shape {value.shape}{kind}"
    return np.array2string(value, precision=4, separator=", ", suppress_small=True) + kind


def brief(value: object) -> str:
    """Write a value in at most 60 characters, without writing out what is much longer."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    try:
        text = _SHORT.repr(value.item() if isinstance(value, np.generic) else value)
    except Exception:  # an object of the student's own
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def listed(value: Any) -> str:
    """Write the numbers of an answer as they were read; of many, only how many."""
    if value.ndim == 0:
        return _one(value[()])
    if value.size > 30 or value.ndim > 2:
        return counted(value.shape)
    rows = value if value.ndim == 2 else [value]
    lines = [", ".join(map(_one, row)) for row in rows]
    if value.ndim == 1:
        return f"{counted(value.shape)}: {lines[0]}" if lines[0] else counted(value.shape)
    return "\n".join([counted(value.shape), *(f"[{line}]" for line in lines)])


def _one(number: object) -> str:
    return f"{number:.8g}" if isinstance(number, float) else str(number)


def kind_of(value: object) -> str:
    """Say what kind of thing a result is."""
    if value is None:
        return "None (is a `return` missing?)"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"of type {type(value).__name__}"
