"""Reading lines with indices: what they mean, and texts that mean nothing."""

import re
from dataclasses import replace

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.algebra import Fact, IndexedChain, ParseError
from autograder.algebra.deriving.lines.indexed import LineNames, read_indexed
from autograder.algebra.deriving.lines.world import World
from autograder.algebra.deriving.rewriting.for_every_n import equal_for_all, proved_for_all

NAMES = LineNames(indexed=("z", "p", "A"), plain=("c", "sigma"), matrices=("I", "M", "N"))
WORLD = World(NAMES)


def read(text):
    return read_indexed(text, NAMES)


@pytest.mark.parametrize(
    "texts",
    [
        ("z_i", "z[i]", "z(i)", "z_{i}"),
        ("A_ij", "A[i,j]", "A_{i,j}", "A_{ij}"),
        ("delta(i,j)", "δ_ij", "delta_{ij}", "δ_{ij}", "delta[i, j]"),
        ("sum(z_k, k)", "sum(z_k, k, 1, n)", "Sum(z[k], (k, 1, n))"),
        ("D(exp(z_i), z_j)", "diff(exp(z[i]), z[j])"),
        ("-c^2*σ", "-(c**2)·sigma", "−c^2*sigma"),
        ("c/2", "0.5*c"),
    ],
)
def test_one_meaning_has_several_spellings(texts):
    assert len({read(text) for text in texts}) == 1


def test_matrices_keep_their_order():
    assert read("M*N") != read("N*M")


@pytest.mark.parametrize(
    ("text", "says", "at"),
    [
        ("z_i +", "expected a number", 5),
        ("q_i", "unknown name q_i", 0),
        ("c + z_q", "q is no index", 4),
        ("c 2", "write * for a product", 2),
        ("sum(z_k)", "write sum(f, k)", 0),
        ("sum(z_k, 3)", "write sum(f, k)", 0),
        ("exp(1, 2)", "exp takes 1 argument", 0),
        ("c/0", "division by zero", 2),
        ("c^99", "at most 12", 2),
        ("D(c, 3)", "with respect to a variable", 0),
        ("c $ 2", "unexpected character '$'", 2),
        ("(" * 60, "nested", 40),
        (f"{chr(40) * 30}9{'^12)' * 30}", "too large", None),
    ],
)
def test_what_is_no_line_gets_a_sentence_and_a_place(text, says, at):
    with pytest.raises(ParseError, match=".") as caught:
        read(text)
    assert says in caught.value.reason
    assert at is None or caught.value.position == at


@pytest.mark.parametrize(
    ("left", "right", "case"),
    [
        ("delta(i,j)", "0", "i=1, j=1"),
        ("delta(i,j)", "1", "i=1, j=2"),
        ("D(z_i^2, z_j)", "2*z_i", "i=1, j=2"),
        ("sum(z_k, k)", "z_1 + z_2", "n=3"),
        ("sum(sum(z_i*z_j, i), j)", "sum(z_i^2, i)", "n=2"),
    ],
)
def test_a_counterexample_names_n_and_the_indices(left, right, case):
    verdict = equal_for_all(read(left), read(right), WORLD)
    assert verdict.equal is False
    assert case in verdict.how


@pytest.mark.parametrize(
    ("left", "right", "proved"),
    [
        ("sum(z_k*delta(k,j), k)", "z_j", True),
        ("D(sum(z_k^3, k), z_j)", "3*z_j^2", True),
        ("sum(c*z_k + 1, k)", "c*sum(z_i, i) + n", True),
        ("z_i*delta(i,j)", "z_j*delta(i,j)", True),
        ("sum(z_k, k)^2", "sum(sum(z_i*z_j, j), i)", True),
        ("sum(z_k, k)", "sum(z_k, k) + delta(i,j)", False),
    ],
)
def test_equal_for_every_n_where_a_normal_form_shows_it(left, right, proved):
    assert proved_for_all(read(left), read(right), WORLD) is proved
    assert equal_for_all(read(left), read(right), WORLD).equal is proved


def test_a_fact_that_does_not_hold_is_the_authors_error():
    with pytest.raises(ValueError, match="the fact 'half' does not hold"):
        IndexedChain(
            start="sum(z_k, k)",
            target="sum(z_i, i)",
            indexed=("z",),
            rules=(Fact("half", "sum(z_k, k)", "n/2"),),
        )


def test_a_rule_that_nobody_knows():
    with pytest.raises(ValueError, match="no rule 'magic'"):
        IndexedChain(start="c", target="c", names=("c",), rules=("magic",))
    lines = ["(c^2 - c) + c - 1", "c*(c - 1) + (c - 1) # magic", "(c - 1)*(c + 1) # algebra"]
    for reasons in (False, True):  # a note, where no reason is asked for
        chain = IndexedChain(
            start="c^2 - 1",
            target="(c - 1)*(c + 1)",
            names=("c",),
            rules=("chain rule",),
            reasons=reasons,
        )
        examination = chain.examine(lines)
        found = [(2, "wrong_reason")] if reasons else []
        assert [(f.line, f.kind) for f in examination.findings] == found
    assert "The rules are: algebra, chain rule." in examination.findings[0].message


def test_a_rule_in_other_words():
    chain = IndexedChain(
        start="sum(c*(x_k + c), k)",
        target="c*sum(x_k, k) + n*c^2",
        names=("c",),
        indexed=("x",),
        rules=("linearity of sums",),
        reasons=True,
    )
    lines = ["sum(c*x_k + c^2, k)  # algebra", "c*sum(x_k, k) + sum(c^2, k)  # {}", chain.target]
    for reason in ("Linearity of the sum", "sums: linearity", "by linearity of sums, twice"):
        examination = chain.examine([line.format(reason) for line in lines])
        assert [f.line for f in examination.findings] in ([], [3]), reason
    examination = chain.examine([line.format("the sum says so") for line in lines])
    assert (2, "wrong_reason") in [(f.line, f.kind) for f in examination.findings]


def test_a_fact_may_be_the_reason_as_it_stands():
    chain = IndexedChain(
        start="A*R*(B^T*S^T)^T",
        target="A*B",
        matrices=("A", "B", "R", "S"),
        where={"S": "R^(-1)"},
        rules=("transpose of a product", Fact("S is the inverse of R", "R*S", "I")),
        reasons=True,
    )
    lines = [chain.start, "A*R*S*B  # transpose of a product", "A*B  # RS = I"]
    assert chain.examine(lines).findings == ()


def test_a_way_that_goes_on_behind_a_slip_does_not_jump():
    chain = IndexedChain(
        start="exp(s_j - m)/sum(exp(s_k - m), k)",
        target="exp(s_j)/sum(exp(s_k), k)",
        names=("m",),
        indexed=("s",),
        indices=("i", "j", "k"),
        rules=("linearity of sums",),
    )
    slip = "exp(s_j)*exp(m)/sum(exp(s_k)*exp(-m), k)"
    on = "exp(s_j)*exp(-m)/(exp(-m)*sum(exp(s_k), k))"
    again = "exp(s_j)*exp(-m)/sum(exp(s_k)*exp(-m), k)"
    went_on = chain.examine([chain.start, slip, again, on, chain.target])
    assert [f.kind for f in went_on.findings] == ["wrong"]
    assert went_on.credit > 0.4
    jumped = chain.examine([chain.start, slip, chain.target])
    assert [f.kind for f in jumped.findings] == ["wrong", "skipped"]
    assert "No right line leads" in jumped.findings[1].message
    assert jumped.credit == 0


def test_a_number_goes_into_a_sum_by_linearity_or_by_algebra():
    chain = IndexedChain(
        start="2*sum(z_k, k)",
        target="sum(2*z_k, k)",
        indexed=("z",),
        rules=("linearity of sums", "order of sums"),
    )
    before, line, same = chain.read(["2*sum(z_k, k)", "sum(2*z_k, k)", "sum(z_k, k) + sum(z_k, k)"])
    for reason, right in (("linearity of sums", True), ("algebra", True), ("order of sums", False)):
        found = chain.task.reasons.unjustified(before, replace(line, rule=reason))
        assert (found is None) == right, reason
    assert (
        chain.task.reasons.unjustified(before, replace(same, rule="linearity of sums")) is not None
    )


def test_a_triangle_inequality_between_groups_of_terms():
    chain = IndexedChain(
        start="abs(a + b - c)",
        target="abs(b) + abs(a - c)",
        names=("a", "b", "c"),
        rules=("triangle inequality",),
        relation="<=",
    )
    before, line, other = chain.read(
        ["abs(a + b - c)", "<= abs(b) + abs(a - c)", "<= 2*abs(b) + abs(a - c)"]
    )
    assert chain.task.rules.goes_by(before, line, "triangle inequality")
    assert not chain.task.rules.goes_by(before, other, "triangle inequality")


def test_bounds_are_refuted_by_a_climb():
    chain = IndexedChain(
        start="sum(z_k^2, k)",
        target="sum(z_k^2, k) + c^2",
        names=("c",),
        indexed=("z",),
        relation="<=",
    )
    straight = chain.examine(["<= sum(z_k^2, k) + c^2"])
    assert [f.kind for f in straight.findings] == ["skipped", "too_short"]
    wrong = chain.examine(["<= sum(z_k^2, k) + c^2 - 1/1000"])
    assert wrong.findings[0].message.startswith("Line 1 is not at least as large as")
    tight = chain.examine(["<= 99*sum(z_k^2, k)/100 + c^2"])
    assert tight.findings[0].kind == "wrong_start"


LARGEST = IndexedChain(
    start="sum(p_k*log(p_k), k)",
    target="max(log(p_k), k)",
    indexed=("p", "a"),
    positive=("p",),
    definitions={"p_i": "exp(a_i)/sum(exp(a_k), k)"},
    rules=("largest term", Fact("weights sum to one", "sum(p_k, k)", "1")),
    relation="<=",
    min_lines=2,
)


@pytest.mark.parametrize(
    "lines",
    [
        [
            "<= sum(p_k*max(log(p_k), k), k)  # largest term",
            "= max(log(p_k), k)*sum(p_k, k)",
            "= max(log(p_k), k)  # weights sum to one",
        ],
        [
            r"\le \sum_k p_k \max_k \log p_k   # largest term",
            r"= \max_k \log p_k \cdot \sum_k p_k   # linearity of sums",
            r"= \max_k \log p_k   # weights sum to one",
        ],
        [
            r"\leq \max_k \left(\ln p_k\right) \cdot \sum_k p_k  # largest term",
            r"= \max_k \ln p_k  # weights sum to one",
        ],
    ],
)
def test_an_index_that_is_bound_twice_is_two(lines):
    assert LARGEST.examine(lines).credit == 1


def test_what_is_bound_inside_is_left_alone_where_a_term_is_left_out():
    names = LineNames(indexed=("p",))
    one = read_indexed(r"\sum_{k \neq j} p_k \sum_k p_k", names)
    other = read_indexed(r"\sum_{k \neq j} p_k \sum_i p_i", names)
    assert equal_for_all(one, other, World(names)).equal is True


def test_a_bound_that_is_said_to_be_equal_earns_nothing_at_the_end():
    assert LARGEST.examine(["= max(log(p_k), k)"]).credit == 0
    right = ["<= max(log(p_k), k)*sum(p_k, k)  # largest term", "= max(log(p_k), k)"]
    assert LARGEST.examine([right[0], f"{right[1]}  # weights sum to one"]).credit == 1


def test_a_line_that_divides_by_nothing_is_wrong():
    chain = IndexedChain(
        start="c_i + (1 - sum(c_k, k))*(p_i - c_i)/sum(p_k - c_k, k)",
        target="p_i",
        indexed=("p", "c"),
        where={"p_i": "a_i/sum(a_k, k)"},
        hidden=("a_i",),
        positive=("p", "c", "a"),
    )
    found = chain.examine(["c_i + (1 - sum(c_k, k))*(p_i - c_i)/(1 - sum(p_k, k))", "p_i"])
    assert not found.review
    assert "it divides by 0" in found.findings[0].message


def test_the_result_may_hold_no_operator_that_the_target_lacks():
    chain = IndexedChain(start="D(z_i, z_j)", target="delta(i,j)", indexed=("z",))
    examination = chain.examine(["D(z_i + 1, z_j)"])
    (found,) = (f for f in examination.findings if f.kind == "not_in_form")
    assert found.message == "In the last line a derivative is still to be carried out."


WORDS = """z_i z_j p[k] A_ij c I M sum( max( D( E( Var( norm( exp( log( ( ) , k n i 0 1 2 + - * / ^
    = <= # ] [ delta( δ_ij"""
pieces = st.sampled_from(WORDS.split())


@settings(deadline=None, max_examples=150)
@given(st.lists(st.lists(pieces, max_size=12).map("".join) | st.text(max_size=12), max_size=4))
def test_no_text_raises(lines):
    chain = IndexedChain(
        start="z_i",
        target="z_i",
        names=("c",),
        indexed=("z", "p", "A"),
        matrices=("I", "M"),
        rules=("differentiate", "linearity of sums"),
    )
    examination = chain.examine(lines)
    assert 0 <= examination.credit <= 1
    if examination.credit == 1:
        assert isinstance(chain.given.expr, sympy.Expr)


def test_a_counterexample_tells_n_only_where_it_matters():
    shift = IndexedChain(start="sin(w*(t + k))", target="sin(w*k + w*t)", names=("w", "t", "k"))
    message = shift.examine([shift.start, "sin(w*t)"]).findings[0].message
    assert "n=" not in message
    assert re.search(r"at k=\d+\.\d+, t=", message)  # a name, though k is an index elsewhere
    total = IndexedChain(
        start="sum(c*x_k, k)", target="c*sum(x_k, k)", names=("c",), indexed=("x",)
    )
    message = total.examine([total.start, "c*x_1"]).findings[0].message
    assert "at n=2, " in message


def test_what_is_computed_with_an_index_is_tried_at_every_place():
    chain = IndexedChain(
        start="sum(delta(i, k)*k*x_k, k)",
        target="i*x_i",
        indexed=("x",),
        rules=("delta contraction",),
    )
    entry, *others = chain.read(["i*x_i", "x_i", "i^2*x_i", "x_i + i - 1", "(i + 1)*x_i - x_i"])
    assert [chain.task.truth.compare(entry, other).equal for other in others] == [
        False,
        False,
        False,
        True,
    ]


def test_a_counterexample_tells_what_assumed_names_are_not_what_is_hidden():
    chain = IndexedChain(
        start="sum(c_k*p_k, k)",
        target="sum(p_k*c_k, k)",
        indexed=("p", "c"),
        where={"p_i": "a_i/sum(a_k, k)"},
        hidden=("a_i",),
    )
    (wrong, *_) = chain.examine(["sum(c_k, k)"]).findings
    point = dict(re.findall(r"(\w+)=([\d.]+)", wrong.message))
    assert list(point) == ["n", "c_1", "c_2", "p_1", "p_2"]
    given, line = re.findall(r" is (\d[\d.]*\d)", wrong.message)
    total = sum(float(point[f"c_{k}"]) * float(point[f"p_{k}"]) for k in (1, 2))
    assert (float(given), float(line)) == pytest.approx(
        (total, float(point["c_1"]) + float(point["c_2"])), rel=0.005
    )
