"""Decisions by processor time, with clocks that are given by formulas."""

import numpy as np
import pytest

from autograder.exercise import Inconclusive, Mismatch, no_slower
from autograder.exercise.checks import clocks
from autograder.grading.yardstick import Yardstick
from autograder.sandbox import WireError
from autograder.sandbox.replies import counted

from .course import attention, draw


def rows(i, x):
    return x[i]


def make(n):
    return (np.ones((n, 1)),)


class Simulated:
    """A submission and a reference that take the given seconds, give or take some noise."""

    clocked = True
    curve = None

    def __init__(self, own, reference=lambda n: 1e-5 * n, *, noise=0.02):
        self.own, self.reference, self.noise = own, reference, noise
        self.rng = np.random.default_rng(0)
        self.calls = []

    def _take(self, formula, x):
        self.calls.append(len(x))
        return x, formula(len(x)) * (1 + self.noise * self.rng.exponential())

    def seconds(self, x):
        return self._take(self.own, x)

    def reference_seconds(self, x):
        return self._take(self.reference, x)

    def remark(self, note, _feedback):
        self.note = note


def decide(call, at_most=1):
    clocks.decide(call, make, at_most, rows)


def linear(n):
    return 1e-5 * n


def quadratic(n):
    return 1e-8 * n**2


def test_growth_is_told_by_its_exponent():
    decide(Simulated(linear))
    with pytest.raises(Mismatch, match=r"grows like n\^2.0") as caught:
        decide(Simulated(quadratic))
    assert caught.value.kind == "time"
    decide(Simulated(quadratic, quadratic), at_most=2)


def test_a_constant_for_each_call_hides_nothing():
    with pytest.raises(Mismatch):
        decide(Simulated(lambda n: 1e-3 + quadratic(n), lambda n: 1e-3 + 1e-7 * n))
    decide(Simulated(lambda n: 1e-3 + 1e-7 * n, lambda n: 1e-3 + 1e-7 * n))


def test_what_is_between_is_withheld_after_three_attempts():
    call = Simulated(lambda n: 1e-6 * n**1.5, noise=0.5)
    with pytest.raises(Inconclusive, match="clearly enough"):
        decide(call)
    assert call.calls.count(250) > 3 * 2 * 3  # three attempts of three rounds


def test_a_machine_that_cannot_time_the_reference_judges_nobody():
    with pytest.raises(Inconclusive):
        decide(Simulated(quadratic, quadratic))


def test_time_that_was_spent_elsewhere_is_no_pass():
    with pytest.raises(Inconclusive, match="elsewhere"):
        decide(Simulated(lambda n: 1e-3 + 1e-9 * n))


def test_what_is_slow_is_judged_at_smaller_sizes():
    call = Simulated(lambda n: 2e-5 * n**2, lambda n: 2e-5 * n)
    with pytest.raises(Mismatch):
        decide(call)
    assert max(call.calls) <= 500
    with pytest.raises(Inconclusive, match="too slow"):
        decide(Simulated(lambda _: 1.0))


def test_a_wrong_row_is_no_time():
    call = Simulated(linear)
    with pytest.raises(Mismatch, match="some rows"):
        clocks.decide(call, make, 1, lambda i, x: x[i] + 1)


def test_a_picture_takes_no_long_calls():
    quick, slow = Simulated(lambda n: 2e-6 * n, lambda n: 1e-6 * n), Simulated(quadratic)
    slowest = Simulated(lambda n: 1e-5 * n**2)
    for call in (quick, slow, slowest):
        clocks.draw(call, make, rows)
        assert len(call.curve.n) == len(call.curve.seconds) == len(call.curve.reference)
    assert (quick.curve.n[-1], slow.curve.n[-1]) == (5000, 2000)
    assert slowest.curve.n == [16, 32, 64]
    assert max(slowest.calls) == 250


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ((np.arange(3.0), np.ones((3, 2))), None),
        ([np.arange(3.0), np.ones((3, 2))], None),
        ((np.arange(3.0), np.ones((3, 2)) + 1e-3), "some rows of entry 2 of the result are wrong"),
        ((np.arange(3.0), np.ones((3, 1))), "entry 2 of the result has rows of another length"),
        ((np.arange(2.0), np.ones((3, 2))), "entry 1 of the result has not n rows"),
        (([[1.0], [1.0, 2.0]], np.ones((3, 2))), "entry 1 of the result has not n rows"),
        ((np.arange(3.0),), "not a tuple of 2 arrays"),
        (np.ones((3, 2)), "not a tuple of 2 arrays"),
    ],
)
def test_a_tuple_is_compared_entry_by_entry(value, complaint):
    def rows(i, _):
        return i, np.ones((len(i), 2))

    if complaint is None:
        clocks.checked(value, (None,), rows, 3, count=3)
        return
    with pytest.raises(Mismatch, match=f"for n = 3 .*{complaint}"):
        clocks.checked(value, (None,), rows, 3, count=3)


def test_a_tuple_in_the_place_of_an_array_is_refused():
    with pytest.raises(Mismatch, match="has not n rows"):
        clocks.checked((np.ones(3), np.ones((3, 2))), (None,), lambda i, _: i, 3)


def test_a_ratio_is_judged_or_withheld():
    no_slower(Simulated(lambda n: 3e-5 * n), make, than=5, rows=rows)
    with pytest.raises(Mismatch, match="10 times as long") as caught:
        no_slower(Simulated(lambda n: 1e-4 * n), make, than=5, rows=rows)
    assert caught.value.kind == "slow"
    with pytest.raises(Inconclusive):
        no_slower(Simulated(lambda n: 5.5e-5 * n, noise=0), make, than=5, rows=rows)


def test_without_a_clock_nothing_is_compared():
    call = Simulated(quadratic)
    call.clocked = False
    no_slower(call, make, rows=rows)
    assert (call.note, call.calls) == ("not_timed", [])


def test_the_reference_is_called_in_a_process_of_its_own():
    args = draw(np.random.default_rng(0), 40)
    with Yardstick() as yardstick:
        value, seconds = yardstick.timed(attention, *args)
        assert np.allclose(value, attention(*args))
        assert seconds > 0
        nowhere = {}
        exec("def f(x): return 2 * x", nowhere)
        assert yardstick.timed(nowhere["f"], 3) == (6, None)


@pytest.mark.parametrize(
    "work",
    [
        None,
        {},
        {"flops": 1, "largest": 1, "peak": 1, "steps": 1, "operations": 1},
        {"flops": 1.5, "largest": 1, "peak": 1, "steps": 1, "operations": 1, "shapes": []},
        {"flops": True, "largest": 1, "peak": 1, "steps": 1, "operations": 1, "shapes": []},
        {"flops": -1, "largest": 1, "peak": 1, "steps": 1, "operations": 1, "shapes": []},
        {"flops": 1, "largest": 1, "peak": 1, "steps": 1, "operations": 1, "shapes": [[1]]},
        {"flops": 1, "largest": 1, "peak": 1, "steps": 1, "operations": 1, "shapes": [("1",)]},
    ],
)
def test_counts_that_are_none_are_refused(work):
    with pytest.raises(WireError):
        counted(work)
