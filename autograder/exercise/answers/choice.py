"""Statements to choose from, by their letters: one of them, or all that apply."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.exercise.answers.kind import Answer, Array, Attempt, Judgement, Scaffold
from autograder.student.judging import contains, judge_choice
from autograder.student.letters import read_choice

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Choice(Answer):
    """One of several statements, or those that apply, by their letters.

    The order in which a student sees them is drawn with the variant, so that no letter is right
    more often than others; authors' functions speak of A, B, … in the order in which they are
    declared. Letters alone, ``Choice("ABC")``, stand for statements in the notebook's text, which
    everybody sees in this order: where the order itself says something.

    Attributes
    ----------
    options
        The statements; or letters.
    multiple
        All letters that apply are asked for: ``"ACD"``, ``"A, C, D"``, a list or a set of them,
        or ``"none"``.  The credit is the share of the letters that apply minus the share of the
        others that were marked, never below 0: all letters earn nothing, and guessing on average
        next to nothing.  Where all letters apply, or none, all must be right.
    false
        How many letters that do not apply are asked for, where a variant asks for some of the
        options only: else naming all that are asked for would cost too little.

    Examples
    --------
    >>> Choice("ABC").read(" b ")
    'B'
    >>> some = Choice("ABCDE", multiple=True)
    >>> some.read({"d", "A"})
    'AD'
    >>> some.judge("ADE", "AD").credit
    0.6666666666666667
    >>> side = Choice(["left of it", "above it"])
    >>> side.meant(side.read("a"), order="BA"), side.in_words("A")
    ('A', 'left of it')
    """

    kind = "choice"
    together = True
    reader = staticmethod(read_choice)
    table = (
        ('Choice(["…", "…", "…"])', "a letter", "equal"),
        (
            "Choice([…], multiple=True)",
            'letters: `"ACD"`, a list, a set, `"none"`',
            "credit right/apply − wrong/others, not below 0",
        ),
    )
    scaffold = Scaffold(
        asks="Ask; the statements are below, in an order of each student's own.",
        stub="choice = None  # a letter",
        numbers=True,
        reference='''
@exercise.part(points=1, answer=Choice(["one statement", "another one", "a third one"]))
def choice():
    """Which statement is true."""
    return "B"


@choice.misconception()
def first_statement():
    """Say what speaks against the first statement."""
    return "A"
''',
    )

    options: str | Sequence[str]
    multiple: bool = False
    false: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.options, str):
            object.__setattr__(self, "options", tuple(self.options))
            if len(set(self.options)) < len(self.options) or len(self.options) > len(LETTERS):
                raise ValueError(f"of {len(LETTERS)} statements at most each has a text of its own")
        elif len(set(self.options)) < len(self.options) or self.options != self.options.upper():
            raise ValueError(f"the letters {self.options!r} must be different capitals")

    @property
    def letters(self) -> str:
        """The letters, in the author's order."""
        options = self.options
        return options if isinstance(options, str) else LETTERS[: len(options)]

    @property
    def statements(self) -> tuple[str, ...]:
        """The statements in the author's order; none where they stand in the notebook's text."""
        return () if isinstance(self.options, str) else tuple(self.options)

    @property
    def mixed(self) -> bool:
        """Are there statements?"""
        return bool(self.statements)

    def says_much(self, right: object) -> bool:
        """Deny it: a letter is met by chance."""
        return False

    def published(self) -> tuple[str, ...]:
        """Return the statements in an order that says nothing."""
        return tuple(sorted(self.statements))

    def mixed_order(self, rng: np.random.Generator) -> str:
        """Draw in which order a student sees the statements."""
        return "".join(self.letters[place] for place in rng.permutation(len(self.statements)))

    def meant(self, given: Any, order: str) -> Any:
        """Return the author's letters for those that a student saw."""
        return self._letters(order, given, back=False)

    def seen(self, value: object, order: str) -> Any:
        """Return the letters that a student saw for the author's."""
        return self._letters(order, self.read(value) if value else "", back=True) or "none"

    def in_words(self, given: Any) -> str:
        """Return the statements that were chosen, where there are any of ours."""
        if not self.mixed:
            return ""
        chosen = [self.statements[self.letters.index(letter)] for letter in given]
        return "\n".join(chosen or ["none"])

    def _letters(self, order: str, given: str, *, back: bool) -> str:
        """Translate letters; what has no order stays as it is."""
        if not order:
            return given
        published = self.published()
        shown = [published[self.letters.index(letter)] for letter in order]
        own = {
            self.letters[self.statements.index(text)]: letter
            for text, letter in zip(shown, self.letters, strict=True)
        }
        key = own if back else {letter: author for author, letter in own.items()}
        return "".join(sorted(key[letter] for letter in given))

    def same(
        self, given: object, expected: object, *, slack: float | Array = 0.0, widen: float = 1.0
    ) -> bool:
        """Equality."""
        return bool(given == expected)

    def judge(self, given: object, expected: object, *, slack: float | Array = 0.0) -> Judgement:
        """Right or wrong; of several letters, credit for those that apply."""
        return judge_choice(given, expected, self.rule)

    def made(self, given: Any, mistaken: Any, right: Any, *, slack: float | Array = 0.0) -> float:
        """Look at the letters: each may be a mistake of its own."""
        return float(self.multiple and contains(given, mistaken, right))

    @property
    def rule(self) -> dict[str, Any]:
        """The letters, and how many of them are asked for."""
        several = {"multiple": True, "false": self.false} if self.multiple else {}
        return {"options": self.letters} | several

    def tells(self, text: str, raw: object) -> bool:
        """Look for the statements, or for the letters where no word can be meant."""
        if self.statements:
            told = "".join(text.split())
            return any(
                "".join(s.split()) in told for s in self.in_words(self.read(raw)).split("\n")
            )
        plain = raw and raw not in ("A", "I")  # which are words, too
        called = "" if plain else r"(?:letter|option|answer|choice|choose|statement)\W+(?:is\W+)?"
        return bool(raw and re.search(rf"(?<!\w){called}{raw}(?!\w)", text))

    @property
    def practised(self) -> bool:
        """Of some statements out of many the others would be left to practise: too few.

        Of statements that everybody has the right ones are the same for everybody.
        """
        return self.false is None and not self.statements

    def attempts(self, right: object) -> Iterable[Attempt]:
        """Try what takes no thought, and the letters in other clothes."""
        answer = self.read(right)
        yield Attempt("small letters", answer.lower() or "none", at_least=1)
        if not self.multiple:
            return
        yield Attempt("a list of letters", list(answer) or "none", at_least=1)
        yield Attempt("commas between", ", ".join(answer) or "none", at_least=1)
        if answer != self.letters:
            yield Attempt("all letters", self.letters, at_most=0)
        if answer:
            yield Attempt("none", "none", at_most=0)

    def hint(self, expected: object) -> dict[str, Any]:
        """Kind and letters, and the statements in an order that says nothing."""
        several: dict[str, Any] = {"multiple": True} if self.multiple else {}
        if self.statements:
            several["statements"] = [*self.published()]
        return {"kind": "choice", "options": self.letters} | several
