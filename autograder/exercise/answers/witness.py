"""Answers that students choose themselves: examples and counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

from autograder.exercise.answers.kind import Answer, Array, Scaffold, with_shape
from autograder.student.readers import read_numbers


@dataclass(frozen=True)
class Witness(Answer):
    """An array of the student's choice, judged by what it shows and not by its numbers.

    Two witnesses are the same answer if they show the same.  So a misconception returns one
    wrong witness and recognises all that fail in the same way.

    Attributes
    ----------
    shows
        What an array is a witness of, in a word or any other value that compares; called with
        an array of the right shape.

    Examples
    --------
    >>> sign = Witness(lambda x: "negative" if x < 0 else "other")
    >>> sign.same(sign.read(-3), sign.read("-1/2"))
    True
    """

    kind = "witness"
    free: ClassVar[bool] = True
    reader = staticmethod(read_numbers)
    table = (
        (
            "Witness(shows=…)",
            "what `Numbers()` reads",
            "it shows what the reference's example shows",
        ),
    )
    scaffold = Scaffold(
        asks="Ask for an example that shows something; any example that does is right.",
        stub="pair = None  # two rows of two numbers",
        imports="import numpy as np",
        reference='''
def angle(pair):
    """What a pair of vectors shows: the kind of angle between them."""
    product = pair[0] @ pair[1]
    if product > 0:
        return "acute"
    return "right" if product == 0 and pair.any(axis=1).all() else "another"


@exercise.part(points=1, answer=Witness(angle))
def pair():
    """Two vectors other than 0, as rows, that are at a right angle."""
    return np.array([[1, 0], [0, 1]])


@pair.misconception()
def pointing_the_same_way():
    """Your vectors enclose an acute angle: what is their product?"""
    return np.array([[1, 0], [1, 1]])
''',
    )

    shows: Callable[[Array], Hashable]

    def same(
        self, given: Array, expected: Array, *, slack: float | Array = 0.0, widen: float = 1.0
    ) -> bool:
        """Tell whether both show the same; no tolerance comes in."""
        return given.shape == expected.shape and self.shows(given) == self.shows(expected)

    def hint(self, expected: object) -> dict[str, Any]:
        """Shape, of what is read as numbers."""
        return with_shape({"kind": "numbers"}, expected)
