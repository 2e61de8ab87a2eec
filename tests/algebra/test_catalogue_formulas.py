"""Every kind of formula that the course asks for or shows, in text and in LaTeX, as intended."""

import pytest
import sympy
from sympy import KroneckerDelta, Rational, cos, exp, log, pi, sin, sqrt

from autograder.algebra import ParseError, equivalent, parse
from autograder.algebra.building.builders import BUILDERS
from autograder.algebra.building.construction import Construction
from autograder.algebra.building.functions import Diff, Factorial, Max, Norm, Transpose, tanh
from autograder.algebra.building.library import CALLS, FUNCTIONS
from autograder.algebra.building.parse import read
from autograder.algebra.building.scope import Scope
from autograder.algebra.reading.grammar import read_tree

DELTA = KroneckerDelta(*sympy.symbols("i j", integer=True))


def names(text):
    return sympy.symbols(text, real=True)


a, b, c, d, e, g, h, m, n, p, s, w, x, y, z = names("a b c d e g h m n p s w x y z")
tau, omega, theta, sigma, mu, phi, eps = names("tau omega theta sigma mu phi epsilon")
p_i, p_j, p_1, p_2, p_3, z_1, z_2, z_3, z_i = names("p_i p_j p_1 p_2 p_3 z_1 z_2 z_3 z_i")
sigma_q, sigma_k, mu_q, mu_k, d_k, d_v, Z = names("sigma_q sigma_k mu_q mu_k d_k d_v Z")
D, L, T, F, N, W_O, q_i, k_i = names("D L T F N W_O q_i k_i")
Q, K, V, W, R, P, S, J, I1 = sympy.symbols("Q K V W R P S J I_1", commutative=False)
k = sympy.Symbol("k", integer=True)
j = sympy.Symbol("j", integer=True)
pk, zk = (sympy.Indexed(sympy.IndexedBase(base, real=True), k) for base in "pz")
pj, zj = (sympy.Indexed(sympy.IndexedBase(base, real=True), j) for base in "pz")

TEXT = [
    ("exp(z_i - z_j)", exp(z_i - names("z_j"))),
    ("p_i**2/(p_1**2 + p_2**2 + p_3**2)", p_i**2 / (p_1**2 + p_2**2 + p_3**2)),
    ("e^(z_i + c)/(e^z_1 + e^z_2)", exp(z_i + c) / (exp(z_1) + exp(z_2))),
    ("1/n + (z_i - z)/(n*tau)", 1 / n + (z_i - z) / (n * tau)),
    ("1/(1 + exp(-(a - b)/tau))", 1 / (1 + exp(-(a - b) / tau))),
    ("(e^z_1 Z − e^(2 z_1))/Z²", (exp(z_1) * Z - exp(2 * z_1)) / Z**2),
    ("p_1 − p_1²", p_1 - p_1**2),
    ("−p_1·p_2", -p_1 * p_2),
    ("p_i*(delta_ij - p_j)", p_i * (DELTA - p_j)),
    ("(s − t)/τ", (s - names("t")) / tau),
    ("sum(p_k, k, 1, n)", sympy.Sum(pk, (k, 1, n))),
    ("sum(p_k, k, 1, 3)", p_1 + p_2 + p_3),
    ("Sum(exp(z_k), (k, 1, n))", sympy.Sum(exp(zk), (k, 1, n))),
    ("log(sum(exp(z_k), k, 1, 2))", log(exp(z_1) + exp(z_2))),
    ("sum(delta_1k*p_k, k, 1, 3)", p_1),
    (
        "d*(sigma_q**2*sigma_k**2 + mu_q**2*sigma_k**2 + mu_k**2*sigma_q**2)",
        d * (sigma_q**2 * sigma_k**2 + mu_q**2 * sigma_k**2 + mu_k**2 * sigma_q**2),
    ),
    ("n*(n+1)/2 + p*(p-1)/2", n * (n + 1) / 2 + p * (p - 1) / 2),
    ("cos(omega*k)", cos(omega * names("k"))),
    ("Sum(cos(k*omega), k, 0, d/2 - 1)", sympy.Sum(cos(k * omega), (k, 0, d / 2 - 1))),
    ("8*d**2 + 5*d", 8 * d**2 + 5 * d),
    ("2**(-6)", Rational(1, 64)),
    ("12d² + 13d", 12 * d**2 + 13 * d),
    ("(n+m)² − (n² + m² + nm)", (n + m) ** 2 - (n**2 + m**2 + names("nm"))),
    ("4*n*d**2 + n*(n+1)*d", 4 * n * d**2 + n * (n + 1) * d),
    (
        "2*n*(n+1)*d**2 + n*(n+1)*(2*n+1)*d/3",
        2 * n * (n + 1) * d**2 + n * (n + 1) * (2 * n + 1) * d / 3,
    ),
    ("n*m*(D + d_v)", n * m * (D + d_v)),
    ("exp(omega - norm(x)^2/2)/sqrt(m)", exp(omega - Norm(x) ** 2 / 2) / sqrt(m)),
    ("‖x‖²", Norm(x) ** 2),
    ("norm(Matrix([[3], [4]]))", sympy.Integer(5)),
    ("n*(2*w + 1) - w*(w + 1)", n * (2 * w + 1) - w * (w + 1)),
    ("2*g*n - g**2 + (n - g)*(2*w + 1)", 2 * g * n - g**2 + (n - g) * (2 * w + 1)),
    ("L/s + s", L / s + s),
    ("2√(L)", 2 * sqrt(L)),
    ("sin(p/10000^(2*k/d))", sin(p / 10000 ** (2 * names("k") / d))),
    ("max(0, x)", Max(0, x)),
    ("x*tanh(log(1 + e^x))", x * tanh(log(1 + exp(x)))),
    ("-p_1 log(p_1) - p_2 ln p_2", -p_1 * log(p_1) - p_2 * log(p_2)),
    ("d (d + 1)/2", d * (d + 1) / 2),
    ("3 sin 2x cos y", 3 * sin(2 * x) * cos(y)),
]


@pytest.mark.parametrize(("text", "expected"), TEXT)
def test_text(text, expected):
    assert parse(text, implicit=True) == expected


LATEX = [
    (r"\frac{e^{z_i}}{\sum_{k=1}^{n} e^{z_k}}", exp(z_i) / sympy.Sum(exp(zk), (k, 1, n))),
    (
        r"\frac{e^{z_i + c}}{\sum_{j=1}^n e^{z_j + c}}",
        exp(z_i + c) / sympy.Sum(exp(zj + c), (j, 1, n)),
    ),
    (r"p_i \left( 1 - p_j \right)", p_i * (1 - p_j)),
    (r"p_i(\delta_{ij} - p_j)", p_i * (DELTA - p_j)),
    (r"\log \sum_{k=1}^{n} e^{z_k}", log(sympy.Sum(exp(zk), (k, 1, n)))),
    (r"\frac{1}{1 + e^{-(a-b)/\tau}}", 1 / (1 + exp(-(a - b) / tau))),
    (r"-\sum_{k=1}^{n} p_k \log p_k", -sympy.Sum(pk * log(pk), (k, 1, n))),
    (r"\sigma_q^2 \sigma_k^2 + \mu_q^2\sigma_k^2", sigma_q**2 * sigma_k**2 + mu_q**2 * sigma_k**2),
    (r"\frac{q \cdot k}{\sqrt{d_k}}", names("q") * names("k") / sqrt(d_k)),
    (r"\sin\left(\frac{p}{10000^{2k/d}}\right)", sin(p / 10000 ** (2 * names("k") / d))),
    (r"\cos\omega k", cos(omega * names("k"))),
    (r"\cos(w)(k + l)", cos(names("w")) * (names("k") + names("l"))),
    (r"\cos w \cdot (k + l)", cos(names("w")) * (names("k") + names("l"))),
    (r"\sin^2 \theta + \cos^2\theta", sin(theta) ** 2 + cos(theta) ** 2),
    (r"\frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}}", (x - mu) / sqrt(sigma**2 + eps)),
    (r"\sqrt[3]{x}", x ** Rational(1, 3)),
    (r"\dfrac{n(n+1)}{2}", n * (n + 1) / 2),
    (r"2n^2 d\,+ 4 n d^2", 2 * n**2 * d + 4 * n * d**2),
    (r"\|x\|^2", Norm(x) ** 2),
    (r"\lVert x \rVert", Norm(x)),
    (r"\left| x - 1 \right|", sympy.Abs(x - 1)),
    (r"\exp\left(-\frac{\|x\|^2}{2}\right)", exp(-(Norm(x) ** 2) / 2)),
    (r"e^{\frac{\|x + y\|^2}{2}}", exp(Norm(x + y) ** 2 / 2)),
    (r"\max(0, x)", Max(0, x)),
    (r"\tanh(x/2)", tanh(x / 2)),
    (r"\frac{n!}{2}", Factorial(n) / 2),
    (r"\log_2 n", log(n) / log(2)),
    (r"\mathrm{d} + \text{mean}", d + names("mean")),
    (r"\frac{L}{s} + s", L / s + s),
    (r"2^{-6}\,x", x / 64),
    (r"\pi r^2\times 2", 2 * pi * names("r") ** 2),
    (r"\hat{x}\cdot\gamma + \beta", names("xhat") * names("gamma") + names("beta")),
    (r"$\frac{1}{n}$", 1 / n),
]


@pytest.mark.parametrize(("text", "expected"), LATEX)
def test_latex(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (r"p_i(1-p_j)\,", "p_i*(1 - p_j)"),
        (r"\cos(m\theta)\cos(n\theta) + \sin m\theta \sin n\theta", "cos((m-n)*theta)"),
        (r"\lambda\,a + (1-\lambda)\,b", "b + lambda*(a - b)"),
        (
            "a*sqrt(sigma2)/sqrt(a**2*sigma2 + epsilon)",
            r"\frac{a\sqrt{\sigma_2}}{\sqrt{a^2 \sigma_2 + \varepsilon}}",
        ),
        ("sum(k, k, 1, n)", "n*(n+1)/2"),
        (r"\sum_{k=1}^{n} k^2", "n(n+1)(2n+1)/6"),
        (r"\sum_{k=1}^{n} p_k", "sum(p_j, j, 1, n)"),
        (r"\sum_{k=1}^{n} \delta_{ik} p_k + 0 n", "p_i*sum(delta_ik, k, 1, n)"),
        ("binomial(n, 2)", "n(n-1)/2"),
        ("n!/(n-1)!", "n"),
        ("log(8, 2)", "3"),
    ],
)
def test_two_ways_to_write_the_same(one, other):
    names = None if "sigma2" not in one else ["a", "sigma2", "epsilon"]
    assert equivalent(one, other, variables=names).equal


MATRICES = dict.fromkeys(["Q", "K", "V", "W", "R", "P", "S", "J"], "matrix")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"QK^\top", Q * Transpose(K)),
        (r"Q K^T/\sqrt{d_k}", Q * Transpose(K) / sqrt(d_k)),
        ("Q*Kᵀ", Q * Transpose(K)),
        ("transpose(Q*K)", Transpose(K) * Transpose(Q)),
        (r"(QK)^\top", Transpose(K) * Transpose(Q)),
        (r"P S P^\top P V", P * S * Transpose(P) * P * V),
        (r"\|Q\|", Norm(Q)),
    ],
)
def test_names_of_matrices_do_not_commute(text, expected):
    assert parse(text, implicit=True, assumptions=MATRICES) == expected


def test_products_of_matrices_are_compared_in_order():
    def same(one, other):
        return equivalent(one, other, assumptions=MATRICES).equal

    assert same(r"(QK^\top)^\top", r"K Q^\top")
    assert same(r"(Q + R)(Q - R)", "Q^2 - Q*R + R*Q - R^2")
    assert same("(Q + R)*(Q - R)", "Q^2 - R^2") is False
    assert same(r"QK^\top", r"K^\top Q") is False
    assert same(r"\mathrm{softmax}(QK^\top)V", r"\mathrm{softmax}(Q K^\top) V")
    assert same("softmax(Q*transpose(K))*V", "softmax(K*transpose(Q))*V") is False
    assert same(r"(1 + J)(1 + S)", "1 + J + S + J*S")


MATRIX_TEXTS = [
    (r"\begin{bmatrix} a & b \\ c & d \end{bmatrix}", sympy.Matrix([[a, b], [c, d]])),
    (r"\begin{pmatrix} 1 \\ x^2 \end{pmatrix}^\top", sympy.Matrix([[1, x**2]])),
    (
        r"\begin{bmatrix} \cos\theta & -\sin\theta \\ \sin\theta & \cos\theta \end{bmatrix}",
        sympy.Matrix([[cos(theta), -sin(theta)], [sin(theta), cos(theta)]]),
    ),
    (
        "Matrix([[cos(omega*k), sin(omega*k)], [-sin(omega*k), cos(omega*k)]])",
        sympy.Matrix(
            [
                [cos(omega * names("k")), sin(omega * names("k"))],
                [-sin(omega * names("k")), cos(omega * names("k"))],
            ]
        ),
    ),
    (r"\mathrm{diag}(a, b)", sympy.diag(a, b)),
    (
        "diag(p_1, p_2) - Matrix([[p_1], [p_2]])*Matrix([[p_1, p_2]])",
        sympy.Matrix([[p_1 - p_1**2, -p_1 * p_2], [-p_1 * p_2, p_2 - p_2**2]]),
    ),
]


@pytest.mark.parametrize(("text", "expected"), MATRIX_TEXTS)
def test_matrices_are_built(text, expected):
    tree = read_tree(text, implicit=False, functions=frozenset(CALLS))
    value = Construction(text, Scope(None, {}), FUNCTIONS, BUILDERS).build(tree)
    assert value == expected


def test_derivatives_stand_as_written_until_carried_out():
    assert read("diff(exp(z_1)/Z, z_1)") == Diff(exp(z_1) / Z, z_1)
    assert parse("diff(x^2, x) - Derivative(x^3, (x, 2))") == 2 * x - 6 * x


def test_kronecker_delta_with_a_running_index():
    i = sympy.Symbol("i", integer=True)
    assert parse("sum(delta_ik, k, 1, n)") == sympy.Sum(KroneckerDelta(i, k), (k, 1, n))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sum(k, k, 1)", "write the range: sum(term, k, 1, n)"),
        ("sum(k, k, 1, 10^9)", "at most 400 terms"),
        ("sum(k, k, 1/2, 3)", "whole number"),
        ("sum(k, 2, 1, 3)", "running index"),
        (r"\sum_k p_k", "write the range"),
        (r"\frac{a}{b} + \foo", "unknown command"),
        (r"\begin{bmatrix} a & b \\ c \end{bmatrix}", "the same number of entries"),
        (r"\begin{bmatrix} a & b", "expected"),
        ("Matrix([[1, 2]]) + Matrix([[1], [2]])", "sizes differ"),
        ("Matrix([[1, 2]]) * Matrix([[1, 2]])", "sizes do not fit"),
        ("1/Matrix([[1]])", "no division by a matrix"),
        ("det(Matrix([[1, 2]]))", "square"),
        ("factorial(10^10)", "too large"),
        ("1000!", "from 0 to"),
        ("(-1)!", "from 0 to"),
        ("log(2, 1)", "no logarithm"),
        ("sin([1, 2])", "not a list"),
        ("(x = 1) + 1", "not an equation"),
        ("x^Matrix([[1]])", "exponent"),
        ("|x", "never closed"),
        ("[1, 2", "never closed"),
        ("1, 2)", "comma"),
        (r"\cos w(k + l)", "unclear whether this bracket belongs to cos: write cos(…)"),
        (r"x \log_2 n \left(n + 1\right)", "unclear whether this bracket belongs to log"),
        (r"\exp 2\pi k[a + b]", "unclear whether this bracket belongs to exp"),
    ],
)
def test_refusals(text, reason):
    with pytest.raises(ParseError, match=None) as caught:
        parse(text)
    assert reason in caught.value.reason
