"""a05: the references give the catalogue's figures on its fixed data, and so do the mistakes."""

from functools import cache
from itertools import permutations
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from autograder.exercise.words.dependencies import apply, evaluate, solve
from autograder.exercise.words.loading import load_module
from autograder.grading.checks import grade_checks

FOLDER = Path(__file__).parents[2] / "reference" / "a05_positions"
POINTS = {  # by exercise: each row of the catalogue may be several parts or checks
    "order_blind": 6,
    "perm_equivariance": 9,
    "pe_why": 6,
    "pe_hand": 5,
    "pe_code": 6,
    "pe_wavelengths": 7,
    "pe_shift": 9,
    "pe_dot": 7,
    "pe_claims": 5,
    "pe_learned": 5,
    "rope_apply": 5,
    "rope_relative": 7,
    "rope_vs_pe": 7,
    "alibi_bias": 8,
    "alibi_shift": 4,
    "relative_bias": 9,
    "shaw_score": 4,
}
DATA = {
    "order_blind": {"X": np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]])},
    "pe_wavelengths": {"d": 8, "base": 10000, "limit": 100},
    "pe_shift": {"k": 1, "base": 10000},
    "pe_dot": {"base": 10000, "k": np.array([0, 1, 2, 5, 10, 50, 100])},
    "pe_claims": {"n": 100, "d": 512},
    "pe_learned": {"d": 512, "short": 512, "long": 2048},
    "rope_relative": {"q": np.array([2, 1]), "k": np.array([1, 3]), "m": 1, "n": 3},
    "rope_vs_pe": {"seed": 0, "offset": 5},
    "alibi_bias": {"h": 8, "n": 4, "slope": 0.5, "row": 1},
    "alibi_shift": {"slope": 0.25, "steps": 4},
    "relative_bias": {
        "f": np.array([1, 0, 1, 0]),
        "i": 1,
        "clip": 16,
        "width": 64,
        "length": 512,
    },
    "shaw_score": {
        "q": np.array([1, 2, 0, 1]),
        "K": np.eye(4, dtype=int),
        "R": np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]),
        "i": 1,
    },
}


@cache
def module(name):
    return load_module(FOLDER / f"{name}.py")


def known(name):
    own = module(name)
    steps = {"steps": own.proof.shuffled(np.random.default_rng(0))} if hasattr(own, "proof") else {}
    return solve(own.exercise, DATA.get(name, {}) | steps)


def wrong(name, part, mistake):
    """What a mistake gives where everything before it is right."""
    (target,) = (p for p in module(name).exercise.parts if p.name == part)
    (made,) = (m for m in target.misconceptions if m.name == mistake)
    return evaluate(target, made, known(name))


@pytest.mark.parametrize(("name", "points"), POINTS.items())
def test_points_are_the_catalogues(name, points):
    assert module(name).exercise.points == points


@pytest.mark.parametrize(
    ("name", "part", "figures"),
    [
        ("order_blind", "plain", [[0.4518628, 0.2740686, 0.2740686, 1]] * 2),
        (
            "order_blind",
            "placed",
            [
                [0.9125108, 0.9952953, 0.1835835, 1.999942],
                [1.550529, 0.05532341, 0.1057172, 1.999844],
            ],
        ),
        ("pe_wavelengths", "wavelengths", [6.283185, 62.83185, 628.3185, 6283.185]),
        ("pe_wavelengths", "longest", 60611.48),
        ("pe_wavelengths", "ratio", 1.036633),
        ("pe_wavelengths", "short", 77),
        (
            "pe_shift",
            "T4",
            [
                [0.5403023, 0.841471, 0, 0],
                [-0.841471, 0.5403023, 0, 0],
                [0, 0, 0.99995, 0.009999833],
                [0, 0, -0.009999833, 0.99995],
            ],
        ),
        ("pe_dot", "small", [2, 1.540252, 0.5836532, 0.009557537]),
        (
            "pe_dot",
            "wide",
            [64, 62.09368, 57.38186, 47.18501, 42.82002, 34.95501, 30.54345],
        ),
        ("pe_dot", "norm", 16),
        ("pe_claims", "columns", [0.006012852, 0.9872067]),
        ("pe_claims", "step", 3.71427),
        ("pe_claims", "norm", 16),
        ("pe_claims", "neighbours", 0.9730551),
        ("pe_why", "nearest_return", 710),
        ("shaw_score", "rows", [0, 1, 2, 2]),
        ("shaw_score", "scores", [1, 2, 0.5, 1]),
        ("pe_learned", "tables", [0, 262144, 1048576]),
        ("rope_relative", "score", -6.627221),
        ("rope_vs_pe", "added", 2.667629),
        ("alibi_bias", "slopes", [2.0**-k for k in range(1, 9)]),
        (
            "alibi_bias",
            "weights",
            [[0.3775407, 0.6224593, 0, 0], [0.1015363, 0.1674051, 0.2760043, 0.4550542]],
        ),
        ("alibi_bias", "parameters", 0),
        ("alibi_shift", "weight_ratio", 0.3678794),
        ("relative_bias", "content", [0.3655293, 0.1344707, 0.3655293, 0.1344707]),
        ("relative_bias", "location", [0.1966119, 0.5344466, 0.1966119, 0.07232949]),
        ("relative_bias", "both", [0.3189452, 0.3189452, 0.3189452, 0.04316453]),
        ("relative_bias", "counts", [33, 2112, 1023]),
    ],
)
def test_right_values(name, part, figures):
    np.testing.assert_allclose(np.asarray(known(name)[part], float), figures, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "part", "mistake", "figures"),
    [
        ("pe_wavelengths", "longest", "bound_not_reached", 62831.85),
        ("pe_wavelengths", "longest", "longest_of_the_doubled_exponent", 5.846957e8),
        ("pe_dot", "norm", "root_of_the_width", 22.62742),
        ("pe_learned", "tables", "one_table_per_layer", [0, 1572864, 6291456]),
        ("rope_relative", "score", "score_of_the_other_difference", 2.465753),
        (
            "alibi_bias",
            "weights",
            "oldest_favoured",
            [[0.6224593, 0.3775407, 0, 0], [0.4550542, 0.2760043, 0.1674051, 0.1015363]],
        ),
        ("relative_bias", "both", "averaged", [0.2810706, 0.3344587, 0.2810706, 0.1034001]),
    ],
)
def test_wrong_values(name, part, mistake, figures):
    np.testing.assert_allclose(np.asarray(wrong(name, part, mistake), float), figures, rtol=1e-6)


def test_a_shift_with_the_transposed_matrix_steps_back_to_the_start():
    back = wrong("pe_shift", "T4", "T4_transposed")
    first = np.array([0.841471, 0.5403023, 0.009999833, 0.99995])
    np.testing.assert_allclose(back @ first, [0, 1, 0, 1], atol=1e-6)
    np.testing.assert_allclose(
        known("pe_shift")["T4"] @ first, [0.9092974, -0.4161468, 0.01999867, 0.9998], atol=1e-6
    )


def test_positions_change_what_is_pooled():
    m, X = module("order_blind"), DATA["order_blind"]["X"]
    pooled = [m.attended(x + m.encoding(3)).mean(axis=0) for x in (X, X[::-1])]
    assert np.abs(pooled[0] - pooled[1]).max() == pytest.approx(0.1229579, rel=1e-6)


def test_encodings_of_any_width():
    table = module("pe_code").positional_encoding
    assert table(10, 512)[9, [2, 511]] == pytest.approx([0.6763702, 0.9999996], abs=1e-7)
    odd = [0.841471, 0.5403023, 0.02511622, 0.9996845, 0.0006309573]
    assert table(2, 5)[1] == pytest.approx(odd, rel=1e-6)
    doubled = module("pe_code").exponent_doubled(10, 512)
    assert doubled[9, [2, 511]] == pytest.approx([0.8672389, 1], abs=1e-7)
    assert np.abs(doubled - table(10, 512)).max() == pytest.approx(1.79989, rel=1e-5)


def test_the_first_rise_of_the_product():
    x, y = module("pe_dot").curve.compute()["curve"]
    assert x[np.argmax(np.diff(y) > 0)] == 11
    assert y[11:13] == pytest.approx([42.34432, 42.38139], rel=1e-6)


def test_rotations():
    m, q = module("rope_apply"), np.array([[1, 0, 1, 0]])
    at = {wrong.name: wrong for wrong in m.exercise.misconceptions}
    turned = [0.5403023, 0.841471, 0.99995, 0.009999833]
    assert m.rope(q, [1])[0] == pytest.approx(turned, rel=1e-6)
    assert at["other_direction"](q, [1])[0] == pytest.approx(turned * np.array([1, -1, 1, -1]))
    halves = [-0.3011687, 0, 1.381773, 0]
    assert at["halves_paired"](q, [1])[0] == pytest.approx(halves, rel=1e-6, abs=1e-9)
    doubled = [0.5403023, 0.841471, 1, 0.0001]
    assert at["exponent_doubled"](q, [1])[0] == pytest.approx(doubled, rel=1e-6)
    assert at["stored_as_whole_numbers"](q, [1])[0].tolist() == [0, 0, 0, 0]


def test_what_the_offset_explains():
    m = module("rope_vs_pe")
    x, y = m.contents(0)
    P = m.positional_encoding(64, 32)
    assert m.offset_r2((x + P) @ (y + P).T) == pytest.approx(0.5027096, rel=1e-6)
    turned = m.rotated(x, range(64)) @ m.rotated(y, range(64)).T
    assert m.offset_r2(turned) == pytest.approx(1)
    scores = [m.rotated(x, [i + 5])[0] @ m.rotated(y, [i])[0] for i in range(64)]
    assert np.std(scores) < 1e-12


def test_a_query_at_the_end_of_a_bias_table():
    assert module("alibi_bias").alibi(4, [0.5])[0, 3].tolist() == [-1.5, -1, -0.5, 0]


def test_the_product_of_the_weights_and_the_scaled_sum():
    m, values = module("relative_bias"), known("relative_bias")
    assert values["content"] @ values["location"] == pytest.approx(0.2253285, rel=1e-6)
    inside = m.softmax(DATA["relative_bias"]["f"] + m.location_term(1) / 2)
    assert inside == pytest.approx([0.3533992, 0.2143475, 0.3533992, 0.07885403], rel=1e-6)
    assert apply(m.both, values) == pytest.approx(values["both"])


def test_a_tester_of_equivariance_tries_all_orders_of_four_tokens():
    m = module("perm_equivariance")
    rng = np.random.default_rng(0)
    assert m.is_equivariant(m.attending(5, 0, False), 4, 5, rng)
    assert not m.is_equivariant(m.attending(5, 0, True), 4, 5, rng)
    assert not m.is_equivariant(m.flattened(4, 3), 4, 3, rng)
    X = rng.normal(size=(4, 3))
    kept = [
        list(o)
        for o in permutations(range(4))
        if np.allclose(m.signed(X[list(o)]), m.signed(X)[list(o)])
    ]
    assert len(kept) == 12  # a single order by lot misses it half of the time


TESTS = {  # what is compared with the score of q at m and k at n, and what that is called
    "exchanged": lambda f, t: f(t.q, t.n + t.s) @ f(t.k, t.m + t.s),
    "moved_apart": lambda f, t: f(t.q, t.m + t.s) @ f(t.k, t.n - t.s),
    "only_the_key_shifted": lambda f, t: f(t.q, t.m) @ f(t.k, t.n + t.s),
    "idle": lambda *_: np.inf,
    "": lambda f, t: f(t.q, t.m - t.n) @ f(t.k, 0),  # before position 0 as well
}


@pytest.mark.parametrize("mistake", TESTS)
def test_a_tester_of_relative_positions_is_told_what_it_compares(mistake):
    def relative_test(f, d, rng):
        for _ in range(20):
            (q, k), (m, n, s) = rng.normal(size=(2, d)), rng.integers(1, 60, 3)
            other = TESTS[mistake](f, SimpleNamespace(q=q, k=k, m=m, n=n, s=s))
            if not np.isclose(f(q, m) @ f(k, n), other, atol=1e-8):
                return False
        return True

    (function,) = module("rope_relative").exercise.functions
    items = grade_checks(function, relative_test, secret="s1")
    assert {item.note for item in items} - {"skipped", ""} == {mistake} - {""}
    assert all(item.score == item.max_score for item in items) == (not mistake)


def test_no_two_positions_share_a_row():
    chain = module("pe_why").chain
    longer = [chain.start, "2 - 2*cos(p + k)*cos(p) - 2*sin(p + k)*sin(p)", "2 - 2*cos(k)"]
    assert chain.examine(longer).credit == 1
    assert chain.examine([chain.start, "2 - 2*cos(k)"]).credit == 0
    p, k = np.arange(50.0), np.arange(1, 51.0)[:, None]
    moved = (np.sin(p + k) - np.sin(p)) ** 2 + (np.cos(p + k) - np.cos(p)) ** 2
    np.testing.assert_allclose(moved, np.broadcast_to(2 - 2 * np.cos(k), moved.shape), atol=1e-12)
    first_pair = np.arange(2000) % (2 * np.pi)
    assert np.diff(np.sort(first_pair)).min() > 1e-6
