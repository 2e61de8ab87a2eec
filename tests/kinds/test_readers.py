"""One reader: what check says it reads, the grader can read, and the other way round."""

import sys
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import hypothesis.extra.numpy as arrays
import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.algebra.building.library import CALLS, CONSTANTS
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.preview import look
from autograder.course.release.asked import hint_of
from autograder.exercise import (
    Choice,
    ComplexityClass,
    Count,
    Essay,
    Figure,
    FormatError,
    Formula,
    Fractions,
    Labels,
    Matrix,
    Numbers,
    Ordering,
    Shape,
    Witness,
)
from autograder.sandbox.wire import WireError, decode
from autograder.sandbox.wire.encoding import encode_parts
from autograder.student.answers import _looked_at
from autograder.student.formulas import lines_of
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
    (Count(unit="B"), np.array(12288, object)),
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
#: Of mathematics the notebook looks at the grammar alone, and a little more is refused later.
MATHEMATICS = [
    (Formula("a n"), Formula("a n").read("a n")),
    (Matrix("a"), Matrix("a").read([["a", 1], [0, 2]])),
    (ComplexityClass("a n"), ComplexityClass("a n").read("a n")),
]

SPELLINGS = (
    "D,|5 s|1,048,576|1_048_576|4.0|0.25|1.5 GiB|½|33.3%|–0.5|0e400|1e400|1e-400|nan|-inf|2×3|"
    "1 2; 3 4|[[1, 2], [3, 4]]|1/0|9**9**9|none|log(log(2))|1/(1+exp(2))|0,333|"
    r"\frac{1}{3}|1\frac12|16 \sqrt{2}|$2^{10}$|\begin{pmatrix} a & 1 \\ 0 & 2 \end{pmatrix}|"
    r"\sqrt[3]{8}|a 1; 0 2|384 x 384|2 \times 3|\mathbb{R}^{2 \times 3}|\approx 0.33|12 KiB|"
    r"\lceil n/2 \rceil|ceil(a/2)|ln ln 2|√√4|frac|\sqrt[|log_2|2e|[[a, 1], [0, 2]]|"
    "\frac{1}{2}|Matrix([[a, 1], [0, 2]])"
)

SYMPY = [sympy.Rational(1, 3), sympy.Integer(3), sympy.Float("0.07"), sympy.sqrt(768), sympy.I]
numbers = st.one_of(
    st.integers(),
    st.integers(-9, 99),
    st.floats(),
    st.booleans(),
    st.complex_numbers(),
    st.sampled_from([np.float32(0.1), np.int8(3), np.float16(0.5), np.bool_(True), 10**1300]),
    st.sampled_from([Fraction(1, 3), Fraction(4), Decimal("2.631"), Decimal("nan"), *SYMPY]),
)
written = st.one_of(
    st.text(max_size=30),
    st.text("0123456789.,;/ -+*^()[]eE×½²%|\n", max_size=20),
    st.text(r"01a \&{}[];^√π$", max_size=16),
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
        assert line.lstrip().startswith("→ read as") == graded, (kind, raw, line)


@pytest.fixture(scope="module")
def formulas():
    """What check.py asks how a formula is read."""
    words = {"CALLS": frozenset(CALLS), "CONSTANTS": frozenset(CONSTANTS)}
    ours = SimpleNamespace(look=look, ParseError=ParseError, **words)
    sys.modules["check_formulas"] = ours
    yield
    del sys.modules["check_formulas"]


@settings(max_examples=300, deadline=None)
@given(raw=odd)
def test_mathematics_that_the_grader_reads_is_called_filled_in(formulas, raw):
    arrived, value = travelled(raw)
    if is_blank(raw) or not arrived:
        return
    for kind, right in MATHEMATICS:
        (line, *_) = _looked_at("answer", kind.hint(right), raw)
        try:
            kind.read(value, like=right)
        except FormatError as error:
            assert_that_it_says_something(str(error))
        else:
            assert line.lstrip().startswith("→ read as"), (kind, raw, line)


@pytest.mark.parametrize(
    "text",
    [
        "a 1; 0 2",
        "a, 1\n0, 2",
        "[[a, 1], [0, 2]]",
        "[a 1; 0 2]",
        ["a 1", "0 2"],
        "Matrix([[a, 1],\n [0, 4/2]])",
        "np.array([[a, 1], [0, 2]])",
        "1*a 2 - 1; 0 2",
        "1  *  a   2  -  1;  0  2",
        r"\begin{pmatrix} a & 1 \\ 0 & 2 \end{pmatrix}",
        r"$\begin{bmatrix} a & 1 \\[1ex] 0 & \frac{4}{2} \\ \end{bmatrix}$",
        r"\[\left(\begin{array}{cc}a&1\\0&2\end{array}\right)\]",
        "\begin{pmatrix} a & 1 \\ 0 & 2 \\end{pmatrix}",  # without the r
    ],
)
def test_a_matrix_of_formulas_may_be_text(formulas, text):
    kind, right = MATHEMATICS[1]
    assert kind.same(kind.read(text, like=right), right)
    assert read(text, kind.hint(right)).shown.startswith("read as\n[")


@pytest.mark.parametrize(
    "text", ["a 1 0 2", r"2 \begin{pmatrix} a & 1 \\ 0 & 2 \end{pmatrix}", "1 0", 3, "a - 1; 0 2"]
)
def test_what_is_no_such_matrix_is_refused_by_both(formulas, text):
    kind, right = MATHEMATICS[1]
    with pytest.raises(FormatError):
        kind.read(text, like=right)
    with pytest.raises(FormatError):
        read(text, kind.hint(right))


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
        ("1.2 x 10^-3", 1.2e-3),
        ("384 × 384", 147456),
        ("16√2", 16 * np.sqrt(2)),
        ("4 ln 2", 4 * np.log(2)),
        ("2ln2", 2 * np.log(2)),
        ("log_2(8) + log2 8", 6),
        ("1/2 -1/3", 1 / 6),
        ("ceil(7/2)*⌊7/2⌋", 12),
        ("p = 0.25", 0.25),
        ("≈ 0.333...", 0.333),
        ("2*5! + factorial(3)", 246),
        ("array(0.25)", 0.25),
        ("1'048'576", 1048576),
        (r"16\sqrt{2}", 16 * np.sqrt(2)),
        (r"16 \sqrt 2", 16 * np.sqrt(2)),
        (r"$-\ln(0.072)$", -np.log(0.072)),
        (r"\(\frac{3}{8}\)", 3 / 8),
        (r"-\dfrac12", -1 / 2),
        (r"2^{10}", 1024),
        (r"\mathrm{e}^{-2}", np.exp(-2)),
        (r"1.2 \cdot 10^{-3}", 1.2e-3),
        (r"\approx 0.33", 0.33),
        (r"33.3\,\%", 0.333),
        (r"1{,}048{,}576", 1048576),
        (r"\log_2 8 + \log_{10}(100)", 5),
        (r"\left(\frac{1}{2}\right)^{3}", 1 / 8),
        (r"\frac{e^{-2 \ln 3}}{1 + \pi}", 1 / 9 / (1 + np.pi)),
        (r"\sqrt[3]{8}", 2),
        (r"\lceil 7/2 \rceil", 4),
        ("\frac{3}{8} \times 10^{-2}", 3 / 800),  # without the r
        (r"2\pi\sqrt{500}", 2 * np.pi * np.sqrt(500)),
        (r"\pi\ln 2", np.pi * np.log(2)),
        (r"2\pi e", 2 * np.pi * np.e),
        (r"e\ln 2", np.e * np.log(2)),
        (r"2e\sqrt{2}", 2 * np.e * np.sqrt(2)),
        ("2πe√3", 2 * np.pi * np.e * np.sqrt(3)),
        (r"\frac{\pi}{2}\sqrt{3}", np.pi / 2 * np.sqrt(3)),
    ],
)
def test_numbers_may_be_written_in_many_ways(text, value):
    assert read(text, SCALAR).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"\frac{1+3e+2e^{-2}}{1+e}", (1 + 3 * np.e + 2 * np.exp(-2)) / (1 + np.e)),
        ("3e+2", 3 * np.e + 2),
        ("3e + 2", 3 * np.e + 2),
        ("3e - 2", 3 * np.e - 2),
        ("3e^2", 3 * np.exp(2)),
        ("3e(2+1)", 9 * np.e),
        ("4e-1.5e^-1", 4 * np.e - 1.5 / np.e),
        (r"2\mathrm{e}-1", 2 * np.e - 1),
        ("2ℯ-1", 2 * np.e - 1),
        ("2.5e-3", 0.0025),
        ("5*1e-3", 0.005),
        ("2*3e-04", 0.0006),
        ("2*3E-4", 0.0006),
        ("2e3/4", 500),
        ("1e+16", 1e16),
        ("1.5e+20", 1.5e20),
        ("e^2 + 1e-3", np.exp(2) + 0.001),
    ],
)
def test_the_e_behind_a_number_is_eulers_or_a_power_of_ten_for_numbers_and_formulas(text, value):
    assert read(text, SCALAR).value == pytest.approx(value)
    assert float(Formula("x").read(text)) == pytest.approx(value)


@pytest.mark.parametrize(("text", "value"), [("3e-2", 0.03), ("-3e-12", -3e-12)])
def test_a_number_by_itself_is_one_where_a_number_is_asked_for(text, value):
    assert read(text, SCALAR).value == pytest.approx(value)
    with pytest.raises(FormatError, match="may be .* or Euler's e"):
        Formula("x").read(text)


@pytest.mark.parametrize(
    "text", ["(2e-1)/5", "2e-1 + e^2", "5*3e-4", "2.5e-3 + 3e", "1 + 3e-2", "exp(2e-3)", "4*3e+20"]
)
def test_what_may_be_eulers_or_a_power_of_ten_is_refused_with_both_readings(text):
    for reads in (lambda: read(text, SCALAR), lambda: Formula("x").read(text)):
        with pytest.raises(
            FormatError, match=r"may be [\d.]+\*10\^-?\d+, or Euler's e: [\d.]+\*e "
        ):
            reads()


def test_entries_of_a_list_are_each_a_power_of_ten():
    hint = {"kind": "numbers", "shape": [3]}
    for text in ("3e-4, -2e-3, 4e-1", "[3e-4 -2e-3 4e-1]", "3e-4; -2e-3; 4e-1"):
        assert read(text, hint).value.tolist() == [3e-4, -2e-3, 0.4]
    assert read("3e-4 s", {"kind": "numbers", "shape": [], "unit": "s"}).value == 3e-4


@pytest.mark.parametrize("factor", [r"1\frac{1}{2}", "1/2π", "1 2", "3!!", "0x10"])
def test_what_could_be_meant_otherwise_is_not_guessed(factor):
    with pytest.raises(FormatError):
        read(factor, SCALAR)


@pytest.mark.parametrize("number", ["1.07e+03e-3", "[2, 1e3E2]", "3 × 10^1e-2"])
def test_a_number_with_two_exponents_gets_a_sentence(number):
    with pytest.raises(FormatError, match="has two exponents: write one"):
        read(number, {"kind": "numbers"})


@pytest.mark.parametrize("text", [r"\ln 2\pi", "ln 2(3 + 4)", "cos 2 (3)", "2 exp 2 √3", "√2%"])
def test_it_is_not_guessed_what_a_function_without_brackets_is_taken_of(text):
    with pytest.raises(FormatError, match=r"it is unclear what (\w+|√) is taken of: write \1\("):
        read(text, SCALAR)
    assert read("2 ln 2 ln 3", SCALAR).value == pytest.approx(2 * np.log(2) * np.log(3))


def test_numbers_without_a_sign_between_are_a_product_only_where_one_is_asked_for():
    several = read(r"0.25 \frac{3}{8} √4", {"kind": "numbers", "shape": [3]})
    assert several.value.tolist() == [0.25, 0.375, 2]
    factors = read([r"2 \frac{√9}{8}", "√4"], {"kind": "numbers", "shape": [2]})
    assert factors.value.tolist() == [0.75, 2]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("9 GiB", "write the number alone, without 'GiB', in the unit that the text asks for"),
        (r"5\,\mathrm{s}", "without 's', in the unit"),
        ("5 tokens", "write the number alone, without 'tokens'"),
    ],
)
def test_a_unit_that_nobody_asks_for_gets_a_sentence(text, says):
    with pytest.raises(FormatError, match=says):
        read(text, SCALAR)


@pytest.mark.parametrize("text", ["1536", "1.5 GiB", r"1.5\,\text{GiB}", 1536, "1610612736 bytes"])
def test_a_number_may_stand_without_the_unit_that_is_asked_for(text):
    found = read(text, SCALAR | {"unit": "MiB"})
    assert (found.value, found.shown) == (1536, "1536 MiB")


@pytest.mark.parametrize("text", ["12 KiB", "12288", "12,288 B", "3 x 4096", r"12\cdot 2^{10}"])
def test_what_is_counted_may_have_a_unit(text):
    right = Count(unit="B").read(12288)
    kind = Count(unit="B")
    assert kind.judge(kind.read(text, like=right), right).credit == 1
    with pytest.raises(FormatError, match="numbers in B are expected, not '5 s'"):
        kind.read("5 s", like=right)


@pytest.mark.parametrize(
    "text",
    [
        "1 2; 3 -4",
        "1 2\n3 -4",
        "[[1, 2], [3, -4]]",
        "[1 2; 3 -4]",
        r"$\begin{pmatrix} 1 & 2 \\ 3 & -4 \end{pmatrix}$",
        "\begin{bmatrix} 1 & 2 \\ 3 & -4 \\end{bmatrix}",
    ],
)
def test_a_matrix_may_be_text(text):
    hint = {"kind": "numbers", "shape": [2, 2]}
    assert read(text, hint).value.tolist() == [[1, 2], [3, -4]]


@pytest.mark.parametrize("text", ["0.52 1.5", "0.52% 1.5 %", ["0.52 %", 1.5]])
def test_the_sign_of_percent_may_be_left_out(text):
    hint = {"kind": "numbers", "shape": [2], "unit": "%"}
    assert read(text, hint).value == pytest.approx([0.52, 1.5])


def test_the_last_unit_is_that_of_one_text_and_of_no_other():
    hint = {"kind": "numbers", "shape": [2], "unit": "GiB"}
    assert read("1024 6144 MiB", hint).value.tolist() == [1, 6]
    assert read(["1", "6144 MiB"], hint).value.tolist() == [1, 6]


def test_commas_that_group_digits_get_a_word():
    with pytest.raises(FormatError, match="separates numbers: 1048576, not 1,048,576"):
        read("1,048,576 2,097,152", {"kind": "count", "shape": [2]})


def test_a_comma_that_may_be_either_gets_a_word_for_both():
    with pytest.raises(FormatError, match=r"separates numbers: 1024 or 1\.024, not 1,024"):
        read("1,024 2,048", {"kind": "count", "shape": [2]})


@pytest.mark.parametrize("text", ["3 and 4", "3, and 4", "3 & 4", "np.array([3, 4])", "3; 4"])
def test_two_numbers_may_stand_in_many_ways(text):
    assert read(text, {"kind": "count", "shape": [2]}).value.tolist() == [3, 4]


def test_rows_that_are_written_in_a_line_are_told_how_rows_are_parted():
    with pytest.raises(FormatError, match=r'10 numbers given; a semicolon parts rows, as in "1 2;'):
        read("0 0 0 1 1, 1 1 1 1 1", {"kind": "count", "shape": [2, 5]})


def test_a_decimal_comma_gets_a_word():
    with pytest.raises(FormatError, match=r"the decimal sign is a point: 0\.333, not 0,333"):
        read("0,333", SCALAR)


def test_where_everybody_s_answer_is_exact_digits_get_no_word():
    part = SimpleNamespace(manual=False, answer=Numbers())
    exact = hint_of(part, [np.array([0.5, 2]), np.array([1.25, -3])])
    assert read("0.5 2", exact).advice == ""
    some = hint_of(part, [np.array([0.5, 2]), np.array([1 / 3, 2])])  # alone it would say whose
    assert "fewer than 4 digits" in read("0.5 2", some).advice
    asked = hint_of(SimpleNamespace(manual=False, answer=Numbers(places=3)), [np.array([0.5, 2])])
    assert "3 decimals" in read("0.5 2", asked).advice


@pytest.mark.parametrize("few", ["0.33", 0.33, "33%", np.float32(0.33), "3.3e-1", 88])
def test_few_digits_get_a_word_beforehand(few):
    assert "fewer than 4 digits" in read(few, SCALAR).advice


@pytest.mark.parametrize(
    ("array", "few"),
    [
        ([0.2, 0.5, 0.625], False),
        ([0.2, 1 / 3], False),
        ([0.2, 0.5, 0.62], False),
        ([0.33, 0.5], True),
        ([0.33, 0.67, 0.5], True),
        ([1, 1.5, 1.7, 2, 2.2], True),
    ],
)
def test_short_numbers_of_a_computed_array_get_none_and_rounded_ones_do(array, few):
    asked = {"kind": "numbers", "shape": [len(array)]}
    assert bool(read(np.array(array), asked).advice) is few
    assert read(array[:2], asked | {"shape": [2]}).advice  # who types them may have rounded


@pytest.mark.parametrize("enough", ["0.3333", "1/3", 1 / 3, 2, 2.0, "3", 0])
def test_enough_digits_get_none(enough):
    assert read(enough, SCALAR).advice == ""


def test_what_is_read_is_shown():
    assert _looked_at("p", SCALAR, "1/8") == ["  → read as    p: 0.125"]
    assert _looked_at("p", SCALAR, "0.33")[1].startswith("        (fewer than 4 digits")


@pytest.mark.parametrize(
    "written",
    ["A, C and D", "A and C, D", "d & a & c", "A + C + D", "A/C/D", "{A, C, D}", "['A', 'C', 'D']"],
)
def test_letters_may_be_joined_by_words(written):
    assert Choice("ABCD", multiple=True).read(written) == "ACD"


@pytest.mark.parametrize("written", [",", ".", "$$", "''", "-", "?"])
def test_signs_alone_are_no_letters(written):
    with pytest.raises(FormatError):
        Choice("ABCD", multiple=True).read(written)


@pytest.mark.parametrize("raw", [[[0.5]], np.array([[0.5]]), np.full((1, 1, 1), 0.5), "[[0.5]]"])
def test_one_number_is_one_in_however_many_brackets(raw):
    assert float(Numbers().read(raw, like=0.5)) == 0.5
    assert float(read(raw, Numbers().hint(0.5)).value) == 0.5


@pytest.mark.parametrize("axis", [0, 1])
def test_three_numbers_may_be_a_row_or_a_column(axis):
    right = np.array([0.1, 0.2, 0.7])
    read_back = Numbers().read(np.expand_dims(right, axis), like=right)
    assert Numbers().judge(read_back, right).credit == 1


def test_a_table_is_no_list_of_numbers():
    with pytest.raises(FormatError, match="4 numbers expected"):
        Numbers().read(np.ones((2, 2)), like=np.ones(4))


@pytest.mark.parametrize(
    ("kind", "raw", "right"),
    [
        (Count(), np.bool_(True), 1),
        (Count(), [True, 0, np.False_], [1, 0, 0]),
        (Count(), np.tri(3, dtype=bool), np.tri(3, dtype=int)),
        (Numbers(), np.tri(3, dtype=bool), np.tri(3)),
        (Numbers(), [[True, False], [0.5, 0.5]], [[1, 0], [0.5, 0.5]]),
    ],
)
def test_truth_values_are_0_and_1(kind, raw, right):
    right = kind.read(right)
    header, pieces = encode_parts(raw)
    for written in (raw, decode(header, bytearray(b"".join(pieces)))):
        assert kind.judge(kind.read(written, like=right), right).credit == 1


@pytest.mark.parametrize(
    ("kind", "right", "raw", "entries"),
    [
        (Numbers(), [0.1, 0.2], {0.2, 0.1}, "numbers"),
        (Numbers(), [[1, 2], [3, 4]], [{1, 2}, {3, 4}], "numbers"),
        (Count(), [1, 8], frozenset({8, 1}), "numbers"),
        (Shape(), (2, 3), {2, 3}, "sizes"),
        (Shape(names="n d"), (2, "n"), {2, "n"}, "sizes"),
        (Matrix("a"), [["a", "1"], ["0", "a"]], [{"a", "1"}, {"0", "a"}], "entries"),
    ],
)
def test_of_a_set_it_is_not_guessed_what_comes_first(kind, right, raw, entries):
    right = kind.read(right)
    header, pieces = encode_parts(raw)
    for written in (raw, decode(header, bytearray(b"".join(pieces)))):
        with pytest.raises(
            FormatError, match=f"^a set has no order: write the {entries} in a list"
        ):
            kind.read(written, like=right)


def test_a_set_of_one_number_is_that_number_in_brackets():
    assert Numbers().read({0.5}, like=np.array([0.5])) == [0.5]


def test_the_lines_of_a_derivation_are_no_set():
    with pytest.raises(FormatError, match="^a set has no order: write the lines in a list"):
        lines_of({"a", "a + 0"})
