"""Sizes |x| in lines and in what lines come to, each of which has one form."""

from __future__ import annotations

from collections.abc import Sequence

import sympy


def rebuilt(e: sympy.Expr, args: Sequence[sympy.Expr]) -> sympy.Expr:
    """Return an expression with other arguments; nothing is worked out if they are its own."""
    if all(new is old for new, old in zip(args, e.args, strict=True)):
        return e
    return size(*args) if isinstance(e, sympy.Abs) else e.func(*args)


def size(e: sympy.Expr) -> sympy.Expr:
    """Return |e|, for which sympy would look for the sign of sums with many names, at length."""
    if e.is_Mul:
        return sympy.Mul(*map(size, e.args))
    if e.is_Pow and e.exp.is_Integer:
        return size(e.base) ** e.exp
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
