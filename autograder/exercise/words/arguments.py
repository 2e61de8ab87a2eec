"""What a part gets of what it names: a value, or a formula or function that can be called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from types import FunctionType
from typing import Any

import numpy as np

from autograder.exercise.cache import Unfamiliar, Values, deepcopied, remembered, size_of
from autograder.exercise.formula_types import is_formula
from autograder.exercise.words.given import Given

Array = np.ndarray[Any, Any]

_KEPT, _COUNTS = 1000, 10_000  # results of references; of more bytes than that it counts as several
_PLAIN = (str, bytes, bool, int, float, complex, type(None))
_calls_once: ContextVar[bool] = ContextVar("calls_once", default=False)


class CallableFormula:
    """An answer that is a formula, as the parts behind it use it: called with numbers by name.

    Attributes
    ----------
    expression
        The formula itself, or a matrix of them.

    Examples
    --------
    >>> from autograder.exercise import Formula
    >>> slope = CallableFormula(Formula("p q").read("2*p*log(p/q)"))
    >>> round(slope(p=0.5, q=0.25), 4)
    0.6931
    >>> slope(p=np.array([0.5, 1.0]), q=1).round(4).tolist()
    [-0.6931, 0.0]
    """

    def __init__(self, expression: object) -> None:
        self.expression = expression

    def __call__(self, **numbers: object) -> Any:
        """Return the formula's value for these numbers; for arrays entry by entry.

        Raises
        ------
        ValueError
            If there is no real value, or a name in the formula has no number.
        """
        # Here, as most exercises have no formula.
        from autograder.algebra.building.numeric import Undefined, value_at

        names, values = list(numbers), np.broadcast_arrays(*map(np.asarray, numbers.values()))

        def entry(expression: object) -> Any:
            found = [
                value_at(expression, dict(zip(names, point, strict=True)))
                for point in zip(*(value.flat for value in values), strict=True)
            ]
            return np.reshape(found, values[0].shape) if values else value_at(expression, {})

        try:
            if not hasattr(self.expression, "tolist"):
                found = entry(self.expression)
            else:
                found = np.array([list(map(entry, row)) for row in self.expression.tolist()])
        except Undefined as reason:
            raise ValueError(f"{self.expression} has no value here: {reason}") from None
        return float(found) if np.ndim(found) == 0 else found


@lru_cache  # one function stays one: what it gives is remembered
def taking_given(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a reference that is called as a student's function is, with a ``seeded(3)`` say.

    Examples
    --------
    >>> from autograder.exercise import seeded
    >>> draw = taking_given(lambda rng: int(rng.integers(10)))
    >>> draw(seeded(3)) == int(np.random.default_rng(3).integers(10))
    True
    """

    @wraps(function)
    def called(*args: object, **kwargs: object) -> Any:
        here = tuple(map(_here, args)), {name: _here(v) for name, v in kwargs.items()}
        if _calls_once.get() and _is_plain(here):
            result, again = _came(function, Values(here))
            return deepcopied(result) if again else result
        return function(*here[0], **here[1])

    return called


@contextmanager
def calling_once() -> Iterator[None]:
    """Let references that parts name run once for the same plain data.

    Each known mistake asks for what the right answer has asked for. A function that writes into its
    arguments runs each time.

    Examples
    --------
    >>> calls = []
    >>> double = as_argument(lambda x: calls.append(x) or 2 * x)
    >>> with calling_once():
    ...     double(2), double(2), calls
    (4, 4, [2])
    """
    token = _calls_once.set(True)
    try:
        yield
    finally:
        _calls_once.reset(token)


@remembered(lambda came: came[1], size=_KEPT, weight=lambda came: 1 + size_of(came[0]) // _COUNTS)
def _came(function: Callable[..., Any], values: Values) -> tuple[Any, bool]:
    """Return what a reference gives, and whether it would be the same at another time."""
    args, kwargs = values.values
    result = function(*args, **kwargs)
    try:
        same = Values((args, kwargs)).key == values.key
    except Unfamiliar:
        same = False
    return result, same and _is_plain(result)


def _is_plain(value: Any) -> bool:
    """Tell whether there is nothing in it but numbers, texts and arrays: nothing that counts."""
    if type(value) is np.ndarray:
        return bool(value.dtype != object)
    if isinstance(value, np.generic) or type(value) in _PLAIN:
        return True
    if type(value) is dict:
        return all(map(_is_plain, value)) and all(map(_is_plain, value.values()))
    return type(value) in (list, tuple) and all(map(_is_plain, value))


def _here(value: object) -> Any:
    return value.here() if isinstance(value, Given) else value


def as_argument(value: object) -> Any:
    """Return what a part is given of a value, an answer or a function that it names."""
    if isinstance(value, FunctionType):
        return taking_given(value)
    return CallableFormula(value) if is_formula(value) else value
