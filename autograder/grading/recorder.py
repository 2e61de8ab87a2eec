"""The call that a check receives: it remembers, counts and times."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.exercise import Inconclusive, Reading, Work
from autograder.exercise.clocks import Curve
from autograder.exercise.given import FIRST_KEY
from autograder.exercise.gpu import Timing
from autograder.exercise.remember import Unfamiliar, Values
from autograder.grading.local import Local, ran
from autograder.grading.objects import Gradients, Object, held
from autograder.grading.runs import Run, Training
from autograder.sandbox import StudentError

Call = Callable[..., Any]

#: How expensive calls came out, by their arguments.
Known = dict[Any, Run | StudentError | Inconclusive]

_keys = itertools.count(FIRST_KEY)  # no two objects of any process have the same number


@dataclass(frozen=True)
class Recorded:
    """One request that a check made, and what came back: a value, or the name of an exception.

    Attributes
    ----------
    do
        call, make, method, gradients, get, set or seed.
    key, name
        The number of the object that was made or used, and which method or attribute.
    modified
        Was an argument changed in place?
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    value: Any
    do: str = "call"
    key: int = -1
    name: str = ""
    modified: bool = False
    raised: str = ""


class Recorder:
    """A call that remembers what it was asked and what it answered.

    What is metered or timed is not remembered: such calls are large, and say how a function
    works rather than what it returns.  Nor is a run, which nobody would repeat.

    Parameters
    ----------
    runs
        Expensive calls that other checks have made, to be shared with this one.

    Attributes
    ----------
    calls
        Every call that returned, what else was asked for of objects, and what raised an exception.
    warnings
        The kinds of warnings that the last call gave, such as "RuntimeWarning".
    metered
        Was the work of a call counted?
    remarks
        Notes with sentences for the student, should the check pass.
    curve
        Times that were measured for a picture.
    training
        What a training run was like, for a picture.
    borrowed
        Did the check ask for a function that the answer may build on?
    readings
        What was measured of the work, with the limits.
    """

    def __init__(self, call: Call, *, following: bool = False, runs: Known | None = None) -> None:
        self._call, self._following = call, following
        self._runs: Known = {} if runs is None else runs
        self._home: Any = call if hasattr(call, "make") else Local(call)
        self._last = Run(None)
        self.begin()

    def begin(self) -> None:
        """Forget everything, for the check to be run from its beginning."""
        self.borrowed = False
        self._owned: list[Recorder] = []
        self.calls: list[Recorded] = []
        self.metered = False
        self.warnings: tuple[str, ...] = ()
        self.remarks: list[tuple[str, str]] = []
        self.curve: Curve | None = None
        self.training: Training | None = None
        self.readings: list[Reading] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call and record."""
        args, kwargs = held(args, kwargs)
        return self.record(Recorded(args, kwargs, None), lambda: self._home(*args, **kwargs))

    def make(self, *args: Any, **kwargs: Any) -> Object:
        """Call, and leave what comes where it is: an object, to be used from here.

        Of a class that students write, it makes an instance.
        """
        args, kwargs = held(args, kwargs)
        key = next(_keys)
        asked = Recorded(args, kwargs, None, "make", key)
        self.record(asked, lambda: self._home.make(key, args, kwargs))
        return Object(self, key, self._home.kind)

    def seed(self, number: int) -> None:
        """Seed the generators that random, numpy and torch have in common for all code."""
        self.record(Recorded((number,), {}, None, "seed"), lambda: self._home.seed(number))

    def method(self, key: int, name: str, args: Any, kwargs: Any) -> Any:
        """Call a method of an object that was made."""
        args, kwargs = held(args, kwargs)
        asked = Recorded(args, kwargs, None, "method", key, name)
        return self.record(asked, lambda: self._home.method(key, name, args, kwargs))

    def gradients(self, *args: Any, **kwargs: Any) -> Gradients:
        """Call a function of torch tensors, and differentiate what it returns."""
        return self.differentiated(None, args, kwargs)

    def differentiated(self, key: int | None, args: Any, kwargs: Any) -> Gradients:
        """Do the same with an object that is a module."""
        args, kwargs = held(args, kwargs)
        asked = Recorded(args, kwargs, None, "gradients", -1 if key is None else key)
        found = self.record(asked, lambda: self._home.gradients(key, args, kwargs))
        if not isinstance(found, dict) or found.keys() != Gradients.__annotations__.keys():
            raise StudentError("protocol", "gradients that are none")
        return Gradients(**found)

    def get(self, key: int, name: str) -> Any:
        """Return what an attribute of an object holds."""
        asked = Recorded((), {}, None, "get", key, name)
        return self.record(asked, lambda: self._home.get(key, name))

    def set(self, key: int, name: str, value: Any) -> None:
        """Give an attribute of an object a value."""
        asked = Recorded((value,), {}, None, "set", key, name)
        self.record(asked, lambda: self._home.set(key, name, value))

    def is_method(self, key: int, name: str) -> bool:
        """Say whether an attribute of an object is something to call."""
        return bool(self._home.is_method(key, name))

    def measured(self, key: int, name: str, args: Any, kwargs: Any) -> Work:
        """Call a method of a copy of an object, and count the work."""
        args, kwargs = held(args, kwargs)
        return self._work(
            lambda: self._home.measured(key, name, args, kwargs),
            lambda: self._home.method(key, name, *copy.deepcopy((args, kwargs))),
        )

    def release(self) -> None:
        """Forget the objects that were made."""
        if keys := [each.key for each in self.calls if each.do == "make"]:
            self._home.drop(keys)
        for other in self._owned:
            other.release()

    def record(self, asked: Recorded, ask: Callable[[], Any]) -> Any:
        """Ask, and remember what was asked and what came."""
        args, kwargs = copy.deepcopy((asked.args, asked.kwargs))
        asked = replace(asked, args=args, kwargs=kwargs)
        try:
            value = ask()
        except StudentError as error:
            if error.type:
                self.calls.append(replace(asked, raised=error.type))
            raise
        self.warnings = self._home.warnings
        self.calls.append(replace(asked, value=value, modified=self._home.modified))
        return value

    @property
    def modified(self) -> bool:
        """Did the last call change one of its arguments in place?

        Where a submission's process says no, it is asked again with arguments that the grader sees.
        """
        if not self.calls or self.calls[-1].modified:
            return bool(self.calls)
        last, leaves_alone = self.calls[-1], getattr(self._call, "leaves_alone", None)
        if leaves_alone is None or last.do != "call" or last.raised:
            return False
        return not leaves_alone(*last.args, **last.kwargs)

    def own(self, solution: Call) -> Recorder:
        """Return an earlier function that the answer may build on, by its reference.

        It is the reference itself. Where the check then fails it runs once more, and gets the
        student's own: what is right given that passes.
        """
        self.borrowed = True
        own = getattr(self._call, "own", None)
        self._owned.append(Recorder(own(solution) if own and self._following else solution))
        return self._owned[-1]

    @property
    def raised(self) -> bool:
        """Did the last call raise an exception?"""
        return bool(self.calls and self.calls[-1].raised)

    def following(self) -> Recorder:
        """Return a fresh recorder that hands out the student's own functions."""
        return Recorder(self._call, following=True, runs=self._runs)

    def once(self, *args: Any, **kwargs: Any) -> Any:
        """Call something expensive, such as a training run, once for all checks that look at it.

        What comes of it is shared, so it must not be changed.  A misconception is recognised by
        how the check fails, as where work is counted.

        Raises
        ------
        StudentError
            If the call fails.
        Inconclusive
            If what the notebook did before has left it too little time.
        """
        self.metered = True
        try:
            asked = Values((args, kwargs))
        except Unfamiliar as error:
            raise TypeError(f"a run is asked for with plain data: {error}") from error
        if asked.key not in self._runs:
            self._runs[asked.key] = self._run(asked)
        found = self._runs[asked.key]
        if isinstance(found, Exception):
            raise found
        self._last = found
        return found.value

    def trained(self, seed: int, losses: Sequence[float] = ()) -> None:
        """Show in feedback and report what was called last: its seed, its time, its losses."""
        self.training = Training.of(self._last, seed, losses)

    def _run(self, asked: Values) -> Run | StudentError | Inconclusive:
        args, kwargs = copy.deepcopy(asked.values)
        once = getattr(self._call, "once", None)
        hurried = getattr(self._call, "hurried", False)
        try:
            run: Run = once(*args, **kwargs) if once else ran(self._call, asked)
            return run
        except StudentError as error:
            if error.kind == "timeout" and hurried:
                return Inconclusive("the notebook had too little time left for this run")
            return error

    def work(self, *args: Any, **kwargs: Any) -> Work:
        """Call and count the work; a function of our own is metered here.

        Raises
        ------
        StudentError
            If the call fails without a meter as well.
        Inconclusive
            If it fails with the meter alone, or takes too long or too much memory.
        """
        return self._work(
            lambda: self._home.metered(*args, **kwargs),
            lambda: self._home(*copy.deepcopy(args), **copy.deepcopy(kwargs)),
        )

    def _work(
        self, meter: Callable[[], tuple[Any, dict[str, Any]]], plain: Callable[[], Any]
    ) -> Work:
        self.metered = True
        try:
            value, counts = meter()
        except StudentError as error:
            if error.kind == "timeout" or error.type == "MemoryError":
                raise Inconclusive("counting the work took too long, or too much memory") from error
            plain()
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
        return Work(None, **self._home.outlined(*shapes, dtype=dtype))

    @property
    def clocked(self) -> bool:
        """Is this a submission, in a process whose time can be read?"""
        return hasattr(self._call, "timed")

    def seconds(self, *args: Any, **kwargs: Any) -> tuple[Any, float | None]:
        """Call and return the processor time; None for a function of our own."""
        timed = getattr(self._call, "timed", None)
        return timed(*args, **kwargs) if timed else (self._home(*args, **kwargs), None)

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
            return self._home(*args, **kwargs), None
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
