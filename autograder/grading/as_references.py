"""Which functions of a submission answered as their references do, where they were graded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autograder.exercise import Check, CheckedFunction
from autograder.grading.interview import Interview
from autograder.grading.replay import answers_like_the_reference
from autograder.grading.results import Item, Status

Place = tuple[str, str]


class AsReferences:
    """The functions of a submission that can be told from their references by nothing.

    They passed every check, and whatever these asked was answered with the same values and types.
    What builds on such a function builds on the reference, so no answer has to be followed through
    it.  A function that draws by itself answers otherwise than its reference, however right it is.
    What was not graded in this submission is not among them.
    """

    def __init__(self) -> None:
        self._asked: dict[Place, list[Interview]] = {}
        self._passed: dict[Place, CheckedFunction] = {}
        self._known: dict[Place, bool] = {}

    def watching(self, function: CheckedFunction) -> Callable[[Check, Interview], None]:
        """Return what is shown the interviews of a function's checks."""
        asked = self._asked.setdefault((function.id, function.name), [])
        return lambda _, interview: asked.append(interview)

    def graded(self, function: CheckedFunction, items: Sequence[Item]) -> None:
        """Take note of what came of a function's checks."""
        if all(item.status is Status.PASSED for item in items):
            self._passed[function.id, function.name] = function

    def has(self, exercise: str, name: str) -> bool:
        """Tell whether an exercise's function of this name is one of them."""
        place = exercise, name
        if place in self._passed and place not in self._known:
            function, recorded = self._passed[place], [o for o in self._asked[place] if o.calls]
            alike = (answers_like_the_reference(function, each) for each in recorded)
            self._known[place] = bool(recorded) and all(alike)
        return self._known.get(place, False)
