"""How far honest code and the natural cheats are from the limits of checks of work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from autograder.exercise import Check
from autograder.grading.interview import Interview

_ROOM = 1.1  # between a limit and what is on either side


@dataclass(frozen=True)
class Distance:
    """What one check of work measures, of all that is right and of all that it refuses for it.

    Attributes
    ----------
    honest
        The largest value of the reference and its alternatives.
    limit
        The largest value that passes.
    cheat
        The least value that a misconception is refused for; None where none is.
    """

    check: str
    what: str
    honest: float
    limit: float
    cheat: float | None

    @property
    def narrow(self) -> bool:
        """Is the limit within a tenth of what honest code or a cheat does?"""
        near = [self.honest, *([] if self.cheat is None else [self.cheat])]
        return any(self.limit / _ROOM < value < self.limit * _ROOM for value in near)

    def __str__(self) -> str:
        refused = "nothing is refused for it" if self.cheat is None else f"cheats {self.cheat:.2f}"
        numbers = f"honest code {self.honest:.2f}, limit {self.limit:.2f}, {refused}"
        return f"`{self.check}` measures {self.what}: {numbers}"


class Distances:
    """Collects the readings of one function's checks."""

    def __init__(self) -> None:
        self._honest: dict[tuple[str, str], list[float]] = {}
        self._refused: dict[tuple[str, str], list[float]] = {}
        self._limits: dict[tuple[str, str], float] = {}

    def watch(self, *, right: bool) -> Callable[[Check, Interview], None]:
        """Return what `grade_checks` shows its interviews to."""

        def seen(check: Check, interview: Interview) -> None:
            for reading in interview.readings:
                key = check.name, reading.what
                self._limits[key] = reading.limit
                if right:
                    self._honest.setdefault(key, []).append(reading.value)
                elif reading.value > reading.limit:
                    self._refused.setdefault(key, []).append(reading.value)

        return seen

    def found(self) -> list[Distance]:
        """Return the distances, in the order in which they were met."""
        return [
            Distance(
                *key,
                max(honest),
                self._limits[key],
                min(self._refused.get(key, []), default=None),
            )
            for key, honest in self._honest.items()
        ]
