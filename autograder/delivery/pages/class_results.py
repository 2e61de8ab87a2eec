"""How a class did on an assignment and its exercises, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import mean, median, quantiles
from typing import NamedTuple

from autograder.delivery.pages.final_grades import Section, Sheet
from autograder.delivery.pages.picture import Curve, Training
from autograder.delivery.pages.rendering import STATUS
from autograder.grading.results import Status

#: Notes that name no mistake in the work itself; they are reported elsewhere.
_ELSEWHERE = {"", "manual", "skipped", "follow_through", "other_variant"}
_BINS = 10
#: Of fewer, quartiles say too much about single students.
SMALLEST = 10


@dataclass(frozen=True)
class Note:
    """A diagnosis and how many students got it.

    Attributes
    ----------
    feedback
        What they were told; one example of it where that ``varies``.
    """

    name: str
    count: int
    feedback: str
    varies: bool


@dataclass(frozen=True)
class ExerciseResult:
    """How a class did on one exercise.

    Attributes
    ----------
    mean
        Of those of whom all counts, by their points so far; ``open`` counts those of whom something
        is not final, ``left_out`` those of whom something is beyond the best that count.
    statuses
        Counts students.
    curves
        Times of everybody's submission, by check.
    trainings
        Training runs, by check and student.
    """

    id: str
    title: str
    max_score: float
    mean: float | None
    open: int
    left_out: int
    statuses: dict[Status, int]
    notes: list[Note]
    curves: dict[str, list[Curve]]
    trainings: dict[str, dict[str, Training]]


@dataclass(frozen=True)
class ClassResult:
    """How a class did on one assignment.

    Attributes
    ----------
    mean, median, lowest, highest
        Of the points so far.
    final
        Of how many submissions these are all.
    bins
        Counts submissions by tenths of the points.
    """

    count: int
    final: int
    max_score: float
    mean: float
    median: float
    lowest: float
    highest: float
    bins: list[int]
    waiting: int
    withheld: int


@dataclass(frozen=True)
class Quartiles:
    """What a quarter, half and three quarters of so many have at most."""

    lower: float
    median: float
    upper: float
    count: int


def quartiles(found: Iterable[Sheet]) -> Quartiles | None:
    """Return the quartiles of a class's final scores; nothing of one that is too small."""
    scores = [sheet.score for sheet in found if not sheet.open]
    if len(scores) < SMALLEST:
        return None
    lower, middle, upper = quantiles(scores, n=4, method="inclusive")
    return Quartiles(lower, middle, upper, len(scores))


def class_result(found: Iterable[Sheet]) -> ClassResult:
    """Return a class's scores in numbers, by the points so far; there is at least one."""
    all_of = list(found)
    scores = [sheet.score for sheet in all_of]
    most = max(sheet.grade.max_score for sheet in all_of)
    bins = [0] * _BINS
    for score in scores:
        bins[max(0, min(int(_BINS * score / most) if most else 0, _BINS - 1))] += 1
    return ClassResult(
        len(all_of),
        sum(not sheet.open for sheet in all_of),
        most,
        mean(scores),
        median(scores),
        min(scores),
        max(scores),
        bins,
        sum(sheet.waiting > 0 for sheet in all_of),
        sum(bool(sheet.withheld) for sheet in all_of),
    )


def exercise_results(found: Iterable[Sheet]) -> list[ExerciseResult]:
    """Return how a class did on each exercise, in the assignment's order."""
    by_id: dict[str, dict[str, Section]] = {}
    for sheet in found:
        for section in sheet.sections:
            by_id.setdefault(section.grade.id, {})[sheet.grade.student] = section
    return [_exercise_result(id, of) for id, of in by_id.items()]


def _exercise_result(id: str, of: Mapping[str, Section]) -> ExerciseResult:
    sections = [*of.values()]
    statuses = Counter(section.status for section in sections)
    final = [section for section in sections if not section.open]
    whole = [section for section in sections if not section.left_out]
    scores = [section.score for section in whole if section.score is not None]
    # A note counts once a student, however many checks it explains.
    notes: Counter[str] = Counter()
    told: dict[str, dict[str, None]] = {}
    curves: dict[str, list[Curve]] = {}
    trainings: dict[str, dict[str, Training]] = {}
    for student, section in of.items():
        items = [item for item in section.grade.items if item.note not in _ELSEWHERE]
        notes.update({item.note for item in items})
        for item in section.grade.items:
            if item.curve:
                curves.setdefault(item.name, []).append(item.curve)
            if item.training:
                trainings.setdefault(item.name, {})[student] = item.training
        for item in items:
            told.setdefault(item.note, {})[item.feedback] = None
    return ExerciseResult(
        id,
        sections[0].title,
        sections[0].grade.max_score,
        mean(scores) if scores else None,
        len(sections) - len(final),
        sum(section.left_out for section in sections),
        {status: statuses[status] for status in STATUS if statuses[status]},
        [Note(n, count, next(iter(told[n])), len(told[n]) > 1) for n, count in notes.most_common()],
        curves,
        trainings,
    )


class CourseTotal(NamedTuple):
    """A student's points of the whole course, and how many are not final."""

    score: float
    open: float


def totals(classes: Iterable[Mapping[str, Sheet]]) -> dict[str, CourseTotal]:
    """Return what each student has of all assignments, by id."""
    own: dict[str, list[Sheet]] = {}
    for found in classes:
        for student, sheet in found.items():
            own.setdefault(student, []).append(sheet)
    return {
        student: CourseTotal(sum(one.score for one in every), sum(one.open for one in every))
        for student, every in own.items()
    }
