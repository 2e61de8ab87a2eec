"""Prove several assignments at the same time, each in one process."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.proofs.verify import Proof, verify
from autograder.course.release.overview import in_words


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
    one = partial(_proved, course.root, secret, anew)
    if min(jobs, len(wanted)) < 2:
        yield from map(one, wanted, wanted.values())
        return
    # Nothing that was loaded here is in these processes: a fork would have half of its threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(wanted)), context) as processes:
        yield from processes.map(one, wanted, wanted.values())


def _proved(root: Path, secret: str, anew: bool, id: str, exercises: Sequence[str]) -> Proved:
    assignment = load_assignment(Course.load(root), id, exercises)
    proofs = verify(assignment, [*exercises], secret=secret, anew=anew or bool(exercises))
    return Proved(proofs, [] if exercises else in_words(assignment))
