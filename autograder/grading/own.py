"""The student's own functions, as what builds on them calls them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.exercise.cache import Unfamiliar, Values
from autograder.exercise.words.carried_source import all_carried, source_of_carried
from autograder.exercise.words.checked import Carried
from autograder.grading.phases import Calls
from autograder.grading.substance import Asked
from autograder.sandbox import Reply, StudentError
from autograder.sandbox.wire.requests import Call

_SEEN = 4


class OwnFunction:
    """A function of a notebook, as parts that are computed with it call it.

    What it returns is remembered, and one that hangs does so once.

    Attributes
    ----------
    asked
        Its first calls, each with what it returned.
    """

    def __init__(self, ask: Callable[[Call], Reply]) -> None:
        self._ask = ask
        self._known: dict[Any, Any] = {}
        self._lost: StudentError | None = None
        self.asked: list[Asked] = []

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call in the submission's process."""
        if self._lost:
            raise self._lost
        try:
            key = Values((args, kwargs)).key
        except Unfamiliar:
            return self._called(args, kwargs)
        if key not in self._known:
            self._known[key] = self._called(args, kwargs)
        return self._known[key]

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            value = self._ask(Call(args, kwargs)).value
        except StudentError as error:
            if error.kind in ("timeout", "missing", "left_over"):
                self._lost = error
            raise
        if len(self.asked) < _SEEN:
            self.asked.append((args, kwargs, value))
        return value


@dataclass(frozen=True)
class Places:
    """Before which cells the functions of exercises count.

    Attributes
    ----------
    checks
        The numbers of check cells by exercise.
    first
        Of exercises of earlier notebooks: the first cell that builds on them.
    """

    checks: Mapping[str, int] = field(default_factory=dict)
    first: Mapping[str, int] = field(default_factory=dict)

    def of(self, exercise: str, number: int) -> list[int]:
        """Return where its functions are looked for, by what has its check cell at ``number``."""
        if exercise in self.checks:
            return [self.checks[exercise]]
        return [*filter(None, [self.first.get(exercise)]), number]


class Earlier:
    """What an exercise builds on, as the notebook has it where that was graded itself.

    Nobody gains by defining it anew behind that.  What the notebook lacks there, the reference is
    taken for.

    Parameters
    ----------
    number
        That of the check cell of what builds on it.
    """

    def __init__(
        self, calls: Calls, carried: Iterable[Carried], places: Places, number: int
    ) -> None:
        self._calls, self._carried = calls, tuple(carried)
        self._places, self._number = places, number
        self._found: dict[str, Calls | None] = {}

    def functions(self) -> dict[str, OwnFunction]:
        """Return all of it by name."""
        return {one.name: OwnFunction(self._asking(one)) for one in self._carried}

    def __contains__(self, solution: object) -> bool:
        return any(one.solution is solution for one in self._carried)

    def calls_of(self, name: str) -> Calls | None:
        """Return calls of a function as it counts; None if the notebook lacks it."""
        if name not in self._found:
            [one] = (one for one in self._carried if one.name == name)
            self._found[name] = self._calls_of(one)
        return self._found[name]

    def _calls_of(self, one: Carried) -> Calls | None:
        for place in self._places.of(one.exercise, self._number):
            calls = self._calls.before(place)
            if not calls.lacking([one.name]):
                supplied(calls, one.below)
                return calls
        return None

    def _asking(self, one: Carried) -> Callable[[Call], Reply]:
        def ask(request: Call) -> Reply:
            calls = self.calls_of(one.name)
            if calls is None:
                raise StudentError("missing", f"`{one.name}` is not defined")
            return calls.ask(one.name, request)

        return ask


def supplied(calls: Calls, carried: Iterable[Carried]) -> list[str]:
    """Let calls find our own functions where the notebook lacks them, and return their names."""
    each = {one.name: one for one in all_carried(carried)}
    lacking = calls.lacking(each) if each else []
    calls.supply({name: source_of_carried([each[name]]) for name in lacking})
    return lacking
