"""a13, its heads by hand and its last part: the catalogue's figures, right and wrong ones."""

import itertools
from functools import cache
from math import log, sqrt

import numpy as np
import pytest

from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.loading import load_module

from ..loaded import ROOT

ID = "a13_modern"
POINTS = {
    "superposition": [2, 1, 2, 1, 1, 1],
    "induction_by_hand": [4, 1, 1, 1],
    "chinchilla": [1, 1, 1, 1, 1, 2],
    "speculative": [2, 1, 1, 1, 3],
    "decay_duality": [1, 4, 1, 1, 1, 1],
    "decode_roofline": [1, 1, 1, 2, 1],
}


@cache
def module(name):
    return load_module(ROOT / "reference" / ID / f"{name}.py")


def same(value, figures, rtol=1e-6):
    """Agree to the seven digits that the catalogue prints."""
    np.testing.assert_allclose(np.asarray(value, float), figures, rtol=rtol, atol=1e-12)


def found(name, numbers=()):
    """What the reference answers."""
    return solve(module(name).exercise, dict(numbers))


def wrong(name, part, mistake, numbers=()):
    """What a mistake answers where all before it is right."""
    exercise = module(name).exercise
    [asked] = [p for p in exercise.parts if p.name == part]
    [slip] = [m for m in asked.misconceptions if m.name == mistake]
    return evaluate(asked, slip, dict(numbers) | found(name, numbers))


def at(formula, **values):
    """The value of a formula."""
    return float(formula.subs({s: values[str(s)] for s in formula.free_symbols}))


@pytest.mark.parametrize("name", POINTS)
def test_points(name):
    assert module(name).exercise.points == pytest.approx(sum(POINTS[name]))


class TestSuperposition:
    def test_right_answers_are_those_of_the_catalogue(self):
        right = found("superposition")
        for (n, d), bound in {
            (3, 2): 0.5,
            (4, 2): 0.5773503,
            (6, 3): 0.4472136,
            (1000, 100): 0.0949158,
        }.items():
            same(at(right["bound"], n=n, d=d), bound)
        E = right["E"]
        same(abs(E @ E.T - np.eye(6)).max(), 0.4472136)
        same(right["G"], [[1, -0.5, -0.5], [-0.5, 1, -0.5], [-0.5, -0.5, 1]])
        same(right["read"], [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 0]])
        same([at(right["loss"], p=p) for p in (0.1, 0.5)], [0.0165, 0.5625])
        same([right["threshold"], (sqrt(33) - 3) / 6], [0.4574271, 0.4574271])

    def test_mistakes(self):
        same(wrong("superposition", "read", "relu_left_out")[1], [0.5, 0.5, -1])
        same(wrong("superposition", "threshold", "leading_term"), 0.6666667)

    def test_the_loss_is_that_of_all_eight_cases(self):
        G, loss = (found("superposition")[name] for name in ("G", "loss"))
        p, total = 0.3, 0.0
        for case in itertools.product((0, 1), repeat=3):
            x = np.array(case)
            share = p ** x.sum() * (1 - p) ** (3 - x.sum())
            total += share * ((np.maximum(G @ x, 0) - x) ** 2).sum()
        same(at(loss, p=p), total)

    def test_without_the_case_of_three_there_is_no_threshold(self):
        forgotten = wrong("superposition", "loss", "three_active")
        assert np.isnan(module("superposition").crossing(lambda p: at(forgotten, p=p)))

    def test_no_directions_are_below_the_bound(self):
        bound, rng = found("superposition")["bound"], np.random.default_rng(0)
        for n, d in ((3, 2), (4, 2), (6, 3), (10, 4)):
            least = at(bound, n=n, d=d)
            for _ in range(200):
                E = rng.normal(size=(n, d))
                E /= np.linalg.norm(E, axis=1, keepdims=True)
                assert abs(E @ E.T - np.eye(n)).max() >= least - 1e-9


class TestInductionByHand:
    START = (0, 1, 2, 3, 1)

    def run(self, ids, **changed):
        here = module("induction_by_hand")
        logits, maps = here.run(here.circuit(6, 12) | changed, list(ids), 6, 12)
        return logits[-1, :4], maps[1][-1]

    def test_right_answers_are_those_of_the_catalogue(self):
        W = module("induction_by_hand").circuit(6, 12)
        assert {matrix.shape for matrix in W.values()} == {(30, 30)}
        assert sum(np.count_nonzero(matrix) for matrix in W.values()) == 29
        logits, row = self.run(self.START)
        same(row, [0, 0, 1, 0, 0])
        same(logits, [0, 0, 1, 0])
        logits, row = self.run((0, 1, 2, 1, 2, 1))
        same(row, [0, 0, 0.5, 0, 0.5, 0])
        assert logits.argmax() == 2
        right = found("induction_by_hand")
        same(at(right["score"], n=12, p=0.99), 6.993015)
        same(right["row"], [0.5, 0.5, 0, 0])
        same(right["logits"], [0, 0.5, 0.5, 0])

    def test_mistakes(self):
        here = module("induction_by_hand")
        off, exchanged = here.first_head_off(6, 12), here.factors_exchanged(6, 12)
        same(self.run(self.START, **off)[0], [0.2, 0.4, 0.2, 0.2])
        same(self.run(self.START, **exchanged)[0], [0, 0, 0, 1])
        scores = {
            "one_rival": 4.59512,
            "rival_too_many": 7.080026,
            "as_much_as_the_others": 2.397895,
        }
        for mistake, value in scores.items():
            same(at(wrong("induction_by_hand", "score", mistake), n=12, p=0.99), value)

    def test_the_notebook_s_model_is_the_one_that_is_graded(self):
        cells = (ROOT / "assignments" / ID / f"{ID}.py").read_text().split("# %%")
        [cell] = [cell for cell in cells if cell.lstrip().startswith("def two_layers")]
        shown, here = {"np": np}, module("induction_by_hand")
        exec(cell, shown)
        rng = np.random.default_rng(0)
        W = {name: rng.normal(size=(21, 21)) for name in here.NAMES}
        for own, graded in zip(
            shown["two_layers"](W, [0, 3, 1, 3], 4, 9), here.run(W, [0, 3, 1, 3], 4, 9), strict=True
        ):
            same(own, graded)

    def test_the_example_in_the_text(self):
        W = module("induction_by_hand").empty(2, 3)
        W["qk1"][4, 2], W["ov1"][0, 8] = 50, 1
        logits, maps = module("induction_by_hand").run(W, [0, 1, 1], 2, 3)
        same(maps[0][2], [1, 0, 0])
        same(logits[2], [0, 1])


class TestChinchilla:
    numbers = {"alpha": 0.34, "beta": 0.28, "C": 5.76e23}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        right = found("chinchilla", self.numbers)
        share = at(right["exponent"], alpha=0.34, beta=0.28)
        same([share, 1 - share, 10**share], [0.4516129, 0.5483871, 2.828869])
        same([right["N"], right["D"]], [3.219e10, 2.982e12], rtol=2e-4)
        same(right["per_parameter"], 92.65, rtol=2e-4)
        same([right["best_loss"], right["loss_at_20"]], [1.930748, 1.93741])
        same(right["loss_at_20"] - right["best_loss"], 0.00666, rtol=1e-3)
        same([right["tokens_factor"], right["compute_factor"]], [2.416061, 1.208031])
        same([right["served"], right["served"] * right["D"]], [1.248183, 3.722e12], rtol=2e-4)

    def test_mistakes(self):
        same(wrong("chinchilla", "N", "exchanged", self.numbers), 5.393e12, rtol=2e-4)
        same(wrong("chinchilla", "N", "six_left_out", self.numbers), 7.23e10, rtol=2e-4)
        tokens = wrong("chinchilla", "served", "two_for_six", self.numbers)
        same(tokens * found("chinchilla", self.numbers)["D"], 1.241e12, rtol=5e-4)

    def test_the_smaller_model_pays_as_much_in_the_end(self):
        right = found("chinchilla", self.numbers)
        N, D = right["N"], right["D"]
        served = right["served"] * D
        same(6 * N * D + 2 * N * served, 3 * N * D * right["tokens_factor"] + N * served)

    def test_the_model_in_the_text(self):
        same([15e12 / 8_030_261_248, 6 * 8_030_261_248 * 15e12], [1868, 7.227e23], rtol=2e-4)


class TestSpeculative:
    numbers = {"p": np.array([0.5, 0.3, 0.2]), "q": np.array([0.2, 0.5, 0.3])}  # noqa: RUF012

    def law(self, after):
        """What comes out, if this is drawn from after a rejection."""
        common = np.minimum(*self.numbers.values())
        return common + (1 - common.sum()) * after

    def test_right_answers_are_those_of_the_catalogue(self):
        right = found("speculative", self.numbers)
        same(right["acceptance"], [1, 0.6, 0.6666667])
        same(right["overall"], 0.7)
        same(right["after_rejection"], [1, 0, 0])
        same(self.law(right["after_rejection"]), self.numbers["p"])
        same([right["tokens_at_4"], right["speedup"]], [3.3616, 2.801333])
        assert right["best_gamma"] == 8
        same(right["best_speedup"], 3.09208)
        same(at(right["tokens"], alpha=0.1, gamma=4) / 1.2, 0.9259167)

    def test_mistakes(self):
        for mistake, value in {
            "evenly": 0.7555556,
            "weighted_with_p": 0.8133333,
            "two_draws_agree": 0.31,
        }.items():
            same(wrong("speculative", "overall", mistake, self.numbers), value)
        for mistake, law in {
            "from_p": [0.35, 0.39, 0.26],
            "from_q": [0.26, 0.45, 0.29],
            "until_accepted": [0.2857143, 0.4285714, 0.2857143],
        }.items():
            same(self.law(wrong("speculative", "after_rejection", mistake, self.numbers)), law)
        for mistake, value in {
            "bonus_forgotten": 2.952,
            "drafts_after_a_rejection": 4.2,
            "expected_drafts": 3.2,
        }.items():
            formula = wrong("speculative", "tokens", mistake, self.numbers)
            same(at(formula, alpha=0.8, gamma=4), value)

    def test_rounds_of_the_catalogue(self):
        P = np.array([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]])
        Q = np.array([[0.2, 0.5, 0.3], [0.3, 0.3, 0.4]])
        verify = module("speculative").verify
        assert verify(np.array([0, 2]), P, Q, np.array([0.9, 0.9]), 0.7) == [0, 2, 1]
        assert verify(np.array([1, 2]), P, Q, np.array([0.7, 0.9]), 0.7) == [0]

    def test_the_law_and_the_length_of_many_rounds(self):
        here, rng = module("speculative"), np.random.default_rng(0)
        P, Q, _ = here.laws(rng, 3)
        cumulative, first, length = Q.cumsum(axis=1), np.zeros(4), 0
        for _ in range(40_000):
            draft = (rng.random((3, 1)) >= cumulative).sum(axis=1).clip(max=3)
            out = here.verify(draft, P, Q, rng.random(3), rng.random())
            first[out[0]] += 1 / 40_000
            length += len(out) / 40_000
        assert abs(first - P[0]).max() < 0.01
        passed = np.minimum(P[:3], Q).sum(axis=1)
        assert abs(length - 1 - passed.cumprod().sum()) < 0.03


class TestDecayDuality:
    def test_right_answers_are_those_of_the_catalogue(self):
        right = found("decay_duality")
        same(right["L"], [[1, 0, 0, 0], [0.5, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0.5, 1]])
        same(right["y"], [4, 4, 6, 3.5])
        assert list(right["ranks"]) == [1, 3]
        same(right["added"], [7, 7.4])
        same(right["corrected"], [4, 5.6])
        same(at(right["madds"], n=4096, c=64, d=64), 67_108_864)

    def test_the_three_programs_on_the_catalogue_s_numbers(self):
        here, rng = module("decay_duality"), np.random.default_rng(0)
        Q, K = rng.normal(size=(11, 3)), rng.normal(size=(11, 3))
        V, a = rng.normal(size=(11, 2)), rng.uniform(0, 1, 11)
        a[4] = 0
        right = here.decay_recurrent(Q, K, V, a)
        same(right[10], [0.2171459, 1.31165])
        same(here.decay_quadratic(Q, K, V, a), right, rtol=1e-10)
        for c in (1, 3, 4, 11, 20):
            same(here.decay_chunked(Q, K, V, a, c), right, rtol=1e-10)

    def test_the_ranks_are_those_of_such_blocks(self):
        here, rng = module("decay_duality"), np.random.default_rng(0)
        L = here.decays(rng.uniform(0.5, 1, 8))
        Q, K = rng.normal(size=(2, 8, 3))
        assert np.linalg.matrix_rank(L[5:, :4]) == 1
        assert np.linalg.matrix_rank((L * (Q @ K.T))[4:, :4]) == 3

    def test_mistakes(self):
        same(wrong("decay_duality", "y", "nothing_decays"), [4, 6, 18, 11])
        same(wrong("decay_duality", "y", "own_token_decayed"), [4, 3, 0, 1])
        same(wrong("decay_duality", "y", "decay_of_the_next_step"), [4, 2, 8, 6])
        formula = wrong("decay_duality", "madds", "madds_without_state")
        same(at(formula, n=4096, c=64, d=64), 33_554_432)

    def test_products_of_halves_vanish_where_the_text_says(self):
        products = np.cumprod(np.full(2000, 0.5))
        assert int(np.argmax(products == 0)) + 1 == 1075


class TestDecodeRoofline:
    numbers = {"F": 1e15, "B": 4e12, "w": 2.0}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        right = found("decode_roofline", self.numbers)
        same(right["your_batch"], 250)
        same(found("decode_roofline", self.numbers | {"w": 1.0})["your_batch"], 125)
        same(at(right["intensity"], b=250, w=2), 250)
        same(right["least_ms"], 4.015131)
        same(right["per_second"], 249.1, rtol=2e-4)
        assert right["cache_bytes"] == 1_073_741_824
        same([right["ms_with_cache"], right["as_heavy"]], [4.283566, 14.95753])
        same(right["per_cache_byte"], [1, 4, 32])
        same(right["per_latent_byte"], 241.7778)
        assert right["blocks"] == 148
        same(right["empty"], [0.7147217, 0.01309122])

    def test_mistakes(self):
        same(wrong("decode_roofline", "your_batch", "your_madds", self.numbers), 500)
        same(
            wrong("decode_roofline", "your_batch", "your_madds", self.numbers | {"w": 1.0}),
            250,
        )
        same(wrong("decode_roofline", "least_ms", "arithmetic_time", self.numbers), 0.01606052)
        same(wrong("decode_roofline", "per_cache_byte", "cache_madds", self.numbers), [0.5, 2, 16])
        assert wrong("decode_roofline", "blocks", "rounded_down", self.numbers) == 144

    def test_what_the_text_says(self):
        weights, cache = 2 * 8_030_261_248, 1_073_741_824
        same(16 / ((weights + 16 * cache) / 4e12), 1925, rtol=2e-4)
        same(log(np.exp(1000 * 0.2**2 / 4)), log(22026.47))
