"""Assess a test by its class: each exercise's difficulty and discrimination, and reliability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from autograder.delivery.pages.final_grades import Section, Sheet
from autograder.delivery.pages.quality.figures import (
    Array,
    Interval,
    alpha,
    alpha_interval,
    correlation_interval,
    item_rest,
)
from autograder.delivery.pages.quality.wrong_answers import AnswerOutcome, outcome
from autograder.grading.results import Status

#: Of fewer students figures are hints at most.
FEW = 30
_SUSPECT = 0.1  # of a class
_CLOSE = 0.05, 0.1  # in share and discrimination: where two exercises would cover each other


@dataclass(frozen=True)
class ExerciseQuality:
    """What a class's points say of one exercise.

    Attributes
    ----------
    count
        Students whose points of it are final, and all count.
    share
        The mean share of the points that they earned: its difficulty, 1 for the easiest.
    discrimination
        The correlation with the points of the other exercises.
    outcomes
        Counts all students.
    doubts
        Why its marks may be wrong, in sentences.
    """

    id: str
    title: str
    max_score: float
    count: int
    share: float | None
    discrimination: float | None
    interval: Interval | None
    outcomes: dict[AnswerOutcome, int]
    doubts: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Assessment:
    """What a class's points say of a test.

    Attributes
    ----------
    students
        How many there are in alpha and in the discriminations: all of their points are final.
    alpha, interval
        Cronbach's α with Feldt's interval; None where it is not defined.
    left_out
        Exercises that are in neither: not everybody's points of them count, or those of more than
        half of the class are not final.
    """

    students: int
    alpha: float | None
    interval: Interval | None
    exercises: list[ExerciseQuality]
    left_out: list[str]

    @property
    def few(self) -> bool:
        """Are there so few that the figures are hints at most?"""
        return self.students < FEW

    @property
    def by_id(self) -> dict[str, ExerciseQuality]:
        """The exercises by their ids."""
        return {exercise.id: exercise for exercise in self.exercises}


def assess(found: Mapping[str, Sheet]) -> Assessment:
    """Return what the points of a class say of the test."""
    sections: dict[str, dict[str, Section]] = {}
    for student, sheet in found.items():
        for section in sheet.sections:
            sections.setdefault(section.grade.id, {})[student] = section
    columns = [id for id, of in sections.items() if _comparable(list(of.values()))]
    final = [s for s in found if _final(sections, columns, s)]
    points = _points(sections, columns, final)
    related = dict(zip(columns, item_rest(points) if final else (), strict=False))
    reliability = alpha(points)
    interval = None
    if reliability is not None:
        interval = alpha_interval(reliability, len(final), len(columns))
    left_out = [id for id in sections if id not in columns]
    exercises = [_exercise(id, of, related.get(id), len(final)) for id, of in sections.items()]
    return Assessment(len(final), reliability, interval, exercises, left_out)


def places(found: Assessment) -> list[tuple[float, float, list[int]]]:
    """Return where exercises are by share and discrimination; their numbers, together if close."""
    placed: list[tuple[float, float, list[int]]] = []
    for number, one in enumerate(found.exercises, 1):
        if one.share is None or one.discrimination is None:
            continue
        for share, related, numbers in placed:
            if abs(share - one.share) < _CLOSE[0] and abs(related - one.discrimination) < _CLOSE[1]:
                numbers.append(number)
                break
        else:
            placed.append((one.share, one.discrimination, [number]))
    return placed


def thirds(found: Mapping[str, Sheet]) -> tuple[set[str], set[str]]:
    """Return the better and the weaker third of those whose points are final."""
    ranked = sorted(
        (s for s, sheet in found.items() if not sheet.open), key=lambda s: found[s].score
    )
    size = len(ranked) // 3
    return set(ranked[len(ranked) - size :]), set(ranked[:size])


def _comparable(of: Sequence[Section]) -> bool:
    """Do the points of an exercise count for everybody, and are they final for most?"""
    return not any(s.left_out for s in of) and sum(s.open > 0 for s in of) <= len(of) / 2


def _final(sections: Mapping[str, Mapping[str, Section]], ids: Sequence[str], student: str) -> bool:
    own = [sections[id].get(student) for id in ids]
    return all(s is not None and not s.open and s.score is not None for s in own)


def _points(
    sections: Mapping[str, Mapping[str, Section]], ids: Sequence[str], students: Sequence[str]
) -> Array:
    rows = [[sections[id][student].score or 0.0 for id in ids] for student in students]
    return np.array(rows, float).reshape(len(students), len(ids))


def _exercise(
    id: str, of: Mapping[str, Section], related: float | None, students: int
) -> ExerciseQuality:
    whole = [s for s in of.values() if not s.open and not s.left_out and s.score is not None]
    shares = [(s.score or 0.0) / s.max_score for s in whole if s.max_score]
    first = next(iter(of.values()))
    found = ExerciseQuality(
        id,
        first.title,
        first.grade.max_score,
        len(whole),
        float(np.mean(shares)) if shares else None,
        related,
        correlation_interval(related, students) if related is not None else None,
        dict(Counter(map(outcome, of.values()))),
    )
    found.doubts.extend(_doubts(found, of))
    return found


def _doubts(found: ExerciseQuality, of: Mapping[str, Section]) -> Iterator[str]:
    """Give reasons to look at an exercise's marks."""
    if found.discrimination is not None and found.discrimination < 0:
        sure = found.interval is not None and found.interval[1] < 0
        yield (
            f"Discrimination is {found.discrimination:.2f}: who does well elsewhere does worse here"
            + ("." if sure else ", which may be chance.")
        )
    withheld = sum(section.status is Status.ERRORED for section in of.values())
    if withheld >= max(1, _SUSPECT * len(of)):
        yield f"The points of {withheld} of {len(of)} are withheld: the grader could not decide."
    others = sum(any(i.note == "other_variant" for i in s.grade.items) for s in of.values())
    if others >= max(2, _SUSPECT * len(of) / 2):
        yield (
            f"{others} of {len(of)} answered to somebody else's numbers: were they shown the right "
            "ones?"
        )
    fine = (AnswerOutcome.RIGHT, AnswerOutcome.BY_HAND, AnswerOutcome.WAITS)
    wrong = sum(count for kind, count in found.outcomes.items() if kind not in fine)
    nameless = found.outcomes.get(AnswerOutcome.UNNAMED, 0)
    if nameless >= max(3, wrong / 2):
        yield f"{nameless} wrong answers have no name, of {wrong}: is something else right as well?"
    if found.share == 0 and found.count >= 3:
        yield "Nobody earned a point."
