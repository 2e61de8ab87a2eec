"""Answers that students choose themselves: examples and counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

from autograder.exercise.answers import Answer, Array
from autograder.exercise.numbers import Numbers


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

    free: ClassVar[bool] = True

    shows: Callable[[Array], Hashable]

    def read(self, raw: Any, like: Any = None) -> Array:
        """Accept what ``Numbers`` accepts."""
        return Numbers().read(raw, like)

    def same(self, given: Array, expected: Array, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Tell whether both show the same; no tolerance comes in."""
        return given.shape == expected.shape and self.shows(given) == self.shows(expected)

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and shape."""
        return Numbers().hint(expected)
