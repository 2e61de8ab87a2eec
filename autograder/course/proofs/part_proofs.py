"""What is proved of a part: every right answer earns everything, every wrong one its due."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.course.proofs.discrimination import in_variants
from autograder.course.proofs.numbers_needed import alike, needed
from autograder.course.proofs.said import shown
from autograder.course.proofs.sources import typed
from autograder.exercise import Exercise, Part
from autograder.exercise.words.dependencies import apply, evaluate, solve
from autograder.grading.parts import PartsGrading
from autograder.grading.results import Item, Status

Variant = Mapping[str, Any]


def right_answers(exercise: Exercise, variant: Variant) -> dict[str, Any]:
    """Return the right answer to every part as a student would type it."""
    known = solve(exercise, variant)
    return {part.name: typed(part, apply(part, known), known) for part in exercise.parts}


def part_problems(exercise: Exercise, part: Part, pool: Sequence[Variant]) -> list[str]:
    """Grade right answers, mistakes and attempts with all numbers that ``pool`` has for a part."""
    found: dict[str, list[int]] = {}  # what is wrong, and in which variants
    for indices in alike(exercise, part, pool):
        case = _Case(exercise, part, pool[indices[0]])
        for prove in (_right, _mistaken, _attempted):
            for text in prove(case):
                found.setdefault(text, []).extend(indices)
    problems = [f"{text}{in_variants(sorted(i), len(pool))}" for text, i in found.items()]
    return unsaid(exercise, pool[0], part) + problems


def unsaid(exercise: Exercise, variant: Variant, *parts: Part) -> list[str]:
    """Return what the author has to say of some parts, or of all, before answers can be judged."""
    known = solve(exercise, variant)
    return [
        f"`{part.name}`: {question}"
        for part in parts or exercise.parts
        for question in part.answer.unsaid(apply(part, known))
    ]


def sample_problems(exercise: Exercise, part: Part, variant: Variant) -> list[str]:
    """Look whether every sample of a part marked by hand is a text."""
    known = solve(exercise, variant)
    made = {sample.compute.__name__: apply(sample.compute, known) for sample in part.samples}
    return [
        f"sample `{name}` of `{part.name}` returns {text!r}; it returns what a student may write"
        for name, text in made.items()
        if not isinstance(text, str)
    ]


class _Case:
    """A part with the numbers of one variant."""

    def __init__(self, exercise: Exercise, part: Part, variant: Variant) -> None:
        self.part = part
        self.known, self.right = solve(exercise, variant), right_answers(exercise, variant)
        only = exercise.only(
            needed(exercise, part)
        )  # proofs take their time: no more than it takes
        self._before = PartsGrading(only, variant).judged(self.right.__getitem__, until=part)

    def computed(self, compute: Any) -> Item:
        """Grade what a function gives, beside right answers to the parts before."""
        return self.graded(typed(self.part, apply(compute, self.known), self.known))

    def graded(self, raw: object) -> Item:
        """Grade an answer, beside right answers to the parts before."""
        answers = {**self.right, self.part.name: raw}
        items = self._before.completed(answers.__getitem__)
        return next(item for item in items if item.name == self.part.name)


def _right(case: _Case) -> Iterator[str]:
    for compute in (case.part.compute, *case.part.alternatives):
        item = case.computed(compute)
        if item.status is not Status.PASSED:
            yield f"`{compute.__name__}` is right but fails {shown(item)}"
    for compute in case.part.restatements:
        own = case.part.answer.judge(
            evaluate(case.part, case.part, case.known), evaluate(case.part, compute, case.known)
        )
        if own.credit < 1:
            yield f"the reference does not show what `{compute.__name__}` says: {own.feedback}"


def _mistaken(case: _Case) -> Iterator[str]:
    part, seen = case.part, dict[str, Any]()
    for wrong in part.misconceptions:
        with np.errstate(all="ignore"):
            item = case.computed(wrong)
            if item.note == "format_error":  # NaN, say: caught, if not by its name
                continue
            value = evaluate(part, wrong, case.known)
        alike = [name for name, other in seen.items() if part.answer.same(value, other)]
        seen[wrong.name] = value
        if item.note != wrong.name and item.note not in alike:
            text = f"misconception `{wrong.name}` of `{part.name}` is graded {item.status}"
            yield f"{text} ({item.note or 'no note'})"


def _attempted(case: _Case) -> Iterator[str]:
    part = case.part
    right, order = apply(part, case.known), part.order(case.known)
    others = (apply(compute, case.known) for compute in part.alternatives)
    for attempt in itertools.chain(
        part.answer.attempts(part.answer.seen(right, order) if order else right),
        *map(part.answer.other_clothes, others),
    ):
        item = case.graded(attempt.raw)
        tried = f"`{part.name}`: {attempt.name}"
        if item.score is None:
            yield f"{tried} is withheld: {item.feedback}"
            continue
        credit = item.score / part.points
        due = ""
        if credit > attempt.at_most + _ROUNDED / part.points:
            due = f"at most {attempt.at_most:.0%} is due"
        elif credit < attempt.at_least - _ROUNDED / part.points:
            due = f"at least {attempt.at_least:.0%} is due"
        if due:
            told = f" ({item.note}: {item.feedback})" if item.feedback else ""
            yield f"{tried} earns {credit:.0%}, {due}{told}"


#: Scores are whole hundredths of a point.
_ROUNDED = 0.0051
