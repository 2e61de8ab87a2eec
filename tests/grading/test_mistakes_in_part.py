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
        ("0.2137 0.3319 0.7", "one_entry_wrong"),
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
