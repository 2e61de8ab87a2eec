"""Nested sums in one form: multiplied out, in a fixed order, with fixed names for their indices."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import NamedTuple

import sympy

from autograder.algebra.building.sizes import is_larger
from autograder.algebra.comparing.proof import is_zero
from autograder.algebra.deriving.lines.bars import rebuilt, size
from autograder.algebra.deriving.lines.inert import InertNorm, Largest, Total, Uncomputed
from autograder.algebra.deriving.lines.written_out import TooMuch

MAX_NESTED = 3
MAX_SUMMED_NODES = 400


class _Binder(NamedTuple):
    index: sympy.Symbol
    low: sympy.Expr
    high: sympy.Expr


def is_zero_for_all(expr: sympy.Expr) -> bool:
    """Whether an expression with sums is proved to be zero, for whatever their ranges are.

    Sums that are the same up to order, to the names of their indices and to factors that do not
    depend on these become one symbol.
    """
    return is_zero(_Sums().written(expr))


def rearranged_twice(
    a: sympy.Expr, b: sympy.Expr, rearranged: Callable[[sympy.Expr], sympy.Expr]
) -> bool:
    """Whether the same sum stands in two lines, and would have to be rearranged in each of them."""
    new = [
        [other for total in _outermost(e) if (other := rearranged(total)) != total] for e in (a, b)
    ]
    return any(is_zero_for_all(one - other) for one, other in itertools.product(*new))


def _outermost(e: sympy.Expr) -> Iterator[sympy.Expr]:
    if isinstance(e, Total):
        yield e
    else:
        for part in e.args:
            yield from _outermost(part)


class _Sums:
    def __init__(self) -> None:
        self.known: dict[str, sympy.Symbol] = {}

    def written(self, e: sympy.Expr) -> sympy.Expr:
        """Return `e` with a symbol for every sum and for every entry."""
        if isinstance(e, Total):
            return self._sum(e)
        if isinstance(e, InertNorm | Largest):
            known = True if isinstance(e, InertNorm) else None
            return sympy.Symbol(sympy.srepr(_renamed(e, 0)), real=True, nonnegative=known)
        if isinstance(e, sympy.Abs):  # in bars, too, fractions have one form
            return size(sympy.cancel(sympy.together(self.written(e.args[0]))))
        if isinstance(e, Uncomputed):
            raise TooMuch
        if e.is_Function and e.args and all(a.is_integer for a in e.args):
            return sympy.Symbol(str(e), real=True)
        return rebuilt(e, list(map(self.written, e.args))) if e.args else e

    def _sum(self, e: sympy.Expr) -> sympy.Expr:
        binders, body = _flat(e)
        body = sympy.expand(body)
        return sympy.Add(*(self._term(binders, term) for term in sympy.Add.make_args(body)))

    def _term(self, binders: list[_Binder], term: sympy.Expr) -> sympy.Expr:
        used = [b for b in binders if term.has(b.index)]
        result = sympy.Mul(*(b.high - b.low + 1 for b in binders if b not in used))
        fixed = [f for f in sympy.Mul.make_args(term) if not any(f.has(b.index) for b in used)]
        result *= self.written(sympy.Mul(*fixed))
        if not used:
            return result
        inner = sympy.Mul(*(f for f in sympy.Mul.make_args(term) if f not in fixed))
        key = min(_keys(used, inner))
        return result * self.known.setdefault(
            key, sympy.Symbol(f"sum{len(self.known)}", real=True, positive=inner.is_positive)
        )


def _flat(e: sympy.Expr) -> tuple[list[_Binder], sympy.Expr]:
    """Return the indices of sums in sums, and what is summed; each index gets a name of its own."""
    binders: list[_Binder] = []
    rest = sympy.Integer(1)
    while True:
        inner, index, low, high = e.args
        # Always the same names: what sympy found out about them it need not find out again.
        fresh = sympy.Symbol(f"binder{len(binders)}", integer=True, positive=True)
        binders.append(_Binder(fresh, low, high))
        inner = inner.xreplace({index: fresh})
        factors = sympy.Mul.make_args(inner)
        sums = [f for f in factors if isinstance(f, Total)]
        ends = {end for one in sums for end in one.args[2:]}
        dependent = any(end.has(b.index) for end in ends for b in binders)
        if len(sums) != 1 or dependent or len(binders) == MAX_NESTED:
            return binders, rest * inner
        rest *= sympy.Mul(*(f for f in factors if f is not sums[0]))
        e = sums[0]


def _keys(binders: list[_Binder], inner: sympy.Expr) -> Iterator[str]:
    """Yield what may stand for a sum: one text for every order of the indices."""
    if is_larger(inner, MAX_SUMMED_NODES):
        raise TooMuch
    for order in itertools.permutations(binders):
        names = {
            b.index: sympy.Symbol(f"bound{place}", integer=True, positive=True)
            for place, b in enumerate(order)
        }
        renamed = _renamed(inner.xreplace(names), len(order))
        yield sympy.srepr((renamed, *((b.low, b.high) for b in order)))


def _renamed(e: sympy.Expr, level: int) -> sympy.Expr:
    """Give the indices of sums further inside names by how deep they are."""
    if isinstance(e, Total | Largest):
        k = sympy.Symbol(f"bound{level}", integer=True, positive=True)
        inner = sympy.expand(_renamed(e.args[0].xreplace({e.args[1]: k}), level + 1))
        return e.func(inner, k, *e.args[2:])
    if isinstance(e, Uncomputed) and not isinstance(e, InertNorm):
        raise TooMuch
    return rebuilt(e, [_renamed(a, level) for a in e.args]) if e.args else e
