"""Kinds of answer: how one is read from a submission, and when two are the same.

A kind of answer is one class, which says everything about itself: how it is read, judged and
compared, what a student's notebook may know of it (``hint``), what ships for it, how an exercise
that asks for it begins (``scaffold``) and its line in the docs' table.

``reader`` is the function that reads it, from plain data and the part's hint to a value; ``check``
in the student's notebook reads with the same one.  Everything after it, follow-through included,
sees only values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar

import numpy as np

from autograder.student.judgement import Judgement as Judgement
from autograder.student.judging import JUDGES
from autograder.student.reading import Reading as Reading
from autograder.student.unreadable import FormatError as FormatError

Array = np.ndarray[Any, Any]


#: So many guesses somebody has who has no idea; see `Answer.guess`.
GUESSES = 4

_SHORT = 4  # characters of a formula that stands in many a sentence


class Undecided(Exception):
    """The grader could not decide; a person must."""


class Senseless(Undecided):
    """It can't be decided because of what the student wrote: no right answer is like that."""


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


@dataclass(frozen=True)
class Scaffold:
    """How an exercise that asks for a kind begins: a few lines to be rewritten.

    Attributes
    ----------
    asks
        The text that students read.
    stub
        The line that they fill in; empty where the answer is a cell of its own.
    reference
        The parts and misconceptions of the reference.
    imports
        What it needs beside ``Exercise`` and the kind.
    numbers
        Has it variants, whose numbers are shown?
    """

    asks: str
    stub: str
    reference: str
    imports: str = ""
    numbers: bool = False


class Answer:
    """What every kind of answer can do.

    Attributes
    ----------
    kind
        Its name: ``autograder new --kind`` knows it by that.
    reader
        How it is read: a pure function of what the student's variable holds and of the part's
        hint, which returns a `Reading` or raises ``FormatError``.  It ships, with all that it uses
        of its module: it may import numpy, the standard library and ``autograder.student`` alone.
    ships
        Further modules that a student's notebook needs for it: ``check_formulas.py`` or none.
    table
        Lines of the docs' table of kinds: how it is declared, what it reads, what is right.
    scaffold
        How a new exercise begins; None where it is not offered.
    """

    kind: ClassVar[str] = "text"
    manual: ClassVar[bool] = False
    free: ClassVar[bool] = False  #: do students choose the value themselves?
    together: ClassVar[bool] = False  #: may an answer show several known mistakes at once?
    rewritten: ClassVar[bool] = False  #: can what was read not be read again?
    by_entry: ClassVar[bool] = False  #: are entries read one by one, each a number?
    stepwise: ClassVar[bool] = False  #: is it a way? From one that shows nothing, nothing follows
    reader: ClassVar[Any] = None
    ships: ClassVar[tuple[str, ...]] = ()
    table: ClassVar[tuple[tuple[str, str, str], ...]] = ()
    scaffold: ClassVar[Scaffold | None] = None

    def read(self, raw: object, like: object = None) -> Any:
        """Turn plain data into a value of this kind.

        Parameters
        ----------
        raw
            What the student's variable held: numbers, text, lists, arrays.
        like
            The right value, whose shape (never its content) the answer must have; without it
            whatever an author's function returns can be read.

        Raises
        ------
        FormatError
            With what was expected and what came.
        """
        reader = type(self).reader
        if reader is None:
            raise NotImplementedError
        found: Reading = reader(raw if like is not None else from_author(raw), self.hint(like))
        return found.value

    def same(self, given: Any, expected: Any, *, slack: Any = 0.0, widen: float = 1.0) -> bool:
        """Tell whether two values are the same answer.

        ``slack`` is what rounding of carried values allows on top of the tolerance;
        ``widen`` multiplies the tolerance (variants keep mistakes that far away).
        """
        raise NotImplementedError

    def judge(self, given: object, expected: object, *, slack: Any = 0.0) -> Judgement:
        """Judge an answer; kinds with partial credit say more than right or wrong."""
        return Judgement(float(self.same(given, expected, slack=slack)))

    def locate(self, given: object, expected: object) -> str:
        """Say where a wrong answer that nothing else explains can be seen to be wrong.

        It says nothing of what is right; "" where there is no such place.
        """
        return ""

    def made(self, given: object, mistaken: object, right: object, *, slack: Any = 0.0) -> float:
        """Tell how far a mistake shows in an answer that is not wholly its own.

        Every wrong entry is the mistake's, which can't be chance, or, where there may be several
        mistakes `together`, so is what is wrong by this one: 1, or ½ where there are too few
        digits; else 0.
        """
        return 0.0

    def without(self, given: object, mistaken: object, right: object, *, slack: Any = 0.0) -> Any:
        """Return an answer with the right entries in the place of those that are a mistake's."""
        return given

    def says_much(self, right: object) -> bool:
        """Tell whether so little counts as right that a wrong value beside it is no chance."""
        return True

    def rounding(self, given: object) -> Array | None:
        """Return how far each number that was read may be from what the student meant."""
        return None

    @property
    def mixed(self) -> bool:
        """Does each variant show what there is to choose from in an order of its own?"""
        return False

    def mixed_order(self, rng: np.random.Generator) -> str:
        """Draw such an order: ``"CAB"`` shows the third text of `published` first."""
        raise NotImplementedError

    def meant(self, given: object, order: str) -> Any:
        """Return an answer that was read as the author's functions give it."""
        return given

    def seen(self, value: object, order: str) -> Any:
        """Return an answer of the author's functions as a student would give it."""
        return value

    def in_words(self, given: object) -> str:
        """Say what was answered where that isn't what was written; "" where it is."""
        return ""

    def typed(self, value: object) -> Any:
        """Return a plain value as a student types it where the kind asks for more than that."""
        return value

    def attempts(self, right: object) -> Iterable[Attempt]:
        """Return what lazy, clever and careful students try, for ``verify`` to try first.

        Parameters
        ----------
        right
            What the part's reference returned.
        """
        return ()

    def other_clothes(self, right: object) -> Iterable[Attempt]:
        """Return what a right answer looks like when others write it: of alternatives, too."""
        return ()

    def unsaid(self, right: object) -> Iterable[str]:
        """Return what the author has left open and has to say, as sentences for ``verify``."""
        return ()

    def guess(self, number: int, right: object) -> Any:
        """Return what somebody writes who has no idea, for ``verify`` to see what that earns.

        Parameters
        ----------
        number
            Which of the `GUESSES`: 0, 1, 2 or an even share, or what comes to that.
        right
            The right value, for its form alone.

        Returns
        -------
        object
            None where nobody would write anything.
        """
        return None

    def mistakes(self, compute: Callable[..., Any]) -> Iterable[Callable[..., Any]]:
        """Return the mistakes that the kind itself knows of, as an author would write them.

        Parameters
        ----------
        compute
            The part's right computation; see `mistaken`.
        """
        return ()

    def published(self) -> Iterable[str]:
        """Return the texts of it that students are given on purpose."""
        return ()

    def hint(self, expected: object) -> dict[str, Any]:
        """Return what the student's notebook may know: the form of an answer, not its value.

        Without a right value it says nothing of the shape.
        """
        return {"kind": self.kind}

    def tells(self, text: str, raw: object) -> bool:
        """Tell whether a text for students gives a right answer away, as its author wrote it."""
        written = "".join(raw.split()) if isinstance(raw, str) else ""
        return len(written) >= _SHORT and written in "".join(text.split())

    @property
    def practised(self) -> bool:
        """Do values alone say what is right, so that a notebook can judge it in practice?"""
        return self.kind in JUDGES

    @property
    def statement(self) -> Mapping[str, Any] | None:
        """What is practised in the place of what is asked, where that is one for everybody.

        Its ``asks``, ``hint`` and ``rule`` are as in help.json, and ``right`` is an answer.
        """
        return None

    @property
    def rule(self) -> dict[str, Any]:
        """What its judge in `autograder.student.judging` has to know; plain data."""
        return {}


@dataclass(frozen=True)
class Essay(Answer):
    """Free text in a Markdown cell, marked by hand in formgrader."""

    kind: ClassVar[str] = "essay"
    manual: ClassVar[bool] = True
    table = (("Essay()", "Markdown", "a person says so"),)
    scaffold = Scaffold(
        asks="Ask for a few sentences.",
        stub="",
        reference='''
@exercise.part(points=2, answer=Essay())
def why():
    """Names the reason (1 point) and gives an example (1 point)."""
    return "A model answer."
''',
    )

    def read(self, raw: object, like: object = None) -> str:
        """Take the text as it is."""
        return str(raw)


def mistaken(
    compute: Callable[..., Any], name: str, why: str, spoil: Callable[[Any], Any]
) -> Callable[..., Any]:
    """Return a computation that spoils the right answer, with the sentence about that."""

    @wraps(compute)
    def wrong(*args: object, **kwargs: object) -> Any:
        return spoil(compute(*args, **kwargs))

    wrong.__name__, wrong.__doc__ = name, why
    return wrong


def from_author(raw: object) -> Any:
    """Return what an author's function gave as a student could: exact numbers stand in lists."""
    if isinstance(raw, np.ndarray | np.generic) and np.asarray(raw).dtype == object:
        return raw.tolist()
    return raw


def same_everywhere(number: int, shape: Sequence[int]) -> Array:
    """Return 0, 1, 2 or an even share in every entry; see `Answer.guess`."""
    return np.full(tuple(shape), (0, 1, 2, 1 / (shape[-1] if shape else 2))[number])


def with_shape(hint: dict[str, Any], expected: Any) -> dict[str, Any]:
    """Add the shape that is asked for to a hint, where there is a right value."""
    return hint if expected is None else hint | {"shape": list(np.shape(expected))}
