"""Right formulas in the clothes that students put them in: each is read as what it means."""

import pytest

from autograder.algebra import ParseError
from autograder.algebra.deriving.lines.indexed import LineNames, read_indexed
from autograder.exercise import Formula, Matrix
from autograder.exercise.answers.kind import FormatError

NAMES = Formula(
    "x y n k p_i p_j delta_ij", assumptions={"n": "positive integer", "k": "positive integer"}
)
LINES = LineNames(indexed=("p", "x", "y", "z", "q"), plain=("w",), sizes=("r",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\begin{aligned} &x + 1 \\ \end{aligned}", "x + 1"),
        (r"\begin{aligned} H(x) &= x \\ &\quad + 1 \end{aligned}", "x + 1"),
        (r"\begin{align*} x + 1 \end{align*}", "x + 1"),
        (r"\[ \begin{equation} x + 1 \end{equation} \]", "x + 1"),
        (r"\begin{gathered} x \end{gathered}", "x"),
        ("H(p) = x + 1", "x + 1"),
        (r"$$\mathcal{L}(\theta) = x + 1$$", "x + 1"),
        (r"\operatorname{ReLU}(x) = \max(0, x)", "max(x, 0)"),
        (r"\frac{dL}{dx} = 2x", "2*x"),
        (r"\frac{\partial L}{\partial x} = 2x", "2*x"),
        (r"f'(x) := 2x", "2*x"),
        (r"\|v\| = 2x", "2*x"),
        ("H = H(p) = 2x", "2*x"),
        (r"\binom{n}{k}", "n!/(k!*(n-k)!)"),
        (r"\binom n2", "n*(n-1)/2"),
        (r"{n \choose 2}", "n*(n-1)/2"),
        ("comb(n, 2)", "n*(n-1)/2"),
        ("C(n, 2)", "n*(n-1)/2"),
        ("nCr(n, 2)", "n*(n-1)/2"),
        ("x*(x > 0)", "max(x, 0)"),
        ("[x >= 0]*x", "max(x, 0)"),
        (r"x \mathbb{1}_{x > 0}", "max(x, 0)"),
        (r"1_{x > 0}\, x", "max(x, 0)"),
        ("2⅔ x", "8*x/3"),
        ("relu(x)", "max(x, 0)"),
        (r"\mathrm{ReLU}(x)", "max(x, 0)"),
        ("np.maximum(x, 0)", "max(x, 0)"),
        ("np.log1p(np.exp(x))", "log(1 + exp(x))"),
        ("pow(x + 1, 2)", "(x + 1)^2"),
        ("n*(n-1)//2", "floor(n*(n-1)/2)"),
        ("xe^x", "x*exp(x)"),
        ("eˣ⁺¹", "exp(x + 1)"),
        ("∣x∣", "abs(x)"),
        (r"\begin{cases} x & x > 0 \\ 0 & \text{otherwise} \end{cases}", "(x + abs(x))/2"),
        (r"\begin{cases} x, & \text{if } x \ge 0 \\ -x, & x < 0 \end{cases}", "abs(x)"),
        (r"\begin{cases} 1 & i = j \\ 0 & i \ne j \end{cases}", "delta_ij"),
        (
            r"\begin{cases} p_i(1-p_i) & \text{for } i = j \\ -p_ip_j & \text{else} \end{cases}",
            "delta_ij*p_i*(1-p_i) - (1-delta_ij)*p_i*p_j",
        ),
        (r"p_i(\delta_{ji} - p_j)", "p_i*(delta_ij - p_j)"),
        ("p_i*([i = j] - p_j)", "p_i*(delta_ij - p_j)"),
        ("p_i*(delta(i, j) - p_j)", "p_i*(delta_ij - p_j)"),
        ("p_i*(KroneckerDelta(j, i) - p_j)", "p_i*(delta_ij - p_j)"),
        ("p_i[i=j] - p_i p_j", "p_i*(delta_ij - p_j)"),
        ("p_i*((i==j) - p_j)", "p_i*(delta_ij - p_j)"),
        (r"p_i(1_{i=j} - p_j)", "p_i*(delta_ij - p_j)"),
        (r"p_i(1_{\{i=j\}} - p_j)", "p_i*(delta_ij - p_j)"),
        (r"p_i(\mathbb{1}[i=j] - p_j)", "p_i*(delta_ij - p_j)"),
        (r"p_i(\mathbf{1}_{i=j} - p_j)", "p_i*(delta_ij - p_j)"),
        (r"p_i(\mathbb 1\{i=j\} - p_j)", "p_i*(delta_ij - p_j)"),
        ("p_i(𝟙[i=j] − p_j)", "p_i*(delta_ij - p_j)"),
        (r"p_i(\delta_i^j - p_j)", "p_i*(delta_ij - p_j)"),
        (r"p_i(1 - 1_{i \neq j} - p_j)", "p_i*(delta_ij - p_j)"),
        (r"\sigma(x)", "1/(1 + exp(-x))"),
        (r"-\ln\sigma\left(-x\right)", "log(1 + exp(x))"),
        (r"L \approx 2x", "2*x"),
        (r"x' = 2x", "2*x"),
        ("50%", "1/2"),
        ("25% + x", "1/4 + x"),
        ("2∙x", "2*x"),
        (r"x^\prime = 2x", "2*x"),
        ("np.linalg.norm(x)", "norm(x)"),
        ("2e+3e+1", "5*exp(1) + 1"),
        ("2e+3e+1+4e-x", "9*exp(1) + 1 - x"),
        ("1e", "exp(1)"),
        (r"2\pi\sqrt{500}", "20*π*sqrt(5)"),
        (r"\pi p_i", "p_i*π"),
        (r"\begin{cases} x, & \text{if } x > 0, \\ 0, & \text{otherwise.} \end{cases}", "relu(x)"),
        (r"\frac{1}{\sum_{i=1}^3 i} x", "x/6"),
        (r"x/\sum_{i=1}^3 i + 1", "x/6 + 1"),
    ],
)
def test_a_right_formula_is_right_however_it_is_written(text, expected):
    assert NAMES.same(NAMES.read(text), NAMES.read(expected))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 2", "not an equation"),
        ("e = 3", "not an equation"),
        (r"\begin{cases} 1 & x > 0 \\ 0 & x < 0 \end{cases}", "otherwise"),
        (r"\begin{cases} 1 & x \end{cases}", "condition"),
        ("2 2/3 x", r"2 2/3 may be a sum or a product: write 2 \+ 2/3, or 2\*\(2/3\)"),
        (r"2\tfrac{2}{3} x", "2 2/3 may be a sum or a product"),
        ("2 pi", r"pi may be the constant, or p_i: write p_i, or \\pi"),
        ("3e-2", "3e-2 may be 3.10.-2, or Euler's e: 3.e - 2"),
        ("1.5e−3", "may be 1.5.10.-3, or Euler's e: 1.5.e - 3"),
        (r"1/\sum_{i=1}^3 i x", "unclear where this ends: put brackets around it"),
        (r"1/\prod_{i=1}^3 i \cdot x", "unclear where this ends: put brackets around it"),
        (r"2^\sum_{i=1}^3 i x", "unclear where this ends: put brackets around it"),
        ("sqrt n", "sqrt needs brackets"),
        ("x % y", "percent, or a remainder"),
        ("n!!", "every second number"),
        (r"\max_k x", "the largest over an index is not read here"),
    ],
)
def test_what_says_something_else_is_refused_with_a_sentence(text, says):
    with pytest.raises(FormatError, match=says):
        NAMES.read(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\mathbb{E}[z_i]", "E(z_i)"),
        (r"\mathbb{E}\left[z_i z_j\right]", "E(z_i*z_j)"),
        (r"\mathbb E[z_i]", "E(z_i)"),
        (r"\mathbb{E}\, e^{z_i}", "E(exp(z_i))"),
        ("𝔼[z_i]", "E(z_i)"),
        (r"\operatorname{E}[z_i]^2", "E(z_i)^2"),
        (r"\operatorname{Var}(z_i)", "Var(z_i)"),
        (r"\mathrm{Var}[z_i]", "Var(z_i)"),
        (r"\sum_i x_i \sum_j y_j", "sum(x_i, i)*sum(y_j, j)"),
        (r"\sum_i x_i \sum_i y_i", "sum(x_i, i)*sum(y_i, i)"),
        (r"\sum_i x_i \sum_j y_j z_i", "sum(x_i*sum(y_j*z_i, j), i)"),
        ("sum(q_c*z_c, c, 1, r)", "sum(q_i*z_i, i, 1, r)"),
        (r"\sum_{c=1}^{r} q_c z_c", "sum(q_i*z_i, i, 1, r)"),
        (r"\sum_\ell x_\ell", "sum(x_l, l)"),
        ("1e-3*z_i", "z_i/1000"),
        ("log2(z_i)", "log(z_i)/log(2)"),
        ("3!*z_i", "6*z_i"),
        ("25%*z_i", "z_i/4"),
        ("p_i*([i=j] - p_j)", "p_i*(delta(i,j) - p_j)"),
        (r"p_i(1_{i=j} - p_j)", "p_i*(delta(i,j) - p_j)"),
        ("∂e^(z_i)/∂z_j", "D(exp(z_i), z_j)"),
        ("∂log(∑_k e^{z_k})/∂z_j", "D(log(sum(exp(z_k), k)), z_j)"),
        ("d/dw (w x_i)", "D(w*x_i, w)"),
        ("max_j |z_j| w", "max(abs(z_j), j)*w"),
        ("min_{j} z_j", "-max(-z_j, j)"),
    ],
)
def test_a_line_with_indices_is_read_however_it_is_written(text, expected):
    assert read_indexed(text, LINES) == read_indexed(expected, LINES)


def test_it_is_not_guessed_what_an_expectation_is_taken_of():
    with pytest.raises(ParseError, match=r"unclear what E is taken of: write E\[…\]"):
        read_indexed(r"\mathbb{E} z_i z_j", LINES)


def test_a_formula_with_rounded_numbers_is_told_that_it_is_to_be_exact():
    formula = Formula("d")
    right = formula.read("8/3*d")
    for text in ("2.667*d", "2.67d"):
        found = formula.judge(formula.read(text), right)
        assert found.credit == 0
        assert "a formula is exact" in found.feedback
    matrix = Matrix("d")
    expected = matrix.read([["8/3*d", "1"], ["0", "d"]])
    found = matrix.judge(matrix.read([["2.667*d", "1"], ["0", "d"]]), expected)
    assert (found.credit, "a formula is exact" in found.feedback) == (0, True)
    found = matrix.judge(matrix.read([["2.667*d", "1"], ["0", "2*d"]]), expected)
    assert "exact" not in found.feedback
    for text in ("2.5*d", "3*d", "8/3"):
        assert "exact" not in formula.judge(formula.read(text), right).feedback
