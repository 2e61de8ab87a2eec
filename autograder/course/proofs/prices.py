"""What one slip costs through a whole exercise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.course.proofs.part_proofs import right_answers
from autograder.course.proofs.sources import typed
from autograder.exercise import Exercise, FormatError, Misconception, Part
from autograder.exercise.words.dependencies import apply, evaluate, solve
from autograder.grading.parts import carries, grade_parts
from autograder.grading.results import hundredths


@dataclass(frozen=True)
class Price:
    """What a misconception costs.

    Attributes
    ----------
    place
        The part or the function that it is made in.
    lost, of
        Points, and the points that there are: a function's, or those of all parts.
    fatal
        Why it is declared to leave nothing of a function, if it is.
    """

    place: str
    misconception: str
    lost: float
    of: float
    fatal: str = ""

    @property
    def share(self) -> float:
        """The share of the points that is lost."""
        return self.lost / self.of if self.of else 0.0

    def __str__(self) -> str:
        return f"`{self.misconception}` costs {self.lost:g} of {self.of:g} in `{self.place}`"


def answers_after(
    exercise: Exercise, variant: Mapping[str, Any], part: Part, wrong: Misconception
) -> dict[str, Any]:
    """Return one wrong answer, and what a student works out from it.

    Where the wrong value isn't one to carry on, the rest is right by itself.
    """
    known, answers = solve(exercise, variant), right_answers(exercise, variant)
    with np.errstate(all="ignore"):
        answers[part.name] = typed(part, apply(wrong, known), known)
        try:
            own = {**known, part.name: evaluate(part, wrong, known)}
            if not carries(part, own[part.name], known[part.name]):
                return answers
            later = exercise.parts[exercise.parts.index(part) + 1 :]
            follow = {}
            for other in later:
                own[other.name] = evaluate(other, other, own)
                follow[other.name] = typed(other, apply(other, own), own)
        except (ValueError, ArithmeticError):  # nothing follows from such a value
            return answers
    return answers | follow


def part_prices(exercise: Exercise, variant: Mapping[str, Any]) -> tuple[list[Price], list[str]]:
    """Return what each mistake in a part costs, and where one is paid for twice."""
    prices, problems = [], []
    parts = [part for part in exercise.parts if not part.manual]
    of = sum(part.points for part in parts)
    for part in parts:
        for wrong in part.misconceptions:
            try:
                answers = answers_after(exercise, variant, part, wrong)
            except (FormatError, ArithmeticError):  # no answer at all
                continue
            with np.errstate(all="ignore"):
                items = grade_parts(exercise, variant, answers.__getitem__)
            graded = [item for item in items if item.note != "manual"]
            own = {part.name, *(other.name for other in exercise.resting_on(part))}
            lost = {i.name: i.max_score - (i.score or 0.0) for i in graded}
            prices.append(Price(part.name, wrong.name, hundredths(sum(lost.values())), of))
            problems += [
                f"misconception `{wrong.name}` of `{part.name}` is paid for in `{name}` again"
                for name, points in lost.items()
                if points and name not in own
            ]
    return prices, problems
