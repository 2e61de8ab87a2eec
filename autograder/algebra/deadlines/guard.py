"""A limit on the processor time of one call, for what no bound on the work foresaw.

Reading, evaluating and proving count what they do and stop by themselves.  In between sympy
builds sums, powers and functions of what a student wrote, and nobody has counted what that can
take: a timer of the operating system ends it.  Timers belong to the main thread, in which graders
judge: in others the bounds on the work are all there is.
"""

from __future__ import annotations

import contextlib
import functools
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import ParamSpec, TypeVar

SECONDS = 2.0  # of processor time
_TRIES = 2  # a machine that stood still for a moment, or loaded a library, must not decide
STEP_SECONDS = 20.0  # for a step of a derivation, which many comparisons look at
_AGAIN = 0.05  # until the timer strikes again, should the first time have been lost in a finalizer

P = ParamSpec("P")
R = TypeVar("R")


class Late(BaseException):
    """The time is up.  No `Exception`, so that no handler on the way takes it for its own."""


def within(late: Callable[[], R]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Limit the time of a function; one that is late has what `late` returns or raises."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def limited(*args: P.args, **kwargs: P.kwargs) -> R:
            for _ in range(_TRIES):
                with contextlib.suppress(Late), limit(SECONDS):
                    return function(*args, **kwargs)
            return late()

        return limited

    return decorate


@contextlib.contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise `Late` when what follows has used so much time.

    Nothing is limited within another limit, or in a thread that is not the main one.
    """
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getitimer(signal.ITIMER_VIRTUAL)[0]:
        yield
        return
    armed = True

    def strike(_signal: int, _frame: FrameType | None) -> None:
        if armed:
            raise Late

    before = signal.signal(signal.SIGVTALRM, strike)
    with lost_quietly(Late):
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN)
        try:
            yield
        finally:
            armed = False
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            signal.signal(signal.SIGVTALRM, before)


@contextlib.contextmanager
def lost_quietly(late: type[BaseException]) -> Iterator[None]:
    """Report nothing where a finalizer swallows ``late``: its timer strikes again."""
    before = sys.unraisablehook

    def report(unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, late):
            before(unraisable)

    sys.unraisablehook = report
    try:
        yield
    finally:
        sys.unraisablehook = before
