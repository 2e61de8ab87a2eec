"""Figures: the data that were plotted are checked; the picture waits for the marker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.exercise.answers import Answer, Array, FormatError, Judgement, shown
from autograder.exercise.numbers import Numbers

POINTS = 10  # fewer are no curve
REACH = 0.95  # of the range that a curve must cover


@dataclass(frozen=True)
class Figure(Answer):
    """What a figure shows, by name: curves ``(x, y)`` and tables (heat maps, bars, points).

    The right answer says which is which: a tuple ``(x, y)`` is a curve, an array is a table.
    A curve may be drawn through points of the student's own choice, as long as there are ten and
    they cover the same range; between the points given it is taken as straight.  A table must
    have the same shape.  What it looks like is a part of its own: an `Essay` in a code cell,
    whose output a marker sees.

    Attributes
    ----------
    tolerance
        How far an entry may be off, as a share of the range of the right ones.

    Examples
    --------
    >>> x = np.linspace(0, 1, 101)
    >>> kind = Figure()
    >>> drawn = kind.read({"square": [x[::5], x[::5] ** 2]}, like={"square": (x, x**2)})
    >>> kind.same(drawn, {"square": (x, x**2)})
    True
    """

    tolerance: float = 0.005

    def read(self, raw: Any, like: Any = None) -> dict[str, Any]:
        """Accept a dictionary of curves and tables, or one of them where one is asked for."""
        wanted = None if like is None else {str(k): v for k, v in _named(like).items()}
        if not isinstance(raw, Mapping) and wanted is not None and len(wanted) > 1:
            names = ", ".join(wanted)
            raise FormatError(f"a dictionary with {names} is expected, not {shown(raw)}")
        drawn = {str(name): _entry(name, entry) for name, entry in _named(raw).items()}
        if wanted is None:
            return drawn
        if len(wanted) == len(drawn) == 1:  # the only one needs no name
            drawn = dict(zip(wanted, drawn.values(), strict=True))
        if missing := ", ".join(wanted.keys() - drawn.keys()):
            raise FormatError(f"{missing} is missing; there is {', '.join(drawn) or 'nothing'}")
        return {name: _alike(name, drawn[name], entry) for name, entry in wanted.items()}

    def same(self, given: Any, expected: Any, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Compare curve by curve and table by table."""
        given, expected = _named(given), _named(expected)
        if given.keys() != expected.keys():
            return False
        return not any(self._off(given[name], expected[name], widen) for name in expected)

    def judge(self, given: Any, expected: Any, *, slack: Any = 0.0) -> Judgement:
        """Give credit for each curve and table that is right."""
        given, expected = _named(given), _named(expected)
        off = [name for name in expected if self._off(given[name], expected[name], 1.0)]
        credit = round(1 - len(off) / len(expected), 6)
        partly = 0 < credit < 1
        return Judgement(credit, feedback=f"Not right: {', '.join(off)}." if partly else "")

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and names."""
        return {"kind": "figure", "names": list(_named(expected))}

    def _off(self, given: Any, expected: Any, widen: float) -> bool:
        if isinstance(given, tuple) != isinstance(expected, tuple):
            return True  # a curve where a table is expected, or the other way round
        if isinstance(given, tuple) and len(given[0]) != len(given[1]):
            return True
        if isinstance(expected, tuple):
            x, wanted = (np.asarray(row, float) for row in expected)
            order = np.argsort(x)
            at, got = given
            if not _covers(np.asarray(at), x):
                return True
            wanted = np.interp(at, x[order], wanted[order])
        else:
            wanted, got = np.asarray(expected, float), given
        span = np.ptp(wanted) if np.size(wanted) else 0.0
        scale = span or np.max(np.abs(wanted), initial=0.0) or 1.0
        allowed = widen * self.tolerance * scale
        return np.shape(got) != wanted.shape or bool(np.any(np.abs(got - wanted) > allowed))


def _named(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {str(name): entry for name, entry in value.items()}
    return {"data": value}


def _entry(name: Any, raw: Any) -> Any:
    """Read numbers; a pair of rows stays a pair."""
    try:
        if isinstance(raw, list | tuple) and len(raw) == 2 and all(map(_is_row, raw)):
            return tuple(Numbers().read(row) for row in raw)
        return Numbers().read(raw)
    except FormatError as error:
        raise FormatError(f"{name}: {error}") from None


def _is_row(raw: Any) -> bool:
    if isinstance(raw, np.ndarray):
        return raw.ndim == 1
    return isinstance(raw, list | tuple) and not any(isinstance(e, list | tuple) for e in raw)


def _alike(name: str, entry: Any, like: Any) -> Any:
    """Make a pair of rows what the right answer has there: a curve or a table."""
    if not isinstance(like, tuple):
        if isinstance(entry, tuple):
            if len(entry[0]) != len(entry[1]):
                raise FormatError(f"for {name}, the rows have different lengths")
            entry = np.stack(entry)
        if entry.shape != np.shape(like):
            shape = np.shape(like)
            raise FormatError(f"for {name}, shape {shape} is expected, not {entry.shape}")
        return entry
    if not isinstance(entry, tuple) and np.shape(entry)[:1] == (2,) and np.ndim(entry) == 2:
        entry = (entry[0], entry[1])
    if not isinstance(entry, tuple) or entry[0].shape != entry[1].shape:
        raise FormatError(f"for {name}, a pair (x, y) of rows of the same length is expected")
    if len(entry[0]) < min(POINTS, len(like[0])):
        raise FormatError(f"for {name}, a curve needs {POINTS} points or more")
    return entry


def _covers(at: Array, x: Array) -> bool:
    """Whether the points lie in the range asked for and reach over it."""
    slack = (1 - REACH) * np.ptp(x) + 1e-12
    inside = at.min() >= x.min() - slack and at.max() <= x.max() + slack
    return bool(inside and np.ptp(at) >= REACH * np.ptp(x) - 1e-12)
