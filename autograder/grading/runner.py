"""Run a submission's cells in a locked-down process, whatever they do to it.

A hang or a crash costs the cell or the call that caused it: a fresh process runs the other
cells again and grading goes on from there. So it does where a cell has damaged Python itself, so
that what comes later would fail through no fault of its own.

A function that is called with hidden inputs could keep them; no cell, whose output students get to
see, runs where one has been called. So calls come after the last cell, in the state in which an
earlier one has left the notebook; or they have a process of their own, which runs the cells up to
there again.
"""

from __future__ import annotations

import contextlib
import math
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from autograder.grading.runs import Run, Runs, key_of, packed, unpacked
from autograder.sandbox import CellRun, Session, StudentError, Zygote

_Answer = TypeVar("_Answer")

#: With these a process is over.
_ENDS = ("timeout", "died", "protocol")

_DAMAGED = {
    "output_type": "stream",
    "name": "stderr",
    "text": "This cell changed Python itself, for example a built-in function. "
    "What comes after its exercise runs without it.\n",
}

_FULL = {
    "output_type": "stream",
    "name": "stderr",
    "text": "What this cell shows is left out: the notebook's cells show too much in all.\n",
}

_CELLS = 5000  # of code, in a notebook: none that a course hands out has a tenth of it
_LEAST = 0.1  # seconds in which a process can say how it is

#: So often a process with threads is asked whether it is healthy. One that takes requests away may
#: miss some of them.
_PINGS, _PAUSE = 40, 0.005


class _Cell(NamedTuple):
    """A cell that a fresh process runs again."""

    number: int
    source: str
    seconds: float


def _size(outputs: Any) -> int:
    """Return how many characters outputs hold."""
    if isinstance(outputs, list):
        return sum(map(_size, outputs))
    if isinstance(outputs, dict):
        return sum(map(_size, outputs.values()))
    return len(outputs) if isinstance(outputs, str) else 0


class _Replica:
    """A process that has run the history up to some cell, or will."""

    def __init__(self) -> None:
        self.session: Session | None = None
        self.last = 0


class Runner:
    """The life of one submission, over as many processes as it takes.

    Parameters
    ----------
    zygote
        Where fresh processes come from.
    numbers
        The student's numbers by exercise, for ``your_numbers``.
    seconds
        For all work on the submission: what its processes take, without the time in which they had
        no processor, and what the grader's own thread takes. When they are over, nothing more is
        run.
    runs
        Where expensive calls are kept from one grading to the next.

    Attributes
    ----------
    limits
        What a cell or call may use from now on; at first what the zygote grants.
    """

    def __init__(
        self,
        zygote: Zygote,
        numbers: dict[str, Any],
        *,
        seconds: float,
        runs: Runs | None = None,
    ) -> None:
        self._zygote, self._numbers = zygote, numbers
        self._seconds, self._runs = seconds, runs
        self._began, self._spent = time.thread_time(), 0.0  # by sessions that have ended
        self._cells_run, self._shown = 0, 0
        self.limits = zygote.limits
        self._history: list[_Cell] = []
        self._damaging: set[int] = set()  # cells in it after which Python was not as it was
        self._gone: dict[int, int] = {}  # those that have been settled, and from which cell on
        self._cells, self._calls = _Replica(), _Replica()
        self._kept: dict[int, Session] = {}  # after which cell one can turn back to that
        self._until = math.inf  # cells from here on are not there for calls
        self._called = False  # since the process for calls was last found healthy
        self.cpu_seconds, self.peak_mb = 0.0, 0.0

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *exception: object) -> None:
        self._end(self._cells)
        self._end(self._calls)

    def execute(self, source: str, number: int) -> CellRun:
        """Run a cell; one that kills its process is left out from then on."""
        seconds = self.limits.cell_seconds
        most = self._zygote.limits.notebook_bytes
        room = min(self.limits.output_bytes, max(0, most - self._shown))
        self._cells_run += 1
        try:
            if self._cells_run > _CELLS:
                raise StudentError("timeout", f"the notebook has more than {_CELLS} cells of code")
            run = self._asked(
                self._cells,
                lambda session: session.execute(
                    source, number=number, seconds=self._within(seconds), output_bytes=room
                ),
            )
        except StudentError as error:
            return CellRun(outputs=[], error=error)
        self._shown += _size(run.outputs)
        if self._shown > most:
            run = replace(run, outputs=[_FULL])
        if run.error is None or run.error.kind not in _ENDS:
            self._history.append(_Cell(number, source, seconds))
            self._cells.last = number
            if not run.healthy:
                self._damaging.add(number)
                return replace(run, outputs=[*run.outputs, _DAMAGED])
        return run

    def keep(self, number: int, names: Iterable[str]) -> None:
        """Keep the notebook as it is before cell ``number``, for calls of these functions.

        That saves running the cells again; `turn_back` does without where it can't be kept.
        """
        with contextlib.suppress(StudentError):
            self._within(_LEAST)
            session = self._ready(self._cells)
            if session.keep(str(number), names):
                self._kept[number] = session

    def kept(self, number: int) -> bool:
        """Say whether `turn_back` can do without running the cells before ``number`` again."""
        session = self._kept.get(number)
        return session is not None and session in (self._cells.session, self._calls.session)

    def turn_back(self, number: int) -> None:
        """Make calls from now on as if no cell from ``number`` on had been run.

        The last cell must have been run: calls may go to its process.
        """
        self._until = number
        if self._cells.session is not None:
            self._end(self._calls)
            self._cells, self._calls = _Replica(), self._cells
        if self.kept(number):
            with contextlib.suppress(StudentError):
                if self._kept[number].recall(str(number)):
                    return
        if self._calls.last >= number:
            self._end(self._calls)

    def read(self, name: str) -> Any:
        """Return a variable as plain data, or raise ``StudentError``."""
        seconds = self.limits.call_seconds
        return self._asked(
            self._cells, lambda session: session.read(name, seconds=self._within(seconds))
        )

    def read_all(self, names: Iterable[str]) -> dict[str, Any]:
        """Return what can be read at once: all of these variables that there are, or none."""
        wanted = list(names)
        seconds = self.limits.call_seconds
        try:
            return self._asked(
                self._cells,
                lambda session: session.read_all(wanted, seconds=self._within(seconds)),
            )
        except StudentError:  # `read` tells which one it is
            return {}

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a function with plain data, or raise ``StudentError``."""
        return self._calling(
            lambda session, seconds: session.call(name, *args, seconds=seconds, **kwargs)
        )

    def once(self, name: str, *args: Any, **kwargs: Any) -> Run:
        """Call something expensive, unless it is known what comes, or raise ``StudentError``.

        The process has run the cells, and answered no other call: so what comes depends on nothing
        else, and can't tell of hidden inputs.
        """
        runs = self._runs
        if runs is None:
            self.abandon()
            return Run(*self.timed(name, *args, **kwargs))
        cells = [cell.source for cell in self._past(self._until)]
        key = key_of(cells, name, args, kwargs, self._numbers, self._zygote.data)
        known = runs.find(key) if key else None
        if known is not None and (found := unpacked(known)):
            return found[1]
        self.abandon()
        with runs.telling(name):
            run = Run(*self.timed(name, *args, **kwargs))
        if key and (content := packed(name, run)) is not None:
            runs.keep(key, content)
        return run

    def metered(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Call a function and have its work counted, or raise ``StudentError``."""
        return self._calling(
            lambda session, seconds: session.metered(name, *args, seconds=seconds, **kwargs)
        )

    def outlined(self, name: str, *shapes: tuple[int, ...], dtype: str) -> dict[str, Any]:
        """Count the work of a call with tensors without numbers, or raise ``StudentError``."""
        return self._calling(
            lambda session, seconds: session.outlined(name, *shapes, dtype=dtype, seconds=seconds)
        )

    def timed(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, float | None]:
        """Call a function and read the processor time of that, or raise ``StudentError``."""
        return self._calling(
            lambda session, seconds: session.timed(name, *args, seconds=seconds, **kwargs)
        )

    def watched(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, float | None]:
        """Call a function and see how much memory that takes, or raise ``StudentError``."""
        return self._calling(
            lambda session, seconds: session.watched(name, *args, seconds=seconds, **kwargs)
        )

    def leaves_alone(self, name: str, *args: Any, **kwargs: Any) -> bool:
        """Call a function and see what becomes of its arguments, or raise ``StudentError``."""
        return self._calling(
            lambda session, seconds: session.leaves_alone(name, *args, seconds=seconds, **kwargs)
        )

    def use(self, do: str, subject: str, **request: Any) -> dict[str, Any]:
        """Make an object, or use one (`Session.use`), or raise ``StudentError``."""
        return self._calling(
            lambda session, seconds: session.use(do, subject, seconds=seconds, **request)
        )

    def bench(self, name: str, **options: Any) -> Any:
        """Take a step of timing a function on a device, or raise ``StudentError``."""
        most = self._zygote.limits.call_seconds
        return self._calling(
            lambda session, _: session.bench(name, seconds=self._within(most), **options)
        )

    def beside(self, zygote: Zygote) -> Runner:
        """Return a runner of the same cells in processes of another zygote."""
        other = Runner(zygote, self._numbers, seconds=self._seconds)
        other._history = self._past(self._until)
        return other

    @property
    def modified(self) -> bool:
        """Did the last call change one of its arguments in place?"""
        return self._calls.session is not None and self._calls.session.modified

    @property
    def warnings(self) -> tuple[str, ...]:
        """The kinds of warnings that the last call gave."""
        return self._calls.session.warnings if self._calls.session is not None else ()

    @property
    def hurried(self) -> bool:
        """Has the notebook less time left than a call may take?"""
        return self._left < self.limits.call_seconds

    def abandon(self) -> None:
        """Let calls have a new process: this one may know too much, or still be answering one."""
        self._end(self._calls)

    def forget(self) -> None:
        """Let no function that was handed over help another one of the submission's."""
        if self._calls.session is not None and self._calls.session.informed:
            self.abandon()

    def settle(self, number: int = 0) -> None:
        """Let nothing that an exercise has done to Python reach the next one, from a cell on."""
        calls = self._calls.session
        if self._called and calls and calls.alive:
            now = self._state(calls)
            if not (now.healthy and now.alone):
                self._end(self._calls)
        self._called = False
        if self._damaging:
            self._gone |= dict.fromkeys(self._damaging, number)
            self._damaging.clear()
            self._end(self._cells)
            self._end(self._calls)

    def _calling(self, request: Callable[[Session, float], _Answer]) -> _Answer:
        self._called = True
        seconds = self.limits.call_seconds
        return self._asked(self._calls, lambda session: request(session, self._within(seconds)))

    def _asked(self, replica: _Replica, request: Callable[[Session], _Answer]) -> _Answer:
        """Ask a process; ask again where it was spoiled by a cell that ran before.

        What ends the process is at fault itself, unless the process was no longer in order.
        """
        session = self._ready(replica)
        try:
            answer = request(session)
        except StudentError:
            if session.alive or not self._spoiled(replica, session):
                raise
        else:
            if session.alive or not self._spoiled(replica, session):
                return answer
        return request(self._ready(replica))

    def _spoiled(self, replica: _Replica, ended: Session) -> bool:
        """Replace a process that has ended, and say whether the new one has run fewer cells."""
        if replica is self._calls and ended in self._kept.values():
            return True  # it had run the cells from `_until` on as well
        before = len(self._history)
        try:
            self._ready(replica)
        except StudentError:  # the time of the whole notebook is over
            return False
        return len(self._history) < before

    def _ready(self, replica: _Replica) -> Session:
        """Return a session that has run the history; one that has ended is replaced."""
        careful = replica.session is not None and not replica.session.alive
        while True:
            if replica.session is None or not replica.session.alive:
                self._end(replica)
                replica.session = self._zygote.session(self._numbers)
            session = replica.session
            culprit, spoiled = None, False
            until = self._until if replica is self._calls else math.inf
            for cell in self._past(until, after=replica.last):
                seconds = self._within(cell.seconds)
                session.execute(cell.source, number=cell.number, seconds=seconds, output_bytes=0)
                replica.last = cell.number
                # It may hang only now, or have been what spoiled the process before this one.
                spoiled = session.alive and careful and not self._healthy(session)
                if spoiled or not session.alive:
                    culprit = cell
                    break
            if culprit is None:
                return session
            self._history.remove(culprit)
            self._damaging.discard(culprit.number)
            # The other process has run it as well; one that merely hung does it no harm.
            for each in (self._cells, self._calls) if spoiled else (replica,):
                self._end(each)

    def _past(self, until: float, *, after: float = -math.inf) -> list[_Cell]:
        """Return the cells that have been run for what comes at cell ``until``."""
        number = attrgetter("number")
        first = bisect_right(self._history, after, key=number)
        cells = self._history[first : bisect_left(self._history, until, key=number)]
        return [c for c in cells if until <= self._gone.get(c.number, math.inf)]

    def _healthy(self, session: Session) -> bool:
        now = self._state(session)
        for _ in range(_PINGS):
            if now.alone or not now.healthy:
                break
            time.sleep(_PAUSE)  # on a busy machine its threads may not have had a turn yet
            now = self._state(session)
        return now.healthy

    def _state(self, session: Session) -> CellRun:
        """Run an empty cell, and see how the process is; one that does not answer is not well."""
        seconds = max(_LEAST, min(self.limits.call_seconds, self._left))
        return session.execute("", seconds=seconds)

    @property
    def _left(self) -> float:
        """The seconds that are left for the whole submission."""
        sessions = [each.session for each in (self._cells, self._calls) if each.session]
        spent = self._spent + sum(session.spent for session in sessions)
        return self._seconds - spent - (time.thread_time() - self._began)

    def _within(self, seconds: float) -> float:
        """Return the seconds for a cell or a call: its limit, or what the notebook has left."""
        left = self._left
        if left <= 0:
            raise StudentError(
                "timeout", f"the whole notebook took longer than {self._seconds:g} s"
            )
        return min(left, seconds)

    def _end(self, replica: _Replica) -> None:
        if replica.session is not None:
            usage = replica.session.close()
            self._spent += replica.session.spent
            self.cpu_seconds += usage.cpu_seconds
            self.peak_mb = max(self.peak_mb, usage.max_rss_mb)
        replica.session, replica.last = None, 0
