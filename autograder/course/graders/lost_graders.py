"""Go on when a grader is lost: the submission that ends graders is found, and costs only itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from dataclasses import replace

from autograder.course.graders import Open
from autograder.course.graders.scheduling import GraderLost, scheduled
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.job import Job

_ENDED = "The grader itself was ended while it graded this submission."


def recovering(
    open_graders: Open, width: int, jobs: Iterator[Job], lose: Callable[[Job, str], Graded]
) -> Iterator[Graded]:
    """Grade all jobs, whatever becomes of graders; ``lose`` withholds the scores of one."""
    while True:
        try:
            with open_graders(width) as graders:
                yield from scheduled(graders, jobs, lambda job: lose(job, _ENDED))
            return
        except GraderLost as lost:
            # One of them took its grader down: find out which, one at a time.
            for job in lost.jobs:
                yield _alone(open_graders, job, lose)


def _alone(open_graders: Open, job: Job, lose: Callable[[Job, str], Graded]) -> Graded:
    """Grade a submission by a grader of its own.

    An answer that ends the grader, because judging it has no end, is barred from the next one.
    If anything else ends it, the scores are withheld.
    """
    barred: set[str] = set()
    while True:
        with open_graders(1) as graders:
            try:
                return graders.submit(replace(job, barred=tuple(sorted(barred)))).result()
            except BrokenExecutor:
                item = graders.judging
        if not item or item in barred:
            return lose(job, _ENDED)
        barred.add(item)
