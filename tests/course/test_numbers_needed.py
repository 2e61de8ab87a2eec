"""Variants that have the same numbers for a part are tried once, and all of them are told of."""

import numpy as np
import pytest

from autograder.course.proofs import part_proofs
from autograder.course.proofs.discrimination import part_twins
from autograder.course.proofs.numbers_needed import alike
from autograder.course.proofs.part_proofs import part_problems
from autograder.exercise import Choice, Exercise, Numbers

POOL = [{"k": k, "x": np.array([k, i])} for i in range(4) for k in (2, 3)]


@pytest.fixture
def exercise():
    exercise = Exercise("small", title="A small one", source="None")

    @exercise.part(points=1, answer=Numbers())
    def double(k):
        """Twice k."""
        return 2 * k

    @double.alternative
    def squared(k):
        """Right for 2 alone."""
        return k**2

    @double.misconception
    def one_more(k):
        """One more."""
        return k + 1

    @double.misconception
    def for_three(k):
        """The same where k is 3."""
        return 4 if k == 3 else 0

    @exercise.part(points=1, answer=Numbers())
    def last(double, x):
        """The last entry, twice k added."""
        return double + x[-1]

    @exercise.part(points=1, answer=Numbers())
    def nothing():
        """One."""
        return 1

    return exercise


def test_a_part_is_tried_with_each_of_its_numbers_once(exercise, monkeypatch):
    tried, right = [], part_proofs._Case
    monkeypatch.setattr(
        part_proofs, "_Case", lambda *asked: tried.append(asked[-1]) or right(*asked)
    )
    double, last, nothing = exercise.parts
    found = part_problems(exercise, double, POOL)
    assert [variant["k"] for variant in tried] == [2, 3]
    wrong = "`squared` is right but fails"
    (said,) = [text for text in found if wrong in text]
    assert said.endswith(" in 4 of 8 variants (1, 3, 5, 7)")
    tried.clear()
    part_problems(exercise, last, POOL)
    assert len(tried) == 8
    tried.clear()
    part_problems(exercise, nothing, POOL)
    assert len(tried) == 1


def test_mistakes_that_agree_do_so_in_all_variants_with_these_numbers(exercise):
    (twins,) = part_twins(exercise, exercise.parts[0], POOL)
    assert (twins.variants, twins.of) == ([1, 3, 5, 7], 8)


def test_another_kind_of_number_or_order_and_what_nobody_knows_are_others(exercise):
    double, *_ = exercise.parts
    asked = [{"k": 1}, {"k": 1.0}, {"k": 1}, {"k": True}, {"k": object()}, {"k": object()}]
    assert alike(exercise, double, asked) == [[0, 2], [1], [3], [4], [5]]
    choice = Exercise("chosen", title="Chosen", source="None")

    @choice.part(points=1, answer=Choice(["one", "two"]))
    def which(k):
        """Which?"""
        return "A" if k else "B"

    orders = [{"k": 1, "orders": {"which": order}} for order in ("AB", "BA", "AB")]
    assert alike(choice, choice.parts[0], orders) == [[0, 2], [1]]
