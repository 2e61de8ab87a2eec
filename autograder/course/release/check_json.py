"""What check.json tells a student's notebook about an exercise: enough to check, no solution.

Visible checks are run here with the reference, and the calls that they make are recorded: what
was asked and what came back.  The notebook repeats the calls with the student's function.  What
it compares is what the check looks at, found by changing the answers under the check: values
that it lets pass are neither compared nor shipped.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from autograder.course.config import CourseError
from autograder.course.release.asked import encode_variant, hint_of
from autograder.course.release.plain_json import encode
from autograder.exercise import Check, CheckedFunction, Exercise
from autograder.exercise.words.given import FIRST_KEY, Given, Held
from autograder.grading.interview import Interview
from autograder.grading.repeat import renumbered
from autograder.grading.replay import seed_of
from autograder.sandbox import Tensor
from autograder.sandbox.wire.requests import (
    Call,
    CallMethod,
    Differentiate,
    GetAttribute,
    Make,
    Request,
    Seed,
    SetAttribute,
    WithArguments,
)
from autograder.student.released_files import (
    RecordedCall,
    RecordedCheck,
    RecordedExercise,
    RecordedFunction,
)
from autograder.student.rounding import TOLERANCE
from autograder.student.visible_checks import effortless

Change = Callable[[Any], Any]

#: More than this many characters of recorded calls is no longer a small file.
MAX_RECORDING = 500_000


def record(exercise: Exercise, variants: Sequence[tuple[Any, Any]]) -> RecordedExercise:
    """Return the entry of an exercise in check.json; `drawing.drawn` gives the variants.

    Raises
    ------
    CourseError
        If the reference fails a visible check, or a check can't be recorded.
    """
    if exercise.checks and not exercise.functions:
        raise CourseError(f"{exercise.id}: its checks have no function: add an @exercise.reference")
    return {
        "title": exercise.title,
        "points": exercise.points,
        "functions": [recorded_function(function) for function in exercise.functions],
        "parts": [
            {
                "name": part.name,
                "rubric": part.asks,
                "points": part.points,
                "hint": hint_of(part, [known[part.name] for _, known in variants]),
            }
            for part in exercise.parts
        ],
        "pool": [encode_variant(exercise, variant) for variant, _ in variants],
    }


def recorded_function(function: CheckedFunction) -> RecordedFunction:
    """Return what a notebook may know of a function: its name, and the visible checks."""
    visible = [check for check in function.checks if check.visible]
    entry: RecordedFunction = {
        "name": function.name,
        "checks": [_check(function, check) for check in visible],
        "hidden_checks": len(function.checks) - len(visible),
    }
    if function.without:
        entry["without"] = [*function.without]
    return entry


def _check(function: CheckedFunction, check: Check) -> RecordedCheck:
    """Run a visible check with the reference, and return its calls."""
    name = f"{function.id}: the visible check `{check.name}`"
    call = Interview(function.solution)
    if error := _fails(function, check, call):
        reason = f"{type(error).__name__}: {error}"
        raise CourseError(f"{name} fails with the reference itself ({reason})") from error
    if not call.calls:
        raise CourseError(f"{name} gets no answer from any call, so it can't be shown: hide it")
    try:
        recorded = [
            asked_of(made.request)
            | ({} if made.value is None else _expected(function, check, made.value, number))
            for number, made in enumerate(renumbered(call.calls))
        ]
    except TypeError as error:
        raise CourseError(f"{name} can't be recorded ({error}): hide it") from None
    if (size := len(json.dumps(recorded))) > MAX_RECORDING:
        raise CourseError(
            f"{name} takes {size:,} characters to record, and at most {MAX_RECORDING:,} are "
            "shipped: call with smaller arrays, or hide it"
        )
    varied = all(isinstance(made.request, Call) for made in call.calls) and not effortless(
        [made.value for made in call.calls]
    )
    entry: RecordedCheck = {
        "name": check.name,
        "rubric": check.rubric,
        "points": check.points,
        "calls": recorded,
    }
    if varied:
        entry["varied"] = True
    return entry


def asked_of(request: Request) -> RecordedCall:
    """Return what a check asks for, as it is recorded.

    Raises
    ------
    TypeError
        If that can't be shown.
    """
    return _target(request) | _arguments(request)


def _target(request: Request) -> RecordedCall:
    """Return what is not a plain call: which object is made or used, and how."""
    match request:
        case Call():
            return {}
        case Make(_, _, key):
            return {"do": "make", "object": key}
        case CallMethod(_, _, key, name):
            return {"do": "method", "object": key, "name": name}
        case GetAttribute(key, name):
            return {"do": "get", "object": key, "name": name}
        case SetAttribute(_, _, key, name):
            return {"do": "set", "object": key, "name": name}
        case Differentiate(_, _, key):
            return {"do": "gradients", "object": -1 if key is None else key}
        case Seed():
            return {"do": "seed", "object": -1}
    raise TypeError(f"it asks for more than can be shown: {type(request).__name__}")


def _arguments(request: Request) -> RecordedCall:
    args: Sequence[Any] = ()
    kwargs: dict[str, Any] = {}
    if isinstance(request, WithArguments):
        args, kwargs = request.args, request.kwargs
    elif isinstance(request, Seed):
        args = (request.number,)
    return {
        "args": [_argument(value) for value in args],
        "kwargs": {key: _argument(value) for key, value in kwargs.items()},
    }


def _argument(value: object) -> Any:
    """Encode an argument; a function goes as its source, which a visible check so publishes."""
    if isinstance(value, Held):
        if value.key >= FIRST_KEY:
            raise TypeError("it hands over an object of another function's")
        return {"object": value.key}
    if isinstance(value, Given):
        args = None if value.args is None else [encode(each) for each in value.args]
        return {"given": value.source, "args": args}
    return encode(value)


def _fails(function: CheckedFunction, check: Check, call: Callable[..., Any]) -> Exception | None:
    """Run a check; return what it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check.run(call, seed_of(function, check))
    except Exception as error:  # the check's verdict, whatever it is
        return error
    return None


def _expected(function: CheckedFunction, check: Check, value: object, number: int) -> RecordedCall:
    """Return the answer to a call and in which respects the check looks at it.

    Of dictionaries, entries that it does not look at are left out; "more" says that there are such.
    """

    def matters(change: Change) -> bool:
        if not _fails(function, check, _Changed(function, number, change)):
            return False
        # Of several answers that are put together one may not have another type than the others.
        retyped = _Changed(function, None, change)
        return change is not _other_dtype or bool(_fails(function, check, retyped))

    kept = _looked_at(value, matters)
    compare = _respects(value, kept, matters)
    found: RecordedCall = {"value": encode(compared(kept, compare)), "compare": compare}
    if loose := _looseness(value, matters):
        found["rtol"] = loose
    changed = _Changed(function, number, lambda value: value, modified=True)
    if _fails(function, check, changed):
        found["unchanged"] = True
    return found


class _Changed(Interview):
    """The reference, except that one of its answers is changed, or each that is an array."""

    def __init__(
        self,
        function: CheckedFunction,
        number: int | None,
        change: Change,
        *,
        modified: bool = False,
    ) -> None:
        super().__init__(function.solution)
        self._number, self._change, self._modified = number, change, modified

    @property
    def modified(self) -> bool:
        """Say what was asked for."""
        return self._modified

    def ask(self, request: Request) -> Any:
        """Ask the reference."""
        value = super().ask(request)
        if self._number is None:
            return self._change(value) if isinstance(value, np.ndarray) else value
        return self._change(value) if len(self.calls) == self._number + 1 else value


def _looked_at(value: Any, matters: Callable[[Change], bool]) -> Any:
    """Return a value without the entries of dictionaries that don't matter."""
    if isinstance(value, tuple):
        return tuple(_looked_at(entry, _inside(i, matters)) for i, entry in enumerate(value))
    if isinstance(value, dict):
        return {key: value[key] for key in value if matters(_without(key))}
    return value


def _respects(value: object, kept: Any, matters: Callable[[Change], bool]) -> list[Any]:
    """Return which of "value", or else "shape", and "dtype" matter; for each entry of a tuple."""
    if isinstance(value, tuple):
        pairs = enumerate(zip(value, kept, strict=True))
        return [_respects(entry, own, _inside(i, matters)) for i, (entry, own) in pairs]
    if isinstance(value, dict):
        return ["value", *(["more"] if len(kept) < len(value) else [])]
    if isinstance(value, Tensor):
        return ["value"] if matters(_other_tensor) else []
    if not isinstance(value, np.ndarray | np.generic | float | int):
        return ["value"]
    size = "value" if matters(_other_value) else "shape" if matters(_other_shape) else ""
    return [*filter(None, [size]), *(["dtype"] if matters(_other_dtype) else [])]


def _looseness(value: object, matters: Callable[[Change], bool]) -> float | None:
    """Return the relative tolerance of a check that allows for more than rounding."""
    sizes = [
        entry.itemsize
        for entry in _arrays(value)
        if entry.dtype.kind == "f" and np.any(np.isfinite(entry) & (entry != 0))
    ]
    found = None
    for tolerance in (10.0**exponent for exponent in range(-7, 0)):
        if not sizes or tolerance <= TOLERANCE[min(sizes)][0]:
            continue
        if matters(partial(_scaled, by=tolerance / 2)):
            break
        found = tolerance
    return found


def _arrays(value: object) -> list[np.ndarray[Any, Any]]:
    """Return the arrays and numbers in a value, which may be tuples of tuples."""
    if isinstance(value, tuple):
        return [array for entry in value for array in _arrays(entry)]
    return [np.asarray(value)]


def _scaled(value: object, by: float) -> Any:
    """Make all floating-point numbers a little larger."""
    if isinstance(value, tuple):
        return tuple(_scaled(entry, by) for entry in value)
    if isinstance(value, np.ndarray | np.floating) and value.dtype.kind == "f":
        return value * value.dtype.type(1 + by)
    return value * (1 + by) if isinstance(value, float) else value


def _inside(i: int, matters: Callable[[Change], bool]) -> Callable[[Change], bool]:
    """Return whether it matters that an entry of a tuple is changed."""
    return lambda change: matters(lambda value: (*value[:i], change(value[i]), *value[i + 1 :]))


def _without(key: object) -> Change:
    return lambda value: {other: value[other] for other in value if other != key}


def _other_value(value: Any) -> Any:
    array = np.nan_to_num(np.asarray(value))
    other = ~array if array.dtype.kind == "b" else array + array.dtype.type(1)
    return other if isinstance(value, np.ndarray) else type(value)(other[()])


def _other_tensor(value: Any) -> Any:
    return Tensor(value.dtype, _other_value(value.array))


def _other_shape(value: object) -> Any:
    return np.asarray(value)[None]


def _other_dtype(value: object) -> Any:
    array = np.asarray(value)
    other = array.astype("float32" if array.dtype == "float64" else "float64")
    return other if isinstance(value, np.ndarray) else other[()]


def compared(value: Any, compare: list[Any]) -> Any:
    """Return a value with zeros where it isn't compared."""
    if isinstance(value, tuple):
        return tuple(compared(entry, own) for entry, own in zip(value, compare, strict=True))
    if "value" in compare or isinstance(value, Tensor):
        return value
    return np.zeros_like(value) if isinstance(value, np.ndarray) else type(value)(0)
