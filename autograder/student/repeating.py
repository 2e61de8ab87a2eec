"""Calls that were recorded with the reference, repeated with your function."""

from __future__ import annotations

import contextlib
import inspect
import io
import linecache
import random
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from autograder.student.data import decode
from autograder.student.differences import numbers_of
from autograder.student.display import block
from autograder.student.kinds_of_results import as_asked, other_kind
from autograder.student.told_differences import told_difference
from autograder.student.travelling import READABLE, unreadable_result

if TYPE_CHECKING:
    from autograder.student.released_files import RecordedCall


class Tried(NamedTuple):
    """A recorded call as it went with your function.

    Attributes
    ----------
    came
        What it returned, in the form of what was expected; None where it raised an exception.
    wrong
        What is wrong with that, and with which arguments; nothing where it is as it should be.
    size
        How many numbers it was given.
    """

    came: Any
    wrong: list[str]
    size: int


def repeated(
    function: object, name: str, calls: list[RecordedCall], notebook: dict[str, Any]
) -> Iterator[Tried]:
    """Repeat recorded calls one after the other, until an object can't be made.

    Raises
    ------
    NotImplementedError
        If something of it is not written yet.
    """
    objects: dict[int, Any] = {}
    for number, call in enumerate(calls, 1):
        asked: Any = None
        came: Any = None
        wrong: list[str] = []
        args, kwargs = _arguments(call, objects)
        try:
            asked = _asked(function, call, objects)
            came = _quietly(asked, args, kwargs)
            if call.get("do") == "make":
                objects[call["object"]] = came
            elif refused := _unreadable(came, objects):
                wrong = [f"it returned {refused}; {READABLE}"]
            elif "value" in call:
                expected = decode(call["value"])
                wrong = [kind] if (kind := other_kind(came, expected)) else []
                came = came if wrong else as_asked(came, expected)
                wrong = wrong or told_difference(
                    came, expected, call["compare"], "the result", call.get("rtol", 0.0)
                )
            if not wrong and call.get("unchanged"):
                before = _named(asked, *_arguments(call, objects))
                for given, value in _named(asked, args, kwargs).items():
                    if told_difference(value, before[given], ["value"], given):
                        wrong = [f"it changes its argument {given}"]
        except NotImplementedError:
            raise
        except (Exception, SystemExit) as error:
            came, wrong = None, _told(error, notebook)
        if wrong:
            named = _named(asked, *_arguments(call, objects))
            said = ".".join([name, *([call["name"]] if "name" in call else [])])
            said = said.removesuffix(".__call__")
            which = f"    (call {number} of {len(calls)})" if len(calls) > 1 else ""
            shown = {
                argument: np.asarray(numbers_of(value)) if hasattr(value, "detach") else value
                for argument, value in named.items()
            }
            wrong = [f"{said}({', '.join(named)}){which}", *wrong, *block(shown)]
        yield Tried(came, wrong, _size([*args, *kwargs.values()]))
        if wrong and call.get("do") == "make":
            return


def _size(value: object) -> int:
    """Return how many numbers there are in arguments."""
    if isinstance(value, dict):
        value = [*value.values()]
    if isinstance(value, (list, tuple)):
        return sum(map(_size, value))
    return int(np.size(numbers_of(value)))


def _unreadable(came: object, objects: dict[int, Any]) -> str:
    """Say what the grader can't read of a result; an object's own method may return the object."""
    return "" if any(came is held for held in objects.values()) else unreadable_result(came)


def _asked(function: object, call: RecordedCall, objects: dict[int, Any]) -> Any:
    """Return what a recorded request calls."""
    do = call.get("do", "call")
    if do in ("call", "make"):
        return function
    if do == "seed":
        return _seed
    held, attribute = objects[call["object"]], call["name"]
    if do == "method":
        return held if attribute == "__call__" else getattr(held, attribute)
    if do == "get":
        return lambda: getattr(held, attribute)
    return lambda value: setattr(held, attribute, value)


def _seed(number: int) -> None:
    """Seed the generators that all code has in common."""
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(number)


def _quietly(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call it, and drop what it prints and warns about."""
    with contextlib.ExitStack() as quiet:
        quiet.enter_context(contextlib.redirect_stdout(io.StringIO()))
        quiet.enter_context(contextlib.redirect_stderr(io.StringIO()))
        quiet.enter_context(np.errstate(all="ignore"))
        quiet.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        return function(*args, **kwargs)


def _arguments(call: RecordedCall, objects: dict[int, Any]) -> tuple[list[Any], dict[str, Any]]:
    kwargs = {name: _argument(value, objects) for name, value in call["kwargs"].items()}
    return [_argument(value, objects) for value in call["args"]], kwargs


def _argument(value: object, objects: dict[int, Any]) -> Any:
    """Return an argument: data, an object that was made before, or a function from its source."""
    if isinstance(value, dict) and "object" in value:
        return objects[value["object"]]
    if not isinstance(value, dict) or "given" not in value:
        return decode(value)
    names: dict[str, Any] = {}
    exec(compile(value["given"], "<given>", "exec"), names)
    return names["given"] if value["args"] is None else names["given"](*decode(value["args"]))


def _named(
    function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Return what a call passes, by name as far as the function has names."""
    function = getattr(function, "forward", function)  # torch calls this
    try:
        found = inspect.signature(function).parameters.values()
        names = [parameter.name for parameter in found if parameter.kind < 2]
    except (ValueError, TypeError):
        names = []
    names += [f"argument {i}" for i in range(len(names) + 1, len(args) + 1)]
    return {**dict(zip(names, args)), **kwargs}  # noqa: B905


def _told(error: BaseException, notebook: dict[str, Any]) -> list[str]:
    """Return what an exception says, and the line of the notebook where it arose."""
    lines = [f"{type(error).__name__}: {error}"]
    if type(error) is NameError and (name := re.search(r"name '(\w+)'", str(error))):
        lines = [f"`{name[1]}` is not defined yet: run its cell first"]
    for frame, number in own_steps(error, notebook)[-1:]:
        source = linecache.getline(frame.f_code.co_filename, number).strip()
        lines.append(f"in line {number} of the cell: {source}")
    return lines


def own_steps(error: BaseException, notebook: dict[str, Any]) -> list[Any]:
    """Return the steps of a traceback that are in the notebook, each with its line."""
    return [
        (frame, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals is notebook and frame.f_code.co_name != "<module>"
    ]
