"""a10, its three stars: figures that were computed in other ways, right and wrong ones."""

from functools import cache
from math import ceil, exp

import numpy as np
import pytest

from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.loading import load_module

from ..loaded import ROOT

HAND = {
    "z": np.array([1.0, 0, 0]),
    "g": np.array([0.0, 0.5, -0.2]),
    "tau": 0.5,
    "v": np.array([3, -1, 2]),
    "gap": 0.2,
}
SHARED = {"x": np.array([1, 2]), "A": np.array([[3, -1], [-2, -2]]), "d": 4096, "h": 32}
SHARED |= {"p": 4, "n": 2048}


@cache
def module(name):
    return load_module(ROOT / "reference" / "a10_scale_adapt" / f"{name}.py")


def found(name, numbers):
    """What the reference answers."""
    return solve(module(name).exercise, numbers)


def wrong(name, part, mistake, numbers):
    """What a mistake answers where all before it is right."""
    [asked] = [p for p in module(name).exercise.parts if p.name == part]
    [slip] = [m for m in asked.misconceptions if m.name == mistake]
    return evaluate(asked, slip, found(name, numbers) | numbers)


def same(value, figures, rtol=1e-6):
    np.testing.assert_allclose(np.asarray(value, float), figures, rtol=rtol, atol=1e-12)


def at(formula, **values):
    """The value of a formula."""
    return float(formula.subs({s: values[str(s)] for s in formula.free_symbols}))


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("straight_through", [0.25, 0.25, 0.25, 0.5, 1.25, 0.5, 0.5, 0.5]),
        ("tensor_split", [2, 0.5, 0.25, 0.5, 0.25, 0.5]),
        ("zero_stages", [0.5, 0.5, 0.5, 1, 0.5]),
    ],
)
def test_points(name, points):
    assert module(name).exercise.points == pytest.approx(sum(points))


class TestStraightThrough:
    def test_by_hand(self):
        """(1, 0.5, −0.2)/0.5, with the exponentials written out."""
        e = [exp(2), exp(1), exp(-0.4)]
        y = [x / sum(e) for x in e]
        right = found("straight_through", HAND)
        same(right["y"], [0.68559015, 0.25221452, 0.06219533])
        same(right["y"], y)
        mean = 3 * y[0] - y[1] + 2 * y[2]
        same(right["back"], [2 * y[0] * (3 - mean), 2 * y[1] * (-1 - mean), 2 * y[2] * (2 - mean)])
        same(right["back"], [1.4686073, -1.4774457, 0.0088383817])
        same(sum(right["back"]), 0)

    def test_derivatives_are_those_of_a_soft_sample(self):
        right, h = found("straight_through", HAND), 1e-6
        y = right["y"]
        for j, formula in ((0, "own"), (1, "other")):
            e = np.exp((HAND["z"] + HAND["g"] + h * np.eye(3)[j]) / 0.5)
            slope = ((e / e.sum())[0] - y[0]) / h
            same(at(right[formula], y_i=y[0], y_j=y[1], tau=0.5), slope, rtol=1e-4)

    def test_slopes_vanish_or_grow(self):
        """1/(4 τ cosh²(gap/2τ)), another form of the derivative."""
        right = found("straight_through", HAND)["slopes"]
        taus = np.array([1, 0.1, 0.02])
        same(right, [1 / (4 * taus * np.cosh(gap / 2 / taus) ** 2) for gap in (0.2, 0)])
        same(right, [[0.24751657, 1.0499359, 0.0022697904], [0.25, 2.5, 12.5]])

    def test_means_over_much_noise(self):
        rng = np.random.default_rng(0)
        y = 1 / (1 + np.exp(-np.subtract(*rng.gumbel(size=(2, 1_000_000)))))
        same(found("straight_through", HAND)["means"][0], (y * (1 - y)).mean(), rtol=1e-3)
        same(0.0745, (y * (1 - y)).std(), rtol=2e-3)

    @pytest.mark.parametrize(("tau", "deviation"), [(1, 0.0745), (0.1, 0.595), (0.01, 2.03)])
    def test_deviations_that_the_notebook_tells(self, tau, deviation):
        """Integrals over x, the logistic difference of two noises."""
        x, dx = np.linspace(-30, 30, 600_001, retstep=True)
        inside = np.clip(x / 2 / tau, -300, 300)
        slope, density = 1 / (4 * tau * np.cosh(inside) ** 2), 1 / (4 * np.cosh(x / 2) ** 2)
        mean = (slope * density).sum() * dx
        same(((slope**2 * density).sum() * dx - mean**2) ** 0.5, deviation, rtol=3e-3)

    def test_the_function_on_the_same_numbers(self):
        function = module("straight_through").straight_through
        hard, sent = function(*(HAND[name] for name in ("z", "g", "tau", "v")))
        same(hard, [1, 0, 0])
        same(sent, found("straight_through", HAND)["back"])

    def test_mistakes(self):
        same(wrong("straight_through", "back", "passed_on", HAND), [3, -1, 2])
        same(wrong("straight_through", "slopes", "slopes_without_tau", HAND)[1], [0.25] * 3)


class TestTensorSplit:
    def test_by_hand(self):
        """x A = (3 − 4, −1 − 4); the parts are (3, −1) and (−4, −4)."""
        right = found("tensor_split", SHARED)
        same(right["cut_by_rows"], [[0, 0], [3, 0]])
        same(right["weights"], [16_777_216, 33_554_432])
        same(right["traffic"], 100_663_296)
        same(wrong("tensor_split", "cut_by_rows", "no_relu", SHARED), [[-1, -5]] * 2)

    @pytest.mark.parametrize("p", [2, 3, 4])
    def test_a_ring_sends_what_the_formula_says(self, p):
        """Play the rounds: pieces are added up on their way round, then they are handed on."""
        size = 6 * p
        held = np.random.default_rng(p).integers(0, 9, (p, p, size // p))
        total, sent = held.sum(axis=0), 0
        for rounds, adds in ((range(p - 1), True), (range(p - 1, 2 * p - 2), False)):
            for r in rounds:
                before = held.copy()
                for device in range(p):
                    piece, to = (device - r) % p, (device + 1) % p
                    held[to, piece] = before[device, piece] + adds * before[to, piece]
                sent += size // p
        assert (held == total).all()
        formula = found("tensor_split", SHARED)["sent"]
        same(at(formula, n=6, d=p, p=p), 2 * sent)

    def test_contributions_of_the_example(self):
        X, W_O, one = np.array([[3.0, 4]]), np.array([[1.0, 0], [2, 1]]), np.eye(2)
        share = module("tensor_split").device_output
        same(share(X, one, one, one, W_O, 2, 2, 0), [[3, 0]])
        same(share(X, one, one, one, W_O, 2, 2, 1), [[8, 4]])

    def test_a_layer_written_with_loops(self):
        rng = np.random.default_rng(1)
        X, (Q, K, V, W_O) = rng.normal(size=(3, 8)), rng.normal(size=(4, 8, 8))
        heads = []
        for t in range(4):
            own = slice(2 * t, 2 * t + 2)
            e = np.exp(X @ Q[:, own] @ (X @ K[:, own]).T / 2**0.5)
            heads.append(e / e.sum(axis=1, keepdims=True) @ X @ V[:, own])
        share = module("tensor_split").device_output
        same(sum(share(X, Q, K, V, W_O, 4, 2, t) for t in range(2)), np.hstack(heads) @ W_O)

    def test_the_model_that_is_told_of(self):
        """72 layers of 12 d² + 13 d numbers, 51,200 words and 1024 positions."""
        d = 3072
        parameters = 72 * (12 * d * d + 13 * d) + (51_200 + 1024) * d
        assert round(parameters / 1e9, 1) == 8.3
        assert round(parameters / 8e9, 1) == 1.0
        assert (32 // 8, d // 32) == (4, 96)


def gpt(d, layers, words, further, tables=1):
    """Parameters with biases, a network of width 4d, two norms a layer; `further` vectors."""
    return layers * (12 * d * d + 13 * d) + (tables * words + further) * d


def llama(d, layers, f, key_heads=1.0, words=32_000, biases=0.0):
    """Parameters of gated networks; keys and values are `key_heads` as wide as queries."""
    attention = 2 * d * d * (1 + key_heads) + biases * d
    return layers * (attention + 3 * d * f + 2 * d) + 2 * words * d + d


PUBLISHED = {
    "Pythia-12B": gpt(5120, 36, 50_688, 2, tables=2),
    "OPT-13B": gpt(5120, 40, 50_272, 2050 + 2),
    "Llama-2-13B": llama(5120, 40, 13_824),
    "Qwen2.5-14B": llama(5120, 48, 13_824, 0.2, 152_064, 1.4),
    "GPT-NeoX-20B": gpt(6144, 44, 50_432, 2, tables=2),
    "LLaMA-33B": llama(6656, 60, 17_920),
    "LLaMA-65B": llama(8192, 80, 22_016),
    "Llama-2-70B": llama(8192, 80, 28_672, 1 / 8),
    "BLOOM": gpt(14_336, 70, 250_880, 4),
}


class TestZeroStages:
    def test_sizes_are_those_of_the_published_shapes(self):
        here = module("zero_stages")
        assert PUBLISHED == here.SMALL | here.LARGE

    def test_the_example_of_the_paper(self):
        right = found("zero_stages", {"models": ["", ""], "P": np.array([12e9, 20e9])})
        stages = [at(right[f"stage{k}"], P=7.5, N=64) for k in (1, 2, 3)]
        assert np.round(stages, 1).tolist() == [31.4, 16.6, 1.9]
        assert [at(right[f"stage{k}"], P=1, N=1) for k in (1, 2, 3)] == [16, 16, 16]
        same(right["largest"], [20e9, 40e9])

    @pytest.mark.parametrize(
        ("pair", "devices"),
        [
            (("Llama-2-13B", "GPT-NeoX-20B"), [[6, 4, 3], [0, 8, 5]]),
            (("Pythia-12B", "LLaMA-33B"), [[5, 3, 3], [0, 31, 7]]),
            (("Qwen2.5-14B", "LLaMA-65B"), [[9, 5, 3], [0, 0, 14]]),
            (("OPT-13B", "BLOOM"), [[6, 4, 3], [0, 0, 36]]),
            (("OPT-13B", "Llama-2-70B"), [[6, 4, 3], [0, 0, 14]]),
        ],
    )
    def test_devices(self, pair, devices):
        """The figures by dividing what may be shared by the room that is left."""
        P = np.array([int(PUBLISHED[name]) for name in pair])
        same(found("zero_stages", {"models": list(pair), "P": P})["devices"], devices)
        for size, row in zip(P.tolist(), devices, strict=True):
            for kept, N in zip((4, 2, 0), row, strict=True):
                room = 80 * 10**9 - kept * size
                assert (ceil((16 - kept) * size / room) if room > 0 else 0) == N

    def test_mistakes(self):
        numbers = {"models": ["Llama-2-13B", "GPT-NeoX-20B"]}
        numbers["P"] = np.array([int(PUBLISHED[name]) for name in numbers["models"]])
        same(wrong("zero_stages", "devices", "binary_units", numbers)[0], [5, 4, 3])
        same(wrong("zero_stages", "largest", "on_one_device", numbers), [5e9, 5e9])
