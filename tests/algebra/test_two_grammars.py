"""Numbers and formulas have a grammar each: what both of them read is the same number."""

import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.algebra import parse
from autograder.algebra.reading.errors import ParseError
from autograder.student.arithmetic import read_text
from autograder.student.unreadable import FormatError

LEAVES = st.sampled_from(["2", "3", "12", "0.5", "2.25", ".4", "1/3", "e", "pi", "π", "√2", "3!"])
AROUND = r"""({})
-{}
+{}
2({})
{}^2
({})^-1
2^{}
{}²
√{}
√({})
sqrt {}
\sqrt{{{}}}
exp(-{})
ln({})
log {}
\ln {}
tanh({})
|{}|
⌊{}⌋
{}%
{}!
\left({}\right)
e^{{{}}}
np.exp({})"""
WRITTEN = r"""1/2/3, -2^2, 2^-1, 2^3^2, 1/2 + 3, 2 sqrt(3), 16√2, 3(1 + 2), 2π, e^-2, exp(-1)/2,
ln 2, 2 ln 3, 12·0.5, 1 - 2, 3!, 50%, \frac12, \frac{3}{8}, 16\sqrt{2}, \frac{1}{1 + e^{-2}}, ½,
-(2 - 3)^2, 1e-3, 2 × 10^-3, log(e)"""


def larger(part):
    """Put what is written into something larger, with brackets and without."""
    two = st.tuples(part, st.sampled_from(["+", " - ", "*", "/", " · ", " × ", "÷", " "]), part)
    one = st.sampled_from(AROUND.split("\n"))
    return (
        two.map("".join)
        | st.tuples(one, part).map(lambda pair: pair[0].format(pair[1]))
        | st.tuples(part, part).map(lambda pair: r"\frac{{{}}}{{{}}}".format(*pair))
    )


def both(text):
    """Return what either grammar makes of a text, None where it refuses."""
    try:
        number = float(read_text(text, alone=True).value)
    except (FormatError, AttributeError):  # a list is no number
        number = None
    try:
        formula = complex(parse(text, [], implicit=True))
    except (ParseError, TypeError):
        formula = None
    return number, formula


@given(st.recursive(LEAVES, larger, max_leaves=6))
@settings(max_examples=150, deadline=None)
def test_no_text_is_two_numbers(text):
    number, formula = both(text)
    if number is not None and formula is not None and math.isfinite(number):
        assert formula == pytest.approx(number, rel=1e-9, abs=1e-12), text


@pytest.mark.parametrize("text", re.split(r",\s+", WRITTEN))
def test_both_read_what_students_write(text):
    number, formula = both(text)
    assert number is not None
    assert formula == pytest.approx(number, rel=1e-9)
