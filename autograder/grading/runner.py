"""Run a submission's cells in a locked-down process, whatever they do to it.

A hang or a crash costs the cell or the call that caused it: a fresh process runs the other
cells again and grading goes on from there.

Cells and calls have a process each. A function that is called with hidden inputs could keep them;
the cells after it, whose output students get to see, run where it was never called.
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
        self._cells: Session | None = None
        self._calls: Session | None = None
        self._caught_up = 0  # the last cell that the process for calls has run
        self.cpu_seconds, self.peak_mb = 0.0, 0.0

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *exception: object) -> None:
        self._end(self._cells)
        self._end(self._calls)

    def execute(self, source: str, number: int) -> CellRun:
        """Run a cell; one that kills its process is left out from then on."""
        seconds, room = self.limits.cell_seconds, self.limits.output_bytes
        try:
            run = self._for_cells().execute(
                source, number=number, seconds=self._within(seconds), output_bytes=room
            )
        except StudentError as error:
            return CellRun(outputs=[], error=error)
        if self._cells and self._cells.alive:
            self._history.append((number, source, seconds))
        return run

    def read(self, name: str) -> Any:
        """Return a variable as plain data, or raise ``StudentError``."""
        return self._for_cells().read(name, seconds=self._within(self.limits.call_seconds))

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call a function with plain data, or raise ``StudentError``."""
        session = self._for_calls()
        seconds = self._within(self.limits.call_seconds)
        return session.call(name, *args, seconds=seconds, **kwargs)

    def metered(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Call a function and have its work counted, or raise ``StudentError``."""
        session = self._for_calls()
        seconds = self._within(self.limits.call_seconds)
        return session.metered(name, *args, seconds=seconds, **kwargs)

    def outlined(self, name: str, *shapes: tuple[int, ...], dtype: str) -> dict[str, Any]:
        """Count the work of a call with tensors without numbers, or raise ``StudentError``."""
        session = self._for_calls()
        seconds = self._within(self.limits.call_seconds)
        return session.outlined(name, *shapes, dtype=dtype, seconds=seconds)

    def timed(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, float | None]:
        """Call a function and read the processor time of that, or raise ``StudentError``."""
        session = self._for_calls()
        seconds = self._within(self.limits.call_seconds)
        return session.timed(name, *args, seconds=seconds, **kwargs)

    def bench(self, name: str, **options: Any) -> Any:
        """Take a step of timing a function on a device, or raise ``StudentError``."""
        seconds = self._within(self._zygote.limits.call_seconds)
        return self._for_calls().bench(name, seconds=seconds, **options)

    def beside(self, zygote: Zygote) -> Runner:
        """Return a runner of the same cells in processes of another zygote."""
        other = Runner(zygote, self._numbers, seconds=self._seconds)
        other._history = list(self._history)
        return other

    @property
    def modified(self) -> bool:
        """Did the last call change one of its arguments in place?"""
        return self._calls is not None and self._calls.modified

    def _for_cells(self) -> Session:
        if self._cells is None or not self._cells.alive:
            self._cells, _ = self._replayed(self._cells, 0)
        return self._cells

    def _for_calls(self) -> Session:
        self._calls, self._caught_up = self._replayed(self._calls, self._caught_up)
        return self._calls

    def _replayed(self, session: Session | None, last: int) -> tuple[Session, int]:
        """Return a session that has run the history, and the number of the last cell in it.

        ``session`` has run it up to cell ``last``; one that has ended is replaced.
        """
        while True:
            if session is None or not session.alive:
                self._end(session)
                session, last = self._zygote.session(self._numbers), 0
            try:
                for entry in [entry for entry in self._history if entry[0] > last]:
                    last, source, seconds = entry
                    seconds = self._within(seconds)
                    session.execute(source, number=last, seconds=seconds, output_bytes=0)
                    if not session.alive:  # it hung only now: leave it out as well
                        self._history.remove(entry)
                        break
                else:
                    return session, last
            except BaseException:
                self._end(session)
                raise

    def _within(self, seconds: float) -> float:
        """Return the seconds for a cell or a call: its limit, or what the notebook has left."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise StudentError(
                "timeout", f"the whole notebook took longer than {self._seconds:g} s"
            )
        return min(left, seconds)

    def _end(self, session: Session | None) -> None:
        if session is not None:
            usage = session.close()
            self.cpu_seconds += usage.cpu_seconds
            self.peak_mb = max(self.peak_mb, usage.max_rss_mb)
