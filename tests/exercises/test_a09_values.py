"""a09: the references give the catalogue's figures on its fixed data, and so do the mistakes."""

from functools import cache

import jupytext
import numpy as np
import pytest

from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.loading import load_module
from autograder.grading.parts import grade_parts

from ..loaded import ROOT, assigned

ID = "a09_efficient"
POINTS = {
    "lin_assoc": [3, 2, 1, 1],
    "lin_hand": [1, 2, 1],
    "lin_attn": [5, 1, 1, 1],
    "lin_causal": [5, 2],
    "lin_rank": [2, 1, 1],
    "kernel_validity": [3, 1],
    "favor_derive": [2, 3, 2, 2, 1],
    "favor_variance": [3, 2, 1, 1],
    "favor_code": [5, 3],
    "linformer": [3, 2, 1],
    "lowrank_svd": [1, 1, 1, 1],
    "sparse_local": [3, 2, 2, 1],
    "sparse_strided": [2, 2, 1],
    "sparse_global": [2, 2, 1],
    "sparse_bigbird": [3, 1, 2, 1],
    "sparse_hops": [3, 2],
    "topk_mass": [1, 1, 2, 1],
    "efficient_classes": [3, 1, 1],
    "echo_window": [0.75, 0.5, 0.25, 0.5],
}


@cache
def module(name):
    return load_module(ROOT / "reference" / ID / f"{name}.py")


def same(value, figures):
    """Agree to the seven digits that the catalogue prints."""
    np.testing.assert_allclose(np.asarray(value, float), figures, rtol=1e-6, atol=1e-12)


def at(formula, **numbers):
    return float(formula.subs({s: numbers[s.name] for s in formula.free_symbols}))


def test_points_and_their_order():
    loaded = assigned(ID)
    assert list(loaded.sound) == list(POINTS)
    for id, exercise in loaded.sound.items():
        assert exercise.points == sum(POINTS[id]), id


@pytest.mark.parametrize("name", ["lin_attn", "lin_causal"])
def test_points_of_checks(name):
    assert sum(check.points for check in module(name).exercise.checks) == 5


class TestLinAssoc:
    numbers = {"n": 1000, "m": 1000, "D": 64, "d_v": 64}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = solve(module("lin_assoc").exercise, self.numbers)
        assert found["counts"].tolist() == [128_000_000, 8_192_000]
        assert at(found["weights_first"], **self.numbers) == 128_000_000
        assert at(found["keys_first"], **self.numbers) == 8_192_000
        sizes = {"n": 2, "m": 3, "D": 5, "d_v": 7}
        assert at(found["weights_first"], **sizes) == 2 * 3 * (5 + 7)
        assert at(found["keys_first"], **sizes) == 5 * 7 * (3 + 2)
        assert found["pays_off"] == "D"

    def test_linear_in_the_width_is_what_the_source_says(self):
        exercise = module("lin_assoc").exercise
        keys_first = next(part for part in exercise.parts if part.name == "keys_first")
        short = next(m for m in keys_first.misconceptions if m.name == "linear_in_the_width")
        formula = evaluate(keys_first, short, self.numbers)
        assert at(formula, n=1000, m=0, D=64) == 64_000


class TestLinAttn:
    @pytest.fixture
    def qkv(self):
        rng = np.random.default_rng(0)
        return [rng.standard_normal(shape) for shape in ((4, 3), (6, 3), (6, 2))]

    def test_right_answers_are_those_of_the_catalogue(self, qkv):
        m = module("lin_attn")
        same(m.linear_attention(*qkv)[0], [-0.2355966, 0.5985491])
        found = solve(m.exercise, {})
        same(found["elu1_values"], [0.1353353, 0.3678794, 1, 2])
        same(found["relu1_values"], [1, 1, 1, 2])
        same(found["with_epsilon"], 0.101152)
        same(found["without_epsilon"], 1)
        assert found["who"] == "B"

    @pytest.mark.parametrize(
        ("mistake", "figures"),
        [
            ("softmax_attention", [-0.3719941, 0.6003658]),
            ("relu_plus_one", [-0.3065562, 0.5739517]),
            ("no_normaliser", [-4.846143, 12.31195]),
            ("one_normaliser_for_all", [-0.1585304, 0.4027572]),
        ],
    )
    def test_wrong_procedures_give_their_wrong_answers(self, qkv, mistake, figures):
        same(getattr(module("lin_attn"), mistake)(*qkv)[0], figures)

    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_relu_alone_divides_by_zero(self):
        Q, K, V = np.array([[-1.0, -2]]), np.array([[1.0, 1]]), np.array([[1.0]])
        assert np.isnan(module("lin_attn").relu_alone.compute(Q, K, V)).all()

    def test_a_shift_of_all_keys_matters(self, qkv):
        m = module("lin_attn")
        Q, K, V = qkv
        assert np.abs(m.linear_attention(Q, K + 1, V) - m.linear_attention(Q, K, V)).max() > 1e-2
        shifted = m.softmax_attention(Q, K + 1, V)
        np.testing.assert_allclose(shifted, m.softmax_attention(Q, K, V))


class TestLinCausal:
    def test_right_answers_are_those_of_the_catalogue(self):
        m = module("lin_causal")
        rng = np.random.default_rng(0)
        Q, K = rng.normal(size=(2, 6, 3))
        V = rng.normal(size=(6, 2))
        for function in (m.causal_linear_attention, m.step_by_step):
            out = function(Q, K, V)
            np.testing.assert_allclose(out, m.masked(Q, K, V))
            np.testing.assert_allclose(out[0], V[0])
        assert np.abs(m.sums_over_all_keys(Q, K, V)[:-1] - out[:-1]).max() > 0.01
        found = solve(m.exercise, {"D": 64, "d_v": 64, "t": 1000})
        assert (found["state_numbers"], found["cached_numbers"]) == (4160, 128_000)
        same(found["break_even"], 32.5)

    def test_no_key_of_the_future_leaks(self):
        m = module("lin_causal")
        rng = np.random.default_rng(2)
        Q, K, V = m.qkv(rng, 40)
        later = [np.concatenate([x[:20], rng.normal(size=x[20:].shape)]) for x in (Q, K, V)]
        for function in (m.causal_linear_attention, m.step_by_step):
            np.testing.assert_allclose(function(*later)[:20], function(Q, K, V)[:20])
        leak = m.sums_over_all_keys(*later)[:20] - m.sums_over_all_keys(Q, K, V)[:20]
        assert np.abs(leak).max() > 0.01


class TestEchoWindow:
    def test_copying_begins_at_one_reach_for_each_length(self):
        exercise = module("echo_window").exercise
        for motif in ("FACE", "BADGE", "CAHGJF", "CAHGJFD", "CAHGJFDE"):
            found = solve(exercise, {"motif": motif, "n": 24})
            least = int(at(found["least"], m=len(motif)))
            known = 24 - 2 - len(motif)
            assert list(found["counts"]) == [0] * least + [known] * (10 - least)
            below, there = found["costs"]
            assert below > 2
            assert there < 0.01

    def test_figures(self):
        found = solve(module("echo_window").exercise, {"motif": "BADGE", "n": 24})
        same(found["costs"], [9.1018631, 0.0011186523])

    def test_the_notebook_has_the_same_model(self, monkeypatch):
        m, theory = (
            module("echo_window"),
            load_module(ROOT / "reference/a11_theory/head_profile.py"),
        )
        monkeypatch.chdir(ROOT / "assignments" / ID / "data")
        notebook = jupytext.read(ROOT / "assignments" / ID / f"{ID}.py")
        [cell] = [cell for cell in notebook.cells if "def predicted(" in cell.source]
        names = {"np": np}
        exec(compile(cell.source, "predicted", "exec"), names)
        ids = m.read("BADGE", 24)
        for mask in (np.tri(24, dtype=bool), module("sparse_local").local_mask(24, 3, causal=True)):
            ours = m.under("BADGE", 24, mask)
            np.testing.assert_allclose(names["predicted"](ids, mask), ours, rtol=1e-8, atol=1e-8)
        full = m.under("BADGE", 24, np.tri(24))
        np.testing.assert_allclose(full, theory.echo_pass(m.ECHO, ids)[0], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("answer", [[1, -1, 1, 1], [1, -1, 1, 2], [1, -1, 2, 1], [1, -1, 2, 2]])
@pytest.mark.parametrize("full", [True, False])
def test_patterns_behind_an_own_mask_are_computed_or_thought_through(full, answer):
    """By a mask that lets all see all, both patterns that use it take one layer."""
    hops, local_mask = module("sparse_hops"), module("sparse_local").local_mask
    items = grade_parts(
        hops.exercise,
        {"n": 300, "w": 32},
        {part.name: answer for part in hops.exercise.parts}.__getitem__,
        functions={"hops": hops.hops},
        earlier={"local_mask": (lambda n, w: np.full((n, n), w > 0)) if full else local_mask},
    )
    earned = {item.name: item.score for item in items}["patterns"]
    assert (earned == 0.5) == (full or answer == [1, -1, 2, 2])
