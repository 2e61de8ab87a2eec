"""A function or class of our own, called in this process as a submission's is in another one."""

from __future__ import annotations

import importlib
import inspect
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autograder.exercise.cache import Values, deepcopied, remembered
from autograder.exercise.words.given import Given, portable
from autograder.exercise.words.part import computation
from autograder.grading.callee import Callee
from autograder.grading.proxies import kind_of
from autograder.grading.runs import Run
from autograder.sandbox import Reply, StudentError, WireError
from autograder.sandbox.inside.desk import Desk
from autograder.sandbox.inside.handles import Objects
from autograder.sandbox.meters.layers import watching
from autograder.sandbox.replies import one_line
from autograder.sandbox.wire import TensorNumbers, decode, encode_parts
from autograder.sandbox.wire.requests import Outline, Request, WithArguments
from autograder.student.travelling import READABLE


class Local(Callee):
    """The reference, an alternative or a misconception.

    What it returns has been through the wire's form, like everything that a submission returns:
    objects can't get out.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = computation(function)
        self.kind = kind_of(function)

    def ask(self, request: Request) -> Reply:
        """Do it in this process; there is no clock to read."""
        if not (isinstance(request, WithArguments) and request.without):
            return self._answer(request)
        with watching(request.without, closely=request.closely) as seen:
            answer = self._answer(request)
        return replace(answer, layers=tuple(sorted(seen.words)))

    def _answer(self, request: Request) -> Reply:
        if isinstance(request, Outline):
            importlib.import_module("torch")
        if not isinstance(request, WithArguments):
            return self._done(request)
        # With copies, as they come over the wire; are these changed?
        given = tuple(request.args), request.kwargs
        passed = deepcopied(given)
        args, kwargs = _arguments(*_plain(passed))
        answer = self._done(replace(request, args=args, kwargs=kwargs))
        return answer if same(passed, given) else replace(answer, modified=True)

    def _done(self, request: Request) -> Reply:
        """Do it; what the function raises is as if a student's had raised it."""
        # Of what a fresh process warns of; an underflow isn't among it.
        usual = np.errstate(divide="warn", over="warn", invalid="warn", under="ignore")
        try:
            with warnings.catch_warnings(), usual:
                warnings.simplefilter("ignore")
                done = _desk.do(request, lambda: self._function)
                value = _as_data(done.value) if done.work is None else done.value
        except StudentError:
            raise
        except WireError as error:
            raise StudentError(
                "unsendable", f"it returned {error}; {READABLE}", text=str(error)
            ) from error
        except Exception as error:  # the author's code
            name, text = type(error).__name__, one_line(str(error))
            raise StudentError("exception", str(error), type=name, text=text) from error
        return Reply(value, warnings=done.warnings, work=done.work or {})

    def once(self, args: object, kwargs: object) -> Run:
        """Make an expensive call of a function of our own, which always gives the same."""
        return _ran(inspect.unwrap(self._function), Values((args, kwargs)))


def _arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]]:
    """Return arguments with what is given besides data in its place, made from its source."""
    request = portable(args, kwargs)
    return _objects.arguments(request) if request["given"] else (args, kwargs)


def _plain(value: Any) -> Any:
    """Return arguments with arrays where a submission gets its tensors back; nothing is copied."""
    if isinstance(value, TensorNumbers):
        return np.asarray(value)
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return {key: _plain(entry) for key, entry in value.items()} if type(value) is dict else value


@remembered(size=100, lasts=True)
def _ran(function: Callable[..., Any], asked: Values) -> Run:
    args, kwargs = asked.values
    began = time.thread_time()
    value = Local(function)(*args, **kwargs)
    return Run(value, time.thread_time() - began)


def _as_data(value: object) -> Any:
    """Return a value as it comes from another process."""
    header, buffers = encode_parts(value)
    return decode(header, b"".join(buffers))


def _torchmeter() -> Any:
    """Return the meter of torch where that is in use: importing it takes seconds."""
    if "torch" not in sys.modules:
        return None
    return importlib.import_module("autograder.sandbox.meters.torchmeter")


# Of all functions in this process: one may be handed what another has made.
_objects = Objects()
_desk = Desk(_objects, _torchmeter)


def _bits(array: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    return array.dtype, array.shape, array.tobytes()


def same(a: Any, b: Any) -> bool:
    """Tell whether two trees of arguments are identical, bit for bit."""
    if isinstance(a, np.ndarray):
        if a.dtype != object and isinstance(b, np.ndarray) and _bits(a) == _bits(b):
            return True
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    if isinstance(a, tuple | list):
        return all(map(same, a, b))
    if isinstance(a, dict):
        return all(same(a[key], b[key]) for key in a)
    if hasattr(a, "detach"):  # a tensor
        return encode_parts(a) == encode_parts(b)
    if isinstance(a, Given):  # what it is made from may be arrays
        return a.function is b.function and same(a.args, b.args)
    return bool(a == b)
