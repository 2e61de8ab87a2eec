"""a13, weights and what they lead to: the references give the catalogue's figures."""

from functools import cache

import numpy as np
import pytest

from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.loading import load_module

from ..loaded import ROOT, assigned

ID = "a13_modern"
POINTS = {
    "mla": [1, 1, 3, 1, 1],
    "logit_control": [1, 1, 1, 2, 1, 1, 2],
    "sigmoid_attn": [1, 1, 1, 2, 2],
    "diff_attn": [1, 1, 1, 1, 2],
    "softmax_bottleneck": [1, 2, 1, 1, 1],
    "direct_logits": [1, 2, 1, 1, 1],
}


@cache
def module(name):
    return load_module(ROOT / "reference" / ID / f"{name}.py")


def known(name, **numbers):
    return solve(module(name).exercise, numbers)


def wrong(name, part, mistake, **numbers):
    """What a mistake gives where everything before it is right."""
    exercise = module(name).exercise
    asked = next(p for p in exercise.parts if p.name == part)
    slip = next(m for m in asked.misconceptions if m.name == mistake)
    return evaluate(asked, slip, solve(exercise, numbers))


def same(value, figures):
    """Agree to the seven digits that the catalogue prints."""
    np.testing.assert_allclose(np.asarray(value, float), figures, rtol=1e-6, atol=1e-12)


def at(formula, **numbers):
    return float(formula.subs({s: numbers[s.name] for s in formula.free_symbols}))


@pytest.mark.parametrize("id", POINTS)
def test_points(id):
    assert assigned(ID).sound[id].points == sum(POINTS[id])


class TestMla:
    numbers = {  # noqa: RUF012
        "W_UK": np.array([[1, 0, 2], [1, -1, 1]]),
        "c": np.array([1, 2]),
        "q": np.array([2, 1, 1]),
        **{"h": 128, "g": 8, "d_k": 128, "d_c": 512, "d_r": 64, "m": 4096},
    }

    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("mla", **self.numbers)
        same(found["key"], [3, -2, 4])
        same(found["score"], 8)
        same(found["absorbed"], [4, 2])
        assert found["cached"].tolist() == [32768, 2048, 576]
        assert found["madds"].tolist() == [167_772_160, 570_425_344, 68_887_248_896]
        assert found["why_apart"] == "A"

    def test_mistakes(self):
        slip = lambda *names: wrong("mla", *names, **self.numbers)  # noqa: E731
        same(slip("absorbed", "scale_inside"), [2.309401, 1.154701])
        assert slip("cached", "rotated_key_per_head")[2] == 8704
        assert slip("cached", "two_latents")[2] == 1088

    @pytest.mark.parametrize(
        ("function", "figures"),
        [
            ("mla", [2.91752, 1.159215, -0.417065]),
            ("keys_rebuilt", [2.91752, 1.159215, -0.417065]),
            ("root_of_d_k", [3.134107, 1.223949, -0.5371175]),
            ("root_of_the_latent", [2.745793, 1.110192, -0.3227578]),
            ("rotated_part_left_out", [3.1189, 1.220998, -0.5622487]),
            ("scaled_separately", [3.134972, 1.224131, -0.523578]),
        ],
    )
    def test_function(self, function, figures):
        m = module("mla")
        x = m.inputs(np.random.default_rng(0))
        same(getattr(m, function)(*x)[1, 0], figures)

    def test_what_the_text_says(self):
        assert (60 * 576 * 2, 60 * 32768 * 2) == (69_120, 3_932_160)


class TestLogitControl:
    numbers = {"cap": 50, "s": np.array([25.0, 50, 100]), "n": 1000, "p": 0.99}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("logit_control", **self.numbers)
        same(found["capped"], [23.10586, 38.07971, 48.20138])
        same(found["slopes"], [0.7864477, 0.4199743, 0.07065082])
        same(at(found["smallest"], n=1000, p=0.99), 5.750937)
        same(found["smallest_here"], 5.750937)
        same(found["least"], [2.667103, 0.2194539, 0.004484523])

    def test_mistakes(self):
        slip = lambda *names: wrong("logit_control", *names, **self.numbers)  # noqa: E731
        same(slip("capped", "clipped"), [25, 50, 50])
        formula = slip("slope", "divided_by_c_again")
        figures = [0.01572895, 0.008399487, 0.001413016]
        same([at(formula, s=s, c=50) for s in (25, 50, 100)], figures)
        figures = [11.50187, 2.29756, 5.751438]
        for mistake, figure in zip(
            ("half_forgotten", "one_rival", "rival_too_many"), figures, strict=True
        ):
            same(at(slip("smallest", mistake), n=1000, p=0.99), figure)
        same(slip("smallest_here", "gap_in_place_of_the_gain"), 11.50187)
        same(slip("least", "entropy_of_that_row"), [4.528196, 1.401711, 0.04922934])

    @pytest.mark.parametrize(
        ("lines", "credit"),
        [
            (
                [
                    "<= sum(p_k*max(log(p_j), j), k)",
                    "= max(log(p_j), j)*sum(p_k, k)",
                    "= max(log(p_j), j)",
                ],
                1,
            ),
            (["<= max(log(p_k), k)"], 0),
            (["<= max(log(p_k), k)*1", "= max(log(p_k), k)"], 0),
        ],
    )
    def test_derivations(self, lines, credit):
        assert module("logit_control").chain.examine(lines).credit == credit

    def test_no_row_has_less_entropy_than_the_bound(self):
        m = module("logit_control")
        rng = np.random.default_rng(0)
        for g, least in zip(
            (1, 3, 5), known("logit_control", **self.numbers)["least"], strict=True
        ):
            p = m.softmax(g * rng.choice([-1.0, 1], (300, 100), p=[0.97, 0.03]))
            assert (-(p * np.log(p)).sum(axis=1) >= least).all()

    def test_the_witness(self):
        m = module("logit_control")
        W = np.array([[0.0, 12], [-12, 0]])
        assert m.looks_at(W) == m.looks_at(10.52 / 12 * W) == "the next"
        assert m.looks_at(10.5 / 12 * W) == "the next, with more entropy"
        assert m.looks_at(W.T) == "the one before"
        assert m.looks_at(12 * np.eye(2)) == "itself"
        assert m.looks_at(1.001 * W) == "too large"
        p = m.softmax(np.array([12.0, 0, -12, 0]) / np.sqrt(2))
        same(-(p * np.log(p)).sum(), 0.003916376)

    @pytest.mark.parametrize(
        ("function", "figures"),
        [
            ("leashed_attention", [-0.7375669, -0.1975151, -0.1936271]),
            ("mask_before_the_cap", [-0.6125651, -0.1572131, -0.1399465]),
            ("both_scales", [-0.6403005, -0.1920692, -0.2079031]),
            ("scores_clipped", [-0.7964997, -0.2033563, -0.1810434]),
            ("no_cap", [-0.8840844, -0.1999038, -0.1811222]),
        ],
    )
    def test_function(self, function, figures):
        Q, K, V = np.random.default_rng(0).normal(size=(3, 4, 3))
        mask = np.tri(4, dtype=bool)
        found = getattr(module("logit_control"), function)(Q, K, V, 2.0, 1.0, mask)
        same(found[2], figures)

    def test_what_the_text_says(self):
        same(np.log(1 + 3 * np.exp(-2)).round(4), 0.3408)
        same((10 * np.tanh(0.3)).round(3), 2.913)
        same((np.log(3 / (np.exp(0.01) - 1)) / np.sqrt(2)).round(6), 4.029645)


class TestSigmoidAttn:
    numbers = {"s": np.array([1.0, 2, 3])}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("sigmoid_attn", **self.numbers)
        same(at(found["row_sum"], n=5), 5 / 6)
        same(at(found["unit_bias"], n=5), -np.log(4))
        same(found["weights"], [0.4753669, 0.7112346, 0.8700485])
        same(found["total"], 2.05665)

    @pytest.mark.parametrize(
        ("mistake", "figures"),
        [
            ("bias_left_out", [0.7310586, 0.8807971, 0.9525741]),
            ("softmax_taken", [0.09003057, 0.2447285, 0.665241]),
            ("renormalised", [0.2311365, 0.3458219, 0.4230416]),
            ("bias_with_the_wrong_sign", [0.8907682, 0.9568355, 0.9836752]),
        ],
    )
    def test_mistakes(self, mistake, figures):
        same(wrong("sigmoid_attn", "weights", mistake, **self.numbers), figures)

    @pytest.mark.parametrize(
        ("lines", "credit"),
        [
            (
                [
                    "1/(1 + sum(exp(s_k)/exp(t), k))",
                    "1/(1 + sum(exp(s_k), k)/exp(t))",
                    "1/(1 + exp(L - t))",
                ],
                1,
            ),
            (["exp(t)/(exp(t) + exp(L))", "1/(1 + exp(-(t - L)))"], 1),
            (["1/(1 + exp(L - t))"], 0),
        ],
    )
    def test_derivations(self, lines, credit):
        assert module("sigmoid_attn").chain.examine(lines).credit == credit

    def test_softmax_has_the_bias_of_its_rivals(self):
        m = module("sigmoid_attn")
        s = self.numbers["s"]
        L = np.array([np.log(np.exp(np.delete(s, i)).sum()) for i in range(3)])
        same(L, [3.313262, 3.126928, 2.313262])
        same(m.sigmoid(s - L), m.softmax(s))

    @pytest.mark.parametrize(
        ("function", "figures"),
        [
            ("sigmoid_attention", [0.1261173, 0.4975203]),
            ("divided_by_their_sum", [0.1912157, 0.7543273]),
            ("no_default_bias", [0.3070864, 1.300405]),
            ("no_scale", [0.1314672, 0.4542374]),
            ("softmax_attention", [0.1992098, 0.7615303]),
        ],
    )
    def test_function(self, function, figures):
        x = module("sigmoid_attn").qkv(np.random.default_rng(0), n=2, m=4, d_k=3)
        same(getattr(module("sigmoid_attn"), function)(*x)[0], figures)

    def test_outputs_leave_the_hull(self):
        nines = np.full((1, 1), 3.0), np.full((4, 1), 3.0), np.ones((4, 1))
        same(module("sigmoid_attn").sigmoid_attention(*nines, 0.0), 3.999506)

    def test_what_the_text_says(self):
        weights = module("sigmoid_attn").sigmoid(np.array([0, 1]) - np.log(2))
        same(weights.round(3), [0.333, 0.576])
        same(weights.sum().round(3), 0.909)


class TestDiffAttn:
    numbers = {  # noqa: RUF012
        "s1": np.array([2.0, 1, 0, 0]),
        "s2": np.array([0.0, 1, 0, 0]),
        "t": 2.0,
    }

    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("diff_attn", **self.numbers)
        same(found["a"], [0.5228568, -0.01316821, -0.004844313, -0.004844313])
        same(found["a"].sum(), 0.5)
        same(at(found["row_sum"], lam=0.3), 0.7)
        same(found["lam"], 0.3850205)
        same(found["left"], [0.6149795, 0, 0, 0])

    @pytest.mark.parametrize(
        ("mistake", "figures"),
        [
            ("scores_subtracted", [0.6694333, 0.1493708, 0.09059795, 0.09059795]),
            ("divided_by_their_sum", [1.045714, -0.02633642, -0.009688626, -0.009688626]),
            ("absolute_values", [0.9581157, 0.02413025, 0.008877023, 0.008877023]),
        ],
    )
    def test_mistakes(self, mistake, figures):
        same(wrong("diff_attn", "a", mistake, **self.numbers), figures)

    def test_the_witness(self):
        m = module("diff_attn")
        first, second = m.softmax(np.array([[4.0, 0, 0], [0, 4, 0]]))
        same((first - second / 2) @ m.values / 0.5, [-0.9293263, 0.01766842])
        assert m.place(np.array([[4.0, 0, 0], [0, 4, 0]])) == "outside"
        assert m.place(np.array([[0.0, 4, 0], [0, 4, 0]])) == "equal maps"

    @pytest.mark.parametrize(
        ("function", "figures"),
        [
            ("diff_attention", [0.02058199, -0.2032019]),
            ("softmax_of_the_difference", [0.03003021, -0.2275416]),
            ("second_map_added", [-0.2113647, -0.2396116]),
            ("divided_afterwards", [0.02940285, -0.2902885]),
            ("two_maps_mixed", [0.0491994, -0.1367799]),
        ],
    )
    def test_function(self, function, figures):
        rng = np.random.default_rng(0)
        x = [rng.normal(size=(3, 2)) for _ in range(5)]
        same(getattr(module("diff_attn"), function)(*x, 0.3)[0], figures)

    def test_what_the_text_says(self):
        start = lambda layer: 0.8 - 0.6 * np.exp(-0.3 * (layer - 1))  # noqa: E731
        same([start(layer) for layer in (1, 2, 12)], [0.2, 0.3555091, 0.7778701])
        noise = np.random.default_rng(4).normal(size=32)
        relevant = np.arange(32) == 10
        softmax = module("diff_attn").softmax
        first = softmax(noise + 3 * relevant)
        left = first - 0.6 * softmax(noise)
        same(np.round([first[10], first[~relevant].sum()], 3), [0.344, 0.656])
        same(np.round([left[10], abs(left[~relevant]).sum()], 3), [0.329, 0.071])


class TestSoftmaxBottleneck:
    numbers = {  # noqa: RUF012
        "T1": np.tile([0.0, 1, 2, 3], (4, 1)),
        "T2": np.outer([1.0, 2, 3, 4], [0, 1, 0, 1]) + np.array([[5], [0], [1], [2]]),
        "T3": np.outer([1.0, 0, 2, 1], [0, 1, 0, 1]) + np.outer([0, 1, 1, 3], [1, 0, 0, 2]),
        "T4": 4 * np.eye(4),
    }

    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("softmax_bottleneck", **self.numbers)
        assert found["why_bounded"] == "A"
        assert found["d"].tolist() == [1, 1, 2, 3]
        assert (found["largest_rank"], found["able_to_win"]) == (769, 2)
        same(module("softmax_bottleneck").softmax(self.numbers["T4"])[0, 0], 0.947915)

    @pytest.mark.parametrize(
        ("mistake", "figures"),
        [
            ("rank_of_log_p", [1, 2, 3, 4]),
            ("rank_of_the_scores", [1, 2, 2, 4]),
            ("with_bias", [0, 1, 2, 3]),
        ],
    )
    def test_mistakes(self, mistake, figures):
        assert list(wrong("softmax_bottleneck", "d", mistake, **self.numbers)) == figures

    def test_that_many_dimensions_suffice(self):
        softmax = module("softmax_bottleneck").softmax
        widths = known("softmax_bottleneck", **self.numbers)["d"]
        for T, d in zip(self.numbers.values(), widths, strict=True):
            u, s, v = np.linalg.svd(T - T.mean(axis=1, keepdims=True))
            same(softmax((u[:, :d] * s[:d]) @ v[:d]), softmax(T))

    def test_the_witnesses(self):
        m = module("softmax_bottleneck")
        assert m.dimensions(m.softmax(3 * np.eye(3))) == "more than one"
        assert m.dimensions(m.softmax(np.outer([1.0, 2, 3], [0, 1, 2]))) == "one is enough"
        E = np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [0.2, 0.1]])
        turn = 2 * np.pi * np.arange(5) / 5
        assert m.winners(E) == 4
        assert m.winners(np.stack([np.cos(turn), np.sin(turn)], axis=1)) == 5
        around = np.linspace(0, 2 * np.pi, 3601)
        best = (np.stack([np.cos(around), np.sin(around)], axis=1) @ E.T).argmax(axis=1)
        assert set(best) == {0, 1, 2, 3}

    def test_what_the_text_says(self):
        softmax = module("softmax_bottleneck").softmax
        same(
            softmax(np.array([[3.0, 4, 3], [7, 5, 7]])),
            softmax(np.array([[0.0, 1, 0], [0, -2, 0]])),
        )
        same([769 / 50257, 4097 / 128256], [0.01530135, 0.03194392])


class TestDirectLogits:
    numbers = {"pieces": np.array([[2.0, 0], [0, 2], [-1, 1], [2, 1]])}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("direct_logits", **self.numbers)
        figures = [
            [0.5656854, 0, 0.5656854],
            [0, 0.5656854, -0.5656854],
            [-0.2828427, 0.2828427, -0.5656854],
            [0.5656854, 0.2828427, 0.2828427],
        ]
        same(found["C"], figures)
        same(found["C"].sum(axis=0), [0.8485281, 1.131371, -0.2828427])
        same(found["lens"], [0.1083835, 0.4223188, 0.6597526, 0.5008126])
        same(found["change"], [-0.3281687, 0.3469063, -0.675075])
        assert "".join(sorted(found["exact"])) == "ABE"

    @pytest.mark.parametrize(
        ("part", "mistake", "figures"),
        [
            ("lens", "lens_without_the_norm", [0.06337894, 0.4683105, 0.8756006, 0.7274752]),
            ("lens", "each_piece_alone", [0.1083835, 0.7679179, 0.8437947, 0.2575841]),
            ("change", "attribution_for_effect", [0, 0.5656854, -0.5656854]),
        ],
    )
    def test_mistakes(self, part, mistake, figures):
        same(wrong("direct_logits", part, mistake, **self.numbers), figures)

    def test_sums_of_mistakes(self):
        slip = lambda name: wrong("direct_logits", "C", name, **self.numbers)  # noqa: E731
        same(slip("normalised_one_by_one").sum(axis=0), [1.679125, 3.046669, -1.367544])
        same(slip("normalised_one_by_one")[3], [1.264911, 0.6324555, 0.6324555])
        same(slip("not_normalised").sum(axis=0), [3, 4, -1])

    def test_the_function_gives_the_contributions(self):
        m = module("direct_logits")
        found = m.direct_logits(self.numbers["pieces"], np.ones(2), m.U, eps=0.0)
        same(found, known("direct_logits", **self.numbers)["C"])

    def test_pieces_of_the_trained_model_are_its_stream(self):
        m = module("direct_logits")
        logits, _ = m.echo_pass(m.ECHO, np.arange(11))
        found = m.direct_logits(m.echo_pieces(np.arange(11)), m.ECHO["norm"], m.ECHO["unembed"])
        assert len(found) == 7
        same(found.sum(axis=0), logits)
