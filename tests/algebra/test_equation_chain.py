"""Derivations in equations: each line follows from the one before, and says something."""

import pytest

from autograder.algebra import EquationChain, ParseError
from autograder.algebra.reading.preview import look_line

ROOT = EquationChain(
    start="D(L/s + s, s) = 0",
    target="s = sqrt(L)",
    names=("L", "s"),
    positive=("L", "s"),
    where={"s": "sqrt(L)"},
)
RIGHT = ["1 - L/s^2 = 0", "s^2 = L", "s = sqrt(L)"]


@pytest.mark.parametrize(
    "lines",
    [
        RIGHT,
        ["0 = 1 - L/s^2", "⇔ L = s^2", "⇒ sqrt(L) = s"],
        [r"1 - \frac{L}{s^2} = 0", r"\iff s^2 = L", r"\implies s = \sqrt{L}"],
        ["1 = L/s^2 = L/(s*s)", "s = L^(1/2)"],
        ["(sqrt(L/s) - sqrt(s))^2 = 0", "L/s = s", "s = sqrt(L)"],
    ],
)
def test_any_route_in_any_notation_is_right(lines):
    assert ROOT.examine(lines).credit == 1.0


@pytest.mark.parametrize(
    ("lines", "kind", "says"),
    [
        (["1 - L/s = 0", *RIGHT[2:]], "wrong_start", "doesn't follow from the given expression"),
        ([RIGHT[0], "s^2 = 2*L", RIGHT[2]], "wrong", "its sides are"),
        ([RIGHT[0], "L = L", RIGHT[2]], "wrong", "holds whatever the names are"),
        (RIGHT[:2], "not_in_form", "is to be solved: s = …, without s on the right"),
        ([RIGHT[0], "s^2", RIGHT[2]], "unreadable", "expected an equation, such as a = b"),
        ([RIGHT[0], "s^2 <= L", RIGHT[2]], "unreadable", "expected an equation"),
    ],
)
def test_what_is_wrong_is_said(lines, kind, says):
    examination = ROOT.examine(lines)
    assert examination.credit < 1
    assert any(f.kind == kind and says in f.message for f in examination.findings)


def test_what_follows_from_a_slip_keeps_its_credit():
    slipped = ["1 - L/s^2 = 0", "s^2 = 2*L", "s = sqrt(2*L)"]
    examination = ROOT.examine(slipped)
    assert [f.line for f in examination.findings] == [2]
    assert not examination.review
    assert examination.credit == pytest.approx(0.8 * 2 / 3)


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"where": {"s": "L"}}, "does not hold for `where`"),
        ({"where": {}}, "need `where`"),
        ({"target": "s = 2*sqrt(L)"}, "start and target differ"),
    ],
)
def test_what_does_not_fit_together_is_refused(parts, says):
    given = {"start": ROOT.start, "target": ROOT.target, "where": ROOT.where} | parts
    with pytest.raises(ValueError, match=says):
        EquationChain(names=("L", "s"), positive=("L", "s"), **given)


def test_a_notebook_says_that_an_equation_is_expected():
    known = {"calls": ["sqrt"], "constants": []}
    assert look_line("⇔ s^2 = L", ["s", "L"], equations=True, **known) == "s^2 = L"
    with pytest.raises(ParseError, match="expected an equation"):
        look_line("s^2", ["s", "L"], equations=True, **known)
