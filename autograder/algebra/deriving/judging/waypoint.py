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


@dataclass(frozen=True)
class Demands:
    """What is asked for on the way and at the end.

    Attributes
    ----------
    waypoints
        What some line on the way must show.
    shown
        What the last line must show besides its names.
    min_lines
        How many different lines are asked for, the given expression among them.
    waypoints_are_steps
        Whether each waypoint that is missing is a step that was not shown.
    """

    waypoints: tuple[Waypoint, ...] = ()
    shown: Waypoint | None = None
    min_lines: int = 3
    waypoints_are_steps: bool = False
