"""What is wrong but tempting is never accepted, what is right but odd always is."""

import pytest
import sympy

from autograder.algebra import Verdict, equal, equivalent
from autograder.algebra.deadlines import killable

from .soundness_cases import ODD, WRONG


def judged(expected, given, assumptions=None, variables=None):
    return equivalent(expected, given, variables=variables, assumptions=assumptions or None)


@pytest.mark.parametrize("case", WRONG, ids=lambda case: f"{case[0]} | {case[1]}")
def test_wrong_but_tempting_is_not_accepted(case):
    assert judged(*case).equal is not True


@pytest.mark.parametrize("case", ODD, ids=lambda case: f"{case[0]} | {case[1]}")
def test_right_but_odd_is_accepted(case):
    assert judged(*case).equal is True


def test_both_lists_are_long():
    assert len(WRONG) >= 150
    assert len(ODD) >= 150


MATRICES = {"*": "matrix"}


def test_an_identity_of_matrices_is_proved_for_all_sizes_or_called_numeric():
    assert judged("(A + B)^2", "A^2 + A*B + B*A + B^2", MATRICES) == Verdict(True, "proved")
    verdict = judged("norm(A)^2 - norm(B)^2", "norm(A)^2 - norm(B^T)^2", MATRICES)
    assert verdict == Verdict(True, "numeric")


def test_what_holds_for_two_rows_alone_is_refuted():
    commutator = "(A*B - B*A)^2"  # a multiple of the identity, if A and B are 2 × 2
    assert judged(f"{commutator}*C", f"C*{commutator}", MATRICES).equal is False


def test_a_name_that_is_a_number_here_and_a_matrix_there_is_left_to_a_person():
    number, matrix = sympy.Symbol("K", real=True), sympy.Symbol("K", commutative=False)
    assert equal(2 * number, 2 * matrix).equal is None


def test_what_is_undecided_about_a_multiple_stays_undecided():
    verdict = judged("x = x + exp(-exp(exp(x^2 + 3)))", "2*x = 1 + exp(-exp(exp(x^2 + 3)))")
    assert verdict.equal is None


def test_ends_that_agree_to_many_digits_are_compared_exactly():
    near = "1.4142135623730950488016887242096980785696718753769"
    assert judged("[0, sqrt(2)] ∪ {7}", f"[0, {near}] ∪ {{7}}").equal is False


def test_a_request_that_is_broken_off_leaves_no_answer_behind(monkeypatch):
    class Broken(BaseException):
        pass

    def broken(*_args):
        raise Broken

    helper = killable._ready()
    monkeypatch.setattr(helper, "_receive", broken)
    with pytest.raises(Broken):
        killable.run("builtins:sum", (1, 2), seconds=1)
    assert killable._helper is None
    assert killable.run("builtins:sum", (3, 4), seconds=5) == 7
