"""Letters chosen from a list of statements: one of them, or all that apply."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from autograder.exercise.kind import Answer, Attempt, Judgement, Scaffold
from autograder.student.judging import contains, judge_choice
from autograder.student.letters import read_choice


@dataclass(frozen=True)
class Choice(Answer):
    """One of several letters, each of which stands beside a statement in the notebook.

    Attributes
    ----------
    options
        The letters.
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
    """

    kind = "choice"
    together = True
    reader = staticmethod(read_choice)
    table = (
        ('Choice("ABCD")', "a letter", "equal"),
        (
            'Choice("ABCDE", multiple=True)',
            'letters: `"ACD"`, a list, a set, `"none"`',
            "credit right/apply − wrong/others, not below 0",
        ),
    )
    scaffold = Scaffold(
        asks="""\
Ask, and give the choices:

- **A** the first statement
- **B** the second statement
- **C** the third statement""",
        stub="choice = None  # a letter",
        reference='''
@exercise.part(points=1, answer=Choice("ABC"))
def choice():
    """Which statement is true."""
    return "B"


@choice.misconception()
def first_statement():
    """Say what speaks against the first statement."""
    return "A"
''',
    )

    options: str
    multiple: bool = False
    false: int | None = None

    def __post_init__(self) -> None:
        if len(set(self.options)) < len(self.options) or self.options != self.options.upper():
            raise ValueError(f"the letters {self.options!r} must be different capitals")

    def same(self, given: Any, expected: Any, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Equality."""
        return bool(given == expected)

    def judge(self, given: Any, expected: Any, *, slack: Any = 0.0) -> Judgement:
        """Right or wrong; of several letters, credit for those that apply."""
        return judge_choice(given, expected, self.rule)

    def made(self, given: Any, mistaken: Any, right: Any, *, slack: Any = 0.0) -> float:
        """Look at the letters: each may be a mistake of its own."""
        return float(self.multiple and contains(given, mistaken, right))

    @property
    def rule(self) -> dict[str, Any]:
        """The letters, and how many of them are asked for."""
        several = {"multiple": True, "false": self.false} if self.multiple else {}
        return {"options": self.options} | several

    def tells(self, text: str, raw: Any) -> bool:
        """Look for the letters where no word can be meant."""
        plain = raw and raw not in ("A", "I")  # which are words, too
        called = "" if plain else r"(?:letter|option|answer|choice|choose|statement)\W+(?:is\W+)?"
        return bool(raw and re.search(rf"(?<!\w){called}{raw}(?!\w)", text))

    @property
    def practised(self) -> bool:
        """Of some statements out of many the others would be left to practise: too few."""
        return self.false is None

    def attempts(self, right: Any) -> Iterable[Attempt]:
        """Try what takes no thought, and the letters in other clothes."""
        answer = self.read(right)
        yield Attempt("small letters", answer.lower() or "none", at_least=1)
        if not self.multiple:
            return
        yield Attempt("a list of letters", list(answer) or "none", at_least=1)
        yield Attempt("commas between", ", ".join(answer) or "none", at_least=1)
        if answer != self.options:
            yield Attempt("all letters", self.options, at_most=0)
        if answer:
            yield Attempt("none", "none", at_most=0)

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind and letters."""
        several = {"multiple": True} if self.multiple else {}
        return {"kind": "choice", "options": self.options} | several
