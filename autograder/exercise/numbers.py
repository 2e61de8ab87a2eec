"""Numbers within a tolerance, with decimals, significant figures or a unit where asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from autograder.exercise.answers import Answer, Array, FormatError, Judgement, shown
from autograder.exercise.reading import nested, number, same_shape
from autograder.exercise.written import (
    UNITS,
    Written,
    decimals,
    figures,
    is_coarse,
    split_unit,
    unit_factor,
)


@dataclass(frozen=True)
class Numbers(Answer):
    """A number or an array of numbers within a tolerance.

    An entry e is right within max(``tolerance``, ``relative`` · |e|); where |e| is below
    ``small`` (and not 0) within 1 % of it, so that a small entry is not lost in the tolerance.

    Attributes
    ----------
    places
        Decimals asked for: right within half a unit of the last of them; text that has fewer
        earns half.
    figures
        Significant figures asked for, written as text: right within half a unit of the last of
        them; another number of figures earns half.
    unit
        The unit that must stand behind the number; another one of its kind is converted.

    Examples
    --------
    >>> kind = Numbers()
    >>> kind.same(kind.read("0.333 2/3"), np.array([1 / 3, 2 / 3]))
    True
    >>> Numbers(figures=2).judge(Numbers(figures=2).read("0.250"), 0.25).credit
    0.5
    >>> float(Numbers(unit="MB").read("1.5 GB"))
    1500.0
    """

    tolerance: float = 1e-3
    relative: float = 1e-4
    small: float = 1e-2
    places: int | None = None
    figures: int | None = None
    unit: str = ""

    def __post_init__(self) -> None:
        if self.unit and self.unit not in UNITS:
            raise ValueError(f"no unit {self.unit!r}; the units are {', '.join(UNITS)}")
        if self.places is not None and self.figures is not None:
            raise ValueError("ask for decimals or for significant figures, not for both")

    def read(self, raw: Any, like: Any = None) -> Array:
        """Accept numbers, nested lists, arrays and text such as ``"0.25 1/3 1e-3"``."""
        factor = 1.0
        if self.unit and isinstance(raw, str):
            raw, factor = self._without_unit(raw)
        elif self.unit and like is not None:
            raise FormatError(f'a number with its unit is expected, as text: "… {self.unit}"')
        value = np.asarray(nested(raw, number) * factor)
        texts = _texts(raw)
        if self.figures and like is not None and not texts:
            example = f"{0.5:.{self.figures}f}"
            raise FormatError(f'write the digits as text, "{example}" say: a number has no zeros')
        if not np.isfinite(value).all():
            raise FormatError("the answer contains NaN or infinity; finite numbers are expected")
        same_shape(value, like)
        if self.places is None and self.figures is None:
            return value
        written = value.view(Written)
        written.texts = texts
        return written

    def judge(self, given: Any, expected: Any, *, slack: Any = 0.0) -> Judgement:
        """Right or wrong; half for a right number with other digits than asked for."""
        if not self.same(given, expected, slack=slack):
            if self.places is None and not self.figures and is_coarse(given, expected):
                return Judgement(0.0, "too_coarse", "Right as far as it goes: write more digits.")
            return Judgement(0.0)
        texts = getattr(given, "texts", None) or ()
        if self.places is not None and any(decimals(t) < self.places for t in texts):
            asked = f"{self.places} decimal{'s' * (self.places != 1)}"
        elif self.figures and any(
            not least <= self.figures <= most for least, most in map(figures, texts)
        ):
            asked = f"{self.figures} significant figure{'s' * (self.figures != 1)}"
        else:
            return Judgement(1.0)
        return Judgement(0.5, "precision", f"Right as far as it goes: write {asked}.")

    def same(self, given: Array, expected: Array, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Compare entry by entry; arrays of different shapes are different."""
        if np.shape(given) != np.shape(expected):
            return False
        with np.errstate(all="ignore"):
            difference = np.abs(np.subtract(given, expected, dtype=float))
            return bool(np.all(difference <= widen * self._tolerance(expected) + slack))

    def typed(self, value: Any) -> Any:
        """Write as many figures as are asked for, and the unit."""
        if isinstance(value, list | tuple):
            return [self.typed(entry) for entry in value]
        text = f"{float(value):#.{self.figures}g}" if self.figures else repr(value)
        return f"{text} {self.unit}".rstrip() if self.figures or self.unit else value

    def rounding(self, raw: Any) -> Array:
        """Half a unit of the last written digit, never more than the tolerance."""
        factor = 1.0
        if self.unit and isinstance(raw, str):
            raw, factor = self._without_unit(raw)
        half = nested(raw, _half_unit) * factor
        tolerance = self._tolerance(nested(raw, number) * factor)
        return np.asarray(np.minimum(half, tolerance))

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and shape."""
        unit = {"unit": self.unit} if self.unit else {}
        return {"kind": "numbers", "shape": list(np.shape(expected)), **unit}

    def _without_unit(self, raw: str) -> tuple[str, float]:
        amount, unit = split_unit(raw)
        factor = unit_factor(unit, self.unit)
        if factor is None:
            raise FormatError(f"a number with the unit {self.unit} is expected, not {shown(raw)}")
        return amount, factor

    def _tolerance(self, expected: Any) -> Array:
        size = np.abs(np.asarray(expected, float))
        if self.places is not None:
            return np.full(size.shape, 0.5 * 10.0**-self.places * (1 + 1e-9))
        if self.figures:
            top = np.floor(np.log10(np.where(size == 0, 1.0, size)))
            return np.asarray(0.5 * 10.0 ** (top - self.figures + 1) * (1 + 1e-9))
        usual = np.maximum(self.tolerance, self.relative * size)
        exact = np.where(size == 0, self.tolerance / 2, 0.01 * size)
        return np.asarray(np.where(size < self.small, np.minimum(exact, usual), usual))


def _texts(raw: Any) -> tuple[str, ...] | None:
    """Return the numbers as they were written, None if any of them came as a number."""
    if isinstance(raw, str):
        return tuple(word for word in re.split(r"[\s,;()\[\]]+", raw) if "/" not in word and word)
    if isinstance(raw, list | tuple) and all(isinstance(entry, str) for entry in raw):
        return tuple(entry for entry in raw if "/" not in entry)
    return None


def _half_unit(entry: Any) -> float:
    """Half a unit of the last decimal written; a fraction or a whole number is capped later."""
    if isinstance(entry, str) and "/" in entry:
        return 0.0
    try:
        exponent = Decimal(str(entry).strip().replace("−", "-")).as_tuple().exponent
    except InvalidOperation:
        return 0.0
    return 0.5 * 10.0 ** min(exponent, 300) if isinstance(exponent, int) else 0.0
