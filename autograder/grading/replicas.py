"""The processes of one submission: they run its cells again, and are replaced when they end."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from autograder.grading.along import Along
from autograder.grading.history import History
from autograder.grading.replica import Replica, healthy
from autograder.grading.time_left import TimeLeft
from autograder.sandbox import Session, StudentError, Zygote
from autograder.sandbox.replies import Moment, State
from autograder.sandbox.wire.requests import Keep, ReadAll

_Given = TypeVar("_Given")

#: Seconds in which a process can say how it is.
LEAST = 0.1


class Replicas:
    """A process for cells and one for calls, which have run the same cells up to some place.

    Parameters
    ----------
    zygote
        Where fresh processes come from.
    numbers
        The student's numbers by exercise, for ``your_numbers``.
    time
        What is left to the submission.

    Attributes
    ----------
    limits
        What a cell or call may use from now on; at first what the zygote grants.
    cpu_seconds, peak_mb
        What processes that have ended used.
    """

    def __init__(self, zygote: Zygote, numbers: dict[str, Any], time: TimeLeft) -> None:
        self._zygote, self._numbers, self._time = zygote, numbers, time
        self.limits = zygote.limits
        self._history = History()
        self._cells, self._calls = Replica(), Replica()
        self._kept: dict[float, Session] = {}  # after which cell one can turn back to that
        self._told: dict[float, tuple[set[str], Collection[str]]] = {}  # and lacked
        self._along = Along()
        self._doubtful: Session | None = None  # answered calls, and was not looked at since
        self._at: int | None = None  # to which of them calls were turned last, by `turned`
        self._reached = 0  # up to which cell what calls use was kept when cells were run again
        self._until = math.inf  # cells from here on are not there for calls
        self._supplied: Mapping[str, str] = {}  # what calls have besides the notebook
        self.cpu_seconds, self.peak_mb = 0.0, 0.0

    def _asked(self, replica: Replica, request: Callable[[Session], _Given]) -> _Given:
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

    def _spoiled(self, replica: Replica, ended: Session) -> bool:
        """Replace a process that has ended, and say whether the new one has run fewer cells."""
        if replica is self._calls and ended in self._kept.values() and replica.last >= self._until:
            return True  # it had run the cells from `_until` on as well
        before = len(self._history)
        try:
            self._ready(replica)
        except StudentError:  # the time of the whole notebook is over
            return False
        return len(self._history) < before

    def _ready(self, replica: Replica) -> Session:
        """Return a session that has run the history; one that has ended is replaced."""
        careful = replica.session is not None and not replica.session.alive
        while True:
            if replica.session is None or not replica.session.alive:
                self._end(replica)
                replica.session = self._zygote.session(self._numbers)
                self._time.begins(replica.session)
            session = replica.session
            culprit, spoiled = None, False
            until = self._until if replica is self._calls else math.inf
            for cell in self._history.past(until, after=replica.last):
                seconds = self._time.within(cell.seconds)
                session.execute(cell.source, number=cell.number, seconds=seconds, output_bytes=0)
                replica.last = cell.number
                # It may hang only now, or have been what spoiled the process before this one.
                spoiled = session.alive and careful and not healthy(partial(self._state, session))
                if spoiled or not session.alive:
                    culprit = cell
                    break
            if culprit is None:
                self._complete(replica, session)
                return session
            self._history.remove(culprit)
            # The other process has run it as well; one that merely hung does it no harm.
            for each in (self._cells, self._calls) if spoiled else (replica,):
                self._end(each)

    def _said(self, request: ReadAll | Keep) -> Any:
        """Return what was said to this along with the last cell; None where it has to be asked."""
        session = self._cells.session
        return self._along.said(request) if session and session.alive else None

    def _keep(
        self, replica: Replica, number: int, names: Iterable[str], used: Iterable[str] = ()
    ) -> None:
        request = Keep(str(number), [*names], [*used])
        with contextlib.suppress(StudentError):
            self._time.within(LEAST)
            session = self._ready(replica)
            said = self._said(request) if replica is self._cells else None
            kept = session.keep(request) if said is None else Moment.said(said)
            if kept.kept:
                self._kept[number] = session
                self._told[number] = {*request.names, *request.used}, kept.lacking

    def kept(self, number: float) -> bool:
        """Say whether `turn_back` can do without running the cells before ``number`` again."""
        session = self._kept.get(number)
        return session is not None and session in (self._cells.session, self._calls.session)

    def _look(self) -> None:
        """End the process for calls if it isn't well after those of an exercise."""
        if (session := self._doubtful) and session is self._calls.session and session.alive:
            self._well(session, self._state(session))

    def _well(self, session: Session, state: State) -> bool:
        """Tell whether a process goes on; one that calls have left unwell is ended."""
        doubtful, self._doubtful = self._doubtful is session, None
        if doubtful and not (state.healthy and state.alone):
            self._end(self._calls)
            return False
        return True

    def _complete(self, replica: Replica, session: Session) -> None:
        """Define what calls have besides the notebook."""
        if replica is self._calls and not replica.supplied:
            replica.supplied = True
            for name, source in self._supplied.items():
                session.supply(name, source)

    def _state(self, session: Session) -> State:
        return session.state(max(LEAST, min(self.limits.call_seconds, self._time.left)))

    def _end(self, replica: Replica) -> None:
        if replica.session is not None:
            usage = replica.session.close()
            self._time.ends(replica.session)
            self.cpu_seconds += usage.cpu_seconds
            self.peak_mb = max(self.peak_mb, usage.max_rss_mb)
        replica.session, replica.last, replica.supplied = None, 0, False
        if replica is self._calls:
            self._at, self._reached = None, 0
