"""Begin a Dask worker whose graders sleep as long as a job took, and answer what came of it then.

`cluster.py` starts such workers, to see how many the scheduler and the one who asks keep busy: a
machine with two processors can hold hundreds of them.
"""

import os
import pickle
import random
import threading
import time
from pathlib import Path

from autograder.course.graders import station
from autograder.course.submissions.job import Job

ANSWERS, TIMES = "BENCH_ANSWERS", "BENCH_TIMES"


class _Written:
    """What a worker sends of a graded submission: files, as they were written."""

    def __init__(self, record: bytes, content: bytes) -> None:
        self.record, self.content, self.runs = record, content, dict[str, bytes]()


class Sleeping:
    """In place of `station.Station`."""

    def __init__(self, *_: object, **__: object) -> None:
        answers = pickle.loads(Path(os.environ[ANSWERS]).read_bytes())
        self._answers = [(seconds, graded, graded.record) for seconds, graded in answers]
        self._rng = random.Random(0)
        times = Path(os.environ[TIMES]) / f"{os.getpid()}-{threading.get_ident()}"
        self._times = times.open("ab", buffering=0)

    def close(self) -> None:
        """End what is written down."""
        self._times.close()

    def grade(self, job: Job) -> _Written:
        """Sleep, and write down from when to when."""
        seconds, graded, record = self._rng.choice(self._answers)
        began = time.time()
        time.sleep(seconds)
        self._times.write(f"{began} {time.time()}\n".encode())
        # Graders write records aside, and a worker passes them on.
        for old, new in ((graded.grade.student, job.student), (graded.key, job.key)):
            record = record.replace(f'"{old}"'.encode(), f'"{new}"'.encode(), 1)
        return _Written(record, graded.content)


def dask_setup(_worker: object) -> None:
    """Be called by Dask, before the worker has anything to do."""
    station.Station = Sleeping
