"""Whether one equation is a multiple of another, by numbers alone."""

from __future__ import annotations

import sympy

from autograder.algebra.comparing.equivalence import equal
from autograder.algebra.comparing.verdict import Verdict


def multiples(one: sympy.Expr, other: sympy.Expr) -> Verdict | None:
    """Compare ``one = 0`` with ``other = 0``; None where neither side is a multiple of the other.

    Examples
    --------
    >>> x = sympy.Symbol("x", real=True)
    >>> multiples(2 * x - 6, 3 - x).equal
    True
    >>> multiples(x - 1, (x - 1) ** 2)
    """
    # One is a multiple of the other if f(x)·g(y) = g(x)·f(y) for all x and y.
    symbols = one.free_symbols | other.free_symbols
    twins = {symbol: _twin(symbol) for symbol in symbols if symbol.is_Symbol}
    verdict = equal(one * other.xreplace(twins), other * one.xreplace(twins))
    if not verdict.equal:
        never = [not zero.free_symbols for zero in (one, other)]
        return Verdict(False, "one holds never") if any(never) else None
    identities = [equal(zero, sympy.S.Zero).equal is True for zero in (one, other)]
    if identities[0] != identities[1]:
        return Verdict(False, "one holds always")
    return verdict


def polynomials(one: sympy.Expr, other: sympy.Expr) -> bool:
    """Whether both are polynomials in their symbols."""
    symbols = one.free_symbols | other.free_symbols
    return bool(one.is_polynomial(*symbols) and other.is_polynomial(*symbols))


def _twin(symbol: sympy.Symbol) -> sympy.Symbol:
    return sympy.Symbol(f"{symbol.name}__twin", **symbol._assumptions_orig)
