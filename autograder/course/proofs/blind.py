"""What is earned without a thought: the same answer everywhere, a letter at random."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from autograder.exercise import CheckedFunction, Exercise, Part
from autograder.exercise.answers.kind import GUESSES
from autograder.exercise.words.dependencies import solve
from autograder.grading.checks import grade_checks
from autograder.grading.parts import grade_parts

#: So many variants are tried: what is earned without a thought hardly depends on them.
VARIANTS = 4


def blind_guess(exercise: Exercise, pool: Sequence[Mapping[str, Any]]) -> tuple[float, ...]:
    """Return the points that answers without a thought earn on average, for each of the `GUESSES`.

    The same number, formula or function everywhere; of choices what a letter at random earns.
    """
    some = pool[:VARIANTS]
    parts = [part for part in exercise.parts if not part.manual]
    points = _letters(exercise, [part for part in parts if _options(part, exercise, some[0])], some)
    points += sum(_constant(function) for function in exercise.functions)
    alike = not any(some)  # nothing is drawn: all have the same
    differing = some[:1] if alike else some
    everywhere = [_guesses(exercise, parts, v) for v in differing] * (len(some) if alike else 1)
    means = np.mean(everywhere, axis=0) if parts else np.zeros(GUESSES)
    return tuple(float(points + mean) for mean in means)


def _guesses(exercise: Exercise, parts: list[Part], variant: Mapping[str, Any]) -> list[float]:
    """Return what each of the guesses earns; many are the same for a kind of answer."""
    known: dict[str, float] = {}
    each = []
    for number in range(GUESSES):
        answers = _same_everywhere(number, parts, exercise, variant)
        if (said := repr(answers)) not in known:
            known[said] = sum(_earned(exercise, variant, answers))
        each.append(known[said])
    return each


def _earned(
    exercise: Exercise, variant: Mapping[str, Any], answers: Mapping[str, Any]
) -> list[float]:
    return [item.score or 0.0 for item in grade_parts(exercise, variant, answers.get)]


def _options(part: Part, exercise: Exercise, variant: Mapping[str, Any]) -> str:
    """Return the letters of a choice; nothing for another kind."""
    hint = part.answer.hint(solve(exercise, variant)[part.name])
    return str(hint.get("options", ""))


def _letters(
    exercise: Exercise, choices: Iterable[Part], pool: Sequence[Mapping[str, Any]]
) -> float:
    """Return what one letter at random earns, choice by choice."""
    total = 0.0
    for part in choices:
        tried = [part]  # what counts only after another choice needs that one, too
        while tried[-1].after and _options(tried[-1].after, exercise, pool[0]):
            tried.append(tried[-1].after)
        names = [each.name for each in tried]
        scores = [
            item.score or 0.0
            for letters in product(*(_options(each, exercise, pool[0]) for each in tried))
            for variant in pool
            for item in grade_parts(exercise, variant, dict(zip(names, letters, strict=True)).get)
            if item.name == part.name
        ]
        total += float(np.mean(scores))
    return total


def _same_everywhere(
    number: int, parts: Iterable[Part], exercise: Exercise, variant: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what somebody writes who has no idea, to every part alike."""
    known = solve(exercise, variant)
    guesses = {part.name: part.answer.guess(number, known[part.name]) for part in parts}
    return {name: guess for name, guess in guesses.items() if guess is not None}


def _constant(function: CheckedFunction) -> float:
    """Return the most that a function which does nothing earns."""
    idle: list[Callable[..., Any]] = [
        lambda *_, **__: None,
        lambda *_, **__: 0.0,
        lambda *args, **_: args[0],
        lambda *args, **_: np.zeros_like(args[0]),
        lambda *args, **_: np.ones_like(args[0]),
    ]
    return max(sum(item.score or 0.0 for item in grade_checks(function, each)) for each in idle)
