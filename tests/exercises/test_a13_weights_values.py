"""a13, weights and what they lead to: the references give the catalogue's figures."""

from functools import cache

import numpy as np
import pytest

from autograder.exercise import evaluate, solve
from autograder.exercise.loading import load_module

from ..loaded import ROOT, assigned

ID = "a13_modern"
POINTS = {
    "mla": [1, 1, 3, 1, 1],
}


@cache
def module(name):
    return load_module(ROOT / "reference" / ID / f"{name}.py")


def known(name, **numbers):
    return solve(module(name).exercise, numbers)


def wrong(name, part, mistake, **numbers):
    """What a mistake gives where everything before it is right."""
    exercise = module(name).exercise
    asked = next(p for p in exercise.parts if p.name == part)
    slip = next(m for m in asked.misconceptions if m.name == mistake)
    return evaluate(asked, slip, solve(exercise, numbers))


def same(value, figures):
    """Agree to the seven digits that the catalogue prints."""
    np.testing.assert_allclose(np.asarray(value, float), figures, rtol=1e-6, atol=1e-12)


def at(formula, **numbers):
    return float(formula.subs({s: numbers[s.name] for s in formula.free_symbols}))


@pytest.mark.parametrize("id", POINTS)
def test_points(id):
    assert assigned(ID).sound[id].points == sum(POINTS[id])


class TestMla:
    numbers = {  # noqa: RUF012
        "W_UK": np.array([[1, 0, 2], [1, -1, 1]]),
        "c": np.array([1, 2]),
        "q": np.array([2, 1, 1]),
        **{"h": 128, "g": 8, "d_k": 128, "d_c": 512, "d_r": 64, "m": 4096},
    }

    def test_reference(self):
        found = known("mla", **self.numbers)
        same(found["key"], [3, -2, 4])
        same(found["score"], 8)
        same(found["absorbed"], [4, 2])
        assert found["cached"].tolist() == [32768, 2048, 576]
        assert found["madds"].tolist() == [167_772_160, 570_425_344, 68_887_248_896]
        assert found["why_apart"] == "A"

    def test_mistakes(self):
        slip = lambda *names: wrong("mla", *names, **self.numbers)  # noqa: E731
        same(slip("absorbed", "scale_inside"), [2.309401, 1.154701])
        assert slip("cached", "rotated_key_per_head")[2] == 8704
        assert slip("cached", "two_latents")[2] == 1088

    @pytest.mark.parametrize(
        ("function", "figures"),
        [
            ("mla", [2.91752, 1.159215, -0.417065]),
            ("keys_rebuilt", [2.91752, 1.159215, -0.417065]),
            ("root_of_d_k", [3.134107, 1.223949, -0.5371175]),
            ("root_of_the_latent", [2.745793, 1.110192, -0.3227578]),
            ("rotated_part_left_out", [3.1189, 1.220998, -0.5622487]),
            ("scaled_separately", [3.134972, 1.224131, -0.523578]),
        ],
    )
    def test_function(self, function, figures):
        m = module("mla")
        x = m.inputs(np.random.default_rng(0))
        same(getattr(m, function)(*x)[1, 0], figures)

    def test_what_the_text_says(self):
        assert (60 * 576 * 2, 60 * 32768 * 2) == (69_120, 3_932_160)
