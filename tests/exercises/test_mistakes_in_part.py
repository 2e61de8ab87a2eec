"""Mistakes that show in some entries are not seen where nobody made them, with any numbers."""

import numpy as np
import pytest

from autograder.exercise import Count, FormatError, Numbers
from autograder.exercise.answers.slips import CHANCE
from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.variants import draws, rng_for

from ..loaded import COURSE, assigned

#: Of the 64 of an exercise.
VARIANTS = 16

EXERCISES = {
    id: exercise
    for assignment in COURSE.ids()
    for id, exercise in assigned(assignment).sound.items()
    if any(isinstance(part.answer, Numbers | Count) for part in exercise.parts)
}


def spoiled(right, rng):
    """Yield answers with another mistake: a slip in one entry, or other numbers."""
    place = rng.integers(right.size)
    by_chance = np.asarray(right * np.exp(rng.normal(size=right.shape) / 2))
    one = right.flat[place]
    for entry in (-one, 0, 1, one + 1, one - 1, float(f"{by_chance.flat[place]:.2g}")):
        other = right.astype(float)
        other.flat[place] = entry
        yield other
    yield rng.permutation(right.ravel()).reshape(right.shape)
    yield np.reshape([float(f"{entry:.2g}") for entry in by_chance.flat], right.shape)


@pytest.mark.parametrize("id", EXERCISES)
def test_no_mistake_is_seen_by_chance(id):
    exercise, rng = EXERCISES[id], rng_for("mistakes in part", id)
    tried, seen = 0, []
    for variant in draws(exercise, COURSE.id).pool[:VARIANTS]:
        known = solve(exercise, variant)
        for part in exercise.parts:
            if not isinstance(part.answer, Numbers | Count):
                continue
            right = known[part.name]
            mistakes = {}
            for wrong in part.misconceptions:
                try:
                    with np.errstate(all="ignore"):
                        mistakes[wrong.name] = evaluate(part, wrong, known)
                except FormatError:
                    continue
            for other in spoiled(np.asarray(right), rng):
                try:
                    given = part.answer.read(other.tolist(), like=right)
                except FormatError:
                    continue
                tried += 1
                seen += [
                    (part.name, name, given)
                    for name, value in mistakes.items()
                    if part.answer.made(given, value, right) and not part.answer.same(given, value)
                ]
    assert len(seen) <= max(1, CHANCE * tried), seen[:5]
