"""a12: the references give the catalogue's figures, and the points are those of its rows."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from autograder.exercise.loading import load_module

FOLDER = Path(__file__).parents[2] / "reference" / "a12_capstone"
POINTS = {
    "cap_forward": 6 + 8 + 2,
    "cap_gradcheck": 8 + 1,
    "cap_seq2seq": 12 + 2,
    "cap_classify": 4 + 8 + 2,
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
