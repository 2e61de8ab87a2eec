"""Figures: the data that were plotted are checked; the picture waits for the marker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.exercise.answers.kind import Answer, Array, Attempt, Judgement, Scaffold
from autograder.student.readers import POINTS, read_figure

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
    properties
        What must hold, instead: functions of the data, or of the only curve there is, that
        return whether something holds.  The docstring of one that doesn't is what students read.
        Curves come sorted along x.  Two figures are the same if the same holds of them.

    Examples
    --------
    >>> x = np.linspace(0, 1, 101)
    >>> kind = Figure()
    >>> drawn = kind.read({"square": [x[::5], x[::5] ** 2]}, like={"square": (x, x**2)})
    >>> kind.same(drawn, {"square": (x, x**2)})
    True
    """

    kind = "figure"
    reader = staticmethod(read_figure)
    table = (
        (
            "Figure()",
            "`{name: (x, y)}` for curves, `{name: array}` for tables",
            "within 0.5 % of the range",
        ),
        ("Figure(properties=(…))", "the same", "by the share of properties that hold"),
    )
    scaffold = Scaffold(
        asks="""\
Ask for the data of a picture: `curve`, a dictionary `{2: (x, y), 3: (x, y)}` with the powers as
keys, where `x` and `y` are arrays of the same length. (A part marked by hand can ask for the
picture itself.)""",
        stub="curve = None  # {2: (x, y), 3: (x, y)}",
        imports="import numpy as np",
        reference='''
x = np.linspace(0, 2, 51)


@exercise.part(points=1, answer=Figure())
def curve():
    """The curves x² and x³ from 0 to 2."""
    return {power: (x, x**power) for power in (2, 3)}


@curve.misconception()
def multiplied():
    """You multiplied by the exponent. A power is a product of equal factors."""
    return {power: (x, x * power) for power in (2, 3)}
''',
    )

    tolerance: float = 0.005
    properties: tuple[Callable[[Any], bool], ...] = ()

    def __post_init__(self) -> None:
        for holds in self.properties:
            if not (holds.__doc__ or "").strip():
                raise ValueError(f"the property `{holds.__name__}` needs a docstring for students")

    def same(
        self, given: object, expected: object, *, slack: float | Array = 0.0, widen: float = 1.0
    ) -> bool:
        """Compare curve by curve and table by table."""
        given, expected = _named(given), _named(expected)
        if given.keys() != expected.keys():
            return False
        if self.properties:
            return self._held(given) == self._held(expected)
        return not any(self._off(given[name], expected[name], widen) for name in expected)

    def judge(self, given: object, expected: object, *, slack: float | Array = 0.0) -> Judgement:
        """Give credit for each curve and table that is right."""
        given, expected = _named(given), _named(expected)
        if self.properties:
            # All of them hold of the right answer; of one that follows from a slip perhaps not.
            held = [a == b for a, b in zip(self._held(given), self._held(expected), strict=True)]
            lacks = [p.__doc__ for p, holds in zip(self.properties, held, strict=True) if not holds]
            said = " ".join(" ".join((text or "").split()) for text in lacks)
            return Judgement(sum(held) / len(held), feedback=said)
        off = [name for name in expected if self._off(given[name], expected[name], 1.0)]
        credit = round(1 - len(off) / len(expected), 6)
        partly = 0 < credit < 1
        return Judgement(credit, feedback=f"Not right: {', '.join(off)}." if partly else "")

    def attempts(self, right: object) -> Iterable[Attempt]:
        """Try curves that anybody can draw, where properties are asked for."""
        if not self.properties:
            return
        named = _named(right)
        curves = {name: v for name, v in named.items() if isinstance(v, tuple)}
        turned = {name: (x[::-1], y[::-1]) for name, (x, y) in curves.items()}
        flat = {name: (x, np.full(len(x), np.mean(y))) for name, (x, y) in curves.items()}
        yield Attempt("points in another order", named | turned, at_least=1)
        if curves:
            yield Attempt("a flat curve", named | flat, at_most=0.5)

    def _held(self, given: dict[str, Any]) -> tuple[bool, ...]:
        """Tell which properties hold; of data that are none of what was asked for, none."""

        def holds(wanted: Callable[[Any], bool]) -> bool:
            try:
                data = {name: _along(entry) for name, entry in given.items()}
                return bool(wanted(next(iter(data.values())) if len(data) == 1 else data))
            except (ArithmeticError, LookupError, TypeError, ValueError):
                return False

        return tuple(map(holds, self.properties))

    def hint(self, expected: object) -> dict[str, Any]:
        """Kind, names, and which are curves of how many points or tables of which shape."""
        if expected is None:
            return {"kind": "figure"}
        named = _named(expected)
        curves = {k: min(POINTS, len(v[0])) for k, v in named.items() if isinstance(v, tuple)}
        tables = {k: list(np.shape(v)) for k, v in named.items() if not isinstance(v, tuple)}
        return {"kind": "figure", "names": list(named), "curves": curves, "tables": tables}

    def _off(self, given: Any, expected: object, widen: float) -> bool:
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


def _named(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {str(name): entry for name, entry in value.items()}
    return {"data": value}


def _along(entry: object) -> Any:
    """Sort a curve along x."""
    if not isinstance(entry, tuple):
        return entry
    x, y = (np.asarray(row, float) for row in entry)
    order = np.argsort(x, kind="stable")
    return x[order], y[order]


def _covers(at: Array, x: Array) -> bool:
    """Whether the points lie in the range asked for and reach over it."""
    slack = (1 - REACH) * np.ptp(x) + 1e-12
    inside = at.min() >= x.min() - slack and at.max() <= x.max() + slack
    return bool(inside and np.ptp(at) >= REACH * np.ptp(x) - 1e-12)
