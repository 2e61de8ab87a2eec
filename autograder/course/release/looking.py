"""What looks.json holds, where a course offers looks: right answers in boxes that answers open.

A notebook is given to everybody, so that what it can tell it tells whoever asks, as often as they
ask, and no one learns of it.  What stands against trying all answers is that there are too many:
a part is offered where its answers are numbers of which trying takes a processor a week or more
(`plausible`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from autograder.course.config import Course
from autograder.course.discover import Assignment
from autograder.course.looks_given import code_of, drawn_with
from autograder.course.release.drawing import drawn
from autograder.course.release.practice_sets import needs
from autograder.course.release.practising import listed, mistaken
from autograder.exercise import Exercise, Part
from autograder.student.judging import tolerance_of
from autograder.student.looks import KEYS, key_of, locked, place_of, rounded, seal_of
from autograder.student.released_files import Look, LookBoxes

FILE = "looks.json"

#: So many answers are plausible, at least, where a look is offered.
LEAST = 2e5
#: Of each answer, as judges know them: what else is asked for is not seen in a cell of a grid.
_KINDS = ("numbers", "count")
_SHIFTS = 8  # of a grid that are tried
_COARSEST = 1 << 10  # times the tolerance

Known = Mapping[str, Any]
Variants = Sequence[tuple[Any, Known]]


def looks(assignment: Assignment) -> dict[str, dict[str, Look]]:
    """Return by exercise and part what tells whether an answer is right."""
    course, found = assignment.course, {}
    for id, exercise in assignment.sound.items():
        variants = drawn(exercise, course.id)
        there = offered(exercise, variants)
        own = {
            part.name: _look(course, exercise, part, variants)
            for part in exercise.parts
            if part.name in there
        }
        if own:
            found[id] = own
    return found


def offered(exercise: Exercise, variants: Variants) -> dict[str, float]:
    """Return the parts that a look may be offered of, with how many answers are plausible."""
    tries = plausible(exercise, variants)
    return {
        part.name: tries[part.name]
        for part in exercise.parts
        if tries[part.name] >= LEAST and _grid(part, variants) is not None
    }


def plausible(exercise: Exercise, variants: Variants) -> dict[str, float]:
    """Return by part how many answers somebody has to try who knows what answers look like.

    The smallest of three: entry by entry what the variants have there, for as many entries as
    don't follow from the others by a linear rule; what the earlier answers can be that it is
    computed from, the rest being known; and how many answers there are where some variants have
    the same, by how many pairs have.  Who knows more of the way has fewer to try.
    """
    tries: dict[str, float] = {}
    for part in exercise.parts:
        answers = [known[part.name] for _, known in variants]
        earlier = [name for name in needs(part) if name in tries]
        bounds = [_together(answers), *([math.prod(tries[n] for n in earlier)] if earlier else [])]
        grid = _grid(part, variants)
        if grid is not None:
            bounds.append(_by_entries(answers, grid))
        tries[part.name] = min(bounds)
    return tries


def _together(answers: Sequence[Any]) -> float:
    """Estimate how many answers there are from how many of them are the same."""
    texts = [str(np.ravel(answer).tolist()) for answer in answers]
    pairs = sum(texts[:place].count(text) for place, text in enumerate(texts))
    return math.comb(len(texts), 2) / pairs if pairs else math.inf


def _by_entries(answers: Sequence[Any], grid: float) -> float:
    rows = [np.ravel(np.asarray(answer, float)) for answer in answers]
    size = min(row.size for row in rows)
    cells = np.array([np.floor(row[:size] / grid) for row in rows])
    values = np.array([row[:size] for row in rows])
    free = int(np.linalg.matrix_rank(values - values.mean(axis=0)))
    each = sorted(len(np.unique(column)) for column in cells.T)
    return float(math.prod(each[:free]))


def _grid(part: Part, variants: Variants) -> float | None:
    """Return a grid that has a place for the answers of every variant; None where none has."""
    answers = [known[part.name] for _, known in variants]
    kind = getattr(part.answer, "kind", "")
    if part.manual or part.answer.free or kind not in _KINDS or "between" in part.answer.rule:
        return None
    rows = [np.ravel(np.asarray(answer, float)) for answer in answers]
    if not all(row.size and np.isfinite(row).all() for row in rows):
        return None
    if kind == "count":
        return 1.0 if max(np.abs(row).max() for row in rows) < 2**53 else None
    off = max(float(tolerance_of(row, part.answer.rule).max()) for row in rows)
    sizes = (off * 2.0**power for power in count(2))
    for grid in sizes:
        if grid > _COARSEST * off:
            return None
        if all(_shift(row, grid, off) is not None for row in rows):
            return grid
    return None


def _shift(row: Any, grid: float, off: float) -> float | None:
    """Return where the grid may begin so that what counts as right lies in one cell."""
    for number in range(_SHIFTS):
        shift = grid * number / _SHIFTS
        place = np.mod(row - shift, grid)
        if np.all((place > 1.01 * off) & (place < grid - 1.01 * off)):
            return shift
    return None


def _look(course: Course, exercise: Exercise, part: Part, variants: Variants) -> Look:
    grid = _grid(part, variants) or 1.0
    boxes = [
        _boxes(course, exercise, part, known, grid, number)
        for number, (_, known) in enumerate(variants)
    ]
    return {"grid": grid, "rule": part.answer.rule, "boxes": boxes}


def _boxes(
    course: Course, exercise: Exercise, part: Part, known: Known, grid: float, variant: int
) -> LookBoxes:
    """Lock the right answer of a variant, and the sentences on known mistakes."""
    right = np.ravel(known[part.name])
    if part.answer.kind == "count":
        shift = -0.5
    else:
        off = float(tolerance_of(np.asarray(right, float), part.answer.rule).max())
        shift = _shift(np.asarray(right, float), grid, off) or 0.0
    contents: dict[str, dict[str, Any]] = {
        rounded(right, grid, shift): {"right": listed(right, 12)}
    }
    for number, wrong in mistaken(part, known):
        numbers = np.ravel(np.asarray(wrong, float))
        if numbers.shape == right.shape and np.isfinite(numbers).all():
            says = part.misconceptions[number].feedback
            contents.setdefault(rounded(numbers, grid, shift), {"says": says})
    place = place_of(course.id, exercise.id, part.name, variant)
    code = code_of(course, exercise.id, part.name, variant)
    keys = {cells: key_of(place, code, cells, _hidden(course, place, cells)) for cells in contents}
    found: LookBoxes = {
        "shift": shift,
        "locked": sorted(locked(keys[cells], content) for cells, content in contents.items()),
    }
    if code:
        found["seal"] = seal_of(place, code)
    return found


def _hidden(course: Course, place: str, cells: str) -> int:
    """Return which of the keys for an answer is the one."""
    return drawn_with(course, place, cells)[0] % KEYS
