"""Which names in a formula are vectors, where nobody says so: those in norms."""

from __future__ import annotations

from typing import Any

import sympy
from sympy.core.function import AppliedUndef

from autograder.algebra.building.functions import Norm, Vector
from autograder.algebra.comparing.matrices import Ambiguous

OPAQUE = (sympy.Indexed, AppliedUndef)  # of which nothing is known, not even in a norm


def vectors_in(*sides: sympy.Expr) -> dict[sympy.Symbol, Vector]:
    """Return a vector for each name that stands in a norm and nowhere only a number can stand.

    Raises `Ambiguous` where a product holds so many of them that its meaning is not clear, since
    the order in which it was written is not known.

    >>> x, y = sympy.symbols("x y", real=True)
    >>> list(vectors_in(Norm(x) * abs(y) - Norm(x * y)))
    [x]
    """
    whole = sympy.Tuple(*sides)
    norms = (norm for norm in whole.atoms(Norm) if not norm.has(*OPAQUE))
    inside = {s for norm in norms for s in norm.free_symbols if s.is_commutative}
    names = inside - _numbers(whole)
    for side in sides:
        _degree(side, names)
    return {name: Vector(name.name, commutative=False) for name in names}


def _numbers(whole: sympy.Basic) -> set[sympy.Symbol]:
    """Return the names that stand where only a number can: in powers, roots, |…|, below a line."""
    found: set[sympy.Symbol] = set()
    for node in sympy.preorder_traversal(whole):
        if node.is_Pow:
            found |= node.exp.free_symbols
            if node.base.is_Symbol and node.exp != 2:
                found.add(node.base)
        elif isinstance(node, sympy.Function) and not isinstance(node, Norm):
            found |= {argument for argument in node.args if argument.is_Symbol}
        elif node.is_Symbol and (node.is_integer or node.is_nonnegative or node.is_negative):
            found.add(node)
    return found


def _degree(expr: Any, names: set[sympy.Symbol]) -> int:
    """Return how many vectors are multiplied in `expr`; 0 for a number, 1 for a vector."""
    if expr.is_Symbol:
        return int(expr in names)
    degrees = [_degree(argument, names) for argument in expr.args]
    if isinstance(expr, Norm):
        if degrees[0] != 1 and not expr.has(*OPAQUE):
            raise Ambiguous("the norm of a product")
        return 0
    if expr.is_Add:
        kinds = {degree % 2 for degree in degrees}
        if len(kinds) > 1:
            raise Ambiguous("a sum of a number and a vector")
        return kinds.pop()
    if expr.is_Mul:
        total = sum(degrees)
        if total > 2:
            raise Ambiguous("a product of vectors")
        return total % 2
    if expr.is_Pow and degrees[0]:
        if expr.exp != 2:
            raise Ambiguous("a power of a vector")
        return 2  # so that x²·y² is not taken for (x·y)²
    return 0
