"""What functions were before a cell, in a process that is turned back to other cells in between."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from autograder.grading.phases import Calls, Functions
from autograder.grading.runs import Run
from autograder.sandbox import Reply, Zygote
from autograder.sandbox.wire.requests import OfCalls


class Turning(Functions, Protocol):
    """Functions that can be turned back to cells."""

    def turned(self, number: int) -> bool:
        """Turn back to what was before a cell, and say whether that can be in this process."""


class TurnedBack:
    """Functions as they were before one cell, for which nothing has to be run again.

    Parameters
    ----------
    shared
        They, and what was before other cells.
    otherwise
        Returns the same functions where these can't be turned back, or where something of ours is
        to be beside them, which the other cells' are not to find.
    """

    def __init__(self, shared: Turning, number: int, otherwise: Callable[[], Functions]) -> None:
        self._shared, self._number, self._otherwise = shared, number, otherwise
        self._own: Functions | None = None

    @property
    def _functions(self) -> Functions:
        if self._own is None and not self._shared.turned(self._number):
            self._own = self._otherwise()
        return self._own or self._shared

    @property
    def hurried(self) -> bool:
        """Has the notebook less time left than a call may take?"""
        return self._functions.hurried

    def ask(self, name: str, request: OfCalls, *, seconds: float | None = None) -> Reply:
        """Ask something of a function, or raise ``StudentError``."""
        return self._functions.ask(name, request, seconds=seconds)

    def once(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
        """Call something expensive, unless it is known what comes, or raise ``StudentError``."""
        return self._functions.once(name, args, kwargs)

    def beside(self, zygote: Zygote) -> Calls:
        """Return the same in processes of another zygote."""
        return self._functions.beside(zygote)

    def lacking(self, names: Collection[str]) -> list[str]:
        """Return which of these functions are not there, or were left as they were handed out."""
        return self._functions.lacking(names)

    def supply(self, sources: Mapping[str, str]) -> None:
        """Have calls find functions of ours: by name, their code."""
        if sources:
            self._own = self._own or self._otherwise()
            self._own.supply(sources)
