"""A wrong answer that no author foresaw: by which one change of the right way it comes out."""

import numpy as np
import pytest

from autograder.exercise import Count, Exercise, Formula, Numbers, seeded
from autograder.exercise.answers.how_wrong import which_way
from autograder.grading.at_points import excluding
from autograder.grading.changes import ways
from autograder.grading.parts import grade_parts

VARIANT = {"x": np.array([3.1, -1.7, 2.4]), "y": np.array([0.7, 1.9, -2.3]), "d": 7}


def half(x):
    """A helper of the module."""
    return x / 2.5


def exercise():
    """Numbers by several steps, one of them in a helper; a count, and a formula."""
    found = Exercise("steps", title="Steps", source="none")

    @found.part(points=1, answer=Numbers())
    def score(x, y, d):
        """A scaled score."""
        return np.sum(x * y) / np.sqrt(d - 1) + half(x[0])

    @found.part(points=1, answer=Numbers())
    def weight(score, d):
        """What follows from it."""
        return 1 / (1 + np.exp(-score / d))

    @score.misconception()
    def unscaled(x, y):
        """You left the scale out."""
        return np.sum(x * y) + half(x[0])

    @found.part(points=1, answer=Count())
    def few(d):
        """A small whole number."""
        return d * (d - 1)

    @found.part(points=1, answer=Count())
    def many(d):
        """A large one."""
        return d**4 * (d + 6)

    @found.part(points=1, answer=Count())
    def counts(d):
        """Five of them."""
        return [2 * d + 1, 12 * d + 6, d * d, d**3, 81]

    @counts.misconception()
    def zero_forgotten(d):
        """You forgot the offset 0."""
        return [2 * d, 12 * d, d * d, d**3 - 1, 81]

    @found.part(points=1, answer=Formula("a b n"))
    def formula():
        """A formula."""
        return "n/(2*(a + b))"

    return found


def told(**answers):
    """Return what is said of each answer; the others are right."""
    x, y, d = VARIANT.values()
    score = np.sum(x * y) / np.sqrt(6) + 3.1 / 2.5
    right = {"score": score, "weight": 1 / (1 + np.exp(-score / d)), "few": 42, "many": 31213}
    right["counts"] = [15, 90, 49, 343, 81]
    given = {**right, "formula": "n/(2*a + 2*b)", **answers}
    return {i.name: i.feedback for i in grade_parts(exercise(), VARIANT, given.__getitem__)}


PRODUCTS = np.sum(VARIANT["x"] * VARIANT["y"])


@pytest.mark.parametrize(
    ("part", "answer", "said"),
    [
        ("score", PRODUCTS / np.sqrt(7) + 1.24, "where one term of a sum is left out."),
        ("score", PRODUCTS / np.sqrt(5) + 1.24, "where one term of a sum is counted twice"),
        (
            "score",
            PRODUCTS / 6 + 1.24,
            "where one factor or divisor is used twice, or where one power",
        ),
        ("score", PRODUCTS / np.sqrt(6) - 1.24, "with one plus for a minus"),
        ("score", PRODUCTS / np.sqrt(6) + 3.1, "where one factor or divisor is left out"),
        ("score", PRODUCTS / np.sqrt(6) - 1.7 / 2.5, "with one entry for its neighbour"),
        ("score", PRODUCTS / 3 / np.sqrt(6) + 1.24, "with one sum for a mean"),
        ("many", 7**4 * 12, "where one whole number on the way is off by 1"),
        (
            "formula",
            "n/2*(a + b)",
            "with one product for a quotient, or one quotient for a product",
        ),
        (
            "formula",
            "n/(2*a + b)",
            "where one term of a sum is counted twice, or by half, or where",
        ),
        ("formula", "n/(2*(a - b))", "with one plus for a minus"),
        ("formula", "n/(2*(a + n))", "where one quantity stands in another's place"),
    ],
)
def test_one_change_is_named(part, answer, said):
    assert told(**{part: answer})[part].startswith(f"This is what comes out {said}")


def test_nothing_is_said_by_chance():
    assert "comes out" not in told(few=35)["few"]  # d (d − 2): or anything
    assert told(score=1.234567)["score"].startswith("This is too ")
    assert told(formula="a*b*n")["formula"].startswith("At ")


@pytest.mark.parametrize("right", [0.37, 7, 128, -4200.5, 3e-7])
def test_who_halves_again_and_again_finds_out_a_power_of_ten(right):
    low, high = -1e6, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        said = which_way(middle, right)
        if not said:
            break
        low, high = (middle, high) if "small" in said else (low, middle)
    else:
        pytest.fail("it has come closer than any answer")
    tens = 10.0 ** np.floor(np.log10(abs(right)))
    for near in np.sign(right) * tens * np.array([1, 3.3, 9.99]):
        assert not which_way(near, right)


def test_where_0_is_right_no_side_is_told():
    assert not which_way(5, 0)
    assert not which_way(-5, 0)
    assert which_way(-5, 7) == "This is too small."  # the control


def test_what_follows_from_an_own_answer_is_compared_with_it():
    own = told(score=5.5, weight=1 / (1 + np.exp(5.5 / 7)))
    assert own["weight"].startswith("This is what comes out with one plus for a minus")


def test_a_mistake_of_an_earlier_answer_is_known_where_that_answer_has_it_not():
    said = told(weight=1 / (1 + np.exp(-(PRODUCTS + 1.24) / 7)))["weight"]
    assert said == "This is what follows from a mistake in `score`: You left the scale out."


def test_one_of_several_mistakes_is_told():
    said = told(counts=[14, 84, 50, 342, 80])["counts"]
    assert said == "There is more than one thing wrong. One of them: You forgot the offset 0."
    assert "of the 5 entries" in told(counts=[14, 85, 50, 341, 80])["counts"]


@pytest.mark.parametrize(
    ("formula", "text", "excluded"),
    [
        ("n/(2*(a + b))", "n/(2*a + b)", True),
        ("n/(2*(a + b))", "n/(2*a + 2*b)", False),
        ("log(a*b)", "log(a) + log(b)", False),
        ("sqrt(a - 5)", "sqrt(a - 6)", False),  # which have no value there: algebra will tell
        ("(a + b)^2 - a^2 - b^2 - 2*a*b", "0", False),
        ("a*exp(b)", "a*e^b", False),
    ],
)
def test_values_exclude_only_what_is_another_formula(formula, text, excluded):
    kind = Formula("a b n")
    assert excluding(kind, kind.read(formula))(kind.read(text)) is excluded


def test_where_values_are_no_numbers_nothing_is_excluded():
    kind = Formula("x y", assumptions={"*": "vector"})
    assert not excluding(kind, kind.read("x*y"))(kind.read("2*x*y"))
    assert not excluding(Numbers(), np.array(2.0))(np.array(3.0))


def share(x, y):
    """A helper that two answers are computed with."""
    return (x[0] - y) / (x[0] - x[1])


def two_shares():
    """A table of shares and one more, both by the helper; the second has another scale, too."""
    found = Exercise("shares", title="Shares", source="none")

    @found.part(points=1, answer=Numbers())
    def table(x, y):
        """Three shares."""
        return share(x, y)

    @found.part(points=0.5, answer=Numbers())
    def path(x, d):
        """One more."""
        return share(x, 1.234) / d

    return found


@pytest.mark.parametrize(
    ("measured", "earned"),
    [
        (lambda x, y: (x[0] - y) / x[0], [0, 0.5]),  # one term is left out in both
        (lambda x, y: (x[0] + y) / (x[0] - x[1]), [0, 0.5]),
        (lambda x, y: np.full(np.shape(y), x[0] / 9), [0, 0]),
    ],
)
def test_one_change_of_what_two_answers_are_computed_with_costs_once(measured, earned):
    x, y, d = VARIANT.values()
    answers = {"table": measured(x, y), "path": measured(x, 1.234) / d}
    items = grade_parts(two_shares(), VARIANT, answers.__getitem__)
    assert [item.score for item in items] == earned
    other = {"table": (x[0] - y) / x[0], "path": (x[0] + 1.234) / (x[0] - x[1]) / d}
    items = grade_parts(two_shares(), VARIANT, other.__getitem__)  # another slip in each
    assert [item.score for item in items] == [0, 0]


def test_it_costs_once_where_it_shows_in_some_entries_alone():
    x, _, d = VARIANT.values()
    y = np.array([0.0, 0.0, 1.9, -2.3])
    answers = {"table": (x[0] + y) / (x[0] - x[1]), "path": (x[0] + 1.234) / (x[0] - x[1]) / d}
    items = grade_parts(two_shares(), {**VARIANT, "y": y}, answers.__getitem__)
    assert [item.score for item in items] == [0.5, 0.5]


def drawn(d):
    """It draws."""
    return seeded(d).normal()


def endless(d):
    """It may not end."""
    while d > 1:
        d = d - 1
    return d


def through_a_helper(d):
    """It does by another."""
    return endless(d) + 1


@pytest.mark.parametrize("function", [drawn, endless, through_a_helper, lambda d: d, max])
def test_what_draws_or_may_not_end_is_left_alone(function):
    assert ways(function) == ()


def test_a_function_stays_as_it_is():
    changed = {way.kind: way.compute for way in ways(half)}
    assert changed["one_factor_missing"](5.0) == 5.0 or changed["one_factor_missing"](5.0) == 0.4
    assert half(5.0) == 2.0
