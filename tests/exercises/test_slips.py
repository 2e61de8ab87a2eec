"""Slips that the engine knows of are not seen where nobody made one."""

import numpy as np
import pytest

from autograder.exercise import Count, Numbers
from autograder.exercise.answers.slips import SLIPS, exchanged_truth, permuted, recognise
from autograder.exercise.words.dependencies import apply, solve
from autograder.exercise.words.variants import draws

from ..loaded import COURSE, assigned

EXERCISES = {
    id: exercise
    for assignment in COURSE.ids()
    for id, exercise in assigned(assignment).sound.items()
    if exercise.parts
}


@pytest.mark.parametrize("id", EXERCISES)
def test_no_slip_is_seen_in_a_right_answer(id):
    exercise = EXERCISES[id]
    for variant in draws(exercise, COURSE.id).pool:
        known = solve(exercise, variant)
        for part in exercise.parts:
            if part.manual:
                continue
            right = known[part.name]
            for compute in (part.compute, *part.alternatives):
                answer = part.answer.read(apply(compute, known))
                assert recognise(part.answer, answer, right) is None, (part.name, variant)


RIGHT = np.array([[0.31, 2.7, 5.0], [1.2, 0.44, 8.1], [0.9, 3.3, 6.6]])


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (-RIGHT, "opposite_sign"),
        (100 * RIGHT, "percent"),
        (RIGHT / 2, "factor_two"),
        (1 / RIGHT, "reciprocal"),
        (RIGHT / np.log(2), "other_logarithm"),
        (RIGHT.T, "transposed"),
        (RIGHT[::-1], "reversed_order"),
        (np.roll(RIGHT, 1, axis=0), "shifted_by_one"),
        (RIGHT[[1, 0, 2]], "permuted"),
        (RIGHT.ravel(), "another_shape"),
        (RIGHT + np.eye(3)[0] * np.eye(3)[0][:, None], "one_entry_wrong"),
        (RIGHT + 1, ""),
        (RIGHT * 1.5, ""),
        (RIGHT * 0.3, ""),  # log10(2) is 0.301
    ],
)
def test_each_slip_is_named(given, name):
    slip = recognise(Numbers(), given.round(4), RIGHT)
    assert (slip.__name__ if slip else "") == name


def test_truth_is_exchanged_and_never_in_another_order():
    right = np.array([[True, False, False], [True, True, False]])
    assert next(exchanged_truth(right, ~right)).tolist() == (~right).tolist()
    assert not list(permuted(right, ~right))


def test_a_number_that_little_is_known_of_shows_no_slip():
    right = np.array(0.3)
    assert recognise(Numbers(tolerance=0.1), np.array(0.6), right) is None
    assert recognise(Numbers(), np.array(0.6), right).__name__ == "factor_two"


def test_what_any_array_is_near_to_shows_no_slip():
    loose, right = Numbers(tolerance=0.2), np.array([0.31, 0.77])
    assert recognise(loose, np.array([0.7, 1.4]), right) is None
    assert recognise(loose, 200 * right, 100 * right).__name__ == "factor_two"
    assert recognise(Numbers(between=(0, 1)), np.array(-0.5), np.array(0.5)) is None


def test_a_count_is_off_by_one_and_a_mean_is_not():
    count, mean = Count(), Numbers()
    assert recognise(count, count.read(10), count.read(9)).__name__ == "off_by_one"
    assert recognise(mean, mean.read(10), mean.read(9)) is None
    assert recognise(count, count.read(3), count.read(2)) is None  # by chance


def test_one_wrong_count_of_several_is_seen():
    count = Count()
    found = recognise(count, count.read([10, 25, 30]), count.read([10, 20, 30]))
    assert found.__name__ == "one_entry_wrong"


def test_every_slip_says_what_is_the_case():
    assert all(len(slip.__doc__) > 20 for slip in SLIPS)
