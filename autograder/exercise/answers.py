"""Kinds of answer: how one is read from a submission, and when two are the same.

``read`` turns plain data from the student's process into a value or raises ``FormatError``;
everything after it, follow-through included, sees only values.  Each kind has a module of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

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


@dataclass(frozen=True)
class Attempt:
    """Something that a student may write, and what it may earn at most and must earn at least.

    Attributes
    ----------
    name
        What is tried, in a word or two: ``all letters``, ``four digits``, ``backwards``.
    raw
        What the student's variable holds.
    """

    name: str
    raw: Any
    at_most: float = 1.0
    at_least: float = 0.0


class Answer:
    """What every kind of answer can do."""

    manual: ClassVar[bool] = False
    free: ClassVar[bool] = False  #: do students choose the value themselves?

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

    def attempts(self, right: Any) -> Iterable[Attempt]:
        """Return what lazy, clever and careful students try, for ``verify`` to try first.

        Parameters
        ----------
        right
            What the part's reference returned.
        """
        return ()

    def hint(self, expected: Any) -> dict[str, Any]:
        """Return what the student's notebook may know: the form of an answer, not its value."""
        return {"kind": "text"}


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


def shown(raw: Any) -> str:
    """Return what was given, shortened for a message."""
    text = repr(raw)
    return text if len(text) <= 60 else f"{text[:57]}..."
