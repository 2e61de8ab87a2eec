"""Whether two formulas are equal: counterexamples by numbers, certificates by proof."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from autograder.algebra.building.functions import Norm
from autograder.algebra.building.scope import plain_name
from autograder.algebra.building.sizes import MAX_NODES, is_larger
from autograder.algebra.building.undeclared import as_numbers, undeclared
from autograder.algebra.comparing.cases import (
    by_sizes,
    coincidences,
    in_names,
    loosened,
    signs,
    together,
    unified,
    with_known_signs,
)
from autograder.algebra.comparing.floors import cells, residues
from autograder.algebra.comparing.ingredients import PIECES, Survey, is_complex, same_symbols
from autograder.algebra.comparing.matrices import Ambiguous, has_matrices, is_identity, pairs
from autograder.algebra.comparing.search import Search
from autograder.algebra.comparing.vectors import OPAQUE, vectors_in
from autograder.algebra.comparing.verdict import TOO_LARGE, TOO_LONG, Verdict
from autograder.algebra.deadlines.guard import within

MAX_MATRIX_NODES = 60  # of formulas in which names stand for matrices
EXTREME = 10**6  # numbers beyond it may hide what no point tried can show


def too_late() -> Verdict:
    """Return the verdict on what takes too long."""
    return Verdict(None, TOO_LONG)


@within(too_late)
def equal(a: object, b: object, *, assumptions: Mapping[str, str] | None = None) -> Verdict:
    """Compare two expressions or two matrices, as `parse` and `parse_matrix` make them.

    Symbols count as the same if their names do, ``p_1`` and ``p1`` included; `assumptions`
    replaces what the symbols of both sides are assumed to be.

    Examples
    --------
    >>> from autograder.algebra import parse
    >>> equal(parse("tanh(x/2)"), parse("(e^x - 1)/(e^x + 1)"))
    Verdict(equal=True, how='proved', values=None)
    """
    if isinstance(a, sympy.MatrixBase) or isinstance(b, sympy.MatrixBase):
        return _equal_matrices(a, b, assumptions)
    if a == b and assumptions is None:
        return Verdict(True, "proved")
    if open_names := undeclared(a, b):
        return _equal_if_declared(a, b, open_names, assumptions)
    if unclear := _unclear_names(a, b):
        return Verdict(None, f"undecided: {unclear} is a number in one and a matrix in the other")
    a, b = same_symbols(a, b, assumptions)
    if a == b:
        return Verdict(True, "proved")
    return together(_in_case(*sides).where(*case) for case, sides in coincidences(a, b))


def _in_case(a: sympy.Expr, b: sympy.Expr) -> Verdict:
    """Compare two formulas where some indices are the same: one of them may have no value there."""
    if len({side.has(sympy.zoo, sympy.nan) for side in (a, b)}) == 2:
        return Verdict(False, "refuted: it divides by 0")
    return _equal(a, b)


@within(too_late)
def glance(a: object, b: object) -> Verdict:
    """Compare two expressions at a few points alone, where a proof comes from elsewhere.

    Only a refutation says something by itself.  Matrices are compared as by `equal`.
    """
    if isinstance(a, sympy.MatrixBase) or isinstance(b, sympy.MatrixBase):
        return _equal_matrices(a, b, None)
    if a == b:
        return Verdict(True, "proved")
    survey = Survey(a, b, MAX_NODES)
    if survey.too_large:
        return Verdict(None, TOO_LARGE)
    return Search(a, b, survey).glance()


def _equal_if_declared(
    a: sympy.Expr, b: sympy.Expr, names: set[sympy.Symbol], assumptions: Mapping[str, str] | None
) -> Verdict:
    """Compare formulas with names that may stand for numbers or for matrices."""
    if a == b or (not _unclear_names(a, b) and _equal(a, b).equal):
        return Verdict(True, "proved")
    verdict = equal(as_numbers(a), as_numbers(b), assumptions=assumptions)
    if not verdict.equal:
        return verdict
    found = sorted({symbol.name for symbol in names})
    what = "are numbers or matrices" if len(found) > 1 else "is a number or a matrix"
    return Verdict(None, f"undecided: nobody has said whether {' and '.join(found)} {what}")


def _equal(a: sympy.Expr, b: sympy.Expr) -> Verdict:
    survey = Survey(a, b, MAX_NODES)
    if survey.too_large:
        return Verdict(None, TOO_LARGE)
    if has_matrices(a) or has_matrices(b):
        return _equal_with_matrices(a, b)
    if a.has(Norm) or b.has(Norm):
        return _equal_with_norms(a, b, survey)
    return _equal_numbers(a, b, survey)


def _equal_numbers(a: sympy.Expr, b: sympy.Expr, survey: Survey) -> Verdict:
    verdict = Search(a, b, survey).verdict()
    if verdict.how != "numeric":
        return verdict
    in_pieces = (a - b).has(*PIECES) and not any(map(is_complex, survey.symbols))
    if survey.symbols and in_pieces:
        loose = loosened(a, b)
        if not any(side.has(*PIECES) for side in loose) and (same := _equal(*loose)).equal:
            return same
        if (same := unified(a, b)) != b:
            return _equal(a, same)
        sides = with_known_signs(a), with_known_signs(b)
        if sides != (a, b) and sides == tuple(map(with_known_signs, sides)):
            return _equal(*sides)
        if cases := list(signs(a, b)):
            return together(in_names(_equal(*sides), chosen) for chosen, sides in cases)
        if (sides := (by_sizes(a), by_sizes(b))) != (a, b):
            return _equal(*sides)
        if cases := list(residues(a, b)) or list(cells(a, b)):
            return together(_equal(*case) for case in cases)
        return Verdict(None, "undecided: equal at the points tried, but defined in pieces")
    if _extremes(a) != _extremes(b):
        return Verdict(None, "undecided: equal at the points tried, but with extreme numbers")
    return verdict


def _extremes(expr: sympy.Expr) -> set[sympy.Rational]:
    """Return the numbers so large or small that no point tried may have met what they do."""
    numbers = (abs(number) for number in expr.atoms(sympy.Rational) if number)
    return {n for n in numbers if n > EXTREME or n * EXTREME < 1}


def _equal_matrices(a: Any, b: Any, assumptions: Mapping[str, str] | None) -> Verdict:
    shapes = [getattr(x, "shape", "no matrix") for x in (a, b)]
    if shapes[0] != shapes[1]:
        return Verdict(False, f"shape {shapes[1]} instead of {shapes[0]}")
    entries = {
        (i + 1, j + 1): equal(a[i, j], b[i, j], assumptions=assumptions)
        for i in range(a.rows)
        for j in range(a.cols)
    }
    for outcome in (False, None):
        for place, verdict in entries.items():
            if verdict.equal is outcome:
                return Verdict(outcome, f"entry {place}: {verdict.how}", verdict.values)
    numeric = any(verdict.how == "numeric" for verdict in entries.values())
    return Verdict(True, "numeric" if numeric else "proved")


def _unclear_names(a: sympy.Expr, b: sympy.Expr) -> str:
    """Return a name that stands for a number in one place and for a matrix in another."""
    commute: dict[str, bool] = {}
    for symbol in a.free_symbols | b.free_symbols:
        if symbol.is_Symbol:
            name = plain_name(symbol.name)
            if commute.setdefault(name, symbol.is_commutative) != symbol.is_commutative:
                return str(symbol.name)
    return ""


def _equal_with_matrices(a: sympy.Expr, b: sympy.Expr) -> Verdict:
    """Compare formulas in which names stand for matrices: multiplied out, then by examples."""
    if is_larger(a, MAX_MATRIX_NODES) or is_larger(b, MAX_MATRIX_NODES):
        return Verdict(None, TOO_LARGE)
    if is_identity(a, b):
        return Verdict(True, "proved")
    try:
        for place, left, right in pairs(a, b):
            verdict = equal(left, right)
            if verdict.equal is False:
                return Verdict(False, f"refuted at {place}", verdict.values)
            if verdict.equal is None:
                return verdict
    except Ambiguous as error:
        return Verdict(None, f"undecided: the meaning of {error} is not clear")
    except (ValueError, ZeroDivisionError, sympy.ShapeError):
        return Verdict(None, "undecided: this could not be computed for matrices")
    return Verdict(True, "numeric")


def _equal_with_norms(a: sympy.Expr, b: sympy.Expr, survey: Survey) -> Verdict:
    """Compare formulas with norms of names of which nobody says what they are."""
    try:
        names = vectors_in(a, b)
    except Ambiguous as error:
        return Verdict(None, f"undecided: the meaning of {error} is not clear")
    if names:
        return _equal_with_matrices(a.xreplace(names), b.xreplace(names))
    verdict = _equal_numbers(a, b, survey)
    if verdict.equal and any(norm.has(*OPAQUE) for norm in _norms(a, b)):
        # What holds of the sizes of numbers need not hold of norms, of which nothing else is known.
        opaque = sympy.Function("norm", positive=True)
        a, b = (side.replace(Norm, opaque) for side in (a, b))
        if not _equal_numbers(a, b, Survey(a, b, MAX_NODES)).equal:
            return Verdict(None, "undecided: true of numbers, but perhaps not of norms")
    return verdict


def _norms(a: sympy.Expr, b: sympy.Expr) -> set[sympy.Expr]:
    norms: set[sympy.Expr] = a.atoms(Norm) | b.atoms(Norm)
    return norms
