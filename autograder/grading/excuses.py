"""Where an earlier function of the student's gives nothing that fits, its reference answers.

A wrong value is carried on, since something follows from it.  From an exception, or an array of
another shape, nothing follows, and what builds on it would be lost as well: one slip would cost
twice.  So for that input the reference's answer is carried on instead.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.exercise.cache import Unfamiliar, Values, deepcopied, remembered, size_of
from autograder.exercise.standing_in import standing_in
from autograder.grading.callee import Callee
from autograder.grading.local import Local
from autograder.grading.runs import Run
from autograder.sandbox import Reply, StudentError
from autograder.sandbox.wire.requests import Call, Request

Function = Callable[..., Any]
Earned = Callable[[str], bool]

_NUMBERS = "biufc"  # kinds of types of arrays
_KEPT, _COUNTS = 1000, 50_000  # answers of references, and bytes: a larger one counts as several
#: What is no exception, or says that nothing was written.
_NOTHING = ("", "NotImplementedError")


class Mended:
    """A student's function as parts call it, with the reference's answers where it gives none.

    Attributes
    ----------
    used
        Has the reference answered anything?

    Examples
    --------
    >>> own = Mended(np.ravel, np.asarray)
    >>> own(np.eye(2)).tolist(), own.used
    ([[1.0, 0.0], [0.0, 1.0]], True)
    """

    def __init__(self, own: Function, reference: Function) -> None:
        self._own, self._reference = own, reference
        self.used = False

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Call the student's function, and where that gives nothing that fits the reference."""
        right = _answered(self._reference, args, kwargs)
        try:
            value = self._own(*args, **kwargs)
        except StudentError:
            self.used = True
            return right
        found = _fitted(value, right)
        self.used |= found is not value
        return found


class MendedCallee(Callee):
    """The same as checks borrow it."""

    def __init__(self, own: Callee, reference: Function) -> None:
        self._own, self._reference = own, Local(reference)
        self.kind = own.kind

    def ask(self, request: Request) -> Reply:
        """Ask the student's function, and where that gives nothing that fits the reference."""
        if not isinstance(request, Call):
            return self._own.ask(request)
        right = self._reference.ask(copy.deepcopy(request))
        try:
            reply = self._own.ask(request)
        except StudentError:
            return right
        return replace(reply, value=_fitted(reply.value, right.value))

    def once(self, args: object, kwargs: object) -> Run:
        """Make an expensive call of the student's function."""
        return self._own.once(args, kwargs)


class Excused(Callee):
    """A student's function that is excused where an earlier one of theirs raises an exception.

    That is so if the reference raises the same one on top of that function, and that function has
    earned something where it was graded itself: then the reference's own answer stands in for the
    exception.

    Parameters
    ----------
    earned
        Tells of an earlier function, by its name, whether it passes a check of its own.

    Attributes
    ----------
    answered
        What the function did return.
    """

    def __init__(
        self, callee: Callee, solution: Function, own: Mapping[str, Function], earned: Earned
    ) -> None:
        self._callee, self._solution, self._own = callee, Local(solution), own
        self._earned = earned
        self.isolated, self.kind = callee.isolated, callee.kind
        self.answered: list[Any] = []

    def ask(self, request: Request) -> Reply:
        """Ask the student's function, and excuse it if it may be."""
        try:
            reply = self._callee.ask(request)
        except StudentError as error:
            if not isinstance(request, Call) or error.type in _NOTHING:
                raise
            with standing_in({}):
                right = self._solution.ask(copy.deepcopy(request))
            if not self._excuses(request, error):
                raise
            return right
        if isinstance(request, Call):
            self.answered.append(reply.value)
        return reply

    def once(self, args: object, kwargs: object) -> Run:
        """Make an expensive call, for which there is no excuse."""
        return self._callee.once(args, kwargs)

    def own(self, solution: Function) -> Callee | None:
        """Return an earlier function of the student's, mended."""
        own = self._callee.own(solution)
        return own and MendedCallee(own, solution)

    def reference_seconds(self, args: object, kwargs: object) -> tuple[Any, float | None]:
        """Call the reference and read its time."""
        return self._callee.reference_seconds(args, kwargs)

    def _excuses(self, request: Call, error: StudentError) -> bool:
        """Tell whether the reference raises the same on top of the student's own functions."""
        with standing_in(self._own) as cast:
            try:
                self._solution.ask(copy.deepcopy(request))
            except StudentError as theirs:
                names = {name.rpartition(".")[2] for name in cast.called}
                return theirs.type == error.type and all(map(self._earned, names))
        return False


def remembering(reference: Function) -> Function:
    """Return a reference that answers from memory what it was asked before."""
    return lambda *args, **kwargs: _answered(reference, args, kwargs)


def _answered(reference: Function, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
    """Call a reference with copies, unless it is known what it returns."""
    try:
        asked = Values((args, kwargs))
    except Unfamiliar:
        return reference(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    return deepcopied(_remembered(reference, asked))


@remembered(size=_KEPT, weight=lambda value: 1 + size_of(value) // _COUNTS)
def _remembered(reference: Function, asked: Values) -> Any:
    args, kwargs = deepcopied(asked.values)
    return reference(*args, **kwargs)


def _fitted(value: object, right: object) -> Any:
    """Return a value if it has the right one's shape, else what it holds in that, else that."""
    if isinstance(right, tuple):
        if not isinstance(value, tuple | list) or len(value) != len(right):
            return right
        each = [_fitted(own, other) for own, other in zip(value, right, strict=True)]
        fits = all(one is other for one, other in zip(each, value, strict=True))
        return value if fits else tuple(each)
    due, found = np.asarray(right), np.asarray(getattr(value, "array", value))
    if due.dtype.kind not in _NUMBERS or found.shape == due.shape:
        return value
    same = found.dtype.kind in _NUMBERS and found.size == due.size
    return found.reshape(due.shape)[()] if same else right
