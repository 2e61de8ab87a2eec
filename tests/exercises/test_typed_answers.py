"""a01 and a02: right answers as students type them keep their points, in every variant."""

from pathlib import Path

import numpy as np
import pytest

from autograder.course.discover import load_exercise
from autograder.exercise import Derivation, Numbers
from autograder.exercise.words.dependencies import solve
from autograder.exercise.words.variants import draws
from autograder.grading.parts import grade_parts

ROOT = Path(__file__).parents[2]
PATHS = [
    path
    for folder in ("a01_softmax", "a02_attention_by_hand")
    for path in sorted((ROOT / "reference" / folder).glob("*.py"))
]
EXERCISES = {path.stem: load_exercise(path) for path in PATHS}
NUMERIC = [
    id
    for id, exercise in EXERCISES.items()
    if any(isinstance(part.answer, Numbers) for part in exercise.parts)
]
ENOUGH = 3  # right answers beside the reference's own


def four_digits(value):
    """As text, each number with four significant digits, whole numbers as they are."""
    return np.vectorize(lambda x: f"{x:.4g}", otypes=[object])(value).tolist()


def single_precision(value):
    return np.asarray(value, np.float32)


def cut_off(value):
    """Six significant digits, the rest cut off, in exponents: what one copies from a display."""

    def cut(x):
        digits, exponent = f"{x:.12e}".split("e")
        return f"{digits[:7] if x >= 0 else digits[:8]}e{exponent}"

    return np.vectorize(cut, otypes=[object])(value).tolist()


@pytest.mark.parametrize("typed", [four_digits, single_precision, cut_off])
@pytest.mark.parametrize("id", NUMERIC)
def test_any_fair_rounding_is_right(id, typed):
    exercise = EXERCISES[id]
    numbers = {part.name: part for part in exercise.parts if isinstance(part.answer, Numbers)}
    for variant in draws(exercise, "attention").pool:
        true = solve(exercise, variant)

        def read(name, true=true):
            return typed(true[name]) if name in numbers else true[name]

        for item in grade_parts(exercise, variant, read):
            if item.name in numbers:
                assert (item.score, item.note) == (numbers[item.name].points, ""), (variant, item)


@pytest.mark.parametrize("id", [id for id, e in EXERCISES.items() if e.checks])
def test_functions_have_other_right_answers(id):
    assert len(EXERCISES[id].alternatives) >= ENOUGH  # `verify` proves that they earn everything


@pytest.mark.parametrize(
    ("id", "name"),
    [
        (id, part.name)
        for id, exercise in EXERCISES.items()
        for part in exercise.parts
        if isinstance(part.answer, Derivation)
    ],
)
def test_derivations_have_other_right_routes(id, name):
    (part,) = (part for part in EXERCISES[id].parts if part.name == name)
    assert len(part.alternatives) >= ENOUGH
