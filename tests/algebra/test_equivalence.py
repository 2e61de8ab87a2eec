"""Equal and unequal formulas, near misses and hostile ones."""

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.algebra import ParseError, Verdict, equivalent, parse
from autograder.algebra.building.parse import parse_matrix
from autograder.algebra.comparing.proof import is_zero
from autograder.algebra.comparing.search import Search

Z = "(exp(z1) + exp(z2) + exp(z3))"
DIAGONAL = f"exp(z1)/{Z} * (1 - exp(z1)/{Z})"
OFF_DIAGONAL = f"-exp(z1)*exp(z2)/{Z}^2"

PROVED = [
    # the Jacobian of softmax
    (f"diff(exp(z1)/{Z}, z1)", DIAGONAL),
    (f"diff(exp(z1)/{Z}, z2)", OFF_DIAGONAL),
    (DIAGONAL, f"(exp(z1)*{Z} - exp(2*z1))/{Z}^2"),
    (DIAGONAL, f"exp(z1)*(exp(z2) + exp(z3))/{Z}^2"),
    (DIAGONAL, f"exp(z1)/{Z} - exp(z1)^2/{Z}^2"),
    (DIAGONAL, f"exp(z1)/{Z} * diff(log(exp(z1)/{Z}), z1)"),
    (OFF_DIAGONAL, f"-exp(z1 + z2)/{Z}^2"),
    (OFF_DIAGONAL, f"exp(z1)/{Z} * (0 - exp(z2)/{Z})"),
    (OFF_DIAGONAL, "-1/((1 + exp(z2 - z1) + exp(z3 - z1))*(exp(z1-z2) + 1 + exp(z3-z2)))"),
    ("0", f"diff(exp(z1)/{Z}, z1) + diff(exp(z2)/{Z}, z1) + diff(exp(z3)/{Z}, z1)"),
    ("p1*(1 - p1)", "p1 - p1**2"),
    ("p_1", "p1"),
    # what softmax cannot see
    ("exp(a + c)/(exp(a + c) + exp(b + c))", "exp(a)/(exp(a) + exp(b))"),
    ("1/(1 + exp(-(a - b)/tau))", "exp(a/tau)/(exp(a/tau) + exp(b/tau))"),
    ("1/(1 + exp(-x))", "(1 + tanh(x/2))/2"),
    ("exp(z1)/exp(z2)", "exp(z1 - z2)"),
    # roots, powers, angles
    ("1/sqrt(d)", "sqrt(d)/d"),
    ("d*sqrt(d)", "d^(3/2)"),
    ("sqrt(n)*(sqrt(n) + 1)", "n + sqrt(n)"),
    ("1/(sqrt(s + eps) - 1)", "(sqrt(s + eps) + 1)/(s + eps - 1)"),
    ("1/(1 + sqrt(2))", "sqrt(2) - 1"),
    ("2^(n + 1)", "2*2^n"),
    ("cos(m*t)*cos(n*t) + sin(m*t)*sin(n*t)", "cos((m - n)*t)"),
    ("cosh(x)^2 - sinh(x)^2", "1"),
    ("tan(x)", "sin(x)/cos(x)"),
    # counting
    ("n*(n + 1)/2", "(n^2 + n)/2"),
    ("n*(2*w + 1) - w*(w + 1)", "n + 2*n*w - w^2 - w"),
    ("2^-6", "0.015625"),
]

UNEQUAL = [
    (DIAGONAL, f"exp(z1)/{Z} * (1 + exp(z1)/{Z})"),
    (DIAGONAL, f"exp(z1)/{Z}"),
    (OFF_DIAGONAL, f"exp(z1)*exp(z2)/{Z}^2"),
    (OFF_DIAGONAL, f"exp(z1)/{Z} * (1 - exp(z2)/{Z})"),
    (OFF_DIAGONAL, f"-exp(z1)*exp(z2)/{Z}"),
    ("p1*(1 - p1)", "p1*(1 - p2)"),
    ("x", "x + 10**-40"),
    ("x", "x*(1 + 10**-40)"),
    ("x", "x + exp(-100)"),
    ("x", "x*tanh(100)"),
    ("x", "x*cos(10**-20)"),
    ("x^7", "x^7 + 10^-29"),
    ("10^40*x", "10^40*x + 1"),
    ("x/3", "0.333333333333333*x"),
    ("x", "abs(x)"),
    ("x", "x + sin(10^9*pi*x)"),
    ("sqrt(2)", "1.4142135623730951"),
    ("0", "10^-60"),
    ("sqrt(-1 - x^2)", "sqrt(-2 - x^2)"),
]


@pytest.mark.parametrize(("expected", "given"), PROVED)
def test_equal_forms_are_proved(expected, given):
    assert equivalent(expected, given) == Verdict(True, "proved")
    assert equivalent(given, expected) == Verdict(True, "proved")


@pytest.mark.parametrize(("expected", "given"), UNEQUAL)
def test_unequal_forms_are_refuted(expected, given):
    for verdict in (equivalent(expected, given), equivalent(given, expected)):
        assert verdict.equal is False
        assert verdict.how.startswith("refuted at ")


def test_equal_without_a_proof_is_numeric():
    log_sum = "log(exp(a) + exp(b))"
    assert equivalent(log_sum, "a + log(1 + exp(b - a))") == Verdict(True, "numeric")


def test_refutation_names_the_point_and_both_values():
    verdict = equivalent("2*x", "x")
    assert verdict.how == f"refuted at {verdict.point}"
    value = float(verdict.point.removeprefix("x="))
    assert [float(v) for v in verdict.values] == pytest.approx([2 * value, value], rel=1e-2)
    assert equivalent("1", "2").how == "refuted at all points"


def test_assumptions_decide():
    assert equivalent("x", "abs(x)").equal is False
    assert equivalent("x", "abs(x)", assumptions={"x": "positive"}).equal
    assert equivalent("(-1)^(2*n)", "1", assumptions={"n": "integer"}).equal
    assert equivalent("sqrt(x^2)", "-x", assumptions={"x": "negative"}).equal


def test_pieces_without_a_proof_are_left_to_a_person():
    verdict = equivalent("x", "max(x, -10^60)")
    assert verdict.equal is None
    assert verdict.how.startswith("undecided")


def test_what_is_out_of_range_is_undecided():
    assert equivalent("x^2", "x^2 + exp(-exp(exp(x^2 + 3)))").equal is None


def test_unknown_names_and_unreadable_text():
    verdict = equivalent("p1", "q7*2", variables=["p1"])
    assert verdict.equal is False
    assert verdict.how.startswith("parse error: unknown name q7; ")
    assert equivalent("p1", None).how.startswith("parse error: expected a formula as text")
    assert equivalent("p1 +", "p1") == Verdict(
        None,
        "parse error: the expected formula: expected a number, a name or '(' at the end\n"
        "    p1 +\n        ^",
    )


def test_symbols_with_different_assumptions_are_the_same_name():
    assert equivalent(sympy.Symbol("x"), parse("x")).equal
    assert equivalent(sympy.Symbol("x"), parse("abs(x)"), assumptions={"x": "positive"}).equal


def test_matrices():
    names = ["p1", "p2"]
    jacobian = parse_matrix([["p1*(1-p1)", "-p1*p2"], ["-p1*p2", "p2*(1-p2)"]], names)
    p = sympy.Matrix(sympy.symbols(names, real=True))
    assert equivalent(sympy.diag(*p) - p * p.T, jacobian) == Verdict(True, "proved")
    lost_sign = jacobian.copy()
    lost_sign[0, 1] = -lost_sign[0, 1]
    assert equivalent(jacobian, lost_sign).how.startswith("entry (1, 2): refuted at ")
    assert equivalent(jacobian, jacobian[:1, :]).how == "shape (1, 2) instead of (2, 2)"
    assert equivalent(jacobian, p[0]).how == "shape no matrix instead of (2, 2)"


HOSTILE = [
    "(x + y + z + u + v + w)^1000",
    "(" * 20 + "x" + "+1)^30" * 20,
    "exp(10^50*x)",
    "x^(1/10^50)",
    "sin(" * 30 + "x" + ")" * 30,
    "tanh(" * 30 + "x" + ")" * 30,
    "max(" * 15 + "x" + ",1)" * 15,
    "*".join(f"(a{i} + b{i})" for i in range(40)),
    "+".join(f"1/(a{i} + b{i})" for i in range(40)),
    "exp(" + "*".join(f"(a{i} + b{i})" for i in range(40)) + ")",
    "log(" + "*".join(f"(a{i} + b{i})" for i in range(40)) + ")",
    "(1 + exp(x) + exp(y) + exp(z))^60 - (1 + exp(z) + exp(x) + exp(y))^59*(x + y)",
    "x^1000 + exp(900*x)",
    "diff(" * 3 + "*".join(f"sin({i}*x)" for i in range(20)) + ", x)" * 3,
    "sqrt(x + sqrt(x + sqrt(x + sqrt(x + 1))))^15",
    "log(tanh(((tanh(1 - y^(1/3))/3 + (y - 1/3)/n)/(cos(3)/(y^(1/3)))^40)^40))",
    "max(log(1e-30 - 1/3), 1/(pi - x))",
    "9**9**9",
    "\0",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_gets_a_verdict(text):
    assert not equivalent("x", text).equal


@settings(deadline=None, max_examples=150)
@given(
    st.text(max_size=20),
    st.text(alphabet="xyz019+-*/^() ", max_size=15) | st.sampled_from([p[0] for p in PROVED]),
)
def test_no_text_raises(expected, given):
    for pair in ((expected, given), (given, expected)):
        assert isinstance(equivalent(*pair), Verdict)


expressions = st.recursive(
    st.sampled_from(["x", "y", "2", "1/3", "exp(x)", "sqrt(y)"]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner)
        | st.builds("({})^{}".format, inner, st.integers(-2, 3))
    ),
    max_leaves=6,
)


@settings(deadline=None, max_examples=100)
@given(expressions, expressions)
def test_a_proof_agrees_with_the_numbers(one, other):
    try:
        difference = parse(f"({one} + {other})^2 - ({one})^2 - 2*{one}*{other} - ({other})^2")
    except ParseError:
        return
    assert is_zero(difference)
    assert not is_zero(difference + 1)


WHOLE = {"n": "positive integer", "b": "positive integer", "m": "integer"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ceil(n/b)", "floor((n + b - 1)/b)"),
        ("ceil(n/b)", "1 + floor((n - 1)/b)"),
        ("ceil(n/2) + floor(n/2)", "n"),
        ("floor(n/3) + floor((n + 1)/3) + floor((n + 2)/3)", "n"),
        ("floor(floor(n/b)/2)", "floor(n/(2*b))"),
        ("n*(n + 1)//2", "n*(n + 1)/2"),
        ("n*(n + 1)*(n + 2)//6", "n*(n + 1)*(n + 2)/6"),
        ("n*(n - 1)//2 + n", "n*(n + 1)//2"),
        ("floor(m/2)", "ceil((m - 1)/2)"),
    ],
)
def test_what_is_rounded_of_whole_numbers_is_proved_equal(one, other):
    assert equivalent(one, other, assumptions=WHOLE).how == "proved"
    assert equivalent(one, f"{other} + floor(n/50)", assumptions=WHOLE).equal is False


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("floor(2*x)", "floor(x) + floor(x + 1/2)"),
        (r"\lfloor 3x \rfloor", "floor(x) + floor(x + 1/3) + floor(x + 2/3)"),
        ("ceil(2*x)", "ceil(x) + ceil(x - 1/2)"),
        ("floor(x/2) + floor((x + 1)/2)", "floor(x)"),
        ("abs(x - floor(x))", "x - floor(x)"),
    ],
)
def test_what_is_rounded_of_a_real_number_is_compared_between_its_jumps_and_at_them(one, other):
    assert equivalent(one, other).how == "proved"
    assert equivalent(one, f"{other} + floor(x + 1/3) - floor(x)").equal is False


def test_the_size_of_a_zero_in_disguise_is_zero():
    assert equivalent("abs((x + 1)^2 - x^2 - 2*x - 1) + x", "x").equal
    assert equivalent("max(x*(1 - x), x - x^2)", "x - x^2").equal


@pytest.mark.parametrize("given", ["sqrt({}^2)", "abs({})", "({})^2/sqrt({}^2)"])
def test_what_is_hardly_ever_negative_is_met_where_it_is(given):
    size = "(m + log(exp(x - m) + exp(y - m) + exp(z - m)))"
    for _ in range(5):
        assert equivalent(size, given.replace("{}", size)).equal is False


def test_a_whole_number_that_is_large_is_rounded_as_one():
    point = {"n": "positive integer"}
    for _ in range(5):
        assert equivalent("floor((n + 3)/3)", "floor(n/3) + 1", assumptions=point).equal


@pytest.mark.parametrize(("given", "case"), [("p_i*(1 - p_j)", "i ≠ j"), ("-p_i*p_j", "i = j")])
def test_a_point_that_refutes_says_whether_two_indices_are_the_same(given, case):
    verdict = equivalent("p_i*(delta_ij - p_j)", given)
    assert verdict.point.startswith(f"{case}, p_i=")


def test_what_no_point_gives_a_value_is_left_undecided_at_once(monkeypatch):
    tried, usual = [], Search._at
    monkeypatch.setattr(Search, "_at", lambda *args: tried.append(1) or usual(*args))
    verdict = equivalent("T(x)*diff(F(2*x), x)", "T(x)")
    assert (verdict.equal, verdict.how) == (None, "undecided: too few points could be computed")
    assert len(tried) == 1
