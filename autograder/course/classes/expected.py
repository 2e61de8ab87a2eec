"""What the students of a simulated class must get: ``simulated.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from autograder.course.config import Course
from autograder.course.files import write_atomically
from autograder.course.typed_json import decoded, encoded

TRUTH = "simulated.json"


@dataclass(frozen=True)
class ExpectedScore:
    """An entry of ``simulated.json``, by assignment, student and exercise.

    Attributes
    ----------
    scenario, score
        What a student did about an exercise, and the points that it must earn.
    """

    scenario: str
    score: float


Expected = dict[str, dict[str, dict[str, ExpectedScore]]]


def expected_scores(course: Course) -> Expected:
    """Return what was written, by assignment, student and exercise."""
    path = course.root / TRUTH
    return decoded(path.read_bytes(), Expected) if path.exists() else {}


def expect(
    course: Course, assignment: str, outcomes: Mapping[str, Mapping[str, ExpectedScore]]
) -> None:
    """Write down what the students of an assignment must get."""
    truth = expected_scores(course)
    truth[assignment] = {
        student: {id: ExpectedScore(each.scenario, each.score) for id, each in of_student.items()}
        for student, of_student in outcomes.items()
    }
    write_atomically(course.root / TRUTH, encoded(truth, indent=1))
