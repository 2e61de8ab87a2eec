"""Numbers as students write them: in lists, arrays and lines of text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.exercise.answers import Array, FormatError, shown


def nested(raw: Any, convert: Callable[[Any], Any], *, thousands: bool = False) -> Array:
    """Apply ``convert`` to every entry of a nested list, an array or a line of text."""
    if isinstance(raw, str):
        text = re.sub(r"(?<=\d)[,_ ](?=\d{3}\b)", "", raw) if thousands else raw
        text = re.sub(r"\s*/\s*", "/", text)
        words = [word for word in re.split(r"[\s,;()\[\]]+", text) if word]
        raw = words[0] if len(words) == 1 else words

    def walk(entry: Any, depth: int) -> Any:
        entry = getattr(entry, "array", entry)  # a tensor arrives as its numbers and its type
        if isinstance(entry, np.ndarray):  # the answer, or a row in a list of them
            if entry.size > 100_000:
                raise FormatError(f"an array of {entry.size} numbers is too large for this answer")
            entry = entry.tolist()
        if isinstance(entry, list | tuple) and depth < 8:
            if convert is number and set(map(type, entry)) == {float}:
                return entry  # most rows
            return [walk(inner, depth + 1) for inner in entry]
        return convert(getattr(entry, "item", lambda: entry)())

    entries = walk(raw, 0)
    try:
        array = np.array(entries, dtype=float if convert is number else object)
    except ValueError:
        raise FormatError("the rows of the answer have different lengths") from None
    if array.dtype == object and any(isinstance(entry, list) for entry in array.flat):
        raise FormatError("the rows of the answer have different lengths")
    return array


def number(entry: Any) -> float:
    """Read one number; text may be a fraction."""
    if isinstance(entry, str):
        try:
            above, _, below = entry.replace("−", "-").partition("/")
            return float(above) / float(below or 1)
        except (ValueError, ZeroDivisionError):
            raise FormatError(f"numbers are expected, not {shown(entry)}") from None
    if isinstance(entry, bool) or not isinstance(entry, int | float):
        raise FormatError(f"numbers are expected, not {shown(entry)}")
    try:
        return float(entry)
    except OverflowError:
        raise FormatError("a number of the answer is too large") from None


def whole(entry: Any) -> int:
    """Read one whole number."""
    if isinstance(entry, str) and re.fullmatch(r"\s*[+-]?\d{1,40}\s*", entry):
        return int(entry)
    if isinstance(entry, float) and entry.is_integer():
        return int(entry)
    if isinstance(entry, bool) or not isinstance(entry, int):
        raise FormatError(f"whole numbers are expected, not {shown(entry)}")
    return entry


def same_shape(value: Array, like: Any) -> None:
    """Raise ``FormatError`` unless ``value`` has the shape of ``like``, where there is one."""
    if like is not None and value.shape != np.shape(like):
        raise FormatError(f"{counted(np.shape(like))} expected, {counted(value.shape)} given")


def counted(shape: tuple[int, ...]) -> str:
    """Say how many numbers an array of a shape holds."""
    if shape == ():
        return "one number"
    return f"{shape[0]} numbers" if len(shape) == 1 else f"an array of shape {shape}"
