"""Prove several assignments at the same time, each in one process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import NamedTuple

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.proofs.verify import Proof, verify
from autograder.course.release.kept import add, read
from autograder.course.release.overview import in_words
from autograder.course.release.standing import Sources, computing, sources, unchanged
from autograder.course.side_by_side import side_by_side
from autograder.course.typed_json import converted

_KEPT = "proved"


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
    as_before = {
        id: was
        for id, exercises in wanted.items()
        if not (anew or exercises) and (was := _standing(course, id, secret))
    }
    changed = [id for id in wanted if id not in as_before]
    proved = side_by_side(partial(_proved, course, secret, anew, wanted), course, changed, jobs)
    for id in wanted:
        yield as_before.get(id) or next(proved)


def _proved(
    course: Course, secret: str, anew: bool, wanted: Mapping[str, Sequence[str]], id: str
) -> Proved:
    exercises = [*wanted[id]]
    assignment = load_assignment(course, id, exercises)
    if exercises:
        return Proved(verify(assignment, exercises, secret=secret), [])
    made_from = sources(assignment, secret)
    proofs = verify(assignment, secret=secret, anew=anew)
    proved = Proved(proofs, in_words(assignment))
    if not any(proof.problems for proof in proofs):
        known = {"sources": made_from, "proofs": [*map(asdict, proofs)], "said": proved.counting}
        add(course, id, {_KEPT: (computing(), known)})
    return proved


def _standing(course: Course, id: str, secret: str) -> Proved | None:
    """Return what was found of an assignment that is as it was, without loading it."""
    key, known = read(course, id).get(_KEPT, ("", None))
    if key != computing() or not unchanged(course, id, Sources(*known["sources"]), secret):
        return None
    proofs = [replace(converted(proof, Proof), before=True) for proof in known["proofs"]]
    return Proved(proofs, known["said"])
