"""What the lines of a derivation must show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from autograder.algebra.deriving.lines.line import Line


@dataclass(frozen=True)
class Waypoint:
    """Something that a line of the derivation must show.

    Parameters
    ----------
    rubric : str
        A sentence for the student: what is asked.
    reached : callable
        Whether a line shows it, ``lambda line: line.contains("1/Z**2")`` say.
    """

    rubric: str
    reached: Callable[[Line], bool]
