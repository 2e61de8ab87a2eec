"""Derivatives and limits that are carried out once a formula is read."""

from __future__ import annotations

import sympy

from autograder.algebra.building.construction import UNDEFINED
from autograder.algebra.building.functions import Diff, Limit
from autograder.algebra.building.running_index import as_index
from autograder.algebra.building.sizes import is_in_range, is_larger
from autograder.algebra.reading.errors import ParseError

MAX_DIFFERENTIATED = 1000  # nodes
MAX_UNDER_A_LIMIT = 60


def carried_out(expr: sympy.Expr, text: str = "") -> sympy.Expr:
    """Carry out derivatives and limits, the innermost first.

    Where that can't be done, all of them stay as they are written: what has no value is judged by
    whoever compares, and a notebook, which reads it as well, can't know.

    Raises
    ------
    ParseError
        For a derivative with respect to something that is no variable.
    """
    try:
        return _worked_out(expr, text)
    except _OutOfReachError:
        return expr


class _OutOfReachError(Exception):
    """It can't be found out what a derivative or a limit comes to."""


def _worked_out(expr: sympy.Expr, text: str) -> sympy.Expr:
    if not expr.has(Diff, Limit):
        return expr
    args = [_worked_out(argument, text) for argument in expr.args]
    if isinstance(expr, Limit):
        return _checked(_limit(*args))
    if not isinstance(expr, Diff):
        return _checked(expr.func(*args))
    inner, variables = args[0], args[1:]
    if not all(variable.is_Symbol for variable in variables):
        raise ParseError("differentiate with respect to a variable: diff(f, x)", text)
    for variable in variables:
        if is_larger(inner, MAX_DIFFERENTIATED):
            raise _OutOfReachError
        inner = _derivative(inner, variable)
    return _checked(inner)


def _derivative(inner: sympy.Expr, variable: sympy.Symbol) -> sympy.Expr:
    """Differentiate; ``x_j`` is one of the ``x_i`` that a sum in `inner` runs over."""
    base, _, index = variable.name.partition("_")
    families = {entry for entry in inner.atoms(sympy.Indexed) if str(entry.base) == base}
    if not families:
        return sympy.diff(inner, variable)
    indices = [index] if index.isdigit() else list(index)
    if any(len(entry.indices) != len(indices) for entry in families):
        raise _OutOfReachError  # it is not clear which entry that is
    family = next(iter(families)).base
    entry = sympy.Indexed(family, *map(as_index, indices))
    return sympy.diff(inner.xreplace({variable: entry}), entry).xreplace({entry: variable})


def _limit(
    inner: sympy.Expr, variable: sympy.Symbol, at: sympy.Expr, side: sympy.Symbol
) -> sympy.Expr:
    """Find a limit, from above unless `side` is ``-``; what has no end is ended by `guard`."""
    if is_larger(inner, MAX_UNDER_A_LIMIT):
        raise _OutOfReachError
    try:
        found = sympy.limit(inner, variable, at, side.name)
    except Exception as error:  # sympy raises many kinds where it finds none
        raise _OutOfReachError from error
    if not found.is_finite or found.has(sympy.Limit, sympy.AccumBounds):
        raise _OutOfReachError
    return found


def _checked(expr: sympy.Expr) -> sympy.Expr:
    """Refuse what only a derivative made undefined or too large: ``log(diff(x, y))``."""
    if expr.has(*UNDEFINED) or (expr.is_number and not is_in_range(expr)):
        raise _OutOfReachError
    return expr
