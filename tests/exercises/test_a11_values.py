"""a11: the references give the catalogue's figures on its fixed data, and so do the mistakes."""

from functools import cache

import numpy as np

from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.loading import load_helpers, load_module

from ..loaded import ROOT, assigned

ID = "a11_theory"
POINTS = {
    "row_entropy": [2, 1, 1, 3],
    "max_entropy": [4, 2, 1, 1],
    "entropy_slope": [3, 2],
    "attn_information": [3, 1, 1],
    "head_metrics": [1, 1, 2, 3, 1],
    "head_profile": [1, 1, 3],
    "head_pruning": [2, 1, 1],
    "claim_audit": [6],
    "rnn_cnn_compare": [3, 2, 1],
    "scaling_fit": [2, 1, 1, 1],
    "echo_patch": [1, 0.5, 0.5, 0.5, 0.5],
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


def notebook_names(monkeypatch):
    """Return what the notebook's cells with the trained model define."""
    monkeypatch.chdir(ROOT / "assignments" / ID / "data")
    shown = {"np": np}
    for cell in (ROOT / "assignments" / ID / f"{ID}.py").read_text().split("# %%"):
        if any(text in cell for text in ('np.load("echo.npz")', "toy_maps = ", "def keep(")):
            exec(cell, shown)
    return shown


def test_points_and_their_order():
    loaded = assigned(ID)
    assert [id for id in loaded.sound if id in POINTS] == list(POINTS)
    for id, points in POINTS.items():
        assert loaded.sound[id].points == sum(points), id


class TestRowEntropy:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("row_entropy").exercise, {})
        same(found["H"], [1.017357, 1.017357, 0.9753278])
        same(found["largest"], 1.098612)
        same(found["bits"], 1.467736)
        same(found["effective"], [2.765875, 2.765875, 2.652036])
        same(found["causal_largest"], [0, 0.6931472, 1.098612, 1.386294, 1.609438])

    def test_mistakes(self):
        same(wrong("row_entropy", "bits", "base_ten"), 0.4418326)
        same(wrong("row_entropy", "H", "summed"), 3.010042)


class TestMaxEntropy:
    numbers = {"s": np.array([1.0, 2, 0]), "tau": 0.5}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("max_entropy").exercise, self.numbers)
        same(found["p"], [0.1173104, 0.8668133, 0.01587624])
        same(found["optimum"], 2.071466)
        same(found["free_energy"], 2.071466)
        same(found["elsewhere"], [1.549306, 2])
        same(found["divergence"], 0.6575548)

    def test_no_other_weights_do_better(self):
        s, tau = self.numbers.values()
        others = np.random.default_rng(0).dirichlet(np.ones(3), 3000)
        assert (others @ s - tau * (others * np.log(others)).sum(axis=1) < 2.071466).all()


class TestEntropySlope:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("entropy_slope").exercise, {})
        same(found["entropy_at"], [1.098612, 0.9059593, 0.5242666, 0.1069208])
        same(found["slope_at"], [-0.7092574, -0.1835217])

    def test_mistakes(self):
        same(wrong("entropy_slope", "slope_at", "beta_forgotten")[1], -0.09176083)


class TestAttnInformation:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("attn_information").exercise, {})
        same(found["marginal"], [0.2632076, 0.2632076, 0.4735848])
        same(found["conditional"], 1.003347)
        same(found["information"], 0.05328679)
        same(found["extremes"], [1.098612, 0, 0])

    def test_mistakes(self):
        same(wrong("attn_information", "information", "uniform_marginal"), 0.09526487)


class TestHeadMetrics:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("head_metrics").exercise, {})
        same(found["S"], [1.666667, 1.666667, 3.333333])
        same((found["S"] ** 2).sum(), 16.66667)
        assert (found["D"], found["D_scaled"]) == (20, 200)

    def test_mistakes(self):
        assert wrong("head_metrics", "D", "each_pair_once") == 10
        assert wrong("head_metrics", "D", "spectral") == 4 * 4


class TestHeadProfile:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("head_profile").exercise, {})
        same(found["distance"], [0, 0.8333333, 1.25, 2.5])
        same(found["previous"], [0, 1, 0.29, 0.2])
        same(found["entropy"], [0, 0, 1.096542, 0])

    def test_the_notebook_s_model_is_the_one_that_is_graded(self, monkeypatch):
        shown = notebook_names(monkeypatch)
        np.testing.assert_allclose(shown["toy_maps"], module("head_profile").TOY, atol=1e-5)
        word = "^BADGEBADGEBADGEBADGEBAD"
        logits, _ = shown["echo"](word, off=[(1, 1)])
        expected, _ = load_helpers(ROOT / "reference").echo_pass(
            module("head_pruning").ECHO, module("head_pruning").WORD, [(1, 1)]
        )
        np.testing.assert_allclose(logits, expected, atol=1e-3)

    def test_the_heads_of_the_trained_model_are_what_the_text_says(self):
        toy = solve(module("head_profile").exercise, {})["toy"]
        assert toy[0, 1] > 0.99
        assert toy[1, 3] > 0.4


class TestHeadPruning:
    numbers = {"seed": 0, "sizes": np.array([3, 1, 0.2, 0.05])}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("head_pruning").exercise, self.numbers)
        assert [int(head) for head in found["order"]] == [0, 1, 2, 3]
        np.testing.assert_allclose(found["explained"], [0.861, 0.995, 1, 1], atol=5e-4)
        assert (found["needed"], found["ratio"]) == (2, 2)
        # Head 0.1 tells head 1.1 what stood before: without either the word is not repeated.
        np.testing.assert_allclose(found["losses"], [0.5397, 1.392, 3.567, 0.694, 3.825], rtol=1e-3)


class TestEchoPatch:
    numbers = {"clean": "^BADGEBA", "spoiled": "^BCDGEBA", "seed": 7}  # noqa: RUF012

    def test_two_heads_bring_the_letter_back_and_one_through_the_other(self):
        m = module("echo_patch")
        found = solve(m.exercise, self.numbers)
        np.testing.assert_allclose(found["table"], [[0.0079, 0.9998], [-0.0435, 1.0001]], atol=1e-4)
        assert list(found["place"]) == [3, 7]
        assert abs(found["path"]) < 0.1
        costs = [m.cost(sentence, "D") for sentence in ("^BADGEBA", "^BCDGEBA")]
        np.testing.assert_allclose(costs, [0.0003, 2.388], atol=5e-4)  # as the notebook says

    def test_one_row_is_enough_and_no_other_does_anything(self):
        m = module("echo_patch")
        clean, spoiled = self.numbers["clean"], self.numbers["spoiled"]
        for head, place in ((m.OLD, 3), (m.COPIER, 7)):
            by_row = [m.restored(clean, spoiled, (head, clean), rows=[i]) for i in range(8)]
            np.testing.assert_allclose(by_row, np.arange(8) == place, atol=0.01)

    def test_what_is_drawn_shows_the_two_heads(self):
        for seed in range(2):
            drawn = module("echo_patch").draw(np.random.default_rng(seed))
            assert len(drawn["clean"]) == len(drawn["spoiled"])
            found = solve(module("echo_patch").exercise, drawn)
            assert found["table"][:, 1].min() > 0.9
            embedded, behind, at_the_end = found["read"]
            assert embedded < 60 < at_the_end < behind

    def test_the_notebook_s_hook_does_what_is_graded(self, monkeypatch):
        shown = notebook_names(monkeypatch)
        m, (clean, spoiled) = module("echo_patch"), list(self.numbers.values())[:2]
        logits, kept = m.run(clean)
        np.testing.assert_allclose(shown["clean_logits"], logits, atol=1e-8)
        assert list(shown["kept"]) == list(kept)
        for place, array in kept.items():
            np.testing.assert_allclose(shown["kept"][place], array, atol=1e-8)

        def put(place, array):
            if place == ("heads", 0):
                array[1] = shown["kept"][place][1]
            return array

        changed = shown["echo"](spoiled, hook=put)[0]
        ours = m.run(spoiled, ((m.OLD, clean, tuple(range(8))),))[0]
        np.testing.assert_allclose(changed, ours, atol=1e-8)


class TestClaimAudit:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("claim_audit").exercise, {})
        assert "".join(found["labels"].values()) == "FTFTFEFTFEFT"

    def test_the_counterexamples_do_what_they_say(self):
        audit = module("claim_audit")
        assert np.linalg.matrix_rank(audit.softmax(np.outer([1, 2, 3], [1, 2, 3]))) == 3
        assert [audit.gradient(a) for a in (-0.9, -0.5, 0.5, 0)] == [
            "vanishes",
            "stays",
            "grows",
            "nothing added",
        ]


class TestRnnCnnCompare:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("rnn_cnn_compare").exercise, {})
        assert list(found["madds"]) == [5120000, 26214400, 78643200]
        assert list(found["paths"]) == [1, 100, 50]
        assert (found["dilated"], found["crossover"], found["layers"]) == (5, 512, 50)


class TestScalingFit:
    numbers = {"loss": np.array([3.42, 3.05, 2.71, 2.42, 2.15])}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("scaling_fit").exercise, self.numbers)
        same(found["alpha"], 0.05036598)
        same(found["factor"], 0.8905002)
        same(found["quarter"], 0.5623413)
        assert list(found["weights"]) == [18874368] * 3
        same(found["slender"], [85.33333, 10.66667, 1.333333])
        same(found["depth"], 46.15199)
        same(found["published"], [128, 64])

    def test_mistakes(self):
        same(wrong("scaling_fit", "alpha", "loss_not_logarithmic", self.numbers), 0.317)

    def test_the_error_is_that_of_least_squares(self):
        _, covariance = np.polyfit(np.arange(18, 23), np.log10(self.numbers["loss"]), 1, cov=True)
        found = solve(module("scaling_fit").exercise, self.numbers)
        np.testing.assert_allclose(found["error"], covariance[0, 0] ** 0.5)
