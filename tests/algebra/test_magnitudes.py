"""Towers of powers and what has no value are refused by check() as by the grader."""

import pytest

from autograder.algebra import Chain, IndexedChain, ParseError
from autograder.algebra.building.library import CONSTANTS, COUNTS
from autograder.algebra.reading.preview import look_line
from autograder.exercise import Derivation, FormatError

PLAIN = Chain(start="diff(x^2, x)", target="2*x", names=("x", "y"))
INDEXED = IndexedChain(start="sum(z_k, k)", target="sum(z_i, i)", indexed=("z",), min_lines=2)


def can_be_read(chain, line):
    try:
        Derivation(chain).read([line])
    except FormatError:
        return False
    return True


def looks_readable(chain, line):
    hint = Derivation(chain).hint(None)
    known = {name: hint[name] for name in hint if name not in ("kind", "names")}
    try:
        look_line(line, hint["names"], calls=COUNTS, constants=CONSTANTS, **known)
    except ParseError:
        return False
    return True


@pytest.mark.parametrize("chain", [PLAIN, INDEXED], ids=["names", "indices"])
@pytest.mark.parametrize(
    ("line", "readable"),
    [
        ("2^2^3", True),
        ("2^2^2^2^2", False),
        ("((2^64)^64)^64", False),
        ("120^308", False),
        ("2^(2^(2^610))", False),
        ("e^e^e^e^e", False),
        ("exp(exp(exp(exp(10))))", False),
        ("1 <= 2", False),
    ],
)
def test_both_read_a_line_or_neither_does(chain, line, readable):
    assert can_be_read(chain, line) is readable
    assert looks_readable(chain, line) is readable


@pytest.mark.parametrize("line", ["tan(pi/2)", "pi^pi^pi^pi", "x^(pi^pi^pi^pi)", "10!^400"])
def test_what_is_no_number_is_refused_by_both(line):
    assert not can_be_read(PLAIN, line)
    assert not looks_readable(PLAIN, line)
