"""What a large step costs, what a forced result earns, and what is said about them."""

import pytest

from autograder.algebra import Chain, EquationChain, Fact, IndexedChain, Waypoint
from autograder.algebra.building.library import CONSTANTS, COUNTS
from autograder.algebra.building.scope import Scope
from autograder.algebra.deriving.lines.structure import folded, leaves, structure
from autograder.algebra.reading.grammar import read_tree
from autograder.algebra.reading.preview import look

approx = pytest.approx
SHARE = Chain(
    start="g/(g + f)",
    target="exp(a)/(exp(a) + exp(b))",
    names=("g", "f", "Z", "a", "b"),
    definitions={"g": "exp(a)/Z", "f": "exp(b)/Z", "Z": "exp(a) + exp(b) + 1"},
)
SIZE = Chain(
    start="3*h*k*(d + 1) + d*(h*k + 1)",
    target="4*d^2 + 4*d",
    names=("h", "k", "d"),
    definitions={"k": "d/h"},
)
SLOPE = Chain(
    start="diff(x*exp(x), x)",
    target="y*(1 + log(y))",
    names=("x", "y"),
    definitions={"y": "exp(x)"},
)
LOG = IndexedChain(
    start="sum(g_k*D(p_k, s_j), k)",
    target="p_j*(g_j - sum(g_k*p_k, k))",
    indexed=("s", "p", "g"),
    definitions={"p_i": "exp(s_i)/sum(exp(s_k), k)"},
    rules=(
        "linearity of sums",
        "delta contraction",
        Fact("softmax Jacobian", "D(p_i, s_j)", "p_i*(delta(i,j) - p_j)"),
    ),
)
JACOBIAN = "sum(g_k*p_k*(delta(k,j) - p_j), k)"
APART = "g_j*p_j - sum(g_k*p_k*p_j, k)"
OUT = "g_j*p_j - p_j*sum(g_k*p_k, k)"
ROOT = EquationChain(
    start="D(L/s + s, s) = 0",
    target="s = sqrt(L)",
    names=("L", "s"),
    positive=("L", "s"),
    where={"s": "sqrt(L)"},
)


@pytest.mark.parametrize(
    ("chain", "lines"),
    [
        (SHARE, ["(exp(a)/Z)/((exp(a) + exp(b))/Z)", SHARE.target]),
        (SHARE, ["exp(a)/Z/((exp(a) + exp(b))/Z)", SHARE.target]),
        (SHARE, ["g*Z/((g + f)*Z)", SHARE.target]),
        (SHARE, ["1/(1 + exp(b - a))", SHARE.target]),
        (SIZE, ["3*d*(d + 1) + d*(d + 1)", SIZE.target]),
        (SIZE, ["3*d^2 + 3*d + d^2 + d", SIZE.target]),
        (LOG, [JACOBIAN, APART, OUT, LOG.target]),
    ],
)
def test_what_is_added_up_or_cancels_on_reading_is_a_step(chain, lines):
    examination = chain.examine([chain.start, *lines])
    assert (examination.credit, examination.findings) == (1, ())


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [f"{SHARE.target} + g - g"],
        [f"({SHARE.target})*f/f"],
        [f"({SHARE.target})/2 + ({SHARE.target})/2"],
        [f"({SHARE.target})*(exp(a)/Z)/(exp(a)/Z)"],
    ],
)
def test_the_target_in_disguise_is_no_step_to_it(lines):
    examination = SHARE.examine([SHARE.start, *lines, SHARE.target])
    assert examination.credit == 0
    assert examination.findings[0].kind == "skipped"


@pytest.mark.parametrize(
    ("chain", "lines", "credit"),
    [
        (SIZE, ["4*d*(d + 1)", SIZE.target], 1 / 2),
        (SIZE, [SIZE.target, "4*d*(d + 1)"], 0),  # what comes after it leads nowhere
        (SIZE, ["4*d*(d + 1)", "3*h*k*(d + 1) + d*h*k + d"], 0),  # backwards
        (SLOPE, ["y + y*log(y)", SLOPE.target], 1 / 2),
        (SHARE, ["1/(1 + exp(b - a))"], 0),
        (LOG, [APART, OUT, LOG.target], 2 / 3),
        (LOG, [LOG.target.replace("k", "l"), OUT, APART, JACOBIAN], 0),
    ],
)
def test_a_large_step_costs_itself_and_a_jump_everything(chain, lines, credit):
    examination = chain.examine([chain.start, *lines])
    assert examination.credit == approx(credit, abs=1e-5)
    assert "skipped" in [finding.kind for finding in examination.findings]


def test_two_obvious_rules_may_share_the_last_line_where_more_is_shown_before():
    assert LOG.examine([LOG.start, JACOBIAN, LOG.target]).credit == 1
    assert LOG.examine([LOG.start, LOG.target]).credit == 0


def test_beside_a_skip_all_that_algebra_does_is_one_step():
    leaves = [f"{n}*sum(g_k*D(p_k, s_j)/{n}, k)" for n in (3, 5, 7)]
    assert LOG.examine([*leaves, LOG.target]).credit == LOG.examine([leaves[0], LOG.target]).credit


def test_enough_lines_are_not_called_too_few():
    kinds = [f.kind for f in LOG.examine([LOG.start, APART, OUT, LOG.target]).findings]
    assert kinds == ["skipped"]
    kinds = [
        f.kind for f in SIZE.examine([SIZE.start, f"{SIZE.target} + h - h", SIZE.target]).findings
    ]
    assert kinds == ["skipped"]


@pytest.mark.parametrize(
    ("chain", "right", "slip", "end"),
    [
        (SIZE, ["3*h*k*d + 3*h*k + d*h*k + d"], ["4*d^2 + 3*d"], "d*(4*d + 3)"),
        (SIZE, [], ["3*d^2 + 3*d + d^2", "3*d*(d + 1) + d^2"], "4*d^2 + 3*d"),
        (LOG, [JACOBIAN, APART], ["g_j*p_j + p_j*sum(g_k*p_k, k)"], "p_j*(g_j + sum(g_k*p_k, k))"),
        (ROOT, ["1 - L/s^2 = 0"], ["s^2 = 2*L"], "s = sqrt(2*L)"),
    ],
)
def test_a_forced_result_earns_what_goes_on_from_the_slip_or_what_stands_there_without_it(
    chain, right, slip, end
):
    forced, carried, stopped, without = (
        chain.examine(lines).credit
        for lines in (
            [*right, *slip, chain.target],
            [*right, *slip, end],
            [*right, *slip],
            [*right, chain.target],
        )
    )
    assert 0 < stopped <= forced < 1
    assert forced <= max(carried, without - 0.8 / (len(right) + 2))


@pytest.mark.parametrize(
    ("chain", "lines", "wrong"),
    [
        (SIZE, ["3*h*k*d + 3*h*k + d*h*k + d", SIZE.target], "4*d^2 + 3*d"),
        (SHARE, ["(exp(a)/Z)/((exp(a) + exp(b))/Z)", SHARE.target], "exp(a)/(exp(a) - exp(b))"),
        (LOG, [JACOBIAN, APART, OUT, LOG.target], "g_j*p_j + p_j*sum(g_k*p_k, k)"),
        (ROOT, ["1 - L/s^2 = 0", "s^2 = L", "s = sqrt(L)"], "s^2 = 2*L"),
    ],
)
def test_a_wrong_line_among_right_ones_costs_its_step(chain, lines, wrong):
    for place in range(len(lines)):
        left_out = [*lines[:place], *lines[place + 1 :]]
        for others in (lines, left_out if place < len(lines) - 1 else lines):
            there = chain.examine([*others[:place], wrong, *others[place:]])
            without = chain.examine(others).credit
            assert there.credit >= without - 0.8 / len(others)
            assert "wrong" in {finding.kind[:5] for finding in there.findings}


def test_of_two_bounds_that_hold_the_larger_one_is_struck_out():
    chain = IndexedChain(
        start="norm(sum(w_k*V_k, k))",
        target="max(norm(V_k), k)",
        indexed=("w", "V", "s"),
        vectors=("V",),
        positive=("w",),
        definitions={"w_i": "exp(s_i)/sum(exp(s_k), k)"},
        relation="<=",
        rules=(
            "triangle inequality",
            "norm of a multiple",
            "largest term",
            Fact("weights sum to one", "sum(w_k, k)", "1"),
        ),
    )
    lines = [
        "<= sum(norm(w_k*V_k), k)",
        "= sum(w_k*norm(V_k), k)",
        "<= max(norm(V_k), k)*sum(w_k, k)",
        "= max(norm(V_k), k)",
    ]
    for place in range(4):
        loose = [*lines[:place], f"{lines[place]} + w_1", *lines[place:]]
        assert chain.examine(loose).credit in (approx(0.8 * 4 / 5 + 0.2), approx(0.8 * 4 / 6 + 0.2))


def test_a_wrong_line_before_the_result_is_no_way_there():
    for chain, wrong in ((SIZE, "4*d^2 + h"), (LOG, OUT.replace("-", "+")), (ROOT, "s^2 = 2*L")):
        assert chain.examine([wrong, chain.target]).credit == 0


@pytest.mark.parametrize("chain", [SIZE, LOG])
def test_algebra_on_a_wrong_line_is_one_step_where_nothing_right_is_shown(chain):
    a, b = ("h", "d") if chain is SIZE else ("g_j", "p_j")
    lines = [f"7*({a} + {b})*({a} - {b})", f"7*{a}^2 - 7*{b}^2", f"7*({a}^2 - {b}^2)"]
    lines += [f"7*{a}*({a} - {b}) + 7*{b}*({a} - {b})", f"7*({a}^2 - {a}*{b} + {b}*{a} - {b}^2)"]
    assert chain.examine(lines).credit == chain.examine(lines[:2]).credit == approx(0.4)


def test_behind_a_right_line_each_step_that_goes_on_from_a_slip_counts():
    right, slip = "3*h*k*d + 3*h*k + d*h*k + d", "3*h*k*d + 3*h*k + d*h*k"
    lines = [right, slip, "3*h*k*(d + 1) + d*h*k", "h*k*(4*d + 3)", "d*(4*d + 3)"]
    assert SIZE.examine(lines).credit == approx(0.8 * 4 / 5 + 0.2)


def test_a_definition_that_is_put_in_behind_a_wrong_line_is_a_step_of_its_own():
    lines = ["3*h*k*(d + 1) + h*k", "3*h*k*d + 4*h*k", "3*d^2 + 4*d"]
    assert SIZE.examine(lines).credit == approx(0.8 * 2 / 3)


def test_a_right_line_that_a_rule_leads_to_resumes_behind_a_slip():
    lines = [JACOBIAN, "sum(g_k*p_k, k)", APART, OUT, LOG.target]
    assert LOG.examine(lines).credit == approx(0.8 * 4 / 5 + 0.2)


def test_what_a_right_line_would_show_is_not_missed_in_a_wrong_one():
    chain = Chain(
        start="(a - b)^2",
        target="a^2 + b^2 - 2*c",
        names=("a", "b", "c"),
        definitions={"c": "a*b"},
        final_names=("a", "b", "c"),
        ends=Waypoint("Multiply it out.", lambda line: line.shows("2*c")),
    )
    assert [f.kind for f in chain.examine(["a^2 - a*b + b^2", "a^2 + b^2 - c"]).findings] == [
        "wrong_start"
    ]
    (finding,) = chain.examine(["a^2 - 2*a*b + b^2", "a^2 + b^2 - c - c"]).findings
    assert (
        finding.message
        == "The last line does not have the form that is asked for. Multiply it out."
    )


def test_a_point_is_told_where_there_is_one():
    (finding, *_) = ROOT.examine(["1 + L/s^2 = 0"]).findings
    begin = (
        "Line 1 doesn't follow from the given equation: where the given equation holds, its sides"
    )
    assert finding.message == f"{begin} are 2.0 apart."
    (finding, *_) = ROOT.examine(["1 - L/s^2 = 0", "s^2 = 2*L"]).findings
    assert ": at L=" in finding.message
    assert "where line 1 holds, its sides are " in finding.message
    (finding, *_) = SHARE.examine(["2*g/(g + f)"]).findings
    assert "Z=" not in finding.message.replace("g=", "")


def test_var_is_a_mean_square_about_the_mean_too():
    chain = IndexedChain(
        start="Var(q_i*k_i)",
        target="s^2*t^2",
        names=("s", "t"),
        indexed=("q", "k"),
        indices=("i", "j"),
        moments={"q_i": ("0", "s^2"), "k_i": ("0", "t^2")},
        rules=("definition of Var",),
    )
    first, *others = chain.read(
        [
            "Var(q_i*k_i)",
            "E((q_i*k_i - E(q_i*k_i))^2)",
            "E((E(q_i*k_i) - q_i*k_i)^2)",
            "E(q_i^2*k_i^2) - E(q_i*k_i)^2",
        ]
    )
    assert all(chain.task.rules.goes_by(first, line, "definition of Var") for line in others)
    (wrong,) = chain.read(["E((q_i*k_i - E(q_i))^2)"])
    assert not chain.task.rules.goes_by(first, wrong, "definition of Var")


def test_a_function_is_shown_as_one_and_its_derivative_said():
    how = {"calls": COUNTS, "constants": CONSTANTS, "functions": ["T"], "implicit": True}
    assert look("T(x) x + diff(T(x), x)", ["x", "T"], **how) == "T(x)·x + diff(T(x), x)"
    with pytest.raises(Exception, match=r"for T' write diff\(T\(x\), x\)"):
        look("T'(x)", ["x", "T"], **how)
    scope = Scope(["x", "T"], {"T": "function"})
    assert scope.nearest("T'") == "for T' write diff(T(x), x)"
    assert scope.nearest("S") == "the names are x, T"


@pytest.mark.parametrize(
    ("text", "count"),
    [("x^2*y", 3), ("x*x/y", 3), ("sqrt(x)*exp(-x)", 2), ("2*pi", 0), ("sum(x_k, k)", 2)],
)
def test_names_are_counted_as_often_as_they_are_factors(text, count):
    tree = read_tree(
        text, implicit=True, functions=frozenset({"sqrt", "exp", "sum"}), words=frozenset()
    )
    assert leaves(structure(tree)) == count


def test_a_meaning_among_other_factors_is_folded():
    def form(text):
        return structure(read_tree(text, implicit=True, functions=frozenset(), words=frozenset()))

    known = {form("a/Z"): form("g"), form("u + v"): form("s")}
    assert folded(form("a*b/Z"), known) == form("g*b")
    assert folded(form("(w + v + u)^2"), known) == form("(s + w)^2")
