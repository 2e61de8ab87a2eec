"""A formula in the form that is asked for."""

import pytest

from autograder.exercise import Form, Formula

IN_FACTORS = Form("Write it as a product.", lambda f: f.is_Mul, restated="a^2 - b^2", credit=0.25)
KIND = Formula("a b", form=IN_FACTORS)


@pytest.mark.parametrize(
    ("text", "credit", "note"),
    [
        ("(a - b)*(a + b)", 1, ""),
        ("(a + b)(a - b)", 1, ""),
        ("a^2 - b^2", 0.25, "other_form"),
        ("(a - b)*(a - b)", 0, ""),
    ],
)
def test_what_is_right_and_restates_what_is_given_is_told_so(text, credit, note):
    judgement = KIND.judge(KIND.read(text), KIND.read("(a - b)*(a + b)"))
    assert (judgement.credit, judgement.note) == (credit, note)
    assert ("Write it as a product." in judgement.feedback) == (note == "other_form")


def test_verify_tries_what_is_given():
    attempt, *_ = KIND.attempts("(a - b)*(a + b)")
    assert (attempt.raw, attempt.at_most) == ("a^2 - b^2", 0.25)
