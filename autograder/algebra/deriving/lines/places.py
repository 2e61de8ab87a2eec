"""What the free indices of a line can be: each place, or which of them coincide."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import sympy
from sympy.core.function import AppliedUndef

from autograder.algebra.deriving.lines.indexed import LineNames
from autograder.algebra.deriving.lines.indexed_binding import BINDERS


def free_indices(expr: sympy.Expr, names: LineNames) -> set[sympy.Symbol]:
    """Return the indices that are not bound by a sum."""
    if isinstance(expr, BINDERS):
        inner = free_indices(expr.args[0], names) - {expr.args[1]}
        return inner.union(*(free_indices(a, names) for a in expr.args[2:]))
    if expr.is_Symbol:
        return {expr} if expr.is_integer and expr.name in names.indices else set()
    return set().union(*(free_indices(a, names) for a in expr.args))


def are_numbers(indices: set[sympy.Symbol], expr: sympy.Expr) -> bool:
    """Whether something is computed with an index, as in i x_i or x_{i+1}.

    >>> i, j = sympy.symbols("i j")
    >>> x = sympy.Function("x")
    >>> are_numbers({i, j}, x(i) * sympy.KroneckerDelta(i, j)), are_numbers({i, j}, x(i) - i)
    (False, True)
    """
    if expr in indices:
        return True
    names_places = isinstance(expr, sympy.KroneckerDelta | AppliedUndef)
    computed = [a for a in expr.args if not (names_places and a.is_Symbol)]
    return any(are_numbers(indices, a) for a in computed)


def places(count: int, n: int, *, each: bool) -> Iterator[tuple[int, ...]]:
    """Yield what so many indices up to `n` can be: each place, or which of them coincide.

    >>> list(places(2, 3, each=False))
    [(1, 1), (1, 2)]
    """
    for values in itertools.product(range(1, (n if each else min(count, n)) + 1), repeat=count):
        # A new index is at a place where another one is, or at the next one.
        if each or all(v <= max(values[:at], default=0) + 1 for at, v in enumerate(values)):
            yield values
