"""Answers of other kinds than formulas, near misses, hostile text, and the second process."""

import os
import signal
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.algebra import Verdict, equivalent
from autograder.algebra.comparing import sameness
from autograder.algebra.comparing.sameness import SECONDS
from autograder.algebra.deadlines import killable

SAME = [
    ("y = 2*x + 1", "2*y = 4*x + 2"),
    ("x + y = 1", "1 - x - y = 0"),
    ("(x - 1)*(x - 2) = 0", "x = 1 or x = 2"),
    ("y/n = z", "y = n*z"),
    ("x^2 - 1 > 0", "x < -1 or x > 1"),
    ("0 <= x < 2", "x >= 0 and x < 2"),
    ("abs(x) <= 1", "-1 <= x and x <= 1"),
    ("x + y = 3 and x - y = 1", "x = 2 and y = 1"),
    ("{1, 2, 3}", "{3, 2, 1}"),
    ("{x + x, 1}", "{1, 2*x}"),
    ("[0, 1)", "{0} ∪ (0, 1)"),
    ("(0, 2)", "(0, 2)"),
    ("[0, 3] ∖ (1, 2)", "[0, 1] ∪ [2, 3]"),
    ("Interval(a, a + 1)", "[a, 1 + a]"),
    ("[x, 2*x]", "[x, x + x]"),
    ("(0, 1/2, 1/2, 0)", "[0, 0.5, 0.5, 0]"),
    ("Matrix([[1, x], [0, 1]])", r"\begin{bmatrix} 1 & x \\ 0 & 1 \end{bmatrix}"),
    ("1/3", r"x = \frac{1}{3}"),
    ("x^2 = 4", "x^2 - 4 = 0"),
    ("2*x", "2x"),
    ("diff(x^2, x)", "limit(((x + h)^2 - x^2)/h, h, 0)"),
    ("1/2", "limit(1/(2 + 1/n), n, oo)"),
    ("f(x) + f(y)", "f(y) + f(x)"),
]
DIFFERENT = [
    ("y = 2*x + 1", "y = 2*x - 1"),
    ("(x - 1)*(x - 2) = 0", "x = 1"),
    ("x^2 - 1 > 0", "x > 1"),
    ("0 <= x < 2", "0 <= x <= 2"),
    ("x + y = 3 and x - y = 1", "x = 1 and y = 2"),
    ("{1, 2, 3}", "{1, 2}"),
    ("{1, 2}", "{1, 2, 3}"),
    ("[0, 1)", "[0, 1]"),
    ("Interval(a, a + 1)", "[a, a + 2]"),
    ("[1, 2]", "[2, 1]"),
    ("[1, 2]", "[1, 2, 3]"),
    ("Matrix([[1, x], [0, 1]])", "Matrix([[1, 0], [x, 1]])"),
    ("x = 1", "x > 1"),
    ("{1}", "1"),
    ("x^2", "x^2 = 0"),
    ("f(x)", "f(y)"),
    ("(a^b)^c", "a^(b*c)"),
    ("0 = 0", "x = 0"),
]
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


@pytest.mark.parametrize(("expected", "given"), SAME)
def test_same(expected, given):
    assert equivalent(expected, given).equal is True
    assert equivalent(given, expected).equal is True


@pytest.mark.parametrize(("expected", "given"), DIFFERENT)
def test_different(expected, given):
    assert equivalent(expected, given).equal is False
    assert equivalent(given, expected).equal is False


@pytest.mark.parametrize(("expected", "given"), NEAR_MISSES)
def test_near_misses_are_not_accepted(expected, given):
    assert not equivalent(expected, given).equal
    assert not equivalent(given, expected).equal


def test_what_is_wrong_is_said():
    assert equivalent("[1, 2]", "[1, 3]").how.startswith("entry 2: refuted at ")
    assert equivalent("[1, 2]", "[1]").how == "1 entries instead of 2"
    assert equivalent("{1, 2}", "{1, 3}").how == "2 is missing"
    assert equivalent("{1}", "x > 1").how == "an inequality instead of a set"
    assert "3.0 is in one alone" in equivalent("[0, 3]", "[0, 3)").how


def test_declared_real_names_compare_solutions():
    real = {"*": "real"}
    assert equivalent("x^3 = 8", "x = 2").equal is False  # there are two more, complex ones
    assert equivalent("x^3 = 8", "x = 2", assumptions=real).equal
    assert equivalent("x^3 = 8", "x = 3", assumptions=real).equal is False
    assert equivalent("x^2 = 2", "x = sqrt(2)", assumptions={"*": "positive"}).equal


def test_a_declared_function_is_one():
    assumptions = {"f": "function", "x": "real"}
    known = {"variables": ["f", "x"], "assumptions": assumptions}
    assert equivalent("f(x)^2", "f(x)*f(x)", **known).equal
    for spelled in (r"\frac{df}{dx} f", "diff(f, x) f(x)", r"f \cdot \frac{d}{dx} f(x)"):
        assert equivalent(spelled, "diff(f(x)^2, x)/2", **known).equal
    assert not equivalent(r"\frac{df}{dx} f", "0", **known).equal
    known = {"variables": ["f", "x_1"], "assumptions": {"f": "function", "x_1": "real"}}
    assert equivalent("diff(f, x_1)", "diff(f(x_1), x_1)", **known).equal


def test_pieces_are_proved_by_sympy():
    assert equivalent("max(x, 0)", "(x + abs(x))/2") == Verdict(True, "proved")


def test_what_takes_too_long_is_stopped_and_the_next_one_answered(monkeypatch):
    solving = "autograder.algebra.comparing.solving"
    assert killable.run(f"{solving}:sets", "no set", "nor this", "", seconds=20) is None
    monkeypatch.setattr(killable, "WALL_SECONDS", 1.0)
    monkeypatch.setattr(sameness, "SECONDS", 0.1)
    late = killable._ready().process
    late.send_signal(signal.SIGSTOP)
    verdict = equivalent("x^2 - 1 > 0", "x < -1 or x > 1")
    assert verdict == Verdict(None, "undecided: this takes too long")
    assert late.poll() is not None
    monkeypatch.undo()
    assert equivalent("x^2 - 1 > 0", "x < -1 or x > 1").equal


def test_time_counts_only_while_the_second_process_works():
    budget = killable.Budget(5.0)
    assert killable.run("time:sleep", 1.0, seconds=0.5, budget=budget) is None  # sleep's answer
    assert budget.seconds > 4.9
    assert killable.run("builtins:sum", range(10**10), seconds=0.3, budget=budget) is None
    assert budget.seconds < 4.8
    assert killable.run("builtins:sum", (1, 2), seconds=1, budget=killable.Budget(0)) is None
    assert killable.run("builtins:sum", (1, 2), seconds=1, budget=budget) == 3


def test_a_fork_does_not_use_the_process_of_its_parent():
    assert equivalent("[0, 1)", "{0} ∪ (0, 1)").equal
    helper = killable._helper
    helper.owner = os.getpid() + 1  # as a forked child would see it
    assert equivalent("[0, 1)", "{0} ∪ (0, 1)").equal
    assert killable._helper is not helper
    helper.process.kill()
    helper.process.wait()


ALPHABET = "xyzn_0129.+-*/^(){}[], \\eπτ²−·'\"=<>!|&∪:@#\0\n"
STARTS = [pair[1] for pair in SAME + DIFFERENT + NEAR_MISSES] + [
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
    assert time.monotonic() - started < 3 * (SECONDS + 5)
