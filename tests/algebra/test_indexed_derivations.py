"""The course's derivations, each right, by another route, and wrong in four different ways."""

import functools

import pytest

from autograder.algebra import Fact, IndexedChain

from .derivation_cases import (
    CASES,
    kept_weights,
    layer_norm_of_a_multiple,
    reassociation,
    residual_expansion,
    rope,
    shift_invariance,
)

made = functools.cache(lambda make: make())
everyone = pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)


def findings(examination):
    return [(finding.line, finding.kind) for finding in examination.findings]


@everyone
def test_right_with_reasons(make):
    case = made(make)
    examination = case.chain.examine(case.right)
    assert examination.findings == ()
    assert examination.credit == 1
    assert not examination.review


@everyone
def test_another_route_is_right(make):
    case = made(make)
    examination = case.chain.examine(case.other)
    assert examination.findings == ()
    assert examination.credit == 1


@everyone
def test_a_wrong_line_is_named_with_a_counterexample(make):
    case = made(make)
    number, text = case.wrong
    lines = [*case.right[: number - 1], text]
    examination = case.chain.examine(lines)
    assert (number, "wrong") in findings(examination)
    (found,) = (f for f in examination.findings if f.kind == "wrong")
    assert found.message.startswith(f"Line {number} is not ")
    assert ": at " in found.message
    assert f"and line {number} is" in found.message
    assert examination.credit < 1


@everyone
def test_after_a_wrong_line_right_steps_keep_their_credit(make):
    case = made(make)
    number, text = case.wrong
    lines = [*case.right[: number - 1], text, *case.right[number:]]
    examination = case.chain.examine(lines)
    assert (number, "wrong") in findings(examination)
    assert {line for line, _ in findings(examination)} <= {number, number + 1}
    steps = max(len(lines), case.chain.min_lines - 1)
    lost = 2 if number < len(lines) else 1  # the way back costs a step, too
    at_end = 0.15 if number < len(lines) else 0
    assert examination.credit >= 0.8 * (steps - lost - 0.5) / steps + at_end


# sympy cancels e^c by itself, so that all that is left here is one step.
@pytest.mark.parametrize(
    "make", [c for c in CASES if c is not shift_invariance], ids=lambda make: make.__name__
)
def test_straight_to_the_result_earns_nothing(make):
    case = made(make)
    sign = "<= " if case.chain.relation == "<=" else ""
    examination = case.chain.examine([sign + case.chain.target])
    assert findings(examination)[0] == (1, "skipped")
    assert examination.credit == 0


@everyone
def test_the_verdict_says_for_which_n(make):
    case = made(make)
    result = case.chain.read([case.right[-1]])[0]
    assert case.chain.follows(result).how == case.certificate


# In these, all of the derivation goes by one rule, so that no step can be too large.
BY_ONE_RULE = (
    shift_invariance,
    rope,
    reassociation,
    residual_expansion,
    layer_norm_of_a_multiple,
)


@pytest.mark.parametrize(
    "make", [c for c in CASES if c not in BY_ONE_RULE], ids=lambda make: make.__name__
)
def test_a_jump_is_no_wrong_line(make):
    case = made(make)
    lines = [line.partition("#")[0] for line in case.right]
    lines = [line for number, line in enumerate(lines, 1) if number not in case.skip]
    examination = case.chain.examine(lines)
    assert (case.skip[0], "skipped") in findings(examination)
    assert {"wrong", "wrong_reason"}.isdisjoint(kind for _, kind in findings(examination))
    assert examination.credit < 1


@everyone
def test_a_right_line_for_the_wrong_reason(make):
    case = made(make)
    number, rule = case.reason
    lines = list(case.right)
    lines[number - 1] = lines[number - 1].partition("#")[0] + f" # {rule}"
    examination = case.chain.examine(lines)
    assert findings(examination) == [(number, "wrong_reason")]
    assert "not for the reason given" in examination.findings[0].message
    assert 0.8 <= examination.credit < 1


TEMPTING = [
    ("(A*B)^T", "A^T*B^T"),
    ("(A*B)^T", "B*A"),
    ("A*B", "B*A"),
    ("(A + B)^2", "A^2 + 2*A*B + B^2"),
    ("(A*B)^(-1)", "A^(-1)*B^(-1)"),
    ("(A^T)^(-1)", "A^(-1)"),
    ("(A*B - B*A)^2*C", "C*(A*B - B*A)^2"),
    ("A^T*A", "A*A^T"),
    ("A + I", "A + A^0*2"),
    ("A*R*B*R^(-1)", "A*B"),
    ("S(P*A)", "S(A)"),
    ("S(P*A)", "S(A)*P"),
    ("S(A*P^T)", "P^T*S(A)"),
    ("S(P*A*P^T)", "P^T*S(A)*P"),
    ("S(P*A*P)", "P*S(A)*P^T"),
    ("S(A + B)", "S(A) + S(B)"),
    ("S(2*A)", "2*S(A)"),
    ("S(A^T)", "S(A)^T"),
    ("S(A*B)", "S(A)*B"),
    ("P*P", "I"),
    ("P", "P^T"),
    ("P*A*P^T", "A"),
]


@pytest.mark.parametrize(("left", "right"), TEMPTING)
def test_what_tempts_about_matrices_is_refuted(left, right):
    chain = IndexedChain(
        start=left,
        target=left,
        matrices=("A", "B", "C", "R"),
        permutations=("P",),
        by_rows=("S",),
        rules=("transpose of a product", Fact("P^T P = I", "P^T*P", "I")),
    )
    assert chain.follows(chain.read([right])[0]).equal is False


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("(A^(-1))^T", "(A^T)^(-1)"),
        ("A^-T", "(A^T)^(-1)"),
        ("(P*A*P^T)^2", "P*A*A*P^T"),
        ("S(P*(A + 2*B))", "P*S(A + 2*B)"),
        ("S(P*A*P + P*B*P)", "P*S(A + B)*P"),
        ("(A*B*A)^T", "A^T*(A*B)^T"),
    ],
)
def test_what_is_odd_about_matrices_is_proved(left, right):
    chain = IndexedChain(
        start=left,
        target=right,
        matrices=("A", "B"),
        permutations=("P",),
        by_rows=("S",),
        rules=(Fact("P^T P = I", "P^T*P", "I"),),
    )
    assert chain.follows(chain.result).how == "proved for matrices of every size"


def test_factors_of_one_sign_go_out_of_the_bars():
    kept, left_out = "sum(w_i*v_i, i, 1, m)", "sum(w_i*v_i, i, m+1, n)"
    chain = made(kept_weights).chain  # where M is at most 1
    sizes = f"<= abs({left_out}) + abs({kept} - {kept}/M)"
    right, wrong = (f"= abs({left_out}) + ({sign}(1/M - 1))*abs({kept})" for sign in ("", "-"))
    before, *lines = chain.read([sizes, right, wrong])
    assert [chain.task.truth.compare(before, line).equal for line in lines] == [True, False]
    assert chain.task.reasons.unjustified(before, lines[0]) is None


def test_a_bound_that_is_too_large_is_not_the_result():
    case = made(kept_weights)
    examination = case.chain.examine([*case.right, f"<= 2*({case.chain.target})"])
    assert examination.credit == pytest.approx(0.8)
    assert (
        examination.findings[-1].message
        == "The last line is larger than the bound that is asked for."
    )
    other = "= R*max(abs(v_j), j) + R*max(abs(v_j), j)"
    assert case.chain.examine([*case.right[:-1], other]).credit == pytest.approx(0.8)
    assert case.chain.examine([*case.right[:-1], other, case.right[-1]]).credit == 1
    (left,) = case.chain.examine(case.right[:-1]).findings  # M cancels, but stands there
    assert left.message == "The last line still contains M: write the result in R, v."


def test_an_assumption_that_nothing_makes_true_is_refused():
    with pytest.raises(ValueError, match="say with `where` what makes it true"):
        IndexedChain(start="R*S", target="I", matrices=("R", "S"), rules=(Fact("", "R*S", "I"),))
