"""What check() takes, the grader takes; what it refuses, the grader refuses: over many texts."""

import random
import sys
from dataclasses import replace
from types import ModuleType

import pytest

from autograder.algebra import Chain, IndexedChain
from autograder.course.release.shipping import formulas_module
from autograder.exercise import Derivation, Formula
from autograder.exercise.answers.kind import FormatError
from autograder.student.readers import read

FORMULA = Formula("x y n p_i delta_ij", assumptions={"n": "positive integer"})
UNFINISHED = replace(FORMULA, operators="derivative limit sum product")
LINES = Derivation(Chain(start="x*(y + 1)", target="x*y + x", names=("x", "y", "n")))
INDEXED = Derivation(
    IndexedChain(start="sum(2*x_i, i)", target="2*sum(x_i, i)", indexed=("x", "y"), names=("w",))
)
BLOCKS = Derivation(
    IndexedChain(
        start="[A, B]*[C; H]",
        target="A*C + B*H",
        matrices=("A", "B", "C", "H"),
        names=("w",),
        indexed=("x",),
    )
)

ATOMS = {
    "formula": [
        "x",
        "y",
        "n",
        "p_i",
        "2",
        "0",
        "1/2",
        "1e-3",
        "0.25",
        "e",
        "pi",
        "q",
        "oo",
        "3!",
        "10^102",
        "delta(1,2)",
        "-1",
        "k",
    ],
    "lines": [
        "x",
        "y",
        "n",
        "2",
        "0",
        "1.5",
        "1e-3",
        "e",
        "pi",
        "z",
        "3!",
        "oo",
        "10^102",
        "-1",
        "k",
    ],
    "indexed": [
        "x_i",
        "y_j",
        "w",
        "n",
        "2",
        "0",
        "1e-3",
        "e",
        "3!",
        "z_i",
        "pi",
        "oo",
        "x_q",
        "delta(1,2)",
        "delta_ij",
        "10^102",
        "-1",
        "k",
    ],
    "blocks": [
        *("A", "B", "C", "I", "0", "2", "w", "x_i", "n", "i", "e", "-1", "1e-3", "3!", "Z"),
        *("A^T", "A^0", "0^(I)", "H^(-1)", "I^2", "[A, B]", "[A; B]", "[[A], [B]]", "[A B]"),
    ],
}
SHAPES = [
    "{}+{}", "{}-{}", "{}*{}", "{}/{}", "({})*({})", "({})/({})", "{}^{}", "({})^2", "-{}", "({})",
    "exp({})", "log({})", "log2({})", "sqrt({})", "sin({})", "abs({})", "max({}, {})", "|{}|",
    "floor({})", "log({}, {})", "exp({}, {})", "max({})", "sigmoid({})", "{}!", "{}%",
    "relu({})", "[{}, {}]", "[{}]", "{{{}, {}}}", "({}, {})", "{} = {}", "{} < {}", "{} {}",
    "2{}", r"\frac{{{}}}{{{}}}", r"\sqrt{{{}}}", r"\sum_{{i=1}}^{{3}} {}", r"\sum_i {}",
    "sum({}, k, 1, n)", "sum({}, k)",
     "binomial({}, {})", "diff({}, x)", "foo({})", "{}//{}", "{}*", "({}", "{})",
    r"\begin{{cases}} {} & {} > 0 \\ 0 & \text{{otherwise}} \end{{cases}}", "H(p) = {}", "norm({})",
    "transpose({})", "det({})", "min({}, {})", "KroneckerDelta({}, {})", "Eq({}, {})", "{{{}}}",
    "E[x_i*{}]", "D({}, {})", "{}''", "{}^T", "1/({}-{})", "tanh({})", "{}°",
    "1/delta({}, {})", "limit({}, x, 0)", "(10^102)^{}", "{}^{}^2", "sum({}/k, k, 0, {})",
    "sum({}*k, k, 1, 500)", "({}-{})^(-1)", "cot({})", "asin({})", "sqrt({})^2", "max(x_i, i)*{}",
    "Matrix([[{}, {}], [0, 1]])", "sum(p_k, k, 1, {})", "product({}, k, 1, 3)", "[{} = {}]",
    "0^({})", "det([[{}, {}], [1, 2]])", r"\frac{{d}}{{dx}} {}", "exp(exp({}))", "binomial({}, 2)",
    "sign({})", "[{}; {}]", "[[{}, {}], [{}, {}]]", "[[{}], [{}]]", "[{} | {}]", "({})^(-1)",
    r"\begin{{pmatrix}} {} & {} \\ {} & {} \end{{pmatrix}}", "({})^T", "{}^0", "0^({})", "Var({})",
]  # fmt: skip
MANY = 1500  # texts for each kind


def texts(kind, rng):
    def grown(depth):
        if depth == 0 or rng.random() < 0.15:
            return rng.choice(ATOMS[kind])
        shape = rng.choice(SHAPES)
        return shape.format(*(grown(depth - 1) for _ in range(4)))

    return [grown(rng.choice((1, 1, 2, 2, 3))) for _ in range(MANY)]


@pytest.fixture
def shipped(monkeypatch):
    module = ModuleType("check_formulas")
    monkeypatch.setitem(sys.modules, "check_formulas", module)
    exec(compile(formulas_module(), "check_formulas.py", "exec"), module.__dict__)


def takes(reader, raw):
    try:
        reader(raw)
    except FormatError as error:
        return False, str(error)
    return True, ""


@pytest.mark.parametrize(
    ("name", "kind", "wrapped"),
    [
        ("formula", FORMULA, False),
        ("formula", UNFINISHED, False),
        ("lines", LINES, True),
        ("indexed", INDEXED, True),
        ("blocks", BLOCKS, True),
    ],
)
@pytest.mark.usefixtures("shipped")
def test_check_and_the_grader_take_the_same_texts(name, kind, wrapped):
    right = None if wrapped else kind.read("x + y")
    hint = kind.hint(right)
    differ = []
    for text in texts(name, random.Random(8)):
        raw = [text] if wrapped else text
        looked, said = takes(lambda raw: read(raw, hint), raw)
        graded, reason = takes(lambda raw: kind.read(raw, like=right), raw)
        if looked != graded:
            differ.append((text, "check: " + (said or "✓"), "grader: " + (reason or "✓")))
    assert not differ, f"{len(differ)} of {MANY}: " + "\n".join(map(str, differ[:5]))


LINES_APART = [  # what one of the two took and the other did not
    ["prod(Matrix([[n, 1e-3], [0, 1]]), k, 1, n)"],
    ["diff(Matrix([[x, 1], [0, 1]]), x)"],
    ["det(Matrix([[x, 1, 2], [0, 1]]))"],
    ["binomial(1e-5, n)"],
    ["1e-33!*x"],
    [None, "x"],
    ["(10^102)^10"],
    ["factorial(factorial(sum(k, k, 1, 3)))"],
    ["limit(sin(1/x), x, 0)"],
    ["log(diff(x, y))"],
    ["1/0^1e-3"],
    ["sum(1/k, k, -1!, 3)"],
    ["sum(1/k, k, sqrt(2)^2, 3)"],
    ["cot(1e-30)"],
    ["[x = sin(pi)]"],
    ["[x = cos(pi/3)]"],
    ["1/(2*sin(pi/6) - 1)"],
    ["log(tan(pi))"],
    ["x*tan(pi/2)"],
    ["[n = cot(pi/4) + cos(20000*pi)]"],
    ["x"] * 41,
    ["x", ""] * 40,
    [],
    "",
    (),
    {"x"},
]


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("raw", LINES_APART, ids=str)
def test_they_take_the_same_lines(raw):
    looked, graded = (takes(reader, raw)[0] for reader in (lambda r: read(r, HINT), LINES.read))
    assert looked is graded


HINT = LINES.hint(None)
INDEXED_APART = ["D(3!, [i=j])", "2^e^0", "1/(exp(E[x_i]) - E[1/2])", "log2(binomial(1e-3%, w))"]
INDEXED_APART += ["1/delta(1,2)", "log(delta(1,2))", "0^(j)", "1/delta(j, 0)", "1/delta(1e-3, n)"]
INDEXED_APART += [r"\binom{e^2}{sum(1e-30, k)}", "1/(x_1 - x(1))", "delta(i - j, 0)"]
INDEXED_APART += ["1/delta(i, 0)", "1/delta(i + 1, i)", "1/delta(n + i, n)", "log(delta(2*i, 0))"]
INDEXED_APART += [
    "D(delta_ij, (y_j, 3!))",
    "[1 = 1]",
    "delta(x_1)",
    "sum(pi, q)",
    "1/erf(0)",
    "Matrix(2)",
]
FORMULAS_APART = ["n/delta(n, 0)", "n/delta(n, n + 1)", "1/delta(n - n, 0)", "log(delta(2*n, n))"]
FORMULAS_APART += ["(sum(0/k, k, 0, x))^(-1)", "0^log(n, n)", "1/(x - sqrt(x)^2)"]
FORMULAS_APART += ["delta(i, j)", "delta(j, i)/n", "delta(i, k)", "delta(i, n)", "1/delta(i, j)"]
FORMULAS_APART += ["1 - Matrix([[0, e], [0, 1]])^2", "Matrix([[1, pi], [0, 1]])^(-1)"]
BLOCKS_APART = ["max(0^(I))", "log(A, I^2)", "1/(A^0 - I)", "D(w, I)", "1/delta(I, H^(-1))"]
BLOCKS_APART += ["2^[A; C]", "delta(A)", "[[A, C] = 1]", "sum(1, I)", "Matrix(A)", "D(A, j, w)"]
BLOCKS_APART += [
    r"\begin{pmatrix} A & [A; B] \\ C & H \end{pmatrix}",
    "[([A, B]), C]",
    "0^([A, B]^0)",
    r"exp(exp(\sum_{i=1}^{3} e))",
    "2^sum([[A], [B]], k)",
    "(A^T - A)^(-1)",
    "1/([A; B]-[A; B])^0",
    "([A, B] - 2*[A, B] + [A, B])^0",
    "1/([A, B]*[C; H] - [C; H]*[A, B])",
    "2^([A; B] - [A; B])",
    "[1]/[0]",
]


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("line", INDEXED_APART)
def test_they_take_the_same_lines_with_indices(line):
    looked = takes(lambda raw: read(raw, INDEXED.hint(None)), [line])[0]
    assert looked is takes(INDEXED.read, [line])[0]


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("line", BLOCKS_APART)
def test_they_take_the_same_lines_of_blocks(line):
    looked = takes(lambda raw: read(raw, BLOCKS.hint(None)), [line])[0]
    assert looked is takes(BLOCKS.read, [line])[0]


@pytest.mark.usefixtures("shipped")
@pytest.mark.parametrize("text", FORMULAS_APART)
def test_they_take_the_same_formulas(text):
    right = FORMULA.read("n")
    looked = takes(lambda raw: read(raw, FORMULA.hint(right)), text)[0]
    assert looked is takes(lambda raw: FORMULA.read(raw, like=right), text)[0]


@pytest.mark.usefixtures("shipped")
def test_what_is_defined_is_no_variable_for_either():
    names, meaning = ("a", "Z"), {"Z": "exp(a) + 1"}
    kind = Derivation(
        Chain(start="diff(log(Z), a)", target="exp(a)/Z", names=names, definitions=meaning)
    )
    for line, readable in {"diff(log(Z), Z)": False, "diff(log(Z), a)": True}.items():
        for reader in (kind.read, lambda raw: read(raw, kind.hint(None))):
            assert takes(reader, [line])[0] is readable
