"""One mistake in several functions of an exercise, and in its answers, is paid for once."""

import numpy as np
import pytest

from autograder.exercise import Exercise, Numbers, agree
from autograder.grading.one_exercise import Assigned
from autograder.grading.submission import SubmissionRun, grade_submission
from autograder.sandbox import Limits, Zygote

pytestmark = pytest.mark.sandbox


def spreads():
    """An answer and two functions, in which n − 1 is taken for n, and one more mistake."""
    exercise = Exercise("spreads", title="Spreads", source="none")

    @exercise.part(points=1, answer=Numbers())
    def by_hand():
        """The variance of 1, 2, 6."""
        return np.var([1, 2, 6])

    @by_hand.misconception()
    def one_less():
        """A spread is divided by n, not by n − 1."""
        return np.var([1, 2, 6], ddof=1)

    @exercise.reference
    def variance(x):
        return np.var(x)

    @exercise.check(points=3)
    def variances(call, rng):
        """Variances."""
        x = rng.normal(size=5)
        agree(call(x), np.var(x))

    @exercise.misconception
    def one_less_in_code(x):
        """A spread is divided by n, not by n − 1."""
        return np.var(x, ddof=1)

    @exercise.reference
    def deviation(x):
        return np.std(x)

    @exercise.check(points=2)
    def deviations(call, rng):
        """Deviations."""
        x = rng.normal(size=5)
        agree(call(x), np.std(x))

    @exercise.misconception
    def one_less_below_the_root(x):
        """A spread is divided by n, not by n − 1."""
        return np.std(x, ddof=1)

    @exercise.misconception
    def no_root(x):
        """The root is missing."""
        return np.var(x)

    return exercise


@pytest.fixture(scope="module")
def scores():
    """A function that grades a cell, and returns the scores and the feedback."""
    with Zygote(limits=Limits(cell_seconds=1.0, call_seconds=2.0)) as zygote:

        def scores(variance, deviation, by_hand):
            source = f"import numpy as np\nby_hand = {by_hand}\n"
            source += f"def variance(x): return {variance}\ndef deviation(x): return {deviation}\n"
            cells = [
                {
                    "cell_type": "code",
                    "id": id,
                    "metadata": {"nbgrader": {"grade_id": id}},
                    "source": text,
                    "outputs": [],
                    "execution_count": None,
                }
                for id, text in (("spreads", source), ("check_spreads", ""))
            ]
            notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
            assigned = [Assigned("spreads", spreads(), 6)]
            grade, _ = grade_submission(SubmissionRun("a01", "ada", notebook, assigned, zygote))
            items = {item.name: item for item in grade.exercises[0].items}
            names = ("by_hand", "variances", "deviations")
            return [items[name].score for name in names], items["deviations"].feedback

        yield scores


@pytest.mark.parametrize(
    ("variance", "deviation", "by_hand", "due"),
    [
        ("np.var(x)", "np.std(x)", "14/3", [1, 3, 2]),
        ("np.var(x, ddof=1)", "np.std(x, ddof=1)", "14/3", [1, 1.2, 2]),
        ("np.var(x, ddof=1)", "np.std(x, ddof=1)", "7", [1, 1.2, 2]),
        ("np.var(x)", "np.std(x, ddof=1)", "7", [1, 3, 0.8]),
        ("np.var(x, ddof=1)", "np.var(x)", "14/3", [1, 1.2, 0.8]),
    ],
)
def test_one_mistake_in_several_functions_and_answers_is_paid_for_where_it_is_dearest(
    scores, variance, deviation, by_hand, due
):
    found, said = scores(variance, deviation, by_hand)
    assert found == due
    paid = due == [1, 1.2, 2]
    assert ("paid for with" in said) == paid
