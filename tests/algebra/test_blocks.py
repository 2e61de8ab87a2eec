"""Block matrices in derivations: multiplied block by block, for blocks of every size."""

import pytest

from autograder.algebra import IndexedChain
from autograder.algebra.deriving.lines.to_latex import to_latex

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
    (plain,), (latex,) = (
        CHAIN.read([line]) for line in (text, to_latex(CHAIN.language.tree(text)))
    )
    assert latex.expr == plain.expr


@pytest.mark.parametrize("line", ["[A | B]*[C; D]", r"\left[A \mid B\right] [C; D]"])
def test_a_bar_stands_between_blocks(line):
    (read,) = CHAIN.read([line])
    assert read.expr == CHAIN.given.expr


@pytest.mark.parametrize(
    "line", ["[A B]*[C; D]", r"[A\;B] \cdot [C; D]", "A*C + [B D]", "[A B; C D]"]
)
def test_blocks_with_a_blank_between_them_may_be_a_product(line):
    (finding,) = CHAIN.examine([line, "A*C + B*D"]).findings[:1]
    assert "blocks side by side, or a product" in finding.message


def test_a_product_among_blocks_that_commas_divide_is_one():
    (read,) = CHAIN.read(["[A C, B]*[I; D]"])
    assert CHAIN.follows(read).equal is True
