"""What is wrong but tempting is never accepted, what is right but odd always is.

Each case goes the way of a student's answer, through the reader and the judge of an exercise.
"""

import pytest
import sympy

from autograder.algebra import Verdict, equivalent
from autograder.algebra.building.library import CALLS, CONSTANTS
from autograder.algebra.reading.grammar import plain_names, read_tree
from autograder.exercise import Formula
from autograder.exercise.answers.kind import FormatError, Undecided

from .soundness_cases import ODD, WRONG


def nodes(node):
    yield node
    for child in node.children:
        yield from nodes(child)


def declared(*texts):
    """Return the names in some texts, and which of them are functions, as an author declares."""
    alone = {name for text in texts for name in plain_names(text, implicit=True, functions=CALLS)}
    numbers, functions = [], []
    for text in texts:
        words = {name for name in alone if name not in ("f", "g", "h", "p", "q", "phi", "psi")}
        reading = {"implicit": True, "functions": frozenset(CALLS), "words": words}
        for node in nodes(read_tree(text, open_functions=True, **reading)):
            name = node.token.text
            if node.kind == "name" and name not in CONSTANTS:
                numbers.append(name)
            elif node.kind == "call" and name not in CALLS:
                functions.append(name)
    return dict.fromkeys(numbers + functions), dict.fromkeys(functions, "function")


def graded(expected, given, assumptions=None, names=None):
    """Return what an answer gets: 1.0 or 0.0, or why there is nothing to give."""
    functions = {}
    if names is None:
        names, functions = declared(expected, given)
    answer = Formula(" ".join(names), (assumptions or {}) | functions)
    try:
        right, found = answer.read(expected), answer.read(given)
    except FormatError as error:
        return f"unreadable: {error}"
    try:
        return answer.judge(found, right).credit
    except Undecided as error:
        return f"left to a person: {error}"


def judged(expected, given, assumptions=None, names=None):
    return equivalent(expected, given, variables=names, assumptions=assumptions or None)


@pytest.mark.parametrize("case", WRONG, ids=lambda case: f"{case[0]} | {case[1]}")
def test_wrong_but_tempting_is_not_accepted(case):
    assert graded(*case) != 1.0
    assert judged(*case).equal is not True


@pytest.mark.parametrize("case", ODD, ids=lambda case: f"{case[0]} | {case[1]}")
def test_right_but_odd_is_accepted(case):
    assert graded(*case) == 1.0
    assert judged(*case).equal is True


def test_both_lists_are_long():
    assert len(WRONG) >= 150
    assert len(ODD) >= 150


def test_matrices_that_nobody_declared_are_left_to_a_person():
    forgotten = Formula("Q K")
    right = forgotten.read("Q K^T")
    for given in ("K Q^T", "Q^T K", "K^T Q"):
        with pytest.raises(Undecided, match="nobody has said whether K and Q are numbers"):
            forgotten.judge(forgotten.read(given), right)
    assert forgotten.judge(forgotten.read("(K Q^T)^T"), right).credit == 1
    assert forgotten.judge(forgotten.read("2 Q K^T"), right).credit == 0
    assert "nobody has said whether K and Q are numbers" in next(forgotten.unsaid("Q K^T"))
    assert "nobody has said whether x is a number" in next(Formula("x").unsaid("x^T x"))


@pytest.mark.parametrize(
    ("names", "assumptions", "formula"),
    [
        ("Q K", {"Q": "matrix", "K": "matrix"}, "Q K^T"),
        ("N D", {"*": "positive"}, "6 N D"),
        ("n d_k L", {}, "n L/d_k"),
        ("x", {"x": "vector"}, "x^T x"),
    ],
)
def test_nobody_is_asked_for_what_is_declared_or_can_only_be_a_number(names, assumptions, formula):
    assert not [*Formula(names, assumptions).unsaid(formula)]


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
    assert equivalent(2 * number, 2 * matrix).equal is None


def test_a_name_that_no_text_could_spell_is_compared_all_the_same():
    strange = sympy.Symbol("𝔼", real=True)
    assert equivalent(2 * strange, strange, assumptions={}).equal is False
