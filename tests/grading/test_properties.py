"""Each property accepts what has it, and refuses what hasn't in a sentence."""

import time

import numpy as np
import pytest

from autograder.exercise import Mismatch
from autograder.exercise.properties import (
    causal,
    drawn,
    each_by_itself,
    is_gradient,
    keeps_dtype,
    leaves_alone,
    permutation_equivariant,
    permutation_invariant,
    refuses,
    rows_sum_to_one,
    shift_invariant,
    took_work,
    worked,
)
from autograder.grading.interview import Interview


@pytest.fixture
def rng():
    return np.random.default_rng(0)


X = np.arange(12.0).reshape(4, 3) ** 1.5


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attend(x):
    return softmax(x @ x.T / 50) @ x


def look_back(x):
    return np.cumsum(x, axis=-2)


def no_negatives(x):
    if (x < 0).any():
        raise ValueError("no")
    if x.ndim > 1:
        raise TypeError("no")
    return x


def grown_in_place(x):
    x += 1
    return x


HAVE = {
    "permutation_equivariant": lambda rng: permutation_equivariant(attend, X, rng),
    "permutation_invariant": lambda rng: permutation_invariant(lambda x: x.sum(-2), X, rng),
    "shift_invariant": lambda _: shift_invariant(softmax, X, 3.0),
    "causal": lambda rng: causal(look_back, X, rng),
    "each_by_itself": lambda _: each_by_itself(look_back, np.stack([X, 2 * X])),
    "keeps_dtype": lambda _: keeps_dtype(softmax, X),
    "leaves_alone": lambda _: leaves_alone(Interview(softmax), X),
    "is_gradient": lambda _: is_gradient(2 * X, lambda x: (x**2).sum(), X),
    "rows_sum_to_one": lambda _: rows_sum_to_one(softmax(X)),
    "refuses": lambda _: refuses(no_negatives, -X),
}
HAVE_NOT = {
    "in another way than by rows": lambda rng: permutation_equivariant(look_back, X, rng),
    "depends on the order of the positions": lambda rng: permutation_invariant(look_back, X, rng),
    "the same is added everywhere": lambda _: shift_invariant(np.tanh, X, 3.0),
    "depends on later positions": lambda rng: causal(attend, X, rng),
    "of a batch": lambda _: each_by_itself(lambda x: x - x.mean(), np.stack([X, 2 * X])),
    "for float32 inputs the result came out as float64": lambda _: keeps_dtype(
        lambda x: x + np.eye(4, 3), X
    ),
    "changed in place": lambda _: leaves_alone(Interview(grown_in_place), X.copy()),
    "central differences": lambda _: is_gradient(X, lambda x: (x**2).sum(), X),
    "should be \\(4, 3\\)": lambda _: is_gradient(X[0], lambda x: (x**2).sum(), X),
    "add up to 1": lambda _: rows_sum_to_one(X),
    "negative": lambda _: rows_sum_to_one(-X),
    "and are accepted": lambda _: refuses(no_negatives, X[0]),
    "should raise ValueError$": lambda _: refuses(no_negatives, X),
}


def constant(x):
    return np.full(x.shape, 0.25)


#: What does nothing, and no property may take for something.
IDLE = {
    "the same": lambda x: x,
    "zeros": np.zeros_like,
    "a constant": constant,
    "NaN": lambda x: np.full(x.shape, np.nan),
}
CONTROLLED = {
    "permutation_equivariant": lambda f, rng: permutation_equivariant(f, X, rng),
    "permutation_invariant": lambda f, rng: permutation_invariant(f, X, rng),
    "shift_invariant": lambda f, _: shift_invariant(f, X, 3.0),
    "causal": lambda f, rng: causal(f, X, rng),
    "each_by_itself": lambda f, _: each_by_itself(f, np.stack([X, 2 * X])),
}


@pytest.mark.parametrize("idle", IDLE)
@pytest.mark.parametrize("name", CONTROLLED)
def test_what_does_nothing_has_no_property(name, idle, rng):
    with pytest.raises(Mismatch):
        CONTROLLED[name](IDLE[idle], rng)


def test_one_number_that_never_changes_is_no_invariant(rng):
    with pytest.raises(Mismatch, match="depend on what goes in"):
        permutation_invariant(lambda _: 1.0, X, rng)
    with pytest.raises(Mismatch, match="depend on what goes in"):
        shift_invariant(lambda _: 1.0, X, 3.0)


@pytest.mark.parametrize("name", HAVE)
def test_what_has_a_property_passes(name, rng):
    HAVE[name](rng)


@pytest.mark.parametrize("says", HAVE_NOT)
def test_what_lacks_it_is_told_so(says, rng):
    with pytest.raises(Mismatch, match=says):
        HAVE_NOT[says](rng)


def test_what_comes_at_once_took_no_work():
    def training(steps):
        return float(sum(np.linalg.norm(np.outer(np.arange(300.0), np.ones(300))) for _ in steps))

    def asked_once(function):
        call = Interview(function)
        call.once(300)
        return call

    took_work(asked_once(lambda steps: training(range(steps))), lambda: training(range(3)))
    kept = training(range(2))
    with pytest.raises(Mismatch, match="it came at once"):
        took_work(asked_once(lambda _: kept), lambda: training(range(3)))


def spread(seed):
    return np.random.default_rng(seed).standard_normal(200_000).std()


def spread_in_theory(seed):
    return 1 + 0.0016 * np.random.default_rng(seed).standard_normal()


class OnTheClock:
    """A call in another process, which has a clock to read."""

    def __init__(self, function):
        self.function = function

    def seconds(self, *args):
        began = time.thread_time()
        return self.function(*args), time.thread_time() - began


@pytest.mark.parametrize("called", [Interview, OnTheClock])
def test_noise_of_the_right_size_is_no_experiment(called):
    spread(0)
    drawn(called(spread), 1, numbers=200_000)
    with pytest.raises(Mismatch, match="less time than drawing takes"):
        drawn(called(spread_in_theory), 1, numbers=200_000)


def test_no_position_stays_where_it_was(rng):
    seen = []
    permutation_invariant(lambda x: seen.append(x) or x.sum(), X[:2], rng)
    assert (seen[1] == X[1::-1]).all()


def test_what_is_to_be_like_something_has_its_size():
    assert worked(1.3 * X, X, like=X + 1) is not None
    for wrong in (2 * X, X / 2):
        with pytest.raises(Mismatch, match="the result is far larger or smaller"):
            worked(wrong, like=X)
