"""Answers that are exactly right or wrong: counts, fractions, shapes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.exercise.answers import Answer, Array, FormatError, shown
from autograder.exercise.reading import nested, same_shape, whole

_FRACTION = re.compile(r"\s*([+-]?\d{1,40})\s*(?:/\s*(\d{1,40})\s*)?")


@dataclass(frozen=True)
class Count(Answer):
    """A whole number, or several; exactly right or wrong.

    >>> int(Count().read("1,048,576"))
    1048576
    """

    def read(self, raw: Any, like: Any = None) -> Array:
        """Accept whole numbers, also as floats (4.0) and text (with commas or blanks)."""
        value = nested(raw, whole, thousands=np.ndim(like) == 0)
        same_shape(value, like)
        return value

    def same(
        self,
        given: Array,
        expected: Array,
        *,
        slack: Any = 0.0,
        widen: float = 1.0,
    ) -> bool:
        """Exact equality."""
        return np.shape(given) == np.shape(expected) and bool(np.all(given == expected))

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and shape."""
        return {"kind": "count", "shape": list(np.shape(expected))}


@dataclass(frozen=True)
class Fractions(Answer):
    """A fraction, or several; exactly right or wrong, in lowest terms or not.

    A decimal is not taken, not even 0.375 for 3/8: Python turns ``3/8`` without quotes into one,
    so the answer is text.  Whole numbers may be plain.

    Examples
    --------
    >>> kind = Fractions()
    >>> kind.same(kind.read("6/16 -2"), kind.read([Fraction(3, 8), -2]))
    True
    """

    def read(self, raw: Any, like: Any = None) -> Array:
        """Accept fractions and whole numbers as text, and whole numbers."""
        value = nested(raw, _fraction)
        same_shape(value, like)
        return value

    def same(self, given: Array, expected: Array, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Exact equality."""
        return np.shape(given) == np.shape(expected) and bool(np.all(given == expected))

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and shape."""
        return {"kind": "fractions", "shape": list(np.shape(expected))}


@dataclass(frozen=True)
class Shape(Answer):
    """The shape of an array, as a tuple.

    >>> Shape().read([2, 3])
    (2, 3)
    """

    def read(self, raw: Any, like: Any = None) -> tuple[int, ...]:
        """Accept a tuple or list of whole numbers, or text such as ``"(2, 3)"``."""
        if isinstance(raw, str):
            raw = [word for word in re.split(r"[\s,()\[\]]+", raw) if word]
        if not isinstance(raw, tuple | list):
            raise FormatError(f"a tuple such as (2, 3) is expected, not {shown(raw)}")
        return tuple(int(nested(n, whole)) for n in raw)

    def same(self, given: Any, expected: Any, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Exact equality, length included."""
        return tuple(given) == tuple(expected)

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind only: the length of the tuple is part of the answer."""
        return {"kind": "shape"}


def _fraction(entry: Any) -> Fraction:
    if isinstance(entry, Fraction):  # of a reference
        return entry
    text = entry.replace("−", "-") if isinstance(entry, str) else ""
    if match := _FRACTION.fullmatch(text):
        above, below = int(match[1]), int(match[2] or 1)
        if below:
            return Fraction(above, below)
    try:
        return Fraction(whole(entry))
    except FormatError:
        example = 'fractions are expected, as text such as "-2/3"'
        raise FormatError(f"{example}, not {shown(entry)}") from None
