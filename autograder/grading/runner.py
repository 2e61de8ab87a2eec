"""Run a submission's cells in a locked-down process, whatever they do to it.

A hang or a crash, or damage to Python itself, costs the cell or the call that caused it: a fresh
process runs the other cells again and grading goes on from there.

No cell, whose output students get to see, runs where a function has been called with hidden
inputs, which it could keep. Calls come after the last cell, in the state in which an earlier one
left the notebook, or have a process of their own, which runs the cells up to there again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from autograder.grading.history import DAMAGED, FULL, Cell, History
from autograder.grading.phases import NOTHING, Calls, Functions
from autograder.grading.replica import Replica
from autograder.grading.replicas import Replicas
from autograder.grading.runs import Run, Runs, found_or_made, key_of
from autograder.grading.time_left import TimeLeft
from autograder.grading.turned_back import TurnedBack
from autograder.sandbox import CellRun, Reply, StudentError, Zygote, outputs
from autograder.sandbox.wire.requests import OfCalls, ReadAll, Time

_ENDS = ("timeout", "died", "protocol")  # with these a process is over
_CELLS = 5000  # of code, in a notebook: none that a course hands out has a tenth of it


class Runner(Replicas):
    """The life of one submission, over as many processes as it takes.

    Parameters
    ----------
    zygote, numbers
        As `Replicas` takes them.
    seconds
        For all work on the submission, as `TimeLeft` counts it. When they are over, nothing more
        is run.
    runs
        Where expensive calls are kept from one grading to the next.
    """

    def __init__(
        self,
        zygote: Zygote,
        numbers: dict[str, Any],
        *,
        seconds: float,
        runs: Runs | None = None,
    ) -> None:
        super().__init__(zygote, numbers, TimeLeft(seconds))
        self._runs = runs
        self._cells_run, self._shown = 0, 0
        self._wanted: Mapping[int, Collection[str]] = {}  # what `before` is asked for
        self._keeping: Mapping[int, Collection[str]] = {}  # what is kept when cells are run again
        self._over = False  # no cell is run any more
        self._called = False  # since calls were settled last
        self._earlier: dict[tuple[object, ...], Runner] = {}  # for calls of what was before a cell

    def __enter__(self) -> Runner:
        return self

    def calls(self, wanted: Mapping[int, Collection[str]] = MappingProxyType({})) -> Calls:
        """Run no cell from now on, and let functions be called."""
        self._over, self._wanted = True, wanted
        return self

    def __exit__(self, *exception: object) -> None:
        for earlier in self._earlier.values():
            earlier.__exit__()
            self.cpu_seconds += earlier.cpu_seconds
            self.peak_mb = max(self.peak_mb, earlier.peak_mb)
        self._end(self._cells)
        self._end(self._calls)

    def execute(
        self, source: str, number: int, own: Collection[str] = (), aside: Collection[str] = ()
    ) -> CellRun:
        """Run a cell; one that kills its process is left out from then on."""
        assert not self._over, "no cell runs after the first call"
        seconds = self.limits.cell_seconds
        most = self._zygote.limits.notebook_bytes
        room = min(self.limits.output_bytes, max(0, most - self._shown))
        self._cells_run += 1
        along = self._along.take()
        try:
            if self._cells_run > _CELLS:
                raise StudentError("timeout", f"the notebook has more than {_CELLS} cells of code")
            run = self._asked(
                self._cells,
                lambda session: session.execute(
                    source,
                    number=number,
                    seconds=self._time.within(seconds),
                    output_bytes=room,
                    own=own,
                    aside=aside,
                    along=along,
                ),
            )
        except StudentError as error:
            return CellRun(outputs=[], error=error, unchanged=own)
        self._along.answered(along, run.along)
        self._shown += outputs.size(run.outputs)
        if self._shown > most:
            run = replace(run, outputs=[FULL])
        if run.error is None or run.error.kind not in _ENDS:
            self._history.add(Cell(number, source, seconds))
            self._cells.last = number
            if not run.healthy:
                self._history.damaging.add(number)
                return replace(run, outputs=[*run.outputs, DAMAGED])
        return run

    def ahead(
        self, number: int, names: Iterable[str], functions: Iterable[str], used: Iterable[str]
    ) -> None:
        """Say what is read and kept before cell ``number``, as soon as the next cell has run."""
        self._along.ask(number, names, functions, used)

    def keep(self, number: int, names: Iterable[str], used: Iterable[str] = ()) -> None:
        """Keep the notebook as it is before cell ``number``, for calls of these functions.

        That saves running the cells again; `turn_back` does without where it can't be kept.
        """
        self._keep(self._cells, number, names, used)

    def turn_back(self, number: int) -> None:
        """Make calls from now on as if no cell from ``number`` on had been run."""
        self._at = None
        if self._recalled(number):
            return
        self._look()
        if self._calls.last >= number:
            self._end(self._calls)
        elif (session := self._calls.session) and session in self._kept.values():
            with contextlib.suppress(StudentError):  # it may have been turned back before
                session.recall()

    def _recalled(self, number: int) -> bool:
        """Turn calls back, and say whether no cell has to be run again for that."""
        self._until, self._supplied = number, {}
        if self._cells.session is not None:
            self._end(self._calls)
            self._cells, self._calls = Replica(), self._cells
        with contextlib.suppress(StudentError):
            if number in self._keeping and not self.kept(number):
                self._look()
                self._reach(number)
            if not self.kept(number):
                return False
            session = self._kept[number]
            back, state = session.recall(str(number))
            return self._well(session, state) and back
        return False

    def _reach(self, number: int) -> None:
        """Run the cells up to one, and keep on the way what calls use of the notebook."""
        session, last = self._calls.session, self._reached
        if number <= last:  # it can't be kept
            return
        turns = session and self.kept(last) and session.recall(str(last))[0]
        if not (session and turns and session.recall()[0]):
            self._end(self._calls)
        for place in sorted(self._keeping):
            if self._reached < place <= number:
                self._until = place
                self._keep(self._calls, place, self._keeping[place])
                self._reached = place

    def turned(self, number: int) -> bool:
        """Turn calls back, and say whether this process has what was before that cell."""
        if self._at != number:
            self._at = number if self._recalled(number) else None
        return self._at == number

    def before(self, number: int, ours: Mapping[str, str] = NOTHING) -> Functions:
        """Return what functions were before a cell, in a process that disturbs no other.

        ``ours`` are functions that take the place of the notebook's: by name, their code.
        """
        alone = partial(self._alone, number, ours)
        if ours or number not in self._wanted or self._history.divided:
            return alone()
        past = self._other((), self._history.past(max(self._wanted)))
        past._keeping = self._wanted
        return TurnedBack(past, number, alone)

    def back_at(self, number: int) -> Functions:
        """Return the same for who calls nothing else until these calls are turned back again."""
        if not self.kept(number):
            return self.before(number)
        return TurnedBack(self, number, partial(self.before, number))

    def _alone(self, number: int, ours: Mapping[str, str]) -> Runner:
        other = self._other((number, *ours), self._history.past(number))
        other._supplied = ours
        return other

    def _other(self, place: tuple[object, ...], cells: list[Cell]) -> Runner:
        """Return the runner of what was earlier that is kept under a name."""
        if place not in self._earlier:
            self._earlier[place] = other = self._of(self._zygote, cells)
            other._time = self._time
        self._earlier[place].limits = self.limits
        return self._earlier[place]

    def lacking(self, names: Collection[str]) -> list[str]:
        """Return which of these functions are not there, or were left as they were handed out."""
        number = self._until
        if self.kept(number) and not self._supplied:  # said when that was kept
            told, lacking = self._told[number]
            if {*names} <= {*told}:
                return [name for name in names if name in lacking]
        self._look()
        try:
            return self._asked(self._calls, lambda session: session.lacking(names))
        except StudentError:
            return []

    def supply(self, sources: Mapping[str, str]) -> None:
        """Have calls find functions of ours, until they are turned back: by name, their code."""
        self._supplied, self._calls.supplied = {**self._supplied, **sources}, False

    def supplied(self) -> list[str]:
        """Return which of those were called since this was asked last, as the process says."""
        session, found = self._calls.session, []
        with contextlib.suppress(StudentError):
            found = session.supplied() if session and session.alive and self._supplied else []
        return found

    def read(self, name: str) -> Any:
        """Return a variable as plain data, or raise ``StudentError``."""
        return self._asked(
            self._cells, lambda session: session.read(name, seconds=self._for_call())
        )

    def read_all(self, names: Iterable[str]) -> dict[str, Any]:
        """Return what can be read at once: all of these variables that there are, or none."""
        wanted = list(names)
        if not wanted:
            return {}
        if isinstance(said := self._said(ReadAll(wanted)), dict):
            return said
        try:
            return self._asked(
                self._cells, lambda session: session.read_all(wanted, seconds=self._for_call())
            )
        except StudentError:  # `read` tells which one it is
            return {}

    def ask(self, name: str, request: OfCalls, *, seconds: float | None = None) -> Reply:
        """Ask something of a function in the process for calls.

        Raises
        ------
        StudentError, WireError
            As `Session` does; also if the time of the whole notebook is over.
        """
        self._look()
        self._called = True
        return self._asked(
            self._calls,
            lambda session: session.ask(name, request, seconds=self._for_call(seconds)),
        )

    def once(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
        """Call something expensive, unless it is known what comes, or raise ``StudentError``.

        The process has run the cells, and answered no other call: so what comes depends on nothing
        else, and can't tell of hidden inputs.
        """
        runs = self._runs
        if runs is None:
            return self._run(name, args, kwargs)
        cells = [cell.source for cell in self._history.past(self._until)]
        cells += self._supplied.values()
        key = key_of(cells, name, args, kwargs, self._numbers, self._zygote.data)
        return found_or_made(runs, key, name, lambda: self._run(name, args, kwargs))

    def _run(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
        self.abandon()
        answer = self.ask(name, Time(args, kwargs))
        return Run(answer.value, answer.reading)

    def beside(self, zygote: Zygote) -> Calls:
        """Return a runner of the same cells in processes of another zygote."""
        other = self._of(zygote, self._history.past(self._until))
        other._supplied = self._supplied
        return other

    def _of(self, zygote: Zygote, cells: list[Cell]) -> Runner:
        other = Runner(zygote, self._numbers, seconds=self._time.seconds)
        other._history = History(cells)
        return other

    def _for_call(self, seconds: float | None = None) -> float:
        return self._time.within(self.limits.call_seconds if seconds is None else seconds)

    @property
    def hurried(self) -> bool:
        """Has the notebook less time left than a call may take?"""
        return self._time.left < self.limits.call_seconds

    def abandon(self) -> None:
        """Let calls have a new process: this one may know too much, or still be answering one."""
        self._end(self._calls)

    def forget(self) -> None:
        """Let no function that was handed over help another one of the submission's."""
        for each in (self, *self._earlier.values()):
            if each._calls.session is not None and each._calls.session.informed:
                each.abandon()

    def settle(self, number: int = 0) -> None:
        """Let nothing that an exercise has done to Python reach the next one, from a cell on.

        The process for calls is looked at when it is needed again: turned back, it tells by itself.
        """
        if self._called:
            self._doubtful = self._calls.session
        self._called = False
        for earlier in self._earlier.values():
            earlier.settle()
        if self._history.settle(number):
            self._end(self._cells)
            self._end(self._calls)
