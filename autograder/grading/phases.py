"""The two phases in which a submission is run: first its cells, and then its functions.

A function that is called with hidden inputs could keep them, and what a cell shows is seen by the
student. So no cell runs after the first call: who has the `Calls` of a submission has no `Cells`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Protocol, Self

from autograder.grading.runs import Run
from autograder.sandbox import CellRun, Limits, Reply, Zygote
from autograder.sandbox.wire.requests import OfCalls

NOTHING: Mapping[str, str] = MappingProxyType({})


class Functions(Protocol):
    """Functions of a submission, as they were at some cell."""

    @property
    def hurried(self) -> bool:
        """Has the notebook less time left than a call may take?"""

    def ask(self, name: str, request: OfCalls, *, seconds: float | None = None) -> Reply:
        """Ask something of a function, or raise ``StudentError``."""

    def once(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
        """Call something expensive, unless it is known what comes, or raise ``StudentError``."""

    def beside(self, zygote: Zygote) -> Calls:
        """Return the same in processes of another zygote."""

    def lacking(self, names: Collection[str]) -> list[str]:
        """Return which of these functions are not there, or were left as they were handed out."""

    def supply(self, sources: Mapping[str, str]) -> None:
        """Have calls find functions of ours, until they are turned back: by name, their code."""


class Cells(Protocol):
    """A submission while its cells are run one after the other, and read in between."""

    limits: Limits

    def execute(
        self, source: str, number: int, own: Collection[str] = (), aside: Collection[str] = ()
    ) -> CellRun:
        """Run a cell; one that kills its process is left out from then on.

        Of the names ``own`` it is told whether they were given a value; those ``aside`` are not
        there meanwhile.
        """

    def read(self, name: str) -> Any:
        """Return a variable as plain data, or raise ``StudentError``."""

    def read_all(self, names: Iterable[str]) -> dict[str, Any]:
        """Return what can be read at once: all of these variables that there are, or none."""

    def keep(self, number: int, names: Iterable[str], used: Iterable[str] = ()) -> None:
        """Keep the notebook as it is before cell ``number``, for calls of these functions.

        Of them, and of those ``used``, it is noted whether they are lacking there.
        """

    def ahead(
        self, number: int, names: Iterable[str], functions: Iterable[str], used: Iterable[str]
    ) -> None:
        """Say what is read and kept before cell ``number``, as soon as the next cell has run."""

    def settle(self, number: int = 0) -> None:
        """Let nothing that an exercise has done to Python reach the next one, from a cell on."""

    def calls(self, wanted: Mapping[int, Collection[str]]) -> Calls:
        """End this phase, and begin the next one.

        ``wanted`` are the functions of what is before cells, by these cells' numbers, which
        `Calls.before` may be asked for.
        """


class Calls(Functions, Protocol):
    """A submission whose cells have all been run, while its functions are called."""

    limits: Limits

    def kept(self, number: int) -> bool:
        """Say whether `turn_back` can do without running the cells before ``number`` again."""

    def turn_back(self, number: int) -> None:
        """Make calls from now on as if no cell from ``number`` on had been run."""

    def before(self, number: int, ours: Mapping[str, str] = NOTHING) -> Functions:
        """Return what functions were before a cell, in a process of which these calls know nothing.

        ``ours`` are functions that take the place of the notebook's: by name, their code.
        """

    def back_at(self, number: int) -> Functions:
        """Return the same for who calls nothing else until these calls are turned back again."""

    def supplied(self) -> list[str]:
        """Return which of those were called since this was asked last, as the process says."""

    def forget(self) -> None:
        """Let no function that was handed over help another one of the submission's."""

    def abandon(self) -> None:
        """Let calls have a new process: this one may know too much, or still be answering one."""

    def settle(self, number: int = 0) -> None:
        """Let nothing that an exercise has done to Python reach the next one."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...
