"""a14, a model that writes and what it knows: what ships with it, and the numbers of its text."""

import importlib.util
import itertools
import json
import string
from functools import cache
from math import comb

import numpy as np
import pytest

from autograder.exercise import Mismatch
from autograder.exercise.words.loading import load_module
from autograder.exercise.words.variants import draws, rng_for
from autograder.grading.interview import Interview

from ..loaded import ROOT, assigned

ID = "a14_text"
DATA = ROOT / "assignments" / ID / "data"
POINTS = {"train_text": 12, "sampling": 8, "evaluate": 7, "read_out": 3}
LESSON = (ROOT / "assignments" / ID / f"{ID}.py").read_text()
MEASURED = json.loads((ROOT / "bench/results/reading.json").read_text())


@cache
def module(name):
    return load_module(ROOT / "reference" / ID / f"{name}.py")


@cache
def bench(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "bench" / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_points_and_their_order():
    loaded = assigned(ID)
    assert [id for id in loaded.sound if id in POINTS] == list(POINTS)
    assert {id: loaded.sound[id].points for id in POINTS} == POINTS


class TestLessons:
    def test_their_tokens_are_those_of_the_text_after_256_merges(self):
        text, merged = (DATA / "course.txt").read_bytes(), bench("course_text").merged
        read = module("train_text")
        lessons = read.lessons()
        assert [*lessons] == [f"{i:02}" for i in range(1, 14)]
        words = [bytes([i]) for i in range(256)]
        merges = np.load(DATA / "merges.npy")[:256].tolist()
        for one, two in merges:
            words.append(words[one] + words[two])
        assert read.lengths().tolist() == [len(word) for word in words]
        assert b"".join(words[i] for ids in lessons.values() for i in ids) == text
        ids = np.frombuffer(b"".join(words[i] for i in lessons["02"]), np.uint8).astype(int)
        for new, (one, two) in enumerate(merges, start=256):
            ids = merged(ids, one, two, new)
        assert np.array_equal(ids, lessons["02"])

    def test_the_text_says_how_many_they_are(self):
        tokens = sum(map(len, module("train_text").lessons().values()))
        assert round(tokens, -3) == 174_000
        assert round((DATA / "course.txt").stat().st_size / tokens, 1) == 2.0

    def test_two_are_taken_out_and_a_width_is_drawn(self):
        read, drawn = module("train_text"), []
        everything = sum(map(len, read.lessons().values()))
        for i in range(30):
            seed, width, text, held = read.asked_for(rng_for(f"s{i}", "training"))
            assert len(text) + len(held) == everything
            drawn.append((seed, width, len(held)))
        assert {width for _, width, _ in drawn} == {*range(44, 53, 2)}
        assert len({seed for seed, *_ in drawn}) > 25 > 15 < len({size for *_, size in drawn})


def small(seed=0, d=8):
    """Weights in double precision, each of which counts."""
    read, rng = module("train_text"), np.random.default_rng(seed)
    fresh = read.initial_weights(read.shapes(d), rng)
    return {name: a + 0.3 * rng.normal(size=a.shape) for name, a in fresh.items()}


class TestDecoder:
    ids, labels = np.random.default_rng(1).integers(0, 512, (2, 3, 7))

    def test_gradients_are_those_of_differences(self):
        read, weights, rng = module("train_text"), small(), np.random.default_rng(2)
        there = read.Decoder(weights, 2)
        logits, back = there.read(self.ids)
        back(read.cross_entropy(logits, self.labels)[1])
        for name, array in weights.items():
            way, losses = rng.normal(size=array.shape), []
            for step in (1e-5, -1e-5):
                moved = read.Decoder(weights | {name: array + step * way}, 2)
                losses.append(read.cross_entropy(moved.read(self.ids)[0], self.labels)[0])
            slope = (losses[0] - losses[1]) / 2e-5
            assert (there.grads[name] * way).sum() == pytest.approx(slope, rel=1e-4, abs=1e-7), name

    def test_nobody_looks_ahead(self):
        read, weights = module("train_text"), small()
        other = self.ids.copy()
        other[:, 4] = (other[:, 4] + 1) % 512
        one, two = (read.Decoder(weights, 2).read(ids)[0] for ids in (self.ids, other))
        moved = np.abs(one - two).max(axis=(0, 2)) > 1e-9
        assert moved.tolist() == [False] * 4 + [True] * 3

    def test_torch_s_own_layers_compute_the_same(self):
        torch = pytest.importorskip("torch")
        read, weights = module("train_text"), small()
        w = {name: torch.tensor(array) for name, array in weights.items()}
        kinds = {"dropout": 0.0, "batch_first": True, "dtype": torch.float64}
        x = w["embed"][torch.tensor(self.ids)] * 8**0.5 + torch.tensor(read.sinusoids(7, 8))
        mask = torch.nn.Transformer.generate_square_subsequent_mask(7, dtype=torch.float64)
        for place in ("layer.0", "layer.1"):
            layer = torch.nn.TransformerEncoderLayer(8, 2, 16, **kinds)
            look = layer.self_attn
            own = {name: w[f"{place}.self.{name}"] for k in "qkvo" for name in (f"W_{k}", f"b_{k}")}
            look.in_proj_weight.data = torch.cat([own[f"W_{k}"].T for k in "qkv"])
            look.in_proj_bias.data = torch.cat([own[f"b_{k}"] for k in "qkv"])
            look.out_proj.weight.data, look.out_proj.bias.data = own["W_o"].T, own["b_o"]
            for i in (1, 2):
                linear, norm = getattr(layer, f"linear{i}"), getattr(layer, f"norm{i}")
                linear.weight.data = w[f"{place}.W{i}"].T
                linear.bias.data = w[f"{place}.b{i}"]
                norm.weight.data, norm.bias.data = w[f"{place}.gamma{i}"], w[f"{place}.beta{i}"]
            with torch.no_grad():
                x = layer.train()(x, src_mask=mask)
        logits = (x @ w["out.W"] + w["out.b"]).numpy()
        assert np.abs(read.Decoder(weights, 2).read(self.ids)[0] - logits).max() < 1e-9


class TestExample:
    """Weights of the notebook with which students compare the logits of their model."""

    @staticmethod
    def logits(changed=lambda w: w, heads=2):
        read, cell = module("train_text"), LESSON[LESSON.index("def shapes(d):") :]
        given = {"np": np}
        exec(cell[: cell.index("# %% [markdown]")], given)
        assert given["shapes"](4) == read.shapes(4)
        assert not given["differences"](given["example"](6), 6)
        found, _ = read.Decoder(changed(given["example"](4)), heads).read(
            np.array([[3, 1, 4, 1, 5]])
        )
        return ", ".join(f"{logit:.4f}" for logit in found[0, -1, :4])

    def test_the_logits_are_those_of_the_text(self):
        assert f"behind the last token are ${self.logits()}$" in LESSON.replace("\n# ", " ")

    def test_another_model_has_others(self, monkeypatch):
        read, found = module("train_text"), [self.logits(), self.logits(heads=1)]
        found.append(self.logits(read.transposed))
        halves = lambda n, d: np.hstack([read_sinusoids(n, d)[:, i::2] for i in (0, 1)])  # noqa: E731
        read_sinusoids = read.sinusoids
        monkeypatch.setattr(read, "sinusoids", halves)
        found.append(self.logits())
        assert len({*found}) == 4


class TestTraining:
    @staticmethod
    def checked(name, found):
        """What a check makes of a run."""
        checks = {check.name: check for check in module("train_text").exercise.functions[-1].checks}
        checks[name].run(Interview(lambda *_: found), rng_for("s1", "training"))

    @staticmethod
    @cache
    def short(**kinds):
        """A short run of the seed, width and text that are asked for there."""
        read = module("train_text")
        rng = rng_for("s1", "training")
        seed, width, text, _ = read.asked_for(rng)
        return read.trained(seed, width, rng.permutation(read.V)[text], steps=60, **kinds)

    def test_weights_of_another_width_are_refused(self):
        read = module("train_text")
        *_, text, _ = read.asked_for(rng_for("s1", "training"))
        with pytest.raises(Mismatch, match="width"):
            self.checked("better_than_pairs", read.trained(1, 40, text, steps=1))

    def test_a_table_of_pairs_is_no_decoder_however_good_it_is(self, monkeypatch):
        read = module("train_text")
        weights, losses = self.short(still=read.STILL)
        *_, width, text, held = read.asked_for(rng_for("s1", "training"))
        run = read.Trained((weights, losses), width, text, held)
        assert abs(run.looks_back) < 1e-9
        monkeypatch.setattr(read.Trained, "nats", lambda *_, **__: 1.0)
        monkeypatch.setattr(read, "took_work", lambda *_: None)
        with pytest.raises(Mismatch, match="the last token alone") as failed:
            self.checked("better_than_pairs", (weights, losses))
        assert failed.value.credit == 0

    def test_losses_that_were_made_up_earn_nothing(self, monkeypatch):
        monkeypatch.setattr(module("train_text"), "took_work", lambda *_: None)
        weights, losses = self.short()
        self.checked("loss_curve", (weights, losses))
        for made_up in (np.linspace(6.24, 2.0, 60), np.linspace(6.24, 3.4, 900)):
            with pytest.raises(Mismatch, match="another than your last ones"):
                self.checked("loss_curve", (weights, made_up))
        with pytest.raises(Mismatch, match="near log 512"):
            self.checked("loss_curve", (weights, losses - 4))

    def test_what_was_kept_took_no_training(self, monkeypatch):
        read = module("train_text")
        kept = self.short()
        monkeypatch.setattr(read.Trained, "nats", lambda *_: 1.0)
        monkeypatch.setattr(read.Trained, "looks_back", 1.0)
        with pytest.raises(Mismatch, match="it came at once"):
            self.checked("better_than_pairs", kept)

    def test_pairs_are_probabilities(self):
        read = module("train_text")
        pairs = read.Pairs(read.lessons()["03"])
        assert np.abs(pairs.behind.sum(axis=1) - 1).max() < 1e-9
        assert pairs.behind.min() > 0

    def test_all_of_twenty_seeds_lie_twice_the_band_below_pairs(self):
        rows = MEASURED["train_text"]
        assert len(rows) == 20
        assert all(row["passed"] for row in rows)
        below = [row["below_pairs"] for row in rows]
        assert all(value >= 2 * module("train_text").BAND for value in below)
        assert [round(min(below), 2), round(max(below), 2)] == [0.24, 0.32]
        assert all(abs(row["last_losses"] - row["read_again"]) < 0.2 for row in rows)

    def test_what_the_signs_say_holds_of_every_curve(self):
        read = module("train_text")
        ten, last = read.STEPS.index(10), -1
        for runs in read.CURVES:
            right, small, large, cold = (runs[k] for k in ("right", "small", "large", "cold"))
            assert small[0] - small[ten] < 0.25
            assert small[last] > right[last] + 0.5
            assert large[ten] < 6 < small[ten]
            assert all(5.2 < loss < 6 for loss in large[ten:])
            assert cold[ten] < right[ten]
            assert cold[last] > right[last]
            level = [
                next(s for s, x in zip(read.STEPS, c, strict=True) if x < 5.2)
                for c in (right, cold)
            ]
            assert level[0] <= level[1]
            assert min(right[last], cold[last]) < 5 < min(large[last], small[last])


class TestSampling:
    def test_the_worked_example(self):
        shaped, z = module("sampling").shaped, np.array([1.0, 2.0, 0.0, 1.0])
        assert np.round(shaped(z), 4).tolist() == [0.1966, 0.5344, 0.0723, 0.1966]
        assert np.round(shaped(z, 1.0, 2), 4).tolist() == [0.2689, 0.7311, 0, 0]
        assert (shaped(z, 1.0, None, 0.8) > 0).tolist() == [True, True, False, True]
        assert shaped(z, 1.0, 2, 0.7).tolist() == [0, 1, 0, 0]
        assert np.count_nonzero(shaped(z, 1.0, None, 0.7)) == 2

    def test_top_p_keeps_the_smallest_set_that_reaches_p(self):
        shaped, rng = module("sampling").shaped, np.random.default_rng(0)
        for _ in range(50):
            z, p = rng.normal(size=6), float(rng.uniform(0.1, 0.99))
            law, kept = shaped(z), shaped(z, 1.0, None, p) > 0
            sums = {
                ids: law[[*ids]].sum()
                for n in range(1, 7)
                for ids in itertools.combinations(range(6), n)
            }
            fewest = min(len(ids) for ids, total in sums.items() if total >= p)
            assert kept.sum() == fewest
            assert law[kept].sum() == max(t for ids, t in sums.items() if len(ids) == fewest)

    def test_the_false_alarms_are_as_rare_as_is_said(self):
        drawing = module("sampling")
        x = np.linspace(drawing.TOO_FAR, 400, 400_001)
        density = x * np.exp(-x / 2) / 4  # of chi squared with four degrees of freedom
        tail = float(((density[1:] + density[:-1]) / 2 * np.diff(x)).sum())
        half = drawing.TOO_FAR / 2
        assert tail == pytest.approx(np.exp(-half) * (1 + half), rel=1e-3)
        assert f"{tail:.0e}" == "3e-11"

    def test_equal_neighbours_are_as_many_as_chance_has(self):
        drawing = module("sampling")
        z = np.array([2.0, 1.0, 0.5, 0.0, -0.5])
        law = drawing.shaped(z)
        away = [drawing.in_a_row(drawing.sample(z, drawing.DRAWS, s), law) for s in range(60)]
        assert max(away) < 4
        assert 0.4 < np.mean(away) < 1.2  # of a normal number 0.8
        for seed in range(3):
            found = drawing.sample(z, drawing.DRAWS, seed)
            assert drawing.in_a_row(np.sort(found), law) > drawing.TOO_MANY

    def test_right_draws_have_a_distance_near_four_and_wrong_ones_a_large_one(self):
        drawing = module("sampling")
        z, distances = np.array([2.0, 1.0, 0.5, 0.0, -0.5]), []
        law = drawing.shaped(z)
        for seed in range(60):
            found = drawing.sample(z, drawing.DRAWS, seed)
            distances.append(drawing.chi_squared(found, law))
        assert 3 < np.mean(distances) < 5 < max(distances) < 25
        off = drawing.sample(z, drawing.DRAWS, 0, 1.1)
        assert drawing.chi_squared(off, law) > drawing.TOO_FAR

    def test_greedy_decoding_of_any_window_goes_round(self):
        rng = np.random.default_rng(4)
        for window in (1, 2, 3):
            behind = {w: int(rng.integers(3)) for w in itertools.product(range(3), repeat=window)}
            text = [0] * window
            for _ in range(2 * 3**window):
                text.append(behind[tuple(text[-window:])])
            seen = [tuple(text[i : i + window]) for i in range(3**window + 1)]
            assert len(set(seen)) < len(seen)


class TestEvaluate:
    def test_wilsons_ends_are_z_deviations_away(self):
        wilson = module("evaluate").wilson
        assert [round(end, 4) for end in wilson(5, 10)] == [0.2366, 0.7634]
        for k, n, z in ((8, 10, 1.96), (19, 25, 1.0), (1, 300, 2.5)):
            for p in wilson(k, n, z):
                assert (k / n - p) ** 2 == pytest.approx(z * z * p * (1 - p) / n)

    def test_it_covers_the_true_share_about_as_often_as_it_says(self):
        wilson, n = module("evaluate").wilson, 25
        for p in np.linspace(0.1, 0.9, 17):
            inside = [k for k in range(n + 1) if wilson(k, n)[0] <= p <= wilson(k, n)[1]]
            assert sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in inside) > 0.92

    def test_the_variance_of_a_share_is_that_of_all_cases(self):
        p, n = 0.7, 4
        cases = [*itertools.product((0, 1), repeat=n)]
        weights = [p ** sum(x) * (1 - p) ** (n - sum(x)) for x in cases]
        shares = [sum(x) / n for x in cases]
        mean = np.dot(weights, shares)
        assert np.dot(weights, np.square(shares)) - mean**2 == pytest.approx(p * (1 - p) / n)

    def test_eight_against_six_is_less_than_one_deviation(self):
        asked = module("evaluate")
        assert round(float(asked.deviations()), 4) == 0.9759
        assert asked.enough() == 41
        apart = [0.2 / np.sqrt(2 * 0.7 * 0.3 / n) for n in (40, 41)]
        assert apart[0] < 1.96 <= apart[1]

    def test_of_the_sentences_half_are_others_also_when_normalised(self):
        asked = module("evaluate")
        known, broken, altered = asked.pool()
        assert (len(known), len(broken), len(altered)) == (6, 6, 12)
        for each in [*known, *broken]:
            assert f" {asked.normal(each)} " in asked.normal_lessons()
        for each in altered:
            assert f" {asked.normal(each)} " not in asked.normal_lessons()

    def test_everybody_has_two_to_four_that_stand_there_and_two_that_do_not(self):
        asked = module("evaluate")
        for variant in draws(asked.exercise, "attention").pool:
            assert 2 <= len(asked.seen(variant["sentences"])) <= 4

    def test_marks_are_those_of_the_text(self):
        assert {*module("evaluate").MARKS} == {*string.punctuation, *"“”‘’…"}
        assert len(string.punctuation) == 32
