"""Inputs of checks that measure are drawn once for a class, and fresh for every call."""

from functools import partial

import numpy as np
import pytest

from autograder.exercise.checks.drawn import drawing
from autograder.exercise.standing_in import replaceable, standing_in

SIZES = (3, 5, 3, 3)


def arrays(seed, sizes, scale=1.0):
    rng = np.random.default_rng(seed)
    with drawing(lambda n: (scale * rng.normal(size=n), n)) as make:
        found = [make(n)[0] for n in sizes]
    return found, rng.normal()


def test_each_call_has_fresh_inputs_and_every_submission_the_same():
    (first, after), (again, behind) = arrays(1, SIZES), arrays(1, (5, 3, 3, 3, 5, 5))
    assert len({each.tobytes() for each in first}) == len(SIZES)
    assert [id(first[i]) for i in (0, 1, 2, 3)] == [id(again[i]) for i in (1, 0, 2, 3)]
    assert after == behind  # however often something was measured


@pytest.mark.parametrize(("seed", "scale"), [(2, 1.0), (1, 2.0)])
def test_what_they_are_made_from_tells_inputs_apart(seed, scale):
    [[usual], _], [[other], _] = arrays(1, [3]), arrays(seed, [3], scale)
    assert not np.array_equal(usual, other)


def test_nobody_can_change_them():
    with pytest.raises(ValueError, match="read-only"):
        arrays(1, [3])[0][0][0] = 1


def test_what_a_students_function_makes_is_not_remembered():
    twice = replaceable(lambda x: 2 * x, "twice")

    def drawn(own):
        rng = np.random.default_rng(3)
        with standing_in(own), drawing(lambda n: (twice(rng.normal(size=n)),)) as make:
            return make(4)[0]

    right = drawn({})
    assert np.array_equal(drawn({"twice": lambda x: 3 * x}), 1.5 * right)
    assert np.array_equal(drawn({}), right)


def test_what_is_drawn_from_something_else_stays_as_it_is():
    rng, ones = np.random.default_rng(0), partial(np.ones)
    for make in (lambda n: (np.ones(n),), lambda n: (rng.normal(size=n), ones(n))):
        with drawing(make) as drawn:
            assert drawn is make
