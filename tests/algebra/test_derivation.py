"""Derivations: the softmax Jacobian by several routes, and what goes wrong on them."""

import dataclasses
import functools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.algebra import Chain, ParseError, Waypoint
from autograder.algebra.deriving.judging import attempts
from autograder.algebra.deriving.judging.comparison import PlainComparison
from autograder.algebra.deriving.judging.examination import Examination
from autograder.algebra.deriving.judging.proving import taken_as_proved
from autograder.exercise import Derivation

approx = functools.partial(pytest.approx, abs=1e-6)
P = ("p1", "p2", "p3")
QUOTIENT_RULE = Waypoint(
    "Show the quotient rule, written over Z², or the derivative of log p1.",
    lambda line: line.contains("1/Z^2", "log(p1)", "log(Z)"),
)
DIAGONAL = Chain(
    start="diff(exp(z1)/Z, z1)",
    target="p1*(1 - p1)",
    names=("z1", "z2", "z3", "Z", *P),
    definitions={
        "Z": "exp(z1) + exp(z2) + exp(z3)",
        "p1": "exp(z1)/Z",
        "p2": "exp(z2)/Z",
        "p3": "exp(z3)/Z",
    },
    final_names=P,
    waypoints=(QUOTIENT_RULE,),
)
OFF_DIAGONAL = dataclasses.replace(DIAGONAL, start="diff(exp(z1)/Z, z2)", target="-p1*p2")
START = "diff(exp(z1)/Z, z1)"
QUOTIENT = "(exp(z1)*Z - exp(z1)*exp(z1))/Z^2"


def kinds(examination):
    return [(finding.line, finding.kind) for finding in examination.findings]


@pytest.mark.parametrize(
    "lines",
    [
        [START, QUOTIENT, "exp(z1)/Z - (exp(z1)/Z)^2", "p1 - p1^2", "p1*(1 - p1)"],
        [START, QUOTIENT, "p1*(1 - p1)"],
        [QUOTIENT, "p1*(1 - p1)"],
        ["", START, START, "  ", QUOTIENT, "p1 - p1**2"],
        [START, "(diff(exp(z1), z1)*Z - exp(z1)*diff(Z, z1))/Z^2", QUOTIENT, "p1*(1 - p1)"],
        [START, "exp(z1)*(exp(z2) + exp(z3))/(exp(z1) + exp(z2) + exp(z3))^2", "p1*(p2 + p3)"],
        [START, r"\frac{e^{z_1} \cdot Z - e^{2 \cdot z_1}}{Z^2}", "p_1 - p_1^2"],
        ["diff(p1, z1)", "p1*diff(log(p1), z1)", "p1*diff(z1 - log(Z), z1)", "p1*(1 - p1)"],
    ],
)
def test_sound_routes_earn_everything(lines):
    assert DIAGONAL.examine(lines) == Examination((), 1.0)


@pytest.mark.parametrize(
    "lines",
    [
        ["diff(exp(z1)/Z, z2)", "(0*Z - exp(z1)*exp(z2))/Z^2", "-p1*p2"],
        ["p1*diff(log(p1), z2)", "p1*(0 - diff(log(Z), z2))", "p1*(0 - p2)", "-p1*p2"],
    ],
)
def test_off_the_diagonal(lines):
    assert OFF_DIAGONAL.examine(lines) == Examination((), 1.0)


def test_a_lost_minus_sign_is_found_where_it_was_lost():
    lost = "(exp(z1)*Z + exp(z1)*exp(z1))/Z^2"
    examination = DIAGONAL.examine([START, lost, "p1 + p1^2", "p1*(1 + p1)"])
    assert kinds(examination) == [(2, "wrong"), (0, "missing_waypoint")]
    message = examination.findings[0].message
    assert message.startswith("Line 2 is not equal to line 1: at z1=")
    assert "line 1 is 0." in message
    assert examination.credit == approx(0.4 * 2 / 3 + 0.4 / 2)


def test_a_line_is_refuted_in_the_names_that_it_is_written_in():
    circle = Chain(
        start="x1*x1 + x2*x2 - x1*y1",
        target="x2**2 + x1*(x1 - y1)",
        names=("x1", "x2", "y1", "r", "s", "t"),
        definitions={"x1": "r*cos(s)", "x2": "r*sin(s)", "y1": "r*cos(t)"},
        final_names=("x1", "x2", "y1"),
        assumptions={"r": "positive"},
    )
    (finding, *_) = circle.examine(["x1*x1 + x2*x2 - x1*y1", "x2^2 + x1*y1"]).findings
    told = dict(re.findall(r"(\w+)=(-?[\d.]+)", finding.message))
    assert told.keys() == {"x1", "x2", "y1"}
    x1, x2, y1 = (float(told[name]) for name in ("x1", "x2", "y1"))
    said = float(re.search(r"line 2 is (-?[\d.]+\d)", finding.message)[1])
    rounding = 0.002 * (x2**2 + abs(x1 * y1))  # the names are told to four figures
    assert said == pytest.approx(x2**2 + x1 * y1, abs=rounding)
    (finding, *_) = circle.examine(["x1*x1 + x2*x2 - x1*y1", "r^2 + x1*y1"]).findings
    assert "at r=" in finding.message


def test_a_late_slip_keeps_the_waypoint():
    examination = DIAGONAL.examine([START, QUOTIENT, "p1 + p1^2", "p1*(1 + p1)"])
    assert kinds(examination) == [(3, "wrong")]
    assert examination.credit == approx(0.4 * 2 / 3 + 0.4)


def test_a_slip_that_is_taken_back_costs_its_step():
    examination = DIAGONAL.examine([START, QUOTIENT, "p1", "p1 - p1^2", "p1*(1 - p1)"])
    assert kinds(examination) == [(3, "wrong")]
    assert examination.credit == approx(0.4 * 3 / 4 + 0.4 + 0.2)


def test_a_wrong_start():
    examination = DIAGONAL.examine(["diff(exp(z2)/Z, z1)", "-p1*p2"])
    assert kinds(examination) == [(1, "wrong_start"), (0, "missing_waypoint")]
    assert "the given expression is 0." in examination.findings[0].message


def test_a_jump_to_the_result():
    examination = DIAGONAL.examine([START, "p1 - p1^2", "p1*(1 - p1)"])
    assert kinds(examination) == [(2, "skipped")]
    assert examination.credit == 0
    assert QUOTIENT_RULE.rubric in examination.findings[0].message
    examination = DIAGONAL.examine(["p1*(1 - p1)"])
    assert kinds(examination) == [(1, "skipped"), (0, "too_short")]
    assert examination.credit == 0


def test_a_missing_waypoint_is_no_jump_if_something_stands_between():
    examination = DIAGONAL.examine([START, "p1*(exp(z2) + exp(z3))/Z", "p1*(1 - p1)"])
    assert kinds(examination) == [(0, "missing_waypoint")]


def test_the_result_with_definitions_put_in_is_a_jump():
    examination = DIAGONAL.examine([START, "exp(z1)/Z*(1 - exp(z1)/Z)", "p1*(1 - p1)"])
    assert kinds(examination) == [(2, "skipped")]
    assert examination.credit == 0


def test_the_last_line_must_have_the_form_asked_for():
    examination = DIAGONAL.examine([START, QUOTIENT, "exp(z1)/Z*(1 - p1)"])
    assert kinds(examination) == [(3, "not_in_form")]
    assert "still contains Z, z1" in examination.findings[0].message
    assert examination.credit == approx(0.8)


def test_an_unreadable_line_shows_its_caret_and_costs_one_step():
    examination = DIAGONAL.examine([START, QUOTIENT, "p1*(1 - q1", "p1*(1 - p1)"])
    assert kinds(examination) == [(3, "unreadable")]
    assert examination.findings[0].message.splitlines() == [
        "Line 3 cannot be read: this bracket is never closed",
        "    p1*(1 - q1",
        "       ^",
    ]
    assert examination.credit == approx(0.4 * 2 / 3 + 0.4 + 0.2)


@pytest.mark.parametrize("lines", [[], ["", "  "], [START], [START, START]])
def test_nothing_earns_nothing(lines):
    examination = DIAGONAL.examine(lines)
    assert kinds(examination) == [(0, "too_short"), (0, "missing_waypoint")]
    assert examination.credit == 0


@pytest.mark.parametrize("lines", ["p1", None, 5, {"a": 1}, ["x"] * 1000])
def test_what_is_no_list_of_lines(lines):
    assert kinds(DIAGONAL.examine(lines)) == [(0, "unreadable")]


def test_lines_that_are_no_text():
    assert kinds(DIAGONAL.examine([None, 5]))[:2] == [(1, "unreadable"), (2, "unreadable")]


def test_read_keeps_lines_as_written():
    line, _ = DIAGONAL.read([QUOTIENT, "p1"])
    assert line.number == 1
    assert line.names == {"z1", "Z"}
    assert line.contains("Z^-2")
    assert not line.contains("p1", "log(Z)")
    assert {symbol.name for symbol in line.expanded.free_symbols} == {"z1", "z2", "z3"}
    with pytest.raises(ParseError, match="Line 2 cannot be read"):
        DIAGONAL.read([QUOTIENT, "p1*"])


@pytest.mark.parametrize("begin", [">= ", r"\ge ", "≥", "> ", "< "])
def test_a_line_that_begins_with_another_relation_is_told_which_there_are(begin):
    chain = Chain(start="x + x", target="2*x", names=("x",))
    message = r"Line 2 cannot be read: a line begins with = or <="
    with pytest.raises(ParseError, match=message):
        chain.task.read_line(2, f"{begin}2 x", ())
    assert chain.task.read_line(2, "=> x + x = 2 x", ())


def test_differentiating_by_a_defined_name_is_unreadable():
    assert kinds(DIAGONAL.examine(["diff(p1, Z)"]))[0] == (1, "unreadable")


def test_without_waypoints_steps_count_double():
    chain = Chain(start="(a + b)^2", target="a^2 + 2*a*b + b^2", names=("a", "b"))
    assert chain.examine(["a*(a + b) + b*(a + b)", "a^2 + b^2"]).credit == approx(0.4)
    assert chain.examine(["a*(a + b) + b*(a + b)", "a^2 + 2*a*b + b^2"]).credit == 1


def test_what_cannot_be_decided_goes_to_a_person():
    chain = Chain(start="floor(x*y)", target="floor(x*y)", names=("x", "y"))
    examination = chain.examine(["ceiling(x*y - 1 + 1/(10^9 + y^2))", "-ceiling(-x*y)"])
    assert examination.review
    assert examination.findings == ()
    assert examination.credit < 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"target": "p1*(1 + p1)"}, "start and target differ: refuted at"),
        ({"target": "q*2"}, "unknown name q"),
        ({"definitions": {"Z": "p1 + 1", "p1": "Z - 1"}}, "in a circle"),
        (
            {"waypoints": (Waypoint("Always.", lambda line: line.number >= 0),)},
            "the given expression already shows: Always.",
        ),
        (
            {"waypoints": (Waypoint("Typo.", lambda line: line.contains("1/Y")),)},
            "unknown name Y",
        ),
    ],
)
def test_parts_that_do_not_fit_together_are_the_authors_error(change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(DIAGONAL, **change)


def test_a_chain_that_is_taken_as_proved_proves_itself_before_anybody_loses_by_it():
    with taken_as_proved():
        answer = Derivation(dataclasses.replace(DIAGONAL, target="p1*(1 + p1)"))
    with pytest.raises(ValueError, match="start and target differ"):
        answer.judge(answer.read([START, "p1*(1 - p1)"]), None)


text = st.text(max_size=10) | st.sampled_from(
    [START, QUOTIENT, "p1", "p1*(1 - p1)", "0", "diff(p1, p1)"]
)


@settings(deadline=None, max_examples=60)
@given(st.lists(text, max_size=5))
def test_full_credit_means_no_findings(lines):
    examination = DIAGONAL.examine(lines)
    assert 0 <= examination.credit <= 1
    assert (examination.credit == 1) == (not examination.findings and not examination.review)


PROBABILITIES = Waypoint("Put the sum in.", lambda line: line.has_sum("1"))
SQUARES = Waypoint("End with squares.", lambda line: line.contains("1 - p1^2 - p2^2 - p3^2"))
TRACE = Chain(
    start="p1*(1 - p1) + p2*(1 - p2) + p3*(1 - p3)",
    target="1 - p1^2 - p2^2 - p3^2",
    names=P,
    definitions={"p3": "1 - p1 - p2"},
    final_names=P,
    waypoints=(PROBABILITIES,),
    ends=SQUARES,
)
GATHERED = "(p1 + p2 + p3) - (p1^2 + p2^2 + p3^2)"


def test_a_right_derivation_in_other_clothes_earns_everything():
    for name, lines in attempts.disguises(TRACE, [TRACE.start, GATHERED, TRACE.target]):
        assert TRACE.examine(lines).credit == 1, name


def test_what_shows_nothing_earns_nothing_and_a_wrong_line_costs():
    tried = list(attempts.cheats(TRACE, [TRACE.start, GATHERED, TRACE.target]))
    assert {"backwards", "padded", "+ 0 in disguise", "line 2 wrong"} <= {
        name for name, *_ in tried
    }
    for name, lines, at_most in tried:
        assert TRACE.examine(lines).credit <= at_most, name


def test_a_sum_that_cancels_by_itself_is_none_by_which_something_is_shown():
    leaf = f"{TRACE.start} + 1 - 1"
    assert TRACE.examine([TRACE.start, leaf, TRACE.target]).credit == 0
    assert TRACE.examine([TRACE.start, f"{TRACE.start} + p2 - p2", TRACE.target]).credit == 0


def test_a_line_may_hold_several_sides_and_repeat_the_first():
    for lines in (
        [f"{TRACE.start} = {GATHERED}", f"= {TRACE.target}"],
        [f"{TRACE.start} = {GATHERED} = {TRACE.target}"],
        [f"{TRACE.start} = {GATHERED}", f"{TRACE.start} = {TRACE.target}"],
    ):
        assert TRACE.examine(lines) == Examination((), 1.0)


def test_a_wrong_result_costs_more_than_a_slip_on_the_way():
    slip = TRACE.examine([TRACE.start, f"{GATHERED} + p1", GATHERED, TRACE.target]).credit
    result = TRACE.examine([TRACE.start, GATHERED, TRACE.target, f"{TRACE.target} + p1"]).credit
    assert result < slip < 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"waypoints": (SQUARES,)}, "the result shows by itself"),
        ({"ends": PROBABILITIES, "waypoints": ()}, "the target does not show"),
    ],
)
def test_a_waypoint_stands_between_and_the_end_at_the_end(change, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(TRACE, **change)


def test_a_counterexample_tells_the_entries_of_a_sum_and_whole_numbers_as_such():
    chain = Chain(
        start="sum(2*x_k, k, 1, n)", target="2*sum(x_k, k, 1, n)", names=("n", "x_1", "x")
    )
    message = chain.examine([chain.start, "n*x_1"]).findings[0].message
    point = dict(re.findall(r"(\w+)=([\d.e+]+)", message))
    n = int(point.pop("n"))
    assert sorted(point) == sorted(f"x_{k}" for k in range(1, n + 1))
    total = float(re.search(r"line 1 is ([\d.e+]+\d)", message)[1])
    assert total == pytest.approx(2 * sum(map(float, point.values())), rel=0.002)


def test_what_a_line_is_to_the_given_expression_is_found_out_once(monkeypatch):
    chain = dataclasses.replace(DIAGONAL)  # of which nothing is known yet
    compared = []
    compare = PlainComparison.compare

    def noting(self, before, line):
        compared.append({before.text, line.text})
        return compare(self, before, line)

    monkeypatch.setattr(PlainComparison, "compare", noting)
    wrong = "p1*(2 - p1)"
    assert chain.examine([START, QUOTIENT, "p1 - p1^2", "p1*(1 - p1)"]).credit == 1
    assert kinds(chain.examine([START, QUOTIENT, wrong, "p1*(1 - p1)"])) == [(3, "wrong")]
    assert compared.count({QUOTIENT, wrong}) == 1
    assert {START, wrong} not in compared
    assert {wrong, "p1*(1 - p1)"} not in compared
    compared.clear()
    other = chain.examine([START, "p1 - p1^2", QUOTIENT, wrong, "p1*(1 - p1)"])
    assert (4, "wrong") in kinds(other)
    assert {START, "p1 - p1^2"} not in compared
    assert {"p1 - p1^2", QUOTIENT} not in compared
