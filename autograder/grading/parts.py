"""Grade the parts of an exercise, carrying the student's own answers forward."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from autograder.exercise import (
    Exercise,
    FormatError,
    Judgement,
    Part,
    Undecided,
    band,
    evaluate,
    is_blank,
    solve,
)
from autograder.grading.results import Item, Status, hundredths, sentence
from autograder.sandbox import StudentError

Read = Callable[[str], Any]  #: reads one of the student's variables, or raises StudentError


@dataclass
class _Own:
    """What the student has, as far as it may be carried on."""

    known: dict[str, Any]
    given: dict[str, Any] = field(default_factory=dict)  # every answer that could be read
    rounding: dict[str, Any] = field(default_factory=dict)
    wrong: set[str] = field(default_factory=set)  # parts and functions that may not be the true


def grade_parts(
    exercise: Exercise,
    variant: Mapping[str, Any],
    read: Read,
    *,
    pool: Sequence[Mapping[str, Any]] = (),
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> list[Item]:
    """Grade every part, first against the true earlier answers, then against the student's own.

    Parameters
    ----------
    variant
        The student's numbers by name.
    read
        Returns the student's value for a part's name as plain data.
    pool
        All variants of the release, to recognise an answer to somebody else's numbers.
    functions
        The student's own functions by name, where parts are computed with them.
    """
    true = solve(exercise, variant)
    own = _Own({**true, **(functions or {})}, wrong=set(functions or ()))
    items = [_item(part, read, true, own) for part in exercise.parts]
    personal = _personal(exercise, variant)
    puzzling = {item.name for item in items if item.score == 0 and not item.note} & personal
    given = {name: answer for name, answer in own.given.items() if name in personal}
    if puzzling and _someone_elses(exercise, given, pool):
        return [_of_others(item) if item.name in puzzling else item for item in items]
    return items


def _item(part: Part, read: Read, true: Mapping[str, Any], own: _Own) -> Item:
    if part.manual:
        return Item(
            part.name, part.rubric, Status.SKIPPED, None, part.points, "manual", "Marked by hand."
        )
    try:
        raw = read(part.name)
        if is_blank(raw):
            return _result(part, Judgement(0, "blank", "No answer was given."))
        answer = part.answer.read(raw, like=true[part.name])
    except FormatError as error:
        known = _misshapen(part, raw, true, own)
        return _result(part, known or Judgement(0, "format_error", sentence(str(error))))
    except StudentError as error:
        return _result(part, Judgement(0, _note(error), sentence(str(error))))
    except Exception as error:  # an odd value, not our kind of answer: it costs this part alone
        text = f"This can't be read as an answer ({type(error).__name__})."
        return _result(part, Judgement(0, "format_error", text))
    own.given[part.name] = answer
    try:
        judgement = _judge(part, answer, true, own)
    except Undecided as reason:
        return _withheld(part, "needs_review", str(reason))
    except Exception as error:  # withholds this part alone: the others are judged by themselves
        return _withheld(part, "grader_error", type(error).__name__)
    if judgement.credit < 1 or judgement.note == "follow_through":
        own.wrong.add(part.name)
    if part.carry_if is None or _may_carry(part, answer):
        own.known[part.name] = answer
        rounding = part.answer.rounding(raw)
        if rounding is not None:
            own.rounding[part.name] = rounding
    return _result(part, judgement)


def _judge(part: Part, answer: Any, true: Mapping[str, Any], own: _Own) -> Judgement:
    first = part.answer.judge(answer, true[part.name])
    if first.credit == 1:
        return first
    carried = set(part.needs) & set(own.rounding) | set(part.needs) & own.wrong
    if carried:
        with np.errstate(all="ignore"):
            expected, slack = _from_own(part, part, own)
        if expected is not None and part.answer.judge(answer, expected, slack=slack).credit == 1:
            if set(part.needs) & own.wrong:
                return Judgement(1, "follow_through", "Right, given your earlier answers.")
            return Judgement(1)  # right: the earlier answers were only rounded
    for wrong in part.misconceptions:
        with np.errstate(all="ignore"):
            mistaken, slack = _from_own(part, wrong, own)
            candidates = [(_evaluate(part, wrong, true), 0.0), (mistaken, slack)]
        if any(v is not None and part.answer.same(answer, v, slack=s) for v, s in candidates):
            credit = max(wrong.credit, first.credit)  # sound steps before the mistake count
            return Judgement(credit, wrong.name, wrong.feedback)
    return first


def _misshapen(part: Part, raw: Any, true: Mapping[str, Any], own: _Own) -> Judgement | None:
    """Recognise a known mistake that gives an array of another shape than the right answer."""
    try:
        answer = part.answer.read(raw)
    except FormatError:
        return None
    for wrong in part.misconceptions:
        with np.errstate(all="ignore"):
            candidates = [_evaluate(part, wrong, true), _evaluate(part, wrong, own.known)]
        if any(v is not None and part.answer.same(answer, v) for v in candidates):
            return Judgement(wrong.credit, wrong.name, wrong.feedback)
    return None


def _from_own(part: Part, compute: Any, own: _Own) -> tuple[Any, Any]:
    """Evaluate on the student's own values; with the band that their rounding allows."""
    value = _evaluate(part, compute, own.known)
    if value is None or part.answer.rounding(value) is None:
        return value, 0.0
    return value, band(compute, own.known, own.rounding)


def _evaluate(part: Part, compute: Any, known: Mapping[str, Any]) -> Any:
    """Evaluate, or return None where a carried value makes that impossible."""
    try:
        return evaluate(part, compute, known)
    except (FormatError, ArithmeticError, ValueError, IndexError, TypeError, StudentError):
        return None


def _personal(exercise: Exercise, variant: Mapping[str, Any]) -> set[str]:
    """Return the parts whose answer depends on the student's numbers."""
    known = set(variant)
    for part in exercise.parts:
        if known & set(part.needs):
            known.add(part.name)
    return known - set(variant)


def _someone_elses(
    exercise: Exercise, given: Mapping[str, Any], pool: Sequence[Mapping[str, Any]]
) -> bool:
    """Tell whether these answers are right for the numbers of somebody else.

    All of them, since a single wrong number may well be right for one of so many others.
    """
    told = [part for part in exercise.parts if part.name in given]
    return any(
        all(_is_right(part, given[part.name], known[part.name]) for part in told)
        for known in (solve(exercise, other) for other in pool)
    )


def _is_right(part: Part, answer: Any, expected: Any) -> bool:
    try:
        return part.answer.same(answer, expected)
    except Undecided:
        return False


def _of_others(item: Item) -> Item:
    text = "This answers other numbers than yours. Is the id in the first cell your own?"
    return replace(item, note="other_variant", feedback=text)


def _may_carry(part: Part, answer: Any) -> bool:
    assert part.carry_if is not None
    return bool(part.carry_if(answer))


def _withheld(part: Part, note: str, reason: str) -> Item:
    text = f"The grader could not decide whether this is right ({reason}); a person will look."
    return Item(part.name, part.rubric, Status.ERRORED, None, part.points, note, text)


def _result(part: Part, judgement: Judgement) -> Item:
    credit = judgement.credit
    status = Status.PASSED if credit == 1 else Status.PARTIAL if credit else Status.FAILED
    score = hundredths(credit * part.points)
    feedback = judgement.feedback
    if not credit and not feedback:
        feedback = "This is not the right answer."
    return Item(part.name, part.rubric, status, score, part.points, judgement.note, feedback)


def _note(error: StudentError) -> str:
    return {"missing": "blank", "timeout": "timeout"}.get(error.kind, "student_error")
