"""What is proved of what helps: hints give nothing away, and what is practised can be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograder.algebra.building.library import CONSTANTS, COUNTS
from autograder.algebra.reading.followed_lines import (
    Statement,
    first_problem,
    not_computed,
    other_value,
    statement_of,
)
from autograder.course.config import CourseError
from autograder.course.discover import Assignment
from autograder.course.proofs.part_proofs import part_problems
from autograder.course.release.check_json import recorded_function
from autograder.course.release.leak import leaks
from autograder.course.release.practice_inputs import tried_functions
from autograder.course.release.practising import practised
from autograder.exercise import Exercise, Part
from autograder.exercise.answers.slips import is_telling
from autograder.exercise.words.dependencies import apply, solve
from autograder.exercise.words.part import arguments
from autograder.exercise.words.variants import draws
from autograder.student.practice_functions import tried_out

_NUMBER = re.compile(r"(?<![\w.])\d[\d,_]*(?:\.\d+)?(?![\w]|\.\d)")


def helping_problems(exercise: Exercise, course: str, pool: Sequence[dict[str, Any]]) -> list[str]:
    """Return what is wrong with the hints of an exercise, and with what is practised for it."""
    known = [solve(exercise, variant) for variant in pool]
    found = [
        text for number in range(len(exercise.hints)) for text in _told(exercise, number, known)
    ]
    if exercise.twin is not None:
        found += [f"its practice: {text}" for text in _twin(course, exercise, known)]
    return [*found, *_tried(exercise), *_stated(exercise)]


def told_problems(assignment: Assignment, exercise: Exercise) -> list[str]:
    """Return what the hints of an exercise give away of an assignment's references."""
    if not exercise.hints:
        return []
    # Not by the name of the file, in which sentences about known mistakes may stand.
    secrets = leaks(assignment, {"hints.json": json.dumps(exercise.hints).encode()})
    return [f"a hint gives it away: {said}" for said in secrets]


def _stated(exercise: Exercise) -> Iterator[str]:
    """Yield what is wrong with the statements that are practised instead of those asked for."""
    for part in exercise.parts:
        if not (other := part.answer.statement):
            continue
        asked = statement_of(other["hint"], other["rule"], COUNTS, CONSTANTS)
        if other["hint"]["kind"] == "formula":
            yield from _asked_otherwise(part, other["right"], asked)
            continue
        lines, last = other["right"], other["right"][-1]
        said = [first_problem(lines, asked), not_computed(lines, asked)]
        if not first_problem([*lines[:-1], f"{last} + ({last}) + 1"], asked):
            said.append("a wrong last line isn't found")
        graded = {"".join(line.split()) for way in part.routes for line in _lines_of(way)} - {"0"}
        said += [
            f"{line} is graded" for line in lines if "".join(line.split()) in graded - {"0", "1"}
        ]
        yield from (f"what is practised for `{part.name}`: {text}" for text in filter(None, said))


def _asked_otherwise(part: Part, right: str, asked: Statement) -> Iterator[str]:
    """Yield what is wrong with another question in the place of one that asks for a formula."""
    place = f"what is practised for `{part.name}`:"
    if not asked.known_at(right):
        yield f"{place} a notebook can't compute {right}"
    elif not other_value(f"{right} + 1", right, asked):
        yield f"{place} a wrong formula isn't found"
    graded = [apply(way, {}) for way in part.routes if not arguments(way)]
    if any(asked.known_at(way) and not other_value(way, right, asked) for way in map(str, graded)):
        yield f"{place} {right} is graded"


def _lines_of(way: Any) -> list[str]:
    """Return a graded derivation's lines without reasons, where they are the same for everybody."""
    return [] if arguments(way) else [str(line).partition("#")[0] for line in apply(way, {})]


def _tried(exercise: Exercise) -> Iterator[str]:
    """Yield which right function fails what is practised, and which mistake isn't named there."""
    recorded = [recorded_function(function) for function in exercise.functions]
    by_name = {function.name: function for function in exercise.functions}
    for found in tried_functions(exercise, recorded):
        function = by_name[found["name"]]
        for right in (function.solution, *function.alternatives):
            lines = tried_out(found, {function.name: right})
            if failed := [line for line in lines if "✗" in line]:
                yield f"in practice {right.__name__} fails: {failed[0].strip()}"
        for wrong in function.misconceptions:
            if wrong.feedback in found["says"]:
                said = "\n".join(tried_out(found, {function.name: wrong.compute}))
                if "✗ failed" in said and wrong.feedback not in said:
                    yield f"in practice `{wrong.name}` isn't named, though its results are known"


def _told(exercise: Exercise, number: int, known: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield which answers, the same for everybody, stand in a hint."""
    hint = exercise.hints[number]
    numbers = {float(text.replace(",", "").replace("_", "")) for text in _NUMBER.findall(hint)}
    for part in exercise.parts:
        if part.manual or part.answer.free:
            continue
        value = known[0][part.name]
        if any(not part.answer.same(value, other[part.name]) for other in known[1:]):
            continue
        if given := _stands(part, known[0], value, hint, numbers):
            yield f"hint {number + 1} says {given}, the right answer to `{part.name}`"


def _stands(part: Part, known: Any, value: object, hint: str, numbers: set[float]) -> str:
    """Return an answer as it stands in a hint, empty where it doesn't."""
    if isinstance(value, np.ndarray):
        own = {float(x) for x in value.ravel()} if is_telling(value) else set()
        return ", ".join(f"{x:g}" for x in sorted(own)) if own and own <= numbers else ""
    raw = apply(part, known)
    return str(raw) if part.answer.tells(hint, raw) else ""


def _twin(course: str, exercise: Exercise, known: Any) -> Iterator[str]:
    """Yield what is wrong with an exercise that is practised in place of another."""
    twin = exercise.twin
    assert twin is not None
    try:
        if practised(exercise, course, known) is None:
            yield "nothing of it can be practised: it needs parts that values decide"
            return
        pool = draws(twin, course).pool[: len(known)]
    except (CourseError, ValueError) as error:
        yield str(error)
        return
    for part in twin.parts:
        yield from part_problems(twin, part, pool)
