"""What wrong answers have in common: named mistakes, and values that have no name yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from autograder.delivery.pages.final_grades import GradeLine, Section, Sheet
from autograder.delivery.pages.quality.figures import Array
from autograder.delivery.pages.solutions import Solutions
from autograder.grading.own_text import array
from autograder.grading.results import Item, Status
from autograder.student.letters import read_choice
from autograder.student.unreadable import FormatError

#: Notes that say how an answer failed to be one.
BROKEN = {
    "format_error",
    "timeout",
    "too_much",
    "cell_error",
    "student_error",
    "unreadable_submission",
}
_WRONG = (Status.FAILED, Status.PARTIAL)
_FAR = 4  # digits in which a relation of numbers has to be the same


class AnswerOutcome(StrEnum):
    """What became of a student's exercise; each counts once, as the first of these."""

    WAITS = "waiting or withheld"
    NAMED = "with a named mistake"
    BROKEN = "with an error, or not readable"
    UNNAMED = "wrong, without a name"
    BLANK = "blank"
    BY_HAND = "less by hand"
    RIGHT = "right"


@dataclass(frozen=True)
class Group:
    """Wrong answers without a name that have something in common.

    Attributes
    ----------
    relation
        To the right answer, where that is what they have in common.
    given, right
        One student's answer, and what would have been right for the same numbers.
    """

    exercise: str
    part: str
    students: list[str]
    relation: str
    given: str
    right: str


@dataclass(frozen=True)
class Option:
    """How many marked a statement, or a letter: of all, and of each third by the other points."""

    text: str
    right: bool
    count: int
    upper: float
    lower: float


@dataclass(frozen=True)
class Options:
    """What there is to choose from; ``answered`` counts those whose answer could be read."""

    exercise: str
    part: str
    rubric: str
    answered: int
    options: list[Option]


_NO_MISTAKE = ("", "manual", "blank", "skipped", "follow_through", "other_variant", "hints")


def names_a_mistake(note: str) -> bool:
    """Tell whether a diagnosis says what the mistake is."""
    return note not in BROKEN and note not in _NO_MISTAKE


def named(item: Item) -> bool:
    """Has a wrong answer a name that says what the mistake is?"""
    return item.status in _WRONG and names_a_mistake(item.note)


def unnamed(item: Item) -> bool:
    """Is it wrong, and nobody knows why?"""
    return item.status in _WRONG and not item.note


def outcome(section: Section) -> AnswerOutcome:
    """Say what became of an exercise, by the first reason that there is."""
    items = [line.item for line in section.lines if not line.left_out]
    if section.open:
        return AnswerOutcome.WAITS
    if any(map(named, items)):
        return AnswerOutcome.NAMED
    if any(item.note in BROKEN for item in items):
        return AnswerOutcome.BROKEN
    if any(map(unnamed, items)) or any(item.note == "other_variant" for item in items):
        return AnswerOutcome.UNNAMED
    if any(item.note == "blank" for item in items):
        return AnswerOutcome.BLANK
    return AnswerOutcome.RIGHT if section.status is Status.PASSED else AnswerOutcome.BY_HAND


@dataclass(frozen=True)
class _Answer:
    student: str
    given: str
    right: str

    def relations(self) -> Iterator[str]:
        """Give what it may have in common with others; first, that it is the same value."""
        yield ""
        given, right = array(self.given, float), array(self.right, float)
        if given is None or right is None or given.shape != right.shape or not right.size:
            return
        with np.errstate(all="ignore"):
            ratio, difference = given / right, given - right
        if (r := _constant(ratio)) is not None:
            yield f"{r:.{_FAR}g} × the right answer"
        if (d := _constant(difference)) is not None:
            yield f"the right answer {'+' if d > 0 else '−'} {abs(d):.{_FAR}g}"


def groups(found: Mapping[str, Sheet], solutions: Solutions) -> tuple[list[Group], int]:
    """Group wrong answers without a name, the largest first; and count those that stand alone.

    Answers to other numbers have their relation to the right one in common, where there is one;
    checks of functions have no value, and what they have in common is the check.
    """
    wrong: dict[tuple[str, str], list[tuple[str, int, GradeLine]]] = defaultdict(list)
    for student, sheet in found.items():
        for section in sheet.sections:
            for line in section.lines:
                if unnamed(line.item):
                    place = section.grade.id, line.item.name
                    wrong[place].append((student, section.grade.variant, line))
    found_groups: list[Group] = []
    for (exercise, part), own in wrong.items():
        answers = []
        for student, variant, line in own:
            given = " ".join(line.item.given.split()) if line.variable else line.item.rubric
            # What is right may take seconds to work out, and tells nothing of one answer alone.
            needed = line.variable and len(own) > 1
            right = solutions.answers(exercise, variant).get(part, "") if needed else ""
            answers.append(_Answer(student, given, right))
        found_groups += _grouped(exercise, part, answers)
    found_groups.sort(key=lambda group: -len(group.students))
    several = [group for group in found_groups if len(group.students) > 1]
    return several, len(found_groups) - len(several)


def _grouped(exercise: str, part: str, answers: list[_Answer]) -> Iterator[Group]:
    """Take the largest group away, and again, until nothing is left."""
    keyed = {
        answer: [(key, "" if key else answer.given) for key in answer.relations()]
        for answer in answers
    }
    while keyed:
        sizes: dict[tuple[str, str], list[_Answer]] = defaultdict(list)
        for answer, keys in keyed.items():
            for key in keys:
                sizes[key].append(answer)
        (relation, _), own = max(sizes.items(), key=lambda entry: len(entry[1]))
        first = own[0]
        students = [answer.student for answer in own]
        yield Group(exercise, part, students, relation, first.given, first.right)
        for answer in own:
            del keyed[answer]


def _constant(values: Array) -> float | None:
    """Return the one number that all of these are, unless it says nothing."""
    first = float(values.flat[0])
    if not np.isfinite(values).all() or not np.allclose(values, first, rtol=10.0**-_FAR):
        return None
    return None if abs(first) < 10.0**-_FAR or abs(first - 1) < 10.0**-_FAR else first


def option_tables(
    found: Mapping[str, Sheet],
    hints: Mapping[tuple[str, str], Mapping[str, object]],
    solutions: Solutions,
    thirds: tuple[set[str], set[str]],
) -> list[Options]:
    """Return for each choice how often each statement was marked.

    Parameters
    ----------
    hints
        The form of each part, by exercise and part.
    thirds
        Who is in the better and in the weaker third of the class.
    """
    marked: dict[tuple[str, str], dict[str, tuple[str, str]]] = defaultdict(dict)
    rubrics: dict[tuple[str, str], str] = {}
    variants: dict[str, int] = {}
    for student, sheet in found.items():
        for section in sheet.sections:
            for item in section.grade.items:
                place = section.grade.id, item.name
                hint = hints.get(place, {})
                if "options" not in hint:
                    continue
                rubrics[place] = item.rubric
                letters = _letters(item.chosen or item.given, hint)
                if letters is None:
                    continue
                variant = section.grade.variant
                if not solutions.varies(*place):  # what is right for one is so for all
                    variant = variants.setdefault(section.grade.id, variant)
                right = solutions.letters(section.grade.id, variant, item.name)
                marked[place][student] = letters, right
    return [
        _options(place, rubrics[place], own, hints[place], solutions.options(*place), thirds)
        for place, own in marked.items()
    ]


def _letters(given: str, hint: Mapping[str, object]) -> str | None:
    try:
        return str(read_choice(given.replace("\n", ", "), dict(hint)).value) if given else None
    except FormatError:
        return None


def _options(
    place: tuple[str, str],
    rubric: str,
    own: Mapping[str, tuple[str, str]],
    hint: Mapping[str, object],
    words: Mapping[str, str],
    thirds: tuple[set[str], set[str]],
) -> Options:
    def share(letter: str, students: Iterable[str]) -> float:
        among = [letter in own[student][0] for student in students if student in own]
        return sum(among) / len(among) if among else 0.0

    options = [
        Option(
            words.get(letter, letter),
            any(letter in right for _, right in own.values()),
            sum(letter in letters for letters, _ in own.values()),
            *(share(letter, third) for third in thirds),
        )
        for letter in str(hint["options"])
    ]
    return Options(*place, rubric, len(own), options)
