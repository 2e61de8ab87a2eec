"""Kinds of answer: how one is read from a submission, and when two are the same.

``read`` turns plain data from the student's process into a value or raises ``FormatError``;
everything after it, follow-through included, sees only values.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, ClassVar

import numpy as np

from autograder.exercise.written import (
    UNITS,
    Written,
    decimals,
    figures,
    is_coarse,
    split_unit,
    unit_factor,
)

Array = np.ndarray[Any, Any]


class FormatError(ValueError):
    """The answer cannot be read; the message is shown to the student."""


class Undecided(Exception):
    """The grader could not decide; a person must."""


@dataclass(frozen=True)
class Judgement:
    """How good an answer is: ``credit`` from 0 to 1, a stable ``note`` and a sentence."""

    credit: float
    note: str = ""
    feedback: str = ""


class Answer:
    """What every kind of answer can do."""

    manual: ClassVar[bool] = False

    def read(self, raw: Any, like: Any = None) -> Any:
        """Turn plain data into a value of this kind.

        Parameters
        ----------
        raw
            What the student's variable held: numbers, text, lists, arrays.
        like
            The right value, whose shape (never its content) the answer must have.

        Raises
        ------
        FormatError
            With what was expected and what came.
        """
        raise NotImplementedError

    def same(self, given: Any, expected: Any, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Tell whether two values are the same answer.

        ``slack`` is what rounding of carried values allows on top of the tolerance;
        ``widen`` multiplies the tolerance (variants keep mistakes that far away).
        """
        raise NotImplementedError

    def judge(self, given: Any, expected: Any, *, slack: Any = 0.0) -> Judgement:
        """Judge an answer; kinds with partial credit say more than right or wrong."""
        return Judgement(float(self.same(given, expected, slack=slack)))

    def rounding(self, raw: Any) -> Array | None:
        """Return how far each number may be from what the student meant, from its digits."""
        return None

    def typed(self, value: Any) -> Any:
        """Return a plain value as a student types it where the kind asks for more than that."""
        return value

    def hint(self, expected: Any) -> dict[str, Any]:
        """Return what the student's notebook may know: the form of an answer, not its value."""
        return {"kind": "text"}


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
        value = np.asarray(_numbers(raw, _number) * factor)
        texts = _texts(raw)
        if self.figures and like is not None and not texts:
            example = f"{0.5:.{self.figures}f}"
            raise FormatError(f'write the digits as text, "{example}" say: a number has no zeros')
        if not np.isfinite(value).all():
            raise FormatError("the answer contains NaN or infinity; finite numbers are expected")
        _same_shape(value, like)
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
        half = _numbers(raw, _half_unit) * factor
        tolerance = self._tolerance(_numbers(raw, _number) * factor)
        return np.asarray(np.minimum(half, tolerance))

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and shape."""
        unit = {"unit": self.unit} if self.unit else {}
        return {"kind": "numbers", "shape": list(np.shape(expected)), **unit}

    def _without_unit(self, raw: str) -> tuple[str, float]:
        number, unit = split_unit(raw)
        factor = unit_factor(unit, self.unit)
        if factor is None:
            raise FormatError(f"a number with the unit {self.unit} is expected, not {shown(raw)}")
        return number, factor

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


@dataclass(frozen=True)
class Count(Answer):
    """A whole number, or several; exactly right or wrong.

    >>> int(Count().read("1,048,576"))
    1048576
    """

    def read(self, raw: Any, like: Any = None) -> Array:
        """Accept whole numbers, also as floats (4.0) and text (with commas or blanks)."""
        value = _numbers(raw, _whole, thousands=np.ndim(like) == 0)
        _same_shape(value, like)
        return value

    def same(
        self,
        given: Array,
        expected: Array,
        *,
        slack: Any = 0.0,
        widen: float = 1.0,
    ) -> bool:
        """Exact equality."""
        return np.shape(given) == np.shape(expected) and bool(np.all(given == expected))

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and shape."""
        return {"kind": "count", "shape": list(np.shape(expected))}


@dataclass(frozen=True)
class Shape(Answer):
    """The shape of an array, as a tuple.

    >>> Shape().read([2, 3])
    (2, 3)
    """

    def read(self, raw: Any, like: Any = None) -> tuple[int, ...]:
        """Accept a tuple or list of whole numbers, or text such as ``"(2, 3)"``."""
        if isinstance(raw, str):
            raw = [word for word in re.split(r"[\s,()\[\]]+", raw) if word]
        if not isinstance(raw, tuple | list):
            raise FormatError(f"a tuple such as (2, 3) is expected, not {shown(raw)}")
        return tuple(int(_numbers(n, _whole)) for n in raw)

    def same(self, given: Any, expected: Any, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Exact equality, length included."""
        return tuple(given) == tuple(expected)

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind only: the length of the tuple is part of the answer."""
        return {"kind": "shape"}


@dataclass(frozen=True)
class Essay(Answer):
    """Free text in a Markdown cell, marked by hand in formgrader."""

    manual: ClassVar[bool] = True

    def read(self, raw: Any, like: Any = None) -> str:
        """Take the text as it is."""
        return str(raw)


def is_blank(raw: Any) -> bool:
    """Tell whether an answer was never written: None, empty text, or nothing but those."""
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return True
    return isinstance(raw, list | tuple) and all(is_blank(entry) for entry in raw)


def _numbers(raw: Any, convert: Any, thousands: bool = False) -> Array:
    """Apply ``convert`` to every entry of a nested list, an array or a line of text."""
    if isinstance(raw, str):
        text = re.sub(r"(?<=\d)[,_ ](?=\d{3}\b)", "", raw) if thousands else raw
        words = [word for word in re.split(r"[\s,;()\[\]]+", text) if word]
        raw = words[0] if len(words) == 1 else words

    def walk(entry: Any, depth: int) -> Any:
        entry = getattr(entry, "array", entry)  # a tensor arrives as its numbers and its type
        if isinstance(entry, np.ndarray):  # the answer, or a row in a list of them
            if entry.size > 100_000:
                raise FormatError(f"an array of {entry.size} numbers is too large for this answer")
            entry = entry.tolist()
        if isinstance(entry, list | tuple) and depth < 8:
            return [walk(inner, depth + 1) for inner in entry]
        return convert(getattr(entry, "item", lambda: entry)())

    nested = walk(raw, 0)
    try:
        return np.array(nested, dtype=object if convert is _whole else float)
    except ValueError:
        raise FormatError("the rows of the answer have different lengths") from None


def _texts(raw: Any) -> tuple[str, ...] | None:
    """Return the numbers as they were written, None if any of them came as a number."""
    if isinstance(raw, str):
        return tuple(word for word in re.split(r"[\s,;()\[\]]+", raw) if "/" not in word and word)
    if isinstance(raw, list | tuple) and all(isinstance(entry, str) for entry in raw):
        return tuple(entry for entry in raw if "/" not in entry)
    return None


def _number(entry: Any) -> float:
    if isinstance(entry, str):
        try:
            above, _, below = entry.replace("−", "-").partition("/")
            return float(above) / float(below or 1)
        except (ValueError, ZeroDivisionError):
            raise FormatError(f"numbers are expected, not {shown(entry)}") from None
    if isinstance(entry, bool) or not isinstance(entry, int | float):
        raise FormatError(f"numbers are expected, not {shown(entry)}")
    try:
        return float(entry)
    except OverflowError:
        raise FormatError("a number of the answer is too large") from None


def _whole(entry: Any) -> int:
    if isinstance(entry, str) and re.fullmatch(r"\s*[+-]?\d{1,40}\s*", entry):
        return int(entry)
    if isinstance(entry, float) and entry.is_integer():
        return int(entry)
    if isinstance(entry, bool) or not isinstance(entry, int):
        raise FormatError(f"whole numbers are expected, not {shown(entry)}")
    return entry


def _half_unit(entry: Any) -> float:
    """Half a unit of the last decimal written; a fraction or a whole number is capped later."""
    if isinstance(entry, str) and "/" in entry:
        return 0.0
    try:
        exponent = Decimal(str(entry).strip().replace("−", "-")).as_tuple().exponent
    except InvalidOperation:
        return 0.0
    return 0.5 * 10.0**exponent if isinstance(exponent, int) else 0.0


def _same_shape(value: Array, like: Any) -> None:
    if like is not None and value.shape != np.shape(like):
        raise FormatError(f"{_counted(np.shape(like))} expected, {_counted(value.shape)} given")


def _counted(shape: tuple[int, ...]) -> str:
    if shape == ():
        return "one number"
    return f"{shape[0]} numbers" if len(shape) == 1 else f"an array of shape {shape}"


def shown(raw: Any) -> str:
    """Return what was given, shortened for a message."""
    text = repr(raw)
    return text if len(text) <= 60 else f"{text[:57]}..."
