"""How each kind of answer is read: by ``check`` and by the grader, with the same functions.

A reader is a pure function of what a variable holds and of the part's hint in check.json.  A hint
without a shape leaves the shape open, and what else only an answer must have.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.student.display import brief, listed
from autograder.student.entries import (
    MAX_ENTRIES,
    as_float,
    as_fraction,
    as_whole,
    entries,
    is_whole,
)
from autograder.student.formulas import read_formula, read_lines
from autograder.student.letters import read_choice, read_labels, read_ordering
from autograder.student.literals import Entry
from autograder.student.reading import Reading as Reading
from autograder.student.rows import read_matrix
from autograder.student.shapes import read_shape
from autograder.student.units import unit_factor
from autograder.student.unreadable import FormatError, refuse_set

DIGITS = 4  # significant digits that always suffice
POINTS = 10  # fewer are no curve


def read_numbers(raw: object, hint: Mapping[str, Any]) -> Reading:
    """Read numbers, nested lists, arrays and text such as ``"0.25 1/3 1e-3"``."""
    if isinstance(raw, (bool, np.bool_)):  # one alone is what a comparison gave
        raise FormatError(f"numbers are expected, not {brief(raw)}")
    unit, figures = hint.get("unit", ""), hint.get("figures")
    shape, numbers = _quantities(raw, hint)
    if figures and "shape" in hint and not all(number.typed for number in numbers):
        example = f"{0.5:.{figures}f}"
        raise FormatError(f'write the digits as text, "{example}" say: a number has no zeros')
    values = [as_float(number, special=hint.get("special", False)) for number in numbers]
    value = np.array(values, dtype=float).reshape(shape)
    text = f"{listed(value)} {unit}".rstrip()
    computed = isinstance(raw, np.ndarray) and raw.dtype.kind == "f" and _worked_out(numbers)
    return Reading(value, text, "" if computed else _advice(numbers, hint), tuple(numbers))


def _quantities(raw: object, hint: Mapping[str, Any]) -> tuple[tuple[int, ...], list[Entry]]:
    """Return a shape and numbers in the unit that is asked for, if one is.

    Without a unit a number is in this one; a unit behind the last number of a text is that of all.
    """
    unit = hint.get("unit", "")
    shape, numbers = entries(raw, shape=hint.get("shape"), units=bool(unit))
    if not unit:
        return shape, numbers
    last = numbers[-1].unit if numbers and isinstance(raw, str) else ""
    converted = []
    for number in numbers:
        factor = unit_factor(number.unit or last or unit, unit)
        if factor is None:
            raise FormatError(f"numbers in {unit} are expected, not {brief(raw)}")
        if factor != 1:
            number = number._replace(value=number.value * factor, scale=float(factor))
        converted.append(number)
    return shape, converted


def _advice(numbers: list[Entry], hint: Mapping[str, Any]) -> str:
    """Say where few digits were written; whether they suffice nobody knows here."""
    if hint.get("loose"):
        return ""
    written = [number for number in numbers if number.last is not None and number.value]
    places, figures = hint.get("places"), hint.get("figures")
    if places is not None:
        few = any(-(number.last or 0) < places for number in written if number.typed)
        return f"{places} decimals are asked for" if few else ""
    if figures is not None:
        other = any(n.figures[0] > figures or n.figures[1] < figures for n in written)
        return f"{figures} significant figures are asked for" if other else ""
    if hint.get("exact"):
        return ""
    few = any(n.figures[1] < DIGITS for n in written if not -10 < n.value < 10 or not is_whole(n))
    return f"fewer than {DIGITS} digits are enough only where they are exact" if few else ""


def _worked_out(numbers: list[Entry]) -> bool:
    """Tell an array that was computed, of which some numbers are short, from a rounded one.

    Rounded numbers have equally many decimals, but for zeros at the end, which few of them have.
    """
    places = [number.last for number in numbers if number.last is not None]
    return 2 * places.count(min(places, default=0)) < len(places) or min(places, default=0) < -9


def read_count(raw: object, hint: Mapping[str, Any]) -> Reading:
    """Read whole numbers, also as floats (4.0) and as text (1,048,576 or 2**20 or 12 KiB)."""
    shape, numbers = _quantities(raw, hint)
    value = np.empty(len(numbers), dtype=object)
    value[:] = [as_whole(number, raw) for number in numbers]
    shown = f"{listed(value.reshape(shape))} {hint.get('unit', '')}".rstrip()
    return Reading(value.reshape(shape), shown)


def read_fractions(raw: object, hint: Mapping[str, Any]) -> Reading:
    """Read fractions and whole numbers; a decimal is none."""
    shape, numbers = entries(raw, shape=hint.get("shape"))
    value = np.empty(len(numbers), dtype=object)
    value[:] = [as_fraction(number, raw) for number in numbers]
    return Reading(value.reshape(shape), listed(value.reshape(shape)))


def read_figure(raw: object, hint: Mapping[str, Any]) -> Reading:
    """Read a dictionary of curves and tables, or one of them where one is asked for."""
    names = hint.get("names")
    given = raw if isinstance(raw, dict) else {"data": raw}
    if names and not isinstance(raw, dict) and len(names) > 1:
        raise FormatError(f"a dictionary with {', '.join(names)} is expected, not {brief(raw)}")
    if len(given) > 100:
        raise FormatError(f"a dictionary of {len(given)} entries is too large for this answer")
    drawn = {str(name): entry for name, entry in given.items()}
    if names and len(names) == len(drawn) == 1:  # the only one needs no name
        drawn = {names[0]: next(iter(drawn.values()))}
    if missing := [name for name in names or () if name not in drawn]:
        raise FormatError(
            f"the data of {', '.join(missing)} are missing; "
            f"there is {', '.join(drawn) or 'nothing'}"
        )
    value = {name: _drawn(name, drawn[name], hint) for name in names or drawn}
    return Reading(value, f"the data of {', '.join(value)}")


def _drawn(name: str, raw: Any, hint: Mapping[str, Any]) -> Any:
    """Read numbers as what the right answer has there: a curve (x, y) or a table."""
    points, shape = hint.get("curves", {}).get(name), hint.get("tables", {}).get(name)
    pair = isinstance(raw, (list, tuple)) and len(raw) == 2
    try:
        refuse_set(raw, "rows")
        if pair:
            rows = [_values(row) for row in raw]
            if any(row.ndim != 1 for row in rows) or (shape and len({r.size for r in rows}) == 1):
                pair = False
        entry = tuple(rows) if pair else _values(raw)
    except FormatError as error:
        raise FormatError(f"{name}: {error}") from None
    if shape is not None:
        if isinstance(entry, tuple):
            raise FormatError(f"for {name}, the rows have different lengths")
        if list(entry.shape) != list(shape):
            raise FormatError(f"for {name}, shape {tuple(shape)} is expected, not {entry.shape}")
    elif points is not None:
        if not isinstance(entry, tuple) and entry.ndim == 2 and len(entry) == 2:
            entry = (entry[0], entry[1])
        if not isinstance(entry, tuple) or entry[0].shape != entry[1].shape:
            raise FormatError(f"for {name}, a pair (x, y) of rows of the same length is expected")
        if len(entry[0]) < points:
            raise FormatError(f"for {name}, a curve needs {POINTS} points or more")
    return entry


def _values(raw: object) -> Any:
    """Read numbers of which nobody asks how they were written: there are thousands of them."""
    refuse_set(raw, "numbers")
    with contextlib.suppress(TypeError, ValueError):
        found = np.asarray(raw)
        if found.dtype.kind in "iuf" and 0 < found.size <= MAX_ENTRIES and np.isfinite(found).all():
            return found.astype(float)
    return read_numbers(raw, {}).value


def read(raw: object, hint: Mapping[str, Any]) -> Reading:
    """Return an answer as it is read.

    Raises
    ------
    FormatError
        With what was expected and what came.
    """
    reader = READERS.get(hint["kind"])
    found = Reading(None, brief(raw)) if reader is None else reader(raw, hint)
    return found if isinstance(found, Reading) else Reading(None, found)


#: By the kind that a hint names.  Of mathematics only the text is shown that the grader reads.
READERS: dict[str, Any] = {
    "numbers": read_numbers,
    "count": read_count,
    "fractions": read_fractions,
    "shape": read_shape,
    "choice": read_choice,
    "ordering": read_ordering,
    "labels": read_labels,
    "figure": read_figure,
    "formula": read_formula,
    "matrix": read_matrix,
    "lines": read_lines,
}
