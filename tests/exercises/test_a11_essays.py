"""a11's essays: the catalogue's figures on its fixed data, and what markers are given."""

import re
from pathlib import Path

import numpy as np
import pytest

from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.loading import load_module

REFERENCE = Path(__file__).parents[2] / "reference/a11_theory"
H = np.array([1, 8, 64])
TWO_MODELS = {"L": np.array([6, 24]), "d": np.array([512, 256]), "n": 1024}

#: Exercise: its data, the figures, and those of mistakes.
CASES = {
    "essay_heads": (
        {"d": 512, "n": 128, "h": H, "m": 6},
        {
            "parameters": [1048576] * 3,
            "d_k": [512, 64, 8],
            "stored": [16384, 131072, 1048576],
            "ranks": [5, 5],
        },
        {("parameters", "output_projection_forgotten"): [786432] * 3},
    ),
    "essay_patterns": (
        {"n": 1024, "w": 32, "s": 32, "g": 2},
        {"edges": [1048576, 65504, 32768, 69466], "layers": [1, 32, -1, 2]},
        {("edges", "counted_twice"): [1048576, 65504, 32768, 69600]},
    ),
    "essay_positions": (
        {"N": 512, "d": 512, "K": 16, "d_k": 64},
        {"learned_numbers": [0, 262144, 2112, 0, 0]},
        {("learned_numbers", "own_place_forgotten"): [0, 262144, 2048, 0, 0]},
    ),
    "essay_architectures": (
        {"n": 512, "m": 128},
        {"entries": [262144, 205120, 335936]},
        {("entries", "masks_forgotten"): [262144, 409600, 344064]},
    ),
    "essay_depth": (
        TWO_MODELS,
        {"block_weights": [18874368] * 2, "attention_madds": [6442450944, 12884901888]},
        {("attention_madds", "scores_only"): [3221225472, 6442450944]},
    ),
    "essay_norms": (
        {"B": 32, "n": 128, "d": 512},
        {"statistics": [8192, 1024, 4096]},
        {("statistics", "rms_with_a_mean"): [8192, 1024, 8192]},
    ),
    "essay_training": (
        {"P": 44138496, "N": 8},
        {"per_device": [706215936, 242761728, 165519360, 88276992], "sent": 154484736},
        {("sent", "one_round"): 77242368},
    ),
    "essay_lora": (
        {"s": np.array([5, 3, 1, 0.5]), "d": 64, "r": 32},
        {"rank_two": 0.1883109, "of_identity": 0.7071068},
        {("rank_two", "share_of_squares"): 0.03546099},
    ),
}


@pytest.fixture(params=CASES)
def case(request):
    """Return an exercise, and what belongs to it."""
    return load_module(REFERENCE / f"{request.param}.py").exercise, *CASES[request.param]


def test_the_figures_are_the_catalogue_s(case):
    exercise, numbers, figures, mistakes = case
    known = solve(exercise, numbers)
    parts = {part.name: part for part in exercise.parts}
    assert figures.keys() == parts.keys() - {"essay"}
    for name, expected in figures.items():
        np.testing.assert_allclose(np.asarray(known[name], float), expected, rtol=1e-6)
    for (name, slip), expected in mistakes.items():
        (wrong,) = (m for m in parts[name].misconceptions if m.name == slip)
        given = np.asarray(evaluate(parts[name], wrong, known), float)
        np.testing.assert_allclose(given, expected, rtol=1e-6)


def test_a_marker_has_four_points_a_model_and_two_samples(case):
    exercise, numbers, *_ = case
    essay = exercise.parts[-1]
    assert [re.match(r"\((\d)\) 2 points\.", point)[1] for point in essay.scheme] == [*"1234"]
    known = solve(exercise, numbers)
    assert 150 < len(known["essay"].split()) <= 300
    assert len(essay.samples) == 2
    for sample in essay.samples:
        given = re.findall(r"\(\d\) (\d)", sample.why.partition(".")[0])
        assert len(given) == 4
        assert sum(map(int, given)) == sample.points < essay.points


def test_the_ranks_are_those_of_real_tables():
    rng = np.random.default_rng(0)
    known = solve(load_module(REFERENCE / "essay_heads.py").exercise, CASES["essay_heads"][0])
    for table, rank in zip((rng.normal(size=(6, 6)), np.eye(6)), known["ranks"], strict=True):
        assert np.linalg.matrix_rank(table - table.mean(axis=1, keepdims=True)) == rank


def test_edges_and_layers_are_those_of_real_masks():
    n, w, s, g = 64, 5, 8, 3
    i, j = np.indices((n, n))
    near = abs(i - j) <= w
    masks = [i >= 0, near, (i - j) % s == 0, near | (i < g) | (j < g)]
    known = solve(
        load_module(REFERENCE / "essay_patterns.py").exercise, {"n": n, "w": w, "s": s, "g": g}
    )
    assert [mask.sum() for mask in masks] == list(known["edges"])
    for mask, layers in zip(masks, known["layers"], strict=True):
        reach = [np.linalg.matrix_power(mask.astype(float), k).all() for k in range(n)]
        assert (reach.index(True) if any(reach) else -1) == layers
