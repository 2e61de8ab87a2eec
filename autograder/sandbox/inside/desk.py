"""What can be asked of a function, and of the objects that it makes, in whatever process it is.

The worker asks it about student code, the grader's own process about references: one interpreter
of requests, so that both are treated alike.
"""

import contextlib
import copy
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from autograder.sandbox.inside.handles import Objects, seed
from autograder.sandbox.inside.modules import gradients
from autograder.sandbox.meters import meter
from autograder.sandbox.wire import requests

_MOST_WARNINGS = 20


class NoTorch(Exception):
    """There is no torch to count a call with."""


class Done(NamedTuple):
    """What came of a request: a value, what kinds of warnings were given, and counts of work."""

    value: Any = None
    warnings: tuple[str, ...] = ()
    work: Any = None


class Desk:
    """Does what is asked of a function, and of what it has made.

    Parameters
    ----------
    objects
        What calls have made.
    torchmeter
        Returns the meter of torch, or None where torch is not in use: importing it takes seconds.
    """

    def __init__(self, objects: Objects, torchmeter: Callable[[], Any]) -> None:
        self._objects = objects
        self._torchmeter = torchmeter

    def do(self, request: requests.Request, function: Callable[[], Callable[..., Any]]) -> Done:
        """Answer a request whose arguments are in their places.

        Parameters
        ----------
        function
            Returns the function that the request is about; asked only where it is about one.
        """
        return _DOES[type(request)](self, request, function)

    def _call(self, request: requests.Call, function: Callable[..., Any]) -> Done:
        return listening(function(), *request.args, **request.kwargs)

    def _call_each(self, request: requests.CallEach, function: Callable[..., Any]) -> Done:
        own, values, until = function(), [], time.monotonic() + request.seconds
        with contextlib.suppress(Exception):  # asked again by itself it says what it raises
            for args in request.each:
                done = listening(own, *args)
                if done.warnings:
                    break
                values.append(copy.deepcopy(done.value))  # the next call may write to it
                if time.monotonic() > until:
                    break
        return Done(values)

    def _time(self, request: requests.Time, function: Callable[..., Any]) -> Done:
        # Beside the call nothing: somebody's clock is running.
        return Done(function()(*request.args, **request.kwargs))

    def _count(self, request: requests.CountWork, function: Callable[..., Any]) -> Done:
        return self._counted(function(), None, request)

    def _outline(self, request: requests.Outline, function: Callable[..., Any]) -> Done:
        own, torchmeter = function(), self._torchmeter()
        if torchmeter is None:
            raise NoTorch
        return Done(work=torchmeter.outlined(own, request.shapes, request.dtype))

    def _make(self, request: requests.Make, function: Callable[..., Any]) -> Done:
        done = listening(function(), *request.args, **request.kwargs)
        self._objects.keep(request.key, done.value)
        return done._replace(value=None)

    def _call_method(self, request: requests.CallMethod, _: object) -> Done:
        key, name = request.key, request.name
        return listening(self._objects.method, key, name, request.args, request.kwargs)

    def _count_method(self, request: requests.CountMethod, _: object) -> Done:
        return self._counted(*self._objects.bound(request.key, request.name), request)

    def _differentiate(self, request: requests.Differentiate, function: Callable[..., Any]) -> Done:
        own = function() if request.key is None else self._objects.called(request.key)
        return listening(gradients, own, [*request.args], request.kwargs)

    def _get(self, request: requests.GetAttribute, _: object) -> Done:
        return Done(self._objects.get(request.key, request.name))

    def _set(self, request: requests.SetAttribute, _: object) -> Done:
        self._objects.set(request.key, request.name, *request.args)
        return Done()

    def _is_method(self, request: requests.IsMethod, _: object) -> Done:
        return Done(self._objects.is_method(request.key, request.name))

    def _drop(self, request: requests.Drop, _: object) -> Done:
        self._objects.drop(request.keys)
        return Done()

    def _seed(self, request: requests.Seed, _: object) -> Done:
        seed(request.number)
        return Done()

    def _counted(
        self, function: Callable[..., Any], held: object, request: requests.WithArguments
    ) -> Done:
        args, kwargs = tuple(request.args), dict(request.kwargs)
        value, work = meter.metered(function, args, kwargs, self._torchmeter(), held)
        return Done(value, work=work)


_DOES: dict[type, Callable[[Desk, Any, Any], Done]] = {
    requests.Call: Desk._call,
    requests.CallEach: Desk._call_each,
    requests.Lend: Desk._call,
    requests.Time: Desk._time,
    requests.Watch: Desk._time,
    requests.CountWork: Desk._count,
    requests.Outline: Desk._outline,
    requests.Make: Desk._make,
    requests.CallMethod: Desk._call_method,
    requests.CountMethod: Desk._count_method,
    requests.Differentiate: Desk._differentiate,
    requests.GetAttribute: Desk._get,
    requests.SetAttribute: Desk._set,
    requests.IsMethod: Desk._is_method,
    requests.Drop: Desk._drop,
    requests.Seed: Desk._seed,
}


def listening(function: Callable[..., Any], *args: object, **kwargs: object) -> Done:
    """Call a function, and say what kinds of warnings it gave."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        value = function(*args, **kwargs)
    return Done(value, tuple(warning.category.__name__ for warning in given[:_MOST_WARNINGS]))
