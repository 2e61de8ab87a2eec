"""What an answer in numbers earns: four digits everything, fewer half, arrays by their share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.exercise import Choice, Count, Numbers

KIND = Numbers()


def credit(given, right, kind=KIND):
    right = kind.read(right)
    return kind.judge(kind.read(given, like=right), right).credit


@given(st.floats(-1e6, 1e6).filter(lambda x: abs(x) > 1e-9), st.integers(4, 9))
def test_four_digits_suffice_whatever_the_size(number, digits):
    assert credit(f"{number:.{digits - 1}e}", number) == 1
    assert credit(float(f"{number:.{digits}g}"), number) == 1


@given(st.floats(1e-5, 1e5))
def test_the_tolerance_has_no_cliff(number):
    at, beside = KIND._tolerance(number), KIND._tolerance(number * 1.001)
    assert at <= beside <= at * 1.0011


def test_an_array_earns_its_share_where_half_is_right():
    right = [0.1, 0.2, 0.3, 0.4]
    assert credit([0.1, 0.2, 0.3, 0.9], right) == 0.75
    assert credit([0.1, 0.2, 0.8, 0.9], right) == 0.5
    assert credit([0.1, 0.7, 0.8, 0.9], right) == 0
    assert credit([0.1, 0.2, 0.3, 0.9], right, Numbers(whole=True)) == 0
    assert credit([1, 2, 9], [1, 2, 3], Count()) == pytest.approx(2 / 3)
    assert credit([1, 2, 9], [1, 2, 3], Count(whole=True)) == 0


def test_entries_that_come_with_a_guess_earn_nothing():
    mask = np.tril(np.random.default_rng(0).random((3, 3)))
    mask[0, 0] = 0
    assert credit(np.zeros((3, 3)), mask) == 0
    assert credit(np.ones((2, 2)), [[1, 1], [1, 0.5]]) == 0


def test_nan_and_infinity_are_right_where_they_are_asked_for():
    kind = Numbers(special=True)
    assert credit("inf nan -inf", [np.inf, np.nan, -np.inf], kind) == 1
    assert credit("inf 2 -inf", [np.inf, np.nan, -np.inf], kind) < 1


@given(st.integers(1, 6), st.integers(0, 2**8 - 1))
def test_letters_at_random_earn_nothing_on_average(apply, marks):
    options = "ABCDEFGH"
    kind, right = Choice(options, multiple=True), options[:apply]
    given = "".join(o for i, o in enumerate(options) if marks >> i & 1)
    mirrored = "".join(o for o in options if o not in given)  # as likely as the other
    earned = [credit(letters or "none", right, kind) for letters in (given, mirrored)]
    assert min(earned) == 0
    assert credit(options, right, kind) == 0
