"""Values that depend on a condition, written with signs and absolute values.

sympy has Piecewise, which asks for the truth of every condition while it is built; comparing needs
a formula whose value is known at every point.
"""

from __future__ import annotations

import sympy

from autograder.algebra.building.sizes import is_larger

_MOST = 200  # nodes of a difference that a quotient is looked for in
_FLIPPED = {"<": ">", "<=": ">=", ">": ">", ">=": ">=", "=": "=", "!=": "!="}
_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "=": "!=", "!=": "="}
_AND_EQUAL = {"<": "<=", ">": ">=", "<=": "<=", ">=": ">="}

Condition = tuple[str, sympy.Expr, sympy.Expr]


def holds(sign: str, left: sympy.Expr, right: sympy.Expr) -> sympy.Expr:
    """Return 1 where ``left sign right`` holds and 0 elsewhere.

    >>> x = sympy.Symbol("x", real=True)
    >>> [holds(">=", x, sympy.Integer(0)).subs(x, at) for at in (-2, 0, 2)]
    [0, 1, 1]
    """
    difference = right - left if sign in ("<", "<=") else left - right
    s = difference if difference.is_number else sympy.sign(difference, evaluate=False)
    s = sympy.sign(s) if difference.is_number else s
    match _FLIPPED[sign]:
        case ">":
            return s * (s + 1) / 2
        case ">=":
            return 1 - s * (s - 1) / 2
        case "=":
            return 1 - s**2
    return s**2


def chosen(condition: Condition, first: sympy.Expr, second: sympy.Expr) -> sympy.Expr:
    """Return what is ``first`` where a condition holds and ``second`` elsewhere.

    >>> x = sympy.Symbol("x", real=True)
    >>> chosen((">", x, sympy.Integer(0)), x, sympy.Integer(0))
    x/2 + Abs(x)/2
    """
    sign, left, right = condition
    if sign not in ("=", "!="):
        above = right - left if sign in ("<", "<=") else left - right
        step = first - second
        if above.free_symbols and not is_larger(step, _MOST) and not is_larger(above, _MOST):
            slope = sympy.cancel(step / above)
            if sympy.fraction(slope)[1].is_number:  # both are the same where the condition turns
                return (first + second) / 2 + slope * sympy.Abs(above) / 2
    return second + (first - second) * holds(sign, left, right)


def completes(condition: Condition, other: Condition) -> bool:
    """Whether one of two conditions always holds: ``x > 0`` and ``x <= 0``."""
    sign, left, right = condition
    turned = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
    for mark, one, two in (other, (turned.get(other[0], other[0]), other[2], other[1])):
        if (one, two) == (left, right):
            opposite = _OPPOSITE[sign]
            return mark in (opposite, _AND_EQUAL.get(opposite))
    return False
