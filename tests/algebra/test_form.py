"""What a notebook says of a formula is what the grader reads."""

import pytest
import sympy

from autograder.algebra import ParseError, parse
from autograder.algebra.building.library import CONSTANTS, COUNTS
from autograder.algebra.reading.preview import look

from .test_catalogue_formulas import LATEX, TEXT


def seen(text, names, **options):
    return look(text, names, calls=COUNTS, constants=CONSTANTS, **options)


def names_in(expression):
    indexed = {f"{atom.base}_1" for atom in expression.atoms(sympy.Indexed)}
    deltas = {f"delta_{i}{j}" for i, j in (d.args for d in expression.atoms(sympy.KroneckerDelta))}
    return (
        {str(symbol) for symbol in expression.free_symbols if symbol.is_Symbol} | indexed | deltas
    )


@pytest.mark.parametrize(("text", "expected"), [*TEXT, *LATEX])
def test_the_reading_means_what_the_text_does(text, expected):
    names = {*names_in(expected), "Z", "p_2", "p_3"}
    reading = seen(text, names, implicit=True)
    assert parse(reading, implicit=True) == expected


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("1/2*x", "(1/2)·x"),
        ("x/2/y", "(x/2)/y"),
        ("x/(2*y)", "x/(2·y)"),
        ("x - (y - 1)", "x − (y − 1)"),
        ("x - -y", "x − (−y)"),
        ("-x^2", "−x^2"),
        ("(-x)^2", "(−x)^2"),
        ("x^y^2", "x^(y^2)"),
        ("e^-x", "e^(−x)"),
        ("2·(x)", "2·x"),
        ("sqrt((x))", "sqrt(x)"),
        ("x ! + y", "x! + y"),
    ],
)
def test_brackets_stand_where_a_text_could_be_meant_otherwise(text, reading):
    assert seen(text, ["x", "y"]) == reading


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("p_1 + q_1", "unknown name q_1; did you mean p_1?"),
        ("p_1 + zz", "unknown name zz; the names are p_1, tau"),
        ("taw", "unknown name taw; did you mean tau?"),
        ("2 tau", "expected an operator"),
        ("sqroot(tau)", "sqroot is not a function"),
        ("p_k", "unknown name p_k"),
        ("2**", "at the end"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text, reason):
    with pytest.raises(ParseError) as refused:
        seen(text, ["p_1", "tau"])
    assert reason in refused.value.reason
    assert refused.value.position is not None


def test_an_index_that_runs_is_no_unknown_name():
    assert seen("sum(p_k^2, k, 1, n)", ["p_1", "n"]) == "sum(p_k^2, k, 1, n)"
