"""Who grades: a job goes in, a graded submission comes out, wherever that is done.

`processes` and `serial` grade on this machine, the first with a `pool` that several courses may
share; `cluster` grades on others, where each has a `station`. `scheduling` keeps graders busy,
`lost_graders` goes on when one is lost. What is up to date already, `classroom` leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:  # who starts graders has imported nothing yet
    from autograder.course.submissions.graded import Graded
    from autograder.course.submissions.job import Job


class EndsGraders(Exception):
    """A job has ended every grader that did it; its future raises this."""


class Graders(Protocol):
    """Graders of one course, as a context manager: they end with it.

    Whoever grades a job refuses where the machine isolates less than the course demands.
    """

    @property
    def room(self) -> int:
        """How many jobs they take at once: those that they do, and the next ones.

        That may change, as machines come and go.
        """

    @property
    def judging(self) -> str:
        """What was being judged when one was lost, ``exercise.item``; empty if nobody knows."""

    @property
    def notes(self) -> Sequence[str]:
        """What whoever asked should know of how it went, a sentence each."""

    def submit(self, job: Job) -> Future[Graded]:
        """Have a submission graded.

        Where its grader is lost, the future raises a ``BrokenExecutor``, and all others are lost
        with it; or `EndsGraders`, if this job is known to be the reason.
        """

    def finish(self) -> None:
        """Be told that no other job comes: what was held back for them is not, any more."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


#: Opens so many graders; it is called again, with fewer, where one was lost.
Open = Callable[[int], Graders]
