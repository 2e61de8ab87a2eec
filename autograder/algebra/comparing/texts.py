"""The one comparison of answers: grading, ``verify``, tests and benches ask here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from autograder.algebra.building.library import CALLS
from autograder.algebra.building.parse import parse
from autograder.algebra.building.scope import plain_name
from autograder.algebra.comparing.equivalence import equal, too_late
from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deadlines.guard import within
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.grammar import plain_names
from autograder.algebra.reading.signs import is_greek

# Letters that are functions wherever a bracket follows and nobody has declared names.
_FUNCTIONS = frozenset({"f", "g", "h", "F", "G", "H", "P", "p", "q", "phi", "psi", "sigma"})


@within(too_late)
def equivalent(
    expected: object,
    given: object,
    *,
    variables: Iterable[str] | None = None,
    assumptions: Mapping[str, str] | None = None,
) -> Verdict:
    """Compare an answer with the expected one, as grading does.

    Parameters
    ----------
    expected, given : str or sympy expression or matrix
        Two formulas, as text or as `parse` and `parse_matrix` have read them.
    variables : iterable of str, optional
        The names that may occur, as every exercise declares them.  If omitted: any, and ``f(x)``
        is a function of which nothing is known.
    assumptions : mapping of str to str, optional
        What is known of the names, see `parse`.  Names are real numbers unless told otherwise;
        where they may be matrices, what depends on it is left to a person.

    Returns
    -------
    Verdict
        Two formulas are equal if they agree wherever both are defined.  No text raises, and none
        takes longer than twice `guard.SECONDS` of processor time.

    Examples
    --------
    >>> equivalent("p1*(1 - p1)", "p1 - p1^2")
    Verdict(equal=True, how='proved', values=None)
    >>> equivalent("-p1*p2", "p1*p2").equal
    False
    >>> equivalent("Q K^T", "K Q^T").how
    'undecided: nobody has said whether K and Q are numbers or matrices'
    >>> equivalent("Q K^T", "K Q^T", assumptions={"*": "matrix"}).equal
    False
    """
    names = None if variables is None else tuple(variables)
    known = dict(assumptions or {})
    try:
        right = _as_read(expected, names, known)
        if names is None and (factors := _factors(right, given)):
            right = _as_read(expected, names, known, factors)
    except ParseError as error:
        return Verdict(None, f"parse error: the expected formula: {error}")
    try:
        symbols = frozenset(symbol.name for symbol in right.free_symbols if symbol.is_Symbol)
        answer = _as_read(given, names, known, symbols)
    except ParseError as error:
        return Verdict(False, f"parse error: {error}")
    return equal(right, answer, assumptions=assumptions)


def _as_read(
    formula: object,
    names: tuple[str, ...] | None,
    assumptions: Mapping[str, str],
    symbols: frozenset[str] = frozenset(),
) -> Any:
    if isinstance(formula, sympy.Expr | sympy.MatrixBase):
        return formula
    if not isinstance(formula, str):
        raise ParseError(f"expected a formula as text, not {type(formula).__name__}")
    return parse(
        formula,
        names,
        implicit=True,
        assumptions=assumptions,
        open_functions=names is None,
        symbols=symbols if names is None else (),
    )


def _factors(expected: Any, given: object) -> frozenset[str]:
    """Return the names that looked like functions, ``a(b + c)``, but are factors in `given`."""
    names = {function.func.__name__ for function in expected.atoms(AppliedUndef)}
    called = {plain_name(n) for n in names if is_greek(n) or len(n.partition("_")[0]) == 1}
    if not called or not isinstance(given, str):
        return frozenset()
    return plain_names(given, implicit=True, functions=CALLS).intersection(called) - _FUNCTIONS
