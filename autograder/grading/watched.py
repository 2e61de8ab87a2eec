"""A function that is looked at while it is called: does it leave to a library what is asked for?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.exercise.checks.gpu_checks import Timing
from autograder.exercise.words.part import Function
from autograder.grading.callee import Callee
from autograder.grading.results import Item, Status
from autograder.grading.runs import Run
from autograder.sandbox import Reply
from autograder.sandbox.wire.requests import (
    Call,
    CallMethod,
    Differentiate,
    Make,
    Request,
    WithArguments,
)

#: The note of a function that leaves to a library what is to be written.
LIBRARY = "library"
_CALLS = (Call, Make, CallMethod, Differentiate)


class Watched(Callee):
    """What is called, and what of a library it may not use.

    Parameters
    ----------
    callee
        A submission's function, or one of ours.
    without
        Words in the names of a library's operations, by what they are called in a sentence.
    """

    def __init__(self, callee: Callee, without: Mapping[str, tuple[str, ...]]) -> None:
        self._callee, self._without = callee, without
        self._words = tuple(word for words in without.values() for word in words)
        self._seen: set[str] = set()
        self._looked_at: set[tuple[type, str]] = set()
        self.isolated, self.has_gpu, self.kind = callee.isolated, callee.has_gpu, callee.kind

    def begin(self) -> None:
        """Be told that a check begins."""
        self._callee.begin()
        self._looked_at = set()

    def ask(self, request: Request) -> Reply:
        """Do what is asked, and note what was used; of each kind first it is looked at closely."""
        if self._words and isinstance(request, WithArguments):
            kind = type(request), getattr(request, "name", "")
            first = kind not in self._looked_at and isinstance(request, _CALLS)
            self._looked_at.add(kind)
            request = replace(request, without=self._words, closely=first)
        answer = self._callee.ask(request)
        self._seen.update(answer.layers)
        return answer

    def answers(self, calls: Sequence[Call]) -> Sequence[Reply]:
        """Ask in one message where nothing is looked for."""
        return () if self._words else self._callee.answers(calls)

    def used(self) -> str:
        """Return what was used since this was asked, as a sentence calls it."""
        seen, self._seen = self._seen, set()
        return " and ".join(name for name, words in self._without.items() if seen & {*words})

    def on_ours(self) -> Watched | None:
        """Return the same on top of our functions, if it is on top of a student's."""
        ours = self._callee.on_ours()
        return Watched(ours, self._without) if ours else None

    def once(self, args: object, kwargs: object) -> Run:
        """Call something expensive, unless it is known what comes."""
        return self._callee.once(args, kwargs)

    @property
    def hurried(self) -> bool:
        """Has the notebook less time left than a call may take?"""
        return self._callee.hurried

    @property
    def unwritten(self) -> bool:
        """Is it not there, or as it was handed out?"""
        return self._callee.unwritten

    def own(self, solution: Function) -> Callee | None:
        """Return an earlier function of the student's by its reference, if there is a student."""
        return self._callee.own(solution)

    def reference_seconds(self, args: object, kwargs: object) -> tuple[Any, float | None]:
        """Call the reference and read its time."""
        return self._callee.reference_seconds(args, kwargs)

    def on_gpu(
        self, shape: tuple[int, ...], dtype: str, rows: object, *, sdpa: bool
    ) -> Timing | None:
        """Time calls on the GPU."""
        return self._callee.on_gpu(shape, dtype, rows, sdpa=sdpa)


def barred(item: Item, used: str) -> Item:
    """Return what came of a check in which a library has done what is to be written: 0."""
    if item.status is Status.ERRORED:
        return item
    text = f"Your code uses {used}, and that is what is to be written here: compute it yourself."
    return replace(item, status=Status.FAILED, score=0.0, note=LIBRARY, feedback=text)


def borrowed(item: Item, used: str) -> Item:
    """Say that a library was used by an earlier function alone, which doesn't count here."""
    text = f"An earlier function of yours uses {used}: here a right version took its place."
    return replace(item, feedback=f"{item.feedback} {text}".strip())
