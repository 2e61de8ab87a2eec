"""Jobs on their way to a grade: which wait, and which of them a worker was lost with."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from autograder.course.graders import EndsGraders
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.job import Job

_FAILURES = 2  # of one job: a worker was lost with it, the second time with it alone


@dataclass
class _Task:
    job: Job
    future: Future[Graded]
    failures: int = 0


class Tasks:
    """All that was asked for and has not come, by numbers in the order of asking.

    Attributes
    ----------
    waiting
        Those that nobody does.
    suspects
        Those that a worker was lost with: they get one for themselves.
    """

    def __init__(self) -> None:
        self._open: dict[int, _Task] = {}
        self._last = 0
        self.waiting: deque[int] = deque()
        self.suspects: deque[int] = deque()

    def __bool__(self) -> bool:
        return bool(self._open)

    def add(self, job: Job) -> Future[Graded]:
        """Let a job wait."""
        self._last += 1
        self._open[self._last] = task = _Task(job, Future())
        self.waiting.append(self._last)
        return task.future

    def jobs(self, numbers: Iterable[int]) -> list[Job]:
        """Return what is to be done."""
        return [self._open[number].job for number in numbers]

    def suspected(self, number: int) -> bool:
        """Say whether a worker was lost with it."""
        return self._open[number].failures > 0

    def done(self, number: int) -> Future[Graded]:
        """Forget one that has come, and return what waits for it."""
        return self._open.pop(number).future

    def back(self, numbers: Sequence[int]) -> None:
        """Let them wait again, through no fault of theirs."""
        for number in numbers:
            (self.suspects if self.suspected(number) else self.waiting).append(number)

    def again(self, number: int) -> None:
        """Have one done again, by a worker that does nothing beside it; but not for ever."""
        task = self._open[number]
        task.failures += 1
        if task.failures < _FAILURES:
            self.suspects.append(number)
        else:
            self.done(number).set_exception(EndsGraders())

    def fail(self, error: Exception) -> None:
        """Let nothing come of any of them."""
        for task in self._open.values():
            task.future.set_exception(error)
        for each in (self._open, self.waiting, self.suspects):
            each.clear()
