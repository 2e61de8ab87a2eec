"""Near misses, declared functions, and hostile text."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.algebra import ParseError, Verdict, equivalent, parse

NEAR_MISSES = [
    ("x", "x + 10**-40"),
    ("x", "x + floor(abs(x)/1000)"),
    ("x", "x + floor(abs(x)/10^30)"),
    ("x", "x + sin(10**9*pi*x)"),
    ("0", "exp(-10**4*x**2)"),
    ("x", "sqrt((x + 10^9)^2) - 10^9"),
    ("x", "((x + 10^9)^4)^(1/4) - 10^9"),
    ("x", "((x + 10^5)^4)^(1/4) - 10^5"),
    ("x", "max(x, -10^12)"),
    ("x", "x*(1 + sin(pi*10^12*x)*10^-45)"),
    ("x^7 - 7", "x^7 - 7 + 10^-29"),
    ("10^40*x", "10^40*x + 1"),
    ("x^200 + 1", "x^200 + 2"),
    ("x", "x + exp(-10^6*(x - 7)^2)"),
    ("(x - 1)^2000", "(x - 1)^2000 + 1"),
    ("x", "x + max(0, x - 10^40)"),
    ("x", "x + sign(x^2 + 10^-50) - 1 + floor(10^-30*x^2)"),
    ("n!", "n! + floor(n/1000)"),
    ("sum(k, k, 1, n)", "n*(n + 1)/2 + floor(n/100)"),
]


@pytest.mark.parametrize(("expected", "given"), NEAR_MISSES)
def test_near_misses_are_not_accepted(expected, given):
    assert not equivalent(expected, given).equal
    assert not equivalent(given, expected).equal


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("y = 2*x + 1", "expected one expression, not an equation"),
        ("0 <= x < 2", "expected one expression, not an equation"),
        ("[1, 2]", "expected one expression, not a list"),
        ("(x, y)", "expected one expression, not a list"),
        ("1 + (x = 2)", "expected a formula, not an equation"),
        ("{1, 2}", "expected a number, a name"),
        ("[0, 1)", "expected ']'"),
        ("x < 1 or x > 2", "expected one expression, not an equation"),
    ],
)
def test_what_is_no_formula_is_refused_with_a_reason(text, reason):
    with pytest.raises(ParseError) as caught:
        parse(text, ["x", "y"], implicit=True)
    assert reason in caught.value.reason


def test_a_declared_function_is_one():
    assumptions = {"f": "function", "x": "real"}
    known = {"variables": ["f", "x"], "assumptions": assumptions}
    assert equivalent("f(x)^2", "f(x)*f(x)", **known).equal
    for spelled in (r"\frac{df}{dx} f", "diff(f, x) f(x)", r"f \cdot \frac{d}{dx} f(x)"):
        assert equivalent(spelled, "diff(f(x)^2, x)/2", **known).equal
    assert not equivalent(r"\frac{df}{dx} f", "0", **known).equal
    known = {"variables": ["f", "x_1"], "assumptions": {"f": "function", "x_1": "real"}}
    assert equivalent("diff(f, x_1)", "diff(f(x_1), x_1)", **known).equal


def test_maxima_are_proved_by_sizes():
    assert equivalent("max(x, 0)", "(x + abs(x))/2") == Verdict(True, "proved")
    assert equivalent("max(x, y)*min(x, y)", "x*y") == Verdict(True, "proved")


def test_steps_are_compared_where_quotients_are_whole():
    known = {"assumptions": {"n": "positive integer", "b": "positive integer"}}
    for _ in range(20):
        assert equivalent("ceiling(n/b)", "floor(n/b) + 1", **known).equal is False
        assert equivalent("ceiling(n/b)", "floor((n + b - 1)/b)", **known).equal is True


ALPHABET = "xyzn_0129.+-*/^(){}[], \\eπτ²−·'\"=<>!|&∪:@#\0\n"
STARTS = [pair[1] for pair in NEAR_MISSES] + [
    "x < -1 or x > 1",
    "[0, 1) ∪ {2}",
    "f(x) + f(y)",
    r"\sum_{k=1}^{n} e^{z_k}",
    r"\begin{bmatrix} a & b \\ c & d \end{bmatrix}",
    r"\|x\|^2 \le \sqrt[3]{y}",
    r"\log_2 n + \sin^2 \theta",
]


@st.composite
def mutated(draw):
    text = draw(st.sampled_from(STARTS))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        stop = draw(st.integers(at, min(at + 3, len(text))))
        text = text[:at] + draw(st.text(alphabet=ALPHABET, max_size=3)) + text[stop:]
    return text


@settings(deadline=None, max_examples=200)
@given(st.text() | st.text(alphabet=ALPHABET, max_size=30) | mutated(), st.sampled_from(STARTS))
def test_no_text_raises_or_takes_long(text, other):
    started = time.monotonic()
    for pair in ((text, other), (other, text), (text, text)):
        assert isinstance(equivalent(*pair), Verdict)
    assert time.monotonic() - started < 3 * 7
