"""Whatever comes back, it is held against what was asked before a check sees it."""

from fractions import Fraction

import numpy as np
import pytest

from autograder.course.proofs.odd_results import ODD, odd_result_problems
from autograder.exercise import Exercise, agree, require
from autograder.exercise.cache import deepcopied
from autograder.grading.answering import Expectation, asking
from autograder.grading.checks import grade_checks
from autograder.grading.interview import Interview
from autograder.sandbox import Tensor
from autograder.sandbox.wire import decode, encode_parts
from autograder.sandbox.wire.requests import Call
from autograder.student.kinds_of_results import as_asked, other_kind

MISSING = "None (is a `return` missing?)"


def wire_tensor(values, dtype="float32"):
    return Tensor(dtype, np.array(values, dtype))


class TestKinds:
    @pytest.mark.parametrize(
        ("came", "right", "told"),
        [
            (None, np.zeros(3), f"an array of numbers, not {MISSING}"),
            ("1 2", np.zeros(3), "an array of numbers, not text"),
            ({"a": 1}, np.zeros(3), "an array of numbers, not a dictionary"),
            ([[1], [1, 2]], np.zeros(3), "an array of numbers, not a list of 2"),
            ([None] * 30, np.zeros(3), "an array of numbers, not a long list"),
            (None, 1.5, f"a number, not {MISSING}"),
            (np.zeros(2), 1.5, "a number, not an array"),
            ((1.0, 2.0), 1.5, "a number, not a tuple of 2"),
            ((), 1, "a number, not a tuple of 0"),
            (10**400, 1, "a number, not a number that is too large"),
            ({1}, True, "True or False, not a set"),
            (np.zeros(2), True, "True or False, not an array"),
            (None, (1, 2), f"a tuple of 2, not {MISSING}"),
            (np.float64(1), (1, 2), "a tuple of 2, not a number"),
            ((1, 2, 3), (1, 2), "a tuple of 2, not a tuple of 3"),
            (wire_tensor(1.0), (1, 2), "a tuple of 2, not a number"),
            (2, {"a": 1}, "a dictionary, not a number"),
            (2, [{"a": 1}], "a list, not a number"),
            (2, "a", "text, not a number"),
        ],
    )
    def test_another_kind_is_said_in_a_sentence(self, came, right, told):
        assert other_kind(came, right) == f"the result should be {told}"

    def test_of_several_the_one_is_said(self):
        told = f"entry 1 of the result should be a number, not {MISSING}"
        assert other_kind((np.zeros(2), None), (np.zeros(2), 1.0)) == told

    @pytest.mark.parametrize(
        ("came", "right", "arrives"),
        [
            ([1, 2], np.zeros(2), np.array([1, 2])),
            ([wire_tensor(1.5)] * 2, np.zeros(2), np.float32([1.5, 1.5])),
            (wire_tensor([1.5]), np.zeros(1), np.float32([1.5])),
            ([Fraction(1, 2), 1], np.zeros(2), np.array([0.5, 1.0])),
            (np.ones((1, 1)), 2.0, np.float64(1)),
            ([3], 2, np.int64(3)),
            (wire_tensor(1.5), 2.0, np.float32(1.5)),
            (np.array(True), True, True),
            (np.True_, False, True),
            (np.array([[1.0, 2.0]] * 2), (np.zeros(2),) * 2, (np.array([1.0, 2.0]),) * 2),
            ([1, 2], (1, 2), (1, 2)),
            ({"a": wire_tensor(1.0), "b": 1}, {"a": 2.0}, {"a": np.float32(1), "b": 1}),
            (wire_tensor([1.0, 2.0]), [1.0], [np.float32(1), np.float32(2)]),
            ("a", "b", "a"),
            (None, None, None),
        ],
    )
    def test_right_answers_in_other_clothes_have_the_form_that_is_asked(self, came, right, arrives):
        assert other_kind(came, right) == ""
        found = as_asked(came, right)
        np.testing.assert_equal(found, arrives)
        assert type(found) is type(arrives)


def splitting():
    exercise = Exercise("splitting", title="Splitting", source="none")

    @exercise.reference
    def split(x):
        return x[:2], float(x.sum())

    @exercise.check(points=1, visible=True)
    def splits(call, rng):
        """Gives the first two, and the sum."""
        x = rng.normal(size=3)
        agree(call(x), split(x))

    @exercise.check(points=1)
    def is_unpacked(call, rng):
        """Gives arrays."""
        first, total = call(rng.normal(size=4))
        require(first.shape == (2,), "not two")
        require(total < 100, "too large")

    @exercise.check(points=1)
    def has_entries(call, rng):
        """Is not empty."""
        require(call(rng.normal(size=3))[0][1] < 100, "too large")

    return exercise.functions[0]


@pytest.mark.parametrize(
    ("student", "told"),
    [
        (lambda _: None, f"the result should be a tuple of 2, not {MISSING}"),
        (lambda x: x.sum(), "the result should be a tuple of 2, not a number"),
        (lambda x: (x[:2], None), f"entry 1 of the result should be a number, not {MISSING}"),
    ],
)
def test_a_forgotten_return_is_the_students_in_every_check(student, told):
    items = grade_checks(splitting(), student)
    assert [(i.status.value, i.score) for i in items] == [("failed", 0.0)] * 3
    assert {i.feedback for i in items} == {f"{told[0].upper()}{told[1:]}."}


def test_a_check_that_cannot_go_on_says_what_was_wrong():
    items = grade_checks(splitting(), lambda x: (x[:0], 0.0))
    assert [i.status.value for i in items] == ["failed"] * 3
    assert "shape" in items[2].feedback


@pytest.mark.parametrize(
    "student",
    [
        lambda x: [list(x[:2]), x.sum()],
        lambda x: (x[:2], x.sum(keepdims=True)),
        lambda x: (tuple(x[:2]), np.array(x.sum())),
    ],
)
def test_lists_and_arrays_of_one_number_lose_nothing(student):
    assert all(item.score == 1 for item in grade_checks(splitting(), student))


def test_what_the_reference_would_meet_as_well_is_the_graders_fault():
    exercise = Exercise("broken", title="Broken", source="none")

    @exercise.reference
    def two():
        return 2

    @exercise.check(points=1)
    def breaks(call, rng):
        """Breaks."""
        require(call()[0] == 2, "not two")

    (item,) = grade_checks(exercise.functions[0], lambda: 3)
    assert (item.status.value, item.note) == ("errored", "grader_error")


def test_every_odd_result_is_decided():
    assert odd_result_problems(splitting(), "") == []
    assert len(ODD) > 12


def test_a_check_that_withholds_for_an_odd_result_is_a_problem(monkeypatch):
    exercise = Exercise("doubling", title="Doubling", source="none")

    @exercise.reference
    def twice(x):
        return 2 * x

    @exercise.check(points=1)
    def has_entries(call, rng):
        """Has entries."""
        require(call(np.arange(3.0))[1] == 2, "the second entry is another one")

    monkeypatch.setattr("autograder.grading.followed.blamed", lambda *_: None)
    told = "`has_entries` can't decide where the result is empty: grader_error"
    problems = odd_result_problems(exercise.functions[0], "")
    assert any(problem.startswith(told) for problem in problems)


def state(*, torch):
    """What a function keeps: arrays, at any depth, that are tensors where it is written so."""
    array = wire_tensor([1.0, 2.0]) if torch else np.array([1.0, 2.0])
    return {"K": array, "layers": [array, (array, 3)]}


class TestTensorsThatAFunctionKeeps:
    asked = Expectation(plain=(state(torch=False), np.zeros(2)))

    def answered(self, value):
        return self.asked.answered(0, Call((), {}), value)

    def test_stand_as_numbers_for_a_check(self):
        found, output = self.answered((state(torch=True), wire_tensor([3.0, 4.0])))
        np.testing.assert_equal(found["layers"][1][0] + output, [4, 6])
        assert type(output) is type(2 * found["K"]) is np.ndarray

    def test_go_back_as_tensors(self):
        found, output = self.answered((state(torch=True), wire_tensor([3.0, 4.0])))
        header, buffers = encode_parts((deepcopied(found), found["K"][:1], output, 2 * found["K"]))
        came, part, single, doubled = decode(header, b"".join(buffers))
        for each in (came["K"], came["layers"][0], came["layers"][1][0], part):
            assert isinstance(each, Tensor)
            assert each.dtype == "float32"
        assert type(single) is type(doubled) is np.ndarray

    def test_are_arrays_for_functions_of_ours(self):
        found, _ = self.answered((state(torch=True), wire_tensor([3.0, 4.0])))
        came = Interview(lambda state: dict(state, K=state["K"].copy()))(found)
        assert type(came["K"]) is type(came["layers"][1][0]) is np.ndarray


class TestWhatIsAskedBehindAMeter:
    """What the reference would answer there is not worked out: it is as what came before."""

    asked = Expectation(answers=((asking(Call((), {})), (state(torch=False), np.zeros(2))),))

    def answers(self, value):
        yield self.asked.as_before(Call((), {}), value)  # of a metered call
        yield self.asked.answered(1, Call((), {}), value)

    def test_is_in_the_same_form(self):
        for found, output in self.answers((state(torch=True), wire_tensor([3.0, 4.0]))):
            assert type(output) is np.ndarray
            np.testing.assert_equal(found["K"] + output, [4, 6])

    @pytest.mark.parametrize("value", [None, "text", (1, 2, 3)])
    def test_may_be_of_another_kind(self, value):
        assert all(came is value for came in self.answers(value))
