"""Student text to sympy expressions, without `eval`, `sympify` or anything that calls them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import sympy

from autograder.algebra.build import FUNCTIONS, UNDEFINED, Builder, Scope, is_in_range
from autograder.algebra.errors import ParseError
from autograder.algebra.functions import Diff
from autograder.algebra.lexer import read_source

MAX_DIFFERENTIATED = 1000  # nodes
MAX_CELLS = 400


def parse(
    text: str,
    names: Iterable[str] | None = None,
    *,
    implicit: bool = False,
    assumptions: Mapping[str, str] | None = None,
) -> sympy.Expr:
    r"""Read a formula.

    Parameters
    ----------
    text : str
        Python or everyday notation, with some LaTeX: ``p1*(1 - p1)``, ``e^z_1 / Z``, ``2·τ²``,
        ``\frac{e^{z_1}}{Z}``.  ``diff(f, x)`` is the derivative.
    names : iterable of str, optional
        The names that may occur; any, if omitted.  ``p_1`` and ``p1`` are the same name.
    implicit : bool
        Whether ``2 n d`` is a product.
    assumptions : mapping of str to str, optional
        For a name, or ``"*"`` for all: words out of `ASSUMPTIONS`, ``"positive integer"`` say.
        Names are real numbers unless told otherwise.

    Returns
    -------
    sympy.Expr

    Raises
    ------
    ParseError
        For every text that is not a formula; no text causes another exception.

    Examples
    --------
    >>> parse("e^z1 / (e^z1 + 0.5)")
    exp(z1)/(exp(z1) + 1/2)
    >>> parse("p1*(1 - q1)", ["p1", "p2"])
    Traceback (most recent call last):
    ...
    autograder.algebra.errors.ParseError: unknown name q1; did you mean p1?
        p1*(1 - q1)
                ^
    """
    expr = read(text, names, implicit=implicit, assumptions=assumptions)
    return differentiate(expr, text)


def parse_matrix(
    rows: Sequence[Sequence[str | float]],
    names: Iterable[str] | None = None,
    *,
    assumptions: Mapping[str, str] | None = None,
) -> sympy.Matrix:
    """Read a matrix from a list of rows, each a list of formulas and numbers.

    Raises
    ------
    ParseError
        If the rows are no rows, differ in length, or a cell cannot be read.

    Examples
    --------
    >>> parse_matrix([["p1", 0], ["-p1*p2", 1.5]])
    Matrix([
    [    p1,   0],
    [-p1*p2, 3/2]])
    """
    if not (_is_list(rows) and len(rows) and all(_is_list(row) for row in rows)):
        raise ParseError("expected a matrix: a list of rows, each a list of formulas")
    widths = {len(row) for row in rows}
    if len(widths) != 1 or 0 in widths:
        raise ParseError("every row of a matrix must have the same number of entries")
    if len(rows) * len(rows[0]) > MAX_CELLS:
        raise ParseError(f"a matrix may have at most {MAX_CELLS} entries")
    names = None if names is None else tuple(names)

    def cell(i: int, j: int) -> sympy.Expr:
        entry: Any = rows[i][j]
        try:
            if isinstance(entry, Real) and not isinstance(entry, bool):
                entry = _number_text(entry)
            return parse(entry, names, assumptions=assumptions)
        except ParseError as error:
            reason = f"row {i + 1}, column {j + 1}: {error.reason}"
            raise ParseError(reason, error.text, error.position) from None

    return sympy.Matrix([[cell(i, j) for j in range(len(rows[0]))] for i in range(len(rows))])


def read_back(expr: sympy.Expr) -> str:
    r"""How a formula was read, as LaTeX, for the student to compare with what was meant.

    >>> read_back(parse("1/2*p_1"))
    '\\frac{p_{1}}{2}'
    """
    return str(sympy.latex(expr))


def read(
    text: object,
    names: Iterable[str] | None = None,
    *,
    implicit: bool = False,
    assumptions: Mapping[str, str] | None = None,
    functions: Mapping[str, Callable[[sympy.Expr], sympy.Expr]] | None = None,
) -> sympy.Expr:
    """As `parse`, but derivatives stay as written; `functions` are known besides the usual ones."""
    scope = Scope(names, assumptions or {})
    known = dict(FUNCTIONS) | {name: (1, 1, f) for name, f in (functions or {}).items()}
    source = read_source(text, implicit=implicit, functions=known)
    try:
        return Builder(source, scope, known).build(source.tree)
    except ParseError:
        raise
    except Exception as error:
        # sympy raises many kinds of exception when an expression makes no sense to it.
        raise ParseError("this cannot be read as a formula", source.text) from error


def differentiate(expr: sympy.Expr, text: str = "") -> sympy.Expr:
    """Carry out the derivatives in `expr`, the innermost first."""
    if not expr.has(Diff):
        return expr
    args = [differentiate(argument, text) for argument in expr.args]
    if not isinstance(expr, Diff):
        return _checked(expr.func(*args), text)
    inner, variables = args[0], args[1:]
    if not all(variable.is_Symbol for variable in variables):
        raise ParseError("differentiate with respect to a variable: diff(f, x)", text)
    for variable in variables:
        if is_larger(inner, MAX_DIFFERENTIATED):
            raise ParseError("this is too large to differentiate", text)
        inner = sympy.diff(inner, variable)
    return _checked(inner, text)


def _checked(expr: sympy.Expr, text: str) -> sympy.Expr:
    """Refuse what only a derivative made undefined or too large: ``log(diff(x, y))``."""
    if expr.has(*UNDEFINED):
        raise ParseError("this is not defined once the derivative is carried out", text)
    if expr.is_number and not is_in_range(expr):
        raise ParseError("this number is too large", text)
    return expr


def is_larger(expr: sympy.Basic, nodes: int) -> bool:
    """Whether `expr` has more than so many nodes, found without counting them all."""
    walk = itertools.islice(sympy.preorder_traversal(expr), nodes + 1)
    return sum(1 for _ in walk) > nodes


def _number_text(value: Real) -> str:
    try:
        if math.isfinite(value):
            return str(value)
    except (OverflowError, ValueError):  # more digits than a float or `str` allows
        pass
    raise ParseError("this number is out of range")


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)
