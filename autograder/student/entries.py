"""The numbers of an answer, one by one: of a text, a number, a list, an array, a tensor."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from autograder.student.arithmetic import read_text
from autograder.student.display import brief, counted
from autograder.student.literals import Entry, written
from autograder.student.unreadable import FormatError, refuse_set

MAX_ENTRIES = 100_000
MAX_NESTED = 8
_LOOKED_AT = 1000  # of more numbers than these nobody typed the digits

_GROUPS = re.compile(r"([+\-−–]?)([1-9]\d{0,2})((?:,\d{3})+|(?: \d{3})+)(?![\d,])(.*)", re.DOTALL)


def entries(
    raw: object, *, shape: Any = None, units: bool = False
) -> tuple[tuple[int, ...], list[Entry]]:
    """Return the shape of an answer and its numbers in order.

    Parameters
    ----------
    raw
        Numbers, text, lists, arrays, tensors.
    shape
        The shape that is asked for, if one is.
    units
        May a unit stand behind a number of a text?

    Raises
    ------
    FormatError
        If it is anything else, or too large, or of another shape.
    """
    wanted = None if shape is None else tuple(shape)
    found = _Walk(units, -1 if wanted is None else len(wanted)).walk(raw, 0)
    if isinstance(found, Entry):
        got: tuple[int, ...] = ()
        numbers = [found]
    else:
        got, numbers = found
    if wanted is not None and got != wanted:
        if _fits(raw, got, wanted):
            return wanted, numbers
        more = _rows(raw, got, wanted) or _comma(raw)
        raise FormatError(f"{counted(wanted)} expected, {counted(got)} given{more}")
    return got, numbers


def _fits(raw: object, got: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Tell whether one number stands in brackets, or a row or column has one axis too many."""
    if wanted == () and set(got) == {1}:
        return True
    if len(wanted) == 1 and got in ((1, *wanted), (*wanted, 1)):  # as with keepdims=True
        return True
    line = isinstance(raw, str) and len(wanted) == 2 and 1 in wanted and len(got) == 1
    return line and got[0] == math.prod(wanted)


def _rows(raw: object, got: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """Say how rows are parted in text, where all numbers are there."""
    in_line = isinstance(raw, str) and len(wanted) == 2 and got == (math.prod(wanted),)
    return '; a semicolon parts rows, as in "1 2; 3 4"' if in_line else ""


def _comma(raw: object) -> str:
    """Say that commas separate numbers, where one may have been meant as something else."""
    if isinstance(raw, str) and (grouped := re.search(r"[1-9]\d{0,2}(?:,\d{3}){2,}", raw)):
        return f"; a comma separates numbers: {grouped[0].replace(',', '')}, not {grouped[0]}"
    found = re.search(r"(\d+),(\d+)", raw) if isinstance(raw, str) else None
    if not found:
        return ""
    if re.fullmatch(r"[1-9]\d{0,2},\d{3}", found[0]):
        whole = found[1] + found[2]
        return f"; a comma separates numbers: {whole} or {found[1]}.{found[2]}, not {found[0]}"
    return f"; the decimal sign is a point: {found[1]}.{found[2]}, not {found[0]}"


def _joined(raw: object) -> Any:
    """Take the signs out that group the digits of a single number: 1,048,576."""
    match = _GROUPS.fullmatch(raw.strip()) if isinstance(raw, str) else None
    return f"{match[1]}{match[2]}{re.sub('[, ]', '', match[3])}{match[4]}" if match else raw


class _Walk:
    """Goes through lists and arrays, no further than their limits."""

    def __init__(self, units: bool, axes: int) -> None:
        self._units, self._axes, self._left = units, axes, MAX_ENTRIES

    def walk(self, raw: object, depth: int) -> Any:
        """Return an entry, or a shape and a list of entries."""
        raw = _array(raw)
        if isinstance(raw, np.ndarray) and raw.ndim:
            return self._of_array(raw)
        if isinstance(raw, str):
            alone = depth == self._axes
            text = _joined(raw) if alone or (depth and "," in raw) else raw
            raw = read_text(text, units=self._units, alone=alone)
        if isinstance(raw, Entry):
            return raw
        if isinstance(raw, (list, tuple, set, frozenset)):
            refuse_set(raw, "numbers")
            return self._of_list(raw, depth)
        return _number(raw)

    def _count(self, number: int) -> None:
        self._left -= number
        if self._left < 0:
            raise FormatError(f"more than {MAX_ENTRIES} numbers are too large an answer")

    def _of_array(self, raw: Any) -> tuple[tuple[int, ...], list[Entry]]:
        self._count(math.prod(max(size, 1) for size in raw.shape))  # axes without entries, too
        if raw.dtype.kind not in "iufb":
            raise FormatError(f"numbers are expected, not an array of {raw.dtype.name}")
        flat = raw.ravel()
        if flat.size > _LOOKED_AT:
            return raw.shape, [Entry(value) for value in flat.astype(float).tolist()]
        return raw.shape, [_number(value) for value in flat]

    def _of_list(self, raw: Any, depth: int) -> tuple[tuple[int, ...], list[Entry]]:
        self._count(len(raw) + 1)
        if depth >= MAX_NESTED:
            raise FormatError(f"lists are nested more than {MAX_NESTED} deep")
        if len(raw) > _LOOKED_AT and all(type(inner) is float for inner in raw):
            return (len(raw),), [Entry(value) for value in raw]
        found = [self.walk(inner, depth + 1) for inner in raw]
        shapes = {() if isinstance(inner, Entry) else inner[0] for inner in found}
        if len(shapes) > 1:
            raise FormatError("the rows of the answer have different lengths")
        numbers: list[Entry] = []
        for inner in found:
            numbers += [inner] if isinstance(inner, Entry) else inner[1]
        return (len(found), *(shapes.pop() if shapes else ())), numbers


def _array(raw: Any) -> Any:
    """Return the array in a tensor: torch's own, or one that arrived by itself."""
    if hasattr(raw, "detach"):
        raw = raw.detach().cpu()
        raw = raw.float() if str(raw.dtype) == "torch.bfloat16" else raw
        return raw.numpy()[()]
    return getattr(raw, "array", raw)


def as_sent(raw: Any) -> Any:
    """Return a number of sympy's, or another exact one, as it will reach the grader.

    >>> as_sent(Decimal("2.5")), as_sent("2.5")
    (Fraction(5, 2), '2.5')
    """
    try:
        if isinstance(raw, Rational) and not isinstance(raw, (int, np.integer)):  # sympy's too
            return Fraction(int(raw.numerator), int(raw.denominator))
        if isinstance(raw, Decimal):
            return Fraction(raw)
        if type(raw).__module__.startswith("sympy."):
            return float(raw)
    except (ArithmeticError, AttributeError, TypeError, ValueError):
        pass
    return raw


def _number(raw: object) -> Entry:
    """Return a number; what a float was typed as are its shortest digits."""
    raw = as_sent(raw[()] if isinstance(raw, np.ndarray) else raw)  # an array without axes
    if isinstance(raw, np.timedelta64):  # numpy's own whole numbers with a unit
        raise FormatError(f"numbers are expected, not {brief(raw)}")
    if isinstance(raw, (int, np.integer, np.bool_)):  # a truth value is 0 or 1, as in a mask
        whole = int(raw)
        if whole.bit_length() > 4096:
            raise FormatError("a number of the answer is too large")
        digits = written(str(abs(whole)))
        return Entry(Fraction(whole), 0, digits.figures if digits else (1, 1))
    if isinstance(raw, (float, np.floating)):
        value = float(raw)
        digits = written(str(raw).lstrip("-"))  # numpy writes the digits of its precision
        if digits is None:  # nan, inf
            return Entry(value)
        return Entry(value, digits.place, digits.figures)
    if isinstance(raw, Fraction):
        return Entry(raw)
    raise FormatError(f"numbers are expected, not {brief(raw)}")


def as_float(entry: Entry, *, special: bool = False) -> float:
    """Return the number as a float, which is finite unless NaN and infinity are asked for."""
    try:
        value = float(entry.value)
    except OverflowError:
        raise FormatError("a number of the answer is too large") from None
    if not special and not math.isfinite(value):
        raise FormatError("it contains NaN or infinity; finite numbers are expected")
    return value


def as_fraction(entry: Entry, raw: object) -> Fraction:
    """Return the number exactly, which a decimal is not unless it is whole."""
    if is_whole(entry) or (isinstance(entry.value, Fraction) and entry.last is None):
        return Fraction(entry.value)
    raise FormatError(f'fractions are expected, as text such as "-2/3", not {brief(raw)}')


def as_whole(entry: Entry, raw: object) -> int:
    """Return the number as a whole one."""
    if is_whole(entry):
        return int(entry.value)
    raise FormatError(f"whole numbers are expected, not {brief(raw)}")


def is_whole(entry: Entry) -> bool:
    """Tell whether there is nothing behind the decimal point."""
    value = entry.value
    return value.denominator == 1 if isinstance(value, Fraction) else value.is_integer()
