"""a08: the references give the catalogue's figures on its fixed data, and so do the mistakes."""

from functools import cache

import jupytext
import numpy as np
import pytest

from autograder.exercise import Undecided
from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.loading import load_helpers, load_module
from autograder.exercise.words.variants import draws

from ..loaded import ROOT, assigned

ID = "a08_cost"
POINTS = {  # the catalogue's parts, in its order; a function with its checks is one of them
    "cost_classes": [2, 1, 1],
    "madds": [2, 2, 1, 1],
    "attn_memory": [2, 1, 2, 2, 2],
    "bench_hygiene": [2, 1, 1],
    "time_attention": [4, 2, 1],
    "linear_gap": [2, 1, 2],
    "cost_curves": [3, 2, 1],
    "kv_equivalence": [6, 1],
    "kv_cost": [3, 2, 1],
    "kv_memory": [1, 2, 1],
    "online_softmax": [3.5, 1, 2.5, 3],  # the catalogue: 3, 1, 3, 3; what is guessed is worth less
    "flash_tiled": [7, 2, 2],
    "flash_facts": [2, 2, 1],
    "echo_cache": [1.5, 0.5, 0.25, 0.75],
}


@cache
def module(name):
    return load_module(ROOT / "reference" / ID / f"{name}.py")


def known(name, **numbers):
    return solve(module(name).exercise, numbers)


def wrong(name, part, mistake, **numbers):
    """What a mistake gives where everything before it is right."""
    exercise = module(name).exercise
    target = next(p for p in exercise.parts if p.name == part)
    compute = next(m for m in target.misconceptions if m.name == mistake)
    return evaluate(target, compute, solve(exercise, numbers))


def same(value, figures, rtol=1e-6):
    """Agree to the seven digits that the catalogue prints."""
    np.testing.assert_allclose(np.asarray(value, float), figures, rtol=rtol, atol=1e-12)


def at(formula, **numbers):
    return float(formula.subs({s: numbers[s.name] for s in formula.free_symbols}))


def points(exercise, *names):
    return sum(item.points for item in exercise.items if item.name in names)


def test_points_and_their_order():
    loaded = assigned(ID)
    assert list(loaded.sound) == list(POINTS)
    for id, exercise in loaded.sound.items():
        assert exercise.points == sum(POINTS[id]), id
    assert sum(map(sum, POINTS.values())) == 87


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("attn_memory", [("size_bytes", "size_mib", "size_mb"), ("layer_gib", "half_mib")]),
        ("linear_gap", [("l2",), ("rel",), ("reading",)]),
        ("kv_cost", [("cached", "recomputed"), ("counts", "ratio"), ("last_step", "equal_at")]),
        ("kv_memory", [("small_bytes",), ("large_bytes", "large_gib", "per_token")]),
        (
            "online_softmax",
            [
                ("state1", "state2", "correction"),
                ("out", "lse"),
                ("merge_steps", "neutral", "why_any_order"),
            ],
        ),
        (
            "flash_facts",
            [("widest", "products"), ("moved_standard", "moved_tiled", "moved_ratio"), ("saved",)],
        ),
    ],
)
def test_points_of_parts(name, parts):
    exercise = module(name).exercise
    assert [points(exercise, *names) for names in parts] == POINTS[name][: len(parts)]


@pytest.mark.parametrize("name", ["attn_memory", "kv_equivalence", "online_softmax", "flash_tiled"])
def test_points_of_checks(name):
    at = {"attn_memory": 3, "kv_equivalence": 0, "online_softmax": 3, "flash_tiled": 0}[name]
    assert sum(check.points for check in module(name).exercise.checks) == POINTS[name][at]


@pytest.mark.parametrize("name", [name for name in POINTS if name != "linear_gap"])
def test_no_right_answer_is_a_rounding_error(name):
    """An entry of 1e-17 would be compared within 1 %, and a student's 0 would be wrong."""
    exercise = module(name).exercise
    for variant in draws(exercise, "attention").pool:
        for part, answer in solve(exercise, variant).items():
            if isinstance(answer, np.ndarray) and answer.dtype.kind == "f":
                assert not np.any((answer != 0) & (np.abs(answer) < 1e-9)), part


class TestMadds:
    numbers = {"d": 512, "n_short": 512, "n_long": 8192, "h": 8}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("madds", **self.numbers)
        assert (at(found["meets_projections"], d=7), at(found["meets_layer"], d=7)) == (14, 42)
        assert list(found["crossings"]) == [1024, 3072]
        same(found["shares"], [0.1428571, 0.7272727])
        assert found["flops"] == 1_610_612_736
        assert found["madds_with_heads"] == 268_435_456

    def test_wrong_procedures_give_their_wrong_answers(self):
        assert wrong("madds", "flops", "madds_reported", **self.numbers) == 805_306_368
        assert wrong("madds", "flops", "madds_of_the_products", **self.numbers) == 268_435_456


class TestAttnMemory:
    numbers = {"n": 8192, "dtype": "float32"}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("attn_memory", **self.numbers)
        assert found["size_bytes"] == 268_435_456
        same(found["size_mib"], 256)
        same(found["size_mb"], 268.4355)
        same(found["layer_gib"], 8)
        same(found["half_mib"], 128)
        assert found["table_bytes"].tolist() == [40000, 1000000, 4000000, 16000000, 100000000]
        same(found["table_mb"], [0.08, 2, 8, 32, 200])
        assert found["largest_n"] == 146_542
        same(found["qkvo_mib"], 8)
        assert found["state_floats"] == 4160

    def test_wrong_procedures_give_their_wrong_answers(self):
        assert wrong("attn_memory", "size_bytes", "entries_for_bytes", **self.numbers) == 67_108_864
        double = wrong("attn_memory", "size_bytes", "other_precision", **self.numbers)
        assert double == 512 * 2**20
        same(wrong("attn_memory", "size_mib", "decimal_megabytes", **self.numbers), 268.4355)

    def test_function(self):
        f = module("attn_memory").attention_bytes
        assert f(8192, heads=8) == 2 * 2**30  # eight heads of an example
        assert f(8192, heads=8, batch=4) == 8 * 2**30


class TestBenchHygiene:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("bench_hygiene")
        assert found["good_practice"] == "ACDFG"
        assert found["factors"].tolist() == [25, 5]
        same(found["median"], 1.01)
        same(found["mean"], 2.602)


class TestLinearGap:
    """With the catalogue's seed, and by the plain formula at the smaller sizes."""

    def test_right_answers_are_those_of_the_catalogue(self):
        m = module("linear_gap")
        np.testing.assert_allclose(
            m.l2.compute(0), [10.217, 9.981, 10.291, 10.309, 10.069], atol=6e-4
        )
        np.testing.assert_allclose(
            m.rel.compute(m.l2.compute(0), 0), [0.758, 0.729, 0.769, 0.774, 0.8], atol=6e-4
        )

    def test_equal_keys_make_both_the_mean(self):
        m = module("linear_gap")
        rng = np.random.default_rng(1)
        Q, V = rng.normal(size=(2, 50, 64))
        K = np.full((50, 64), 0.3)
        q, k = m.elu1(Q), m.elu1(K)
        linear = q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]
        np.testing.assert_allclose(m.rows_of(Q, K, V, 0.125), linear, atol=1e-5)
        np.testing.assert_allclose(linear, np.tile(V.mean(axis=0), (50, 1)), atol=1e-12)


class TestCostCurves:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("cost_curves")
        assert found["predicted"].tolist() == [
            [1280000, 32000000, 128000000, 512000000, 3200000000],
            [819200, 4096000, 8192000, 16384000, 40960000],
        ]
        assert found["cross"] == 64
        assert found["lines"][:, -1].tolist() == [0.25, 0.006]

    def test_exponents(self):
        m = module("cost_curves")
        slopes = [m.fit_exponent(m.lengths, row) for row in m.predicted.compute()]
        same(slopes, [2, 1])
        same(m.fit_exponent(m.lengths, m.lines.compute()[0]), 2)
        same(m.fit_exponent(m.lengths, 1e-3 + 1e-8 * m.lengths**2), 1.390797)

    def test_one_point_is_given_by_hand(self):
        exercise = module("cost_curves").exercise
        assert (exercise.points, exercise.auto_points) == (6, 5)


class TestTimeAttention:
    """Which times show what; nothing here is measured."""

    n = np.array([100, 500, 1000, 2000, 5000])
    quadratic, straight = 1e-8 * n**2.0, 1.2e-6 * n

    def shown(self, *rows):
        return module("time_attention").shown_by(np.array(rows))

    def test_what_the_published_race_prints(self):
        products, exponentials, calls, cold = 51.2, 20, 20, 50  # milliseconds
        linear = 2 * 2000 * 64 * 64 * 1e-7 + 2 * 2000 * 64 * 5e-6
        fair = (products + exponentials) / linear
        printed = (products + exponentials + calls + cold) / linear
        same(known("time_attention")["flattering"], [printed, fair])

    def test_what_is_decided(self):
        assert self.shown(self.quadratic, self.straight) == "a race"
        assert self.shown(self.straight, self.quadratic) == "rows exchanged"
        assert self.shown(1000 * self.quadratic, 1000 * self.straight) == "not seconds"
        assert self.shown(0 * self.n, self.straight) == "no times"
        assert self.shown(self.quadratic, np.ones(5)) == "no times"

    @pytest.mark.parametrize("exponent", [1.5, 2.7])
    def test_what_is_left_to_a_person(self, exponent):
        bent = 0.25 * (self.n / 5000) ** exponent
        with pytest.raises(Undecided):
            self.shown(bent, self.straight)

    def test_a_busy_machine_bends_curves_and_a_quadratic_method_stays_one(self):
        slow = [2e-4, 0.0123, 0.0491, 0.16, 0.945]
        assert self.shown(slow, [3e-4, 1.34e-3, 2.63e-3, 1.007e-2, 3.36e-2]) == "a race"
        assert self.shown([2e-4, 2.1e-3, 0.034, 0.116, 0.428], self.straight) == "a race"
        with pytest.raises(Undecided):
            self.shown(slow, 1e-4 + 1e-9 * self.n**2.0)

    def test_the_machine_of_the_catalogue(self):
        assert self.shown([2e-4, 3e-3, 0.011, 0.037, 0.25], [1e-4, 6e-4, 1e-3, 2e-3, 6e-3])


class TestKvEquivalence:
    def test_only_the_last_row_of_an_unmasked_layer_agrees(self):
        m = module("kv_equivalence")
        x, W = m.layer(np.random.default_rng(0), 6, 2)
        masked = m.causal(x, W, 2)
        layer = m.KVCache(W, 2)
        layer._mask = lambda t, total: np.ones((t, total), bool)
        free = layer.step(x)
        assert np.abs(free[0, :-1] - masked[0, :-1]).max() > 0.05
        np.testing.assert_allclose(free[0, -1], masked[0, -1])
        assert known("kv_equivalence")["without_mask"] == "C"

    def test_scores_of_rotated_vectors_depend_on_the_offset(self):
        m = module("kv_equivalence")
        q, k = np.random.default_rng(1).normal(size=(2, 1, 8))
        scores = [m.rotate(q, [s + 3]) @ m.rotate(k, [s]).T for s in (0, 5, 40)]
        same(scores, np.broadcast_to(scores[0], (3, 1, 1)))


class TestKvCost:
    numbers = {"n": 1000, "d": 512}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("kv_cost", **self.numbers)
        assert list(found["counts"]) == [1_561_088_000, 866_657_792_000]
        assert at(found["cached"], **self.numbers) == 1_561_088_000
        assert at(found["recomputed"], **self.numbers) == 866_657_792_000
        same(found["ratio"], 555.1627)
        assert found["last_step"] == 2_072_576
        assert found["equal_at"] == 1024

    def test_totals_are_sums_of_steps(self):
        n, d = 37, 6
        steps = range(1, n + 1)
        cached, recomputed = known("kv_cost", n=n, d=d)["counts"]
        assert cached == sum(4 * d**2 + 2 * t * d for t in steps)
        assert recomputed == sum(4 * t * d**2 + 2 * t**2 * d for t in steps)

    def test_wrong_procedures_give_their_wrong_answers(self):
        assert wrong("kv_cost", "last_step", "t_times_d", **self.numbers) == 512_000


class TestKvMemory:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("kv_memory")
        assert found["small_bytes"] == 12_288_000
        assert found["large_bytes"] == 9_663_676_416
        same(found["large_gib"], 9)
        assert found["per_token"] == 4_718_592
        assert found["shared_bytes"] == 100_663_296

    def test_wrong_procedures_give_their_wrong_answers(self):
        assert wrong("kv_memory", "small_bytes", "values_forgotten") == 6_144_000
        assert wrong("kv_memory", "large_bytes", "weights_stored") == 805_306_368


class TestOnlineSoftmax:
    numbers = {"s": np.array([1, 3, 2, 5]), "v": np.array([1, 0, 2, 4])}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("online_softmax", **self.numbers)
        same(found["state1"], [3, 1.135335, 0.1353353])
        same(found["state2"], [5, 1.203438, 4.11789])
        same(found["correction"], 0.1353353)
        same(found["out"], 3.421771)
        same(found["lse"], 5.185182)

    @pytest.mark.parametrize(
        ("mistake", "figure"),
        [
            ("blocks_never_rescaled", 1.938065),
            ("blocks_averaged", 2.012176),
            ("only_l_rescaled", 3.519009),
        ],
    )
    def test_wrong_procedures_give_their_wrong_answers(self, mistake, figure):
        same(wrong("online_softmax", "out", mistake, **self.numbers), figure)

    def test_follow_through(self):
        state = wrong("online_softmax", "state2", "no_rescaling", **self.numbers)
        same(module("online_softmax").out.compute(state), 1.938065)
        assert not module("online_softmax").state2.carry_if(np.zeros(3))

    def test_draws(self):
        for variant in draws(module("online_softmax").exercise, "attention").pool:
            s, v = variant["s"], variant["v"]
            assert s[2:].max() > s[:2].max()
            assert len(set(v.tolist())) >= 3


class TestFlashTiled:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("flash_tiled")
        names = "tile_count", "tiles_causal", "running_floats", "full_floats"
        assert [int(found[name]) for name in names] == [4096, 2080, 16_384, 67_108_864]
        same(found["tile_kib"], 64)

    def test_tensors(self):
        torch = pytest.importorskip("torch")
        m, draw = module("flash_tiled"), torch.Generator().manual_seed(0)
        Q, K, V = (torch.randn((2, 3, 50, 8), generator=draw) for _ in range(3))
        right = m.some_rows(np.arange(50), *(x.double() for x in (Q, K, V)))
        for block in (7, 25, 1024):
            found = m.torch_flash(Q, K, V, block)
            assert found.dtype == torch.float32
            assert torch.allclose(found.double(), right, atol=1e-5)
        low = m.torch_flash(*(x.bfloat16() for x in (Q, K, V)), 7)
        assert low.dtype == torch.bfloat16
        assert torch.allclose(low.double(), right, atol=0.05)

    def test_tensors_take_memory_like_n(self):
        pytest.importorskip("torch")
        from autograder.sandbox.meters.torchmeter import outlined

        few, many = (
            outlined(module("flash_tiled").torch_flash, [(1, 8, n, 64)] * 3, "float32")
            for n in (8192, 20480)
        )
        assert many["peak"] < 2.6 * few["peak"]
        assert many["largest"] == 8 * 20480 * 64

    def test_weights_come_back_from_the_log_sum_exp(self):
        m = module("flash_tiled")
        Q, K, V = m.qkv(np.random.default_rng(0), 50, 70, 8, 3, 5.0)
        out, lse = m.flash_attention(Q, K, V, 16)
        weights = np.exp(Q @ K.T / np.sqrt(8) - lse[:, None])
        np.testing.assert_allclose(weights.sum(axis=1), 1)
        np.testing.assert_allclose(weights @ V, out)
        dO = np.random.default_rng(1).normal(size=out.shape)
        np.testing.assert_allclose(((dO @ V.T) * weights).sum(axis=1), (dO * out).sum(axis=1))


class TestFlashFacts:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("flash_facts")
        assert [found["widest"], *found["products"]] == [160, 2, 4, 5]
        same(found["moved_standard"], 67_633_152)
        same(found["moved_tiled"], 1.073742e7)
        same(found["moved_ratio"], 6.298828)
        assert found["saved"] == 8192
        assert 2 * 8192**2 * 64 == 8_589_934_592


class TestEchoCache:
    def test_the_counts_are_those_of_the_text(self):
        m = module("echo_cache")
        found = known("echo_cache", prompt="^", steps=24)
        assert found["kept"] == 24 * 64
        assert list(found["madds"]) == [24 * 5296 + 32 * 24 * 25, m.anew("^", 24)]
        assert round(m.anew("^", 24) / m.with_cache("^", 24)) == 12
        matrices = [w.size for name, w in m.ECHO.items() if "norm" not in name and name != "embed"]
        assert sum(matrices) == m.WEIGHTS

    def test_what_is_written_is_what_the_whole_model_says(self):
        m = module("echo_cache")
        for prompt in ("^BA", "^GF"):
            ids = list(m.read(prompt))
            for letter in known("echo_cache", prompt=prompt, steps=9)["word"]:
                assert letter == m.EchoCache(m.ECHO).step(np.array(ids))[-1].argmax()
                ids.append(letter)

    def test_a_word_that_is_begun_is_said_again(self):
        assert list(known("echo_cache", prompt="^BADGEBA", steps=5)["word"]) == [4, 7, 5, 2, 1]

    def test_the_model_is_the_one_of_a11(self):
        m, theory = module("echo_cache"), load_module(ROOT / "reference/a11_theory/head_profile.py")
        ids = m.read("^BADGEBADGE")
        whole = theory.echo_pass(theory.ECHO, ids)[0]
        found = m.fed(m.EchoCache(m.ECHO), ids, 3, 1, 2, 1, 4)
        np.testing.assert_allclose(found, whole, rtol=1e-8, atol=1e-8)

    def test_what_the_notebook_gives_makes_this_model(self, monkeypatch):
        monkeypatch.chdir(ROOT / "assignments" / ID / "data")
        notebook = jupytext.read(ROOT / "assignments" / ID / f"{ID}.py")
        [cell] = [cell for cell in notebook.cells if "def feed_forward(" in cell.source]
        names = {"np": np}
        exec(compile(cell.source, "given", "exec"), names)
        rng, helpers = np.random.default_rng(0), load_helpers(ROOT / "reference")
        x, w = rng.normal(size=(2, 5, 8)), helpers.echo_layers(names["trained"])[1]
        at = np.arange(3, 8)
        np.testing.assert_allclose(names["turned"](x, at), helpers.rotated(x, at))
        y = rng.normal(size=(5, 16))
        ours = helpers.swiglu(helpers.rms_norm(y, w["norm2"]), w)
        y = names["rms_norm"](y, w["norm2"])
        np.testing.assert_allclose(names["feed_forward"](y, w["gate"], w["up"], w["down"]), ours)
