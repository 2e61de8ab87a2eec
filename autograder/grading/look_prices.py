"""What looks cost: a share of the points of each part that a student was given a code for."""

from __future__ import annotations

from collections.abc import Collection

from autograder.grading.results import ExerciseGrade, hundredths

NOTE = "looks"


def with_looks(grade: ExerciseGrade, parts: Collection[str], price: float) -> ExerciseGrade:
    """Add an item for the looks at parts of an exercise, where there were any.

    Parameters
    ----------
    parts
        Their names.
    price
        The share of a part's points that a look at it costs, at most what the part earned.
    """
    looked = [item for item in grade.items if item.name in parts]
    if not looked:
        return grade
    lost = sum(min(hundredths(price * item.max_score), item.score or 0.0) for item in looked)
    said = f"You were given a code for {', '.join(item.name for item in looked)}."
    said += f" Each costs {price:.0%} of its points, at most what it earned."
    return grade.less(lost, NOTE, "Looks that you took.", said)
