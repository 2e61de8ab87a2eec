"""The time that a request may take: what the process uses, not what the machine makes it wait.

What counts is processor time, read from outside the process, where its code has no hand in it. So
a request ends in the same way on an idle machine and on a busy one. A process that sleeps instead
uses none; its sleep has a limit of its own, which leaves out the time in which it was ready to run
and had no processor. A last limit, far above both, ends what a machine is too busy to end.
"""

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

#: So long nothing is read: most requests are over by then, and a reading takes as long as a call.
_AT_FIRST = 0.02
#: Times its processor time a request may sleep: enough for whatever an exercise waits for, and a
#: class is not kept for long by a cell that waits for nothing.
_ASLEEP = 2.0
#: Times its processor time a request may take in all, and some more: only a machine that leaves it
#: less than a tenth of a processor gets there.
_IN_ALL, _MORE = 10.0, 5.0
_SOON = 0.002  # the least time until the next reading


class TooBusy(Exception):
    """The machine left a process so little time that nothing can be said about it."""


class Observed(NamedTuple):
    """What is known of a process from outside.

    Parameters
    ----------
    cpu : float
        Its processor time in seconds.
    waited : dict or None
        By thread, the seconds in which it was ready and had no processor, where the kernel tells.
    """

    cpu: float
    waited: Mapping[int, float] | None


class Allowance:
    """The time of one request, which begins now.

    Parameters
    ----------
    seconds : float
        Processor time that is allowed.
    read : callable
        Reads the process's clocks; returns None where there is nothing to read, and then seconds
        are those of the clock on the wall.
    """

    def __init__(self, seconds: float, read: Callable[[], Observed | None]) -> None:
        self._seconds, self._read = seconds, read
        self._start = self._since = time.monotonic()
        self._first: Observed | None = None
        self._head = self._waited = 0.0
        self._next = self._start + min(_AT_FIRST, seconds)

    def left(self) -> float:
        """Return how long to wait for the process before asking this again.

        Raises
        ------
        TimeoutError
            If the request has had its time.
        TooBusy
            If it has not had it, though ever so much has passed.
        """
        now = time.monotonic()
        if now >= self._next:
            self._next = now + max(self._look(now), _SOON)
        return self._next - now

    @property
    def spent(self) -> float:
        """Seconds from the beginning until now, without those for which it had no processor."""
        if self._first is not None and (now := self._read()) is not None:
            self._waited = max(self._waited, _longest(self._first, now) or 0.0)
        return max(0.0, time.monotonic() - self._start - self._waited)

    def _look(self, now: float) -> float:
        """Return the seconds that are left by what can be read."""
        reading = self._read()
        if self._first is None:
            if reading is None:
                return self._by_the_wall(now)
            # What it used before is not known, but no more than it ever has.
            self._head = min(now - self._start, reading.cpu)
            self._first, self._since = reading, now
            return self._seconds - self._head
        if reading is None:  # it is about to end
            return self._by_the_wall(now)
        worked = reading.cpu - self._first.cpu
        left = self._seconds - self._head - worked
        if left <= 0:
            raise TimeoutError
        in_all = _IN_ALL * self._seconds + _MORE - (now - self._start)
        waited = _longest(self._first, reading)
        if waited is not None:
            self._waited = max(self._waited, waited)
            asleep = now - self._since - worked - self._waited
            left = min(left, _ASLEEP * self._seconds - asleep)
        if left <= 0:
            raise TimeoutError
        if in_all <= 0:
            if self._waited > (now - self._start) / 2:
                raise TooBusy
            raise TimeoutError
        return min(left, in_all)

    def _by_the_wall(self, now: float) -> float:
        left = self._start + self._seconds - now
        if left <= 0:
            raise TimeoutError
        return left


def _longest(before: Observed, now: Observed) -> float | None:
    """Return the longest time for which one thread had no processor.

    Not the sum: many threads that start at once would wait for each other without end.
    """
    if before.waited is None or now.waited is None:
        return None
    return max((w - before.waited.get(thread, 0.0) for thread, w in now.waited.items()), default=0)
