"""Lines as students write them: what they begin and end with, and notations of one formula."""

import pytest

from autograder.algebra import Chain, parse
from autograder.algebra.deriving.lines.to_latex import to_latex
from autograder.algebra.reading.grammar import read_tree
from autograder.algebra.reading.lines import take_apart
from autograder.exercise import Derivation


@pytest.mark.parametrize(
    ("text", "sides", "reason"),
    [
        ("p1", ["p1"], ""),
        ("= p1  # algebra.", ["p1"], "algebra"),
        (r"&= \frac{a}{b} \\", [r"\frac{a}{b}"], ""),
        ("$= p_1$", ["p_1"], ""),
        (r"\(= p_1\)", ["p_1"], ""),
        ("a = b = c", ["a", "b", "c"], ""),
        (r"\sum_{k=1}^{n} z_k = 3", [r"\sum_{k=1}^{n} z_k", "3"], ""),
        (r"\leq \left(a\right)", [r"\left(a\right)"], ""),
        ("p1*(1 - p1).", ["p1*(1 - p1)"], ""),
        ("a != b", ["a != b"], ""),
        (r"\begin{align}", [], ""),
        ("  = ", [], ""),
    ],
)
def test_a_line_is_taken_apart(text, sides, reason):
    written = take_apart(text)
    assert [side.text.strip() for side in written.sides] == sides
    assert written.reason == reason
    for side in written.sides:  # errors point at the place where it stands
        assert text[len(side.text) - len(side.text.lstrip()) :].startswith(side.text.strip())


@pytest.mark.parametrize(
    ("text", "plain", "names"),
    [
        (r"\frac{d}{dx}x^2", "2*x", ["x"]),
        (r"\frac{\mathrm{d}}{\mathrm{d} x} x^2", "2*x", ["x"]),
        (r"\frac{d (x^2)}{d x}", "2*x", ["x"]),
        (r"\frac{d}{d x}", "1/x", ["d", "x"]),
        (r"\sum\limits_{j=1}^{n} j^2", "sum(j^2, j, 1, n)", ["n"]),
        ("2πσ²", "2*pi*sigma^2", ["sigma"]),
        ("np.exp(x)", "exp(x)", ["x"]),
        ("e^{x}/2", "exp(x)/2", ["x"]),
        ("n log2 n", "n*log(n)/log(2)", ["n"]),
        ("p_1p_2", "p1*p2", ["p1", "p2"]),
        ("p1 (1 - p2)", "p1*(1 - p2)", ["p1", "p2"]),
    ],
)
def test_one_grammar_reads_what_students_write(text, plain, names):
    assert parse(text, names, implicit=True) == parse(plain, names)


@pytest.mark.parametrize(
    "text", ["exp(z)/(a + b)*c", "-(a + b)^2/c", "log(a)*sqrt(b)", "sum(k^2, k, 1, n)*a", "a/b/c"]
)
def test_what_is_written_as_latex_reads_the_same(text):
    functions = ("exp", "log", "sqrt", "sum")
    latex = to_latex(read_tree(text, implicit=True, functions=functions))
    assert parse(latex) == parse(text)


@pytest.mark.parametrize(
    "raw",
    [
        "\\begin{aligned}\n x(y+1) \\\\\n &= x y + x \\\\\n\\end{aligned}",
        "$$\nx(y+1) = x y + x\n$$",
        [r"\begin{align*} x(y+1)", r"&= x y + x \\ \end{align*}"],
    ],
)
def test_an_environment_may_go_over_several_lines(raw):
    kind = Derivation(Chain(start="x*(y + 1)", target="x*y + x", names=("x", "y"), min_lines=2))
    assert kind.judge(kind.read(raw), None).credit == 1
