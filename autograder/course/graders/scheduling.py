"""Keep graders busy, and hold no more submissions in memory than they need for that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Future
from queue import SimpleQueue

from autograder.course.graders import EndsGraders, Graders
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.job import Job


class GraderLost(Exception):
    """A grader ended; one of the ``jobs`` that were being done has ended it."""

    def __init__(self, jobs: list[Job]) -> None:
        super().__init__(f"a grader was lost, with {len(jobs)} jobs")
        self.jobs = jobs


def scheduled(
    graders: Graders, jobs: Iterator[Job], lose: Callable[[Job], Graded]
) -> Iterator[Graded]:
    """Yield each submission as it is graded; ``lose`` withholds the scores of one that can't be.

    Raises
    ------
    GraderLost
        If a grader ended.
    """
    running: dict[Future[Graded], Job] = {}
    done: SimpleQueue[Future[Graded]] = SimpleQueue()
    sent: Job | None = None
    more = True
    try:
        while True:
            while more and len(running) < graders.room:
                if sent := next(jobs, None):
                    future = graders.submit(sent)
                    running[future] = sent
                    future.add_done_callback(done.put)
                else:
                    more = False
                    graders.finish()
            sent = None
            if not running:
                return
            future = done.get()
            try:
                graded = future.result()
            except EndsGraders:
                graded = lose(running[future])
            del running[future]
            yield graded
    except BrokenExecutor as error:
        raise GraderLost([*running.values(), *([sent] if sent else [])]) from error
