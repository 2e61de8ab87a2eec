"""Inputs of checks that measure are drawn once for a class, and fresh for every call."""

import itertools
from functools import partial

import numpy as np
import pytest

from autograder.exercise.checks import drawn
from autograder.exercise.checks.drawn import drawing, right_rows
from autograder.exercise.standing_in import replaceable, standing_in

SIZES = (3, 5, 3, 3)


@pytest.fixture(autouse=True)
def nothing_drawn(monkeypatch):
    """What other tests of this process drew may leave no room for more."""
    monkeypatch.setattr(drawn, "_inputs", drawn._Inputs())


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


def test_where_not_all_has_room_what_is_asked_for_stays_until_nobody_asks(monkeypatch):
    monkeypatch.setattr(drawn, "_KEPT", 2 * 8 * 41)
    monkeypatch.setattr(drawn, "_LASTING", 20)
    submissions = [arrays(31, (40, 40, 40))[0] for _ in range(3)]
    for first, second in itertools.pairwise(submissions):
        assert [first[i] is second[i] for i in range(3)] == [True, True, False]
    others = [arrays(32, (40, 40))[0] for _ in range(20)]
    assert others[-1][0] is others[-2][0]


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


ASKED = []
shift = replaceable(lambda x: x + 1, "shift")


def rows(i, x):
    ASKED.append(i)
    return shift(x[i])


def looked_at(seed, own, count=3):
    """Look twice at the result for one input, and return what is looked at, and how it came."""
    ASKED.clear()
    rng = np.random.default_rng(seed)
    with standing_in(own), drawing(lambda n: (rng.normal(size=n),)) as make:
        args = make(500)
        found = [right_rows(rows, args, 500, count) for _ in range(2)]
    for places, right in found:
        assert np.array_equal(right, own.get("shift", lambda x: x + 1)(args[0][places]))
        assert len(places) in (count, count + 1)
        assert places[-1] == 499  # where a last block ends
    return found[0][0], len(ASKED)


def test_right_rows_are_worked_out_once_for_each_input():
    (first, worked_out), (again, remembered) = looked_at(11, {}), looked_at(11, {})
    assert (worked_out, remembered) == (1, 0)
    assert np.array_equal(first, again)
    assert looked_at(11, {}, count=4)[1] == looked_at(12, {})[1] == 1


def test_rows_are_drawn_by_chance():
    assert len({looked_at(seed, {})[0].tobytes() for seed in range(20, 28)}) > 1


def test_right_rows_that_a_students_function_makes_are_not_remembered():
    looked_at(13, {})
    assert looked_at(13, {"shift": lambda x: x + 2})[1] == 2
    assert looked_at(13, {})[1] == 0


def test_right_rows_of_other_inputs_are_not_remembered():
    ASKED.clear()
    for _ in range(2):
        right_rows(rows, (np.ones(5),), 5, 3)
    assert len(ASKED) == 2
