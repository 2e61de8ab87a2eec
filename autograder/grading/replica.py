"""A process that runs a submission's cells, and whether it is as it should be."""

from __future__ import annotations

import time
from collections.abc import Callable

from autograder.sandbox import Session
from autograder.sandbox.replies import State

#: So often a process with threads is asked whether it is healthy: one may take requests away.
_PINGS, _PAUSE = 40, 0.005


class Replica:
    """A process that has run the history up to some cell, or will.

    Attributes
    ----------
    last
        The number of the cell that it has run last.
    supplied
        Has it been given what the notebook lacks?
    """

    def __init__(self) -> None:
        self.session: Session | None = None
        self.last = 0
        self.supplied = False


def healthy(state: Callable[[], State]) -> bool:
    """Tell whether a process is as it was, by asking it how it is."""
    now = state()
    for _ in range(_PINGS):
        if now.alone or not now.healthy:
            break
        time.sleep(_PAUSE)  # on a busy machine its threads may not have had a turn yet
        now = state()
    return now.healthy
