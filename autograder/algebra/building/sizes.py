"""How large is too large: asked before any arithmetic, so that ``9**9**9`` is never computed."""

from __future__ import annotations

import itertools
import math
from typing import Any

import sympy

from autograder.algebra.building.numeric import LARGEST, Evaluator, Undefined, shared_context

MAX_TREE_DEPTH = 40
MAX_WRITTEN_DIGITS = 60
MAX_DECIMAL_EXPONENT = 300
MAX_BITS = 2000  # of an exact number that a power may make
MAX_EXPONENT = 1000
MAX_SYMBOLIC_BITS = 40_000  # of the coefficients that a power of a formula may make
MAX_SYMBOLIC_EXPONENT = 10_000
MAX_TERMS = 400
MAX_CELLS = 400
MAX_NODES = 10_000
MAX_BUILT = 20_000  # nodes built, those of a sum counted once for every term


def is_in_range(number: sympy.Expr, largest: float = math.inf) -> bool:
    """Whether a constant can be computed and is at most so large."""
    try:
        return bool(abs(Evaluator(shared_context(15), {})(number)) <= largest)
    except (Undefined, ArithmeticError, ValueError, TypeError):
        return False


def is_larger(expr: sympy.Basic, nodes: int) -> bool:
    """Whether `expr` has more than so many nodes, found without counting them all."""
    walk = itertools.islice(sympy.preorder_traversal(expr), nodes + 1)
    return sum(1 for _ in walk) > nodes


def bits(expr: Any) -> int:
    """Return the length of the longest integer in `expr`."""
    numbers = expr.atoms(sympy.Rational)
    return max((max(abs(n.p).bit_length(), n.q.bit_length()) for n in numbers), default=1)


def power_problem(base: sympy.Expr, exponent: sympy.Expr) -> str | None:
    """Say why this power must not be computed; None if it may."""
    if base.is_Symbol and exponent.is_Integer and abs(exponent) <= MAX_EXPONENT:
        return None
    if exponent.is_Rational:
        size = max(1, math.ceil(abs(exponent)))
        symbolic = not base.is_number
        most = MAX_SYMBOLIC_EXPONENT if symbolic else MAX_EXPONENT
        most_bits = MAX_SYMBOLIC_BITS if symbolic else MAX_BITS
        factors = sympy.Mul.make_args(base)
        inner = max(map(_exponent, (base, *factors)))
        grows = (
            base
            if symbolic
            else sympy.Tuple(*(f for f in factors if not f.as_base_exp()[0].is_Function))
        )
        if size * inner > most or bits(grows) * size > most_bits:
            return "this power is too large"
        if base == 0 and exponent <= 0:
            return "division by zero" if exponent < 0 else "0**0 is not defined"
    elif base == 0:
        return "this power is not defined"
    elif base.is_number and exponent.is_number and not _is_power_in_range(base, exponent):
        return "this number is too large"
    return None


def _exponent(expr: sympy.Expr) -> int:
    """Return the exponent of a power, which would be multiplied by another one: (x^a)^b."""
    if expr.is_Pow and expr.exp.is_Rational and not expr.is_number:
        return int(sympy.ceiling(abs(expr.exp)))
    return 1


def _is_power_in_range(base: sympy.Expr, exponent: sympy.Expr) -> bool:
    return is_in_range(exponent * sympy.log(base, evaluate=False), LARGEST)
