"""A known mistake is named where it was made in some entries, or rounded; and not by chance."""

import numpy as np
import pytest

from autograder.exercise import Count, Exercise, Fractions, Numbers
from autograder.grading.parts import grade_parts

RIGHT = [0.2137, 0.3319, 0.4544]
NOT_SCALED = [0.1042, 0.2719, 0.6239]


def item(kind, right, wrong, given, credit=0.0):
    """Grade an answer to a part with one misconception."""
    exercise = Exercise("one", title="One", source="none")

    @exercise.part(points=1, answer=kind)
    def a():
        """It."""
        return right

    @a.misconception(credit=credit)
    def known():
        """You forgot the scale."""
        return wrong

    return grade_parts(exercise, {}, {"a": given}.__getitem__)[0]


@pytest.mark.parametrize(
    ("given", "score"),
    [
        ("0.2137 0.3319 0.6239", 0.67),  # in one entry
        ("0.1042 0.3319 0.6239", 0.0),  # in most
        ("0.2137 0.332 0.624", 0.67),  # the right ones rounded as well
        ("0.10 0.27 0.62", 0.0),  # everywhere, with too few digits
        ("0.21 0.33 0.624", 0.0),  # what is right, too, with too few digits
    ],
)
def test_a_mistake_in_some_entries_or_rounded_is_named(given, score):
    found = item(Numbers(), RIGHT, NOT_SCALED, given)
    assert (found.note, found.score) == ("known", score)
    assert found.feedback.partition("Where it is wrong: ")[2].startswith("You forgot the scale.")


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ("0.2137 0.3319 0.7", ""),  # how many are right is said, and no mistake is known
        ("0.2137 0.2 0.6239", ""),  # one of two wrong entries is another mistake's
        ("0.21 0.33 0.45", "too_coarse"),  # right, to the digits that were written
        ("0.1 0.3 0.6", ""),  # a last digit that says nothing
    ],
)
def test_what_a_mistake_does_not_explain_is_not_named_by_it(given, note):
    assert item(Numbers(), RIGHT, NOT_SCALED, given).note == note


@pytest.mark.parametrize(
    ("kind", "right", "wrong", "given", "named"),
    [
        (Count(), [1, 0, 1, 1, 0], [0, 1, 0, 1, 1], [0, 0, 1, 1, 0], False),  # yes and no
        (Count(), [3, 4, 2, 5], [4, 5, 3, 6], [3, 5, 2, 5], False),  # off by one
        (Count(), [32, 102], [64, 204], [32, 204], False),  # twice as much, in one entry
        (Count(), [32, 102, 77], [64, 204, 154], [64, 204, 77], True),  # in two
        (Count(), [120, 340, 77], [340, 120, 77], [120, 120, 77], False),  # exchanged
        (Count(), [17088, 25664, 43625], [16832, 25280, 42985], [16832, 25664, 43625], True),
        (Fractions(), ["3/8", "1/4"], ["1/8", "1/2"], ["1/8", "1/4"], False),
        (Fractions(), ["3/80", "1/4"], ["137/512", "1/2"], ["137/512", "1/4"], True),
        (Numbers(), [0.31, 2.7], [1e-5, 1.4], [0.0, 2.7], False),  # nothing was written
        (Numbers(special=True), [7.3, "inf"], [19.2, 108960.0], [7.3, 108950.0], True),
        (Numbers(special=True), [7.3, 108960.0], [19.2, "inf"], [7.3, "inf"], False),
        (Numbers(tolerance=0.2), [0.31, 0.77], [0.9, 0.2], [0.9, 0.77], False),  # loose
        (Numbers(), 0.2137, 0.3319, "0.332", True),
        (Numbers(), 0.2137, 0.3319, "0.33", False),  # two digits of one number: one in twelve
    ],
)
def test_what_may_be_chance_is_not_named(kind, right, wrong, given, named):
    assert (item(kind, right, wrong, given).note == "known") is named


def test_a_rounded_mistake_earns_half_of_what_it_earns():
    assert item(Numbers(), 21.37, 33.16, "33.16", credit=0.5).score == 0.5
    rounded = item(Numbers(), 21.37, 33.16, "33.2", credit=0.5)
    assert (rounded.note, rounded.score) == ("known", 0.25)
    assert rounded.feedback == "You forgot the scale. There are too few digits as well."


def test_a_mistake_in_part_is_seen_in_what_follows_from_a_wrong_answer():
    exercise = Exercise("two", title="Two", source="none")

    @exercise.part(points=1, answer=Numbers())
    def a(x):
        """It."""
        return x

    @exercise.part(points=1, answer=Numbers())
    def b(a):
        """Its square root."""
        return np.sqrt(a)

    @b.misconception()
    def square(a):
        """This is the square."""
        return np.square(a)

    answers = {"a": [3.1, 2.2, 7.3], "b": [3.1**0.5, 2.2**2, 7.3**0.5]}
    found = grade_parts(exercise, {"x": np.array([1.7, 2.9, 5.3])}, answers.__getitem__)
    assert found[1].note == "square"


def two_mistakes(given):
    """Grade numbers of which two mistakes, and a third, are known."""
    exercise = Exercise("one", title="One", source="none")

    @exercise.part(points=4, answer=Numbers())
    def a():
        """It."""
        return [0.2137, 0.3319, 7.4544, 1.877]

    @a.misconception(credit=0.75)
    def not_scaled():
        """You forgot the scale."""
        return [0.1042, 0.2719, 6.6239, 1.114]

    @a.misconception()
    def not_squared():
        """You forgot the square."""
        return [0.4623, 0.5761, 2.7303, 1.3701]

    @a.misconception()
    def rounded():
        """You rounded on the way."""
        return [0.22, 0.35, 6.6239, 1.91]

    return grade_parts(exercise, {}, {"a": given}.__getitem__)[0]


def test_two_mistakes_in_different_entries_are_both_named():
    found = two_mistakes([0.1042, 0.3319, 2.7303, 1.877])
    assert (found.score, found.note) == (2, "not_scaled")
    assert found.feedback == (
        "2 of 4 entries are right. Where it is wrong: You forgot the scale. And elsewhere: You "
        "forgot the square."
    )
    assert two_mistakes("0.1042 0.3319 2.7303 1.88").note == "not_scaled"  # one rounded as well


@pytest.mark.parametrize(
    "given",
    [
        [0.4623, 0.3319, 6.6239, 1.877],  # one of the two is either of two mistakes
        [0.1042, 0.3319, 2.7303, 1.5],  # and a third that nobody knows
        [0.1042, 0.5761, 6.6239, 1.91],  # three of them
    ],
)
def test_two_mistakes_are_named_only_where_they_explain_everything(given):
    assert two_mistakes(given).note == ""


def test_two_mistakes_that_may_be_chance_are_not_named():
    exercise = Exercise("one", title="One", source="none")

    @exercise.part(points=1, answer=Count())
    def a():
        """It."""
        return [30, 40, 50, 60]

    @a.misconception()
    def one_more():
        """The ends count."""
        return [31, 41, 51, 61]

    @a.misconception()
    def other_rows():
        """These are the columns."""
        return [17, 88, 23, 91]

    (found,) = grade_parts(exercise, {}, {"a": [31, 40, 23, 60]}.__getitem__)
    assert found.note == ""
