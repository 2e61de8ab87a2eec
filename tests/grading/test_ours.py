"""What ours answer is worked out once, and still seen to be what it is."""

import random

import numpy as np
import pytest

from autograder.exercise.cache import Unfamiliar, Values
from autograder.grading.interview import Interview
from autograder.grading.local import Local
from autograder.grading.ours import Ours
from autograder.sandbox import StudentError
from autograder.sandbox.wire.requests import Call, CountWork


@pytest.fixture
def counted():
    """A function that counts its calls, and its number of calls."""
    calls = []

    def double(x):
        calls.append(1)
        if np.ndim(x) and x[0] < 0:
            raise ValueError(f"negative: {x[0]}")
        return 2 * x

    return double, calls


X = np.arange(3.0)


def test_what_every_check_asks_is_worked_out_once(counted):
    double, calls = counted
    for _ in range(5):
        assert Interview(double)(X).tolist() == [0.0, 2.0, 4.0]
    assert len(calls) == 1


def test_arguments_of_another_type_are_another_question(counted):
    double, calls = counted
    assert Ours(double)(X).dtype == np.float64
    assert Ours(double)(X.astype(np.float32)).dtype == np.float32
    assert len(calls) == 2


def test_a_check_that_asks_twice_sees_whether_the_same_comes():
    drawn = iter(range(100))
    call = Interview(lambda _: next(drawn))
    one, other = call(X), call(X)
    assert one != other


def test_nothing_is_remembered_of_generators_that_were_seeded():
    def noise(x):
        return random.random()

    first, second = Interview(noise), Interview(noise)
    first.seed(1)
    second.seed(2)
    assert first(3) != second(3)


def test_who_changes_an_answer_changes_nobody_else_s(counted):
    double, _ = counted
    given = Ours(double)(X)
    given[:] = 7
    assert Ours(double)(X).tolist() == [0.0, 2.0, 4.0]


def test_an_exception_comes_again_and_holds_no_trace_of_the_first(counted):
    double, calls = counted
    for _ in range(2):
        with pytest.raises(StudentError, match="negative") as caught:
            Ours(double)(X - 1)
        assert (caught.value.type, caught.value.text) == ("ValueError", "negative: -1.0")
    assert len(calls) == 1


def test_work_is_counted_once_and_comes_out_the_same(counted):
    double, calls = counted
    flops = [Ours(double).ask(CountWork((X,), {})).work["flops"] for _ in range(3)]
    assert flops == [Local(double).ask(CountWork((X,), {})).work["flops"]] * 3
    assert len(calls) == 4  # two for each time that it is counted


def test_a_large_answer_is_not_kept(counted):
    double, calls = counted
    for _ in range(2):
        Ours(double).ask(Call((np.zeros(300_000),), {}))
    assert len(calls) == 2


def test_larger_answers_count_as_several_and_make_room_for_others(counted):
    double, calls = counted
    inputs = [np.full(200_000, float(i)) for i in range(80)]  # 33 of 2000 each
    for x in [*inputs, inputs[-1], inputs[0]]:
        Ours(double).ask(Call((x,), {}))
    assert len(calls) == 81


def test_an_exception_where_work_is_counted_is_that_of_the_function(counted):
    with pytest.raises(StudentError, match="negative"):
        Ours(counted[0]).ask(CountWork((X - 1,), {}))


def test_what_an_earlier_reference_gives_is_remembered_and_not_what_a_students_function_does():
    def doubled(x):
        return 2 * x

    usual = Interview(sorted).own(doubled)
    assert Values(usual).key == Values(Interview(sorted).own(doubled)).key

    class Student(Ours):
        def own(self, _solution):
            return Ours(lambda x: 3 * x)

    with pytest.raises(Unfamiliar):
        Values(Interview(Student(sorted)).following().own(doubled))
