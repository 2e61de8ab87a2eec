"""A function or class of our own, called in this process as a submission's is in another one."""

from __future__ import annotations

import copy
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
from autograder.exercise.given import Given, portable
from autograder.exercise.part import computation
from autograder.grading.callee import Callee
from autograder.grading.proxies import kind_of
from autograder.grading.runs import Run
from autograder.sandbox import Reply, StudentError, WireError
from autograder.sandbox.inside.handles import Objects, seed
from autograder.sandbox.inside.modules import gradients
from autograder.sandbox.meters.layers import watching
from autograder.sandbox.meters.meter import metered
from autograder.sandbox.replies import one_line
from autograder.sandbox.wire import decode, encode_parts
from autograder.sandbox.wire.requests import (
    Call,
    CallMethod,
    CountMethod,
    CountWork,
    Differentiate,
    Drop,
    GetAttribute,
    IsMethod,
    Lend,
    Make,
    Outline,
    Request,
    Seed,
    SetAttribute,
    Time,
    Watch,
    WithArguments,
)
from autograder.student.travelling import READABLE

_objects = Objects()  # of all functions in this process: one may be handed what another has made


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
        wanted = request.without if isinstance(request, WithArguments) else ()
        if not wanted:
            return self._answer(request)
        with watching(wanted) as seen:
            answer = self._answer(request)
        return replace(answer, layers=tuple(sorted(seen.words)))

    def _answer(self, request: Request) -> Reply:
        match request:
            case Call(args, kwargs) | Lend(args, kwargs) | Time(args, kwargs) | Watch(args, kwargs):
                return self._called(self._function, args, kwargs)
            case CountWork(args, kwargs):
                return self._counted(self._function, None, args, kwargs)
            case Outline(shapes, dtype):
                torchmeter = importlib.import_module("autograder.sandbox.meters.torchmeter")
                outlined = _listening(lambda: torchmeter.outlined(self._function, shapes, dtype))
                return replace(outlined, value=None, work=outlined.value)
            case Make(args, kwargs, key):

                def make(*args: Any, **kwargs: Any) -> None:
                    _objects.keep(key, self._function(*args, **kwargs))

                return self._called(make, args, kwargs)
            case CallMethod(args, kwargs, key, name):

                def method(*args: Any, **kwargs: Any) -> Any:
                    return _objects.method(key, name, args, kwargs)

                return self._called(method, args, kwargs)
            case CountMethod(args, kwargs, key, name):
                return self._counted(*_objects.bound(key, name), args, kwargs)
            case Differentiate(args, kwargs, made):

                def differentiate(*args: Any, **kwargs: Any) -> Any:
                    own = self._function if made is None else _objects.called(made)
                    return gradients(own, list(args), kwargs)

                return self._called(differentiate, args, kwargs)
            case GetAttribute(key, name):
                return _listening(lambda: _as_data(_objects.get(key, name)))
            case SetAttribute(args, _, key, name):
                return _listening(lambda: _objects.set(key, name, copy.deepcopy(args[0])))
            case IsMethod(key, name):
                return _listening(lambda: _objects.is_method(key, name))
            case Drop(keys):
                _objects.drop(keys)
                return Reply()
            case Seed(number):
                seed(number)
                return Reply()

    def once(self, args: Any, kwargs: Any) -> Run:
        """Make an expensive call of a function of our own, which always gives the same."""
        return _ran(inspect.unwrap(self._function), Values((args, kwargs)))

    def _called(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Reply:
        """Call with copies, as they come over the wire, and see whether these are changed."""
        given = tuple(args), kwargs
        passed = deepcopied(given)
        found, named = self._arguments(*passed)
        answer = _listening(lambda: _as_data(function(*found, **named)))
        return answer if same(passed, given) else replace(answer, modified=True)

    def _counted(
        self, function: Callable[..., Any], held: Any, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> Reply:
        found, named = self._arguments(tuple(args), kwargs)
        answer = _listening(lambda: metered(function, found, named, _torchmeter(), held))
        value, work = answer.value
        return replace(answer, value=value, work=work)

    def _arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return arguments with what is given besides data in its place, made from its source."""
        request = portable(args, kwargs)
        if not request["given"]:
            return args, kwargs
        found, named = _objects.arguments(request)
        return tuple(found), named


def _listening(function: Callable[[], Any]) -> Reply:
    """Take note of warnings; what the function raises is as if a student's had raised it."""
    try:
        # Of what a fresh process warns of; an underflow isn't among it.
        usual = np.errstate(divide="warn", over="warn", invalid="warn", under="ignore")
        with warnings.catch_warnings(record=True) as given, usual:
            warnings.simplefilter("always")
            value = function()
    except StudentError:
        raise
    except WireError as error:
        raise StudentError(
            "unsendable", f"it returned {error}; {READABLE}", text=str(error)
        ) from error
    except Exception as error:
        name, text = type(error).__name__, one_line(str(error))
        raise StudentError("exception", str(error), type=name, text=text) from error
    return Reply(value, warnings=tuple(warning.category.__name__ for warning in given))


@remembered(size=100)
def _ran(function: Callable[..., Any], asked: Values) -> Run:
    args, kwargs = asked.values
    began = time.thread_time()
    value = Local(function)(*args, **kwargs)
    return Run(value, time.thread_time() - began)


def _as_data(value: Any) -> Any:
    """Return a value as it comes from another process."""
    header, buffers = encode_parts(value)
    return decode(header, b"".join(buffers))


def _torchmeter() -> Any:
    """Return the meter of torch where that is in use: importing it takes seconds."""
    if "torch" not in sys.modules:
        return None
    return importlib.import_module("autograder.sandbox.meters.torchmeter")


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
