"""Checks: dependent ones, diagnoses by replay, and whose fault an exception is."""

import re
from dataclasses import FrozenInstanceError, replace
from types import FunctionType

import numpy as np
import pytest

from autograder.exercise import AuthoringError, Exercise, Mismatch, agree, alike, require
from autograder.exercise.standing_in import replaceable
from autograder.exercise.words.checked import Carried
from autograder.grading import expectations
from autograder.grading.checks import grade_checks
from autograder.grading.hidden_words import without_details
from autograder.grading.local import Local
from autograder.grading.results import Status
from autograder.sandbox import StudentError
from autograder.sandbox.wire.requests import Call, GetAttribute


def doubling():
    exercise = Exercise("doubling", title="Doubling", source="none")

    @exercise.reference
    def double(x):
        return 2 * x

    @exercise.check(points=2, visible=True)
    def doubles(call, rng):
        """Doubles every entry."""
        x = rng.normal(size=3)
        agree(call(x), double(x))

    @exercise.check(points=1, after=doubles)
    def keeps_the_type(call, rng):
        """Keeps float32."""
        x = np.ones(2, np.float32)
        require(call(x).dtype == np.float32, "float32 became something else")

    @exercise.check(points=1)
    def leaves_its_input_alone(call, rng):
        """The input is not changed."""
        call(rng.normal(size=3))
        require(not call.modified, "the input was changed")

    @exercise.misconception
    def squares(x):
        """You squared."""
        return x**2

    @exercise.misconception
    def always_double_precision(x):
        """The result is float64."""
        return 2.0 * x.astype(float)

    @exercise.misconception
    def in_place(x):
        """You changed the input."""
        x *= 2
        return x

    return exercise


def grade(call):
    return {item.name: item for item in grade_checks(doubling().functions[0], call)}


def outcome(call):
    return [(i.status.value, i.note) for i in grade(call).values()]


def test_the_right_function_passes():
    assert outcome(lambda x: x + x) == [("passed", "")] * 3


def test_behind_a_known_mistake_the_checks_are_run_and_what_is_right_there_counts():
    items = outcome(lambda x: x * x)
    assert items[:2] == [("failed", "squares"), ("passed", "")]


def test_behind_a_mistake_that_nobody_knows_nothing_is_run():
    assert outcome(lambda x: 2 * x + 1)[1] == ("skipped", "skipped")


def test_the_type_decides_where_the_values_are_right():
    assert outcome(lambda x: 2.0 * np.asarray(x, float))[1] == (
        "failed",
        "always_double_precision",
    )


def test_the_mistake_that_explained_a_check_explains_the_next():
    exercise = Exercise("sizes", title="Sizes", source="none")

    @exercise.reference
    def size(x):
        return abs(x)

    @exercise.check(points=1)
    def of_numbers(call, rng):
        """The size of numbers."""
        agree(call(np.array([-2.0, 3.0])), np.array([2.0, 3.0]))

    @exercise.check(points=1)
    def of_minus_two(call, rng):
        """The size of -2."""
        agree(call(np.array([-2.0])), np.array([2.0]))

    @exercise.misconception
    def as_it_is(x):
        """The sign is still there."""
        return x

    @exercise.misconception
    def never_positive(x):
        """That is minus the size."""
        return -abs(x)

    for wrong in (as_it_is, never_positive):
        items = grade_checks(exercise.functions[0], wrong.compute)
        assert [item.note for item in items] == [wrong.name] * 2


def test_changing_the_input_is_seen():
    def greedy(x):
        x += x
        return x

    assert outcome(greedy)[2] == ("failed", "in_place")


def test_an_unknown_mistake_says_where_without_hidden_values():
    items = grade(lambda x: x + 1)
    assert "was expected" in items["doubles"].feedback  # visible: values are shown
    assert items["doubles"].note == ""


def test_a_students_exception_shows_its_text_for_visible_checks_alone():
    def leaky(x):
        raise StudentError("exception", f"`double` raised ValueError: {x}", type="ValueError")

    items = grade(leaky)
    assert "ValueError: [" in items["doubles"].feedback
    assert items["leaves_its_input_alone"].feedback == (
        "Your function raised ValueError, given an array with 1 axis (float64)."
    )


def test_a_missing_function_is_blank_not_an_error():
    def missing(x):
        raise StudentError("missing", "`double` is not defined")

    assert outcome(missing)[0] == ("failed", "blank")


def test_for_a_blank_nobody_works_out_what_would_have_been_right(monkeypatch):
    """A submission's process alone may wait: a function of ours shares generators with it."""
    looked_at = []
    usual = expectations.expectations
    monkeypatch.setattr(
        expectations, "expectations", lambda *args: looked_at.append(args) or usual(*args)
    )

    class Submitted(Local):
        isolated = True

    def blank(x):
        raise NotImplementedError

    (function,) = doubling().functions
    grade_checks(function, Submitted(blank))
    assert not looked_at
    grade_checks(function, Submitted(lambda x: 2 * x))
    assert len(looked_at) == 3
    grade_checks(function, Local(blank))
    assert len(looked_at) == 5


def test_a_hang_is_paid_for_once():
    calls = []

    def hangs(x):
        calls.append(x)
        raise StudentError("timeout", "`double` took longer than 5 s")

    assert outcome(hangs) == [("failed", "timeout"), ("skipped", "skipped"), ("failed", "timeout")]
    assert len(calls) == 1


def test_a_bug_in_a_check_withholds_its_points():
    exercise = doubling()

    @exercise.check(points=1)
    def broken(call, rng):
        """Broken."""
        raise KeyError("oops")

    item = grade_checks(exercise.functions[0], lambda x: 2 * x)[-1]
    assert (item.status, item.score) == (Status.ERRORED, None)


@pytest.mark.parametrize(
    ("actual", "says"),
    [
        (None, "the weights should be an array of numbers, not None (is a `return` missing?)"),
        ("text", "of type str"),
        (np.zeros((2, 3)), "the shape of the weights is (2, 3); (2,) was expected"),
        ([1.0, np.nan], "there is NaN in the weights"),
        ([1.0, 2.0], "the entry of the weights at index [1] is 2; 1 was expected"),
        ([[1], [1, 2]], "the weights should be an array of numbers, not a ragged list"),
        (np.array([object(), 1]), "the weights should be an array of numbers, not of type ndarray"),
    ],
)
def test_agree_says_what_came_of_one_or_of_many(actual, says):
    with pytest.raises(Mismatch) as caught:
        agree(actual, np.ones(2), what="the weights")
    assert says in caught.value.detail


def test_agree_holds_float32_to_float32_accuracy():
    one = np.ones(2)
    assert alike((one * (1 + 1e-6)).astype(np.float32), one)
    assert not alike(one * (1 + 1e-6), one)


def test_agree_does_not_let_a_small_array_stand_for_a_large_one():
    with pytest.raises(Mismatch, match="shape"):
        agree(2.0, np.full((1000, 1000), 2.0))


def test_agree_unpacks_an_array_like_a_tuple():
    assert alike(np.array([1.0, 2.0]), (1.0, 2.0))
    assert alike(np.ones((2, 3)), (np.ones(3), np.ones(3)))
    assert not alike(np.array([1.0, 3.0]), (1.0, 2.0))
    assert not alike(np.array(1.0), (1.0, 2.0))


def test_agree_wants_booleans_where_booleans_are_due():
    with pytest.raises(Mismatch, match="bool was expected"):
        agree(np.ones(2), np.ones(2, bool))
    with pytest.raises(Mismatch, match="bool was expected"):
        agree(2, True)


def test_one_truth_value_may_be_0_or_1_and_an_empty_list_is_any_empty_array():
    assert alike(1, True)
    assert alike(np.array(0.0), np.False_)
    assert not alike(0, True)
    assert alike([], np.zeros((0, 3), bool))
    assert not alike(np.zeros((0, 2)), np.zeros((0, 3)))
    assert not alike([], np.zeros((1, 3)))


def pair():
    """An exercise with two functions, the second of which undoes the first."""
    exercise = Exercise("pair", title="Pair", source="none")

    @exercise.reference
    def double(x):
        return 2 * x

    @exercise.check(points=1)
    def doubles(call, rng):
        """Twice as much."""
        x = rng.normal(size=3)
        agree(call(x), double(x))

    @exercise.misconception
    def square(x):
        """You squared."""
        return x**2

    @exercise.reference
    def halve(x):
        return x / 2

    @exercise.check(points=2)
    def undoes_it(call, rng):
        """Half of the double is the number."""
        x = rng.normal(size=3)
        agree(call(double(x)), x)

    @exercise.misconception
    def root(x):
        """You took the root."""
        return np.sqrt(abs(x))

    return exercise


def test_what_stands_behind_a_reference_is_about_it():
    first, second = pair().functions
    assert [first.solution.__name__, second.solution.__name__] == ["double", "halve"]
    (item,) = grade_checks(first, first.misconceptions[0])
    assert (item.name, item.note) == ("doubles", "square")
    (item,) = grade_checks(second, second.misconceptions[0])
    assert (item.name, item.note, item.max_score) == ("undoes_it", "root", 2)
    assert [item.score for item in grade_checks(second, second.solution)] == [2]


def test_functions_that_cannot_be_told_apart_are_refused():
    exercise = pair()
    with pytest.raises(AuthoringError, match="two references called `halve`"):
        exercise.reference(exercise.functions[1].solution)
    with pytest.raises(AuthoringError, match="checks another function"):

        @exercise.check(points=1, after=exercise.checks[0])
        def later(call, rng):
            """Comes after a check of the first function."""


def test_a_check_may_give_part_of_its_points_and_lets_others_run():
    exercise = doubling()

    @exercise.check(points=3)
    def keeps_whole_numbers(call, rng):
        """Whole numbers stay whole."""
        x = np.arange(3)
        agree(call(x), 2 * x)
        require(call(x).dtype.kind == "i", "whole numbers became others", credit=0.5)

    @exercise.check(points=1, after=keeps_whole_numbers)
    def of_nothing(call, rng):
        """Nothing stays nothing."""
        agree(call(np.ones(0)), np.ones(0))

    items = {
        i.name: i
        for i in grade_checks(exercise.functions[0], lambda x: (x * 2.0).astype(x.dtype.char))
    }
    assert items["keeps_whole_numbers"].status is Status.PASSED
    items = {i.name: i for i in grade_checks(exercise.functions[0], lambda x: x * 2.0)}
    half = items["keeps_whole_numbers"]
    assert (half.status, half.score, half.note) == (Status.PARTIAL, 1.5, "always_double_precision")
    assert items["of_nothing"].status is Status.PASSED


def test_what_was_computed_in_single_precision_is_told_so():
    x = np.linspace(1, 2, 5)
    with pytest.raises(Mismatch, match="digits of float32 alone"):
        agree((x.astype(np.float32) / 3).astype(float), x / 3)
    with pytest.raises(Mismatch, match="not in value"):
        agree(x / 3 + 1e-3, x / 3)
    with pytest.raises(Mismatch, match="not in value"):
        agree(1e-12 * x, 1e-9 * x)


def building():
    """Mean, and a centred array that builds on it."""
    exercise = Exercise("building", title="Building", source="none")

    @exercise.reference
    def mean(x):
        return x.mean()

    @exercise.check(points=1)
    def averages(call, rng):
        """Is the mean."""
        x = rng.normal(size=3)
        agree(call(x), mean(x))

    @exercise.reference
    def centred(x):
        return x - mean(x)

    @exercise.check(points=2)
    def takes_the_mean_away(call, rng):
        """Is x minus its mean."""
        x, own = rng.normal(size=3), call.own(mean)
        agree(call(x), x - own(x))

    @exercise.misconception
    def added(x):
        """You added the mean."""
        return x + mean(x)

    return exercise


class Submitted(Local):
    def __init__(self, functions, name="centred"):
        self.functions = functions
        super().__init__(functions[name])

    def own(self, solution):
        return Submitted(self.functions, solution.__name__)


@pytest.mark.parametrize(
    ("mean", "centred", "score", "note"),
    [
        (np.mean, lambda x: x - x.mean(), 2, ""),
        (np.sum, lambda x: x - x.sum(), 2, "follow_through"),
        (np.sum, lambda x: x - x.mean(), 2, ""),
        (np.sum, lambda x: x + x.sum(), 0.8, "added"),
        (np.mean, lambda x: x - x.sum(), 0, ""),
    ],
)
def test_a_function_may_build_on_the_students_own(mean, centred, score, note):
    _, function = building().functions
    (item,) = grade_checks(function, Submitted({"mean": mean, "centred": centred}))
    assert (item.score, item.note) == (score, note)


def test_a_mistake_on_top_of_an_own_function_is_named_whatever_the_check_says():
    exercise = building()
    mean = exercise.functions[0].solution

    @exercise.check(points=1)
    def centred_at_all(call, rng):
        """Is centred."""
        x = rng.normal(size=3)
        require(alike(call(x), x - call.own(mean)(x)), "it is not centred")

    _, function = exercise.functions
    submitted = Submitted({"mean": np.sum, "centred": lambda x: x + x.sum()})
    assert [item.note for item in grade_checks(function, submitted)] == ["added"] * 2


@pytest.mark.parametrize(
    ("weights", "score"),
    [(lambda x: np.exp(-x) / np.exp(-x).sum(), 2), (lambda x: np.full(x.shape, 1 / 3), 0)],
)
def test_nothing_follows_from_a_function_that_returns_one_number_everywhere(weights, score):
    exercise = Exercise("weighted", title="Weighted", source="none")

    @exercise.reference
    def right(x):
        return np.exp(x) / np.exp(x).sum()

    @exercise.check(points=1)
    def is_a_softmax(call, rng):
        """Is a softmax."""
        x = rng.normal(size=3)
        agree(call(x), right(x))

    @exercise.reference
    def weighted(x):
        return right(x) * x

    @exercise.check(points=2)
    def weighs(call, rng):
        """Weighs each entry."""
        x, own = rng.normal(size=3), call.own(right)
        agree(call(x), own(x) * x)

    submitted = Submitted({"right": weights, "weighted": lambda x: weights(x) * x}, "weighted")
    (item,) = grade_checks(exercise.functions[1], submitted)
    assert item.score == score


def carrying():
    """Weights of rows, and a mean that an earlier exercise's weights give."""
    first = Exercise("weights", title="Weights", source="none")

    @first.reference
    def weights(x):
        return np.exp(x) / np.exp(x).sum(-1, keepdims=True)

    @first.check(points=1)
    def of_one_row(call, rng):
        """Of one row."""
        x = rng.normal(size=3)
        agree(call(x), weights(x))

    exercise = Exercise("mean", title="Mean", source="none")
    carried = Carried("a01", "weights", first.functions[0])
    weights = replaceable(weights, "weights")

    @exercise.reference
    def weighted(x):
        return (weights(x) * x).sum(-1)

    @exercise.check(points=1)
    def of_a_row(call, rng):
        """Of one row."""
        x = rng.normal(size=4)
        agree(call(x), weighted(x))

    @exercise.check(points=2)
    def of_rows(call, rng):
        """Of several rows."""
        x = rng.normal(size=(3, 4))
        agree(call(x), weighted(x))

    return replace(exercise.functions[0], carried=(carried,))


def one_row(x):
    if np.ndim(x) > 1:
        raise ValueError("one row only")
    return np.exp(x) / np.exp(x).sum()


def flattened(x):
    return (np.exp(x) / np.exp(x).sum(-1, keepdims=True)).ravel()


def nothing(x):
    raise NotImplementedError


def never(x):
    raise ValueError("nothing at all")


def known(x):
    return (np.exp(x) / np.exp(x).sum() * x).sum()


@pytest.mark.parametrize(
    ("weights", "weighted", "scores"),
    [
        (one_row, lambda x: (one_row(x) * x).sum(-1), [1, 2]),
        (flattened, lambda x: (flattened(x) * x).sum(-1), [1, 2]),
        (one_row, lambda x: (one_row(x) * x).sum(), [1, 2]),  # it can't be seen
        (one_row, lambda x: one_row(x).sum(-1), [0, 0]),  # wrong by itself
        (one_row, lambda x: np.linalg.inv(x), [0, 0]),  # another exception
        (nothing, lambda x: (nothing(x) * x).sum(-1), [0, 0]),
        (never, lambda x: known(x) if len(x) == 4 else never(x), [1, 0]),  # nothing was earned
        (never, lambda x: never(x), [0, 0]),
        (flattened, lambda x: 0 * x.sum(-1), [0, 0]),
        (np.exp, lambda x: (np.exp(x) * x).sum(-1), [1, 2]),  # a wrong value is carried as before
    ],
)
def test_what_an_earlier_function_does_not_give_is_paid_for_once(weights, weighted, scores):
    own = {"weights": weights, "weighted": weighted}
    items = grade_checks(carrying(), Submitted(own, "weighted"))
    assert [item.score for item in items] == scores


def twice_the_weights():
    """Twice the weights that an earlier exercise's function gives."""
    function = carrying()
    exercise = Exercise("twice", title="Twice", source="none")
    weights = replaceable(function.carried[0].solution, "weights")

    @exercise.reference
    def twice(x):
        return 2 * weights(x)

    @exercise.check(points=1)
    def of_rows(call, rng):
        """Of several rows."""
        x = rng.normal(size=(3, 4))
        agree(call(x), twice(x))

    @exercise.check(points=1)
    def of_every_row_alone(call, rng):
        """Rows have no part in one another."""
        x = rng.normal(size=(3, 4))
        other = np.concatenate([x[:2], 0 * x[2:]])
        require(alike(call(x)[:2], call(other)[:2]), "other rows have an effect")
        agree(call(x), twice(x))

    return replace(exercise.functions[0], carried=function.carried)


def tiny(x):
    return 1e-200 * np.exp(x)


def large_once(x):
    return np.where(np.arange(x.size).reshape(x.shape) == 2, 5.0, tiny(x))


def fixed(x):
    return np.linspace(0, 1, x.size).reshape(x.shape)


@pytest.mark.parametrize(
    ("weights", "twice", "score"),
    [
        (tiny, lambda x: 2 * tiny(x), 2),  # small, and computed
        (tiny, lambda x: 1e-14 * x, 0),
        (tiny, lambda x: 0 * x, 0),
        (lambda x: 1 + tiny(x), lambda x: 1 + 1e-14 * x, 0),
        (lambda x: 1 + tiny(x), lambda x: 2 + 1e-14 * x, 0),
        (large_once, lambda x: np.where(tiny(x) == large_once(x), 1e-15, 10.0), 0),
        (fixed, lambda x: 2 * fixed(x), 0),
        (lambda x: fixed(x) + 1e-15 * x, lambda x: 2 * fixed(x), 0),
        (lambda x: fixed(x) * x, lambda x: 2 * fixed(x) * x, 2),
        (np.exp, lambda x: 2 * np.exp(x), 2),
        (lambda x: x * (x > 0), lambda x: 2 * x * (x > 0), 2),  # half of it is 0
    ],
)
def test_noise_and_what_ignores_its_input_follow_from_nothing(weights, twice, score):
    items = grade_checks(
        twice_the_weights(), Submitted({"weights": weights, "twice": twice}, "twice")
    )
    assert sum(item.score for item in items) == score


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": 1.0, "b": np.zeros(2)}, "the result['b']"),
        ({"a": 1.0, "c": np.ones(2)}, "no entry 'b'"),
        ({"a": 1.0}, "a dictionary of 2 entries"),
        ([1.0, np.ones(2)], "a dictionary of 2 entries"),
    ],
)
def test_dictionaries_agree_entry_by_entry(given, message):
    right = {"a": 1.0, "b": np.ones(2)}
    agree({"b": np.ones(2), "a": 1.0}, right)
    with pytest.raises(Mismatch, match=re.escape(message)):
        agree(given, right)


def test_equal_numbers_are_not_shown_as_a_difference():
    with pytest.raises(Mismatch) as caught:
        agree(np.array([1.00000001]), np.array([1.0]))
    assert (
        caught.value.detail == "the entry of the result at index [0] is 1.00000001; 1 was expected"
    )


def splitting():
    exercise = Exercise("splitting", title="Splitting", source="none")

    @exercise.reference
    def split(x):
        return x[: len(x) // 2], x[len(x) // 2 :]

    @exercise.check(points=1)
    def in_two(call, rng):
        """Two halves."""
        for n in (4, 5):
            x = rng.normal(size=n)
            agree(call(x), split(x))

    @exercise.misconception
    def reshaped(x):
        """An odd number of entries can't be reshaped into two rows."""
        first, second = x.reshape(2, -1)
        return first, second

    @exercise.misconception
    def second_negated(x):
        """The second half has another sign."""
        return x[: len(x) // 2], -x[len(x) // 2 :]

    return exercise


def raising(function):
    def call(x):
        try:
            return function(x)
        except Exception as error:
            said, name = str(error), type(error).__name__
            raise StudentError("exception", said, type=name, text=said) from None

    return call


def late_index(x):
    return (x[:2], x[2:]) if len(x) == 4 else (x[:2], x[9])


@pytest.mark.parametrize(
    ("function", "note"),
    [
        (lambda x: tuple(np.reshape(x, (2, -1))), "reshaped"),
        (late_index, "student_error"),  # another exception
        (never, "student_error"),  # the same one, which says something else
        (lambda x: (x[len(x) // 2 :], x[: len(x) // 2]), "other_order"),
        (lambda x: (-x[: len(x) // 2], x[len(x) // 2 :]), ""),
        (lambda x: (x[: len(x) // 2], -x[len(x) // 2 :]), "second_negated"),
    ],
)
def test_exceptions_and_exchanged_results_are_named(function, note):
    (item,) = grade_checks(splitting().functions[0], raising(function))
    kept = 0.4 if note in ("reshaped", "second_negated") else 0  # a known mistake
    assert (item.score, item.note) == (kept, note)


def refusing():
    exercise = Exercise("refusing", title="Refusing", source="none")

    @exercise.reference
    def product(x, y):
        return x @ y

    @exercise.check(points=1)
    def multiplies(call, rng):
        """Is the product."""
        x, y = rng.normal(size=(2, 3)), rng.normal(size=(3, 4))
        agree(call(x, y), x @ y)

    @exercise.misconception
    def entry_by_entry(x, y):
        """That is no product of matrices."""
        return x * y

    @exercise.misconception
    def transposed(x, y):
        """You transposed."""
        return x @ y.T

    return exercise.functions[0]


@pytest.mark.parametrize(
    ("function", "note"),
    [
        (lambda x, y: x * y, "entry_by_entry"),
        (lambda x, y: np.matmul(x, y.T), "transposed"),
        (lambda x, y: np.reshape(x, (3, 3)) @ y, "student_error"),  # a ValueError, but neither
    ],
)
def test_exceptions_of_one_type_are_told_apart_by_what_they_say(function, note):
    (item,) = grade_checks(refusing(), function)
    assert item.note == note


def looking_up():
    """A table, in which two mistakes look up too far; one is right where the table is large."""
    exercise = Exercise("table", title="Table", source="none")

    @exercise.reference
    def last(table, n):
        return table[min(n, len(table)) - 1]

    @exercise.check(points=1)
    def beyond(call, rng):
        """Beyond the end the last entry counts."""
        agree(call(np.arange(1.0, 3.0), 3), 2.0)

    @exercise.check(points=1)
    def within(call, rng):
        """Entry n, counted from 1."""
        table = rng.normal(size=9)
        agree([call(table, n) for n in (3, 5, 8)], [table[2], table[4], table[7]])

    @exercise.misconception
    def from_zero(table, n):
        """You count from 0."""
        return table[min(n, 2)]

    @exercise.misconception
    def unbounded(table, n):
        """You look beyond the end."""
        return table[n - 1]

    return exercise.functions[0]


def test_of_mistakes_that_raise_the_same_it_is_the_one_that_answers_alike_elsewhere():
    beyond, within = grade_checks(looking_up(), lambda table, n: np.asarray(table)[n - 1])
    assert (beyond.note, within.status) == ("unbounded", "passed")


@pytest.mark.parametrize(
    ("function", "note"),
    [
        (lambda x: -2 * x, "opposite_sign"),
        (lambda x: 4 * x, "factor_two"),
        (lambda x: x, "factor_two"),
        (lambda x: (2 * x)[::-1], "reversed_order"),
        (lambda x: 2 * x + 1, ""),
        (lambda x: x**2, "squares"),
    ],
)
def test_a_slip_of_a_function_is_named(function, note):
    assert grade(function)["doubles"].note == note


def counting(*sizes):
    exercise = Exercise("counting", title="Counting", source="none")

    @exercise.reference
    def entries(x):
        return x.size

    @exercise.check(points=1)
    def counts(call, rng):
        """How many entries there are."""
        found = [call(np.ones(size)) for size in sizes]
        agree(found, tuple(sizes))

    return exercise.functions[0]


@pytest.mark.parametrize(
    ("sizes", "function", "note"),
    [
        ((12,), lambda x: x.size + 1, ""),  # one number may be anything
        ((12,), lambda x: 2 * x.size, ""),
        ((2, 3), lambda x: x.size + 1, ""),
        ((12, 12), lambda x: x.size + 1, ""),
        ((12, 17), lambda x: x.size + 1, "off_by_one"),
        ((12, 17), lambda x: x.size + (1 if x.size == 12 else -1), ""),
        ((12, 17), lambda x: 2 * x.size, "factor_two"),
    ],
)
def test_a_number_that_may_be_so_by_chance_shows_no_slip(sizes, function, note):
    (item,) = grade_checks(counting(*sizes), function)
    assert item.note == note


def test_a_loaded_exercise_can_not_be_changed():
    exercise = pair()
    exercise.freeze()
    with pytest.raises(AuthoringError, match="is loaded, and can't be changed any more"):
        exercise.alternative(abs)
    with pytest.raises(FrozenInstanceError):
        exercise.functions[0].checks = ()


def priced(*, fatal=""):
    """Three checks side by side, and one behind the first."""
    exercise = Exercise("doubled", title="Doubled", source="none")

    @exercise.reference
    def double(x):
        return 2 * x

    def compares(call, rng):
        """The same property."""
        x = rng.normal(size=3)
        agree(call(x), 2 * x)

    checks = {}
    for name, points, after in (("a", 3, None), ("b", 2, None), ("c", 1, None), ("d", 4, "a")):
        run = FunctionType(compares.__code__, globals(), name)
        run.__doc__ = f"The property {name}."
        checks[name] = exercise.check(points=points, after=checks.get(after))(run)

    @exercise.misconception(fatal=fatal)
    def squares(x):
        """You squared."""
        return x**2

    @exercise.misconception
    def nothing(x):
        """Nothing comes."""
        return 0 * x

    @exercise.misconception
    def as_it_came(x):
        """You gave back what came."""
        return x

    return exercise.functions[0]


@pytest.mark.parametrize(
    ("call", "fatal", "scores", "note"),
    [
        (lambda x: x * x, "", [3, 2, 1, 0], "squares"),
        (lambda x: x * x, "nothing is doubled", [0, 0, 0, 0], "squares"),
        (lambda x: 0 * x, "", [0, 0, 0, 0], "nothing"),  # what takes no work has no price
        (lambda x: x, "", [0, 0, 0, 0], "as_it_came"),
        (lambda x: x + 5, "", [0, 0, 0, 0], ""),
    ],
)
def test_a_known_mistake_is_paid_for_once_and_leaves_two_fifths(call, fatal, scores, note):
    items = grade_checks(priced(fatal=fatal), call)
    assert [item.score for item in items] == scores
    last = note if scores[1] else "skipped"
    assert [item.note for item in items] == [note, note, note, last]
    if scores[1]:
        assert items[1].feedback == "You squared. That is paid for with “The property d.”"


def test_what_fails_behind_a_known_mistake_for_no_other_known_reason_is_lost_by_it():
    exercise = Exercise("root", title="Root", source="none")

    @exercise.reference
    def root(x):
        return np.sqrt(x)

    @exercise.check(points=2)
    def is_right(call, rng):
        """The root."""
        agree(call(np.array([2.0, 3.0])), np.sqrt([2.0, 3.0]))

    @exercise.check(points=8, after=is_right)
    def undoes_the_square(call, rng):
        """The root of a square."""
        agree(call(np.array([0.25])), np.array([0.5]))

    @exercise.misconception
    def halved(x):
        """You halved."""
        return x / 2

    items = grade_checks(exercise.functions[0], lambda x: x / 2 if x[0] > 1 else x / 3)
    assert [(item.score, item.note) for item in items] == [(2, "halved"), (2, "")]


def weighing():
    """Bytes: of four rows four, so that the rows can't be told from the bytes in the first call."""
    exercise = Exercise("bytes", title="Bytes", source="none")

    @exercise.reference
    def size(n, rows=1):
        return 4 * n * rows

    @exercise.check(points=1)
    def of_rows(call, rng):
        """Of several rows."""
        for n, rows in ((10, 4), (7, 3), (9, 5)):
            agree(call(n, rows), 4 * n * rows)

    @exercise.check(points=1)
    def of_one_row(call, rng):
        """Of one row."""
        agree(call(30), 120)
        agree(call(20), 80)

    @exercise.misconception
    def entries(n, rows=1):
        """You counted entries."""
        return n * rows

    @exercise.misconception
    def one_row(n, rows=1):
        """The rows are ignored."""
        return 4 * n

    @exercise.misconception
    def at_most_three_rows(n, rows=1):
        """You stop at three rows."""
        return 4 * n * min(rows, 3)

    return exercise.functions[0]


@pytest.mark.parametrize(
    ("size", "notes"),
    [
        (lambda n, rows=1: 4 * n + 0 * rows, ["one_row", ""]),  # at first as many as entries
        (lambda n, rows=1: n * rows, ["entries", "entries"]),
        (lambda n, rows=1: 4 * n if rows == 4 else 4 * n * rows, ["", ""]),  # by chance alone
        (lambda n, rows=1: 4 * n * min(rows, 3), ["at_most_three_rows", ""]),
    ],
)
def test_a_few_plain_numbers_name_no_mistake_that_the_next_ones_deny(size, notes):
    assert [item.note for item in grade_checks(weighing(), size)] == notes


def test_who_hangs_where_more_is_asked_is_named_by_what_is_known():
    def size(n, rows=1):
        if rows == 3:
            raise StudentError("timeout", "too long")
        return n * rows

    assert [item.note for item in grade_checks(weighing(), size)] == ["entries", "entries"]


def telling():
    """A tester, and mistakes that answer some checks as a constant does."""
    exercise = Exercise("even", title="Even", source="none")

    @exercise.reference
    def is_even(f):
        return f % 2 == 0

    def answers(call, rng):
        """The right answers."""

    @exercise.check(points=2)
    def small_ones(call, rng):
        """Small ones."""
        for n in (2, 4, 3):
            agree(call(n), n % 2 == 0)

    @exercise.check(points=1)
    def large_ones(call, rng):
        """Large ones."""
        for n in (12, 17):
            agree(call(n), n % 2 == 0)

    @exercise.misconception
    def below_ten(f):
        """You ask whether it is small."""
        return f < 10

    return exercise.functions[0]


@pytest.mark.parametrize(
    ("test", "notes", "score"),
    [
        (lambda f: f == f, ["idle", "idle"], 0),
        (lambda f: f != f, ["idle", "idle"], 0),
        (lambda f: f < 10, ["below_ten", "below_ten"], 1.2),
    ],
)
def test_a_tester_that_always_says_the_same_is_told_so(test, notes, score):
    items = grade_checks(telling(), test)
    assert [item.note for item in items] == notes
    assert sum(item.score for item in items) == score


def test_an_array_without_entries_has_no_property():
    exercise = Exercise("shares", title="Shares", source="none")
    exercise.reference(lambda x: x / x.sum())

    @exercise.check(points=1)
    def none_is_negative(call, rng):
        """No share is negative."""
        require((call(rng.uniform(size=rng.integers(3))) >= 0).all(), "a share is negative")
        require((call(rng.uniform(size=4)) >= 0).all(), "a share is negative")

    (right,), (empty,) = (
        grade_checks(exercise.functions[0], each)
        for each in (lambda x: x / x.sum(), lambda x: x[:0])
    )
    assert (right.score, empty.score, empty.note) == (1, 0, "idle")


def taking_thirds():
    exercise = Exercise("taking_thirds", title="Thirds", source="none")

    @exercise.reference
    def thirds(x):
        return x / 3

    @exercise.check(points=2)
    def of_a_few(call, rng):
        """A third of a few entries."""
        x = rng.normal(size=5)
        agree(call(x), x / 3)

    @exercise.check(points=1)
    def of_many(call, rng):
        """A third of many entries."""
        x = rng.normal(size=500)
        agree(call(x), x / 3)

    return exercise.functions[0]


def test_single_precision_is_one_slip_whatever_caused_it():
    items = grade_checks(taking_thirds(), lambda x: (np.float32(x) / np.float32(3)).astype(float))
    assert {item.note for item in items} == {"in_single_precision"}
    assert [item.score for item in items] == [0.2, 1]
    assert "float32 alone" in items[0].feedback
    assert "That is paid for with" in items[1].feedback
    assert [i.score for i in grade_checks(taking_thirds(), lambda x: x / 4)] == [0, 0]


def taking_shares():
    exercise = Exercise("taking_shares", title="Shares", source="none")

    @exercise.reference
    def shares(x):
        return np.exp(x) / np.exp(x).sum()

    @exercise.check(points=2)
    def in_double_precision(call, rng):
        """Shares of exponentials."""
        x = rng.normal(size=5)
        agree(call(x), shares(x))

    @exercise.check(points=1)
    def in_single_precision(call, rng):
        """Works for float32."""
        x = rng.normal(size=5).astype(np.float32)
        agree(call(x), shares(x), rtol=1e-4)

    @exercise.misconception
    def one_more(x):
        """The sum has a term too many."""
        return np.exp(x) / (np.exp(np.float64(0)) + np.exp(x).sum())

    return exercise.functions[0]


def test_a_mistake_is_known_again_in_single_precision_whatever_its_steps_are_computed_in():
    def own(x):
        return np.exp(np.float64(x)) / (1 + np.exp(np.float64(x)).sum())

    items = grade_checks(taking_shares(), own)
    assert [item.note for item in items] == ["one_more", "one_more"]
    assert sum(item.score for item in items) == pytest.approx(1 + 0.2)


DRAWN = np.random.default_rng()


def starting():
    """A start that should be drawn, with a mean near 0."""
    exercise = Exercise("starting", title="Starting", source="none")

    @exercise.reference
    def start(n):
        return DRAWN.normal(size=n)

    @exercise.check(points=1)
    def around_zero(call, rng):
        """The mean is near 0."""
        x = call(1000)
        if x.mean() > 0.2:
            positive = "positive" if x.min() >= 0 else "shifted"
            raise Mismatch("the mean is no 0", kind=positive, free=True)

    @exercise.misconception
    def none_below_zero(n):
        """Numbers from 0 to 1 have a mean of a half."""
        return DRAWN.random(n)

    @exercise.misconception
    def around_one(n):
        """The mean is 1."""
        return DRAWN.normal(1, size=n)

    return exercise.functions[0]


@pytest.mark.parametrize(
    ("own", "note"),
    [
        (lambda n: 3 * DRAWN.random(n), "none_below_zero"),
        (lambda n: DRAWN.normal(0.5, 2, size=n), "around_one"),
        (lambda n: DRAWN.normal(0, 2, size=n), ""),
    ],
)
def test_of_what_is_drawn_the_kind_alone_tells_the_mistake(own, note):
    [item] = grade_checks(starting(), own)
    assert item.note == note


def test_what_an_object_lacks_is_named():
    error = StudentError("exception", "'Layer' has no 'weight'", type="AttributeError")
    assert without_details(error, GetAttribute(1, "weight")) == "your object has no `weight`"
    assert "AttributeError" in without_details(error, Call((), {}))
