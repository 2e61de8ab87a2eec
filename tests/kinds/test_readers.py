"""One reader: what check calls filled in, the grader can read, and the other way round."""

from fractions import Fraction

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.exercise import (
    Choice,
    Count,
    Essay,
    Figure,
    FormatError,
    Fractions,
    Labels,
    Numbers,
    Ordering,
    Shape,
    Witness,
)
from autograder.sandbox.wire import WireError, decode
from autograder.sandbox.wire.encoding import encode_parts
from autograder.student.answers import _looked_at
from autograder.student.readers import read
from autograder.student.reading import is_blank

X = np.linspace(0, 1, 21)
STEPS = Ordering(["one", "two", "three", "four"], {"five": ("five", "There are four.")})
SHUFFLED = STEPS.shuffled(np.random.default_rng(0))
#: Every kind whose answers aren't mathematics, with a right value.
KINDS = [
    (Numbers(), np.array(0.25)),
    (Numbers(), np.array([1 / 3, 2 / 3])),
    (Numbers(), np.ones((2, 2))),
    (Numbers(places=2), np.array(0.25)),
    (Numbers(figures=2), np.array(0.25)),
    (Numbers(unit="MiB"), np.array(1.5)),
    (Numbers(special=True), np.array([np.inf, np.nan])),
    (Numbers(between=(0, 1)), np.array(0.5)),
    (Count(), np.array(3, object)),
    (Count(), np.array([3, 4], object)),
    (Fractions(), np.array(Fraction(1, 3), object)),
    (Shape(), (2, 3)),
    (Shape(names="n d"), Shape(names="n d").read((2, "n"))),
    (Shape(), {"in": (2, 3), "out": (2, 4)}),
    (Choice("ABCD"), "B"),
    (Choice("ABCD", multiple=True), "AC"),
    (STEPS, STEPS.order(SHUFFLED)),
    (Labels("T F"), {"C1": "T", "C2": "F"}),
    (Figure(), {"1": (X, X), "2": np.ones((2, 2))}),
    (Witness(lambda x: bool(x.any())), np.zeros(2)),
]

SPELLINGS = (
    "D,|5 s|1,048,576|1_048_576|4.0|0.25|1.5 GiB|½|33.3%|–0.5|0e400|1e400|1e-400|nan|-inf|2×3|"
    "1 2; 3 4|[[1, 2], [3, 4]]|1/0|9**9**9|none|log(log(2))|1/(1+exp(2))|0,333"
)

numbers = st.one_of(
    st.integers(),
    st.integers(-9, 99),
    st.floats(),
    st.booleans(),
    st.complex_numbers(),
    st.sampled_from([np.float32(0.1), np.int8(3), np.float16(0.5), np.bool_(True), 10**1300]),
)
written = st.one_of(
    st.text(max_size=30),
    st.text("0123456789.,;/ -+*^()[]eE×½²%|\n", max_size=20),
    st.text("ABCDabcd ,;", max_size=6),
    st.sampled_from(SPELLINGS.split("|")),
)
odd = st.recursive(
    st.one_of(numbers, written, st.none(), st.binary(max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(st.text(max_size=2), st.integers(0, 3)), inner, max_size=3),
        st.sets(st.one_of(st.text("ABCDE", max_size=2), st.integers(0, 9)), max_size=3),
    ),
    max_leaves=8,
) | arrays.arrays(
    st.sampled_from(["f8", "f4", "i8", "u1", "?", "c16"]),
    arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
)


def assert_that_it_says_something(sentence):
    assert 10 < len(sentence) < 300


def travelled(raw):
    """Return a value as it reaches the grader, or None where it can't."""
    try:
        header, pieces = encode_parts(raw)
        return True, decode(header, bytearray(b"".join(pieces)))
    except WireError:
        return False, None


@settings(max_examples=1000, deadline=None)
@given(raw=odd)  # all kinds get the same values: it is drawing them that takes time
def test_an_odd_value_is_read_by_both_or_refused_by_both_with_a_sentence(raw):
    if is_blank(raw):
        return
    arrived, value = travelled(raw)
    for kind, right in KINDS:
        (line, *_) = _looked_at("answer", kind.hint(right), raw)
        if not arrived:
            continue
        try:
            kind.judge(kind.read(value, like=right), right)
            graded = True
        except FormatError as error:
            graded, sentence = False, str(error)
            assert_that_it_says_something(sentence)
        assert line.lstrip().startswith("✓ filled in") == graded, (kind, raw, line)


HUGE = [
    np.empty((2**31 - 1, 0)),
    np.zeros(200_001),
    "1 " * 1_500_000,
    "0e400",
    "1e999999999999",
    "9**9**9**9",
    "log(" * 30,
    "(" * 3000,
    "-" * 3000 + "1",
    [[[[[[[[[[[[1]]]]]]]]]]]],
    [[0] * 1000] * 1000,
    10**1200,
    np.array(3.0),
    "½" * 500,
    "A" * 100_000,
    {str(i): 1 for i in range(1000)},
    b"1",
    np.float64("nan"),
    "\ud800",
    "٣",
]


@pytest.mark.parametrize("raw", HUGE, ids=lambda raw: repr(raw)[:20])
@pytest.mark.parametrize(("kind", "right"), KINDS, ids=lambda value: repr(value)[:24])
def test_what_is_huge_or_strange_costs_nothing(kind, right, raw):
    try:
        kind.judge(kind.read(raw, like=right), right)
    except FormatError as error:
        assert_that_it_says_something(str(error))


def test_an_essay_is_whatever_stands_there():
    assert Essay().read(3) == "3"


SCALAR = {"kind": "numbers", "shape": []}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1/(1+exp(2))", 1 / (1 + np.exp(2))),
        ("½", 0.5),
        ("1½", 1.5),
        ("33.3%", 0.333),
        ("3.33×10^-1", 0.333),
        ("2^-14*10^8", 10**8 / 2**14),
        ("1e-3*10^2", 0.1),
        ("96(80 + 1)/(96 + 80)", 96 * 81 / 176),
        ("(2 + 3)(4)^2", 80),
        ([0.25], 0.25),
        ("2^3*10^2", 800),
        ("–0.5", -0.5),
        ("1,000", 1000),
        ("2*6*1000*512*2", 12_288_000),
        ("10⁻³", 1e-3),
        ("√2", np.sqrt(2)),
        ("-2^2", -4),
        ("2^3^2", 512),
        ("7/2/2", 1.75),
        ("np.exp(1)", np.e),
        ("0e400", 0),
    ],
)
def test_numbers_may_be_written_in_many_ways(text, value):
    assert read(text, SCALAR).value == pytest.approx(value)


@pytest.mark.parametrize("text", ["1 2; 3 -4", "1 2\n3 -4", "[[1, 2], [3, -4]]", "[1 2; 3 -4]"])
def test_a_matrix_may_be_text(text):
    hint = {"kind": "numbers", "shape": [2, 2]}
    assert read(text, hint).value.tolist() == [[1, 2], [3, -4]]


@pytest.mark.parametrize("text", ["0.52 1.5", "0.52% 1.5 %", ["0.52 %", 1.5]])
def test_the_sign_of_percent_may_be_left_out(text):
    hint = {"kind": "numbers", "shape": [2], "unit": "%"}
    assert read(text, hint).value == pytest.approx([0.52, 1.5])


def test_commas_that_group_digits_get_a_word():
    with pytest.raises(FormatError, match="separates numbers: 1048576, not 1,048,576"):
        read("1,048,576 2,097,152", {"kind": "count", "shape": [2]})


def test_a_decimal_comma_gets_a_word():
    with pytest.raises(FormatError, match=r"the decimal sign is a point: 0\.333, not 0,333"):
        read("0,333", SCALAR)


@pytest.mark.parametrize("few", ["0.33", 0.33, "33%", np.float32(0.33), "3.3e-1", 88])
def test_few_digits_get_a_word_beforehand(few):
    assert "fewer than 4 digits" in read(few, SCALAR).advice


@pytest.mark.parametrize("enough", ["0.3333", "1/3", 1 / 3, 2, 2.0, "3", 0])
def test_enough_digits_get_none(enough):
    assert read(enough, SCALAR).advice == ""


def test_what_is_read_is_shown():
    assert _looked_at("p", SCALAR, "1/8") == ["  ✓ filled in  p: 0.125"]
    assert _looked_at("p", SCALAR, "0.33")[1].startswith("        (fewer than 4 digits")


@pytest.mark.parametrize("written", ["A, C and D", "A and C, D", "d & a & c", "A + C + D"])
def test_letters_may_be_joined_by_words(written):
    assert Choice("ABCD", multiple=True).read(written) == "ACD"


@pytest.mark.parametrize("axis", [0, 1])
def test_three_numbers_may_be_a_row_or_a_column(axis):
    right = np.array([0.1, 0.2, 0.7])
    read_back = Numbers().read(np.expand_dims(right, axis), like=right)
    assert Numbers().judge(read_back, right).credit == 1


def test_a_table_is_no_list_of_numbers():
    with pytest.raises(FormatError, match="4 numbers expected"):
        Numbers().read(np.ones((2, 2)), like=np.ones(4))
