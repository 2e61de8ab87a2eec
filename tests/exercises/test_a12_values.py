"""a12: the references give the catalogue's figures, and the points are those of its rows."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from autograder.exercise import Mismatch, Undecided
from autograder.exercise.words.loading import load_module
from autograder.exercise.words.variants import rng_for
from autograder.grading.interview import Interview

FOLDER = Path(__file__).parents[2] / "reference" / "a12_capstone"
POINTS = {
    "cap_forward": 6 + 8 + 2,
    "cap_gradcheck": 8 + 1,
    "cap_seq2seq": 12 + 2,
    "cap_classify": 4 + 8 + 2,
    "cap_attention": 3 + 3 + 3 + 2 + 2,
    "cap_benchmark": 4 + 2 + 3,
    "echo_beside": 3,
}


@cache
def module(name):
    return load_module(FOLDER / f"{name}.py")


@pytest.mark.parametrize(("name", "points"), POINTS.items(), ids=POINTS)
def test_points_are_those_of_the_catalogue(name, points):
    assert module(name).exercise.points == points


class TestForward:
    def test_parameters_are_counted_and_made(self):
        counts = module("cap_forward").parameters()
        assert counts == [17_088, 25_664, 43_625]
        model = module("cap_forward").Transformer(9, 32, 2, 64, 2, np.random.default_rng(0))
        sizes = {name: array.size for name, array in model.weights.items()}
        assert sum(sizes.values()) == counts[2]
        parts = [sum(s for n, s in sizes.items() if n.startswith(k)) for k in ("enc", "dec")]
        assert parts == counts[:2]

    def test_later_decoder_inputs_touch_no_earlier_output(self):
        model = module("cap_forward").Transformer(9, 32, 2, 64, 2, np.random.default_rng(0))
        src, tgt = np.random.default_rng(1).integers(0, 9, (2, 3, 6))
        other = tgt.copy()
        other[:, 4] = (other[:, 4] + 1) % 9
        memory = model.encode(src)
        moved = np.abs(model.decode(memory, tgt) - model.decode(memory, other)).max((0, 2)) > 1e-9
        assert moved.astype(int).tolist() == module("cap_forward").touched()
        assert model.decode(memory, tgt).shape == (3, 6, 9)


def in_torch(weights, src, tgt, h):
    """Memory and logits by torch's own layers, which our references know nothing of."""
    torch = pytest.importorskip("torch")
    w = {name: torch.tensor(array) for name, array in weights.items()}
    d, f = w["source"].shape[1], w["encoder.0.b1"].shape[0]
    sizes = {"dropout": 0.0, "batch_first": True, "layer_norm_eps": 1e-5, "dtype": torch.float64}

    def fill(place, layer, looks):
        for kind, attention in looks.items():
            own = {n: w[f"{place}.{kind}.{n}"] for k in "qkvo" for n in (f"W_{k}", f"b_{k}")}
            attention.in_proj_weight.data = torch.cat([own[f"W_{k}"].T for k in "qkv"])
            attention.in_proj_bias.data = torch.cat([own[f"b_{k}"] for k in "qkv"])
            attention.out_proj.weight.data, attention.out_proj.bias.data = own["W_o"].T, own["b_o"]
        for i in (1, 2):
            linear = getattr(layer, f"linear{i}")
            linear.weight.data, linear.bias.data = w[f"{place}.W{i}"].T, w[f"{place}.b{i}"]
        for i in range(1, len(looks) + 2):
            norm = getattr(layer, f"norm{i}")
            norm.weight.data, norm.bias.data = w[f"{place}.gamma{i}"], w[f"{place}.beta{i}"]
        return layer.eval()

    def embedded(name, ids):
        places = torch.tensor(module("cap_forward").positional_encoding(ids.shape[1], d))
        return w[name][torch.tensor(ids)] * d**0.5 + places

    memory, y = embedded("source", src), embedded("target", tgt)
    causal = torch.nn.Transformer.generate_square_subsequent_mask(tgt.shape[1], dtype=torch.float64)
    with torch.no_grad():
        for i in range(2):
            layer = torch.nn.TransformerEncoderLayer(d, h, f, **sizes)
            memory = fill(f"encoder.{i}", layer, {"self": layer.self_attn})(memory)
        for i in range(2):
            layer = torch.nn.TransformerDecoderLayer(d, h, f, **sizes)
            looks = {"self": layer.self_attn, "cross": layer.multihead_attn}
            y = fill(f"decoder.{i}", layer, looks)(y, memory, tgt_mask=causal)
    return memory.numpy(), (y @ w["out.W"] + w["out.b"]).numpy()


def test_torch_s_own_layers_compute_what_the_reference_does():
    forward, rng = module("cap_forward"), np.random.default_rng(3)
    weights = forward.drawn(rng)
    src, tgt = forward.sentences(rng)
    model = forward.built(Interview(forward.Transformer), weights)
    memory, logits = in_torch(weights, src, tgt, forward.H)
    assert np.abs(model.encode(src) - memory).max() < 1e-10
    assert np.abs(model.decode(memory, tgt) - logits).max() < 1e-10


def test_the_key_bias_of_the_small_model_gets_no_gradient():
    model = module("cap_forward").Transformer(9, 8, 2, 12, 1, np.random.default_rng(0))
    assert sum(array.size for array in model.weights.values()) == 1593
    ids = np.random.default_rng(1).integers(0, 9, (3, 2, 6))
    _, grads = module("cap_gradcheck").loss_and_grads(model.weights, 2, *ids)
    biases = {n: np.abs(g).max() for n, g in grads.items() if ".b_" in n}
    assert {n for n, size in biases.items() if size < 1e-12} == {n for n in biases if ".b_k" in n}


def test_without_positions_a_sequence_and_its_mirror_image_are_the_same():
    classify = module("cap_classify")
    model = classify.Classifier(10, 32, 2, 64, np.random.default_rng(0))
    assert sum(array.size for array in model.weights.values()) == 8930
    x, _ = classify.sequences(np.random.default_rng(1), 20)
    there, back = model(x, False), model(x[:, ::-1], False)
    assert np.abs(there - back).max() < 1e-12 < np.abs(model(x) - model(x[:, ::-1])).max()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_gradients_that_are_given_are_those_that_are_asked_for(kind):
    pytest.importorskip("torch")
    own = module("cap_gradcheck")
    rng = np.random.default_rng(0)
    weights, data = own.model(rng), own.batch(rng)
    loss, grads = own.loss_and_grads(weights, own.H, *data)
    weights = {name: array.astype(kind) for name, array in weights.items()}
    given, found = own.by_library(weights, own.H, *data)
    assert given == pytest.approx(loss, rel=100 * float(np.finfo(kind).eps))
    assert found.keys() == grads.keys()
    for name, array in grads.items():
        assert found[name].dtype == kind
        assert np.allclose(found[name], array, 1e-3 if kind == np.float32 else 1e-9, 1e-5), name


class TestAttention:
    def test_bounds_are_the_catalogues(self):
        inside = module("cap_attention")
        one, mirror = np.eye(6), np.eye(6)[::-1]
        apart = np.stack([one, mirror])[None]
        assert inside.head_distance(apart) == pytest.approx(3.464102, abs=1e-6)
        assert inside.mirror_mass(apart).tolist() == [0, 1]
        flat = np.full((1, 2, 6, 6), 1 / 6)
        assert inside.row_entropy(flat) == pytest.approx([1.791759] * 2, abs=1e-6)
        assert inside.mirror_mass(flat) == pytest.approx([0.1666667] * 2, abs=1e-6)

    def test_a_trained_model_is_told_from_one_that_is_not(self):
        inside, reverse = module("cap_attention"), module("cap_seq2seq")
        src, labels = reverse.sequences(np.random.default_rng(1), 64)

        def shown(steps):
            weights, _ = reverse.trained(0, 32, steps=steps)
            maps = inside.collect(weights, src, reverse.shifted(labels))
            masses = [inside.mirror_mass(maps[f"decoder.{i}.cross"]) for i in range(2)]
            distances = [inside.head_distance(each) for each in maps.values()]
            table = np.array([inside.row_entropy(maps[name]) for name in places])
            orders = inside.plausible(table), inside.plausible(table[::-1])
            masses, distances = np.concatenate(masses), np.array(distances)
            return inside.shown_by(masses), inside.apart(distances), orders

        places = [f"encoder.{i}.self" for i in range(2)]
        places += [f"decoder.{i}.{look}" for look in ("self", "cross") for i in range(2)]
        assert shown(0)[:2] == ("untrained", "distances")
        orders = "entropies", "another order"
        assert shown(200) == ("a reversing model", "distances", orders)


class TestTrainings:
    @pytest.mark.parametrize("name", ["cap_seq2seq", "cap_classify"])
    def test_the_secret_draws_seed_and_width(self, name):
        drawn = {module(name).asked_for(rng_for(f"s{i}", "training")) for i in range(40)}
        assert {width for _, width in drawn} == {*range(28, 37, 2)}
        assert len({seed for seed, _ in drawn}) > 30

    @pytest.mark.parametrize("name", ["cap_seq2seq", "cap_classify"])
    def test_weights_that_were_kept_have_another_width(self, name):
        made = module(name)
        fresh = made.trained(1, 26, steps=1)
        check = made.exercise.functions[-1].checks[0]
        with pytest.raises(Mismatch, match="width"):
            check.run(Interview(lambda *_: fresh), rng_for("s1", "training"))

    @pytest.mark.parametrize("name", ["cap_seq2seq", "cap_classify"])
    def test_what_was_kept_and_cut_to_size_took_no_training(self, name):
        made = module(name)
        _, width = made.asked_for(rng_for("s1", "training"))
        kept = made.trained(1, width)
        for check in made.exercise.functions[-1].checks[:1]:
            with pytest.raises(Mismatch, match="it came at once"):
                check.run(Interview(lambda *_: kept), rng_for("s1", "training"))

    def test_who_knows_a_batch_by_heart_has_learned_nothing(self, monkeypatch):
        made = module("cap_classify")
        check = made.exercise.functions[-1].checks[0]
        monkeypatch.setattr(made, "tried", lambda *_: (0.85, 1.1))
        with pytest.raises(Mismatch, match="a few by heart") as failed:
            check.run(Interview(lambda *_: {}), rng_for("s1", "training"))
        assert failed.value.credit == 0

    def test_a_model_as_it_was_drawn_guesses(self):
        made = module("cap_classify")
        assert made.symptom(0.5, 1.02)[0] == "guess"
        assert made.symptom(0.52, 1.6)[0] == made.symptom(0.7, 0.9)[0] == "by_heart"
        assert made.symptom(0.7, 0.6)[0] == "short"


class TestBenchmark:
    def test_predictions_are_the_catalogues(self):
        benchmark, given = module("cap_benchmark"), {"n": 16_384, "h": 8}
        assert benchmark.maps_gib(**given) == [1, 4]
        assert benchmark.state_bytes(8) == 133_120
        madds = benchmark.madds(**given)
        assert madds == [274_877_906_944, 1_073_741_824]
        assert benchmark.ratio(madds) == 256

    def test_times_decide_and_where_they_show_nothing_a_person_does(self):
        benchmark = module("cap_benchmark")
        lengths = [256, 512, 1024, 2048]
        seconds = [[2.77, 11.88, 107.0, 420.97], [2.01, 6.89, 30.44, 115.94]]
        measured = np.array([lengths, *seconds, [3.68, 6.58, 14.84, 38.56]])
        measured[1:] /= 1000  # one core of a busy machine, milliseconds
        assert benchmark.shown_by(measured) == "a comparison"
        assert benchmark.shown_by(measured[[0, 3, 2, 1]]) == "rows exchanged"
        with pytest.raises(Undecided):
            benchmark.shown_by(measured[[0, 1, 2, 1]])


class TestEchoBeside:
    def test_the_least_and_what_echo_pays_are_the_thread_s(self):
        m = module("echo_beside")
        rng = np.random.default_rng(0)
        motifs = ["".join(rng.permutation([*"ABCDEFGHIJ"])[: 4 + i % 5]) for i in range(50)]
        assert m.least.compute(motifs) == pytest.approx([2.058, 0.9575], abs=1e-3)
        paid = m.of_echo(m.costs, motifs)
        np.testing.assert_allclose(paid, [2.166, 1.132, 0.00064], rtol=0.08)

    def test_the_notebook_s_own_class_learns_it_as_the_notebook_says(self):
        m, helpers = module("echo_beside"), module("cap_seq2seq")
        rng, own = np.random.default_rng(1), np.random.default_rng(2)
        made = module("cap_forward").Transformer(11, 32, 2, 64, 2, rng)
        weights = {name: array.astype(np.float32) for name, array in made.weights.items()}
        assert sum(array.size for array in weights.values()) == 43_819

        def motif():
            return "".join(own.permutation([*m.LETTERS[1:]])[: own.integers(4, 9)])

        def gradients():
            ids, _ = m.sentences([motif() for _ in range(32)])
            steps = helpers.Pass(weights, 2)
            logits, back = steps.translate(np.zeros((32, 1), int), ids[:, :-1])
            loss, slope = helpers.cross_entropy(logits, ids[:, 1:])
            back(slope)
            return loss, steps.grads

        def rate(step):
            return np.float32(0.005 * min(1, step / 50) * (1 - 0.95 * step / 600))

        losses = list(helpers.adam(weights, gradients, 600, rate))
        assert 0.58 < np.mean(losses[-20:]) < 0.66
        ids, lengths = m.sentences([motif() for _ in range(10)])
        made.weights = weights
        logits = made.decode(made.encode(np.zeros((10, 1), int)), ids[:, :-1])
        paid = m.costs(np.asarray(logits, float), ids, lengths)
        assert m.told(paid) == "learned"
        assert paid[2] < m.LEARNED / 5
