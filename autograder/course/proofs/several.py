"""Prove several assignments at the same time, each in one process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.proofs.verify import Proof, verify
from autograder.course.release.overview import in_words
from autograder.course.side_by_side import side_by_side


class Proved(NamedTuple):
    """What was found of an assignment, and lines that say what there is to do in it."""

    proofs: list[Proof]
    counting: list[str]


def prove(
    course: Course, wanted: Mapping[str, Sequence[str]], *, secret: str, anew: bool, jobs: int
) -> Iterator[Proved]:
    """Prove assignments in their order, so many at the same time.

    Parameters
    ----------
    wanted
        By assignment, the exercises that are proved, whatever was proved before; of none all are.
    anew
        Is also proved what was proved before and is as it was?

    Raises
    ------
    CourseError
        If the text of an assignment can't be read.
    """
    return side_by_side(partial(_proved, course, secret, anew, wanted), course, [*wanted], jobs)


def _proved(
    course: Course, secret: str, anew: bool, wanted: Mapping[str, Sequence[str]], id: str
) -> Proved:
    exercises = [*wanted[id]]
    assignment = load_assignment(course, id, exercises)
    proofs = verify(assignment, exercises, secret=secret, anew=anew or bool(exercises))
    return Proved(proofs, [] if exercises else in_words(assignment))
