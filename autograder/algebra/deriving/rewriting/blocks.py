"""What is done with block matrices: sums, products and transposes, block by block."""

from __future__ import annotations

import functools

import sympy

from autograder.algebra.building.block import Block, Grid, Misfit, block
from autograder.algebra.deriving.lines.inert import Transposed
from autograder.algebra.deriving.lines.world import World


def multiplied(e: sympy.Expr, world: World) -> sympy.Expr:  # noqa: ARG001
    """Multiply block matrices, each row with each column; what doesn't fit stays as it is."""
    if not (e.is_Mul and e.has(Block)):
        return e
    try:
        return block(_product(e))
    except Misfit:
        return e


def worked_out(e: sympy.Expr) -> sympy.Expr:
    """Carry out all that is done with block matrices, so that one is left, or none.

    Raises
    ------
    Misfit
        If that is not defined.

    >>> A, B, C, D = sympy.symbols("A B C D", commutative=False)
    >>> worked_out(2 * block([[A, B]]) * block([[C], [D]]))
    2*(A*C + B*D)
    """
    return block(_grid(e)) if e.has(Block) else e


def _grid(e: sympy.Expr) -> Grid:
    """Return the blocks of an expression; what is no block matrix is one block."""
    if not e.has(Block):
        return [[e]]
    if isinstance(e, Block):
        return [[worked_out(entry) for entry in row] for row in e.grid]
    if e.is_Add:
        grids = [_grid(term) for term in e.args]
        if len({(len(grid), len(grid[0])) for grid in grids}) != 1:
            raise Misfit("terms of a sum have other blocks")
        return [
            [sympy.Add(*entries) for entries in zip(*rows, strict=True)]
            for rows in zip(*grids, strict=True)
        ]
    if e.is_Mul:
        return _product(e)
    if e.is_Pow and e.exp.is_Integer and e.exp > 0:
        return functools.reduce(_times, [_grid(e.base)] * int(e.exp))
    if isinstance(e, Transposed):
        return [
            [Transposed(entry) for entry in column]
            for column in zip(*_grid(e.args[0]), strict=True)
        ]
    raise Misfit("this is not defined for block matrices")


def _product(e: sympy.Expr) -> Grid:
    numbers, factors = e.args_cnc()
    found = functools.reduce(_times, map(_grid, factors))
    return [[sympy.Mul(*numbers, entry) for entry in row] for row in found]


def _times(a: Grid, b: Grid) -> Grid:
    if len(a[0]) != len(b):
        raise Misfit("so many columns of blocks do not meet so many rows")
    columns = list(zip(*b, strict=True))
    return [
        [sympy.Add(*(x * y for x, y in zip(row, column, strict=True))) for column in columns]
        for row in a
    ]
