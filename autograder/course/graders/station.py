"""The graders of one machine of a cluster: what the scheduler's workers do for the one who asks."""

from __future__ import annotations

import logging
import multiprocessing
import os
import shutil
import sys
import tempfile
import threading
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import NoReturn

import distributed

from autograder.course.config import CourseError
from autograder.course.graders.lost_graders import recovering
from autograder.course.graders.messages import (
    SECRET,
    Meeting,
    fresh,
    known_secrets,
    packed_grades,
    unpacked_jobs,
)
from autograder.course.graders.pool import Pool
from autograder.course.graders.processes import Processes
from autograder.course.graders.tls import certificates, encrypted
from autograder.course.submissions.bundle import Bundle
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.grading_options import GradingOptions
from autograder.course.submissions.job import Job
from autograder.course.submissions.packages import demand_packages
from autograder.sandbox import probe

_LOG = logging.getLogger(__name__)


class Station:
    """Warm graders for one course, on the worker's machine."""

    def __init__(self, bundle: Bundle, width: int, options: GradingOptions) -> None:
        if multiprocessing.current_process().daemon:
            raise CourseError(
                "this Dask worker may not start processes: use `autograder worker`, or set "
                "distributed.worker.daemon to false"
            )
        # In the worker's own folder: Dask clears it away, even after a worker was killed.
        self._folder = Path(tempfile.mkdtemp(dir=distributed.get_worker().local_directory))
        self._width, self._options = width, options
        self._lock = threading.Lock()
        try:
            self._course = bundle.unpack(self._folder / "course")
            self._course.demand(probe(), trust_students=options.trust_students)
            demand_packages(self._course)  # else its own lack would be the students'
            self._graders = self._open(width).__enter__()
        except BaseException:  # raised again when it is tidied up
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
        return Processes(self._course, Pool(width, self._options))

    def _lose(self, job: Job, reason: str) -> Graded:
        # Brings the algebra, half a second: who asks imports this module, too, and judges nothing.
        from autograder.course.submissions.grade import Grader

        return Grader(self._course).lose(job, reason)


_stations: dict[str, Station] = {}
_seals: dict[str, bytes] = {}  # by what the one who asks proved with
_numbers: set[str] = set()  # that were given out, and not used yet
_opening = threading.Lock()


def meet(asker: str) -> tuple[str, list[str]]:
    """Answer somebody's fresh number with one of this worker's, and a proof for each secret."""
    number = fresh()
    with _opening:
        _numbers.add(number)
    return number, [meeting.proof("worker") for meeting in _meetings(asker, number)]


def _meetings(asker: str, worker: str) -> list[Meeting]:
    address = distributed.get_worker().address
    return [Meeting(asker, worker, address, secret) for secret in known_secrets()]


def stand(
    digest: str,
    content: bytes,
    width: int,
    trust_students: bool,
    numbers: tuple[str, str],
    proof: str,
) -> str:
    """Make ready to grade a course; return why that can't be done, or nothing.

    A course is a program: it is unpacked for whoever proves to know the secret, now and here.
    """
    with _opening:
        proven = [m for m in _meetings(*numbers) if m.proven(proof, "asker", digest)]
        if numbers[1] not in _numbers or not proven:
            return f"whoever gives the course does not know the secret in {SECRET}"
        _numbers.discard(numbers[1])
        try:
            if digest not in _stations:
                bundle = Bundle(digest, content)
                options = GradingOptions(trust_students=trust_students)
                _stations[digest] = Station(bundle, width, options)
        except (CourseError, OSError) as error:
            return str(error)
        except Exception as error:  # it reads no errors of ours: a word of it
            return f"{type(error).__name__}: {error}"
        _seals[proof] = proven[0].seal(digest)
        return ""


def grade(digest: str, proof: str, jobs: bytes) -> bytes:
    """Grade packed jobs of who has proved himself so, one by one; return the packed grades.

    What comes to nothing costs none of the others its grade.
    """
    key = _seals[proof]
    station = _stations[digest]
    return packed_grades([_grade(station, job) for job in unpacked_jobs(jobs, key)], key)


def _grade(station: Station, job: Job) -> Graded | None:
    try:
        return station.grade(job)
    except Exception:  # this machine's own: it may go well elsewhere
        _LOG.exception("%s of %s could not be graded", job.assignment, job.student)
        return None


def leave(digest: str, proof: str) -> None:
    """Forget a course, for whoever has given it."""
    with _opening:
        if _seals.pop(proof, None) is None:
            return
        if station := _stations.pop(digest, None):
            station.close()


def serve(scheduler: str, processes: int, tls: Path | None, *, insecure: bool = False) -> NoReturn:
    """Become that many of a scheduler's workers, in place of this program.

    Raises
    ------
    CourseError
        If there is no secret, or the address and the certificates don't go together.
    """
    if not known_secrets():
        raise CourseError(f"{SECRET} is not set: without it no course is given to this worker")
    scheduler = encrypted(scheduler)
    files = certificates(scheduler, tls, insecure=insecure)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--no-dashboard"]
    command += ["--nworkers", str(processes), "--nthreads", "1"]
    given = {"ca": "--tls-ca-file", "cert": "--tls-cert", "key": "--tls-key"}
    for name, path in files.items():
        command += [given[name], path]
    print(f"isolation tier {probe().tier}, {processes} at a time, for {scheduler}", flush=True)
    # Graders are processes of a worker's own, and its threads do nothing but wait for them: Dask
    # need not look a hundred times a second what they do.
    options = {"DAEMON": "False", "PROFILE__ENABLED": "False"}
    own = {f"DASK_DISTRIBUTED__WORKER__{name}": value for name, value in options.items()}
    os.execve(sys.executable, command, os.environ | own)
