"""The call that a check receives: it remembers, counts and times."""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from autograder.exercise import Inconclusive, Reading, Work
from autograder.exercise.clocks import Curve
from autograder.exercise.gpu import Timing
from autograder.sandbox import StudentError
from autograder.sandbox.meters.meter import metered

Call = Callable[..., Any]


@dataclass(frozen=True)
class Recorded:
    """One call that a check made, and what came back: a value, or the name of an exception."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    value: Any
    raised: str = ""


class Recorder:
    """A call that remembers what it was asked and what it answered.

    What is metered or timed is not remembered: such calls are large, and say how a function
    works rather than what it returns.

    Attributes
    ----------
    calls
        Every call that returned, and the one that raised an exception.
    modified
        Did the last call change one of its arguments in place?
    metered
        Was the work of a call counted?
    remarks
        Notes with sentences for the student, should the check pass.
    curve
        Times that were measured for a picture.
    borrowed
        Did the check ask for a function that the answer may build on?
    readings
        What was measured of the work, with the limits.
    """

    def __init__(self, call: Call, *, following: bool = False) -> None:
        self._call, self._following = call, following
        self.borrowed = False
        self.calls: list[Recorded] = []
        self.modified = self.metered = False
        self.remarks: list[tuple[str, str]] = []
        self.curve: Curve | None = None
        self.readings: list[Reading] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call and record."""
        asked = copy.deepcopy((args, kwargs))
        try:
            value = self._call(*args, **kwargs)
        except StudentError as error:
            if error.type:
                self.calls.append(Recorded(*asked, None, error.type))
            raise
        self.calls.append(Recorded(*asked, value))
        self.modified = getattr(self._call, "modified", False) or not same(asked, (args, kwargs))
        return value

    def own(self, solution: Call) -> Call:
        """Return an earlier function that the answer may build on, by its reference.

        It is the reference itself. Where the check then fails it runs once more, and gets the
        student's own: what is right given that passes.
        """
        self.borrowed = True
        own = getattr(self._call, "own", None)
        return own(solution) if own and self._following else solution

    @property
    def raised(self) -> bool:
        """Did the last call raise an exception?"""
        return bool(self.calls and self.calls[-1].raised)

    def following(self) -> Recorder:
        """Return a fresh recorder that hands out the student's own functions."""
        return Recorder(self._call, following=True)

    def work(self, *args: Any, **kwargs: Any) -> Work:
        """Call and count the work; a function of our own is metered here.

        Raises
        ------
        StudentError
            If the call fails without a meter as well.
        Inconclusive
            If it fails with the meter alone, or takes too long or too much memory.
        """
        self.metered = True
        meter = getattr(self._call, "metered", None) or partial(_metered, self._call)
        try:
            value, counts = meter(*args, **kwargs)
        except StudentError as error:
            if error.kind == "timeout" or error.type == "MemoryError":
                raise Inconclusive("counting the work took too long, or too much memory") from error
            self._call(*copy.deepcopy(args), **copy.deepcopy(kwargs))
            raise Inconclusive(f"the work could not be counted ({error.kind})") from error
        return Work(value, **counts)

    def outline(self, *shapes: tuple[int, ...], dtype: str = "float32") -> Work:
        """Count the work of a call with torch tensors of these shapes that hold no numbers.

        So it can be counted for n = 65,536 in moments and without memory; there is no value, so
        this says nothing about whether the result is right.

        Raises
        ------
        StudentError
            If the call fails.
        """
        self.metered = True
        outlined = getattr(self._call, "outlined", None) or partial(_outlined, self._call)
        return Work(None, **outlined(*shapes, dtype=dtype))

    @property
    def clocked(self) -> bool:
        """Is this a submission, in a process whose time can be read?"""
        return hasattr(self._call, "timed")

    def seconds(self, *args: Any, **kwargs: Any) -> tuple[Any, float | None]:
        """Call and return the processor time; None for a function of our own."""
        timed = getattr(self._call, "timed", None)
        return timed(*args, **kwargs) if timed else (self._call(*args, **kwargs), None)

    def reference_seconds(self, *args: Any, **kwargs: Any) -> tuple[Any, float | None]:
        """Do the same with the reference; only a submission is compared with it."""
        timed = getattr(self._call, "reference_timed", None)
        return timed(*args, **kwargs) if timed else (None, None)

    def grown(self, *args: Any, **kwargs: Any) -> tuple[Any, float | None]:
        """Call and return by how many bytes the process grew; None for a function of our own.

        Raises
        ------
        Inconclusive
            If it takes too long, or too much memory.
        """
        watched = getattr(self._call, "watched", None)
        if watched is None:
            return self._call(*args, **kwargs), None
        try:
            found: tuple[Any, float | None] = watched(*args, **kwargs)
        except StudentError as error:
            if error.kind == "timeout" or error.type == "MemoryError":
                raise Inconclusive("the memory in use could not be seen") from error
            raise
        return found

    def on_gpu(
        self, shape: tuple[int, ...], dtype: str, rows: Any, *, sdpa: bool = False
    ) -> Timing | None:
        """Time calls on a GPU; of a submission alone."""
        timing: Timing | None = self._call.on_gpu(shape, dtype, rows, sdpa=sdpa)  # type: ignore[attr-defined]
        return timing

    def remark(self, note: str, feedback: str) -> None:
        """Say something beside the verdict."""
        self.remarks.append((note, feedback))


def _metered(function: Call, *args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
    """Meter a function of our own, in this process."""
    torch = "torch" in sys.modules  # importing it takes seconds
    torchmeter = importlib.import_module("autograder.sandbox.meters.torchmeter") if torch else None
    return metered(getattr(function, "compute", function), args, kwargs, torchmeter)


def _outlined(function: Call, *shapes: tuple[int, ...], dtype: str) -> dict[str, Any]:
    """Outline a function of our own, in this process."""
    torchmeter = importlib.import_module("autograder.sandbox.meters.torchmeter")
    found: dict[str, Any] = torchmeter.outlined(
        getattr(function, "compute", function), shapes, dtype
    )
    return found


def same(a: Any, b: Any) -> bool:
    """Tell whether two trees of arguments are identical, bit for bit."""
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    if isinstance(a, tuple | list):
        return all(map(same, a, b))
    if isinstance(a, dict):
        return all(same(a[key], b[key]) for key in a)
    return bool(a == b)
