"""Objects that student code has made, and that the grader knows by a number alone.

Whoever asks for one gets data: what a method returns, what an attribute holds.  The objects stay in
this process, where they end with it.
"""

import functools
import os
import random
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

#: Is there a device that torch could draw random numbers on, besides the processor?
_GPU = any(map(os.path.exists, ("/dev/nvidiactl", "/dev/kfd")))


class Lost(LookupError):
    """There is no object of that number."""


class Objects:
    """The objects of one process, and the functions that are handed to student code."""

    def __init__(self) -> None:
        self._held: dict[int, Any] = {}

    def arguments(self, request: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of a request, with what is given besides data in its place."""
        args, kwargs = list(request["args"]), dict(request["kwargs"])
        for place, spec in request.get("given", ()):
            value = self._find(spec["object"]) if "object" in spec else _given(spec)
            if isinstance(place, str):
                kwargs[place] = value
            else:
                args[place] = value
        return args, kwargs

    def keep(self, key: int, value: object) -> None:
        """Keep what a call has made."""
        self._held[key] = value

    def drop(self, keys: Sequence[int]) -> None:
        """Forget objects that are no longer needed."""
        for key in keys:
            self._held.pop(key, None)

    def method(self, key: int, name: str, args: Any, kwargs: Any) -> Any:
        """Call a method; one that returns its own object returns nothing that could travel."""
        held = self._find(key)
        value = (
            held(*args, **kwargs) if name == "__call__" else getattr(held, name)(*args, **kwargs)
        )
        return None if value is held else value

    def called(self, key: int) -> Callable[..., Any]:
        """Return an object that can be called."""
        held: Callable[..., Any] = self._find(key)
        return held

    def get(self, key: int, name: str) -> Any:
        """Return what an attribute holds."""
        return getattr(self._find(key), name)

    def set(self, key: int, name: str, value: object) -> None:
        """Give an attribute a value, or under ``"weights[out.W]"`` an entry of a dictionary."""
        held, (attribute, _, entry) = self._find(key), name.partition("[")
        if entry:
            getattr(held, attribute)[entry.removesuffix("]")] = value
        else:
            setattr(held, name, value)

    def is_method(self, key: int, name: str) -> bool:
        """Say whether an attribute is something to call."""
        return callable(getattr(self._find(key), name))

    def bound(self, key: int, name: str) -> tuple[Callable[..., Any], Any]:
        """Return a function that calls a method of what it is given first, and the object.

        So whoever counts the work of a method can call it on copies.
        """
        held = self._find(key)

        def method(copied: object, *args: object, **kwargs: object) -> Any:
            return getattr(copied, name)(*args, **kwargs)

        method.__wrapped__ = getattr(type(held), name)  # type: ignore[attr-defined]
        return method, held

    def _find(self, key: int) -> Any:
        try:
            return self._held[key]
        except KeyError:
            raise Lost(key) from None


def seed(number: int) -> None:
    """Seed every generator of random numbers that student code may use without one of its own."""
    random.seed(number)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(number)
    torch: Any = sys.modules.get("torch")
    if torch is not None and _GPU:
        torch.manual_seed(number)
    elif torch is not None:  # without taking a trace of the stack for each kind of device
        torch.default_generator.manual_seed(number)


def defined(name: str, source: str) -> Any:
    """Define a function of the grader's in a module of its own, and return it."""
    module = types.ModuleType(name)
    exec(_compiled(name, source), module.__dict__)
    return module.__dict__[name]


@functools.lru_cache(maxsize=100)
def _compiled(name: str, source: str) -> types.CodeType:
    """Compile what a check may hand over with each of its calls."""
    return compile(source, f"<{name}>", "exec")


def noting(made: Any, note: Callable[[], None]) -> Any:
    """Return a function or class that says so when it is called.

    >>> calls = []
    >>> noting(abs, lambda: calls.append(1))(-2), calls
    (2, [1])
    """
    call = made.__init__ if isinstance(made, type) else made  # type: ignore[misc]

    @functools.wraps(call)
    def noted(*args: object, **kwargs: object) -> Any:
        note()
        return call(*args, **kwargs)

    if not isinstance(made, type):
        return noted
    made.__init__ = noted  # type: ignore[misc]
    return made


def unwritten(value: object) -> bool:
    """Tell whether a function, or every method of a class, is as it was handed out.

    >>> unwritten(None), unwritten(len)
    (True, False)
    """
    if isinstance(value, type):
        methods = [each for each in vars(value).values() if isinstance(each, types.FunctionType)]
        return bool(methods) and all(map(unwritten, methods))
    code = getattr(value, "__code__", None)
    return value is None or (code is not None and code.co_names == ("NotImplementedError",))


def _given(spec: dict[str, Any]) -> Any:
    function = defined(spec["name"], spec["source"])
    return function if spec["args"] is None else function(*spec["args"])
