"""Names declared as matrices, compared through matrices of which every entry has a name."""

from __future__ import annotations

import functools
import operator
from typing import Any

import sympy

from autograder.algebra.building.functions import Norm, Transpose

SIZE = 2  # large enough for products not to commute


def entries(expr: sympy.Expr) -> Any:
    """Return `expr` with each matrix replaced by one of named entries.

    The result is a matrix, or an expression where `expr` is a number (a norm, say).

    >>> A, B = sympy.symbols("A B", commutative=False)
    >>> entries(A * B - B * A) == sympy.zeros(2)
    False
    >>> entries(Transpose(A))
    Matrix([
    [A_11, A_21],
    [A_12, A_22]])
    """
    if expr.is_Symbol:
        return expr if expr.is_commutative else _named(expr.name)
    if not expr.args:
        return expr
    args = [entries(argument) for argument in expr.args]
    if not any(isinstance(argument, sympy.MatrixBase) for argument in args):
        return expr.func(*args)
    if expr.is_Add:
        return functools.reduce(operator.add, map(_square, args))
    if expr.is_Mul:
        return functools.reduce(operator.mul, args)
    if expr.is_Pow and isinstance(args[1], sympy.Integer):
        return args[0] ** args[1]
    if isinstance(expr, Transpose):
        return args[0].T
    if isinstance(expr, Norm):
        return sympy.sqrt(sympy.Add(*[cell**2 for cell in args[0]]))
    return _applied(expr, args)


def _named(name: str) -> sympy.ImmutableMatrix:
    def cell(i: int, j: int) -> sympy.Symbol:
        return sympy.Symbol(f"{name}_{i + 1}{j + 1}", real=True)

    return sympy.ImmutableMatrix(SIZE, SIZE, cell)


def _square(value: Any) -> Any:
    """Return a number as that multiple of the identity."""
    if isinstance(value, sympy.MatrixBase):
        return value
    return value * sympy.ImmutableMatrix.eye(SIZE)


def _applied(expr: sympy.Expr, args: list[Any]) -> sympy.ImmutableMatrix:
    """Return what an unknown function makes of matrices: any entry may depend on all of theirs."""
    flat = [cell for value in args for cell in (value if hasattr(value, "shape") else [value])]
    name = expr.func.__name__

    def cell(i: int, j: int) -> sympy.Expr:
        return sympy.Function(f"{name}_{i + 1}{j + 1}")(*flat)

    return sympy.ImmutableMatrix(SIZE, SIZE, cell)
