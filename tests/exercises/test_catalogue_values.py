"""The references give the catalogue's figures on its fixed data, and so do the wrong procedures."""

from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.loading import load_module

ROOT = Path(__file__).parents[2]
nan = np.nan


@cache
def module(assignment, exercise):
    """Load reference/<assignment>/<exercise>.py by its path."""
    return load_module(ROOT / "reference" / assignment / f"{exercise}.py")


def part(exercise, name):
    return next(part for part in exercise.parts if part.name == name)


def mistake(exercise, part_name, name):
    return next(wrong for wrong in part(exercise, part_name).misconceptions if wrong.name == name)


def wrong_way(exercise, part_name, wrong, **numbers):
    """What a mistake gives where everything before it is right."""
    target = part(exercise, part_name)
    return evaluate(target, mistake(exercise, part_name, wrong), solve(exercise, numbers))


def at_numbers(formula, **numbers):
    """Put numbers in for the symbols of a formula."""
    return formula.subs({symbol: numbers[symbol.name] for symbol in formula.free_symbols})


def same(value, figures):
    """Agree to the seven digits that the catalogue prints."""
    np.testing.assert_allclose(np.asarray(value, float), figures, rtol=1e-6, atol=1e-9)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # overflow is the point
class TestSoftmaxStable:
    @pytest.fixture
    def m(self):
        return module("a01_softmax", "softmax_stable")

    def test_right_answers_are_those_of_the_catalogue(self, m):
        same(m.softmax(np.array([1000.0, 1001, 1002])), [0.09003057, 0.2447285, 0.665241])
        same(m.softmax(np.array([-10000.0, -9999])), [0.2689414, 0.7310586])
        same(solve(m.exercise, {})["overflow_at"], [88.72284, 709.7827])

    def test_overflow_happens_there(self, m):
        for kind, at in zip((np.float32, np.float64), m.overflow_at(), strict=True):
            assert np.isfinite(np.exp(kind(at * 0.9999)))
            assert np.isinf(np.exp(kind(at * 1.0001)))

    def test_wrong_procedures_give_their_wrong_answers(self, m):
        rows = np.array([[1000.0, 1001.0], [0.0, 1.0]])
        same(m.not_shifted(np.array([1000.0, 1001, 1002])), [nan, nan, nan])
        same(m.one_maximum_for_all(rows)[1], [nan, nan])
        same(m.one_sum_for_all(rows), [[0.2689414, 0.7310586], [0, 0]])
        same(m.shifted_by_the_mean(np.array([0.0, 2000.0])), [0, nan])


class TestJacobianProof:
    @pytest.fixture
    def known(self):
        return solve(module("a01_softmax", "jacobian_proof").exercise, {})

    def test_right_answers_are_those_of_the_catalogue(self, known):
        import sympy

        z = sympy.symbols("z1:4", real=True)
        p = sympy.symbols("p1:4", real=True)
        total = sum(map(sympy.exp, z))
        meaning = {p_i: sympy.exp(z_i) / total for p_i, z_i in zip(p, z, strict=True)}
        derivatives = sympy.Matrix(3, 3, lambda i, j: sympy.diff(meaning[p[i]], z[j]))
        assert sympy.simplify(known["J"].subs(meaning) - derivatives) == sympy.zeros(3)

    def test_ends(self, known):
        import sympy

        p1, p2 = sympy.symbols("p1 p2", real=True)
        assert sympy.expand(known["diag_steps"][-1].expr - p1 * (1 - p1)) == 0
        assert known["off_steps"][-1].expr == -p1 * p2


class TestSdpa:
    @pytest.fixture
    def m(self):
        return module("a03_scaled_attention", "sdpa")

    @pytest.fixture
    def qkv(self):
        rng = np.random.default_rng(0)
        shapes = (2, 3, 4), (2, 3, 4), (2, 3, 8)
        return [rng.standard_normal(shape) for shape in shapes]

    def test_right_answers_are_those_of_the_catalogue(self, m, qkv):
        out, weights = m.attention(*qkv)
        known = solve(m.exercise, {})
        assert known["scores_shape"] == weights.shape == (2, 3, 3)
        assert known["out_shape"] == out.shape == (2, 3, 8)
        same(known["scale"], 0.5)
        same(weights[0, 0], [0.3137122, 0.2722521, 0.4140357])
        same(out[0, 0, 0], 0.8184313)

    @pytest.mark.parametrize(
        ("wrong", "weights"),
        [
            ("softmax_over_everything", [0.03452124, 0.02995893, 0.04556095]),
            ("softmax_over_queries", [0.4038667, 0.2605588, 0.3143478]),
            ("no_scale", [0.2861226, 0.2154924, 0.498385]),
            ("scaled_by_length", [0.3099143, 0.2631226, 0.4269631]),
        ],
    )
    def test_wrong_procedures_give_their_wrong_answers(self, m, qkv, wrong, weights):
        same(getattr(m, wrong)(*qkv)[1][0, 0], weights)


class TestCausalMask:
    S = np.array([[1, 2, 0, 1], [0, 1, 3, 0], [2, 0, 1, 1], [1, 1, 0, 2]])

    @pytest.fixture
    def m(self):
        return module("a03_scaled_attention", "causal_mask")

    def test_right_answers_are_those_of_the_catalogue(self, m):
        mask = m.causal_mask(4)
        assert mask.sum() == 10
        assert (mask == [[j <= i for j in range(4)] for i in range(4)]).all()
        same(
            solve(m.exercise, {"S": self.S})["A"],
            [
                [1, 0, 0, 0],
                [0.2689414, 0.7310586, 0, 0],
                [0.665241, 0.09003057, 0.2447285, 0],
                [0.1966119, 0.1966119, 0.07232949, 0.5344466],
            ],
        )

    @pytest.mark.parametrize(
        ("wrong", "second_row"),
        [
            ("masked_after_softmax", [0.04031637, 0.1095913, 0, 0]),
            ("zero_for_minus_infinity", [0.1748777, 0.4753669, 0.1748777, 0.1748777]),
            ("mask_transposed", [0, 0.1141952, 0.8437947, 0.04201007]),
            ("own_token_blocked", [1, 0, 0, 0]),
            ("mask_added", [0.08714432, 0.2368828, 0.6439143, 0.0320586]),
        ],
    )
    def test_wrong_procedures_give_their_wrong_answers(self, m, wrong, second_row):
        same(wrong_way(m.exercise, "A", wrong, S=self.S)[1], second_row)

    def test_masked_after_softmax_can_be_repaired(self, m):
        late = wrong_way(m.exercise, "A", "masked_after_softmax", S=self.S)
        sums = late.sum(axis=1, keepdims=True)
        same(sums[:, 0], [0.1966119, 0.1499076, 0.8033881, 1])
        same(late / sums, solve(m.exercise, {"S": self.S})["A"])

    def test_blocked_diagonal_leaves_a_dead_row(self, m):
        same(wrong_way(m.exercise, "A", "own_token_blocked", S=self.S)[0], np.zeros(4))

    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_triangle_times_infinity(self):
        assert np.isnan(np.triu(np.ones((4, 4)), 1) * -np.inf).sum() == 10


class TestMhaParams:
    data: ClassVar = {"d": 512, "h": 8, "bias": 0}

    @pytest.fixture
    def exercise(self):
        return module("a04_multi_head", "mha_params").exercise

    def test_right_answers_are_those_of_the_catalogue(self, exercise):
        known = solve(exercise, self.data)
        assert known["each"] == known["output"] == 262_144
        assert known["total"] == 1_048_576
        assert known["total_with_biases"] == 1_050_624
        assert known["narrow"] == 131_072
        assert str(known["steps"][-1].expr) == "4*d**2 + 4*d"

    @pytest.mark.parametrize(
        ("at", "wrong", "count"),
        [
            ("total", "times_h", 8_388_608),
            ("total", "divided_by_h", 131_072),
            ("total", "output_forgotten", 786_432),
            ("total_with_biases", "queries_keys_values_only", 787_968),
        ],
    )
    def test_wrong_procedures_give_their_wrong_answers(self, exercise, at, wrong, count):
        assert wrong_way(exercise, at, wrong, **self.data) == count

    @pytest.mark.parametrize("h", [1, 2, 4, 8, 16])
    def test_number_of_heads_does_not_matter(self, exercise, h):
        lines = solve(exercise, self.data)["steps"]
        counts = [at_numbers(line.expanded, d=512, h=h) for line in lines]
        assert counts == [1_050_624] * len(lines)
        assert h * 3 * 512 * (512 // h) + h * (512 // h) * 512 == 1_048_576


class TestPeHand:
    data: ClassVar = {"d": 4, "base": 10000, "positions": np.array([0, 1, 2])}

    @pytest.fixture
    def exercise(self):
        return module("a05_positions", "pe_hand").exercise

    def test_right_answers_are_those_of_the_catalogue(self, exercise):
        known = solve(exercise, self.data)
        same(known["p0"], [0, 1, 0, 1])
        same(known["p1"], [0.841471, 0.5403023, 0.009999833, 0.99995])
        same(known["p2"], [0.9092974, -0.4161468, 0.01999867, 0.9998])

    @pytest.mark.parametrize(
        ("at", "wrong", "row"),
        [
            ("p1", "exponent_doubled", [0.841471, 0.5403023, 0.0001, 1]),
            ("p2", "exponent_doubled", [0.9092974, -0.4161468, 0.0002, 1]),
            ("p1", "degrees", [0.01745241, 0.9998477, 0.0001745329, 1]),
            ("p1", "column_as_i", [0.841471, 0.99995, 0.0001, 1]),
            ("p1", "sines_first", [0.841471, 0.009999833, 0.5403023, 0.99995]),
            ("p1", "sine_and_cosine_exchanged", [0.5403023, 0.841471, 0.99995, 0.009999833]),
            ("p0", "counted_from_one", [0.841471, 0.5403023, 0.009999833, 0.99995]),
        ],
    )
    def test_wrong_procedures_give_their_wrong_answers(self, exercise, at, wrong, row):
        same(wrong_way(exercise, at, wrong, **self.data), row)


class TestCostClasses:
    @pytest.fixture
    def exercise(self):
        return module("a08_cost", "cost_classes").exercise

    def test_right_answers_are_those_of_the_catalogue(self, exercise):
        known = solve(exercise, {})
        for name, text in {
            "scores_time": "n*m*d_k",
            "softmax_time": "n*m",
            "values_time": "n*m*d_v",
            "madds": "n*m*(d_k + d_v)",
            "memory": "n*m + n*d_v",
            "weights_memory": "h*n*m",
        }.items():
            answer = part(exercise, name).answer
            assert answer.same(answer.read(text), known[name]), name
        assert (known["factor"], known["factor_linear"]) == (4, 2)

    def test_madds_are_those_of_the_products(self, exercise):
        madds = solve(exercise, {})["madds"]
        assert at_numbers(madds, n=3, m=5, d_k=7, d_v=2) == 3 * 7 * 5 + 3 * 5 * 2

    @pytest.mark.parametrize(
        ("at", "wrong", "text"),
        [
            ("scores_time", "quadratic_in_the_width", "n*m*d_k**2"),
            ("layer_time", "projections_omitted", "n**2*d"),
        ],
    )
    def test_wrong_procedures_give_their_wrong_answers(self, exercise, at, wrong, text):
        answer = part(exercise, at).answer
        assert answer.same(answer.read(text), wrong_way(exercise, at, wrong))
