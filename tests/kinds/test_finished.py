"""The question is no answer: check() and the grader say what is still to be worked out."""

import sys
from types import ModuleType

import pytest

from autograder.course.release.shipping import formulas_module
from autograder.exercise import FormatError, Formula, Matrix
from autograder.student.readers import read

SLOPE = Formula("s c", {"c": "positive"}), "1 - tanh(s/c)^2"
SUM = Formula("n"), "n*(n + 1)/2"
HARMONIC = Formula("n"), "sum(1/k, k, 1, n)"
POWER = Formula("a n", operators="product"), "a^n"
RATIO = Formula("z1 z2 z3"), "exp(z1 - z2)"
GATE = (
    Formula("x T F", {"x": "real", "T": "function", "F": "function"}),
    "T(x)*diff(F(x), x) + diff(T(x), x)*F(x)",
)
SUM_OF_MATRICES = Formula("I J_F", {"*": "matrix"}), "I + J_F"
IDENTITY = Matrix("w k"), [["1", "0"], ["0", "1"]]

UNFINISHED = [
    (SLOPE, "diff(c*tanh(s/c), s)", "derivative"),
    (SLOPE, r"\frac{d}{ds} c \tanh(s/c)", "derivative"),
    (SLOPE, r"\frac{\partial}{\partial s} (c \tanh(s/c))", "derivative"),
    (SLOPE, "d/ds (c*tanh(s/c))", "derivative"),
    (SLOPE, "limit(1 - tanh(s/c)^2, s, s)", "limit"),
    (SUM, "sum(k, k, 1, n)", "sum"),
    (SUM, r"\sum_{k=1}^n k", "sum"),
    (SUM, "n + sum(k, (k, 1, n - 1))", "sum"),
    (SUM, "prod(n, k, 1, 1)*prod(1/2, k, 1, n)*2^n*(n + 1)/2", "product"),
    (HARMONIC, "diff(n, n)*sum(1/k, k, 1, n)", "derivative"),
    (RATIO, "(e^z1/(e^z1 + e^z2 + e^z3))/(e^z2/(e^z1 + e^z2 + e^z3))", "z3 cancels"),
    (RATIO, r"\frac{e^{z_1}/\sum_{j=1}^3 e^{z_j}}{e^{z_2}/\sum_{j=1}^3 e^{z_j}}", "z_3 cancels"),
    (RATIO, "exp(z1 - z2) + 0*z3", "z3 cancels"),
    (GATE, "diff(T(x)*F(x), x)", "derivative"),
    (GATE, "diff(T*F, x)", "derivative"),
    (GATE, "diff(T(x), x)*F(x) + T(x)*diff(F(x) + 1, x)", "derivative"),
    (IDENTITY, [["1", "w - w"], ["0", "1"]], "w cancels"),
]
FINISHED = [
    (SLOPE, "sech(s/c)^2"),
    (SLOPE, "1 - tanh(s/c)^2 + s - s"),  # there is an s in it
    (SUM, "sum(n/6, k, 1, 3)*(n + 1)"),  # counted terms, written shorter
    (SUM, "n*(n + 1)*n/(2*n)"),
    (HARMONIC, r"\sum_{j=0}^{n-1} \frac{1}{j+1}"),
    (POWER, "product(a, k, 1, n)"),
    (POWER, "product(a, k, 1, n)*n/n"),
    (RATIO, "e^z1/e^z2"),
    (GATE, "T(x)*diff(F(x), x) + diff(T(x), x)*F(x)"),
    (GATE, "T*dF/dx + F*dT/dx"),
    (SUM_OF_MATRICES, r"\mathbf{I} + J_F"),
    (SUM_OF_MATRICES, "J_F + I"),
    (GATE, "T(x) dF(x)/dx + F(x) dT/dx"),
    (GATE, r"T \frac{dF}{dx} + F \frac{dT}{dx}"),
    (GATE, "T*∂F/∂x + F*∂T(x)/∂x"),
]


@pytest.fixture(autouse=True)
def _shipped(monkeypatch):
    module = ModuleType("check_formulas")
    monkeypatch.setitem(sys.modules, "check_formulas", module)
    exec(compile(formulas_module(), "check_formulas.py", "exec"), module.__dict__)


@pytest.mark.parametrize(("asked", "raw", "said"), UNFINISHED)
def test_what_is_still_to_be_worked_out_is_refused_by_both_in_the_same_words(asked, raw, said):
    kind, right = asked
    expected = kind.read(right)
    reasons = []
    for reader in (
        lambda: kind.read(raw, like=expected),
        lambda: read(raw, kind.hint(expected)),
    ):
        with pytest.raises(FormatError, match=said) as refused:
            reader()
        reasons.append(str(refused.value))
    assert reasons[0] == reasons[1]


@pytest.mark.parametrize(("asked", "raw"), FINISHED)
def test_what_is_worked_out_is_right_however_it_is_written(asked, raw):
    kind, right = asked
    expected = kind.read(right)
    assert read(raw, kind.hint(expected)).shown.startswith("read as")
    assert kind.judge(kind.read(raw, like=expected), expected).credit == 1


def test_verify_tries_the_question_the_operators_and_names_that_cancel():
    kind = Formula("a b", question="sum(a, k, 1, 2)")
    names = [attempt.name for attempt in kind.attempts("2*a")]
    assert names == [
        "the question as its answer",
        *(f"a {o} left to be worked out" for o in ("derivative", "limit", "sum", "product")),
        "b that cancels",
    ]
    assert all(attempt.at_most == 0 for attempt in kind.attempts("2*a"))
    assert "a sum left" not in " ".join(a.name for a in HARMONIC[0].attempts(HARMONIC[1]))


def test_a_misspelt_operator_is_refused_where_it_is_written():
    with pytest.raises(ValueError, match="no operator: summ; known: derivative, limit"):
        Formula("n", operators="summ")
