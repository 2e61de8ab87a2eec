"""Limits: only ever found in the second process, since sympy may look for one for ever."""

from __future__ import annotations

import sympy


def limit(
    inner: sympy.Expr, variable: sympy.Symbol, at: sympy.Expr, side: sympy.Symbol
) -> sympy.Expr | None:
    """Find a limit, from above unless `side` is ``-``; None where there is no finite one."""
    found = sympy.limit(inner, variable, at, side.name)
    return found if found.is_finite and not found.has(sympy.Limit) else None
