"""Student text to sympy expressions, without `eval`, `sympify` or anything that calls them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import sympy

from autograder.algebra.building.builders import BUILDERS
from autograder.algebra.building.construction import Construction
from autograder.algebra.building.derivatives import carried_out
from autograder.algebra.building.expressions import STATEMENTS
from autograder.algebra.building.library import CALLS, CONSTANTS, COUNTS, FUNCTIONS
from autograder.algebra.building.scope import Scope, plain_name
from autograder.algebra.building.sizes import MAX_CELLS
from autograder.algebra.building.undeclared import left_open
from autograder.algebra.deadlines.guard import within
from autograder.algebra.reading.amounts import Vocabulary
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.finished import refuse_unfinished
from autograder.algebra.reading.grammar import read_tree
from autograder.algebra.reading.layout import without_label
from autograder.algebra.reading.tree import Node

_ALL_CALLS = frozenset(CALLS)


def _late() -> Any:
    raise ParseError("reading this formula takes too long")


@within(_late)
def parse(
    text: str,
    names: Iterable[str] | None = None,
    *,
    implicit: bool = False,
    assumptions: Mapping[str, str] | None = None,
    ranges: Mapping[str, str] | None = None,
    open_functions: bool = False,
    symbols: Iterable[str] = (),
    operators: Collection[str] | None = None,
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
    ranges : mapping of str to str, optional
        For an index, or ``"*"`` for every one, where it ends if a sum does not say so: with
        ``{"*": "n"}`` one may write ``\sum_j p_j`` and ``sum(p_j, j)``.
    open_functions : bool
        Whether a name that nobody declared makes a function when a bracket follows: ``f(x)``.
    symbols : iterable of str
        Names that then are no functions.
    operators : collection of str, optional
        Of a finished answer in `names`: those that may be left to be worked out, see
        `finished.OPERATORS`.  If omitted, any.

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
    autograder.algebra.reading.errors.ParseError: unknown name q1; did you mean p1?
        p1*(1 - q1)
                ^
    """
    expr, pending = _read(
        text,
        names,
        implicit,
        assumptions,
        None,
        ranges,
        open_functions,
        symbols,
        may_stay_open=True,
        operators=operators,
    )
    return carried_out(expr, text) if pending else expr


@within(_late)
def parse_matrix(
    rows: Sequence[Sequence[str | float]],
    names: Iterable[str] | None = None,
    *,
    implicit: bool = False,
    assumptions: Mapping[str, str] | None = None,
    operators: Collection[str] | None = None,
) -> sympy.Matrix:
    """Read a matrix from a list of rows, each a list of formulas and numbers, as `parse` does.

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
            return parse(
                entry, names, implicit=implicit, assumptions=assumptions, operators=operators
            )
        except ParseError as error:
            reason = f"row {i + 1}, column {j + 1}: {error.reason}"
            raise ParseError(reason, error.text, error.position) from None

    return sympy.Matrix([[cell(i, j) for j in range(len(rows[0]))] for i in range(len(rows))])


def operators_in(expr: sympy.Expr | sympy.MatrixBase) -> set[str]:
    """Return what is left to be worked out in a formula, out of `finished.OPERATORS`.

    >>> operators_in(parse("sum(k, k, 1, n)")), operators_in(parse("sum(k, k, 1, 3)"))
    ({'sum'}, set())
    """
    kinds = {"sum": sympy.Sum, "product": sympy.Product}
    return {operator for operator, kind in kinds.items() if expr.has(kind)}


@within(_late)
def read(
    text: object,
    names: Iterable[str] | None = None,
    *,
    implicit: bool = False,
    assumptions: Mapping[str, str] | None = None,
    functions: Mapping[str, Callable[[sympy.Expr], sympy.Expr]] | None = None,
    ranges: Mapping[str, str] | None = None,
) -> sympy.Expr:
    """As `parse`, but derivatives stay as written; `functions` are known besides the usual ones."""
    return _read(text, names, implicit, assumptions, functions, ranges)[0]


def _read(
    text: object,
    names: Iterable[str] | None,
    implicit: bool,
    assumptions: Mapping[str, str] | None,
    functions: Mapping[str, Callable[[sympy.Expr], sympy.Expr]] | None,
    ranges: Mapping[str, str] | None = None,
    open_functions: bool = False,
    symbols: Iterable[str] = (),
    *,
    may_stay_open: bool = False,
    operators: Collection[str] | None = None,
) -> tuple[Any, bool]:
    """Return what `text` says, and whether derivatives in it are to be carried out."""
    scope = Scope(names, assumptions or {}, ranges)
    known: Mapping[str, Any] = FUNCTIONS
    if functions or scope.functions or scope.has_delta:
        known = FUNCTIONS | ({"delta": FUNCTIONS["KroneckerDelta"]} if scope.has_delta else {})
        known |= {name: (1, 1, f) for name, f in (functions or {}).items()}
        known |= {name: (1, 10, sympy.Function(name)) for name in scope.functions}
    if scope.names is not None and isinstance(text, str):
        text = without_label(text, scope.words | scope.functions)
    tree = read_tree(
        text,
        implicit=implicit,
        functions=_ALL_CALLS if known is FUNCTIONS else _ALL_CALLS.union(known),
        words=scope.words.union(map(plain_name, symbols)),
        open_functions=open_functions,
    )
    if tree.kind in STATEMENTS:
        reason = f"expected one expression, not {STATEMENTS[tree.kind]}"
        raise ParseError(reason, str(text), tree.token.position)
    if operators is not None:
        own = dict.fromkeys(scope.functions, (1, 10)) | {"delta": (2, 2)}
        words = Vocabulary(scope.names or {}, CONSTANTS, {**own, **COUNTS})
        refuse_unfinished(tree, str(text), operators, words, scope.functions)
    make = _built_open if may_stay_open else _built
    return make(tree, str(text), scope, known)


def _built_open(tree: Node, text: str, scope: Scope, known: Mapping[str, Any]) -> tuple[Any, bool]:
    """Build a tree; what nobody declared stays open where it may stand for matrices."""
    names = None if scope.names is None else scope.names.values()
    if open_names := left_open(tree, names, scope.declared):
        with contextlib.suppress(ParseError):  # max(A, B), say: these are numbers
            return _built(tree, text, scope.left_open(open_names), known)
    return _built(tree, text, scope, known)


def _built(tree: Node, text: str, scope: Scope, known: Mapping[str, Any]) -> tuple[Any, bool]:
    try:
        site = Construction(text, scope, known, BUILDERS)
        return site.build(tree), site.pending
    except ParseError:
        raise
    except Exception as error:  # sympy's, of many kinds
        # sympy raises many kinds of exception when an expression makes no sense to it.
        raise ParseError("this cannot be read as a formula", text) from error


@within(_late)
def build(tree: Node, text: str, scope: Scope) -> sympy.Expr:
    """Return the expression that a tree, or a part of one, says; derivatives stay as written."""
    return _built(tree, text, scope, FUNCTIONS)[0]


def _number_text(value: Real) -> str:
    try:
        if math.isfinite(value):
            return str(value)
    except (OverflowError, ValueError):  # more digits than a float or `str` allows
        pass
    raise ParseError("this number is out of range")


def _is_list(value: object) -> bool:
    return isinstance(value, list | tuple)
