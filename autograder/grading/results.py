"""What grading produces.  Plain data: everything downstream only reads it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

import msgspec

SCHEMA = 1

Role = Literal["core", "choice", "star"]  #: What an exercise is to the points of its assignment.

#: The sign of each role, never shown without a word.
ROLE_SIGNS: dict[Role, str] = {"core": "●", "choice": "○", "star": "★"}


class Status(StrEnum):
    """The outcome of an item or of a whole exercise."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"  # the student's work is wrong
    SKIPPED = "skipped"  # an earlier check failed, or a person marks it
    ERRORED = "errored"  # the grader is at fault: the score is withheld, never 0


@dataclass(frozen=True)
class Item:
    """The outcome of one part or check.

    Attributes
    ----------
    name, rubric
        What it is called, and what it asks for or requires.
    status
        The outcome.
    score, max_score
        In course points, multiples of a hundredth; no ``score`` where it is withheld or given by
        hand.
    note
        A stable tag that reports count: ``follow_through``, a misconception, ``timeout``, …
    feedback
        Sentences for the student.
    curve
        Times measured for a picture, where there are any: sizes ``n``, and ``seconds`` of
        processor time of the submission and of the ``reference``.
    training
        What a training run was like, where there was one: its ``seed``, ``seconds`` of processor
        time, and the ``losses`` after so many ``steps``, of a long run as a hundred means.
    given
        The student's own answer to a part, as text; cut after 2,000 characters.
    chosen
        Of statements that each student sees in another order: the author's letters of those that
        were chosen, or ``none``.
    fits
        Where the answer is right for other numbers (note ``other_variant``): which variants.
    mistake
        What is said of the known mistake behind it, where it took some work: the same sentence
        is the same mistake. It is no part of the record.
    """

    name: str
    rubric: str
    status: Status
    score: float | None
    max_score: float
    note: str = ""
    feedback: str = ""
    curve: dict[str, list[float]] | None = None
    given: str = ""
    chosen: str = ""
    training: dict[str, Any] | None = None
    fits: list[int] | None = None
    mistake: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the entry of the record; without what only some have, where there is none."""
        return {
            name: value
            for name, value in vars(self).items()
            if name != "mistake"
            and (value or name not in ("given", "chosen", "curve", "training", "fits"))
        }


def hundredths(points: float) -> float:
    """Round points to hundredths, half away from 0: no other fraction of a point is given.

    >>> hundredths(2 / 3), hundredths(0.125), hundredths(4.800001)
    (0.67, 0.13, 4.8)
    """
    return math.floor(points * 100 + 0.5 + 1e-9) / 100


def sentence(text: str) -> str:
    r"""Make a sentence of a message: with a capital at the start and a stop at the end.

    A name that stands in the student's own line, which a message shows below, stays as it is, as
    does one with a capital or an underscore in it.

    >>> sentence("this is no number"), sentence("dK is too large")
    ('This is no number.', 'dK is too large.')
    >>> sentence("b_q is right in shape")
    'b_q is right in shape.'
    >>> sentence("p1 is not a function\n    p1(1 - p1)\n    ^")
    'p1 is not a function\n    p1(1 - p1)\n    ^'
    """
    first, _, shown = text.partition("\n")
    word = re.match(r"\w+", first)
    mixed = word and (word[0][1:] != word[0][1:].lower() or "_" in word[0])
    if not (word and (mixed or re.search(rf"\b{word[0]}\b", shown))):
        text = text[:1].upper() + text[1:]
    return text + ("" if text.endswith((".", "!", "?", "^")) else ".")


@dataclass(frozen=True)
class ExerciseGrade:
    """The outcome of one exercise.

    Attributes
    ----------
    id, status
        The exercise and its outcome.
    score, max_score
        In course points. What is withheld is not in ``score``; there is none where all of it is.
    variant
        The index of the student's numbers in the pool.
    items
        Its parts and checks.
    """

    id: str
    status: Status
    score: float | None
    max_score: float
    variant: int
    items: list[Item]

    @classmethod
    def of(cls, id: str, items: list[Item], *, variant: int = 0) -> ExerciseGrade:
        """Sum up ``items``; those marked by hand (note ``manual``) count once they are marked.

        One that is withheld withholds its own points and no others.
        """
        own = [item for item in items if item.note != "manual"]
        known = [item for item in own if item.status is not Status.ERRORED]
        withheld = len(known) < len(own)
        nothing = withheld and not any(item.max_score for item in known)
        score = None if nothing else hundredths(sum(item.score or 0.0 for item in known))
        total = round(sum(item.max_score for item in items), 2)
        if withheld:
            status = Status.ERRORED
        elif all(item.status is Status.PASSED for item in own):
            status = Status.PASSED if own else Status.SKIPPED
        else:
            status = Status.PARTIAL if score else Status.FAILED
        return cls(id, status, score, total, variant, items)

    def less(self, lost: float, name: str, title: str, said: str) -> ExerciseGrade:
        """Return the grade with an item, noted by its own name, for what help has cost."""
        status = Status.PARTIAL if lost else Status.PASSED
        item = Item(name, title, status, 0.0 - lost, 0.0, name, said)
        return ExerciseGrade.of(self.id, [*self.items, item], variant=self.variant)

    @property
    def withheld(self) -> float:
        """Points that the grader has not decided."""
        return sum(item.max_score for item in self.items if item.status is Status.ERRORED)


@dataclass(frozen=True)
class Counting:
    """Which points of an assignment count.

    Attributes
    ----------
    best
        Of the items of such a name, that many: those with the most points.
    stars
        Exercises that nobody needs: what is earned there comes on top.
    core
        Exercises that everybody needs; without any, all that are no stars.
    choice
        So many points count of the other exercises, whichever they are; None: all of them.
    """

    best: dict[str, int] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    core: list[str] = field(default_factory=list)
    choice: float | None = None

    def role(self, exercise: str) -> Role:
        """Return what an exercise is to the points."""
        if exercise in self.stars:
            return "star"
        return "choice" if self.core and exercise not in self.core else "core"

    def total(self, points: Iterable[tuple[Role, float]]) -> float:
        """Add up points, each with what its exercise is to them; of choice count as many as may."""
        by_role: dict[Role, float] = dict.fromkeys(ROLE_SIGNS, 0.0)
        for role, own in points:
            by_role[role] += own
        choice = by_role["choice"]
        choice = choice if self.choice is None else min(choice, self.choice)
        return by_role["core"] + choice + by_role["star"]

    @property
    def settings(self) -> dict[str, Any]:
        """What differs from every point counting, as course_config.py says it."""
        return {name: value for name, value in vars(self).items() if value != getattr(ALL, name)}


ALL = Counting()  #: Every point counts.


@dataclass(frozen=True)
class Grade:
    """The outcome of a submission.

    Attributes
    ----------
    assignment, student
        Whose it is.
    isolation
        The tier under which student code ran (``autograder doctor`` explains them).
    exercises
        In the order of the notebook.
    notices
        What was unusual about the file, in sentences for the student.
    runtime
        Seconds of wall clock and of processor time, and the peak of memory in MiB.
    counting
        Which of the points count.
    """

    assignment: str
    student: str
    isolation: str
    exercises: list[ExerciseGrade]
    notices: list[str] = field(default_factory=list)
    runtime: dict[str, Any] = field(default_factory=dict)
    counting: Counting = ALL

    @property
    def score(self) -> float:
        """Points that are known: withheld items and hand-marked parts are left out."""
        role = self.counting.role
        return hundredths(
            self.counting.total((role(each.id), each.score or 0.0) for each in self.exercises)
        )

    @property
    def max_score(self) -> float:
        """Points that are needed for everything, those given by hand included; none for stars."""
        most = [(exercise.id, exercise.max_score) for exercise in self.exercises]
        for name, count in self.counting.best.items():
            beyond = sorted(self._named(name), key=lambda own: own[1].max_score)[:-count]
            most += [(id, -item.max_score) for id, item in beyond]
        roles = ((self.counting.role(id), points) for id, points in most)
        return round(self.counting.total(own for own in roles if own[0] != "star"), 2)

    def best_of(self, name: str) -> str:
        """Say how many items of a name count, ``4 of 8``; nothing where all of them do."""
        count = self.counting.best.get(name)
        return f"{count} of {len(self._named(name))}" if count else ""

    def _named(self, name: str) -> list[tuple[str, Item]]:
        return [(e.id, item) for e in self.exercises for item in e.items if item.name == name]

    def to_json(self) -> dict[str, Any]:
        """Return the record that is written to disk (docs/formats.md)."""
        exercises = [
            {**vars(exercise), "items": [item.to_json() for item in exercise.items]}
            for exercise in self.exercises
        ]
        head = {"schema": SCHEMA, "assignment": self.assignment, "student": self.student}
        head |= {"isolation": self.isolation, "score": self.score, "max_score": self.max_score}
        rest: dict[str, Any] = {"notices": self.notices, "runtime": self.runtime}
        head |= {"counting": settings} if (settings := self.counting.settings) else {}
        return head | {"exercises": exercises} | rest

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Grade:
        """Rebuild a grade from its record.

        Raises
        ------
        ValueError
            If the record has another schema, or an entry is missing or of another type.
        """
        if data.get("schema") != SCHEMA:
            raise ValueError(f"this is a record of schema {data.get('schema')}, not {SCHEMA}")
        try:
            # Records of earlier versions say "best" and "stars" themselves.
            counting = {name: data[name] for name in ("best", "stars") if name in data}
            return msgspec.convert({"counting": counting, **data}, cls)
        except msgspec.ValidationError as error:
            raise ValueError(f"this is no record: {error}") from error
