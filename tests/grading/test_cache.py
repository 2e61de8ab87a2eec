"""What is worked out once for a class: the same answer as if it were worked out for each."""

import weakref

import numpy as np
import pytest
import sympy

from autograder import algebra
from autograder.exercise import Exercise, Formula, Matrix, Numbers
from autograder.exercise.cache import Unfamiliar, Values, deepcopied, remembered
from autograder.exercise.standing_in import replaceable, standing_in
from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.given import given, made
from autograder.grading.parts import grade_parts


def exercise_with(compute, answer=None):
    exercise = Exercise("once", title="Once", source="test")
    exercise.part(points=1, answer=answer or Numbers())(compute)
    return exercise


def test_a_function_runs_once_for_the_same_values():
    calls = []

    def total(x):
        """Sum."""
        calls.append(x)
        return x.sum()

    exercise = exercise_with(total)
    for _ in range(3):
        assert solve(exercise, {"x": np.arange(3.0)})["total"] == 3
    assert len(calls) == 1
    assert solve(exercise, {"x": np.arange(4.0)})["total"] == 6


def test_nobody_changes_what_the_next_one_gets():
    def doubled(x):
        """Twice."""
        x *= 2  # an author's slip, which must stay without consequences for others
        return x

    exercise = exercise_with(doubled)
    variant = {"x": np.ones(2)}
    for _ in range(2):
        known = solve(exercise, variant)
        assert known["doubled"].tolist() == [2, 2]
        known["doubled"][:] = 7  # what somebody does with a result
        assert variant["x"].tolist() == [1, 1]


def test_a_matrix_of_formulas_is_plain_data_that_nobody_shares():
    x, seen = sympy.Symbol("x"), []

    def trace(T):
        """The trace."""
        seen.append(T)
        T.expression[0, 0] = 0  # an author's slip, again
        return 2

    exercise = exercise_with(trace)
    for entry in (x, x, x + 1):
        T = sympy.Matrix([[entry, 0], [0, x]])
        assert solve(exercise, {"T": T})["trace"] == 2
        assert T[0, 0] == entry
    assert len(seen) == 2


def test_a_matrix_that_somebody_has_written_before_is_nobody_else_s():
    for _ in range(2):
        read = Matrix("x").read("x 0; 0 1")
        assert str(read.tolist()) == "[[x, 0], [0, 1]]"
        read[0, 0] = 0


@pytest.mark.parametrize(
    ("a", "b"),
    [(1, 1.0), (1, True), (0.0, -0.0), (np.float32(1), np.float64(1)), ([1], (1,)), (1, "1")],
)
def test_values_that_compare_equal_are_not_taken_for_each_other(a, b):
    assert Values({"x": a}).key == Values({"x": a}).key
    assert Values({"x": a}).key != Values({"x": b}).key


@pytest.mark.parametrize("size", [1, 1000])
def test_arrays_are_the_same_bit_for_bit(size):
    nan = np.array([np.nan, *np.arange(size)])
    other = nan.copy()
    assert Values(nan).key == Values(other).key
    assert Values(nan).key != Values(nan.astype(np.float32)).key
    other[-1] += 1
    assert Values(nan).key != Values(other).key
    assert Values(np.ones((2, 3 * size))).key != Values(np.ones((3, 2 * size))).key
    assert Values(np.ones((size, 3))[:, ::2]).key == Values(np.ones((size, 2))).key


def test_tensors_are_the_same_entry_for_entry_and_what_is_made_for_its_arguments():
    torch = pytest.importorskip("torch")
    ones = torch.ones(3)
    assert Values(ones).key == Values(torch.ones(3)).key
    others = [ones.double(), ones.bfloat16(), ones[:2], 2 * ones, torch.ones(3, requires_grad=True)]
    assert len({Values(each).key for each in [ones, *others]}) == 6
    with pytest.raises(Unfamiliar):  # what hangs on others is more than its entries
        Values(2 * others[-1])
    with pytest.raises(Unfamiliar, match="without plain numbers"):
        Values(torch.eye(3).to_sparse())
    assert Values(made(np.eye, 3)).key == Values(made(np.eye, 3)).key
    assert Values(made(np.eye, 3)).key not in (
        Values(made(np.eye, 4)).key,
        Values(given(np.eye)).key,
    )


def test_of_large_values_little_is_kept():
    @remembered()
    def total(values):
        return float(values.values.sum())

    ones = np.ones(1_000_000)
    seen = weakref.ref(ones)
    assert total(Values(ones)) == 1e6
    del ones
    assert seen() is None


def test_what_is_no_plain_data_is_worked_out_each_time():
    class Own:
        calls = 0

        def __float__(self):
            Own.calls += 1
            return 1.0

    def number(x):
        """A number."""
        return float(x)

    with pytest.raises(Unfamiliar):
        Values(Own())
    exercise = exercise_with(number)
    for _ in range(2):
        assert evaluate(exercise.parts[0], exercise.parts[0], {"x": Own()}) == 1
    assert Own.calls == 2


def test_exceptions_and_what_is_not_sure_are_not_kept():
    results = iter([None, 3, 4])
    ask = remembered(lambda result: result is not None)(lambda: next(results))
    assert [ask(), ask(), ask()] == [None, 3, 3]
    fails = remembered()(lambda: 1 / next(zeros))
    zeros = iter([0, 2])
    with pytest.raises(ZeroDivisionError):
        fails()
    assert fails() == 0.5


def test_the_oldest_are_forgotten():
    asked = []
    ask = remembered(size=2)(lambda x: asked.append(x) or x)
    for x in (1, 2, 1, 3, 1, 2):
        assert ask(x) == x
    assert asked == [1, 2, 3, 2]


def test_one_student_s_formula_is_compared_once_for_all(monkeypatch):
    compared = []
    equivalent = algebra.equivalent

    def counting(*args, **kwargs):
        compared.append(args)
        return equivalent(*args, **kwargs)

    monkeypatch.setattr(algebra, "equivalent", counting)

    def slope():
        """The slope."""
        return "2*w_slope"

    exercise = exercise_with(slope, Formula("w_slope"))
    scores = [
        grade_parts(exercise, {}, {"slope": text}.__getitem__)[0].score
        for text in ("w_slope + w_slope*1", "w_slope", "w_slope*2", "w_slope")
    ]
    assert scores == [1, 0, 1, 0]
    assert len(compared) == len(set(compared))


def test_a_copy_is_equal_and_shares_nothing_that_can_change():
    rows = np.arange(6.0).reshape(2, 3).T
    value = {"a": [rows, (rows, {1})], "b": "text", "c": np.array([[1], None], dtype=object)}
    copy = deepcopied(value)
    assert repr(copy) == repr(value)
    assert copy["a"][0].strides == rows.strides
    copy["a"][0][:] = copy["a"][1][0][:] = 0
    copy["a"][1][1].add(2)
    copy["c"][0].append(2)
    assert rows.sum() == 15
    assert value["a"][1][1] == {1}
    assert value["c"][0] == [1]


class TestStandIns:
    """Students' functions stand in for what remembered functions build on, or don't."""

    def remembering(self):
        calls = []
        half = replaceable(lambda x: x / 2, "half")

        @remembered()
        def built(x):
            calls.append(x)
            return half(x) + 1

        @remembered()
        def outer(x):
            return 10 * built(x)

        return outer, calls

    def test_what_builds_on_one_is_the_students_alone(self):
        outer, calls = self.remembering()
        assert outer(3) == 25
        with standing_in({"half": lambda x: x // 2}):
            assert [outer(3), outer(3)] == [20, 20]
        assert (outer(3), calls) == (25, [3, 3, 3])

    def test_what_builds_on_none_of_them_is_remembered_all_the_same(self):
        outer, calls = self.remembering()
        with standing_in({"third": lambda x: x // 3}):
            assert outer(3) == 25
        with standing_in({"third": lambda x: x}):
            assert outer(3) == 25
        assert (outer(3), calls) == (25, [3])

    def test_what_is_known_inside_counts_as_called(self):
        outer, calls = self.remembering()
        with standing_in({"third": lambda x: x}):
            built = outer(5)
        with standing_in({"half": lambda _: 0}):
            assert outer(5) == 10
        assert (built, outer(5), calls) == (35, 35, [5, 5])
