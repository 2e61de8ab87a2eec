"""Where equations hold and inequalities change: roots and boundaries, by sympy's solvers."""

from __future__ import annotations

import contextlib
import functools
import itertools
import operator
from typing import Any

import sympy

from autograder.algebra.building import composites

MAX_DEGREE = 30
MAX_CASES = 32


def solved(zero: sympy.Expr, variable: sympy.Symbol) -> list[sympy.Expr]:
    """Return the real numbers at which `zero` vanishes, as far as they are found."""
    with contextlib.suppress(sympy.PolynomialError):
        polynomial = sympy.Poly(zero, variable)
        if polynomial.degree() > MAX_DEGREE:
            return []
        if all(coefficient.is_Rational for coefficient in polynomial.coeffs()):
            return list(dict.fromkeys(polynomial.real_roots()))
        return [root for root in sympy.roots(polynomial) if root.is_real]
    found = sympy.solve(zero, variable)
    return [root for root in found if isinstance(root, sympy.Expr) and root.is_real]


def boundaries(statement: Any, variable: sympy.Symbol) -> list[sympy.Expr]:
    """Return the numbers at which a statement in one variable may begin or cease to hold."""
    if isinstance(statement, sympy.core.relational.Relational):
        difference = statement.lhs - statement.rhs
        zeros = [difference, *sympy.fraction(sympy.together(difference))]
        for absolute in difference.atoms(sympy.Abs):
            zeros += [difference.xreplace({absolute: s * absolute.args[0]}) for s in (1, -1)]
            zeros.append(absolute.args[0])
        zeros = [zero for zero in zeros if zero.has(variable) and not zero.has(sympy.Abs)]
        return [root for zero in dict.fromkeys(zeros) for root in solved(zero, variable)]
    parts = statement.args if isinstance(statement, composites.Inert) else ()
    return [value for part in parts for value in boundaries(part, variable)]


def conditions(statement: Any) -> list[list[sympy.Expr]]:
    """Return, for each way in which `statement` can hold, what must be zero there."""
    if isinstance(statement, sympy.Eq):
        return [[statement.lhs - statement.rhs]]
    if isinstance(statement, composites.Disjunction):
        cases = [case for part in statement.args for case in conditions(part)]
    elif isinstance(statement, composites.Conjunction):
        ways = itertools.product(*(conditions(part) for part in statement.args))
        cases = [
            functools.reduce(operator.iadd, way, [])
            for way in itertools.islice(ways, MAX_CASES + 1)
        ]
    else:
        return [[]]
    if len(cases) > MAX_CASES:
        raise ValueError("too many cases")
    return cases
