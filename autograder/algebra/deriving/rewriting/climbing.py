"""The search for a point at which a bound fails: many walkers climb at once.

They compute in floating-point numbers, so what they find is computed once more with many digits.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import sympy

from autograder.algebra.building import chance
from autograder.algebra.building import functions as own
from autograder.algebra.building.numeric import Evaluator, Undefined, fixed_context

WALKERS, ROUNDS = 48, 16
STRIDES = np.array([0.2, 0.5, 0.5, 1.0])  # of the steps that each walker tries in a round
CANDIDATES = 4  # points that are computed once more
DIGITS = 30

_FUNCTIONS: dict[Any, Any] = {
    sympy.exp: np.exp,
    sympy.log: np.log,
    sympy.sin: np.sin,
    sympy.cos: np.cos,
    sympy.tan: np.tan,
    sympy.tanh: np.tanh,
    sympy.Abs: np.abs,
    sympy.sign: np.sign,
    sympy.Heaviside: lambda x, at_zero=0.5: np.heaviside(x, at_zero),
    own.Max: lambda *values: functools.reduce(np.maximum, values),
    own.Min: lambda *values: functools.reduce(np.minimum, values),
}


class Climb:
    """A search for a point at which the left side exceeds the right one.

    It starts where all names are 1, since sums of norms are norms of sums there, and where terms
    are alike or one of them dominates, since bounds tend to be tight there, and climbs from there.
    """

    def __init__(self, left: sympy.Expr, right: sympy.Expr) -> None:
        self.sides = left, right
        self.symbols = sorted(left.free_symbols | right.free_symbols, key=str)
        self.positive = np.array([bool(s.is_positive) for s in self.symbols])
        self.context = fixed_context(DIGITS)
        self._computation = _Computation(self.sides, self.symbols)

    def counterexample(self) -> tuple[str, tuple[str, str]] | None:
        """Return where the left side is larger, and both values."""
        points = self._starts()
        best = self._excess(points)
        walkers = np.arange(WALKERS)
        strides = STRIDES[:, None, None] * ~self.positive
        for _ in range(ROUNDS):
            drawn = chance.arrays.standard_normal((len(STRIDES), *points.shape))
            steps = points + drawn * strides
            excess = self._excess(steps.reshape(-1, len(self.symbols))).reshape(len(STRIDES), -1)
            chosen = excess.argmax(axis=0), walkers
            better = excess[chosen] > best
            points[better], best[better] = steps[chosen][better], excess[chosen][better]
        for place in np.argsort(-best)[:CANDIDATES]:
            if best[place] > 0 and (found := self._confirmed(points[place])):
                return found
        return None

    def excess_at_start(self) -> Any:
        """Return by how much the left side is larger where the search begins."""
        excess = self._excess(self._starts())
        return excess[np.isfinite(excess)]

    def _starts(self) -> Any:
        spread = np.where(np.arange(WALKERS) % 2, 4, 1)[:, None]
        points = chance.arrays.normal(0, 1, (WALKERS, len(self.symbols))) * spread
        points = np.where(self.positive, abs(points) + 0.01, points)
        points[0] = 1
        return points

    def _excess(self, points: Any) -> Any:
        """Return by how much the left side is larger at each point, −∞ where that is not known."""
        with np.errstate(all="ignore"):
            left, right = self._computation.at(points)
            excess = np.broadcast_to(left - right, len(points)).astype(float)
            small = np.abs(excess) <= 1e-9 * (1 + np.abs(left))
            return np.where(np.isfinite(excess), np.where(small, 0, excess), -np.inf)

    def _confirmed(self, point: Any) -> tuple[str, tuple[str, str]] | None:
        at = {s: self.context.mpf(float(x)) for s, x in zip(self.symbols, point, strict=True)}
        try:
            values = [self.context.re(Evaluator(self.context, at)(side)) for side in self.sides]
        except (Undefined, ArithmeticError, ValueError):
            return None
        left, right = values
        if left - right <= self.context.mpf(10) ** -20 * (1 + abs(left)):
            return None
        show = self.context.nstr
        where = ", ".join(f"{s}={show(x, 4)}" for s, x in at.items())
        return where, (str(show(left, 6)), str(show(right, 6)))


def has_both_signs(expr: sympy.Expr) -> bool:
    """Whether a value is positive at some of a few points and negative at others."""
    climb = Climb(expr, sympy.Integer(0))
    return bool({-1, 1} <= {*np.sign(climb.excess_at_start())})


class _Computation:
    """What to compute, step by step, for the values of expressions at many points.

    The expressions are looked through once: at the points there are numbers alone.
    """

    def __init__(self, expressions: Iterable[sympy.Expr], symbols: Sequence[sympy.Symbol]) -> None:
        self._places: dict[sympy.Expr, int] = {s: i for i, s in enumerate(symbols)}
        self._steps: list[tuple[Callable[..., Any], list[int]]] = []
        self._results = [self._place(expr) for expr in expressions]

    def at(self, points: Any) -> list[Any]:
        """Return the values of the expressions, nan where there is none."""
        values = list(points.T)
        for function, places in self._steps:
            values.append(function(*(values[place] for place in places)))
        return [values[place] for place in self._results]

    def _place(self, expr: sympy.Expr) -> int:
        """Return where among all values that of an expression comes to stand."""
        if expr not in self._places:
            step = _step(expr)
            step = step[0], [self._place(argument) for argument in step[1]]
            self._places[expr] = len(self._places)
            self._steps.append(step)
        return self._places[expr]


def _step(expr: sympy.Expr) -> tuple[Callable[..., Any], Sequence[sympy.Expr]]:
    """Return what makes an expression's value, and of what."""
    if expr.is_number:
        value = float(expr) if expr.is_extended_real else np.nan
        return lambda: value, ()
    if isinstance(expr, sympy.exp):
        return np.exp, (expr.exp,)
    if expr.is_Add:
        return _sum, expr.args
    if expr.is_Mul:
        return _product, expr.args
    if expr.is_Pow:
        return np.power, expr.args
    return _FUNCTIONS.get(expr.func, lambda *_: np.nan), expr.args


def _sum(*values: object) -> Any:
    return functools.reduce(operator.add, values)


def _product(*values: object) -> Any:
    return functools.reduce(operator.mul, values)
