"""Numbers within a tolerance, with decimals, significant figures or a unit where asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from autograder.exercise.answers.how_wrong import some_right, which_way
from autograder.exercise.answers.kind import (
    Answer,
    Array,
    Attempt,
    Judgement,
    Scaffold,
    from_author,
    same_everywhere,
    with_shape,
)
from autograder.exercise.answers.traces import explains
from autograder.student.judging import (
    close,
    half_units,
    is_loose,
    judge_numbers,
    tolerance_of,
    too_coarse,
)
from autograder.student.literals import Entry
from autograder.student.readers import DIGITS, read_numbers
from autograder.student.units import check_unit

LOOSE = 0.05  # of a single number: with such a tolerance slips are met by chance
_MANY = 50  # numbers that nobody types


class WrittenNumbers(np.ndarray[Any, Any]):
    """Numbers as they were read, with how each was written."""

    entries: tuple[Entry, ...] = ()

    def __array_finalize__(self, obj: object) -> None:
        self.entries = ()  # what is computed from them was not written

    def __array_wrap__(
        self, array: Any, context: object = None, return_scalar: bool = False
    ) -> Any:
        return array[()] if return_scalar else np.asarray(array)


def is_short(right: Any) -> bool:
    """Tell whether right answers are exact with fewer digits than always suffice.

    >>> is_short([0.5, 12, 0.1 + 0.2]), is_short([0.5, 1 / 3]), is_short(None)
    (True, False, False)
    """
    if right is None or np.size(right) > _MANY:
        return False
    shown = ((float(x), float(f"{x:.{DIGITS - 1}g}")) for x in np.ravel(right))
    return all(x.is_integer() or math.isclose(x, short, rel_tol=1e-12) for x, short in shown)


@dataclass(frozen=True)
class Numbers(Answer):
    """A number or an array of numbers within a tolerance.

    An entry e is right within ``1e-3 · max(|e|, min(1, 10 |e|))``, and within 1e-6 in any case:
    four significant digits are always enough.  What is right to the fewer digits that were written
    earns half (note ``too_coarse``), if the last of them is worth at most a twentieth of the
    largest number.  Of an array the share of right entries counts, where at least half are right;
    its commonest value only where half of the others were told apart from it, a mask's zeros only
    where half of the others are right.  A mask may be Boolean.

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
        The unit that the number is asked for in, and has where none stands behind it; another one
        of its kind is converted.
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
    by_entry: ClassVar[bool] = True
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
        ('Numbers(unit="MiB")', 'the same, and units: `"1.5 GiB"`', "the same quantity"),
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
    return {"x": rng.integers(3, 12, 4)}


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
        check_unit(self.unit)
        asked = (self.tolerance, self.places, self.figures, self.between)
        if sum(each is not None for each in asked) > 1:
            raise ValueError("ask for a tolerance, a band, decimals or figures, for one of them")
        if self.between is not None and not self.between[0] < self.between[1]:
            raise ValueError(f"no number is from {self.between[0]} to {self.between[1]}")

    def read(self, raw: object, like: object = None) -> Array:
        """Accept numbers, nested lists, arrays and text such as ``"0.25 1/3 1e-3"``."""
        if like is None and isinstance(raw, np.ndarray | np.generic) and raw.dtype.kind in "iuf":
            plain = np.array(raw, float)
            if self.special or np.isfinite(plain).all():
                return plain  # a reference's, without a digit that anybody wrote
        reading = read_numbers(raw if like is not None else from_author(raw), self.hint(like))
        value: Array = reading.value
        if like is None and not isinstance(raw, str):
            return value
        written = value.view(WrittenNumbers)
        written.entries = reading.entries
        return written

    def judge(self, given: object, expected: object, *, slack: float | Array = 0.0) -> Judgement:
        """Right or wrong, entry by entry; half for a right number with too few digits."""
        written = getattr(given, "entries", ())
        return judge_numbers(given, expected, self.rule, slack=slack, written=written)

    def locate(self, given: Any, expected: Any) -> str:
        """Say how many entries are right; of a single number, which way it is off."""
        if np.shape(given) != np.shape(expected):
            return ""
        return some_right(close(given, expected, self.rule)) or which_way(given, expected)

    def says_much(self, right: Any) -> bool:
        """Deny it where the author's tolerance is so wide that wrong values are met by chance."""
        if self.between is not None:
            return False  # the reference's number is one of many
        if self.tolerance is None:
            return True
        sizes = np.unique(np.abs(right))
        chances = np.minimum(2 * self.tolerance / sizes[sizes > 0], 1)
        return bool(np.prod(chances) <= 2 * LOOSE)

    def same(
        self, given: Any, expected: Any, *, slack: float | Array = 0.0, widen: float = 1.0
    ) -> bool:
        """Compare entry by entry; arrays of different shapes are different."""
        if np.shape(given) != np.shape(expected):
            return False
        return bool(np.all(close(given, expected, self.rule, slack, widen)))

    def made(self, given: Any, mistaken: Any, right: Any, *, slack: float | Array = 0.0) -> float:
        """Look at the entries that are wrong, to the digits that were written."""
        if not np.shape(given) == np.shape(mistaken) == np.shape(right) or self.between:
            return 0.0
        exact, correct = (close(given, each, self.rule, slack) for each in (mistaken, right))
        own, off = exact, ~correct
        counted = (given == mistaken) & (np.rint(mistaken) == mistaken) & (np.rint(right) == right)
        reach = np.where(counted, 0.5, tolerance_of(mistaken, self.rule))
        written = getattr(given, "entries", ())
        if written and self.tolerance is None:
            coarse, _ = too_coarse(written, given, mistaken)
            own = exact | coarse
            off &= ~np.logical_or(*too_coarse(written, given, right))
            halves = np.reshape([entry.half for entry in written], off.shape)
            reach = np.where(exact, reach, halves)
        if not explains(mistaken, right, off=off, own=own, reach=reach):
            return 0.0
        return 1.0 if exact[off].all() else 0.5

    def without(self, given: Any, mistaken: Any, right: Any, *, slack: float | Array = 0.0) -> Any:
        """Put the right entries there, as if they were written with the same digits."""
        if not np.shape(given) == np.shape(mistaken) == np.shape(right):
            return given
        other = given.copy()
        np.copyto(other, right, where=close(given, mistaken, self.rule, slack))
        if isinstance(given, WrittenNumbers):
            other.entries = given.entries
        return other

    def typed(self, value: Any) -> Any:
        """Write as many figures as are asked for, and the unit."""
        if isinstance(value, list | tuple):
            return [self.typed(entry) for entry in value]
        return f"{float(value):#.{self.figures}g} {self.unit}".rstrip() if self.figures else value

    def rounding(self, given: Any) -> Array:
        """Half a unit of the last written digit, never more than the tolerance."""
        written = getattr(given, "entries", ())
        return half_units(given, written, self.rule) if written else np.zeros(np.shape(given))

    def attempts(self, right: object) -> Iterable[Attempt]:
        """Try what everybody may write: four digits, rounded either way, in any form."""
        value = self.read(right)
        if self.figures or value.size > _MANY:
            return
        for name, rounding in (("half up", ROUND_HALF_UP), ("half even", ROUND_HALF_EVEN)):
            texts = np.vectorize(lambda x, r=rounding: self._rounded(x, r), otypes=[object])(value)
            yield Attempt(f"four digits, {name}", texts.tolist(), at_least=1)
        if self.places is None:
            yield Attempt("an array of four digits", texts.astype(float), at_least=1)
        if value.ndim < 3:
            rows = [" ".join(row) for row in np.atleast_2d(texts)]
            one = "\n".join(rows)
            yield Attempt("one text of four digits", one, at_least=1)
            if self.unit:
                yield Attempt("with the unit", f"{one} {self.unit}", at_least=1)

    def guess(self, number: int, right: Any) -> Array:
        """Return the same number everywhere."""
        return same_everywhere(number, np.shape(right))

    def hint(self, expected: object) -> dict[str, Any]:
        """Kind and shape, and what is asked for beside."""
        asked = {"unit": self.unit, "special": self.special, "loose": is_loose(self.rule)}
        asked["exact"] = not self.rule.keys() & {"places", "figures"} and is_short(expected)
        found = {name: value for name, value in asked.items() if value}
        digits = {"places": self.places, "figures": self.figures}
        found |= {name: value for name, value in digits.items() if value is not None}
        return with_shape({"kind": "numbers", **found}, expected)

    @cached_property
    def rule(self) -> dict[str, Any]:
        """How far off it may be, which digits are asked for, and whether all must be right."""
        names = ("tolerance", "places", "figures", "between", "whole")
        asked = {name: getattr(self, name) for name in names}
        return {n: value for n, value in asked.items() if value is not None and value is not False}

    def _rounded(self, number: float, rounding: str) -> str:
        if not np.isfinite(number):
            return str(number)
        exact = Decimal(repr(float(number)))
        last = exact.adjusted() - DIGITS + 1 if self.places is None else -self.places
        return f"{exact.quantize(Decimal(1).scaleb(last), rounding):f}" if exact else "0"
