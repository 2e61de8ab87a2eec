"""A budget for judging: what a student wrote must not occupy the grader, nor end its work.

Readers and comparisons have limits of their own. This is for what those did not foresee: an answer
that takes much processor time or memory is stopped, and where Python has no turn to stop it, the
kernel ends the process. Then the process that takes its place bars the item.
"""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterable
from types import FrameType
from typing import TypeVar

from autograder.algebra.deadlines.guard import lost_quietly

SECONDS = 10.0  # of processor time, for reading and judging an answer
CHECK_SECONDS = 60.0  # for a check, which computes with the reference too
_LAST = 5.0  # more, and the process is ended
MEMORY = 1 << 30  # bytes beyond what the process has
_SOON = 1e-3  # a timer of 0 s would be none
_TICKS = ~0 << 3  # Linux' clock of this process's time as limits count it
_AGAIN = 1.0  # until the timer strikes again, should the first time have been lost in a finalizer

Result = TypeVar("Result")

#: The note of an item whose judging was stopped.
TOO_MUCH = "too_much"


class Exhausted(Exception):
    """The budget is used up; the message is a sentence for the student."""

    def __init__(self) -> None:
        super().__init__(
            "Reading and judging this takes more time or memory than any answer needs, so it was "
            "stopped: write it shorter."
        )


class _Late(BaseException):
    """The time is up.  No `Exception`, so that no handler on the way takes it for its own."""


_tell: Callable[[str], None] | None = None  # whoever takes over, what is being judged
_barred: frozenset[str] = frozenset()


class _Open(threading.local):
    """How many budgets are open in this thread, one within the other, and for what."""

    depth, item = 0, ""


_open = _Open()


def is_open() -> bool:
    """Say whether what is done now has a budget."""
    return _open.depth > 0


def may_end(tell: Callable[[str], None]) -> None:
    """Let the kernel end this process with what exceeds the budget; ``tell`` is told before."""
    global _tell
    _tell = tell


def bar(items: Iterable[str]) -> None:
    """Refuse these items from now on: they have ended a process before."""
    global _barred
    _barred = frozenset(items)


def bounded(item: str, work: Callable[[], Result], seconds: float = SECONDS) -> Result:
    """Do some work, unless it takes so much processor time, or all memory.

    Timers belong to the main thread: in others there is no limit. One budget may be opened within
    another; what the inner one takes counts in both.

    Raises
    ------
    Exhausted
        If it does, or if the item is barred.
    """
    if item in _barred:
        raise Exhausted
    _open.depth += 1
    try:
        if threading.current_thread() is not threading.main_thread():
            return work()
        return _timed(work, seconds)
    finally:
        _open.depth -= 1


def _timed(work: Callable[[], Result], seconds: float) -> Result:
    armed = True

    def strike(_signal: int, _frame: FrameType | None) -> None:
        if armed:
            raise _Late

    left, again = signal.getitimer(signal.ITIMER_PROF)  # of the budget around this one
    began = time.process_time()
    before = signal.signal(signal.SIGPROF, strike)
    try:  # the timer may strike until `armed` is False, wherever that is
        with lost_quietly(_Late):
            try:
                signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
                return work()
            finally:
                armed = False
    except (_Late, MemoryError, RecursionError):
        armed = False
        raise Exhausted from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        if left:
            left = max(left - (time.process_time() - began), _SOON)
            signal.setitimer(signal.ITIMER_PROF, left, again)


def judging(item: str, work: Callable[[], Result]) -> Result:
    """Do the same for an answer, which needs no more than so much memory and time.

    What can't be stopped in time ends the process, where that is allowed.
    """
    before = _lowered(resource.RLIMIT_AS, _mapped() + MEMORY)
    try:
        return _told(item, work) if _tell else bounded(item, work)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _told(item: str, work: Callable[[], Result]) -> Result:
    """Do it where what can't be stopped ends the process."""
    outer = _open.item
    before = _lowered(resource.RLIMIT_CPU, int(_used() + SECONDS + _LAST) + 1)
    try:
        _now_judging(item)
        return bounded(item, work)
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, before)
        _now_judging(outer)


def _used() -> float:
    """Return the processor time that the kernel holds against the limit.

    It is counted by ticks, and a tick of a machine that others have taken counts as well: on one
    that shares its processors a grader has 8 % more of it than by its other clock, and after some
    minutes of that the next answer would end it.
    """
    try:
        return time.clock_gettime(_TICKS)
    except OSError:  # not on this system
        return time.process_time()


def _now_judging(item: str) -> None:
    assert _tell
    _open.item = item
    _tell(item)


def _lowered(kind: int, value: int) -> tuple[int, int]:
    """Lower a soft limit, and return the limits that there were."""
    soft, hard = resource.getrlimit(kind)
    ceilings = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(kind, (min([value, *ceilings]), hard))
    return soft, hard


def _mapped() -> int:
    """Return the bytes of address space that this process has."""
    descriptor = os.open("/proc/self/statm", os.O_RDONLY)  # before every answer: `open` takes long
    try:
        pages = int(os.read(descriptor, 100).split()[0])
    finally:
        os.close(descriptor)
    return pages * resource.getpagesize()
