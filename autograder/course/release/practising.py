"""What help.json holds: numbers to practise with, worked out, and hints.

A student's notebook has no reference.  So everything that `practice` says is worked out here: the
right answers to its own numbers, those that known mistakes give, and what follows from these.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.course.config import CourseError
from autograder.course.release.asked import encode_variant, hint_of
from autograder.course.release.plain_json import alike
from autograder.course.release.practice_inputs import tried_functions
from autograder.course.release.practice_sets import MOST, needs, practice_sets, used
from autograder.course.release.ways import way_of
from autograder.exercise import Exercise, FormatError, Part
from autograder.exercise.words.dependencies import apply, band, evaluate
from autograder.exercise.words.part import arguments
from autograder.grading.parts import carries
from autograder.student.released_files import (
    Following,
    Help,
    Practice,
    PracticePart,
    PracticeSet,
    RecordedFunction,
    Worked,
)

HELP = "help.json"

#: Significant digits of what isn't exact, enough for any answer.
DIGITS = 6

Known = dict[str, Any]

_STEP = 1e-4  # of the largest number: by so much an earlier answer is moved
_NO_VALUE = (FormatError, ArithmeticError, LookupError, ValueError, TypeError)


def helped(
    exercise: Exercise,
    course: str,
    graded: Sequence[Known],
    functions: Sequence[RecordedFunction],
) -> Help:
    """Return what there is to practise an exercise with, and its hints.

    Parameters
    ----------
    graded
        The variants of the release, with the right answers.
    functions
        What check.json says of its functions.

    Raises
    ------
    CourseError
        If numbers that an author gives for practice can't be used.
    """
    entry: Help = {}
    practice = practised(exercise, course, graded)
    if tried := tried_functions(exercise, functions):
        practice = {**(practice or {"parts": [], "sets": []}), "functions": tried}
    if practice:
        entry["practice"] = practice
    else:
        entry["unpractised"] = why_not(exercise)
    if exercise.hints:
        entry["hints"] = [*exercise.hints]
    return entry


def why_not(exercise: Exercise) -> str:
    """Say why there is nothing to practise an exercise with."""
    if exercise.unpractised:
        return exercise.unpractised
    if practisable(exercise):
        return "too few other numbers have other answers, so that practice would tell them"
    if any(part.answer.practised for part in exercise.parts):
        return "its answers are the same for everybody"
    if exercise.functions:
        return "what is graded of its code can't be tried on other inputs"
    return "it asks for statements, texts or examples, and has no numbers of one's own"


def practised(exercise: Exercise, course: str, graded: Sequence[Known]) -> Practice | None:
    """Return what is recorded to practise an exercise with, None where nothing can be.

    Parameters
    ----------
    graded
        The variants of the release, with the right answers.

    Raises
    ------
    CourseError
        If an exercise that an author gives for practice has no numbers that show every mistake.
    """
    found = _with_other_numbers(exercise, course, graded)
    stated = _other_statements(exercise)
    if not stated:
        return found
    found = found or {"parts": [], "sets": [{"numbers": {}, "right": {}}]}
    right: dict[str, Worked] = {part["name"]: {"right": [answer]} for part, answer in stated}
    return {
        "parts": [*found["parts"], *(part for part, _ in stated)],
        "sets": [{**each, "right": each["right"] | right} for each in found["sets"]],
    }


def _other_statements(exercise: Exercise) -> list[tuple[PracticePart, Any]]:
    """Return the parts that are practised on another statement, each with an answer to that."""
    return [
        (
            {
                "name": part.name,
                "asks": other["asks"],
                "hint": other["hint"],
                "rule": other["rule"],
                "needs": [],
                "says": [],
            },
            other["right"],
        )
        for part in exercise.parts
        if exercise.practice and (other := part.answer.statement)
    ]


def _with_other_numbers(
    exercise: Exercise, course: str, graded: Sequence[Known]
) -> Practice | None:
    """Return what of an exercise is practised with other numbers."""
    own, parts = exercise.twin or exercise, practisable(exercise)
    if not parts:
        return None
    asked, sets = practice_sets(own, parts, course, exercise.practice, graded)
    if exercise.twin and not sets:
        raise CourseError(
            f"{exercise.id}: no numbers of its practice show every mistake, are nobody's, and have "
            f"answers that are right for at most {MOST:.0%} of those who are graded"
        )
    if not asked or not sets:
        return None
    there = {part.name for part in asked}.union(*(used(own, asked, variant) for variant, _ in sets))
    return {
        "parts": [_asked(part, asked, sets, there) for part in asked],
        "sets": [_set(own, asked, used(own, asked, variant), known) for variant, known in sets],
    }


def _asked(
    part: Part, asked: Sequence[Part], sets: Sequence[tuple[Known, Known]], there: set[str]
) -> PracticePart:
    """Return what is asked for with a part, and how it is read; ``there`` is what has numbers."""
    entry: PracticePart = {
        "name": part.name,
        "asks": [part.asks, *part.scheme],
        "hint": hint_of(part, [known[part.name] for _, known in sets]),
        "rule": part.answer.rule,
        "needs": [earlier.name for earlier in asked if earlier.name in needs(part)],
        "says": [wrong.feedback for wrong in part.misconceptions],
    }
    if way := way_of(part, there):
        entry["way"] = way
    return entry


def _set(own: Exercise, asked: Sequence[Part], variant: Known, known: Known) -> PracticeSet:
    right, after = _worked(own, asked, known)
    entry: PracticeSet = {"numbers": encode_variant(own, variant), "right": right}
    if after:
        entry["after"] = after
    return entry


def practisable(exercise: Exercise) -> list[Part]:
    """Return the parts of which values alone say what is right, and whose numbers differ."""
    if not exercise.practice or not (exercise.twin or exercise.draw):
        return []
    return [part for part in (exercise.twin or exercise).parts if part.answer.practised]


def _worked(
    exercise: Exercise, asked: Sequence[Part], true: Known
) -> tuple[dict[str, Worked], list[Following]]:
    """Return right answers and known wrong ones by part, and what follows from each of these."""
    after: list[Following] = []
    for part in asked:
        seen: list[Any] = []
        for place, value in mistaken(part, true):
            if any(part.answer.same(value, other) for other in seen):
                continue
            seen.append(value)
            if not carries(part, value, true[part.name]):
                continue
            if then := _following(exercise, asked, part, {**true, part.name: value}):
                wrong = _plain(part, part.misconceptions[place], true)
                after.append({"part": part.name, "value": wrong, "then": then})
    right = {part.name: _answer(part, asked, true) for part in asked}
    for name, entry in (then for mistake in after for then in mistake["then"].items()):
        _without(entry, right[name])
    return right, after


def _without(entry: Worked, known: Worked) -> None:
    """Leave out what is the same without the earlier mistake."""
    wrong = [each for each in entry.pop("wrong", []) if each not in known.get("wrong", [])]
    reach = entry.pop("reach", None)
    if wrong:
        entry["wrong"] = wrong
    if reach and reach != known.get("reach"):
        entry["reach"] = reach


def mistaken(part: Part, known: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
    """Yield what each known mistake gives, with its place, where it gives an answer."""
    for place, wrong in enumerate(part.misconceptions):
        with contextlib.suppress(*_NO_VALUE), np.errstate(all="ignore"):
            yield place, evaluate(part, wrong, known)


def _following(
    exercise: Exercise, asked: Sequence[Part], wrong: Part, known: Known
) -> dict[str, Worked]:
    """Return what follows from a wrong answer for the parts behind it."""
    changed, found = {wrong.name}, {}
    for part in exercise.parts[exercise.parts.index(wrong) + 1 :]:
        if part.manual or not changed & needs(part):
            continue
        with contextlib.suppress(*_NO_VALUE), np.errstate(all="ignore"):
            known[part.name] = evaluate(part, part, known)
            changed.add(part.name)
            if part in asked:
                found[part.name] = _answer(part, asked, known, changed)
    return found


def _answer(
    part: Part, asked: Sequence[Part], known: Known, changed: set[str] | None = None
) -> Worked:
    """Return what is right, and known mistakes; where something changed, those that depend on it.

    The reach says by how much an answer moves with each earlier one, entry by entry.
    """
    right: list[Any] = []
    for route in part.routes:
        with contextlib.suppress(*_NO_VALUE), np.errstate(all="ignore"):
            value = _plain(part, route, known)
            right += [] if any(alike(value, other, DIGITS) for other in right) else [value]
    wrong = []
    for place, mistake in enumerate(part.misconceptions):
        if changed is None or changed & {*arguments(mistake.compute)}:
            with contextlib.suppress(*_NO_VALUE), np.errstate(all="ignore"):
                wrong.append((place, _plain(part, mistake, known)))
    reach = {
        earlier.name: moved
        for earlier in asked
        if earlier.name in part.needs and (moved := _reach(part, earlier, known))
    }
    entry: Worked = {}
    if right:
        entry["right"] = right
    if wrong:
        entry["wrong"] = wrong
    if reach:
        entry["reach"] = reach
    return entry


def _reach(part: Part, earlier: Part, known: Known) -> Any:
    """Return by how much each number of an answer moves with all numbers of an earlier one."""
    if part.answer.rounding(known[part.name]) is None:
        return None  # it is right or wrong, and moves with nothing
    if earlier.answer.rounding(known[earlier.name]) is None:
        return None
    value = np.asarray(known[earlier.name], float)
    step = _STEP * max(1e-3, float(np.max(np.abs(value), initial=0)))
    with contextlib.suppress(*_NO_VALUE), np.errstate(all="ignore"):
        moved = band(part, known, {earlier.name: np.full(value.shape, step)}) / step
        return listed(moved, 2)
    return None


def _plain(part: Part, compute: Any, known: Mapping[str, Any]) -> Any:
    """Return an answer as a student could write it, and as the kind's reader reads it."""
    if part.answer.rewritten:
        return listed(apply(compute, known))
    return listed(evaluate(part, compute, known), 10 if part.answer.rule else DIGITS)


def listed(value: object, digits: int = DIGITS) -> Any:
    """Return a value as JSON that the readers read; of what is not exact so many digits."""
    if isinstance(value, dict):
        return {str(name): listed(entry, digits) for name, entry in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [listed(entry, digits) for entry in value]
    if isinstance(value, float) and np.isfinite(value):
        whole = value.is_integer() and abs(value) < 10**digits
        return int(value) if whole else float(f"{value:.{digits}g}")
    return value if isinstance(value, int | str) else str(value)
