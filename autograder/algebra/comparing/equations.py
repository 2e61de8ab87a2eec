"""Whether one equation is a multiple of another, by numbers alone."""

from __future__ import annotations

import sympy

from autograder.algebra.building import functions as own
from autograder.algebra.comparing.equivalence import equal
from autograder.algebra.comparing.verdict import Verdict

NO_MULTIPLE = Verdict(False, "neither equation is a multiple of the other")
_EVERYWHERE = (sympy.exp, sympy.sin, sympy.cos, sympy.Abs, own.sinh, own.cosh, own.tanh, own.Atan)


def multiples(one: sympy.Expr, other: sympy.Expr) -> Verdict:
    """Compare ``one = 0`` with ``other = 0``.

    `NO_MULTIPLE` says that they may still have the same solutions.

    Examples
    --------
    >>> x = sympy.Symbol("x", real=True)
    >>> multiples(2 * x - 6, 3 - x).equal
    True
    >>> multiples(x - 1, (x - 1) ** 2) is NO_MULTIPLE
    True
    """
    always = [equal(zero, sympy.S.Zero).equal for zero in (one, other)]
    if None in always:
        return Verdict(None, "undecided: perhaps one holds always")
    if any(always):
        return Verdict(True, "numeric") if all(always) else Verdict(False, "one holds always")
    # One is a multiple of the other if f(x)·g(y) = g(x)·f(y) for all x and y.
    symbols = one.free_symbols | other.free_symbols
    twins = {symbol: _twin(symbol) for symbol in symbols if symbol.is_Symbol}
    verdict = equal(one * other.xreplace(twins), other * one.xreplace(twins))
    if verdict.equal is False:
        never = any(not zero.free_symbols for zero in (one, other))
        return Verdict(False, "one holds never") if never else NO_MULTIPLE
    return verdict


def defined_everywhere(expr: sympy.Expr) -> bool:
    """Whether `expr` has a value for all real numbers, so that nothing is lost at a zero.

    >>> x = sympy.Symbol("x", real=True)
    >>> defined_everywhere(x**2 + sympy.exp(x)), defined_everywhere((x**2 - 4) / (x - 2))
    (True, False)
    """
    if not expr.args or not expr.free_symbols:
        return True
    if expr.is_Pow:
        known = expr.exp.is_Integer and expr.exp > 0
    else:
        known = expr.is_Add or expr.is_Mul or isinstance(expr, _EVERYWHERE)
    return bool(known) and all(map(defined_everywhere, expr.args))


def polynomials(one: sympy.Expr, other: sympy.Expr) -> bool:
    """Whether both are polynomials in their symbols."""
    symbols = one.free_symbols | other.free_symbols
    return bool(one.is_polynomial(*symbols) and other.is_polynomial(*symbols))


def _twin(symbol: sympy.Symbol) -> sympy.Symbol:
    return sympy.Symbol(f"{symbol.name}__twin", **symbol._assumptions_orig)
