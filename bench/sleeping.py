"""Begin a Dask worker whose graders sleep as long as a job took, and answer what came of it then.

`cluster.py` starts such workers, to see how many the scheduler and the one who asks keep busy: a
machine with two processors can hold hundreds of them.
"""

import os
import pickle
import random
import threading
import time
from dataclasses import replace
from pathlib import Path

from autograder.course.graders import station
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.job import Job

ANSWERS, TIMES = "BENCH_ANSWERS", "BENCH_TIMES"


class Sleeping:
    """In place of `station.Station`."""

    def __init__(self, *_: object, **__: object) -> None:
        self._answers = pickle.loads(Path(os.environ[ANSWERS]).read_bytes())
        self._rng = random.Random(0)
        self._times = Path(os.environ[TIMES]) / f"{os.getpid()}-{threading.get_ident()}"

    def close(self) -> None:
        """Have nothing to end."""

    def grade(self, job: Job) -> Graded:
        """Sleep, and write down from when to when."""
        seconds, graded = self._rng.choice(self._answers)
        began = time.time()
        time.sleep(seconds)
        with self._times.open("a") as file:
            file.write(f"{began} {time.time()}\n")
        return replace(graded, grade=replace(graded.grade, student=job.student), key=job.key)


def dask_setup(_worker: object) -> None:
    """Be called by Dask, before the worker has anything to do."""
    station.Station = Sleeping
