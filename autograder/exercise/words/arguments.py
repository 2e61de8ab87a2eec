"""What a part gets of what it names: a value, or a formula or function that can be called."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from types import FunctionType
from typing import Any

import numpy as np

from autograder.exercise.formula_types import is_formula
from autograder.exercise.words.given import Given

Array = np.ndarray[Any, Any]


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
        return function(*map(_here, args), **{name: _here(v) for name, v in kwargs.items()})

    return called


def _here(value: object) -> Any:
    return value.here() if isinstance(value, Given) else value


def as_argument(value: object) -> Any:
    """Return what a part is given of a value, an answer or a function that it names."""
    if isinstance(value, FunctionType):
        return taking_given(value)
    return CallableFormula(value) if is_formula(value) else value
