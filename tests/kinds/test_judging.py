"""What an answer in numbers earns: four digits everything, fewer half, arrays by their share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.exercise import Choice, Count, Figure, FormatError, Numbers, Shape
from autograder.student.judging import tolerance_of

KIND = Numbers()


def credit(given, right, kind=KIND):
    right = kind.read(right)
    return kind.judge(kind.read(given, like=right), right).credit


@given(st.floats(-1e6, 1e6).filter(lambda x: abs(x) > 1e-9), st.integers(4, 9))
def test_four_digits_suffice_whatever_the_size(number, digits):
    assert credit(f"{number:.{digits - 1}e}", number) == 1
    assert credit(float(f"{number:.{digits}g}"), number) == 1


@pytest.mark.parametrize("tenths", ["1 1.5 1.7 2 2.2", [1, 1.5, 1.7, 2, 2.2]])
def test_rounded_numbers_may_have_lost_a_zero_at_the_end(tenths):
    right = KIND.read([1, 1.4937, 1.7119, 2.0197, 2.2398])
    found = KIND.judge(KIND.read(tenths, like=right), right)
    assert (found.note, found.credit) == ("too_coarse", pytest.approx(0.6))
    other = KIND.read("1 1.5 1.7 2 2.3", like=right)
    assert KIND.judge(other, right).note == ""


@given(st.floats(1e-5, 1e5))
def test_the_tolerance_has_no_cliff(number):
    at, beside = tolerance_of(number, KIND.rule), tolerance_of(number * 1.001, KIND.rule)
    assert at <= beside <= at * 1.0011


@pytest.mark.filterwarnings("error")
def test_the_largest_numbers_are_judged_without_a_warning():
    assert credit("1.7e308", 1.7e308) == 1
    assert credit("1.6e308", 1.7e308) == 0


def test_an_array_earns_its_share_where_half_is_right():
    right = [0.1, 0.2, 0.3, 0.4]
    assert credit([0.1, 0.2, 0.3, 0.9], right) == 0.75
    assert credit([0.1, 0.2, 0.8, 0.9], right) == 0.5
    assert credit([0.1, 0.7, 0.8, 0.9], right) == 0
    assert credit([0.1, 0.2, 0.3, 0.9], right, Numbers(whole=True)) == 0
    assert credit([1, 2, 9], [1, 2, 3], Count()) == pytest.approx(2 / 3)
    assert credit([1, 2, 9], [1, 2, 3], Count(whole=True)) == 0


def test_entries_that_come_with_a_guess_earn_nothing():
    mask = np.tril(np.random.default_rng(0).random((3, 3)))
    mask[0, 0] = 0
    assert credit(np.zeros((3, 3)), mask) == 0
    assert credit(np.ones((2, 2)), [[1, 1], [1, 0.5]]) == 0


def test_equal_entries_that_were_told_from_the_others_count():
    assert credit([4, 4, 4, 1, 1], [4, 4, 4, 2, 3], Count()) == 0.6
    assert credit([4, 4, 4, 4, 1], [4, 4, 4, 2, 3], Count()) == 0.6
    assert credit([4, 4, 4, 4, 4], [4, 4, 4, 2, 3], Count()) == 0
    assert credit("4 4 4 1 1", [4, 4, 4, 2, 3]) == 0.6
    right = {"in": (1, 8), "hidden": (1, 32), "out": (1, 8)}
    assert credit([(1, 8), (8, 32), (1, 8)], right, Shape()) == pytest.approx(2 / 3)
    assert credit([(1, 8), (1, 8), (1, 8)], right, Shape()) == 0


def test_zeros_of_a_mask_earn_nothing_alone():
    banded = [[0.3, 0, 0, 0], [0.2, 0.8, 0, 0], [0, 0.7, 0.3, 0], [0, 0, 0.6, 0.4]]
    nonsense = np.where(np.array(banded) != 0, 7, 0)
    assert credit(nonsense, banded) == 0
    half = np.where(np.arange(4)[:, None] < 2, banded, nonsense)
    assert credit(half, banded) == 0
    nearly = np.where(np.arange(4)[:, None] < 3, banded, nonsense)
    assert credit(nearly, banded) == 14 / 16


def test_nan_and_infinity_are_right_where_they_are_asked_for():
    kind = Numbers(special=True)
    assert credit("inf nan -inf", [np.inf, np.nan, -np.inf], kind) == 1
    assert credit("inf 2 -inf", [np.inf, np.nan, -np.inf], kind) < 1


@given(st.integers(1, 6), st.integers(0, 2**8 - 1))
def test_letters_at_random_earn_nothing_on_average(apply, marks):
    options = "ABCDEFGH"
    kind, right = Choice(options, multiple=True), options[:apply]
    given = "".join(o for i, o in enumerate(options) if marks >> i & 1)
    mirrored = "".join(o for o in options if o not in given)  # as likely as the other
    earned = [credit(letters or "none", right, kind) for letters in (given, mirrored)]
    assert min(earned) == 0
    assert credit(options, right, kind) == 0


@pytest.mark.parametrize(
    "given",
    [
        "(2, n, 2d)",
        "2 × n × 2*d",
        (2, "n", "d*2"),
        ["2", "n", "4*d/2"],
        "2, n, d + d",
        r"\mathbb{R}^{2 \times n \times 2d}",
        r"(2, n, \frac{4d}{2})",
        "2 X n x 2d",
    ],
)
def test_sizes_may_be_formulas_in_names(given):
    assert credit(given, (2, "n", "2*d"), Shape(names="n d")) == 1
    assert credit(given, (2, "d", "2*n"), Shape(names="n d")) == 0


@pytest.mark.parametrize("given", ["(2, k)", (2, "n_k"), (2, "nd"), 3, "(2, n)(3)", (2, 0.5)])
def test_sizes_in_other_names_get_a_sentence(given):
    with pytest.raises(FormatError, match=r"such as \(2, n, d\) with sizes in n, d"):
        Shape(names="n d").read(given, like=(2, "n"))


@pytest.mark.parametrize("given", ["(2, ⌈n/d⌉)", (2, "ceil(n/d)")])
def test_sizes_in_names_are_not_rounded(given):
    with pytest.raises(FormatError, match="sizes without rounding"):
        Shape(names="n d").read(given, like=(2, "n"))


SHAPES = {"in": (1, 8), "hidden": (1, 32), "out": (1, 8)}


def test_of_several_shapes_each_counts():
    assert credit({"out": "1 × 8", "in": [1, 8], "hidden": (1, 32)}, SHAPES, Shape()) == 1
    assert credit([(1, 8), (1, 32), (1, 8)], SHAPES, Shape()) == 1
    assert credit("1×8; 1×32; 1×8", SHAPES, Shape()) == 1
    assert credit(r"out: 1 \times 8; in = (1, 8); hidden: [1, 32]", SHAPES, Shape()) == 1
    assert credit("(1, 8), (1, 32), (1, 8)", SHAPES, Shape()) == 1
    assert credit("[(1, 8), (1, 32), (1, 8)]", SHAPES, Shape()) == 1
    assert credit(
        {"in": (1, 9), "hidden": (1, 32), "out": (1, 8)}, SHAPES, Shape()
    ) == pytest.approx(2 / 3)
    assert credit({"hidden": (1, 32), "out": (1, 8)}, SHAPES, Shape()) == pytest.approx(2 / 3)
    assert credit([(1, 8)] * 3, SHAPES, Shape()) == 0


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"inner": (1, 8)}, "a dictionary with in, hidden, out is expected"),
        ([(1, 8)], "a dictionary with in, hidden, out is expected"),
        ({"in": (1, "q")}, "in: numbers are expected"),
    ],
)
def test_shapes_that_are_none_get_a_sentence(given, says):
    with pytest.raises(FormatError, match=says):
        Shape().read(given, like=SHAPES)


TINY = Numbers(between=(0, 1e-12))


@pytest.mark.parametrize("number", ["3e-16", 0, 1e-12, "9.99×10^-13"])
def test_any_number_of_a_band_is_right(number):
    assert credit(number, 2e-15, TINY) == 1


@pytest.mark.parametrize("number", ["1.1e-12", -1e-15, 0.5])
def test_a_number_beside_a_band_is_wrong(number):
    assert credit(number, 2e-15, TINY) == 0
    assert not TINY.same(TINY.read(number), TINY.read(2e-15))


def test_a_band_may_be_open_and_counts_entry_by_entry():
    half = Numbers(between=(0.5, np.inf))
    assert credit([0.5, 9], [0.9, 0.8], half) == 1
    assert credit([0.6, 0.7, 0.2], [0.9, 0.8, 0.7], half) == pytest.approx(2 / 3)
    assert half.same(half.read(0.2), half.read(0.2))  # a mistake is known again
    assert not half.same(half.read(0.3), half.read(0.2))
    with pytest.raises(ValueError, match="from 2 to 1"):
        Numbers(between=(2, 1))
    with pytest.raises(ValueError, match="one of them"):
        Numbers(between=(0, 1), places=2)


def starts_at_chance(loss):
    """Before training a model guesses: where does the loss of a guess lie?"""
    return abs(loss[1][0] - np.log(9)) < 0.3


def falls(loss):
    """Smoothed, it should fall."""
    thirds = [part.mean() for part in np.array_split(loss[1], 3)]
    return thirds[0] > 1.1 * thirds[1] > 1.2 * thirds[2]


STEPS = np.arange(60)
LOSS = Figure(properties=(starts_at_chance, falls))
RIGHT = (STEPS, np.log(9) * np.exp(-STEPS / 20))


@pytest.mark.parametrize(
    ("curve", "share"),
    [
        ((STEPS, 2.1 * np.exp(-STEPS / 9)), 1),
        ((STEPS[::-1], 2.1 * np.exp(-STEPS[::-1] / 9)), 1),
        ((np.arange(600), 2.2 * 0.99 ** np.arange(600)), 1),
        ((STEPS, 9 * np.exp(-STEPS / 9)), 0.5),
        ((STEPS, np.full(60, 2.2)), 0.5),
        ((STEPS, np.arange(60.0)), 0),
    ],
)
def test_a_curve_may_be_judged_by_its_properties(curve, share):
    assert credit({"loss": curve}, {"loss": RIGHT}, LOSS) == share


def test_data_of_another_form_show_nothing():
    odd = [(STEPS, STEPS[:3]), np.array(3.0)]
    assert not any(LOSS.same({"loss": data}, {"loss": RIGHT}) for data in odd)


def test_a_curve_that_follows_from_a_slip_has_to_show_the_same():
    flat = (STEPS, np.full(60, 2.2))  # a loss that doesn't fall
    assert credit({"loss": flat}, {"loss": (STEPS, 2.3 - STEPS / 1000)}, LOSS) == 1
    assert credit({"loss": RIGHT}, {"loss": flat}, LOSS) == 0.5


def test_what_a_curve_lacks_is_said():
    found = LOSS.judge({"loss": (STEPS, np.full(60, 2.2))}, {"loss": RIGHT})
    assert found.feedback == "Smoothed, it should fall."
    assert LOSS.same({"loss": (STEPS, 9 + STEPS)}, {"loss": (STEPS, 8 + STEPS)})
    assert all(
        attempt.at_most < 1 for attempt in LOSS.attempts({"loss": RIGHT}) if "flat" in attempt.name
    )
