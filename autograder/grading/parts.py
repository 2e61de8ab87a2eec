"""Grade the parts of an exercise, carrying the student's own answers forward."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from typing import Any, Self

from autograder.exercise import Exercise, FormatError, Judgement, Part, Senseless, Undecided
from autograder.exercise.answers.patched import patched
from autograder.exercise.answers.slips import is_nothing, is_trivial
from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.part import arguments, computation
from autograder.grading.budget import TOO_MUCH, Exhausted, judging
from autograder.grading.common_mistakes import with_mistakes
from autograder.grading.diagnosis import judge, misshapen
from autograder.grading.mistakes_before import told_before
from autograder.grading.mistakes_in_part import told_in_part
from autograder.grading.one_change import told
from autograder.grading.others import another_part, others_named, puzzling
from autograder.grading.own_answer import as_written
from autograder.grading.own_values import Own
from autograder.grading.pricing import paid_once
from autograder.grading.results import Item, Status, hundredths, sentence
from autograder.sandbox import StudentError
from autograder.student.reading import is_blank

_EXERCISES = 500  # whose order of parts is kept at hand
_OUT = (MemoryError, RecursionError)  # of the budget: the answer's fault
_LONGEST = 900  # characters of feedback: what a student wrote may stand in it
_WRONG = Judgement(0)  # and nothing else is known of it
Known = dict[str, Any]
Read = Callable[[str], Any]  #: reads one of the student's variables, or raises StudentError


def grade_parts(
    exercise: Exercise,
    variant: Mapping[str, Any],
    read: Read,
    *,
    pool: Sequence[Mapping[str, Any]] = (),
    functions: Mapping[str, Callable[..., Any]] | None = None,
    earlier: Mapping[str, Callable[..., Any]] | None = None,
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
    earlier
        Those of earlier exercises, that the exercise builds on.
    """
    grading = PartsGrading(exercise, variant, functions=functions, earlier=earlier)
    return grading.judged(read).items(pool)


class PartsGrading:
    """The answers of one exercise, part after part; see `grade_parts`."""

    def __init__(
        self,
        exercise: Exercise,
        variant: Mapping[str, Any],
        *,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        earlier: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        self._exercise, self._variant = exercise, variant
        self._true = true = solve(exercise, variant)
        asked = functions or {}
        carried = {one.name: one.solution for one in exercise.carried}
        examples = frozenset(part.name for part in exercise.parts if part.answer.free)
        self._own = Own(
            {name: value for name, value in {**true, **asked}.items() if name not in examples},
            wrong=set(asked),
            trivial=set(asked),
            examples=examples,
            earlier=earlier or {},
            references={**exercise.solutions, **carried},
        )
        self._judged: dict[str, Item] = {}

    def completed(self, read: Read) -> list[Item]:
        """Judge what is not judged yet, as if nothing had been judged since."""
        again = copy(self)
        again._true, again._judged = {**self._true}, {**self._judged}
        again._own = self._own.copied()
        return again.judged(read).items()

    def following(self, earlier: Mapping[str, Callable[..., Any]]) -> PartsGrading:
        """Return the same by the student's earlier functions; what is right without them stays."""
        again = copy(self)
        again._own = self._own.copied()
        again._own.earlier, again._true = earlier, {**self._true}
        again._judged = {n: item for n, item in self._judged.items() if _is_right(item)}
        for name in self._judged.keys() - again._judged.keys():
            again._own.forget(name, self._true)
        return again

    def judged(self, read: Read, *, until: Part | None = None) -> Self:
        """Judge what is not judged yet, each part by what has come of those before."""
        for part in _in_turn(tuple(self._exercise.parts)):
            if part is until:
                break
            if part.name not in self._judged:
                place = f"{self._exercise.id}.{part.name}"
                item = _bounded(place, self._exercise, part, read, self._true, self._own)
                words, chosen = _in_words(part, self._own)
                item = replace(item, given=words or _given(part, read), chosen=chosen)
                self._judged[part.name] = _resting(part, item, self._judged)
        return self

    def items(self, pool: Sequence[Mapping[str, Any]] = ()) -> list[Item]:
        """Return what has come of all parts."""
        exercise, own = self._exercise, self._own
        found = [self._judged[part.name] for part in exercise.parts]
        items = paid_once(with_mistakes(exercise, found, self._true, own))
        if not puzzling(items):
            return items
        try:
            return judging(
                f"{exercise.id}.",
                lambda: others_named(exercise, self._variant, own.given, items, pool),
            )
        except Exhausted:
            return items


@lru_cache(_EXERCISES)
def _in_turn(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return parts as they are judged: what may follow from a later one comes behind that."""
    left, found = [*parts], []
    while left:
        names = {part.name for part in left}
        part = next((p for p in left if not names & _before(p)), left[0])
        left.remove(part)
        found.append(part)
    return tuple(found)


def _is_right(item: Item) -> bool:
    """Tell whether an answer is right by itself, and not by what it follows from."""
    return item.status is Status.PASSED and item.note != "follow_through"


def _before(part: Part) -> set[str]:
    """Return what has to be judged before a part, as far as that is parts."""
    follows = {name for way in part.routes for name in arguments(computation(way))}
    return follows | {part.after.name} if part.after else follows


def _resting(part: Part, item: Item, judged: Mapping[str, Item]) -> Item:
    """Count a part only where the one that it comes after is right."""
    if part.after is None or item.score == 0:
        return item
    earlier = judged[part.after.name]
    if earlier.status is Status.PASSED:
        return item
    if earlier.status is Status.ERRORED:
        return _withheld(part, earlier.note, f"`{earlier.name}` isn't decided")
    text = f"This counts only with the right answer to “{part.after.rubric}”"
    return replace(item, status=Status.SKIPPED, score=0.0, note="skipped", feedback=text)


def _bounded(place: str, exercise: Exercise, part: Part, read: Read, true: Known, own: Own) -> Item:
    """Judge an answer; one that can't be judged in reasonable time and memory is failed."""
    try:
        return judging(place, lambda: _item(exercise, part, read, true, own))
    except Exhausted as error:
        own.given.pop(part.name, None)
        return _result(part, Judgement(0, TOO_MUCH, str(error)))
    except Exception as error:  # withholds this part alone: the others are judged by themselves
        return _withheld(part, "grader_error", type(error).__name__)


def _item(exercise: Exercise, part: Part, read: Read, true: Known, own: Own) -> Item:
    if part.manual:
        return Item(
            part.name, part.rubric, Status.SKIPPED, None, part.points, "manual", "Marked by hand."
        )
    try:
        answer = _answered(part, read, true, own)
    except _NoAnswer as none:
        return _result(part, none.judgement)
    own.given[part.name] = answer
    try:
        judgement = judge(part, answer, true, own)
        if not judgement.note and judgement.credit < 1:
            judgement = another_part(exercise.parts, part, answer, true) or judgement
        if judgement == _WRONG:
            judgement = Judgement(0, feedback=_located(exercise.parts, part, answer, true, own))
    except Senseless as reason:
        return _result(part, Judgement(0, "format_error", sentence(str(reason))))
    except Undecided as reason:
        return _withheld(part, "needs_review", str(reason))
    _carry_on(exercise, part, answer, judgement, true, own)
    return _result(part, judgement)


def _located(parts: Sequence[Part], part: Part, answer: Any, true: Known, own: Own) -> str:
    """Say of an answer that nothing explains how it comes out, or where it is wrong."""
    return (
        told_before(parts, part, answer, true)
        or told(part, answer, true, own)
        or told_in_part(part, answer, true)
        or part.answer.locate(answer, true[part.name])
    )


class _NoAnswer(Exception):
    """Nothing came that could be judged as an answer."""

    def __init__(self, judgement: Judgement) -> None:
        super().__init__(judgement.feedback)
        self.judgement = judgement


def _answered(part: Part, read: Read, true: Known, own: Own) -> Any:
    """Return the answer as it is meant; raises `_NoAnswer` where there is none."""
    try:
        raw = read(part.name)
        if is_blank(raw):
            raise _NoAnswer(Judgement(0, "blank", "No answer was given."))
        answer = part.answer.read(raw, like=true[part.name])
        return part.answer.meant(answer, part.order(true))
    except FormatError as error:
        raise _NoAnswer(_unreadable(part, raw, true, own, sentence(str(error)))) from None
    except StudentError as error:
        raise _NoAnswer(Judgement(0, _note(error), sentence(str(error)))) from None
    except (_NoAnswer, *_OUT):
        raise
    except Exception as error:  # an odd value, not our kind of answer: it costs this part alone
        text = f"This can't be read as an answer ({type(error).__name__})."
        raise _NoAnswer(Judgement(0, "format_error", text)) from None


def _carry_on(
    exercise: Exercise, part: Part, answer: object, judgement: Judgement, true: Known, own: Own
) -> None:
    """Keep of an answer what later parts may follow from."""
    if judgement.credit < 1 or judgement.note == "follow_through":
        own.wrong.add(part.name)
        if not judgement.note and is_trivial(answer, true[part.name]):
            own.trivial.add(part.name)
    if part.answer.free and judgement.credit == 1:
        _take_example(exercise, part, answer, true, own)
    if part.answer.stepwise and not judgement.credit:
        return
    if carries(part, answer, true[part.name]):
        own.known[part.name] = answer
        rounding = part.answer.rounding(answer)
        if rounding is not None:
            own.rounding[part.name] = rounding


def _unreadable(part: Part, raw: object, true: Known, own: Own, why: str) -> Judgement:
    """Judge what can't be read: by a known mistake in it, or by the entries that can be."""
    try:
        known = misshapen(part, raw, true, own) or _in_part(part, raw, true, own)
    except _OUT:
        raise
    except Exception:  # an odd value gains nothing by it, and withholds nothing
        known = None
    return known or Judgement(0, "format_error", why)


def _in_part(part: Part, raw: object, true: Known, own: Own) -> Judgement | None:
    """Judge the entries that can be read, where some can't; nothing is carried on from them."""
    try:
        found = patched(part.answer, raw, true[part.name])
        judgement = judge(part, found[0], true, own) if found else None
    except (FormatError, Undecided):
        return None
    if not found or not judgement or not judgement.credit:
        return None
    return Judgement(
        judgement.credit,
        "format_error",
        f"{sentence(found[1])} {judgement.feedback}".strip(),
    )


def _take_example(exercise: Exercise, part: Part, answer: object, true: Known, own: Own) -> None:
    """Let what follows from an example follow from the student's: it is as right as any other."""
    true[part.name] = answer
    changed = {part.name}
    for later in exercise.parts[exercise.parts.index(part) + 1 :]:
        if changed & set(later.needs):
            true[later.name] = own.known[later.name] = evaluate(later, later, true)
            changed.add(later.name)


def _given(part: Part, read: Read) -> str:
    """Write an answer down; that needs no budget, since little of a long one is looked at."""
    try:
        return "" if part.manual else as_written(read(part.name))
    except (StudentError, ValueError):  # a number of more digits than Python writes
        return ""


def _in_words(part: Part, own: Own) -> tuple[str, str]:
    """Return what was chosen, in words and by the author's letters."""
    if not part.answer.mixed or part.name not in own.given:
        return "", ""
    answer = own.given[part.name]
    return part.answer.in_words(answer), str(answer) or "none"


def carries(part: Part, answer: object, right: object) -> bool:
    """Tell whether an answer is carried on: from nothing, nothing follows."""
    if is_nothing(answer, right):
        return False
    return part.carry_if is None or bool(part.carry_if(answer))


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
    if len(feedback) > _LONGEST:
        feedback = f"{feedback[:_LONGEST]} …"
    return Item(part.name, part.rubric, status, score, part.points, judgement.note, feedback)


def _note(error: StudentError) -> str:
    known = {"missing": "blank", "left_over": "blank", "timeout": "timeout"}
    return known.get(error.kind, "student_error")
