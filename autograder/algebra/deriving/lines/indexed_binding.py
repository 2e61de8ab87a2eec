"""Bound indices of indexed lines: letters of a student's own, and one letter for two of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy

from autograder.algebra.deriving.lines.bars import rebuilt
from autograder.algebra.deriving.lines.inert import Largest, Total
from autograder.algebra.reading.tree import Node, letters_of, with_letter

BINDERS = (Total, Largest)


def with_own_letter(
    parts: tuple[Node, ...], letter: str, indices: Sequence[str]
) -> tuple[Node, ...]:
    """Return what is summed, and its index, with a declared letter that is free there."""
    used = set().union(*map(letters_of, parts))
    free = next((name for name in indices if name not in used), None)
    if free is None:
        return parts
    return (*(with_letter(part, letter, free) for part in parts[:2]), *parts[2:])


def apart(body: sympy.Expr, index: sympy.Symbol, indices: Sequence[str]) -> sympy.Expr:
    """Give what is bound inside by the same index another one: sum(p_k*max(v_k, k), k)."""
    for inner in body.atoms(*BINDERS):
        if inner.args[1] == index:
            taken = {symbol.name for symbol in body.free_symbols}
            free = [name for name in indices if name not in taken]
            if free:
                other = sympy.Symbol(free[0], integer=True, positive=True)
                term = inner.args[0].xreplace({index: other})
                body = body.xreplace({inner: inner.func(term, other, *inner.args[2:])})
    return body


def fresh(expr: sympy.Expr, numbers: Iterator[int]) -> sympy.Expr:
    """Give the bound indices of a definition names of their own, so that they can't catch others.

    Nobody writes these names, and no two sums of a line have one.  In another line they are the
    same: what sympy found out about them it need not find out again.
    """
    if isinstance(expr, BINDERS):
        body, k, *ends = expr.args
        new = sympy.Symbol(f"{k.name}'{next(numbers)}", integer=True, positive=True)
        inner = fresh(body, numbers).xreplace({k: new})
        return expr.func(inner, new, *(fresh(end, numbers) for end in ends))
    return rebuilt(expr, [fresh(part, numbers) for part in expr.args]) if expr.args else expr
