"""Block matrices: ``[H1, H2]`` side by side, ``[[W1], [W2]]`` or ``[W1; W2]`` one below another."""

from __future__ import annotations

import sympy

Grid = list[list[sympy.Expr]]


class Misfit(ValueError):
    """Blocks that stand in other numbers of rows or columns than the operation needs."""


class Block(sympy.Function):  # type: ignore[misc]  # sympy is untyped
    """``Block(rows, columns, *entries)``, row by row."""

    is_commutative = False

    @property
    def grid(self) -> Grid:
        """The entries by rows."""
        rows, columns, *entries = self.args
        width = int(columns)
        return [entries[r * width : (r + 1) * width] for r in range(int(rows))]


def block(grid: Grid) -> sympy.Expr:
    """Return a block matrix; of one block, that block.

    >>> A, B = sympy.symbols("A B", commutative=False)
    >>> block([[A, B]]).grid, block([[A]])
    ([[A, B]], A)
    """
    if len({len(row) for row in grid}) != 1 or not grid[0]:
        raise Misfit("the rows have different numbers of blocks")
    if any(isinstance(entry, Block) for row in grid for entry in row):
        raise Misfit("a block matrix stands among the blocks")
    if len(grid) == len(grid[0]) == 1:
        return grid[0][0]
    return Block(len(grid), len(grid[0]), *(entry for row in grid for entry in row))
