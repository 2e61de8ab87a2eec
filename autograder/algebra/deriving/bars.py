"""Sizes |x| of what lines come to."""

from __future__ import annotations

import sympy


def size(e: sympy.Expr) -> sympy.Expr:
    """Return |e|, for which sympy would look for the sign of sums with many names, at length."""
    if e.is_Mul:
        return sympy.Mul(*map(size, e.args))
    if not e.is_Add:
        return sympy.Abs(e)
    if all(map(_is_positive, e.args)):
        return e
    return sympy.Abs(-e if e.could_extract_minus_sign() else e, evaluate=False)


def _is_positive(e: sympy.Expr) -> bool:
    """Whether what stands there shows that this is positive."""
    if e.is_Add or e.is_Mul:
        return all(map(_is_positive, e.args))
    if e.is_Pow:
        return _is_positive(e.base) and bool(e.exp.is_real)
    return bool((e.is_Symbol or e.is_number) and e.is_positive)
