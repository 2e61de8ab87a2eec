"""Calls that say how a function works, rather than what it returns: its work, time and memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.exercise import Inconclusive, Work
from autograder.exercise.checks.gpu_checks import Timing
from autograder.grading.answering import Expectation, apart
from autograder.grading.callee import Callee
from autograder.grading.proxies import held
from autograder.sandbox import StudentError
from autograder.sandbox.wire import requests


class Measuring:
    """What a check can measure.

    Attributes
    ----------
    callee
        What is called.
    metered
        Was the work of a call counted, or something expensive called?
    """

    callee: Callee
    metered: bool
    _asked: Callable[[], Expectation]

    def measured(self, key: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Work:
        """Call a method of a copy of an object, and count the work."""
        args, kwargs = held(args, kwargs)
        return self._work(
            requests.CountMethod(args, kwargs, key, name),
            requests.CallMethod(args, kwargs, key, name),
        )

    def work(self, *args: object, **kwargs: object) -> Work:
        """Call and count the work; a function of our own is metered here.

        Raises
        ------
        StudentError
            If the call fails without a meter as well.
        Inconclusive
            If it fails with the meter alone, or takes too long or too much memory.
        """
        return self._work(requests.CountWork(args, kwargs), requests.Call(args, kwargs))

    def _work(self, metered: requests.Request, plain: requests.Request) -> Work:
        self.metered = True
        try:
            answer = self.callee.ask(metered)
        except StudentError as error:
            if error.too_much:
                raise Inconclusive("counting the work took too long, or too much memory") from error
            self.callee.ask(apart(plain))
            raise Inconclusive(f"the work could not be counted ({error.kind})") from error
        return Work(self._asked().as_before(plain, answer.value), **answer.work)

    def outline(self, *shapes: tuple[int, ...], dtype: str = "float32") -> Work:
        """Count the work of a call with torch tensors of these shapes that hold no numbers.

        So it can be counted for n = 65,536 in moments and without memory; there is no value, so
        this says nothing about whether the result is right.

        Raises
        ------
        StudentError
            If the call fails.
        """
        self.metered = True
        return Work(None, **self.callee.ask(requests.Outline(shapes, dtype)).work)

    @property
    def clocked(self) -> bool:
        """Is this a submission, in a process whose time can be read?"""
        return self.callee.isolated

    def seconds(self, *args: object, **kwargs: object) -> tuple[Any, float | None]:
        """Call and return the processor time; None for a function of our own."""
        answer = self.callee.ask(requests.Time(args, kwargs))
        return answer.value, answer.reading

    def reference_seconds(self, *args: object, **kwargs: object) -> tuple[Any, float | None]:
        """Do the same with the reference; only a submission is compared with it."""
        return self.callee.reference_seconds(args, kwargs)

    def grown(self, *args: object, **kwargs: object) -> tuple[Any, float | None]:
        """Call and return by how many bytes the process grew; None for a function of our own.

        Raises
        ------
        Inconclusive
            If it takes too long, or too much memory.
        """
        try:
            answer = self.callee.ask(requests.Watch(args, kwargs))
        except StudentError as error:
            if self.callee.isolated and error.too_much:
                raise Inconclusive("the memory in use could not be seen") from error
            raise
        return answer.value, answer.reading

    def on_gpu(
        self, shape: tuple[int, ...], dtype: str, rows: object, *, sdpa: bool = False
    ) -> Timing | None:
        """Time calls on a GPU; of a submission alone."""
        return self.callee.on_gpu(shape, dtype, rows, sdpa=sdpa)
