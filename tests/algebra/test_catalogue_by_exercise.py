"""The formulas of every assignment, written as the catalogue writes them, read as intended."""

import pytest
import sympy
from sympy import KroneckerDelta, Rational, cos, exp, log, sin, sqrt

from autograder.algebra import equivalent, parse
from autograder.algebra.building.functions import Ceiling, Max, Norm, Transpose
from autograder.algebra.building.parse import read
from autograder.algebra.comparing.complexity import parse_complexity


class Symbols:
    """``v.p_1`` is the symbol p_1."""

    def __getattr__(self, name):
        return sympy.Symbol(name, real=True)


v = Symbols()
N = 3  # where a sum has no range, it is written out for three terms
z1, z2, z3 = v.z_1, v.z_2, v.z_3
p1, p2, p3 = v.p_1, v.p_2, v.p_3
Z = exp(z1) + exp(z2) + exp(z3)
k_ = sympy.Symbol("k", integer=True)


def terms(term):
    return sum(term(i) for i in range(1, N + 1))


def at(name, *indices):
    return sympy.Symbol(f"{name}_{''.join(map(str, indices))}", real=True)


FORMULAS = [
    # a01: softmax
    ("softmax_invariance", "e^(z_1+c)/Σ_j e^(z_j+c)", exp(z1) / Z),
    ("softmax_invariance", "e^c e^(z_1)/(e^c Σ_j e^(z_j))", exp(z1) / Z),
    ("softmax_invariance", "exp(z_i − z_j)", exp(v.z_i - v.z_j)),
    (
        "softmax_invariance",
        "p_i**2/(p_1**2 + p_2**2 + p_3**2)",
        v.p_i**2 / (p1**2 + p2**2 + p3**2),
    ),
    (
        "softmax_temperature",
        "1/n + (z_i − zbar)/(n*tau)",
        1 / v.n + (v.z_i - v.zbar) / (v.n * v.tau),
    ),
    ("softmax_temperature", "1/n + (z_i − z̄)/(n·τ)", 1 / v.n + (v.z_i - v.zbar) / (v.n * v.tau)),
    ("softmax_two", "1/(1 + exp(-(a - b)/tau))", 1 / (1 + exp(-(v.a - v.b) / v.tau))),
    ("soft_argmax", "Σ_(i=1)^3 i·p_i", p1 + 2 * p2 + 3 * p3),
    ("logsumexp", "log Σ_k e^z_k", log(Z)),
    ("jacobian_proof", "(e^z1 Z − e^(2 z1))/Z²", (exp(v.z1) * v.Z - exp(2 * v.z1)) / v.Z**2),
    ("jacobian_proof", "p1 − p1²", v.p1 - v.p1**2),
    ("jacobian_proof", "−e^z1 e^z2/Z²", -exp(v.z1 + v.z2) / v.Z**2),
    ("jacobian_proof", "−p1*p2", -v.p1 * v.p2),
    ("jacobian_sums", "Σ_j p_1(δ_1j − p_j)", p1 - p1 * (p1 + p2 + p3)),
    ("jacobian_sums", "p_i − p_i Σ_j p_j", v.p_i - v.p_i * (p1 + p2 + p3)),
    ("jacobian_spectrum", "1 − Σ_k p_k²", 1 - p1**2 - p2**2 - p3**2),
    ("lse_derivatives", "−p_1 p_2", -p1 * p2),
    ("cross_entropy", "(s − t)/tau", (v.s - v.t) / v.tau),
    # a02 and a03: attention by hand, scaling
    ("attn_hand", "1/√2", 1 / sqrt(2)),
    ("score_variance", "d(s² t² − a² b²)", v.d * (v.s**2 * v.t**2 - v.a**2 * v.b**2)),
    (
        "score_variance",
        "d*(sigma_q**2*sigma_k**2 + mu_q**2*sigma_k**2 + mu_k**2*sigma_q**2)",
        v.d * (v.sigma_q**2 * v.sigma_k**2 + v.mu_q**2 * v.sigma_k**2 + v.mu_k**2 * v.sigma_q**2),
    ),
    (
        "score_variance",
        "d(σ_q² σ_k² + μ_q² σ_k² + μ_k² σ_q²)",
        v.d * (v.sigma_q**2 * v.sigma_k**2 + v.mu_q**2 * v.sigma_k**2 + v.mu_k**2 * v.sigma_q**2),
    ),
    ("score_variance", "Σ_i q_i k_i / √d", terms(lambda i: at("q", i) * at("k", i)) / sqrt(v.d)),
    ("variance_trap", "√(2/d)", sqrt(2 / v.d)),
    ("mask_counts", "n*(n+1)/2", v.n * (v.n + 1) / 2),
    ("mask_counts", "n*(n+1)/2 + p*(p-1)/2", v.n * (v.n + 1) / 2 + v.p * (v.p - 1) / 2),
    ("attention_gradient", "(√3 − 1)/(√3 + 1)", 2 - sqrt(3)),
    # a04: heads
    ("mha_params", "h·3·d·(d/h) + h·(d/h)·d", 4 * v.d**2),
    ("mha_params", "4*d**2 + 4*d", 4 * v.d**2 + 4 * v.d),
    ("mha_params", "4d² + 4d", 4 * v.d**2 + 4 * v.d),
    # a05: positions
    ("pe_gram", "Σ_(i=0)^2 cos(k·ω_i)", sum(cos(v.k * at("omega", i)) for i in range(3))),
    ("pe_wavelengths", "2π·10000^(1−2/d)", 2 * sympy.pi * 10000 ** (1 - 2 / v.d)),
    ("pe_shift", "sin(ω(p+k))", sin(v.omega * (v.p + v.k))),
    ("pe_norm", "√(d/2)", sqrt(v.d / 2)),
    ("alibi", "−m(i−j)", v.m * v.j - v.m * v.i),
    ("hybrid", "e^(f+g)", exp(v.f) * exp(v.g)),
    # a06: block
    (
        "norm_scale",
        "a*sqrt(sigma2)/sqrt(a**2*sigma2 + epsilon)",
        v.a * sqrt(v.sigma2) / sqrt(v.a**2 * v.sigma2 + v.epsilon),
    ),
    (
        "norm_jacobian",
        "(δ_ij − 1/d − x̂_i x̂_j/d)/σ",
        (KroneckerDelta(*sympy.symbols("i j", integer=True)) - 1 / v.d - v.xhat_i * v.xhat_j / v.d)
        / v.sigma,
    ),
    ("block_params", "8*d**2 + 5*d", 8 * v.d**2 + 5 * v.d),
    (
        "gates",
        "T F' + T'·(F − x) + 1 − T",
        v.T * sympy.Symbol("F'", real=True) + sympy.Symbol("T'", real=True) * (v.F - v.x) + 1 - v.T,
    ),
    ("post_norm", "2**(-6)", Rational(1, 64)),
    ("post_norm", "2^(−6)", Rational(1, 64)),
    # a07: full transformer
    ("layer_params", "12*d**2", 12 * v.d**2),
    ("layer_params", "12*d**2 + 13*d", 12 * v.d**2 + 13 * v.d),
    ("layer_params", "16*d**2 + 19*d", 16 * v.d**2 + 19 * v.d),
    ("arch_costs", "(n+m)² − (n² + m² + n m)", v.m * v.n),
    # a08: cost
    ("madds", "2n²d", 2 * v.n**2 * v.d),
    ("madds", "n*m*(d_k + d_v)", v.n * v.m * (v.d_k + v.d_v)),
    ("kv_cost", "4*n*d**2 + n*(n+1)*d", 4 * v.n * v.d**2 + v.n * (v.n + 1) * v.d),
    (
        "kv_cost",
        "2*n*(n+1)*d**2 + n*(n+1)*(2*n+1)*d/3",
        2 * v.n * (v.n + 1) * v.d**2 + v.n * (v.n + 1) * (2 * v.n + 1) * v.d / 3,
    ),
    ("kv_cost", "4d² + 2t·d", 4 * v.d**2 + 2 * v.t * v.d),
    # a09: efficient
    (
        "linear_attention",
        "Σ_j (φ_i·φ_j) v_j / Σ_j φ_i·φ_j",
        terms(lambda j: at("phi", j) * at("v", j)) / terms(lambda j: at("phi", j)),
    ),
    (
        "linear_attention",
        "φ_iᵀ(Σ_j φ_j v_jᵀ)/(φ_iᵀ Σ_j φ_j)",
        terms(lambda j: at("phi", j) * at("v", j)) / terms(lambda j: at("phi", j)),
    ),
    ("linear_cost", "D*d_v*(m + n)", v.D * v.d_v * (v.m + v.n)),
    ("favor", "exp(ω_j·x − ‖x‖²/2)/sqrt(m)", exp(v.omega_j * v.x - Norm(v.x) ** 2 / 2) / sqrt(v.m)),
    ("favor", "exp(‖z‖²/2)", exp(Norm(v.z) ** 2 / 2)),
    ("favor", "√(2/m)·exp(ω·x)", sqrt(2 / v.m) * exp(v.omega * v.x)),
    (
        "favor_variance",
        "e^(‖x+y‖²) e^(2x·y)(1 − e^(−‖x+y‖²))/m",
        exp(Norm(v.x + v.y) ** 2 + 2 * v.x * v.y) * (1 - exp(-(Norm(v.x + v.y) ** 2))) / v.m,
    ),
    ("favor_variance", "√(e^(4r²) − 1)", sqrt(exp(4 * v.r**2) - 1)),
    ("sparse_window", "n*(2*w + 1) - w*(w + 1)", v.n * (2 * v.w + 1) - v.w * (v.w + 1)),
    (
        "longformer",
        "2*g*n - g**2 + (n - g)*(2*w + 1) - w*(w + 1)",
        2 * v.g * v.n - v.g**2 + (v.n - v.g) * (2 * v.w + 1) - v.w * (v.w + 1),
    ),
    ("top_k", "2(1 − s)·max(a, b)", 2 * (1 - v.s) * Max(v.a, v.b)),
    # a10: scale and adapt
    ("moe_capacity", "⌈c·k·T/M⌉", Ceiling(v.c * v.k * v.T / v.M)),
    ("moe_loss", "M·Σ_e f_e P_e", v.M * terms(lambda e: at("f", e) * at("P", e))),
    ("moe_loss", "½ + ¼", Rational(3, 4)),
    ("checkpointing", "L/s + s", v.L / v.s + v.s),
    ("checkpointing", "2√L", 2 * sqrt(v.L)),
    ("lora_rank", "√(1 − r/d)", sqrt(1 - v.r / v.d)),
    ("lora_rank", "Σ_i σ_i²/σ_1²", terms(lambda i: at("sigma", i) ** 2) / v.sigma_1**2),
    # a11 and a12: theory, capstone
    ("entropy", "s_i − τ(log p_i + 1)", v.s_i - v.tau * (log(v.p_i) + 1)),
    ("heads", "Σ_(i,j) H_ij²", terms(lambda i: terms(lambda j: at("H", i, j) ** 2))),
    ("heads", "2h Σ_i S_i²", 2 * v.h * terms(lambda i: at("S", i) ** 2)),
    ("heads", "Σ_(i≠2) H_i", at("H", 1) + at("H", 3)),
    ("paths", "log_k n", log(v.n) / log(v.k)),
    ("depth", "12L·d²", 12 * v.L * v.d**2),
]


@pytest.mark.parametrize(("exercise", "text", "intended"), FORMULAS)
def test_text_is_read_as_intended(exercise, text, intended):
    given = parse(text, implicit=True, ranges={"*": str(N)}, assumptions={"*": "real"})
    assert equivalent(intended, given).equal, given


v_k = {"k": v.k, "n": v.n}
LATEX = [
    (r"\frac12 n(n+1)", v.n * (v.n + 1) / 2),
    (r"\tfrac12", Rational(1, 2)),
    (r"\frac1n \sum_j z_j", terms(lambda j: at("z", j)) / v.n),
    (r"\frac{e^{z_1}}{\sum_j e^{z_j}}", exp(z1) / Z),
    (r"p_1 \sum_{j} \left(\delta_{1j} - p_j\right) p_j", p1 * (p1 - p1**2 - p2**2 - p3**2)),
    (r"\sum_{i,j} H_{ij}^2", terms(lambda i: terms(lambda j: at("H", i, j) ** 2))),
    (r"\sum_{j \neq 1} p_j", p2 + p3),
    (r"\prod_{k} p_k", p1 * p2 * p3),
    (r"\prod_{k=1}^3 z_{k}", z1 * z2 * z3),
    (r"\sum_{k=1}^{2} z_{k+1} - z_{k}", z2 + z3 - v.z_k),
    (r"\lim_{x \to 0} \frac{\sin x}{x}", sympy.Integer(1)),
    (r"\lim_{\tau \to \infty} \frac{1}{1 + e^{-1/\tau}}", Rational(1, 2)),
    (r"\lim_{\tau \to 0^+} \frac{1}{1 + e^{-1/\tau}}", sympy.Integer(1)),
    (r"\lim_{\tau \to 0^-} \frac{1}{1 + e^{-1/\tau}}", sympy.Integer(0)),
    (r"\log_2 n!", None),
    (r"\frac{\partial}{\partial x} x^2", 2 * v.x),
    (r"\frac{\partial^2 (x^2 y)}{\partial x \partial y}", 2 * v.x),
    (r"\frac{\partial \log(x)}{\partial x}", 1 / v.x),
    (r"\sin^{-1} x", parse("arcsin(x)")),
    (r"\|x\|_2^2", Norm(v.x) ** 2),
    (r"\sqrt2\,x", sqrt(2) * v.x),
    (r"d_{\text{model}} + d_\mathrm{ff}", v.d_model + v.d_ff),
    (r"\hat x_j + \bar{x} + \hat\sigma", v.xhat_j + v.xbar + v.sigmahat),
    (r"\max\{a, b\}", Max(v.a, v.b)),
    (r"\left|x\right| \cdot \left|y\right|", sympy.Abs(v.x * v.y)),
    (r"\boxed{x + 1}", v.x + 1),
    (r"\binom nk", parse("binomial(n, k)")),
    (r"\lceil c k T / M \rceil", Ceiling(v.c * v.k * v.T / v.M)),
]


@pytest.mark.parametrize(("text", "intended"), LATEX)
def test_latex_is_read_as_intended(text, intended):
    if intended is None:
        intended = parse("log(factorial(n))/log(2)")
    given = parse(text, ranges={"*": str(N)}, assumptions={"*": "real"})
    assert equivalent(intended, given).equal, given


TEXTS = [
    ("p[1] + p[i]", p1 + v.p_i),
    ("J[i, j]", v.J_ij),
    (
        "z_{i+1}",
        sympy.Indexed(sympy.IndexedBase("z", real=True), sympy.Symbol("i", integer=True) + 1),
    ),
    ("xⁿ⁺¹", v.x ** (v.n + 1)),
    ("x⁻²", v.x**-2),
    ("pᵢ − pⱼ", v.p_i - v.p_j),
    ("x₁²", v.x1**2),
    ("|x − 1||x + 1|", sympy.Abs(v.x**2 - 1)),
    ("log2(8) + log10(100)", sympy.Integer(5)),
    ("lim_(x→0) sin(x)/x", sympy.Integer(1)),
    ("∂(x² y)/∂x", 2 * v.x * v.y),
    ("∂²(x² y)/∂x∂y", 2 * v.x),
    ("∂/∂x (x²)", 2 * v.x),
    ("n!", parse("factorial(n)")),
    ("sum(p_j, j)", p1 + p2 + p3),
    ("product(p_j, j)", p1 * p2 * p3),
    ("⌊7/2⌋", sympy.Integer(3)),
]


@pytest.mark.parametrize(("text", "intended"), TEXTS)
def test_everyday_signs_are_read_as_intended(text, intended):
    assert equivalent(intended, parse(text, implicit=True, ranges={"*": str(N)})).equal


def test_a_sum_without_a_range_runs_to_the_declared_size():
    j = sympy.Symbol("j", integer=True)
    p_j = sympy.Indexed(sympy.IndexedBase("p", real=True), j)
    for text in (r"\sum_j p_j", "Σ_j p_j", "sum(p_j, j)", "Σ_j p[j]"):
        assert parse(text, ["p_1", "n"], implicit=True, ranges={"j": "n"}) == sympy.Sum(
            p_j, (j, 1, v.n)
        )


MATRICES = dict.fromkeys(
    ["W_Q", "W_K", "R", "Q", "K", "V", "P", "S", "J_1", "J_2", "T_a", "T_b", "I"], "matrix"
)
W_Q, W_K, R, P, S, V, J_1, J_2 = (
    sympy.Symbol(name, commutative=False)
    for name in ("W_Q", "W_K", "R", "P", "S", "V", "J_1", "J_2")
)


@pytest.mark.parametrize(
    ("text", "intended"),
    [
        ("(W_Q R)(W_K R⁻ᵀ)ᵀ", W_Q * Transpose(W_K)),
        (r"(W_Q R)(W_K R^{-\top})^{\top}", W_Q * Transpose(W_K)),
        ("W_Q @ W_K.T", W_Q * Transpose(W_K)),
        ("P S Pᵀ P V", P * S * Transpose(P) * P * V),
        ("(1 + J_2)(1 + J_1)", 1 + J_1 + J_2 + J_2 * J_1),
    ],
)
def test_products_of_matrices(text, intended):
    given = parse(text, list(MATRICES), implicit=True, assumptions=MATRICES)
    assert equivalent(intended, given).equal


@pytest.mark.parametrize(
    ("text", "symbols", "intended"),
    [
        ("n m d_k", "n m d_k d_v", "O(n·m·d_k)"),
        ("n*m*(d_k + d_v)", "n m d_k d_v", "O(n·m·d_k + n·m·d_v)"),
        ("n m + n d_v", "n m d_v", "O(n·m + n·d_v)"),
        ("n²/s", "n s", "O(n^2/s)"),
        ("n^1.5", "n", "O(n^(3/2))"),
        ("n √n", "n", "O(n^(3/2))"),
        ("n²d", "n d", "O(n^2·d)"),
        ("nmd", "n m d", "O(n·m·d)"),
        ("n w d", "n w d", "O(n·w·d)"),
        ("n(w+g)d", "n w g d", "O(n·w·d + n·g·d)"),
        ("knd²", "k n d", "O(k·n·d^2)"),
        ("k n d²", "k n d", "O(k·n·d^2)"),
        ("n/(k−1)", "n k", "O(n/k)"),
        (r"O(\frac{n^2}{s})", "n s", "O(n^2/s)"),
        ("log n", "n", "O(log(n))"),
    ],
)
def test_complexity_classes(text, symbols, intended):
    assert str(parse_complexity(text, symbols.split())) == intended


def test_derivatives_of_names_stay_as_written():
    assert str(read("∂p_1/∂z_1")) == "Diff(p_1, z_1)"
    assert str(read(r"\frac{\partial \mu}{\partial x_j}")) == "Diff(mu, x_j)"
    assert str(read("∂²L/∂z_1∂z_2")) == "Diff(L, z_1, z_2)"
    assert sympy.Sum(k_, (k_, 1, v.n)) == parse("Σ_(k=1)^n k")
