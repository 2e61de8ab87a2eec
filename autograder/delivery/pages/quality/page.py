"""The page "How good was the test?", and what of it is said on the console."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.course.config import Course, CourseError
from autograder.course.discover import load_assignment
from autograder.course.release.handed_out import Release
from autograder.delivery.pages.final_grades import Sheet, sheets
from autograder.delivery.pages.quality.assess import FEW, Assessment, assess, places, thirds
from autograder.delivery.pages.quality.wrong_answers import (
    AnswerOutcome,
    groups,
    named,
    option_tables,
)
from autograder.delivery.pages.rendering import counted, write_page
from autograder.delivery.pages.solutions import Solutions

if TYPE_CHECKING:
    from autograder.delivery.pages.class_results import ClassResult

_LONGEST = 25  # of a list of mistakes or of groups


@dataclass(frozen=True)
class Mistake:
    """A named mistake, and the share of the class that made it."""

    exercise: str
    name: str
    count: int
    share: float
    feedback: str


def write_quality(
    course: Course,
    id: str,
    found: Mapping[str, Sheet],
    result: ClassResult,
    before: Mapping[str, Sheet] | None = None,
) -> Path:
    """Write reports/<assignment>_quality.html.

    Parameters
    ----------
    result
        The class's scores in numbers.
    before
        The submissions of an earlier class, to be compared.

    Raises
    ------
    CourseError
        If the assignment isn't released.
    """
    release = Release.load(course, id)
    try:
        exercises = load_assignment(course, id).sound
    except CourseError:  # a report can do without right answers
        exercises = {}
    solutions = Solutions(exercises, release)
    hints = {
        (exercise, part["name"]): part.get("hint", {})
        for exercise, data in release.data["exercises"].items()
        for part in data.get("parts", ())
    }
    unnamed, alone = groups(found, solutions)
    third, quality = thirds(found), assess(found)
    return write_page(
        course.root / "reports" / f"{id}_quality.html",
        "quality.html.j2",
        id=id,
        title=course.titles[id],
        result=result,
        quality=quality,
        placed=places(quality),
        before=assess(before) if before else None,
        mistakes=list(_mistakes(found))[:_LONGEST],
        groups=unnamed[:_LONGEST],
        more=len(unnamed[_LONGEST:]),
        alone=alone,
        choices=option_tables(found, hints, solutions, third),
        thirds=len(third[0]),
        Outcome=AnswerOutcome,
        few=FEW,
    )


def earlier(folder: Path | None, ids: Sequence[str]) -> dict[str, dict[str, Sheet]]:
    """Return the submissions of an earlier class by assignment, from its course's folder.

    Raises
    ------
    CourseError
        If it is no course, or has no records of any of these assignments.
    """
    if folder is None:
        return {}
    course = Course.load(folder)
    found = {id: own for id in ids if id in course.titles and (own := sheets(course, id))}
    if not found:
        raise CourseError(f"{folder} has no records of {', '.join(ids)} to compare with")
    return found


def _mistakes(found: Mapping[str, Sheet]) -> Iterator[Mistake]:
    """Give the mistakes that have a name, the most frequent first; each counts once a student."""
    counts: Counter[tuple[str, str]] = Counter()
    told: dict[tuple[str, str], str] = {}
    for sheet in found.values():
        own = {}
        for graded in sheet.grade.exercises:
            for item in graded.items:
                if named(item):
                    own[graded.id, item.note] = item.feedback
        counts.update(own.keys())
        told = own | told
    for (exercise, name), count in counts.most_common():
        yield Mistake(exercise, name, count, count / len(found), told[exercise, name])


def quality_lines(id: str, quality: Assessment) -> Iterator[str]:
    """Say it in a line or two, for the console."""
    if quality.alpha is None or quality.interval is None:
        final = quality.students
        yield f"{id}: reliability is not defined: students whose points are final: {final}"
    else:
        low, high = quality.interval
        hint = "; of so few it is a hint at most" if quality.few else ""
        yield (
            f"{id}: reliability α = {quality.alpha:.2f} (95 %: {low:.2f} to {high:.2f}, "
            f"{quality.students} students{hint})"
        )
    for exercise in quality.exercises:
        for doubt in exercise.doubts:
            yield f"  {exercise.id}, {counted(exercise.max_score)}: {doubt}"
