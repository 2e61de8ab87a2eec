"""Graders on other machines, reached through a Dask scheduler.

Which worker does which job is decided here, by the one who asks, and the scheduler carries it
there: what became of a job when its worker is lost is then known, and so is what loses workers.
"""

from __future__ import annotations

import contextlib
import logging
import secrets
import threading
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any, Self

from distributed import Client, fire_and_forget

from autograder.course.config import Course, CourseError
from autograder.course.graders.batches import Batch, Pace
from autograder.course.graders.greeting import GreetedWorker, greeted
from autograder.course.graders.messages import SECRET, known_secrets, packed_jobs, unpacked_grades
from autograder.course.graders.plain_reading import read_plainly
from autograder.course.graders.station import grade, leave
from autograder.course.graders.tasks import Tasks
from autograder.course.graders.tls import certificates, encrypted, security
from autograder.course.submissions.bundle import Bundle
from autograder.course.submissions.graded import Graded
from autograder.course.submissions.grading_options import DEFAULT, GradingOptions
from autograder.course.submissions.job import Job

_AHEAD = 2  # batches for each grader, one of them on its way
_IN_MEMORY = 2000  # jobs at most: of short ones two full batches for each of 64 graders
_LOOK = 0.5  # seconds from one look at the workers to the next
_CONNECT = 20.0  # seconds to reach the scheduler
_FIRST = 60.0  # seconds to wait for the first worker
_BUSY = 600.0  # seconds that those may take to answer which are there: others may use them
_SILENT = 30.0  # seconds without the scheduler, after which it is given up
_UNMANNED = 120.0  # seconds to wait for another worker, when there are jobs and none is left
_FORGET = 20.0  # seconds for the workers to end their processes
_CALLED_OFF = ("cancelled", "lost")  # what Dask says of a future that nobody works on
#: What Dask says of a lost connection, tracebacks included: who asks is told in a sentence.
_LOGS = ("distributed", "distributed.client", "tornado.application")


class Cluster:
    """The workers of a Dask scheduler as graders of one course.

    Parameters
    ----------
    scheduler
        ``tls://host:port``; with ``insecure`` also ``tcp://127.0.0.1:port``, which nobody encrypts.
    assignments
        Those that workers get; by default all.
    tls
        A folder with ca.pem, cert.pem and key.pem, for ``tls://``.
    """

    judging = ""

    def __init__(
        self,
        course: Course,
        scheduler: str,
        assignments: Sequence[str] = (),
        options: GradingOptions = DEFAULT,
        *,
        tls: Path | None = None,
        insecure: bool = False,
    ) -> None:
        known = known_secrets()
        if not known:
            raise CourseError(
                f"{SECRET} is not set: workers prove by it that they may have the course, so give "
                "them and yourself the same long random text in this environment variable"
            )
        self._secret = known[0]
        self._scheduler = encrypted(scheduler)
        self._security = security(certificates(self._scheduler, tls, insecure=insecure))
        self._trust = options.trust_students
        self._bundle = Bundle.of(course, assignments)
        self._workers: dict[str, GreetedWorker] = {}
        self._refused: dict[str, str] = {}
        self._tasks = Tasks()
        self._pace = Pace()
        self._more = True  # jobs will come
        self._lock = threading.RLock()
        self._closing = threading.Event()
        self._gone: list[str] = []  # addresses of workers that were lost
        self._ended = ""  # why nothing more is graded

    def __enter__(self) -> Self:
        read_plainly()
        for name in _LOGS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client = Client(
                self._scheduler, security=self._security, set_as_default=False, timeout=_CONNECT
            )
        except (OSError, TimeoutError, ValueError) as error:
            raise CourseError(f"no scheduler answers at {self._scheduler}: {error}") from error
        self._attendant = threading.Thread(target=self._attend, daemon=True)
        self._attendant.start()
        try:
            self._wait_for_one()
        except BaseException as error:  # raised again when it is tidied up
            self.__exit__(type(error))
            raise
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        self._closing.set()
        self._attendant.join()
        with contextlib.suppress(Exception):  # those that are gone have nothing to forget
            for worker in self._workers.values():
                for batch in list(worker.running):
                    batch.there.cancel()
            forgotten = [
                self._client.submit(
                    leave, self._bundle.digest, worker.proof, workers=[worker.address], pure=False
                )
                for worker in self._fit()
            ]
            fire_and_forget(forgotten)
            if kind is None:
                for one in forgotten:
                    one.result(timeout=_FORGET)
        self._client.close()

    @property
    def room(self) -> int:
        """What those workers take that are ready now, and a batch more for each, to be cut up."""
        with self._lock:
            return min((_AHEAD + 1) * self._graders * self._pace.most, _IN_MEMORY)

    @property
    def _graders(self) -> int:
        return max(1, sum(worker.width for worker in self._workers.values()))

    @property
    def notes(self) -> list[str]:
        """Which workers were lost, and which ones could not be used."""
        with self._lock:
            lost, refused = ", ".join(self._gone), self._reasons
        said = {"lost, and others did again what they were doing": lost, "not used": refused}
        return [f"workers that were {what}: {which}" for what, which in said.items() if which]

    def submit(self, job: Job) -> Future[Graded]:
        """Have a submission graded by the worker that has least to do."""
        with self._lock:
            future = self._tasks.add(job)
            if self._ended:
                self._tasks.fail(CourseError(self._ended))
            self._hand_out()
        return future

    def finish(self) -> None:
        """Be told that no other job comes: batches need not be full any more."""
        with self._lock:
            self._more = False
            self._hand_out()

    def _fit(self) -> list[GreetedWorker]:
        return [worker for worker in self._workers.values() if worker.width]

    def _hand_out(self) -> None:
        """Give waiting jobs to workers that have room; a suspect gets a worker for itself."""
        waiting, suspects = self._tasks.waiting, self._tasks.suspects
        while suspects and (idle := [w for w in self._fit() if not w.running]):
            self._send(idle[0], [suspects.popleft()])
        while waiting:
            more = self._more and any(worker.running for worker in self._workers.values())
            size = self._pace.size(len(waiting), graders=self._graders, more=more)
            if not size or not (free := [w for w in self._fit() if self._room(w)]):
                return
            worker = min(free, key=lambda worker: len(worker.running) / worker.width)
            self._send(worker, [waiting.popleft() for _ in range(size)])

    def _send(self, worker: GreetedWorker, numbers: Sequence[int]) -> None:
        jobs = self._tasks.jobs(numbers)
        batch = Batch(numbers)
        worker.running.add(batch)
        batch.there = self._client.submit(
            grade,
            self._bundle.digest,
            worker.proof,
            packed_jobs(jobs, worker.seal),
            key=f"{jobs[0].assignment}-{secrets.token_hex(8)}",  # as the dashboard groups them
            workers=[worker.address],
            pure=False,
            retries=0,
        )
        batch.there.add_done_callback(lambda there: self._done(worker, batch, there))

    def _room(self, worker: GreetedWorker) -> bool:
        alone = any(self._tasks.suspected(batch.numbers[0]) for batch in worker.running)
        return not alone and len(worker.running) < _AHEAD * worker.width

    def _done(self, worker: GreetedWorker, batch: Batch, there: Any) -> None:
        """Fetch what came of a batch, in a thread of Dask's; it may be lost with its worker."""
        found: list[Graded | None] = []
        try:
            found = unpacked_grades(there.result(), worker.seal)
        except CancelledError:
            return  # its worker or the connection is lost: `_attend` gives it to another
        except Exception:  # a worker's own, or no grades of its: it may go well elsewhere
            pass
        if len(found) != len(batch.numbers):
            found = [None] * len(batch.numbers)
        results = []
        with self._lock:
            if batch not in worker.running:
                return
            worker.running.discard(batch)
            for number, graded in zip(batch.numbers, found, strict=True):
                if graded is None:
                    self._tasks.again(number)
                else:
                    results.append((self._tasks.done(number), graded))
                    if seconds := graded.grade.runtime.get("seconds"):
                        self._pace.took(seconds)
            self._hand_out()
        for future, graded in results:
            future.set_result(graded)

    def _attend(self) -> None:
        """Look who came and who went, until this is closed."""
        seen = manned = time.monotonic()
        while not self._closing.wait(_LOOK):
            try:
                known = self._client.scheduler_info()["workers"]
                seen = time.monotonic()
            except Exception as error:  # Dask's, of many kinds
                if time.monotonic() - seen > _SILENT or self._client.status == "closed":
                    self._give_up(f"the scheduler at {self._scheduler} is gone ({error})")
                    return
                continue
            with self._lock:
                for address in self._workers.keys() - known.keys():
                    self._lost(self._workers.pop(address))
                self._recover()
                new = known.keys() - self._workers.keys() - self._refused.keys()
                for address in new:
                    self._workers[address] = GreetedWorker(address)
                self._hand_out()
                if self._fit() or not self._tasks:
                    manned = time.monotonic()
            if time.monotonic() - manned > _UNMANNED:
                self._give_up(f"{self._scheduler} has had no worker for {_UNMANNED:.0f} s")
                return
            for address in new:
                width = int(known[address]["nthreads"])
                threading.Thread(target=self._greet, args=(address, width), daemon=True).start()

    def _greet(self, address: str, width: int) -> None:
        """Let a worker prove itself, give it the course, and have it prove its isolation."""
        try:
            proof, seal = greeted(
                lambda function, *args: self._ask(address, function, *args),
                address,
                self._bundle,
                (width, self._trust),
                self._secret,
            )
        except CancelledError:  # by a lost connection: it is greeted again
            with self._lock:
                self._workers.pop(address, None)
            return
        except Exception as error:  # the worker's own, whatever it is
            with self._lock:
                if self._workers.pop(address, None):
                    self._refused[address] = f"{error}" or type(error).__name__
            return
        with self._lock:
            if address in self._workers:
                worker = self._workers[address]
                worker.proof, worker.seal = proof, seal
                worker.width = width
                self._hand_out()

    def _ask(self, address: str, function: object, *args: object) -> Any:
        asked = self._client.submit(
            function, *args, workers=[address], pure=False, retries=0, priority=1
        )  # before another one's jobs, though not before what it is doing for him
        return asked.result(timeout=_BUSY)

    def _lost(self, worker: GreetedWorker) -> None:
        """Give a lost worker's jobs to others, one by one.

        More than it was doing were on their way to it, so the first time says little about a job.
        """
        self._gone.append(worker.address)
        lost, worker.running = worker.running, set()
        for batch in lost:
            batch.there.cancel()
            for number in batch.numbers:
                self._tasks.again(number)
        self._hand_out()

    def _recover(self) -> None:
        """Hand out again what got lost on the way, though no worker is lost.

        When the connection to the scheduler was lost for a moment, Dask calls off whatever was
        asked for, and what was on its way never arrives. That is no fault of a job's.
        """
        for worker in self._workers.values():
            for batch in list(worker.running):
                if batch.there.status in _CALLED_OFF:
                    worker.running.discard(batch)
                    self._tasks.back(batch.numbers)

    def _wait_for_one(self) -> None:
        began = time.monotonic()
        while not self._fit():
            if self._refused and not self._workers:
                raise CourseError(f"no worker of {self._scheduler} can grade: {self._reasons}")
            if time.monotonic() > began + (_BUSY if self._workers else _FIRST):
                raise CourseError(
                    f"{self._scheduler} has had no worker for {_FIRST:.0f} s: start some with "
                    f"`autograder worker {self._scheduler}`"
                    if not self._workers
                    else f"the workers of {self._scheduler} have been busy for {_BUSY:.0f} s, as "
                    "with another course: start others, or try later"
                )
            time.sleep(_LOOK / 5)

    @property
    def _reasons(self) -> str:
        return "; ".join(f"{at}: {why}" for at, why in sorted(self._refused.items()))

    def _give_up(self, reason: str) -> None:
        if self._refused:
            reason = f"{reason}; refused were {self._reasons}"
        with self._lock:
            self._ended = f"{reason}; what was graded is kept, and the next run goes on"
            self._tasks.fail(CourseError(self._ended))
            for worker in self._workers.values():
                worker.running.clear()
