"""Letters chosen from a list of statements: one of them, or all that apply."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from autograder.exercise.answers import Answer, FormatError, Judgement, shown


@dataclass(frozen=True)
class Choice(Answer):
    """One of several letters, each of which stands beside a statement in the notebook.

    Attributes
    ----------
    options
        The letters.
    multiple
        All letters that apply are asked for: ``"ACD"``, ``"A, C, D"``, a list or a set of them,
        or ``"none"``.
    minus
        With ``multiple``, what a wrong letter takes away, as a share of what a right one gives:
        the credit is (right − minus · wrong) / (letters that apply), never below 0.  Left out,
        all letters must be right to earn anything.

    Raises
    ------
    ValueError
        If ``minus`` is not above 0 (marking every letter would earn everything), or is given
        for a single choice.

    Examples
    --------
    >>> Choice("ABC").read(" b ")
    'B'
    >>> some = Choice("ABCDE", multiple=True, minus=0.5)
    >>> some.read({"d", "A"})
    'AD'
    >>> some.judge("AE", "AD").credit
    0.25
    """

    options: str
    multiple: bool = False
    minus: float | None = None

    def __post_init__(self) -> None:
        if len(set(self.options)) < len(self.options) or self.options != self.options.upper():
            raise ValueError(f"the letters {self.options!r} must be different capitals")
        if self.minus is None:
            return
        if not self.multiple:
            raise ValueError("minus counts wrong letters of several: it needs multiple=True")
        if not self.minus > 0:
            raise ValueError(
                f"minus={self.minus:g}: a wrong letter must take something away, or whoever marks "
                "every letter earns everything; leave minus out for all or nothing"
            )

    def read(self, raw: Any, like: Any = None) -> str:
        """Accept letters in either case; several come back in the order of the options."""
        if not self.multiple:
            letter = raw.strip().upper() if isinstance(raw, str) else ""
            if len(letter) != 1 or letter not in self.options:
                raise FormatError(f"one of {', '.join(self.options)} is expected, not {shown(raw)}")
            return letter
        letters = _letters(raw)
        if letters is None or not letters <= set(self.options):
            raise FormatError(
                f"letters out of {', '.join(self.options)} are expected, such as "
                f'"{self.options[:2]}", or "none" where no statement applies, not {shown(raw)}'
            )
        return "".join(option for option in self.options if option in letters)

    def same(self, given: Any, expected: Any, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Equality."""
        return bool(given == expected)

    def judge(self, given: Any, expected: Any, *, slack: Any = 0.0) -> Judgement:
        """Right or wrong; with ``minus``, credit for every letter that applies."""
        if given == expected or self.minus is None:
            return Judgement(float(given == expected))
        right, wrong = len(set(given) & set(expected)), len(set(given) - set(expected))
        earned = right / len(expected) if expected else 1.0
        credit = max(0.0, earned - self.minus * wrong / max(len(expected), 1))
        # How many letters are right, not which.
        found = f"Letters that apply: {right} of {len(expected)} marked; wrong letters: {wrong}."
        return Judgement(round(credit, 6), feedback=found)

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and letters."""
        return {"kind": "choice", "options": self.options} | (
            {"multiple": True} if self.multiple else {}
        )


def _letters(raw: Any) -> set[str] | None:
    """Return the letters that were chosen, None if there is anything but letters."""
    if isinstance(raw, str):
        raw = [] if raw.strip().lower() == "none" else re.sub(r"[\s,;]", "", raw)
    if not isinstance(raw, Iterable):
        return None
    letters = [entry.strip().upper() if isinstance(entry, str) else "" for entry in raw]
    return set(letters) if all(len(letter) == 1 for letter in letters) else None
