"""Block matrices in derivations: multiplied block by block, for blocks of every size."""

import pytest

from autograder.algebra import IndexedChain
from autograder.algebra.deriving.to_latex import to_latex

CHAIN = IndexedChain(
    start="[A, B]*[C; D]",
    target="A*C + B*D",
    matrices=("A", "B", "C", "D"),
    rules=("product of blocks", "transpose of a product"),
    min_lines=2,
)


@pytest.mark.parametrize(
    "line",
    [
        "A*C + B*D",
        "([C; D]^T*[A, B]^T)^T",
        "[[A, B]]*[[C], [D]]",
        r"\begin{pmatrix} A & B \end{pmatrix} \begin{pmatrix} C \\ D \end{pmatrix}",
        "[A*C + B*D]",
    ],
)
def test_what_is_equal_is_right_for_every_size(line):
    (read,) = CHAIN.read([line])
    assert CHAIN.follows(read).equal is True


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("A*C", "line 1 is"),
        ("C*A + D*B", "line 1 is"),
        ("[A, B]*[C, D]", "so many columns of blocks do not meet so many rows"),
        ("[A*C, B*D]", "the numbers of blocks differ"),
    ],
)
def test_what_is_wrong_is_refuted_with_a_reason(line, says):
    (finding,) = [f for f in CHAIN.examine([line]).findings if f.kind == "wrong_start"]
    assert says in finding.message


def test_a_grid_of_blocks_is_compared_entry_by_entry():
    grid = IndexedChain(
        start="[[A, B], [C, D]]^T",
        target="[[A^T, C^T], [B^T, D^T]]",
        matrices=("A", "B", "C", "D"),
        min_lines=2,
    )
    wrong = grid.read(["[[A^T, B^T], [C^T, D^T]]"])
    assert grid.follows(wrong[0]).equal is False


def test_ragged_rows_cannot_be_read():
    (finding,) = CHAIN.examine(["[[A, B], [C]]"]).findings[:1]
    assert "the rows have different numbers of blocks" in finding.message


@pytest.mark.parametrize(
    "text", ["[A, B]*[C; D]", "([C; D]^T*[A, B]^T)^T", "[[A, B], [C, D]]*[A; B]"]
)
def test_what_is_written_as_latex_is_read_as_the_same_blocks(text):
    (plain,), (latex,) = (CHAIN.read([line]) for line in (text, to_latex(CHAIN.tree(text))))
    assert latex.expr == plain.expr
