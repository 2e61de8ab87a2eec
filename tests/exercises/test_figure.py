"""Figures: which plotted data are right, and what is said of those that are not."""

import numpy as np
import pytest

from autograder.exercise import Exercise, Figure, FormatError
from autograder.grading.parts import grade_parts
from autograder.grading.results import Status

x = np.linspace(-6, 6, 241)
TWO = {1: (x, np.tanh(x)), 2: (x, np.tanh(x / 2))}
MAP = np.arange(6.0).reshape(2, 3)


def grade(right, given, kind=Figure()):  # noqa: B008
    exercise = Exercise("drawn", title="Drawn", source="none")

    @exercise.part(points=2, answer=kind)
    def data():
        """The data of the figure."""
        return right

    @data.misconception()
    def mirrored():
        """The figure is mirrored."""
        return {k: (v[0], -v[1]) for k, v in right.items()} if isinstance(right, dict) else -right

    (item,) = grade_parts(exercise, {}, {"data": given}.__getitem__)
    return item


@pytest.mark.parametrize(
    "given",
    [
        TWO,
        {"1": [list(row) for row in TWO[1]], "2": np.stack(TWO[2])},
        {1: (x[::6], np.tanh(x[::6])), 2: (x, np.tanh(x / 2))},
        {1: (x[::-1], np.tanh(x)[::-1]), 2: (x, np.tanh(x / 2) + 1e-3)},
        {**TWO, "a line to guide the eye": (x, 0 * x)},
    ],
)
def test_curves_through_any_points_are_right(given):
    assert grade(TWO, given).status is Status.PASSED


@pytest.mark.parametrize(
    "wrong",
    [
        {1: (x, np.tanh(x) + 0.05), 2: TWO[2]},
        {1: (x / 2, np.tanh(x / 2)), 2: TWO[2]},  # half the range
        {1: (2 * x, np.tanh(2 * x)), 2: TWO[2]},  # beyond it
        {1: TWO[2], 2: TWO[2]},
    ],
)
def test_one_curve_of_two_that_is_wrong_is_named(wrong):
    item = grade(TWO, wrong)
    assert (item.status, item.score) == (Status.PARTIAL, 1)
    assert item.feedback == "Not right: 1."


def test_tables_and_known_mistakes():
    assert grade(MAP, MAP.tolist()).status is Status.PASSED
    assert grade(MAP, {"A": MAP}).status is Status.PASSED
    assert grade(MAP, -MAP).note == "mirrored"
    assert grade(TWO, {k: (v[0], -v[1]) for k, v in TWO.items()}).note == "mirrored"
    assert grade(MAP, MAP + 0.1).score == 0


@pytest.mark.parametrize(
    ("right", "given", "says"),
    [
        (TWO, {1: TWO[1]}, "the data of 2 are missing; there is 1"),
        (TWO, TWO[1], "dictionary with 1, 2 is expected"),
        (TWO, {1: TWO[1], 2: [[0, 1], [0, 1, 2]]}, "pair (x, y)"),
        (TWO, {1: TWO[1], 2: ([0, 1], [0, 1])}, "10 points"),
        (TWO, {1: TWO[1], 2: [["a"], ["b"]]}, "2: numbers are expected"),
        (TWO, {1: TWO[1], 2: [[[1], 2], [3]]}, "2: the rows of the answer"),
        (TWO, {1: TWO[1], 2: 5}, "pair (x, y)"),
        (MAP, MAP.T, "shape (2, 3) is expected, not (3, 2)"),
        (MAP, [[0, 1], [0, 1, 2]], "different lengths"),
        (MAP, [[0, np.nan, 1]] * 2, "NaN"),
        (MAP, {}, "the data of data are missing; there is nothing"),
    ],
)
def test_what_is_no_figure_gets_a_sentence(right, given, says):
    item = grade(right, given)
    assert item.note == "format_error"
    assert says.lower() in item.feedback.lower()


def test_a_curve_that_does_not_move_is_compared_with_its_size():
    flat = {"c": (x, 0 * x + 3)}
    assert grade(flat, {"c": (x, 0 * x + 3.01)}).status is Status.PASSED
    assert grade(flat, {"c": (x, 0 * x + 3.1)}).status is Status.FAILED
    with pytest.raises(FormatError):
        Figure().read("a picture", like=flat)
