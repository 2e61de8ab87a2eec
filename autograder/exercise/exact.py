"""Answers that are exactly right or wrong: counts, fractions, shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.exercise.answers import Answer, Judgement, Scaffold, with_shape
from autograder.exercise.entrywise import judged_by_entries
from autograder.student.readers import read_count, read_fractions, read_shape


@dataclass(frozen=True)
class _Exact(Answer):
    """Exactly right or wrong, entry by entry.

    Attributes
    ----------
    whole
        All entries must be right to earn anything.
    """

    whole: bool = False

    def judge(self, given: Any, expected: Any, *, slack: Any = 0.0) -> Judgement:
        """Right, or the share of right entries where at least half are right."""
        if self.same(given, expected):
            return Judgement(1.0)
        if self.whole or np.shape(given) != np.shape(expected):
            return Judgement(0.0)
        return judged_by_entries(np.equal(given, expected).astype(float), expected)

    def same(self, given: Any, expected: Any, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Exact equality."""
        return np.shape(given) == np.shape(expected) and bool(np.all(given == expected))

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and shape."""
        return with_shape({"kind": self.kind}, expected)


@dataclass(frozen=True)
class Count(_Exact):
    """A whole number, or several; exactly right or wrong.

    >>> int(Count().read("1_048_576"))
    1048576
    """

    kind = "count"
    reader = staticmethod(read_count)
    table = (
        (
            "Count()",
            "whole numbers, also as text: `1,048,576`, `2*6*1000`, `2^20`",
            "equal; by the share of right entries",
        ),
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
    """The shape of an array, as a tuple.

    >>> Shape().read([2, 3])
    (2, 3)
    """

    kind = "shape"
    reader = staticmethod(read_shape)
    table = (("Shape()", "a tuple, or text such as `2 × 3`", "equal"),)
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

    def same(self, given: Any, expected: Any, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Exact equality, length included."""
        return tuple(given) == tuple(expected)
