"""Answers that are exactly right or wrong: counts, fractions, shapes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from autograder.exercise.answers.how_wrong import some_right, which_way
from autograder.exercise.answers.kind import (
    GUESSES,
    Answer,
    Array,
    Judgement,
    Scaffold,
    same_everywhere,
    with_shape,
)
from autograder.exercise.answers.traces import explains
from autograder.student.judging import judge_exact, judge_shape
from autograder.student.readers import read_count, read_fractions
from autograder.student.shapes import PRIMES, read_shape
from autograder.student.units import check_unit


@dataclass(frozen=True)
class _Exact(Answer):
    """Exactly right or wrong, entry by entry.

    Attributes
    ----------
    whole
        All entries must be right to earn anything.
    """

    by_entry: ClassVar[bool] = True
    whole: bool = False

    def judge(self, given: object, expected: object, *, slack: float | Array = 0.0) -> Judgement:
        """Right, or the share of right entries where at least half are right."""
        return judge_exact(given, expected, self.rule)

    def locate(self, given: Any, expected: Any) -> str:
        """Say how many entries are right; of a single number, which way it is off."""
        if np.shape(given) != np.shape(expected):
            return ""
        return some_right(np.equal(given, expected)) or which_way(given, expected)

    @property
    def rule(self) -> dict[str, Any]:
        """Must all entries be right?"""
        return {"whole": True} if self.whole else {}

    def same(
        self, given: Any, expected: Any, *, slack: float | Array = 0.0, widen: float = 1.0
    ) -> bool:
        """Exact equality."""
        return np.shape(given) == np.shape(expected) and bool(np.all(given == expected))

    def guess(self, number: int, right: Any) -> Any:
        """Return the same whole number everywhere."""
        return same_everywhere(number, np.shape(right)).astype(int).tolist()

    def made(self, given: Any, mistaken: Any, right: Any, *, slack: float | Array = 0.0) -> float:
        """Look at the entries that are wrong: each is a whole number of parts."""
        if not np.shape(given) == np.shape(mistaken) == np.shape(right):
            return 0.0
        off, own = np.not_equal(given, right), np.equal(given, mistaken)
        reach = [0.5 / Fraction(value).denominator for value in np.ravel(mistaken)]
        found = explains(mistaken, right, off=off, own=own, reach=np.reshape(reach, off.shape))
        return float(found)

    def without(self, given: Any, mistaken: Any, right: Any, *, slack: float | Array = 0.0) -> Any:
        """Put the right entries there."""
        if not np.shape(given) == np.shape(mistaken) == np.shape(right):
            return given
        return np.where(np.equal(given, mistaken), right, given)

    def hint(self, expected: object) -> dict[str, Any]:
        """Kind and shape."""
        return with_shape({"kind": self.kind}, expected)


@dataclass(frozen=True)
class Count(_Exact):
    """A whole number, or several; exactly right or wrong.

    Attributes
    ----------
    unit
        The unit that is counted, such as ``"B"``; another one of its kind is converted.

    Examples
    --------
    >>> int(Count().read("1_048_576")), int(Count(unit="B").read("1.5 KiB"))
    (1048576, 1536)
    """

    kind = "count"
    reader = staticmethod(read_count)
    table = (
        (
            "Count()",
            "whole numbers, also as text: `1,048,576`, `384 × 384`, `2^20`",
            "equal; by the share of right entries",
        ),
        ('Count(unit="B")', 'the same, and units: `"12 KiB"`', "the same number"),
    )
    scaffold = Scaffold(
        asks="Say what is counted.",
        stub="count = None  # a whole number",
        reference='''
@exercise.part(points=1, answer=Count())
def count():
    """The number of subsets of a set of five."""
    return 2**5


@count.misconception()
def empty_set_forgotten():
    """The empty set is a subset, too."""
    return 2**5 - 1
''',
    )

    unit: str = ""

    def __post_init__(self) -> None:
        check_unit(self.unit)

    def hint(self, expected: object) -> dict[str, Any]:
        """Kind, shape and unit."""
        return super().hint(expected) | ({"unit": self.unit} if self.unit else {})


@dataclass(frozen=True)
class Fractions(_Exact):
    """A fraction, or several; exactly right or wrong, in lowest terms or not.

    A decimal is not taken, not even 0.375 for 3/8: Python turns ``3/8`` without quotes into one,
    so the answer is text.  Whole numbers may be plain.

    Examples
    --------
    >>> from fractions import Fraction
    >>> kind = Fractions()
    >>> kind.same(kind.read("6/16 -2"), kind.read([Fraction(3, 8), -2]))
    True
    """

    kind = "fractions"
    reader = staticmethod(read_fractions)
    table = (
        (
            "Fractions()",
            'text such as `"3/8"`, whole numbers; decimals are no answer',
            "equal; by the share of right entries",
        ),
    )
    scaffold = Scaffold(
        asks="Ask for a fraction, written as text.",
        stub="share = None  # text, such as 3/8",
        imports="from fractions import Fraction",
        reference='''
@exercise.part(points=1, answer=Fractions())
def share():
    """The share of the even numbers among 1, 2, …, 9."""
    return Fraction(4, 9)


@share.misconception()
def one_half():
    """There is one odd number more than there are even ones."""
    return Fraction(1, 2)
''',
    )


@dataclass(frozen=True)
class Shape(Answer):
    """The shape of an array, as a tuple; or the shapes of several, in a dictionary or a list.

    Where several are asked for, each counts by itself, if at least half of them are right.

    Attributes
    ----------
    names
        Names that a size may be written with, separated by blanks: ``"n d/h"`` isn't a size of
        the text, ``(2, "n", "d/h")`` is one for the names ``"n d h"``.

    Examples
    --------
    >>> Shape().read([2, 3])
    (2, 3)
    >>> kind = Shape(names="n d h")
    >>> kind.same(kind.read("(2, n, d/h)"), kind.read((2, "n", "2*d/(2*h)")))
    True
    >>> Shape().read({"weights": (2, 3), "output": (2, 4)})
    {'weights': (2, 3), 'output': (2, 4)}
    """

    kind = "shape"
    rewritten = True  # names of sizes have become numbers
    reader = staticmethod(read_shape)
    table = (
        ("Shape()", "a tuple, or text such as `2 × 3`", "equal"),
        (
            'Shape(names="n d V")',
            'the same, with names: `(1, "n", "2*d")`, `"1 × n × 2d"`',
            "equal",
        ),
        (
            "Shape(), the part returns a dictionary",
            "`{name: shape}`, or the shapes in a list",
            "equal; by the share of right shapes",
        ),
    )
    scaffold = Scaffold(
        asks="Say which array is meant.",
        stub="shape = None  # a tuple",
        reference='''
@exercise.part(points=1, answer=Shape())
def shape():
    """The shape of A B for A of shape (2, 3) and B of shape (3, 4)."""
    return (2, 4)


@shape.misconception()
def inner_axis_kept():
    """The axis that is summed over disappears."""
    return (3, 3)
''',
    )

    names: str = ""

    def __post_init__(self) -> None:
        if len(self.names.split()) > len(PRIMES):
            raise ValueError(f"at most {len(PRIMES)} names are possible, not {self.names!r}")

    def read(self, raw: object, like: object = None) -> Any:
        """Read one shape, or a dictionary of them."""
        hint = self.hint(like)
        if like is None and isinstance(raw, dict):
            hint["shapes"] = list(map(str, raw))
        elif like is None and isinstance(raw, list) and all(isinstance(s, tuple) for s in raw):
            hint["shapes"] = [str(i) for i in range(1, len(raw) + 1)]
        return read_shape(raw, hint).value

    def same(
        self, given: object, expected: object, *, slack: float | Array = 0.0, widen: float = 1.0
    ) -> bool:
        """Exact equality, length included."""
        return bool(given == expected)

    def judge(self, given: object, expected: object, *, slack: float | Array = 0.0) -> Judgement:
        """Right, or the share of right shapes where several are asked for."""
        return judge_shape(given, expected, self.rule)

    def guess(self, number: int, right: object) -> Any:
        """Return two axes of the same size, everywhere."""
        same = (number % (GUESSES - 1),) * 2
        return dict.fromkeys(right, same) if isinstance(right, dict) else same

    def hint(self, expected: object) -> dict[str, Any]:
        """Names of sizes, and which shapes are asked for."""
        found: dict[str, Any] = {"kind": "shape"}
        if self.names:
            found["names"] = self.names.split()
        if isinstance(expected, dict):
            found["shapes"] = list(expected)
        return found
