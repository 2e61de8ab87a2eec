"""The graders of one machine of a cluster: what the scheduler's workers do for the one who asks."""

from __future__ import annotations

import hmac
import multiprocessing
import os
import pickle
import shutil
import sys
import tempfile
import threading
import zlib
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any, NoReturn

import distributed

from autograder.course.bundle import Bundle
from autograder.course.config import CourseError
from autograder.course.grade import Graded, Grader
from autograder.course.graders.pool import Pool
from autograder.course.graders.processes import Processes
from autograder.course.graders.recovery import recovering
from autograder.course.graders.tls import certificates
from autograder.course.job import Job
from autograder.course.packages import demand_packages
from autograder.sandbox import probe

#: The environment variable with the secret that graders and the one who asks share.
SECRET = "AUTOGRADER_CLUSTER_SECRET"


def proof(nonce: str) -> str:
    """Return what only somebody with the shared secret can say to ``nonce``."""
    return hmac.digest(os.environ.get(SECRET, "").encode(), nonce.encode(), "sha256").hex()


def packed(thing: Any) -> bytes:
    """Return a job or a grade as it travels."""
    return zlib.compress(pickle.dumps(thing), 1)


def unpacked(content: bytes) -> Any:
    """Return what was packed."""
    return pickle.loads(zlib.decompress(content))


class Station:
    """Warm graders for one course, on the worker's machine."""

    def __init__(self, bundle: Bundle, width: int, *, trust_students: bool) -> None:
        if multiprocessing.current_process().daemon:
            raise CourseError(
                "this Dask worker may not start processes: use `autograder worker`, or set "
                "distributed.worker.daemon to false"
            )
        # In the worker's own folder: Dask clears it away, even after a worker was killed.
        self._folder = Path(tempfile.mkdtemp(dir=distributed.get_worker().local_directory))
        self._width, self._trust = width, trust_students
        self._lock = threading.Lock()
        try:
            self._course = bundle.unpack(self._folder / "course")
            self._course.demand(probe(), trust_students=trust_students)
            demand_packages(self._course)  # else its own lack would be the students'
            self._graders = self._open(width).__enter__()
        except BaseException:
            shutil.rmtree(self._folder)  # who may not grade keeps nothing
            raise

    def close(self) -> None:
        """End its processes, and forget the course."""
        self._graders.__exit__(None, None, None)
        shutil.rmtree(self._folder, ignore_errors=True)

    def grade(self, job: Job) -> Graded:
        """Grade a submission; one that ends a grader is graded again, alone."""
        graders = self._graders
        try:
            return graders.submit(job).result()
        except BrokenExecutor:
            with self._lock:
                if self._graders is graders:
                    graders.__exit__(None, None, None)
                    self._graders = self._open(self._width).__enter__()
            return next(recovering(self._open, 1, iter([job]), self._lose))

    def _open(self, width: int) -> Processes:
        return Processes(self._course, Pool(width, trust_students=self._trust))

    def _lose(self, job: Job, reason: str) -> Graded:
        return Grader(self._course).lose(job, reason)


_stations: dict[str, Station] = {}
_opening = threading.Lock()


def stand(bundle: Bundle, width: int, trust_students: bool) -> str:
    """Make ready to grade a course; return why that can't be done, or nothing."""
    with _opening:
        try:
            if bundle.digest not in _stations:
                _stations[bundle.digest] = Station(bundle, width, trust_students=trust_students)
        except (CourseError, OSError) as error:
            return str(error)
        return ""


def grade(digest: str, job: bytes) -> bytes:
    """Grade one packed job; return the packed grade."""
    return packed(_stations[digest].grade(unpacked(job)))


def leave(digest: str) -> None:
    """Forget a course."""
    with _opening:
        if station := _stations.pop(digest, None):
            station.close()


def serve(scheduler: str, processes: int, tls: Path | None) -> NoReturn:
    """Become that many of a scheduler's workers, in place of this program.

    Raises
    ------
    CourseError
        If there is no secret, or the address and the certificates don't go together.
    """
    if not os.environ.get(SECRET):
        raise CourseError(f"{SECRET} is not set: without it no course is given to this worker")
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--no-dashboard"]
    command += ["--nworkers", str(processes), "--nthreads", "1"]
    options = {"ca": "--tls-ca-file", "cert": "--tls-cert", "key": "--tls-key"}
    for name, path in certificates(scheduler, tls).items():
        command += [options[name], path]
    print(f"isolation tier {probe().tier}, {processes} at a time, for {scheduler}", flush=True)
    # Graders are processes of a worker's own.
    os.execve(sys.executable, command, os.environ | {"DASK_DISTRIBUTED__WORKER__DAEMON": "False"})
