"""What a formula is, told without working anything out."""

from __future__ import annotations


def is_formula(value: object) -> bool:
    """Tell whether a value is a formula, or a matrix of them.

    Its type is asked: the value itself would go through all of its terms to say which symbols it
    has.

    >>> import sympy
    >>> is_formula(sympy.Symbol("x") ** 2), is_formula(sympy.eye(2)), is_formula("x^2")
    (True, True, False)
    """
    return hasattr(type(value), "free_symbols")
