"""a13, the block and the cache: the references and mistakes give the catalogue's figures."""

from functools import cache

import numpy as np
import pytest

from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.loading import load_module

from ..loaded import ROOT, assigned

ID = "a13_modern"
POINTS = {
    "prefix_ladder": [1, 2, 1, 1, 1],
    "gqa": [3, 1, 1, 1, 1],
    "modern_block": [1, 1, 4, 1, 1, 1],
    "rope_scaling": [1, 1, 1, 2, 1, 1],
    "attention_sinks": [2, 1, 2, 1, 1, 1],
    "rolling_window": [1, 1, 1, 1, 3],
}


@cache
def module(name):
    return load_module(ROOT / "reference" / ID / f"{name}.py")


def same(value, figures):
    """Agree to the seven digits that the catalogue prints."""
    np.testing.assert_allclose(np.asarray(value, float), figures, rtol=1e-6, atol=1e-12)


def wrong(name, part, mistake, numbers=()):
    """Return what a mistake answers where all before it is right."""
    exercise = module(name).exercise
    found = dict(numbers) | solve(exercise, dict(numbers))
    [asked] = [p for p in exercise.parts if p.name == part]
    [slip] = [m for m in asked.misconceptions if m.name == mistake]
    return evaluate(asked, slip, found)


def at(formula, **values):
    """The value of a formula."""
    return float(formula.subs({s: values[s.name] for s in formula.free_symbols}))


def test_points_and_their_order():
    loaded = assigned(ID)
    assert [id for id in loaded.sound if id in POINTS] == list(POINTS)
    for id, each in POINTS.items():
        assert loaded.sound[id].points == sum(each), id


class TestPrefixLadder:
    numbers = {"x": np.array([[2, 1], [4, 3], [0, 5], [6, -1]])}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("prefix_ladder").exercise, self.numbers)
        same(found["y"], [[2, 1], [3, 2], [2, 3], [3, 2]])
        same(found["last_weights"], [0.06666667, 0.1333333, 0.2666667, 0.5333333])
        same(found["last_output"], [3.866667, 1.266667])
        same(found["w"], [0.5208333, 0.2708333, 0.1458333, 0.0625])

    @pytest.mark.parametrize(
        ("mistake", "figures"),
        [
            ("sums", [[2, 1], [6, 4], [6, 9], [12, 8]]),
            ("divided_by_n", [[0.5, 0.25], [1.5, 1], [1.5, 2.25], [3, 2]]),
            ("mean_of_all", [[3, 2]] * 4),
            ("itself_left_out", [[0, 0], [2, 1], [3, 2], [2, 3]]),
        ],
    )
    def test_mistakes(self, mistake, figures):
        same(wrong("prefix_ladder", "y", mistake, self.numbers), figures)

    def test_other_mistakes(self):
        ladder = module("prefix_ladder")
        same(wrong("prefix_ladder", "w", "one_layer", self.numbers), [0.25] * 4)
        same(ladder.mask_after_the_softmax(np.zeros((4, 4)))[1], [0.25, 0.25, 0, 0])
        same(ladder.columns(np.zeros((4, 4)))[3], [0.25, 0.3333333, 0.5, 1])

    def test_attention_with_query_0_is_the_fourth_program(self):
        ladder = module("prefix_ladder")
        keys, x = np.random.default_rng(0).normal(size=(4, 3)), self.numbers["x"]
        same(ladder.causal_average(x, np.zeros((4, 3)) @ keys.T), ladder.prefix_means(x))

    def test_what_the_text_says_of_depth(self):
        uniform = module("prefix_ladder").mean_matrix(1024)
        found = [np.linalg.matrix_power(uniform, L)[-1, 0] for L in (1, 2, 12)]
        np.testing.assert_allclose(found, [0.001, 0.007, 0.90], rtol=0.05)


class TestGqa:
    numbers = {"heads": np.array([[1, 0], [3, 2], [-2, 4], [0, 2]])}  # noqa: RUF012

    def test_function(self):
        rng = np.random.default_rng(0)
        Q, K, V = (rng.normal(size=(h, 3, 2)) for h in (4, 2, 2))
        same(module("gqa").gqa(Q, K, V)[1, 0], [-0.6736956, 0.3558064])
        same(module("gqa").every_gth_head(Q, K, V)[1, 0], [0.9726692, 0.9297903])
        same(module("gqa").averaged(Q, K, V)[1, 0], [0.2825543, 0.9779754])

    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("gqa").exercise, self.numbers)
        assert list(found["parameters"]) == [67108864, 41943040, 34603008]
        assert list(found["bytes_per_token"]) == [524288, 131072, 16384]
        same(found["gib"], [4, 1, 0.125])
        same(found["W"], [[2, 1], [-1, 3]])
        assert found["shrinks"] == "ABC"

    def test_mistakes(self):
        assert wrong("gqa", "parameters", "all_four_small", self.numbers)[1] == 16777216
        assert wrong("gqa", "bytes_per_token", "values_forgotten", self.numbers)[1] == 65536
        same(wrong("gqa", "W", "first_of_each_group", self.numbers), [[1, 0], [-2, 4]])
        same(wrong("gqa", "W", "with_a_stride", self.numbers), [[-0.5, 2], [1.5, 2]])
        same(wrong("gqa", "W", "summed", self.numbers), [[4, 2], [-2, 6]])


class TestModernBlock:
    numbers = {  # noqa: RUF012
        "x": np.array([1, -2]),
        "gate": np.array([[2, 0, 1], [0, 1, 0]]),
        "up": np.array([[1, 1, 3], [1, -1, 1]]),
        "down": np.array([[1, 2], [1, 0], [-1, 1]]),
        "sizes": np.array(
            [[32000, 4096, 32, 32, 32, 11008], [128256, 4096, 32, 32, 8, 14336]],
        ),
    }

    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("modern_block").exercise, self.numbers)
        same(found["silu_values"], [-0.2384058, -0.2689414, 0, 0.7310586, 1.761594])
        same(found["hidden"], [-1.761594, -0.7152175, 0.7310586])
        same(found["out"], [-3.20787, -2.79213])
        assert list(found["parameters"]) == [6738415616, 8030261248]
        assert found["exact"] == "ABC"

    def test_mistakes(self):
        def of(part, mistake):
            return wrong("modern_block", part, mistake, self.numbers)

        gelu = [-0.04550026, -0.1586553, 0, 0.8413447, 1.9545]
        np.testing.assert_allclose(of("silu_values", "gelu"), gelu, rtol=1e-5)
        same(of("silu_values", "relu"), [0, 0, 0, 1, 2])
        down = self.numbers["down"]
        same(of("hidden", "gate_and_up_exchanged") @ down, [-6.984386, -0.3447071])
        same(of("hidden", "sigmoid_gate") @ down, [-1.254247, -1.030536])
        same(of("hidden", "no_second_factor") @ down, [0.7921297, 4.254247])
        same(of("hidden", "relu_gate") @ down, [-3, -3])
        assert of("parameters", "tied")[1] == 7504924672
        assert of("parameters", "two_matrices")[1] == 6151213056

    @pytest.mark.parametrize(
        ("name", "figures"),
        [
            ("modern_block", [1.808307, -0.5189068, 0.4097227, 0.1249437]),
            ("in_one_piece", [1.808307, -0.5189068, 0.4097227, 0.1249437]),
            ("post_norm", [1.075746, -0.2104104, 0.289766, 0.14572]),
            ("mean_removed", [1.706867, 0.05651929, -0.09909652, -0.1829219]),
            ("values_rotated", [0.6357764, 1.233504, -0.6409488, 1.083303]),
            ("queries_alone_rotated", [1.622205, -0.6236236, 0.6469393, -0.04848228]),
            ("nothing_rotated", [0.8159328, -0.5724598, -0.3542492, 0.7607912]),
            ("branches_exchanged", [1.664491, 0.01267163, 0.3089059, 0.06501242]),
            ("second_norm_reads_x", [1.745762, 0.08792487, 0.1030131, -0.176617]),
            ("every_gth_head", [0.6589455, -0.3034206, -0.05537125, 0.4731812]),
            ("second_residual_lost", [0.1928222, -0.967687, 0.06856467, 0.3411166]),
            ("no_gains", [1.702274, -1.03625, 0.412096, 0.2497794]),
        ],
    )
    def test_function(self, name, figures):
        rng = np.random.default_rng(3)
        x = rng.normal(size=(5, 8))
        sides = {"wq": (8, 8), "wk": (8, 4), "wv": (8, 4), "wo": (8, 8)}
        sides |= {"gate": (8, 12), "up": (8, 12), "down": (12, 8)}
        P = {name: rng.normal(size=side) / np.sqrt(side[0]) for name, side in sides.items()}
        P |= {"norm1": 1 + 0.5 * rng.normal(size=8), "norm2": 1 + 0.5 * rng.normal(size=8)}
        same(getattr(module("modern_block"), name)(x, P, 4, 2)[4, :4], figures)

    def test_a_scaled_stream_changes_nothing_without_epsilon(self):
        block, rng = module("modern_block"), np.random.default_rng(0)
        x, P = rng.normal(size=(5, 8)), block.weights(rng)
        P["down"] *= 0
        one, three = (block.modern_block(a * x, P, 4, 2, eps=0) - a * x for a in (1, 3))
        np.testing.assert_allclose(one, three)


class TestRopeScaling:
    numbers = {  # noqa: RUF012
        "d": 128,
        "s": np.array([4, 8]),
        "models": np.array([[10000, 4096], [500000, 8192]]),
    }

    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("rope_scaling").exercise, self.numbers)
        assert at(found["new_base"], b=10000, s=4, d=128) == found["bases"][0]
        same(found["bases"], [40889.94, 82684.62])
        assert list(found["pairs"]) == [18, 29]
        same(found["scores"], [0.5403023, 0.9689124])
        assert found["statements"] == "ABC"

    def test_mistakes(self):
        same(wrong("rope_scaling", "bases", "multiplied_base", self.numbers), [40000, 80000])
        assert wrong("rope_scaling", "pairs", "columns_counted", self.numbers)[0] == 36
        assert wrong("rope_scaling", "pairs", "whole_turn_forgotten", self.numbers)[0] == 6

    def test_function(self):
        scaling = module("rope_scaling")
        by = {m: scaling.rope_frequencies(8, 10000.0, 4.0, m) for m in ("none", "pi", "ntk")}
        same(by["none"], [1, 0.1, 0.01, 0.001])
        same(by["pi"], [0.25, 0.025, 0.0025, 0.00025])
        same(by["ntk"], [1, 0.06299605, 0.003968503, 0.00025])
        same(scaling.base_times_s(8, 10000.0, 4.0, "ntk"), [1, 0.07071068, 0.005, 0.0003535534])
        same(scaling.multiplied(8, 10000.0, 4.0, "pi"), [4, 0.4, 0.04, 0.004])

    def test_the_incomplete_pairs_that_leave_their_range(self):
        plain = module("rope_scaling").frequencies(128)
        incomplete = 2 * np.pi / plain > 4096
        same(2 * np.pi / plain[-1], 54410.14)
        for method, number in {"none": 18, "pi": 0, "ntk": 17}.items():
            theta = module("rope_scaling").rope_frequencies(128, s=4.0, method=method)
            assert (incomplete & (16383 * theta > 4096 * plain)).sum() == number


class TestAttentionSinks:
    numbers = {"s": np.array([2, 0, -1]), "n": 16, "w": 4, "sinks": 2}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("attention_sinks").exercise, self.numbers)
        same(found["weights"], [0.7573132, 0.1024912, 0.0377044])
        same(found["total"], 0.8975088)
        same(found["lowered"], 0.0557163)
        assert (found["edges"], found["cached"]) == (81, 1024)

    def test_mistakes(self):
        def of(part, mistake):
            return wrong("attention_sinks", part, mistake, self.numbers)

        same(of("weights", "plain_softmax"), [0.8437947, 0.1141952, 0.04201007])
        same(of("weights", "unshifted_one"), [0.4576403, 0.06193488, 0.02278457])
        same(of("weights", "each_by_itself"), [0.8807971, 0.5, 0.2689414])
        assert of("edges", "window_alone") == 58
        assert of("edges", "overlap") == 90

    def test_function(self):
        sinks = module("attention_sinks")
        lowered = sinks.softmax1(self.numbers["s"] - 5.0)
        same(lowered, [0.04701312, 0.006362534, 0.002340645])
        same(sinks.softmax1(np.array([1000.0, 1000])), [0.5, 0.5])
        same(sinks.softmax1(np.array([-800.0, -801])), [0, 0])

    def test_formulas(self):
        found = solve(module("attention_sinks").exercise, self.numbers)
        same(at(found["sink_score"], m=1000, epsilon=0.01), 11.50288)
        same(
            at(wrong("attention_sinks", "sink_score", "m_forgotten", self.numbers), epsilon=0.01),
            4.59512,
        )

    @pytest.mark.parametrize(
        "lines",
        [
            ["exp(s_i)/(1 + exp(L))", "exp(s_i - L)/(1 + exp(-L))", "p_i/(1 + exp(-L))"],
            [
                "p_i*sum(exp(s_k), k)/(1 + sum(exp(s_k), k))",
                "p_i*e^L/(1 + e^L)",
                "p_i/(1 + e^(-L))",
            ],
            [
                r"\frac{e^{s_i}}{1 + e^{L}}",
                r"\frac{e^{s_i} e^{-L}}{e^{-L} + 1}",
                r"\frac{p_i}{1 + e^{-L}}",
            ],
        ],
    )
    def test_other_derivations(self, lines):
        assert module("attention_sinks").chain.examine(lines).credit == 1
        assert module("attention_sinks").chain.examine(lines[-1:]).credit == 0

    def test_the_sink_that_leaves_a_hundredth(self):
        z = np.append(np.zeros(1000), 11.50288)
        np.testing.assert_allclose(
            module("attention_sinks").softmax(z)[:1000].sum(), 0.01, rtol=1e-4
        )


class TestRollingWindow:
    numbers = {"w": 3, "L": 3, "t": 10, "size": 4}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("rolling_window").exercise, self.numbers)
        same(found["share"], np.array([1, 3, 6, 7, 6, 3, 1]) / 27)
        assert list(found["cache_bytes"]) == [536870912, 4294967296]
        assert list(found["slots"]) == [8, 9, 10, 7]
        assert at(found["reach"], L=32, w=4096) == 131041

    def test_mistakes(self):
        def of(part, mistake):
            return wrong("rolling_window", part, mistake, self.numbers)

        assert at(of("reach", "windows_side_by_side"), L=32, w=4096) == 131072
        assert at(of("reach", "both_sides"), L=32, w=4096) == 262145
        same(of("share", "equal_shares"), [0.1428571] * 7)
        assert of("cache_bytes", "all_query_heads")[0] == 2147483648
        assert list(of("slots", "in_order")) == [7, 8, 9, 10]

    def test_shares_are_a_power_of_the_matrix(self):
        window = np.tri(16) - np.tri(16, k=-3)
        uniform = window / window.sum(axis=1, keepdims=True)
        last = np.linalg.matrix_power(uniform, 3)[-1]
        same(last[-7:], module("rolling_window").shares(3, 3))
        assert np.count_nonzero(last) == 7

    def test_an_empty_slot_has_the_score_0(self):
        rolling = module("rolling_window")
        token = np.zeros(1), np.zeros(1), np.array([8.0])
        assert rolling.empty_slots_attended(rolling.new_state(4, 1, 1), *token)[1] == 2
        assert rolling.window_step(rolling.new_state(4, 1, 1), *token)[1] == 8

    def test_the_order_of_the_slots_does_not_matter(self):
        rolling, rng = module("rolling_window"), np.random.default_rng(1)
        Q, K, V = rng.normal(size=(3, 12, 3))
        order = rng.permutation(np.arange(8, 12))
        shuffled = rolling.softmax(K[order] @ Q[11] / np.sqrt(3)) @ V[order]
        np.testing.assert_allclose(shuffled, rolling.windowed(Q, K, V)[11], atol=1e-12)
