"""A function or class of our own, called in this process as a submission's is in another one."""

from __future__ import annotations

import copy
import importlib
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograder.exercise.given import Given, portable
from autograder.exercise.remember import Values, remembered
from autograder.grading.objects import kind_of
from autograder.grading.runs import Run
from autograder.sandbox import StudentError, WireError
from autograder.sandbox.inside.modules import gradients
from autograder.sandbox.inside.objects import Objects, seed
from autograder.sandbox.meters.meter import metered
from autograder.sandbox.wire import decode, encode_parts

_objects = Objects()  # of all functions in this process: one may be handed what another has made


class Local:
    """The reference, an alternative or a misconception, with what `StudentCall` can do.

    What it returns has been through the wire's form, like everything that a submission returns:
    objects can't get out.

    Attributes
    ----------
    kind
        The class of what it makes, where that is known.
    warnings
        The kinds of warnings that the last call gave.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = getattr(function, "compute", function)
        self.kind = kind_of(function)
        self.warnings: tuple[str, ...] = ()
        self.modified = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it."""
        return self._called(self._function, args, kwargs)

    def metered(self, *args: Any, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Call and count the work."""
        args, kwargs = self._arguments(args, kwargs)
        return metered(self._function, args, kwargs, _torchmeter())

    def outlined(self, *shapes: tuple[int, ...], dtype: str) -> dict[str, Any]:
        """Count the work of a call with tensors without numbers."""
        torchmeter = importlib.import_module("autograder.sandbox.meters.torchmeter")
        found: dict[str, Any] = torchmeter.outlined(self._function, shapes, dtype)
        return found

    def make(self, key: int, args: Any, kwargs: Any) -> None:
        """Call it, and keep the object that comes."""

        def make(*args: Any, **kwargs: Any) -> None:
            _objects.keep(key, self._function(*args, **kwargs))

        self._called(make, args, kwargs)

    def method(self, key: int, name: str, args: Any, kwargs: Any) -> Any:
        """Call a method of an object."""

        def method(*args: Any, **kwargs: Any) -> Any:
            return _objects.method(key, name, args, kwargs)

        return self._called(method, args, kwargs)

    def gradients(self, key: int | None, args: Any, kwargs: Any) -> Any:
        """Differentiate the function itself, or an object."""

        def differentiate(*args: Any, **kwargs: Any) -> Any:
            own = self._function if key is None else _objects.called(key)
            return gradients(own, list(args), kwargs)

        return self._called(differentiate, args, kwargs)

    def measured(self, key: int, name: str, args: Any, kwargs: Any) -> tuple[Any, dict[str, Any]]:
        """Count the work of a method on a copy of the object."""
        args, kwargs = self._arguments(args, kwargs)
        return metered(_objects.on_copies(key, name), args, kwargs, _torchmeter())

    def get(self, key: int, name: str) -> Any:
        """Return what an attribute holds."""
        with self._listening():
            return _as_data(_objects.get(key, name))

    def set(self, key: int, name: str, value: Any) -> None:
        """Give an attribute a value."""
        with self._listening():
            _objects.set(key, name, copy.deepcopy(value))

    def is_method(self, key: int, name: str) -> bool:
        """Say whether an attribute is something to call."""
        with self._listening():
            return _objects.is_method(key, name)

    def seed(self, number: int) -> None:
        """Seed the generators that all code has in common."""
        seed(number)

    def drop(self, keys: list[int]) -> None:
        """Forget objects."""
        _objects.drop(keys)

    def _called(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call with copies, as they come over the wire, and see whether these are changed."""
        passed = copy.deepcopy((args, kwargs))
        found, named = self._arguments(*passed)
        with self._listening():
            value = _as_data(function(*found, **named))
        self.modified = not same(passed, (args, kwargs))
        return value

    def _arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return arguments with what is given besides data in its place, made from its source."""
        request = portable(args, kwargs)
        if not request["given"]:
            return args, kwargs
        found, named = _objects.arguments(request)
        return tuple(found), named

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Take note of warnings; what the function raises is as if a student's had raised it."""
        self.modified = False
        try:
            with warnings.catch_warnings(record=True) as given, np.errstate(all="warn"):
                warnings.simplefilter("always")
                yield
        except StudentError:
            raise
        except WireError as error:
            raise StudentError("unsendable", f"it returned {error}") from error
        except Exception as error:
            raise StudentError("exception", str(error), type=type(error).__name__) from error
        self.warnings = tuple(warning.category.__name__ for warning in given)


def ran(function: Callable[..., Any], asked: Values) -> Run:
    """Make an expensive call of a function of our own, which always gives the same."""
    return _ran(inspect.unwrap(getattr(function, "compute", function)), asked)


@remembered(size=100)
def _ran(function: Callable[..., Any], asked: Values) -> Run:
    args, kwargs = asked.values
    return Run(Local(function)(*args, **kwargs))


def _as_data(value: Any) -> Any:
    """Return a value as it comes from another process."""
    header, buffers = encode_parts(value)
    return decode(header, b"".join(buffers))


def _torchmeter() -> Any:
    """Return the meter of torch where that is in use: importing it takes seconds."""
    if "torch" not in sys.modules:
        return None
    return importlib.import_module("autograder.sandbox.meters.torchmeter")


def same(a: Any, b: Any) -> bool:
    """Tell whether two trees of arguments are identical, bit for bit."""
    if isinstance(a, np.ndarray):
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    if isinstance(a, tuple | list):
        return all(map(same, a, b))
    if isinstance(a, dict):
        return all(same(a[key], b[key]) for key in a)
    if isinstance(a, Given):
        return same(a.args, b.args)
    if hasattr(a, "detach"):  # a tensor
        return encode_parts(a) == encode_parts(b)
    if isinstance(a, Given):  # what it is made from may be arrays
        return a.function is b.function and same(a.args, b.args)
    return bool(a == b)
