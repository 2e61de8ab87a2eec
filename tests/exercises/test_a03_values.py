"""a03: the references give the catalogue's figures on its fixed data, and so do the mistakes."""

from functools import cache
from math import erf
from pathlib import Path

import numpy as np
import pytest

from autograder.exercise.properties import is_gradient
from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.loading import load_module
from autograder.grading.checks import grade_checks

FOLDER = Path(__file__).parents[2] / "reference" / "a03_scaled_attention"
POINTS = {  # by exercise: each row of the catalogue may be several parts or checks
    "score_variance": 8,
    "score_growth": 7,
    "score_histograms": 3,
    "score_saturation": 7,
    "variance_trap": 6,
    "sdpa": 11,
    "sdpa_shapes": 4,
    "softmax_axis_bug": 7,
    "causal_mask": 9,
    "mask_forms": 6,
    "dead_rows": 9,
    "padding_mask": 6,
    "mask_zoo": 5,
    "sdpa_grad": 11,
    "self_attn_proj": 8,
}
DATA = {
    "score_variance": {"d": 64, "mean_q": 1, "mean_k": 1},
    "score_growth": {"seed": 0},
    "self_attn_proj": {
        "X": np.array([[1, 0, 1], [0, 2, 0], [1, 1, 0]]),
        "W_Q": np.array([[1, 0], [0, 1], [1, 0]]),
        "W_K": np.array([[1, 0], [1, 1], [0, 1]]),
        "W_V": np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1]]),
    },
    "sdpa_shapes": {"B": 2, "h": 8, "n": 10, "m": 7, "d_k": 64, "d_v": 32},
    "softmax_axis_bug": {"seed": 0},
    "dead_rows": {"s": np.array([0.1, 1.7, 2.3])},
    "mask_zoo": {"n": 6, "p": 2, "source": 4},
}
A = [
    [0.1083835, 0.4458083, 0.4458083],
    [0.1635791, 0.6728418, 0.1635791],
    [0.1400292, 0.5759753, 0.2839954],
]
O = [  # noqa: E741 -- the letter of the formula
    [0.5541917, 1.337425, 0.1083835, 2],
    [0.3271582, 1.509263, 0.1635791, 2],
    [0.4240247, 1.435946, 0.1400292, 2],
]


@cache
def module(name):
    return load_module(FOLDER / f"{name}.py")


@cache
def known(name):
    return solve(module(name).exercise, DATA.get(name, {}))


def wrong(name, part, mistake, **changed):
    """What a mistake gives where everything before it is right."""
    (target,) = (p for p in module(name).exercise.parts if p.name == part)
    (made,) = (m for m in target.misconceptions if m.name == mistake)
    return evaluate(target, made, known(name) | changed)


@pytest.mark.parametrize(("name", "points"), POINTS.items())
def test_points_are_the_catalogues(name, points):
    assert module(name).exercise.points == points


@pytest.mark.parametrize(
    ("name", "part", "figures"),
    [
        ("score_variance", "cases", [64, 192, 128]),
        ("score_growth", "dot", -9.701179),
        ("score_growth", "scaled", -1.212647),
        ("score_growth", "sd", [1, 2, 4, 8, 16, 32]),
        ("self_attn_proj", "Q", [[2, 0], [0, 2], [1, 1]]),
        ("self_attn_proj", "K", [[1, 1], [2, 2], [2, 1]]),
        ("self_attn_proj", "V", [[1, 0, 1, 2], [0, 2, 0, 2], [1, 1, 0, 2]]),
        ("self_attn_proj", "A", A),
        ("self_attn_proj", "O", O),
        (
            "softmax_axis_bug",
            "rowsums",
            [[0.1100411, 0.1064454, 0.1289078], [0.09219562, 0.3927463, 0.1696637]],
        ),
        ("softmax_axis_bug", "totals", [1, 6]),
        ("softmax_axis_bug", "leak", [0.3453944, 0.003542598]),
        ("dead_rows", "filled", [1 / 3] * 3),
        ("dead_rows", "added", [0.06676438, 0.3306862, 0.6025495]),
        ("dead_rows", "added32", [1 / 3] * 3),
        ("padding_mask", "pairs", [5, 15, 25]),
        ("padding_mask", "causal_pairs", [5, 12, 15]),
        ("mask_zoo", "allowed", [36, 21, 22, 24]),
        ("mask_zoo", "causal_1024", 524800),
        ("mask_zoo", "excess", 512),
        ("sdpa_grad", "A", [0.6697615, 0.3302385]),
        ("sdpa_grad", "dQ", [0.1563986, -0.1563986]),
        ("sdpa_grad", "dK", [[0.1563986, 0], [-0.1563986, 0]]),
        ("sdpa_grad", "dV", [0.6697615, 0.3302385]),
    ],
)
def test_right_values(name, part, figures):
    np.testing.assert_allclose(np.asarray(known(name)[part], float), figures, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "part", "figures", "tolerance"),
    [
        (
            "score_saturation",
            "max_w",
            [[0.342, 0.619, 0.816, 0.911, 0.955], [0.157, 0.159, 0.168, 0.16, 0.165]],
            0.03,
        ),
        (
            "score_saturation",
            "trace",
            [[0.79, 0.51, 0.257, 0.13, 0.066], [0.926, 0.928, 0.925, 0.929, 0.927]],
            0.03,
        ),
        ("variance_trap", "var", [5.14, 35.95, 107.71, 548.67], 0.005),
        ("variance_trap", "ksq", [5.01, 33.84, 114.06, 534.53], 0.005),
    ],
)
def test_measured_values(name, part, figures, tolerance):
    np.testing.assert_allclose(known(name)[part], figures, atol=tolerance)


@pytest.mark.parametrize(
    ("name", "part", "mistake", "figures"),
    [
        ("score_growth", "scaled", "divided_by_d", -0.1515809),
        ("score_growth", "scaled", "divided_by_root_two", -6.859769),
        ("sdpa_grad", "dQ", "dQ_without_scale", [0.221181, -0.221181]),
        ("sdpa_grad", "dQ", "dQ_of_the_diagonal", [0.1563986, 0]),
    ],
)
def test_wrong_values(name, part, mistake, figures):
    np.testing.assert_allclose(wrong(name, part, mistake), figures, rtol=1e-6)


@pytest.mark.parametrize(
    ("mistake", "first_row"),
    [
        ("queries_and_keys_exchanged", [0.6666667, 1, 0.3333333, 2]),
        ("scaled_by_the_model_width", [0.5680629, 1.295811, 0.1361258, 2]),
    ],
)
def test_wrong_weights_give_wrong_outputs(mistake, first_row):
    weights = wrong("self_attn_proj", "A", mistake)
    found = module("self_attn_proj").O.compute(weights, known("self_attn_proj")["V"])
    np.testing.assert_allclose(found[0], first_row, rtol=1e-6)


def test_shapes():
    found = known("sdpa_shapes")
    assert found["weights"] == (2, 8, 10, 7)
    assert found["out"] == (2, 8, 10, 32)
    assert found["batch"] == (2, 10, 32)


def test_an_addition_of_a_billion_is_not_quite_invisible():
    m = module("dead_rows")
    s = DATA["dead_rows"]["s"]
    assert np.abs(m.softmax(s - 1e9) - m.softmax(s)).max() == pytest.approx(2.187981e-8, rel=1e-5)
    assert np.float16(-1e4) > -np.inf
    with np.errstate(over="ignore"):
        assert np.float16(-1e9) == -np.inf
    assert np.spacing(np.float32(1e9)) == 64
    assert m.softmax(np.array([-1e4, -1e4, -1e4 + 5]))[2] == pytest.approx(0.9867033)


def test_a_block_of_queries_is_lined_up_at_the_end():
    m = module("mask_forms")
    assert m.causal_mask(2, 5).astype(int).tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    topleft = m.aligned_at_the_top_left(2, 5).astype(int).tolist()
    assert topleft == [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0]]


def test_figures_of_the_lesson():
    softmax = module("dead_rows").softmax
    added, inverted = softmax(np.array([1.0, 0, 0])), softmax(np.array([-np.inf, 0, 0]))
    assert added == pytest.approx([0.576, 0.212, 0.212], abs=5e-4)
    assert inverted.tolist() == [0, 0.5, 0.5]


def test_gradients_agree_with_differences():
    m = module("sdpa_grad")
    rng = np.random.default_rng(0)
    Q, K, V, dO = m.fixture(rng)
    for mask in (None, np.tri(3, 5, k=1, dtype=bool)):
        dQ, dK, dV = m.attention_grad(Q, K, V, dO, mask)
        is_gradient(dQ, lambda x, mask=mask: m.loss(x, K, V, dO, mask), Q, tolerance=1e-7)
        is_gradient(dK, lambda x, mask=mask: m.loss(Q, x, V, dO, mask), K, tolerance=1e-7)
        is_gradient(dV, lambda x, mask=mask: m.loss(Q, K, x, dO, mask), V, tolerance=1e-7)


@pytest.mark.parametrize(
    ("name", "made_up"),
    [
        ("score_growth", lambda seed: 0.5 + 1e-3 * np.sin(seed) / 10),
        ("score_growth", lambda seed: 0.5 + 0.019 * (-1) ** seed),
        ("variance_trap", lambda d, n, seed: d * (1 + 0.01 * np.sin(seed + n))),
        ("variance_trap", lambda d, n, seed: d + 0.5 * (1 + seed % 2) / n),
    ],
)
def test_what_draws_nothing_does_not_scatter_as_what_is_measured(name, made_up):
    function = load_module(FOLDER / f"{name}.py").exercise.functions[0]
    (item,) = grade_checks(function, made_up, secret="s1")
    assert (item.score, item.max_score) == (0, 2)
    assert "scatter" in item.feedback or item.note == "nothing_drawn"


def test_histograms_are_shares_of_all_pairs():
    found = solve(module("score_histograms").exercise, {"seed": 123})
    for drawn, outermost in (("unscaled", 32), ("scaled", 4)):
        edges = np.linspace(-outermost, outermost, 33)
        assert list(found[drawn]) == ["4", "16", "64", "256"]
        for d, heights in found[drawn].items():
            deviation = int(d) ** 0.5 if drawn == "unscaled" else 1
            expected = [erf(x / deviation / np.sqrt(2)) / 2 for x in edges]
            allowed = 0.1 if d == "4" else 0.03  # four terms are no normal number yet
            assert abs(heights - np.diff(expected)).max() < allowed
    np.testing.assert_allclose(found["outside"], 1 - found["unscaled"]["256"].sum(), atol=1e-9)
    assert 0.03 < found["outside"] < 0.06
    np.testing.assert_allclose(found["predicted"], 0.04983, atol=1e-5)
