"""a12: the references give the catalogue's figures, and the points are those of its rows."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from autograder.exercise import Undecided
from autograder.exercise.loading import load_module

FOLDER = Path(__file__).parents[2] / "reference" / "a12_capstone"
POINTS = {
    "cap_forward": 6 + 8 + 2,
    "cap_gradcheck": 8 + 1,
    "cap_seq2seq": 12 + 2,
    "cap_classify": 4 + 8 + 2,
    "cap_attention": 3 + 3 + 3 + 2 + 2,
    "cap_benchmark": 4 + 2 + 3,
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
            weights, _ = reverse.trained(0, steps=steps)
            maps = inside.collect(weights, src, reverse.shifted(labels))
            masses = [inside.mirror_mass(maps[f"decoder.{i}.cross"]) for i in range(2)]
            distances = [inside.head_distance(each) for each in maps.values()]
            return inside.shown_by(np.concatenate([*masses, distances]))

        assert (shown(0), shown(200)) == ("untrained", "a reversing model")


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
