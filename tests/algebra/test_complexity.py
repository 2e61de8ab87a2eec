"""Complexity classes: reading, reducing, comparing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.algebra import ParseError
from autograder.algebra.comparing.complexity import parse_complexity

SYMBOLS = ("n", "m", "d_k", "d_v", "h", "s")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("O(n*m*d_k)", "O(n·m·d_k)"),
        ("n m d_k", "O(n·m·d_k)"),
        ("2·n·m·d_{k}", "O(n·m·d_k)"),
        ("n*m*(d_k + d_v)", "O(n·m·d_k + n·m·d_v)"),
        ("O(n m) + O(n d_v)", "O(n·m + n·d_v)"),
        ("h n m + n m", "O(n·m·h)"),
        ("n^2", "O(n^2)"),
        ("n(n + 1)/2", "O(n^2)"),
        ("(n + m)^2", "O(n^2 + n·m + m^2)"),
        ("(n + m)(n - m) + m^2", "O(n^2)"),
        ("n**(3/2)", "O(n^(3/2))"),
        ("n^1.5", "O(n^(3/2))"),
        ("n sqrt(n)", "O(n^(3/2))"),
        ("n^2/s", "O(n^2/s)"),
        ("ceil((n - 1)/(s - 1))", "O(n/s)"),
        (r"\left\lceil \frac{n}{s} \right\rceil", "O(n/s)"),
        ("n⌊n/s⌋ + n", "O(n^2/s + n)"),
        ("max(n, m)^2", "O(n^2 + n·m + m^2)"),
        ("n^2/s + n^2", "O(n^2)"),
        ("n*d_k*log(n)", "O(n·log(n)·d_k)"),
        ("n log(n) + n", "O(n·log(n))"),
        ("n log(n) + n^2", "O(n^2)"),
        ("log(n^2*m)", "O(log(n) + log(m))"),
        ("log(n)/log(s)", "O(log(n)/log(s))"),
        ("n/(m - 1)", "O(n/m)"),
        ("sqrt(n + 1)", "O(n^(1/2))"),
        ("2^n", "O(2^n)"),
        ("2^(n + 3)", "O(2^n)"),
        ("n*2^n + n^9", "O(2^n·n)"),
        ("2^(2 n)", "O(2^(2·n))"),
        ("2^(n + m)", "O(2^n·2^m)"),
        ("7", "O(1)"),
        ("n + 5", "O(n)"),
    ],
)
def test_canonical_form(text, canonical):
    complexity = parse_complexity(text, SYMBOLS)
    assert str(complexity) == canonical
    assert parse_complexity(canonical, SYMBOLS) == complexity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("n m d_k", "n m d_v"),
        ("n^2 d_k", "n d_k^2"),
        ("n m", "n m + h"),
        ("n log(n)", "n"),
        ("n^2/s", "n^2"),
        ("n^1.5", "n^2"),
        ("1", "n"),
        ("2^n", "3^n"),
        ("2^n", "n^9"),
        ("n*2^n", "2^n"),
        ("n/(m - 1)", "n"),
        ("2^n", "2^m"),
    ],
)
def test_different_classes(one, other):
    assert parse_complexity(one, SYMBOLS) != parse_complexity(other, SYMBOLS)


def test_the_order_of_the_symbols_does_not_matter():
    assert parse_complexity("n m", ["m", "n"]) == parse_complexity("n m", ["n", "m"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "there is no text"),
        ("O(n", "never closed"),
        ("n q", "unknown name q"),
        ("n + d_z", "did you mean d_v"),
        ("n^n", "only powers such as 2"),
        ("2^(n*m)", "only powers such as 2"),
        ("n/(m - 1) - n/m", "a difference of what is rounded, the largest or divided by a sum"),
        ("log(n + m)", "the logarithm of a sum"),
        ("log(log(n))", "the logarithm of a logarithm"),
        ("min(n, m)", "is none"),
        ("max(n, m) - n", "a difference of what is rounded"),
        ("n/(m + n)", "must have one term that grows most"),
        ("(n + m)^500", "must have one term that grows most"),
        ("(n + m + h + s + d_k)^9", "too many terms"),
        ("n - n", "cannot be zero"),
        ("-n", "cannot be negative"),
        (5, "expected a formula as text"),
    ],
)
def test_refusals(text, reason):
    with pytest.raises(ParseError, match=reason):
        parse_complexity(text, SYMBOLS)


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=20) | st.text(alphabet="nmhs d_k+-*/^()23O.log", max_size=15))
def test_no_text_raises_anything_else(text):
    try:
        complexity = parse_complexity(text, SYMBOLS)
    except ParseError:
        return
    assert parse_complexity(str(complexity), SYMBOLS) == complexity
