"""The cells of a submission that were run, for a fresh process to run them again."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from operator import attrgetter
from typing import NamedTuple

from autograder.sandbox import outputs

DAMAGED = outputs.said(
    "This cell changed Python itself, for example a built-in function. "
    "What comes after its exercise runs without it.\n"
)
FULL = outputs.said(
    "What this cell shows is left out: the notebook's cells show too much in all.\n"
)


class Cell(NamedTuple):
    """A cell that a fresh process runs again."""

    number: int
    source: str
    seconds: float


class History:
    """Cells in the order of their numbers, without those that ended their process.

    Attributes
    ----------
    damaging
        Numbers of cells after which Python was not as it was, until they are settled.
    """

    def __init__(self, cells: list[Cell] | None = None) -> None:
        self._cells = cells or []
        self.damaging: set[int] = set()
        self._gone: dict[int, int] = {}  # those that have been settled, and from which cell on

    def __len__(self) -> int:
        return len(self._cells)

    @property
    def divided(self) -> bool:
        """Are there cells of the past that are not there for what comes later?"""
        return bool(self._gone)

    def add(self, cell: Cell) -> None:
        """Keep a cell that was run."""
        self._cells.append(cell)

    def remove(self, cell: Cell) -> None:
        """Forget a cell, for good."""
        self._cells.remove(cell)
        self.damaging.discard(cell.number)

    def settle(self, number: int) -> bool:
        """Leave damaging cells out for what comes from a cell on; tell whether there were any."""
        found = bool(self.damaging)
        self._gone |= dict.fromkeys(self.damaging, number)
        self.damaging.clear()
        return found

    def past(self, until: float, *, after: float = -math.inf) -> list[Cell]:
        """Return the cells that have been run for what comes at cell ``until``."""
        number = attrgetter("number")
        first = bisect_right(self._cells, after, key=number)
        cells = self._cells[first : bisect_left(self._cells, until, key=number)]
        return [cell for cell in cells if until <= self._gone.get(cell.number, math.inf)]
