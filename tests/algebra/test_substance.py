"""Lines that say nothing earn nothing, however they are dressed; those that prepare a step do."""

from dataclasses import replace

import pytest

from autograder.algebra import Chain, Fact, IndexedChain, Waypoint
from autograder.algebra.deriving.judging.empty_attempts import empty
from autograder.algebra.deriving.lines.language import read_one
from autograder.exercise import Derivation

QUOTIENT = Chain(
    start="diff((u - m)/s, t)",
    target="-(1 + y*z)/(d*s)",
    names=("t", "u", "d", "R", "Q", "m", "s", "y", "z"),
    definitions={
        "m": "(t + R)/d",
        "s": "sqrt((t^2 + Q)/d - m^2)",
        "y": "(u - m)/s",
        "z": "(t - m)/s",
    },
    final_names=("y", "z", "d", "s"),
    assumptions={"d": "positive", "Q": "positive"},
)
SIZE = Chain(
    start="h*3*(d*k + k) + (h*k*d + d)",
    target="4*d^2 + 4*d",
    names=("d", "h", "k"),
    definitions={"k": "d/h"},
    final_names=("d",),
)
GATES = Chain(
    start="g1/(g1 + g2)",
    target="exp(z1)/(exp(z1) + exp(z2))",
    names=("g1", "g2", "Z", "z1", "z2", "z3"),
    definitions={"g1": "exp(z1)/Z", "g2": "exp(z2)/Z", "Z": "exp(z1) + exp(z2) + exp(z3)"},
)
SPREAD = IndexedChain(
    start="sum((l_i - t)^2, i)",
    target="F - t^2*d",
    names=("t", "F"),
    indexed=("l",),
    definitions={"F": "sum(l_i^2, i)", "t": "sum(l_i, i)/d"},
    rules=("linearity of sums", "definition"),
    size="d",
)
BOUND = IndexedChain(
    start="sum(p_k*log(p_k), k)",
    target="max(log(p_k), k)",
    indexed=("p", "s"),
    positive=("p",),
    definitions={"p_i": "exp(s_i)/sum(exp(s_k), k)"},
    rules=("largest term", Fact("weights sum to one", "sum(p_k, k)", "1")),
    relation="<=",
    min_lines=2,
)
BELOW_ONE = IndexedChain(
    start="exp(t)/(exp(t) + sum(exp(s_k), k))",
    target="1/(1 + exp(-(t - L)))",
    names=("t", "L"),
    indexed=("s",),
    definitions={"L": "log(sum(exp(s_k), k))"},
    rules=("definition", "linearity of sums"),
)
ROW = IndexedChain(
    start="sum(g_k*p_k*(delta(k,j) - p_j), k)",
    target="p_j*(g_j - sum(g_k*p_k, k))",
    indexed=("p", "g"),
    rules=("linearity of sums", "delta contraction"),
)
ROW_LINE = "sum(g_k*p_k*delta(k,j), k) - p_j*sum(g_k*p_k, k)"
PAIRS = IndexedChain(
    start="sum(sum((x_i - x_j)^2, i), j)",
    target="2*n*sum((x_i - m)^2, i)",
    names=("m",),
    indexed=("x",),
    definitions={"m": "sum(x_k, k)/n"},
    rules=("linearity of sums", "definition"),
)
WAVE = IndexedChain(
    start="sin(w*(t + k))",
    target="a*sin(w*t) + b*cos(w*t)",
    names=("w", "t", "k", "a", "b"),
    definitions={"a": "cos(w*k)", "b": "sin(w*k)"},
    indices=("i",),
    rules=("addition theorem", "definition"),
    closed=("sin", "cos"),
)
SPREAD_LINE = "sum(l_i^2, i) - 2*t*sum(l_i, i) + d*t^2"
MIXTURES = [
    "({S})/2 + ({T})/2",
    "({S}) + (({T}) - ({S}))",
    "({S})^2/({T})",
    "sqrt(({S})*({T}))",
    "2*({T}) - ({S})",
    "(({S}) + 2*({T}))/3",
    "({S}) + d*(({T}) - ({S}))",
    "({S})*exp(({T}) - ({S}))",
    "({S}) + sin(({T}) - ({S}))",
    "2/(1/({S}) + 1/({T}))",
    "max({S}, {T})",
    "min({T}, {S})",
    "({T}) + abs(({S}) - ({T}))",
    "(({S}) + ({T}) + abs(({S}) - ({T})))/2",
    "({S}) + relu(({T}) - ({S})) - relu(({S}) - ({T}))",
    "max({S}, {T}, {S}) + min({S}, {T}) - ({S})",
    "({T}) + log1p(({S}) - ({T}))",
    "({T})*2*sigmoid(({S}) - ({T}))",
    "({T})*floor(({S})/({T}))",
    "hypot({S}, {T})/sqrt(2)",
    "(({S})*abs(d) + ({T})*sqrt(d^2))/(2*abs(d))",
    "({S})*sign(d)^2/2 + ({T})*d^2/(2*abs(d)^2)",
]


@pytest.mark.parametrize(
    "chain", [SIZE, SPREAD, BELOW_ONE], ids=["names", "indices", "one over something"]
)
@pytest.mark.parametrize("form", MIXTURES)
def test_a_mixture_of_start_and_result_is_no_step(chain, form):
    number = "d" if chain is not BELOW_ONE else "t"
    mixture = form.replace("d*", f"{number}*").format(S=chain.start, T=chain.target)
    assert chain.examine([chain.start, mixture, chain.target]).credit == 0


def test_lines_from_one_quotient_to_another_are_steps():
    lines = ["exp(t)/(exp(t) + exp(L))", "1/(1 + exp(L)/exp(t))", BELOW_ONE.target]
    assert BELOW_ONE.examine(lines).credit == 1


def test_a_quotient_prepares_a_step_behind_its_halves_too():
    first = "1/(1 + exp(-t)*sum(exp(s_k), k))"
    lines = [first, f"({first})/2 + ({first})/2", "1/(1 + exp(-t)*exp(L))", BELOW_ONE.target]
    assert BELOW_ONE.examine(lines).credit == 1


SHIFTED = Chain(
    start="exp(x + c)/(exp(x + c) + exp(y + c))",
    target="p",
    names=("x", "y", "c", "p"),
    definitions={"p": "exp(x)/(exp(x) + exp(y))"},
)


@pytest.mark.parametrize("form", ["{}", "({})/2 + ({})/2", "{} + x - x", "2*({})/2"])
def test_what_goes_out_of_a_quotient_is_a_step_with_zeros_and_in_halves_too(form):
    lines = [
        "exp(-c)*exp(x + c)/(exp(-c)*exp(x + c) + exp(-c)*exp(y + c))",
        "exp(x)/(exp(x) + exp(y))",
    ]
    assert SHIFTED.examine([*(form.format(line, line) for line in lines), "p"]).credit == 1


def test_mixtures_one_after_the_other_are_none_either():
    mixed = [f"({3 - n}*({SIZE.start}) + {n + 1}*({SIZE.target}))/4" for n in range(3)]
    assert SIZE.examine([*mixed, SIZE.target]).credit == 0


@pytest.mark.parametrize(
    "zero",
    [
        "(2*{0} - {0})",
        "({0} + t - t)",
        "({0}*t/t)",
        "({0}^(3 - 2))",
        "({0}*(cos(t)^2 + sin(t)^2))",
        "({0}*max(1, -exp(t)))",
        "({0} + relu(-exp(t)))",
        "({0}*floor(1 + 1/(2 + exp(t))))",
        "(max({0}, t) + min({0}, t) - t)",
        "(({0}*t + {0})/(t + 1))",
        "1/((t + 1)/({0}*t + {0}))",
        "sum({0}/3, q, 1, 3)",
        "({0}*delta(2,2))",
        "({0}*t^0)",
        "({0}*log(e))",
        "({0} + (t + 1)^2 - t^2 - 2*t - 1)",
        "log(exp({0}))",
        "({0}^t/{0}^(t - 1))",
        "({0} + log(t^2) - 2*log(abs(t)))",
        "({0} + sqrt(t^2) - abs(t))",
        "({0}*sign(t)^2)",
        "({0}*abs(t)/(t*sign(t)))",
        "({0} + floor(d) - d)",
        "({0} + sin(pi*d))",
        "({0}*cos(2*pi*d))",
        "({0} + delta(j,k)^2 - delta(j,k))",
        "({0} + delta(j,k)*(l_j - l_k))",
    ],
)
def test_nothing_is_added_at_any_depth(zero):
    inside = f"sum((l_i - {zero.format('t')})^2, i)"
    assert SPREAD.examine([inside, SPREAD.target]).credit == 0
    assert SPREAD.examine([f"F - {zero.format('t')}^2*d", SPREAD.target]).credit == 0


@pytest.mark.parametrize(
    ("start", "line"),
    [
        ("exp(s)", "exp(s + abs(x) - x)"),
        ("exp(s)", "exp(s + relu(x)*relu(y))"),
        ("exp(s)", "exp(s + floor(x) - x)"),
        ("exp(s)", "exp(s*delta_ij)"),
        ("exp(s)", "exp(s + relu(x - 300))"),
        ("log(x^2)", "2*log(abs(x))"),
        ("(x + abs(x))/2", "relu(x)"),
    ],
)
def test_what_is_more_than_nothing_stays(start, line):
    chain = Chain(start=start, target=start, names=("s", "x", "y", "delta_ij"))
    assert read_one(chain.language, 1, line).essence != chain.given.essence


def test_names_known_to_be_positive_or_whole_add_nothing():
    known = {"p": "positive", "n": "integer"}
    chain = Chain(start="exp(s)", target="exp(s)", names=("s", "p", "n"), assumptions=known)
    for line in ("exp(s + abs(p) - p)", "exp(s*floor(n)/n)", "exp(s + sin(pi*n))"):
        assert read_one(chain.language, 1, line).essence == chain.given.essence


def test_a_power_over_another_one_is_what_is_left_of_it():
    for line in (
        "(g1^3/g1^2)/(g1 + g2)",
        "g1/((g1^5/g1^4) + g2)",
        "g1*sqrt(g2)^3/(sqrt(g2)^3*(g1 + g2))",
    ):
        assert GATES.examine([GATES.start, line, GATES.target]).credit == 0


def test_another_name_for_an_index_is_no_step():
    assert SPREAD.examine(["sum((l_j - t)^2, j)", SPREAD.target]).credit == 0


@pytest.mark.parametrize(
    "line",
    [
        "diff(y, t)",
        "diff(2*y, t)/2",
        "diff(u/s - m/s, t)",
        "diff((u - (t + R)/d)/s, t)",
        "-(1 + y*z)/(d*sqrt((t^2 + Q)/d - m^2))",
        "-(1 + y*(t - m)/s)/(d*s)",
    ],
)
def test_a_derivative_by_another_name_is_not_carried_out(line):
    assert QUOTIENT.examine([line, QUOTIENT.target]).credit == 0


def test_a_factor_that_comes_from_the_line_before_is_a_step():
    for line in ("(exp(z1)/Z)/((exp(z1) + exp(z2))/Z)", "g1*Z/((g1 + g2)*Z)"):
        assert GATES.examine([line, GATES.target]).credit == 1
    assert GATES.examine([f"({GATES.target})*g2/g2", GATES.target]).credit == 0


def test_what_is_missing_at_the_end_is_algebra_or_it_is_a_step():
    assert ROW.examine([ROW.start, ROW_LINE, "g_j*p_j - p_j*sum(g_k*p_k, k)"]).credit == 1
    (finding,) = BOUND.examine(["<= max(log(p_k), k)*sum(p_k, k)  # largest term"]).findings
    assert finding.message == "Line 1 is not the result yet: a step is missing behind it."


@pytest.mark.parametrize(
    ("chain", "lines"),
    [
        (SPREAD, [SPREAD_LINE, "F - 2*t*(d*t) + d*t^2"]),
        (SPREAD, [SPREAD_LINE, "F - 2*t*t*d + t*d*t"]),
        (SIZE, [SIZE.start, "3*d*d + 3*d + d*d + d"]),
        (SIZE, [SIZE.start, "3*d*(d + 1) + d*(d + 1)", "4*d^2*d/d + 4*d"]),
    ],
)
def test_what_is_left_to_be_added_up_or_cancelled_is_not_the_result(chain, lines):
    found = chain.examine(lines)
    assert any("is still to be added up or cancelled" in f.message for f in found.findings)
    assert found.credit <= 0.8
    assert chain.examine([*lines, chain.target]).credit == 1


def test_an_identity_matrix_is_left_out_at_the_end():
    chain = IndexedChain(
        start="A*R*S*B",
        target="A*B",
        matrices=("A", "B", "R", "S"),
        where={"S": "R^(-1)"},
        rules=(Fact("inverse", "R*S", "I"),),
        min_lines=2,
    )
    assert chain.examine(["A*R*S*B", "A*I*B"]).credit == pytest.approx(0.8)
    assert chain.examine(["A*R*S*B", "A*I*B", "A*B"]).credit == 1


def test_a_line_that_is_right_for_some_n_alone_is_found():
    some = "(d - 2)*(d - 3)*(d - 4)*(d - 5)"
    right = ["sum(l_i^2, i) - 2*t*sum(l_i, i) + d*t^2", "F - 2*t*(d*t) + d*t^2", "F - t^2*d"]
    for place in range(3):
        lines = [f"{line} + {some}" if at == place else line for at, line in enumerate(right)]
        kinds = {finding.line: finding.kind for finding in SPREAD.examine(lines).findings}
        assert kinds[place + 1] in ("wrong", "wrong_start")


EMPTY_SUMS = [
    "sum((l_i + sum(1, k) - d - t)^2, i)",
    "sum((l_i*sum(1/d, k) - t)^2, i)",
    "sum((sum(l_i/d, k) - t)^2, i)",
    "sum((l_i - t*sum(delta(k, i), k))^2, i)",
    "sum((l_i - t + sum(l_k + 1, k) - sum(l_k, k) - d)^2, i)",
    "F - t^2*d + sum(1, k) - d",
    "F - t^2*sum(1, k)",
]


@pytest.mark.parametrize("line", EMPTY_SUMS)
def test_sums_that_go_out_with_the_rest_are_no_step(line):
    assert SPREAD.examine([SPREAD.start, line, SPREAD.target]).credit == 0


def test_a_factor_that_cancels_once_a_sum_is_split_is_a_step():
    shares = IndexedChain(
        start="c_i + (1 - sum(c_k, k))*(p_i - c_i)/sum(p_k - c_k, k)",
        target="p_i",
        indexed=("c", "p", "s"),
        names=(),
        rules=("linearity of sums", Fact("sum to one", "sum(p_k, k)", "1")),
        definitions={"p_i": "exp(s_i)/sum(exp(s_k), k)"},
    )
    line = "c_i + (sum(p_k, k) - sum(c_k, k))*(p_i - c_i)/sum(p_k - c_k, k)"
    assert shares.examine([line, "c_i + (p_i - c_i)", "p_i"]).credit == 1


def test_to_write_what_is_there_as_a_sum_is_a_step():
    given, folded = SPREAD.read(["F + d*t^2", "F + sum(t^2, i)"])
    split, joined = SPREAD.read(["sum(l_i^2, i) - t*sum(l_i, i)", "sum(l_i^2 - t*l_i, i)"])
    assert not SPREAD.task.disguises.repeats(given, folded)
    assert not SPREAD.task.disguises.repeats(split, joined)


def test_two_obvious_rules_may_share_a_line_that_is_not_the_last():
    shared = ["F - 2*d*t^2 + d*t^2", "F - t^2*d"]
    assert SPREAD.examine(["sum(l_i^2 - 2*t*l_i + t^2, i)", *shared]).credit == 1
    assert SPREAD.examine(shared[1:]).credit == 0


NOTHING = [
    "binomial(d, 20)",
    "max(d - 30, 0)",
    "floor(d/40)",
    "t*floor((d + 1/2)/40)",
    "*".join(f"(d - {n})" for n in range(2, 13)),
    "t*" + "*".join(f"(d - {n})" for n in range(2, 13)),
]


@pytest.mark.parametrize("nothing", NOTHING)
def test_what_is_nothing_for_every_n_that_is_tried_earns_no_end_and_no_step(nothing):
    right = ["sum(l_i^2, i) - 2*t*sum(l_i, i) + d*t^2", "F - 2*t*(d*t) + d*t^2", "F - t^2*d"]
    assert SPREAD.examine(right).credit == 1
    for place in range(3):
        lines = [f"{line} + {nothing}" if at == place else line for at, line in enumerate(right)]
        examination = SPREAD.examine(lines)
        assert examination.credit < 1
        assert examination.review or examination.findings


@pytest.mark.parametrize(
    ("chain", "lines"),
    [
        (SPREAD, ["sum(l_i^2, i) - 2*t*sum(l_i, i) + d*t^2", "F - 2*t*(d*t) + d*t^2", "F - t^2*d"]),
        (BOUND, ["<= max(log(p_k), k)*sum(p_k, k)  # largest term", "<= max(log(p_k), k)"]),
    ],
    ids=["equal", "a bound"],
)
def test_verify_knows_what_is_due_for_a_last_line_that_is_right_for_some_n(chain, lines):
    tried = {name: rest for name, *rest in empty(chain, lines, chain.target, "t")}
    some, most = tried["for some n alone"]
    examination = chain.examine(some)
    assert examination.findings
    assert 0.5 < examination.credit <= most + 1e-6


def test_a_largest_entry_is_the_same_in_latex():
    lines = [r"\le \max_{k} (\log p_k) \cdot \sum_{k} p_k", r"\max_{k} (\log p_k)"]
    for text, same in zip(lines, ["max(log(p_k), k)*sum(p_k, k)", BOUND.target], strict=True):
        (latex,), (plain,) = BOUND.read([text]), BOUND.read([same])
        assert latex.structure == plain.structure
    assert BOUND.task.end.is_target(latex)
    assert BOUND.examine(lines).credit == 1


def test_names_beside_indices_are_numbers_and_nobody_is_asked():
    two = {"names": ("M", "R"), "indexed": ("w",), "rules": ("linearity of sums",)}
    chain = IndexedChain(start="sum(w_i*M + w_i*R, i)", target="(M + R)*sum(w_i, i)", **two)
    assert not [*Derivation(chain).unsaid([])]
    plain = Chain(start="M*R + M", target="M*(R + 1)", names=("M", "R"))
    assert "M and R are numbers" in next(Derivation(plain).unsaid([]))


def test_matrices_in_another_order_are_no_repetition():
    chain = IndexedChain(
        start="(I + A)*(I + B)", target="I + A + B + A*B", matrices=("A", "B"), min_lines=3
    )
    lines = ["(I + B)*(I + A)", "I*(I + B) + A*(I + B)", "I + A + B + A*B"]
    assert [finding.line for finding in chain.examine(lines).findings] == [1]


HULL = Chain(
    start="M - (w1*v1 + w2*v2)",
    target="w1*(M - v1) + w2*(M - v2)",
    names=("w1", "w2", "v1", "v2", "M"),
    definitions={"w2": "1 - w1"},
    final_names=("w1", "w2", "v1", "v2", "M"),
    waypoints=(Waypoint("Spread M.", lambda line: line.has_sum("1") or line.shows("1 - w1")),),
)


@pytest.mark.parametrize(
    "line", [HULL.start.replace("w2", "(1 - w1)"), HULL.target.replace("w2", "(1 - w1)")]
)
def test_what_is_put_in_for_a_name_that_stays_is_no_step_by_itself(line):
    assert HULL.examine([HULL.start, line, HULL.target]).credit == 0


def test_what_is_put_in_for_a_name_that_stays_is_a_step_on_a_way():
    lines = ["M - w1*v1 - (1 - w1)*v2", "M - v2 - w1*(v1 - v2)", HULL.target]
    assert HULL.examine([HULL.start, *lines]).credit == 1


@pytest.mark.parametrize(
    ("chain", "line"),
    [
        (GATES, "(exp(z1)/Z)/((exp(z1)/Z) + g2)"),
        (GATES, "g1/(g1 + exp(z2)/(exp(z1) + exp(z2) + exp(z3)))"),
        (GATES, "(g1/(g1 + g2))/2 + ((exp(z1)/Z)/(exp(z1)/Z + g2))/2"),
        (GATES, "g1/(g1 + diff(z1*g2, z1))"),
        (HULL, "(M - (w1*v1 + (1 - w1)*v2))/2 + (w1*(M - v1) + w2*(M - v2))/2"),
        (HULL, "(M - (w1*v1 + w2*v2))^2/(w1*(M - v1) + (1 - w1)*(M - v2))"),
        (SPREAD, "sum((l_i - t)^2, i)/2 + (F - (sum(l_i, i)/d)^2*d)/2"),
        (SPREAD, "F - (sum(l_i, i)/d)^2*d"),
        (SPREAD, "sum(l_i^2, i) - t^2*d"),
        (SPREAD, "(F - t^2*d)/2 + (sum(l_j^2, j) - t^2*d)/2"),
        (SPREAD, "sum((l_i - sum(l_k, k)/d)^2, i)"),
        (SPREAD, "sum((l_i - t)^2, i)/2 + sum((l_i - sum(l_k, k)/d)^2, i)/2"),
        (BELOW_ONE, "1/(1 + exp(-(t - log(sum(exp(s_k), k)))))"),
        (PAIRS, "2*n*sum((x_i - sum(x_k, k)/n)^2, i)"),
        (WAVE, "cos(w*k)*sin(w*t) + b*cos(w*t)"),
        (QUOTIENT, "-(1 + ((u - m)/s)*((t - m)/s))/(d*s)"),
    ],
)
def test_what_names_mean_put_into_start_or_result_is_no_step(chain, line):
    assert chain.examine([chain.start, line, chain.target]).credit == 0


@pytest.mark.parametrize(
    ("chain", "line"),
    [
        (GATES, "(exp(z1)/Z)/(exp(z1)/Z + exp(z2)/Z)"),  # all that must go
        (WAVE, "cos(w*k)*sin(w*t) + sin(w*k)*cos(w*t)"),  # to which a rule leads
    ],
)
def test_what_names_mean_is_put_in_on_the_way(chain, line):
    assert chain.examine([chain.start, line, chain.target]).credit == 1


def test_a_logarithm_comes_apart_beside_a_rule():
    chain = IndexedChain(
        start="sum(p_i*log(q_i/Z), i)",
        target="sum(p_i*log(q_i), i) - log(Z)",
        names=("Z",),
        indexed=("p", "q"),
        positive=("Z", "q"),
        where={"p_i": "a_i/sum(a_k, k)"},
        hidden=("a_i",),
        rules=("linearity of sums", Fact("weights sum to one", "sum(p_k, k)", "1")),
    )
    way = ["sum(p_i*log(q_i), i) - log(Z)*sum(p_i, i)", chain.target]
    assert chain.examine([chain.start, *way]).credit == 1


SUMS = IndexedChain(
    start="sum(s_k*a_k, k)",
    target="sum(g_i*sum(v_ji*a_j, j), i)",
    indexed=("s", "a", "g", "v"),
    definitions={"s_j": "sum(g_k*v_jk, k)"},
    rules=("definition", "linearity of sums", "order of sums"),
)


@pytest.mark.parametrize(
    ("lines", "credit"),
    [
        (["sum(sum(g_i*v_ki, i)*a_k, k)", SUMS.target], 0),
        (["sum(s_k*a_k, k)/2 + sum(sum(g_i*v_ki, i)*a_k, k)/2", SUMS.target], 0),
        (["sum(sum(g_i*v_ki, i)*a_k, k)", "sum(sum(g_i*v_ki*a_k, i), k)", SUMS.target], 1),
        (["sum(sum(g_i*v_ki, i)*a_k, k)", "sum(sum(g_i*v_ki*a_k, k), i)", SUMS.target], 1),
    ],
)
def test_a_definition_put_in_before_a_jump_is_no_step(lines, credit):
    assert SUMS.examine([SUMS.start, *lines]).credit == credit


def test_names_are_put_in_at_any_index_and_depth():
    texts = ["sum(sum(g_i*v_ki, i)*a_k, k)", "sum(sum(g_k*v_jk, k)*a_j, j)", "sum(g_k*a_k, k)"]
    alike = [SUMS.task.named.is_but_for_names(line, SUMS.given) for line in SUMS.read(texts)]
    assert alike == [True, True, False]


def test_a_sum_with_an_index_shows_what_its_terms_do():
    spread = "M*sum(w_k, k, 1, 2) - sum(w_k*v_k, k, 1, 2)"
    assert HULL.examine([HULL.start, spread, "sum(w_k*(M - v_k), k, 1, 2)"]).credit == 1
    (line,) = HULL.read([r"\sum_{k=1}^{2} k w_k"])
    assert line.shows("w1 + 2*w2")


def test_the_last_line_holds_what_is_written_though_it_cancels():
    lines = ["(exp(z1)/Z)/(exp(z1)/Z + exp(z2)/Z)", "(exp(z1)/Z)/((exp(z1) + exp(z2))/Z)"]
    (finding,) = GATES.examine([GATES.start, *lines]).findings
    assert finding.message == "The last line still contains Z: write the result in z1, z2."
    loose = ["exp(t)/(exp(t) + exp(L))", "exp(L)/(exp(L)*(1 + exp(-(t - L))))"]
    chain = replace(BELOW_ONE, target="1/(1 + exp(-t)*sum(exp(s_k), k))", final_names=("t", "s"))
    assert "still contains L" in chain.examine(loose).findings[-1].message


def test_entries_that_are_distributed_alike_make_a_multiple():
    chain = IndexedChain(
        start="Var(sum(q_i*k_i, i))",
        target="n*s^2*t^2",
        names=("s", "t"),
        indexed=("q", "k", "x"),
        indices=("i", "j"),
        moments={"q_i": ("0", "s^2"), "k_i": ("0", "t^2")},
        rules=("variance of a sum", "definition of Var", "independence", "linearity of sums"),
    )
    first, alike, other = chain.read([chain.start, "n*Var(q_i*k_i)", "n*Var(q_i*k_j)"])
    assert chain.task.rules.goes_by(first, alike, "variance of a sum")
    assert not chain.task.rules.goes_by(first, other, "variance of a sum")
    first, wrong = chain.read(["sum(Var(x_i*q_i), i)", "n*Var(x_j*q_j)"])
    assert not chain.task.rules.goes_by(first, wrong, "linearity of sums")


def test_two_obvious_rules_are_one_line_but_not_the_last():
    line = "g_j*p_j - p_j*sum(g_k*p_k, k)"
    assert ROW.examine([ROW.start, line, ROW.target]).credit == 1
    assert ROW.examine([ROW.start, ROW.target]).credit == 0


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("linearity of sums, delta contraction", None),
        ("delta contraction and linearity of sums", None),
        ("delta contraction", None),  # an obvious one beside
        ("linearity, magic", "wrong_reason"),
    ],
)
def test_two_reasons_stand_in_one_line(reason, kind):
    chain = replace(ROW, reasons=True)
    lines = [f"g_j*p_j - p_j*sum(g_k*p_k, k)  # {reason}", "p_j*(g_j - sum(g_k*p_k, k))"]
    kinds = [f.kind for f in chain.examine(lines).findings if f.line == 1]
    assert kinds == ([kind] if kind else [])


def test_two_reasons_lead_to_no_result_at_once():
    chain = replace(ROW, target="g_j*p_j - p_j*sum(g_k*p_k, k)", reasons=True)
    line = f"{chain.target}  # linearity of sums, delta contraction"
    assert chain.examine([line]).credit == 0


@pytest.mark.parametrize(
    "line",
    [
        "({S})*sum(delta(l,j), l)",
        "sum(({S})*delta(l,j), l)",
        "sum({T}, l)/n",
        "max({T}, l)",
        "sum(({T})*(delta(l,1) + delta(l,2)), l)/2",
    ],
)
def test_a_sum_that_only_counts_is_no_step(line):
    lines = [ROW.start, line.format(S=ROW.start, T=ROW.target), ROW.target]
    assert ROW.examine(lines).credit == 0


@pytest.mark.parametrize("again", ["sum((t - l_i)^2, i)", "sum(abs(t - l_i)^2, i)"])
def test_a_square_turned_round_is_no_step(again):
    assert SPREAD.examine([SPREAD.start, again, SPREAD.target]).credit == 0


@pytest.mark.parametrize(
    ("lines", "credit"),
    [
        # A sign is lost in the second step, and all that comes after goes on from there.
        (["(diff(u, t)*s - diff(m, t)*s - (u - m)*diff(s, t))/s^2",
          "(s/d - (u - m)*z/d)/s^2", "(1 - y*z)/(d*s)"], 1 - 0.8 / 3),
        # What is made up is no slip: nothing but algebra follows from it.
        (["(diff(u, t)*s - diff(m, t)*s - (u - m)*diff(s, t))/s^2",
          "y*(s + d)", "y*s + y*d"], 1 - 0.8 / 3 - 0.2),
        # Nor is there an end where the next step is wrong, too.
        (["(diff(u, t)*s - diff(m, t)*s - (u - m)*diff(s, t))/s^2",
          "(s/d - (u - m)*z/d)/s^2", "(1 + y*z)/(d*s)"], 0.8 / 3),
    ],
)  # fmt: skip
def test_a_slip_costs_its_step_where_all_goes_on_from_it(lines, credit):
    assert QUOTIENT.examine([QUOTIENT.start, *lines]).credit == pytest.approx(credit, abs=1e-5)


def test_sums_change_places_with_what_stands_beside_them_on_one_side_alone():
    chain = IndexedChain(
        start="sum(sum(q_a*k_ja, a, 1, r)*v_j, j)",
        target="sum(q_a*S_a, a, 1, r)",
        indexed=("q", "k", "v", "S"),
        indices=("a", "i", "j"),
        sizes=("r",),
        definitions={"S_a": "sum(k_ja*v_j, j)"},
        rules=("linearity of sums", "order of sums", "definition"),
    )
    inside, exchanged = "sum(sum(q_a*k_ja*v_j, a, 1, r), j)", "sum(sum(q_a*k_ja*v_j, j), a, 1, r)"
    outside = "sum(q_a*sum(k_ja*v_j, j), a, 1, r)"
    for way in ([inside, exchanged, outside], [exchanged, outside], [inside, outside]):
        assert chain.examine([chain.start, *way, chain.target]).credit == 1
    at_once = chain.examine([chain.start, outside, chain.target])
    assert [(f.line, f.kind) for f in at_once.findings] == [(2, "skipped")]
    assert at_once.credit <= 0.5


def test_cases_of_start_and_result_are_no_step():
    either = (
        rf"\begin{{cases}} {SIZE.start} & d > 2 \\ {SIZE.target} & \text{{otherwise}} \end{{cases}}"
    )
    assert SIZE.examine([SIZE.start, either, SIZE.target]).credit == 0


@pytest.mark.parametrize(
    ("lines", "credit"),
    [
        (["abs(x)*y", "y*max(x, -x)", "max(x*y, -x*y)"], 1),
        (["relu(x)*y", "y*(x + abs(x))/2", "(x*y + abs(x)*y)/2"], 1),
    ],
)
def test_a_step_from_one_function_with_branches_to_another_is_one(lines, credit):
    positive = {"y": "positive"}
    start, target = lines[0], lines[-1]
    chain = Chain(start=start, target=target, names=("x", "y"), assumptions=positive)
    assert chain.examine(lines).credit == credit


def test_what_is_wrong_for_a_large_n_alone_is_no_end():
    shown = ["sum(2*p_i + 3*p_i, i)", "sum(5*p_i, i)", "5*sum(p_i, i)"]
    chain = IndexedChain(
        start=shown[0], target=shown[-1], indexed=("p",), rules=("linearity of sums",)
    )
    assert chain.examine(shown).credit == 1
    for more in ("relu(n - 20)*p_1", "abs(n - 13 + 1/(1 + p_1^2)) + n - 13 + 1/(1 + p_1^2)"):
        examined = chain.examine([*shown, f"{shown[-1]} + {more}"])
        assert examined.review or examined.credit < 1


ROWS = IndexedChain(
    start="sum(p_i*(delta(i,j) - p_j), j)",
    target="0",
    indexed=("z", "p"),
    definitions={"p_i": "exp(z_i)/sum(exp(z_k), k)"},
    rules=("linearity of sums", "delta contraction", Fact("sum to one", "sum(p_k, k)", "1")),
    reasons=True,
)
PADDED = [
    "sum(p_i*(delta(i,j) - p_j) + z_j, j) - sum(z_j, j)  # linearity of sums",
    "sum(2*p_i*(delta(i,j) - p_j), j)/2  # linearity of sums",
    "sum(p_i*(delta(i,j) - p_j)*sum(p_l, l), j)  # sum to one",
    "sum(p_i*(delta(i,j)*sum(p_l, l) - p_j), j)  # sum to one",
    "sum(p_l*sum(p_i*(delta(i,j) - p_j), j), l)  # sum to one",
    "sum(p_i*(delta(i,j) - p_j/sum(p_l, l)), j)  # sum to one",
    "sum(p_i*delta(i,j) - p_i*p_j, j) + sum(p_j, j) - 1  # sum to one",
]


@pytest.mark.parametrize("line", PADDED)
def test_what_goes_out_of_sums_again_is_no_step_where_it_leads_nowhere(line):
    assert ROWS.examine([ROWS.start, line, ROWS.target]).credit == 0
    on = ["p_i*sum(delta(i,j) - p_j, j)  # linearity of sums", "0  # delta contraction, sum to one"]
    assert ROWS.examine([ROWS.start, line, *on]).credit == ROWS.examine([ROWS.start, *on]).credit


def test_a_sum_in_place_of_a_1_may_be_a_step_and_one_beside_a_factor_is_none():
    texts = "1 - sum(p_j, j)", "sum(p_l, l) - sum(p_j, j)", "1 - sum(p_j, j)*sum(p_l, l)"
    before, inserted, factored = ROWS.read([f"p_i*({text})" for text in texts])
    assert not ROWS.step_rules.pads(before, inserted)
    assert ROWS.step_rules.pads(before, factored)


def test_the_result_with_something_in_its_sums_that_goes_out_is_the_result():
    spread = "sum(l_i^2 + l_i, i) - sum(l_i, i) - t^2*d"
    totals = IndexedChain(
        start=SPREAD.start,
        target="sum(l_i^2, i) - t^2*d",
        names=SPREAD.names,
        indexed=SPREAD.indexed,
        size=SPREAD.size,
        definitions=SPREAD.definitions,
        rules=SPREAD.rules,
    )
    assert totals.examine([totals.start, spread, totals.target]).credit == 0
