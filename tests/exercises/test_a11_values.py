"""a11: the references give the catalogue's figures on its fixed data, and so do the mistakes."""

from functools import cache
from pathlib import Path

import numpy as np

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.exercise import evaluate, solve
from autograder.exercise.loading import load_module

ROOT = Path(__file__).parents[2]
ID = "a11_theory"
POINTS = {
    "row_entropy": [2, 1, 1, 3],
}


@cache
def module(name):
    return load_module(ROOT / "reference" / ID / f"{name}.py")


def same(value, figures):
    """Agree to the seven digits that the catalogue prints."""
    np.testing.assert_allclose(np.asarray(value, float), figures, rtol=1e-6, atol=1e-12)


def wrong(name, part, mistake, numbers=()):
    """Return what a mistake answers where all before it is right."""
    exercise = module(name).exercise
    found = dict(numbers) | solve(exercise, dict(numbers))
    [asked] = [p for p in exercise.parts if p.name == part]
    [slip] = [m for m in asked.misconceptions if m.name == mistake]
    return evaluate(asked, slip, found)


def test_points_and_their_order():
    loaded = load_assignment(Course.load(ROOT), ID)
    assert [id for id in loaded.sound if id in POINTS] == list(POINTS)
    for id, points in POINTS.items():
        assert loaded.sound[id].points == sum(points), id


class TestRowEntropy:
    def test_reference(self):
        found = solve(module("row_entropy").exercise, {})
        same(found["H"], [1.017357, 1.017357, 0.9753278])
        same(found["largest"], 1.098612)
        same(found["bits"], 1.467736)
        same(found["effective"], [2.765875, 2.765875, 2.652036])
        same(found["causal_largest"], [0, 0.6931472, 1.098612, 1.386294, 1.609438])

    def test_mistakes(self):
        same(wrong("row_entropy", "bits", "base_ten"), 0.4418326)
        same(wrong("row_entropy", "H", "summed"), 3.010042)
