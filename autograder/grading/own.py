"""The student's own functions, as parts that are computed with them call them."""

from __future__ import annotations

from typing import Any

from autograder.exercise.cache import Unfamiliar, Values
from autograder.exercise.part import Function
from autograder.grading.phases import Calls
from autograder.sandbox import StudentError
from autograder.sandbox.wire.requests import Call


class OwnFunction:
    """A function as the notebook has it before a cell.

    That is where it is graded itself: nobody gains by defining it anew behind that.  What it
    returns is remembered, and one that hangs does so once.
    """

    def __init__(self, calls: Calls, solution: Function, number: int) -> None:
        self._calls, self._name, self._number = calls, solution.__name__, number
        self._known: dict[Any, Any] = {}
        self._lost: StudentError | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
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
        self._calls.turn_back(self._number)
        try:
            return self._calls.ask(self._name, Call(args, kwargs)).value
        except StudentError as error:
            if error.kind in ("timeout", "missing"):
                self._lost = error
            raise
