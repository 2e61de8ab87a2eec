"""Operators as they are written; what they come to for a given n is the business of written_out."""

from __future__ import annotations

import functools

import sympy

from autograder.algebra.deriving.lines.bars import rebuilt

_KEPT = 2048


class Uncomputed(sympy.Function):  # type: ignore[misc]  # sympy is untyped
    """Something that is written, not carried out."""

    def _eval_evalf(self, _prec: int) -> None:
        # sympy would look for a function of numbers called alike: mpmath has an E, too.
        return None


class D(Uncomputed):
    """``D(f, x)``, a derivative."""


class Total(Uncomputed):
    """``sum(f, k, a, b)``; k is bound."""

    @classmethod
    def eval(cls, body: sympy.Expr, k: sympy.Expr, *ends: sympy.Expr) -> sympy.Expr | None:
        """Return so many times the same, where that is all."""
        low, high = ends
        if not (low.is_Integer and high.is_Integer) or body.has(k):
            return None
        return max(high - low + 1, sympy.Integer(0)) * body

    def _eval_is_positive(self) -> bool | None:
        """Tell that a sum of positive terms is positive, unless there may be none of them."""
        body, _, low, high = self.args
        return True if low == 1 and high.is_positive and body.is_positive else None


class Largest(Uncomputed):
    """``max(f, k, a, b)``; k is bound."""

    @classmethod
    def eval(cls, body: sympy.Expr, k: sympy.Expr, *_ends: sympy.Expr) -> sympy.Expr | None:
        """Return the only value that there is, where that is all."""
        return None if body.has(k) else body


class E(Uncomputed):
    """An expectation."""


class Var(Uncomputed):
    """A variance."""


class InertNorm(Uncomputed):
    """The Euclidean norm of a vector."""

    @classmethod
    def eval(cls, argument: sympy.Expr) -> sympy.Expr | None:
        """Return that of a number."""
        return abs(argument) if argument.is_Rational else None


class Transposed(sympy.Function):  # type: ignore[misc]
    """A transpose as written."""

    is_commutative = False

    @classmethod
    def eval(cls, argument: sympy.Expr) -> sympy.Expr | None:
        """Leave numbers as they are, and undo a transpose by another one."""
        if isinstance(argument, Transposed):
            return argument.args[0]
        return argument if argument.is_commutative else None


def is_sum_of_sum(e: sympy.Expr) -> bool:
    """Whether what is added up is a sum."""
    return isinstance(e, Total) and isinstance(e.args[0], Total)


@functools.lru_cache(_KEPT)
def unnamed(e: sympy.Expr, depth: int = 0) -> sympy.Expr:
    """Give bound indices names by how deep they stand, so that their own don't matter."""
    if isinstance(e, Total | Largest):
        k = sympy.Symbol(f"bound{depth}", integer=True, positive=True)
        body, index, *ends = e.args
        inner = unnamed(body.xreplace({index: k}), depth + 1)
        return e.func(inner, k, *(unnamed(end, depth) for end in ends))
    return rebuilt(e, [unnamed(a, depth) for a in e.args]) if e.args else e
