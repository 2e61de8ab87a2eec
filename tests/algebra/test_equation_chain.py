"""Derivations in equations: each line follows from the one before, and says something."""

import pytest

from autograder.algebra import EquationChain, ParseError, Waypoint
from autograder.algebra.deriving.judging.equation_attempts import cheats, disguises
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
        (["1 - L/s = 0", *RIGHT[2:]], "wrong_start", "doesn't follow from the given equation"),
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
    assert examination.credit == pytest.approx(0.8 * 2 / 3 + 0.2)


LAGRANGE = EquationChain(
    start="D(sum(p_i*s_i, i) - sum(p_i*log(p_i), i) - c*(sum(p_i, i) - 1), p_j) = 0",
    target="p_j = exp(s_j)/Z",
    names=("c", "Z"),
    indexed=("p", "s"),
    positive=("p", "Z"),
    definitions={"Z": "sum(exp(s_k), k)"},
    where={"p_i": "exp(s_i)/Z", "c": "log(Z) - 1"},
    waypoints=(
        Waypoint(
            "Carry it out.",
            lambda line: {"c", "p", "s"} <= line.names and not line.operators & {"D"},
        ),
        Waypoint("Find c.", lambda line: "c" in line.names and "p" not in line.names),
    ),
)


def test_a_slip_that_is_put_into_a_right_line_is_paid_once():
    lines = [
        "s_j - log(p_j) - 1 - c = 0",
        "p_j = exp(s_j - c)",  # the 1 is lost
        "sum(p_k, k) = 1",
        "exp(-c)*sum(exp(s_k), k) = 1",  # wrong, and follows from both lines before
        "p_j = exp(s_j)/Z",
    ]
    examination = LAGRANGE.examine(lines)
    assert [(f.line, f.kind) for f in examination.findings] == [(2, "wrong")]
    assert examination.credit == pytest.approx(1 - 0.4 / 5)
    lines[3] = "exp(-2*c)*sum(exp(s_k), k) = 1"
    assert [f.line for f in LAGRANGE.examine(lines).findings if f.line] == [2, 4]


def test_what_is_jumped_over_in_equations_counts_as_no_step():
    full = ["s_j - log(p_j) - 1 - c = 0", "exp(-c - 1)*Z = 1", "p_j = exp(s_j)/Z"]
    assert LAGRANGE.examine(full).credit == 1
    assert LAGRANGE.examine(full[::2]).credit == pytest.approx(0.2 + 0.2 + 0.1)
    assert LAGRANGE.examine(["sum(p_k, k) = 1", full[-1]]).credit == 0


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
    known = {"calls": {"sqrt": (1, 1)}, "constants": []}
    assert look_line("⇔ s^2 = L", ["s", "L"], equations=True, **known) == "s^2 = L"
    with pytest.raises(ParseError, match="expected an equation"):
        look_line("s^2", ["s", "L"], equations=True, **known)


@pytest.mark.parametrize(
    "line",
    [
        "D(L/s + s, s) + s - sqrt(L) = 0",
        "2*D(L/s + s, s) + sqrt(L) = s",
        "L*D(L/s + s, s) = s*(s - sqrt(L))",
    ],
)
def test_an_equation_mixed_with_its_solution_says_nothing(line):
    assert ROOT.examine([ROOT.start, line, ROOT.target]).credit == 0
    assert ROOT.examine([line, *RIGHT]).credit == 1


FROM_ALGEBRA = {
    "square": (
        EquationChain(
            start="1 - L/s^2 = 0",
            target="s = sqrt(L)",
            names=("L", "s"),
            positive=("L", "s"),
            where={"s": "sqrt(L)"},
        ),
        ["s^2 = L", "s = sqrt(L)"],
    ),
    "line": (
        EquationChain(
            start="3*x + a = x + b",
            target="x = (b - a)/2",
            names=("a", "b", "x"),
            where={"x": "(b - a)/2"},
        ),
        ["2*x + a = b", "2*x = b - a", "x = (b - a)/2"],
    ),
    "decay": (
        EquationChain(
            start="A*exp(-k*t) = B",
            target="t = log(A/B)/k",
            names=("A", "B", "k", "t"),
            positive=("A", "B", "k", "t"),
            where={"t": "log(A/B)/k"},
        ),
        ["exp(-k*t) = B/A", "-k*t = log(B/A)", "t = log(A/B)/k"],
    ),
}


@pytest.mark.parametrize("name", FROM_ALGEBRA)
def test_an_equation_without_a_derivative_is_solved_step_by_step(name):
    chain, lines = FROM_ALGEBRA[name]
    assert chain.examine(lines).credit == 1
    assert chain.examine([chain.start, *lines]).credit == 1
    for called, others in disguises(chain, lines):
        assert chain.examine(others).credit == 1, called
    for called, others, at_most in cheats(chain, lines):
        assert chain.examine(others).credit <= at_most + 1e-6, called


@pytest.mark.parametrize("name", FROM_ALGEBRA)
@pytest.mark.parametrize(
    "form",
    [
        "2*({L}) = 2*({R})",
        "({L})^2 = ({R})^2",
        "exp({L}) = exp({R})",
        "({L})*exp({x}) = ({R})*exp({x})",
        "({L}) + {x} = ({R}) + {x}",
        "({A})^2 = ({B})^2",
        "exp({A}) = exp({B})",
        "({A})*{x} = ({B})*{x}",
        "({L})*({A}) = ({R})*({B})",
        "({L}) + ({A}) = ({R}) + ({B})",
        "{A} - ({B}) = {L} - ({R})",
    ],
)
def test_to_do_the_same_to_both_sides_of_what_is_known_is_no_step(name, form):
    chain, lines = FROM_ALGEBRA[name]
    (left, right), (a, b) = ((s.strip() for s in e.split("=")) for e in (chain.start, lines[-1]))
    line = form.format(L=left, R=right, A=a, B=b, x=chain.names[-1])
    assert chain.examine([chain.start, line, lines[-1]]).credit == 0
