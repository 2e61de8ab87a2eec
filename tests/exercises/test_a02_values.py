"""a02: the references give the catalogue's figures on its fixed data, and so do the mistakes."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from autograder.exercise.words.dependencies import apply, evaluate, solve
from autograder.exercise.words.loading import load_module

FOLDER = Path(__file__).parents[2] / "reference" / "a02_attention_by_hand"
THIRD = 1 / 3
# By exercise, as in the catalogue, and part, or checks together: what is guessed is worth little.
POINTS = {
    "attn_hand": {"scores": 0.25, "weights": 0.25, "out": 3, "large_weight": 0.5},
    "attn_hand_scaled": {"scores": 1, "scaled": 1, "weights": 2, "out": 2},
    "soft_lookup": {"sims": 1, "w": 1, "mix": 2, "soft_vs_hard": 3},
    "self_attn_cat": {
        "projections": 0.5,
        "row": 1.5,
        "row_scaled": 1.5,
        "most": 0.25,
        "window": 0.5,
        "out": 0.5,
        "out_scaled": 0.5,
        "A": 2.75,
    },
    "self_attn_grid": {
        "A": 4,
        "most_attended": 1,
        "itself": 0.25,
        "unit_diagonal": 1,
        "received": 1.5,
        "vertical": 0.25,
    },
    "heat_map": {"maps": 1, "sharpest": 0.5, "same_grey": 0.5},
    "self_preference": {"gap": 1.5, "equality": 0.25, "pair": 1.25, "W_K": 1},
    "attn_single_query": {"attend_one": 3},
    "attn_rect": {"S": 1, "A": 2, "O": 2, "A_demo": 1},
    "attn_hull": {
        "bound": 1.5,
        "length": 1,
        "weights_11": 0.75,
        "weights_33": 0.5,
        "reachable": 0.25,
    },
    "attn_hard_limit": {"p": 1.5, "g": 2.25, "tie": 0.25},
}
DATA = {
    "attn_hand": {
        "q": np.array([1, 0, 1]),
        "K": np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]]),
        "V": np.array([[2, 0], [0, 2], [1, 1]]),
    },
    "attn_hand_scaled": {
        "q": np.array([1, 2, 0, 1]),
        "K": np.array([[0, 1, 3, 0], [1, 1, 0, 1], [-1, 0, 2, 1]]),
        "V": np.array([[1, 0], [0, 2], [4, 4]]),
    },
    "soft_lookup": {
        "q": np.array([2, 0]),
        "K": np.array([[1, 0], [0.5, 0.5], [0, 1]]),
        "V": np.array([[4, 0], [4, 0], [2, 1]]),
    },
    "self_attn_cat": {"X": np.array([[1, 0], [0, 1], [1, 1]])},
    "self_attn_grid": {"X": np.array([[1, 0], [0, 1], [1, 1], [2, 1]])},
    "attn_rect": {
        "Q": np.array([[1, 0, 1, 0], [0, 2, 0, 0]]),
        "K": np.array([[2, 0, 0, 1], [0, 1, 0, 1], [0, 0, 2, 0]]),
        "V": np.array([[1, 0, 2], [0, 3, 0], [2, 2, 1]]),
    },
}

REFERENCE = [
    ("attn_hand", "scores", [1, 1, 1]),
    ("attn_hand", "weights", [THIRD, THIRD, THIRD]),
    ("attn_hand", "out", [1, 1]),
    ("attn_hand_scaled", "scores", [2, 4, 0]),
    ("attn_hand_scaled", "scaled", [1, 2, 0]),
    ("attn_hand_scaled", "weights", [0.2447285, 0.665241, 0.09003057]),
    ("attn_hand_scaled", "out", [0.6048508, 1.690604]),
    ("soft_lookup", "sims", [2, 1, 0]),
    ("soft_lookup", "w", [0.665241, 0.2447285, 0.09003057]),
    ("soft_lookup", "mix", [3.819939, 0.09003057]),
    ("self_attn_cat", "row", [0.1553624, 0.4223188, 0.4223188]),
    ("self_attn_cat", "row_scaled", [0.1977758, 0.4011121, 0.4011121]),
    ("self_attn_cat", "out", [0.5776812, 0.8446376]),
    ("self_attn_cat", "out_scaled", [0.5988879, 0.8022242]),
    (
        "self_attn_cat",
        "A",
        [
            [0.4223188, 0.1553624, 0.4223188],
            [0.1553624, 0.4223188, 0.4223188],
            [0.2119416, 0.2119416, 0.5761169],
        ],
    ),
    (
        "self_attn_grid",
        "A",
        [
            [0.221181, 0.1090574, 0.221181, 0.4485805],
            [0.1411563, 0.2862812, 0.2862812, 0.2862812],
            [0.1228295, 0.1228295, 0.2491124, 0.5052286],
            [0.08429338, 0.04156242, 0.1709567, 0.7031875],
        ],
    ),
    ("self_attn_grid", "most_attended", [3, 1, 3, 3]),
    ("self_attn_grid", "unit_diagonal", [0.309208, 0.3352933, 0.2785337, 0.2801989]),
    ("attn_rect", "S", [[2, 0, 2], [0, 2, 0]]),
    (
        "attn_rect",
        "A",
        [[0.4223188, 0.1553624, 0.4223188], [0.2119416, 0.5761169, 0.2119416]],
    ),
    ("attn_rect", "O", [[1.266956, 1.310725, 1.266956], [0.6358247, 2.152234, 0.6358247]]),
    (
        "attn_rect",
        "A_demo",
        [[0.4450337, 0.388603, 0.1663633], [0.5070105, 0.2213181, 0.2716714]],
    ),
    ("attn_hard_limit", "p", [0.5064804, 0.665241, 0.8668133, 0.9999546]),
    ("attn_hard_limit", "g", [0.225576, 0.3893898, 0.4259604, 0.0009079265]),
]

# exercise, part, mistake, the part that shows it (what follows being right), figures
WRONG = [
    ("attn_hand", "out", "weights_not_normalised", "out", [8.154845, 8.154845]),
    ("attn_hand", "out", "scores_as_weights", "out", [3, 3]),
    ("attn_hand", "out", "best_value_only", "out", [2, 0]),
    ("attn_hand", "out", "keys_averaged", "out", [0.6666667, 0.6666667, 0.3333333]),
    ("attn_hand", "weights", "exponentials_only", "out", [8.154845, 8.154845]),
    ("attn_hand", "weights", "scores_are_no_weights", "out", [3, 3]),
    ("attn_hand", "weights", "one_winner", "out", [2, 0]),
    ("attn_hand_scaled", "scaled", "no_scale", "weights", [0.1173104, 0.8668133, 0.01587624]),
    ("attn_hand_scaled", "scaled", "no_scale", "out", [0.1808154, 1.797132]),
    ("attn_hand_scaled", "scaled", "divided_by_d_k", "out", [1.052491, 1.758256]),
    ("attn_hand_scaled", "scaled", "divided_by_root_of_keys", "out", [0.5036752, 1.694825]),
    ("attn_hand_scaled", "weights", "linear_weights", "out", [0.3333333, 1.333333]),
    ("attn_hand_scaled", "weights", "scaled_after_softmax", "out", [0.09040769, 0.8985658]),
    ("soft_lookup", "sims", "cosine", "w", [0.4730411, 0.3529368, 0.1740221]),
    ("soft_lookup", "sims", "distance", "w", [0.1605104, 0.2870044, 0.5524852]),
    ("soft_lookup", "w", "scaled_by_root_two", "w", [0.5759753, 0.2839954, 0.1400292]),
    ("soft_lookup", "mix", "hard_lookup", "mix", [4, 0]),
    ("self_attn_cat", "row", "down_the_column", "row", [0.1553624, 0.4223188, 0.2119416]),
    ("self_attn_cat", "row", "over_the_matrix", "row", [0.0389124, 0.1057749, 0.1057749]),
    (
        "attn_rect",
        "A",
        "no_scale",
        "O",
        [[1.404932, 1.126758, 1.404932], [0.3195209, 2.573972, 0.3195209]],
    ),
    (
        "attn_rect",
        "A",
        "softmax_over_queries",
        "O",
        [[2.193176, 2.268941, 2.193176], [0.8068243, 2.731059, 0.8068243]],
    ),
    (
        "attn_rect",
        "A",
        "softmax_over_everything",
        "O",
        [[0.7310586, 0.7563138, 0.7310586], [0.2689414, 0.9103529, 0.2689414]],
    ),
    (
        "attn_rect",
        "A",
        "scaled_by_root_d_v",
        "O",
        [[1.295811, 1.272252, 1.295811], [0.5799261, 2.226765, 0.5799261]],
    ),
]
WRONG_FIRST_ROWS = [
    ("no_scale", [0.1966119, 0.07232949, 0.1966119, 0.5344466]),
    ("one_sum_for_all", [0.02486584, 0.01226057, 0.02486584, 0.05043079]),
    ("columns_add_up", [0.221181, 0.1411563, 0.1228295, 0.08429338]),
]
CHOICES = [
    ("attn_hand", "large_weight", "C"),
    ("self_attn_cat", "projections", "B"),
    ("self_attn_cat", "most", "BC"),
    ("self_attn_cat", "window", "ACEF"),
    ("self_attn_grid", "itself", 2.5),
    ("self_attn_grid", "vertical", "A"),
    ("self_preference", "equality", "B"),
    ("attn_hull", "reachable", "B"),
    ("attn_hard_limit", "tie", "D"),
]


@cache
def module(exercise):
    """Load a reference by its path."""
    return load_module(FOLDER / f"{exercise}.py")


def solved(exercise):
    return solve(module(exercise).exercise, DATA.get(exercise, {}))


def part(exercise, name):
    return next(part for part in module(exercise).exercise.parts if part.name == name)


def mistake(exercise, part_name, name):
    return next(wrong for wrong in part(exercise, part_name).misconceptions if wrong.name == name)


def same(value, figures):
    """Agree to the seven digits that the catalogue prints."""
    np.testing.assert_allclose(np.asarray(value, float), figures, rtol=1e-6, atol=1e-9)


def softmax(s):
    e = np.exp(s)
    return e / e.sum()


def test_points_of_exercises_are_the_catalogues():
    points = {
        id: {
            **{p.name: p.points for p in module(id).exercise.parts},
            **(
                {module(id).exercise.functions[0].solution.__name__: sum(c.points for c in checks)}
                if (checks := module(id).exercise.checks)
                else {}
            ),
        }
        for id in POINTS
    }
    assert points == POINTS
    assert sum(sum(parts.values()) for parts in POINTS.values()) == 54 + 2
    assert sum(module(id).exercise.auto_points for id in POINTS) == 51 + 2


@pytest.mark.parametrize(("exercise", "name", "figures"), REFERENCE)
def test_right_answers_are_those_of_the_catalogue(exercise, name, figures):
    same(solved(exercise)[name], figures)


@pytest.mark.parametrize(("exercise", "name", "letters"), CHOICES)
def test_choices(exercise, name, letters):
    assert solved(exercise)[name] == letters


@pytest.mark.parametrize(("exercise", "at", "wrong", "shown", "figures"), WRONG)
def test_wrong_procedures_give_their_wrong_answers(exercise, at, wrong, shown, figures):
    known = solved(exercise)
    known[at] = evaluate(part(exercise, at), mistake(exercise, at, wrong), known)
    names = [p.name for p in module(exercise).exercise.parts]
    for name in names[names.index(at) + 1 : names.index(shown) + 1]:
        known[name] = apply(part(exercise, name), known)
    same(known[shown], figures)


@pytest.mark.parametrize(("wrong", "figures"), WRONG_FIRST_ROWS)
def test_wrong_first_rows_of_the_grid(wrong, figures):
    value = apply(mistake("self_attn_grid", "A", wrong), solved("self_attn_grid"))
    same(value[0], figures)


def test_all_scores_tie_so_no_scale_can_be_seen():  # E19
    known = solved("attn_hand")
    for factor in (1 / np.sqrt(3), 3.0, 0.0, -7.0):
        same(softmax(factor * known["scores"]) @ known["V"], [1, 1])


def test_tenfold_scores_are_nearly_hard():
    same(softmax(10 * solved("soft_lookup")["sims"]), [0.9999546, 4.539787e-5, 2.06106e-9])


def test_an_unscaled_sentence_and_its_ties():  # E20
    X = DATA["self_attn_cat"]["X"]
    same(X @ X.T, [[1, 0, 1], [0, 1, 1], [1, 1, 2]])
    A = solved("self_attn_cat")["A"]
    assert A[2].argmax() == 2
    assert A[0, 0] == A[0, 2]


def test_with_unit_vectors_the_diagonal_wins():
    X = DATA["self_attn_grid"]["X"]
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    A = module("self_attn_grid").A(U)
    assert list(A.argmax(axis=1)) == [0, 1, 2, 3]
    same(np.diag(A), solved("self_attn_grid")["unit_diagonal"])


def test_witnesses_of_the_catalogue():  # E21
    m = module("self_preference")
    assert m.preference(np.array([[1, 0], [2, 1]])) == "x prefers y"
    x, y = np.array([1, 0]), np.array([2, 1])
    same(softmax(np.array([x @ x, x @ y])), [0.2689414, 0.7310586])
    swap = np.array([[0, 1], [1, 0]])
    assert m.learned_preference(swap) == "0 prefers 1"
    same(softmax((np.eye(2) @ (np.eye(2) @ swap).T)[0]), [0.2689414, 0.7310586])


@pytest.mark.parametrize("angle", np.linspace(0, 2 * np.pi, 25))
def test_a_unit_vector_is_no_counterexample(angle):
    m = module("self_preference")
    pair = np.array([[1, 0], [np.cos(angle), np.sin(angle)]])
    assert m.preference(pair) == "y is no longer than x"


def test_reachable_points_have_barycentric_coordinates():
    found = solved("attn_hull")
    same(found["weights_11"], [0.5, 0.25, 0.25])
    same(found["weights_33"], [-0.5, 0.75, 0.75])


def test_a_tie_shares_the_mass():
    V = np.array([[4, 0], [4, 0], [2, 1]])
    same(module("attn_hard_limit").softmax(np.array([2, 2, 0]) / 1e-3) @ V, V[:2].mean(axis=0))


class TestAttendOne:
    @pytest.fixture
    def attend_one(self):
        return module("attn_single_query").attend_one

    def test_its_by_hand_twin(self, attend_one):
        out, weights = attend_one(*DATA["attn_hand"].values())
        same(out, [1, 1])
        same(weights, [THIRD, THIRD, THIRD])

    def test_large_scores(self, attend_one):
        out, _ = attend_one(np.ones(2), np.array([[1e4, 0], [0, 1.0]]), np.eye(2))
        same(out, [1, 0])


def test_variants_keep_to_the_catalogues_ranges():
    rng = np.random.default_rng(0)
    for _ in range(100):
        hand = module("attn_hand").draw(rng)
        same(hand["K"] @ hand["q"], [1, 1, 1])
        scaled = module("attn_hand_scaled").draw(rng)
        assert min(scaled["q"].min(), scaled["K"].min()) >= -1
        assert max(scaled["q"].max(), scaled["K"].max()) <= 2
        assert 0 <= scaled["V"].min() <= scaled["V"].max() <= 4
        s = scaled["K"] @ scaled["q"]
        assert len(set(s)) == 3
        assert not np.any(s % 2)
        assert np.ptp(s) <= 6
        lookup = module("soft_lookup").draw(rng)
        assert {*lookup["q"]} <= {0, 1, 2}
        assert {*lookup["K"].flat} <= {0, 0.5, 1}
        cat = module("self_attn_cat").draw(rng)["X"]
        assert cat.shape == (3, 4)
        assert {*cat.flat} <= {0, 1}
        grid = module("self_attn_grid").draw(rng)["X"]
        assert len(np.unique(grid, axis=0)) == 4
        assert np.ptp((grid**2).sum(axis=1)) > 0
        rect = module("attn_rect").draw(rng)
        assert rect["Q"].max() <= 2
        assert rect["V"].max() <= 3


def test_two_heat_maps_of_four_axes_and_a_sum_of_two():
    found = solve(module("heat_map").exercise, {"X": np.vstack([np.eye(4), [1, 1, 0, 0]])})
    sizes = {}
    for name, e in (("unscaled", np.e), ("scaled", np.sqrt(np.e))):
        ends = 1 / (e * e + 2 * e + 2), e * e / (e * e + 2 * e + 2)
        same(found["maps"][name][4], [e * ends[0], e * ends[0], ends[0], ends[0], ends[1]])
        same(found["maps"][name][2], [1 / (e + 4)] * 2 + [e / (e + 4)] + [1 / (e + 4)] * 2)
        twice, once = e / (2 * e + 3), e / (e + 4)
        same(found["sharpest"][name], [twice, twice, once, once, ends[1]])
        sizes[name] = ends
    way = (0.5 - sizes["unscaled"][0]) / np.subtract(*sizes["unscaled"][::-1])
    low, high = sizes["scaled"]
    same(found["same_grey"], low + way * (high - low))
