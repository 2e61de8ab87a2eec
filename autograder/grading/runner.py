"""Run a submission's cells in a locked-down process, whatever they do to it.

A hang or a crash costs the cell or the call that caused it: a fresh process runs the other
cells again and grading goes on from there.
"""

from __future__ import annotations

import time
from typing import Any

from autograder.sandbox import CellRun, Session, StudentError, Zygote


class Runner:
    """The life of one submission, over as many processes as it takes.

    Parameters
    ----------
    zygote
        Where fresh processes come from.
    numbers
        The student's numbers by exercise, for ``your_numbers``.
    seconds
        For the whole submission; when they are over, nothing more is run.

    Attributes
    ----------
    limits
        What a cell or call may use from now on; at first what the zygote grants.
    """

    def __init__(self, zygote: Zygote, numbers: dict[str, Any], *, seconds: float) -> None:
        self._zygote, self._numbers = zygote, numbers
        self._deadline = time.monotonic() + seconds
        self._seconds = seconds
        self.limits = zygote.limits
        # Cells that a fresh process runs again, with their numbers and seconds.
        self._history: list[tuple[int, str, float]] = []
        self._session: Session | None = None
        self.cpu_seconds, self.peak_mb = 0.0, 0.0

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *exception: object) -> None:
        self._end()

    def execute(self, source: str, number: int) -> CellRun:
        """Run a cell; one that kills its process is left out from then on."""
        seconds, room = self.limits.cell_seconds, self.limits.output_bytes
        try:
            run = self._alive().execute(
                source, number=number, seconds=self._within(seconds), output_bytes=room
            )
        except StudentError as error:
            return CellRun(outputs=[], error=error)
        if self._session and self._session.alive:
            self._history.append((number, source, seconds))
        return run

    def read(self, name: str) -> Any:
        """Return a variable as plain data, or raise ``StudentError``."""
        return self._alive().read(name, seconds=self._within(self.limits.call_seconds))

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a function with plain data, or raise ``StudentError``."""
        return self._alive().call(
            name, *args, seconds=self._within(self.limits.call_seconds), **kwargs
        )

    @property
    def modified(self) -> bool:
        """Did the last call change one of its arguments in place?"""
        return self._session is not None and self._session.modified

    def _alive(self) -> Session:
        if self._session is None or not self._session.alive:
            self._end()
            self._session = self._zygote.session(self._numbers)
            for number, source, seconds in list(self._history):
                self._session.execute(source, number=number, seconds=self._within(seconds))
                if not self._session.alive:  # it hung only now: leave it out as well
                    self._history.remove((number, source, seconds))
                    return self._alive()
        return self._session

    def _within(self, seconds: float) -> float:
        """Return the seconds for a cell or a call: its limit, or what the notebook has left."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise StudentError(
                "timeout", f"the whole notebook took longer than {self._seconds:g} s"
            )
        return min(left, seconds)

    def _end(self) -> None:
        if self._session is not None:
            usage = self._session.close()
            self.cpu_seconds += usage.cpu_seconds
            self.peak_mb = max(self.peak_mb, usage.max_rss_mb)
            self._session = None
