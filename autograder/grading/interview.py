"""The call that a check receives: it remembers, counts and times."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from autograder.exercise import Inconclusive
from autograder.exercise.cache import Unfamiliar, Values, deepcopied
from autograder.exercise.checks.clocks import Curve
from autograder.exercise.checks.work import Measured
from autograder.exercise.words.given import FIRST_KEY
from autograder.grading.answering import Exchange, Expectation, annotated, apart
from autograder.grading.callee import Callee
from autograder.grading.measuring import Measuring
from autograder.grading.ours import Ours
from autograder.grading.proxies import Gradients, Object, held
from autograder.grading.runs import Run, Training
from autograder.sandbox import Reply, StudentError
from autograder.sandbox.wire import requests

Function = Callable[..., Any]

#: How expensive calls came out, by their arguments, and what was worked out of them.
Known = dict[Any, Any]

_TOGETHER = 64  # calls in a message
_keys = itertools.count(FIRST_KEY)  # no two objects of any process have the same number


class Interview(Measuring):
    """A call that remembers what it was asked and what it answered.

    What is metered or timed is not remembered: such calls are large, and say how a function
    works rather than what it returns.  Nor is a run, which nobody would repeat.

    Parameters
    ----------
    runs
        Expensive calls that other checks have made, to be shared with this one.
    asked
        What kind of answers are asked for.

    Attributes
    ----------
    calls
        Every call that returned, what else was asked for of objects, and what raised an exception.
    warnings
        The kinds of warnings that the last call gave, such as "RuntimeWarning".
    aside
        What was asked beside this check and earlier ones, by the identity of what was asked.
    metered, ran, unseen
        Was the work of a call counted, something expensive called, and what came never seen by the
        check, as it was of another kind than asked for?
    remarks
        Notes with sentences for the student, should the check pass.
    curve, training
        For a picture: times that were measured, and what a training run was like.
    borrowed
        The functions that the check asked for, since the answer may build on them, by name.
    callee
        What is called.
    reference
        Of one of those, what it should answer.
    made_of
        The same, where that is what answers: what it gives may be remembered then.
    readings
        What was measured of the work, with the limits.
    """

    made_of: Function

    def __init__(
        self,
        call: Callee | Function,
        *,
        following: bool = False,
        runs: Known | None = None,
        asked: Callable[[], Expectation] = Expectation,
    ) -> None:
        self.callee = call if isinstance(call, Callee) else Ours(call)
        self._following = following
        self.reference: Function | None = None
        self._runs: Known = {} if runs is None else runs
        self._asked = asked
        self._last = Run(None)
        self.aside: dict[int, Exchange] = {}
        self.begin()

    def begin(self) -> None:
        """Forget everything, for the check to be run from its beginning."""
        self.callee.begin()
        self.borrowed: dict[str, Interview] = {}
        self.calls: list[Exchange] = []
        self._told: dict[Any, Reply] = {}
        self.metered = self.ran = self.unseen = False
        self.warnings: tuple[str, ...] = ()
        self.remarks: list[tuple[str, str]] = []
        self.curve: Curve | None = None
        self.training: Training | None = None
        self.readings: list[Measured] = []

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call and record."""
        return self.ask(requests.Call(*held(args, kwargs)))

    def each(self, *questions: tuple[Any, ...]) -> Iterator[Any]:
        """Call with one list of arguments after the other, and record what is taken of it."""
        calls = [requests.Call(*held(args, {})) for args in questions]
        for first in range(0, len(calls), _TOGETHER):
            some = calls[first : first + _TOGETHER]
            for call, answer in itertools.zip_longest(some, self.callee.answers(some)):
                yield self._recorded(apart(call), answer) if answer else self.ask(call)

    def make(self, *args: object, **kwargs: object) -> Object:
        """Call, and leave what comes where it is: an object, to be used from here.

        Of a class that students write, it makes an instance.
        """
        key = next(_keys)
        self.ask(requests.Make(*held(args, kwargs), key))
        return Object(self, key, self.callee.kind)

    def seed(self, number: int) -> None:
        """Seed the generators that random, numpy and torch have in common for all code."""
        self.ask(requests.Seed(number))

    def method(self, key: int, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a method of an object that was made."""
        return self.ask(requests.CallMethod(*held(args, kwargs), key, name))

    def gradients(self, *args: object, **kwargs: object) -> Gradients:
        """Call a function of torch tensors, and differentiate what it returns."""
        return self.differentiated(None, args, kwargs)

    def differentiated(
        self, key: int | None, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Gradients:
        """Do the same with an object that is a module."""
        found = self.ask(requests.Differentiate(*held(args, kwargs), key))
        if not isinstance(found, dict) or found.keys() != Gradients.__annotations__.keys():
            raise StudentError("protocol", "gradients that are none")
        return Gradients(**found)

    def get(self, key: int, name: str) -> Any:
        """Return what an attribute of an object holds."""
        return self.ask(requests.GetAttribute(key, name))

    def set(self, key: int, name: str, value: object) -> None:
        """Give an attribute of an object a value."""
        self.ask(requests.SetAttribute((value,), {}, key, name))

    def is_method(self, key: int, name: str) -> bool:
        """Say whether an attribute of an object is something to call."""
        return self.callee.ask(requests.IsMethod(key, name)).value is True

    def release(self) -> None:
        """Forget the objects that were made."""
        made = (each.request for each in self.calls)
        if keys := [each.key for each in made if isinstance(each, requests.Make)]:
            self.callee.ask(requests.Drop(keys))
        for other in self.borrowed.values():
            other.release()

    def ask(self, request: requests.Request) -> Any:
        """Ask, and remember what was asked and what came."""
        asked = apart(request)
        try:
            answer = self.callee.ask(request)
        except StudentError as error:
            if error.type:
                self.calls.append(Exchange(asked, raised=error.type, text=error.text))
            raise
        return self._recorded(asked, answer)

    def _recorded(self, asked: requests.Request, answer: Reply) -> Any:
        self.warnings = answer.warnings
        self.calls.append(Exchange(asked, answer.value, answer.modified))
        return self._asked().answered(len(self.calls) - 1, asked, answer.value)

    @property
    def modified(self) -> bool:
        """Did the last call change one of its arguments in place?

        Where a submission's process says no, it is asked again with arguments that the grader sees.
        """
        if not self.calls or self.calls[-1].modified:
            return bool(self.calls)
        last = self.calls[-1]
        if not self.callee.isolated or not isinstance(last.request, requests.Call) or last.raised:
            return False
        return self.callee.ask(requests.Lend(last.request.args, last.request.kwargs)).modified

    def own(self, solution: Function) -> Interview:
        """Return an earlier function that the answer may build on, by its reference.

        It is the reference itself. Where the check then fails it runs once more, and gets the
        student's own: what is right given that passes.
        """
        if solution.__name__ not in self.borrowed:
            own = self.callee.own(solution) if self._following else None
            asked = partial(Expectation, plain=annotated(solution))
            self.borrowed[solution.__name__] = other = Interview(own or solution, asked=asked)
            other.reference = solution
            if own is None:
                other.made_of = solution
        return self.borrowed[solution.__name__]

    @property
    def stand_in(self) -> Function:
        """What stands in for the reference that this is the student's own version of.

        On top of it the reference, alternatives and mistakes are asked the same, one after the
        other, and want the same of it: a function is asked for that once.
        """
        return self if isinstance(self.reference, type) else self._recalled

    def _recalled(self, *args: object, **kwargs: object) -> Any:
        request = requests.Call(*held(args, kwargs))
        try:
            key = Values((request.args, request.kwargs)).key
        except Unfamiliar:
            return self.ask(request)
        if (told := self._told.get(key)) is None:
            value = self.ask(request)
            last = self.calls[-1]
            self._told[key] = Reply(deepcopied(last.value), last.modified, self.warnings)
            return value
        return self._recorded(apart(request), replace(told, value=deepcopied(told.value)))

    @property
    def raised(self) -> bool:
        """Did the last call raise an exception?"""
        return bool(self.calls and self.calls[-1].raised)

    @property
    def returned(self) -> list[Any]:
        """What the function returned, call by call."""
        return [each.value for each in self.calls if isinstance(each.request, requests.Call)]

    def following(self, callee: Callee | None = None) -> Interview:
        """Return a fresh interview that hands out the student's own functions."""
        return Interview(callee or self.callee, following=True, runs=self._runs, asked=self._asked)

    def once(self, *args: object, **kwargs: object) -> Any:
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
        self._last, self.ran, self.unseen = found, True, True
        value = self._asked().trained(found.value)
        self.unseen = False
        return value

    def once_as(self, work: Callable[[Any], Any], *args: object, **kwargs: object) -> Any:
        """Do the same, and work out of what comes what all checks look at, once for them.

        ``work`` is known by its name.  What it refuses, it refuses at every check.
        """
        found = self.once(*args, **kwargs)
        place = Values((args, kwargs)).key, work.__module__, work.__qualname__
        if place not in self._runs:
            self._runs[place] = work(found)
        return self._runs[place]

    @property
    def spent(self) -> float | None:
        """Processor time of the last expensive call; None where no clock was read."""
        return self._last.seconds

    def trained(self, seed: int, losses: Sequence[float] = ()) -> None:
        """Show in feedback and report what was called last: its seed, its time, its losses."""
        self.training = Training.of(self._last, seed, losses)

    def _run(self, asked: Values) -> Run | StudentError | Inconclusive:
        try:
            return self.callee.once(*deepcopied(asked.values))
        except StudentError as error:
            if error.kind == "timeout" and self.callee.hurried:
                return Inconclusive("the notebook had too little time left for this run")
            return error

    def remark(self, note: str, feedback: str) -> None:
        """Say something beside the verdict."""
        self.remarks.append((note, feedback))
