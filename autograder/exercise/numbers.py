"""Numbers within a tolerance, with decimals, significant figures or a unit where asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Any, ClassVar

import numpy as np

from autograder.exercise.answers import (
    Answer,
    Array,
    Attempt,
    Judgement,
    Scaffold,
    from_author,
    with_shape,
)
from autograder.exercise.entrywise import judged_by_entries
from autograder.student.arithmetic import Entry
from autograder.student.readers import DIGITS, read_numbers
from autograder.student.units import UNITS

RELATIVE = 1e-3  # of a number: four significant digits always suffice
LOOSE = 0.05  # of a single number: with such a tolerance slips are met by chance
SMALL = 10.0  # times the number, where it is below a tenth: the tolerance has no cliff there
FLOOR = 1e-6
_WORTH = 0.05  # of the largest number: a last digit worth more says nothing
_MANY = 50  # numbers that nobody types


class Written(np.ndarray[Any, Any]):
    """Numbers as they were read, with how each was written."""

    entries: tuple[Entry, ...] = ()

    def __array_finalize__(self, obj: object) -> None:
        self.entries = ()  # what is computed from them was not written

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else np.asarray(array)


@dataclass(frozen=True)
class Numbers(Answer):
    """A number or an array of numbers within a tolerance.

    An entry e is right within 1e-3 · max(|e|, min(1, 10 |e|)), and within 1e-6 in any case, so that
    four significant digits are always enough.  What is right to the fewer digits that were written
    earns half.  Of an array the share of right entries counts, where at least half are right.

    Attributes
    ----------
    tolerance
        How far off each entry may be, instead: for what an experiment gives.
    places
        Decimals asked for: right within half a unit of the last of them; text that has fewer
        earns half.
    figures
        Significant figures asked for, written as text: right within half a unit of the last of
        them; another number of figures earns half.
    unit
        The unit that must stand behind the number; another one of its kind is converted.  Where
        ``"%"`` is asked for, the sign may be left out.
    between
        The least and the largest number that are right, instead, whatever the reference returns;
        ±∞ where there is no limit.
    special
        May NaN and ±∞ stand in it?  They are right where the right answer has the same.
    whole
        All entries must be right to earn anything.

    Examples
    --------
    >>> kind = Numbers()
    >>> kind.same(kind.read("0.333 2/3"), np.array([1 / 3, 2 / 3]))
    True
    >>> Numbers(figures=2).judge(Numbers(figures=2).read("0.250"), np.array(0.25)).credit
    0.5
    >>> float(Numbers(unit="MB").read("1.5 GB"))
    1500.0
    """

    kind: ClassVar[str] = "numbers"
    reader = staticmethod(read_numbers)
    table = (
        (
            "Numbers()",
            "numbers, lists, arrays, text with decimals, fractions, arithmetic",
            "within 1e-3·max(\\|e\\|, min(1, 10\\|e\\|)); to fewer digits half; by the "
            "share of right entries",
        ),
        ("Numbers(tolerance=0.05)", "the same", "within 0.05"),
        ("Numbers(between=(0, 1e-12))", "the same", "neither smaller nor larger"),
        (
            "Numbers(places=3), Numbers(figures=3)",
            "the same; digits are counted where they came as text",
            "right to the last of them; with other digits half",
        ),
        ('Numbers(unit="MiB")', 'text such as `"1.5 GiB"`', "the same quantity"),
        ("Numbers(special=True)", "NaN and ±∞ as well", "the same, and at the same places"),
        ("Numbers(whole=True)", "the same", "all entries are right, or nothing"),
    )
    scaffold = Scaffold(
        asks="Say what is asked. Write at least four significant digits. Your own numbers:",
        stub="mean = None  # one number",
        numbers=True,
        reference='''
@exercise.variant
def draw(rng):
    """x: (4,), whole numbers."""
    return {"x": rng.integers(0, 9, 4)}


@exercise.part(points=1, answer=Numbers())
def mean(x):
    """The mean of x."""
    return x.mean()


@mean.misconception()
def not_divided(x):
    """This is the sum. A mean is divided by how many there are."""
    return x.sum()
''',
    )

    tolerance: float | None = None
    places: int | None = None
    figures: int | None = None
    between: tuple[float, float] | None = None
    unit: str = ""
    special: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        if self.unit and self.unit not in UNITS:
            raise ValueError(f"no unit {self.unit!r}; the units are {', '.join(UNITS)}")
        asked = (self.tolerance, self.places, self.figures, self.between)
        if sum(each is not None for each in asked) > 1:
            raise ValueError("ask for a tolerance, a band, decimals or figures, for one of them")
        if self.between is not None and not self.between[0] < self.between[1]:
            raise ValueError(f"no number is from {self.between[0]} to {self.between[1]}")

    def read(self, raw: Any, like: Any = None) -> Array:
        """Accept numbers, nested lists, arrays and text such as ``"0.25 1/3 1e-3"``."""
        reading = read_numbers(raw if like is not None else from_author(raw), self.hint(like))
        value: Array = reading.value
        if like is None and not isinstance(raw, str):  # a reference's: nobody wrote it
            return value
        written = value.view(Written)
        written.entries = reading.entries
        return written

    def judge(self, given: Any, expected: Any, *, slack: Any = 0.0) -> Judgement:
        """Right or wrong, entry by entry; half for a right number with too few digits."""
        if np.shape(given) != np.shape(expected):
            return Judgement(0.0)
        right = self._close(given, expected, slack)
        entries = getattr(given, "entries", ())
        credits, note, advice = right.astype(float), "", ""
        if entries and (asked := self._digits_asked):
            other = np.reshape([not self._has_digits(entry) for entry in entries], right.shape)
            credits = np.where(right & other, 0.5, credits)
            if (right & other).any():
                note, advice = "precision", f"Right as far as it goes: write {asked}."
        elif entries and not self._loose:
            coarse, cut = _too_coarse(entries, given, expected)
            credits = np.where(~right & coarse, 0.5, credits)
            if (right | coarse | cut).all() and not right.all():
                note, advice = "too_coarse", "Right as far as it goes: write more digits."
        if np.all(credits):
            return Judgement(float(np.mean(credits)) if credits.size else 1.0, note, advice)
        if self.whole:
            return Judgement(0.0, note, advice)
        found = judged_by_entries(credits, expected)
        return Judgement(found.credit, note, advice or found.feedback)

    def says_much(self, right: Any) -> bool:
        """Deny it of a single number where the author's tolerance is a large share of it."""
        return np.size(right) > 1 or bool((self.tolerance or 0) <= LOOSE * np.max(np.abs(right)))

    def same(self, given: Any, expected: Any, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Compare entry by entry; arrays of different shapes are different."""
        if np.shape(given) != np.shape(expected):
            return False
        return bool(np.all(self._close(given, expected, slack, widen)))

    def typed(self, value: Any) -> Any:
        """Write as many figures as are asked for, and the unit."""
        if isinstance(value, list | tuple):
            return [self.typed(entry) for entry in value]
        text = f"{float(value):#.{self.figures}g}" if self.figures else repr(value)
        return f"{text} {self.unit}".rstrip() if self.figures or self.unit else value

    def rounding(self, raw: Any) -> Array:
        """Half a unit of the last written digit, never more than the tolerance."""
        reading = read_numbers(from_author(raw), self.hint(None))
        half = np.reshape([entry.half for entry in reading.entries], reading.value.shape)
        return np.asarray(np.minimum(half, self._tolerance(reading.value)))

    def attempts(self, right: Any) -> Iterable[Attempt]:
        """Try what everybody may write: four digits, rounded either way, in any form."""
        value = self.read(right)
        if self.unit or self.figures or value.size > _MANY:
            return
        for name, rounding in (("half up", ROUND_HALF_UP), ("half even", ROUND_HALF_EVEN)):
            texts = np.vectorize(lambda x, r=rounding: self._rounded(x, r), otypes=[object])(value)
            yield Attempt(f"four digits, {name}", texts.tolist(), at_least=1)
        if self.places is None:
            yield Attempt("an array of four digits", texts.astype(float), at_least=1)
        if value.ndim < 3:
            rows = [" ".join(row) for row in np.atleast_2d(texts)]
            yield Attempt("one text of four digits", "\n".join(rows), at_least=1)

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and shape, and what is asked for beside."""
        asked = {"unit": self.unit, "special": self.special, "loose": self._loose}
        found = {name: value for name, value in asked.items() if value}
        digits = {"places": self.places, "figures": self.figures}
        found |= {name: value for name, value in digits.items() if value is not None}
        return with_shape({"kind": "numbers", **found}, expected)

    @property
    def _loose(self) -> bool:
        """Does the number of digits not matter?"""
        return self.tolerance is not None or self.between is not None

    @property
    def _digits_asked(self) -> str:
        if self.places is not None:
            return f"{self.places} decimal{'s' * (self.places != 1)}"
        if self.figures is not None:
            return f"{self.figures} significant figure{'s' * (self.figures != 1)}"
        return ""

    def _has_digits(self, entry: Entry) -> bool:
        if not entry.typed or entry.last is None:
            return True
        if self.places is not None:
            return -entry.last >= self.places
        return self.figures is None or entry.figures[0] <= self.figures <= entry.figures[1]

    def _close(self, given: Any, expected: Any, slack: Any, widen: float = 1.0) -> Array:
        with np.errstate(all="ignore"):
            given, expected = np.asarray(given, float), np.asarray(expected, float)
            near = np.abs(given - expected) <= widen * self._tolerance(expected) + slack
            near &= np.isfinite(expected)  # everything is near to ∞, relative to it
            if self.between is not None:
                low, high = self.between
                within = (low <= expected) & (expected <= high)
                near = np.where(within, (low - slack <= given) & (given <= high + slack), near)
            equal = (given == expected) | (np.isnan(given) & np.isnan(expected))  # ±∞, NaN
            return np.asarray(near | equal)

    def _tolerance(self, expected: Any) -> Array:
        size = np.abs(np.asarray(expected, float))
        if self.tolerance is not None:
            return np.full(size.shape, self.tolerance)
        if self.places is not None:
            return np.full(size.shape, 0.5 * 10.0**-self.places * (1 + 1e-9))
        if self.figures is not None:
            top = np.floor(np.log10(np.where(size == 0, 1.0, size)))
            return np.asarray(0.5 * 10.0 ** (top - self.figures + 1) * (1 + 1e-9))
        usual = RELATIVE * np.maximum(size, np.minimum(1, SMALL * size))
        return np.asarray(np.maximum(usual, FLOOR))

    def _rounded(self, number: float, rounding: str) -> str:
        if not np.isfinite(number):
            return str(number)
        exact = Decimal(repr(float(number)))
        last = exact.adjusted() - DIGITS + 1 if self.places is None else -self.places
        return f"{exact.quantize(Decimal(1).scaleb(last), rounding):f}" if exact else "0"


def _too_coarse(entries: Any, given: Any, expected: Any) -> tuple[Array, Array]:
    """Tell which numbers are right as far as they are written, rounded there or cut off.

    The last digit must be worth something beside the numbers: who writes 1 for 0.8 knows nothing.
    """
    given, expected = np.asarray(given, float), np.asarray(expected, float)
    half = np.reshape([entry.half for entry in entries], given.shape)
    if not half.size:
        return np.zeros(given.shape, bool), np.zeros(given.shape, bool)
    with np.errstate(all="ignore"):
        difference = np.abs(given - expected)
        worth = 2 * half <= _WORTH * np.max(np.abs(expected))
        inward = np.abs(given) <= np.abs(expected)
        cut = worth & inward & (difference < 2 * half * (1 - 1e-9))
        return worth & (difference <= half * (1 + 1e-9)), cut
