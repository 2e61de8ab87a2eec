"""Remember what was worked out: a class writes the same answers again and again."""

from __future__ import annotations

import copy
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import lru_cache, wraps
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from autograder.exercise.formula_types import is_formula
from autograder.exercise.lasting import WORTH, are_kept, keep, key_of, recalled
from autograder.exercise.standing_in import note, noting, replaces
from autograder.student.differences import numbers_of

Result = TypeVar("Result")

#: How many results of a function are kept; those not asked for the longest are dropped first.
SIZE = 4000

_LARGE = 256  # bytes
_FUNCTIONS = (FunctionType, type(np.random.default_rng))  # ours, and what makes generators
_TOPICS = 500  # functions, parts and derivations whose names are kept at hand
_NUMBERS, _SEQUENCES = (bool, int, float, complex, np.generic), (list, tuple)
_FIXED = frozenset({str, bytes, bool, int, float, complex, type(None)})  # of exactly these types
_WHOLE = (str, bytes, int, float, complex, np.generic, type(None))  # nobody can change them


def remembered(
    sure: Callable[[Any], bool] = lambda _: True,
    *,
    size: int = SIZE,
    weight: Callable[[Any], int] = lambda _: 1,
    lasts: bool = False,
    of: object = None,
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Make a pure function of hashable arguments remember its results while this process lives.

    Nothing but the function's own results passes from one submission to the next, so what it
    returns must not be changed by those who get it.

    Parameters
    ----------
    sure
        Whether a result would be the same at every other time; one that isn't, because the time
        was up for instance, is not kept. Nor is an exception.
    size
        How many results are kept.
    weight
        As how many a result counts.
    lasts
        Whether other processes may know its results as well (`autograder.exercise.lasting`).
    of
        What they are about, for these processes; by default the first argument.

    Examples
    --------
    >>> calls = []
    >>> double = remembered()(lambda x: calls.append(x) or 2 * x)
    >>> double(2), double(2), calls
    (4, 4, [2])
    """

    def decorate(function: Callable[..., Result]) -> Callable[..., Result]:
        known: OrderedDict[tuple[Hashable, ...], tuple[Result, set[str]]] = OrderedDict()
        held = 0

        @lru_cache(_TOPICS)
        def topic(first: Hashable) -> bytes | None:
            return key_of(function.__module__, function.__qualname__, of or first)

        @wraps(function)
        def remembering(*args: Hashable) -> Result:
            nonlocal held
            # 1, 1.0 and True are equal, and yet not the same question.
            key = tuple([arg.key if isinstance(arg, Values) else (type(arg), arg) for arg in args])
            if (kept := known.get(key)) and not (kept[1] and replaces(kept[1])):
                known.move_to_end(key)
                if kept[1]:
                    note(kept[1])
                return kept[0]
            about = topic(args[0] if of is None else None) if lasts and are_kept() else None
            before = recalled(about, key) if about else None
            began = time.process_time()
            result: Result
            if before and not replaces(before[1]):
                result, names = before
                note(names)
            else:
                with noting() as names:
                    result = function(*args)
            # Where another function has a hand in it, what comes is one student's.
            if key not in known and not replaces(names) and sure(result):
                if about and not before and time.process_time() - began >= WORTH:
                    keep(about, key, result, names)
                known[key] = result, names
                held += weight(result)
                while held > size:
                    held -= weight(known.popitem(last=False)[1][0])
            return result

        return remembering

    return decorate


class Unfamiliar(TypeError):
    """A value of a kind that is not known to be plain data."""


class Values:
    """Plain data as an argument of a remembered function: known again if equal bit for bit.

    Attributes
    ----------
    values
        What was given; not to be changed.
    key
        What is kept of it; of large arrays that is little.

    Raises
    ------
    Unfamiliar
        If there is anything else than numbers, text, arrays, tensors, formulas, functions and what
        they make in them.
    """

    def __init__(self, values: Any) -> None:
        self.values = values
        self.key = _key(values)


def copied(value: Any) -> Any:
    """Return plain data that can be changed without changing ``value``."""
    if type(value) in _FIXED:
        return value
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(map(copied, value))
    if type(value) is dict:
        return {key: copied(entry) for key, entry in value.items()}
    if type(value) is set or hasattr(value, "as_immutable"):
        return value.copy()
    return value


def deepcopied(value: Any) -> Any:
    """Do what `copy.deepcopy` does, in a third of its time for plain data.

    What is in it twice becomes two, as over the wire.
    """
    if type(value) is np.ndarray and value.dtype != object:
        return value.copy(order="K")
    if isinstance(value, _WHOLE):
        return value
    if type(value) in (list, tuple):
        return type(value)(map(deepcopied, value))
    if type(value) is dict:
        return {key: deepcopied(entry) for key, entry in value.items()}
    return copy.deepcopy(value)


def size_of(value: Any) -> int:
    """Return how many bytes plain data takes, about."""
    if isinstance(value, dict):
        return sum(map(size_of, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(size_of, value))
    return int(getattr(getattr(value, "array", value), "nbytes", 8))


def _key(value: Any) -> Hashable:
    if isinstance(value, np.ndarray) and value.dtype != object:
        held = value.tobytes()
        held = hashlib.blake2b(held).digest() if len(held) > _LARGE else held
        return value.dtype.str, value.shape, held
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, _NUMBERS):
        return type(value), repr(value)  # 0.0 equals -0.0, and NaN nothing
    if isinstance(value, _SEQUENCES):
        return type(value), *map(_key, value)
    if type(value) is dict:
        return dict, *[(_key(name), _key(entry)) for name, entry in value.items()]
    if type(value) in (set, frozenset):
        return type(value), frozenset(map(_key, value))
    if isinstance(value, _FUNCTIONS):
        return value  # which does not change
    if hasattr(value, "made_of"):  # what is handed over by a check
        return type(value), _key(value.made_of)
    if hasattr(value, "untyped_storage") and value.grad_fn is None:
        try:
            numbers = numbers_of(value)
        except (TypeError, RuntimeError) as error:  # of a sparse one, say
            raise Unfamiliar(f"a tensor without plain numbers: {error}") from error
        kind = type(value), str(value.dtype), str(value.device), value.requires_grad
        return *kind, _key(numbers)
    if (formula := _formula(value)) is not None:
        return type(value), formula
    raise Unfamiliar(f"{type(value).__name__} is not plain data")


def _formula(value: Any) -> Hashable | None:
    """Return a formula, or a matrix of them, as nobody can change it; None for something else."""
    if not is_formula(value):
        return None
    fixed = value.as_immutable() if hasattr(value, "as_immutable") else value
    return fixed if isinstance(fixed, Hashable) else None
