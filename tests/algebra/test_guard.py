"""No text takes for ever: what no bound foresaw is ended by a timer."""

import sys
import threading
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.algebra import ParseError, Verdict, equivalent, parse
from autograder.algebra.comparing import search
from autograder.algebra.deadlines import guard

PIECES = [*"xyzn_0129.+-*/^(){}[], eπτ²−·'\"=<>!|&∪:@#Σ∂√½⁻ᵢ", "\\"]
PIECES += ["sin(", "exp(", "log(", "max(", "diff(", "sum(", "det(", "floor(", "f(", "Matrix([["]
PIECES += [r"\frac{", "}{", r"\sum_{k=1}^{n}", r"\begin{bmatrix}", "&", r"\\", r"\end{bmatrix}"]
PIECES += [r"\|", r"\sqrt[3]{", r"\le", " and ", "]])", "!", "ᵀ", "lim_(x→0)", r"\lim_{x\to 0^+}"]
PIECES += ["**9", "^999", "1e300", "9**9**9", ",k,1,n)", ",x)", ")^(1/3)", "limit(", r"\partial"]


@pytest.fixture
def endless(monkeypatch):
    """A proof that never ends, and does not let itself be interrupted by an exception."""

    def proof(_expr):
        while True:
            try:
                while True:
                    pass
            except Exception:
                continue

    monkeypatch.setattr(search, "is_zero", proof)
    monkeypatch.setattr(guard, "SECONDS", 0.2)


def test_what_takes_too_long_is_left_to_a_person(endless):
    verdict = equivalent("(x + 1)^2", "x^2 + 2x + 1")
    assert verdict == Verdict(None, "undecided: this takes too long")


def test_the_limit_is_lifted_afterwards(endless):
    equivalent("(x + 1)^2", "x^2 + 2x + 1")
    for _ in range(3):
        assert equivalent("x", "y").equal is False


def test_a_finalizer_that_swallows_the_alarm_is_not_reported_and_ends_nothing(monkeypatch):
    reported = []

    class Slow:
        def __del__(self):
            end = time.process_time() + 0.3
            while time.process_time() < end:
                pass

    class Broken:
        def __del__(self):
            raise ValueError("a mistake of its own")

    monkeypatch.setattr(sys, "unraisablehook", lambda lost: reported.append(lost.exc_type))

    def endless():
        Slow()
        Broken()
        while True:
            pass

    with pytest.raises(guard.Late), guard.limit(0.1):
        endless()
    assert reported == [ValueError]


def test_other_threads_are_answered_without_a_timer():
    answers = []

    def work():
        answers.append(equivalent("x + 1", "1 + x"))
        try:
            parse("x +")
        except ParseError as error:
            answers.append(error.reason)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert answers == [
        Verdict(True, "proved"),
        "expected a number, a name or '(' at the end",
    ]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_text_raises(text):
    assert isinstance(equivalent("p_1*(1 - p_1)", text), Verdict)
    assert isinstance(equivalent(text, "x"), Verdict)


@pytest.mark.slow
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(max_size=40))
@settings(deadline=None, max_examples=10_000, suppress_health_check=list(HealthCheck))
def test_none_of_ten_thousand_texts_raises(text):
    assert isinstance(equivalent("p_1*(1 - p_1)", text), Verdict)


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9",
        "(" * 39 + "x" + ")" * 39,
        "exp(" * 20 + "x" + ")" * 20,
        "tan(" * 20 + "x" + ")" * 20,
        "(a+b+c+d+f+g)^500 - (a+b+c)^499",
        "*".join(f"(x+{i})" for i in range(150)),
        "+".join(f"sin({i}*x)^{i}" for i in range(2, 90)),
        "sum(sum(sum(k*j*i, k, 1, 100), j, 1, 100), i, 1, 100)",
        "product(x^k + 1, k, 1, 200)",
        "diff(" * 15 + "exp(x*sin(x))" + ", x)" * 15,
        "det(Matrix([[a,b,c,d],[b,c,d,a],[c,d,a,b],[d,a,b,c]]))^9",
        "|x^6 + y^6 + 3*x^3*y^3 - 17| - |x|",
        "((((x^x)^x)^x)^x)^x",
        "1/(1/(1/(1/(1/(x+1)+1)+1)+1)+1)",
        "log(log(log(log(log(x)))))",
        "max(" + ",".join(f"x^{i}" for i in range(10)) + ")",
    ],
)
def test_nasty_texts_are_answered(text):
    assert isinstance(equivalent("x + y", text), Verdict)
    assert isinstance(equivalent(text, text + " + 1"), Verdict)
    assert isinstance(equivalent(text, f"({text})*(x+1)/(1+x)"), Verdict)
