"""What a portfolio shows of a student's work: pictures and tables made of answers and runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.exercise.words.part import sentences


@dataclass(frozen=True)
class Table:
    """Rows of numbers and short texts under the names of their columns."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Curves:
    """Curves ``(x, y)`` by name, on axes with these labels; logarithmic ones if need be."""

    x: str
    y: str
    curves: Mapping[str, tuple[Any, Any]]
    log: bool = False


@dataclass(frozen=True)
class HeatMaps:
    """Matrices by name, all on one scale from 0, with labels for their columns and rows."""

    x: str
    y: str
    maps: Mapping[str, Any]


Shown = Table | Curves | HeatMaps


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A picture or a table; its docstring is the caption.

    What ``show`` needs, its arguments say: parts of the exercise, and functions of which the
    assignment's checks made an expensive call. It gets answers as arrays, and what the call gave.
    """

    show: Callable[..., Shown]

    @property
    def caption(self) -> str:
        """What is to be seen, in a sentence."""
        return sentences(self.show, "exhibit")

    @property
    def needs(self) -> list[str]:
        """Names of parts and functions."""
        return list(inspect.signature(self.show).parameters)
