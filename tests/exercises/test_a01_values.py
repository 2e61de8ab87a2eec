"""The exercises of a01 give the catalogue's figures on its fixed data, and so do the mistakes."""

from functools import cache

import numpy as np
import pytest
import sympy

from autograder.exercise.words.dependencies import apply, evaluate, solve
from autograder.exercise.words.loading import load_module
from autograder.exercise.words.variants import draws

from ..loaded import ROOT, assigned

ID = "a01_softmax"

POINTS = {
    "softmax_hand": [2, 2],
    "softmax_stable": [6, 1],
    "softmax_invariance": [3, 1, 2],
    "softmax_props": [3, 1],
    "softmax_temperature": [3, 2, 2, 1],
    "softmax_sigmoid": [2, 2, 1],
    "soft_argmax": [2, 2, 2, 1],
    "temperature_figure": [3],
    "jacobian_proof": [3, 3, 2],
    "jacobian_sums": [2, 2],
    "jacobian_code": [3, 3],
    "jacobian_spectrum": [2, 3, 1, 1],
    "lse_gradient": [2, 2],
    "distillation": [2, 1, 2, 1],
    "gumbel_max": [3],
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


def same(value, figures):
    """Agree to the seven digits that the catalogue prints."""
    np.testing.assert_allclose(np.asarray(value, float), figures, rtol=1e-6, atol=1e-15)


def equal(formula, text):
    """Two formulas are the same, whatever their symbols are assumed to be."""
    plain = {s: sympy.Symbol(s.name, positive=True) for s in formula.free_symbols}
    names = {s.name: s for s in plain.values()}
    return sympy.simplify(formula.subs(plain) - sympy.sympify(text, locals=names)) == 0


def at(formula, **numbers):
    return float(formula.subs({s: numbers[s.name] for s in formula.free_symbols}))


def test_points_and_their_order_are_the_catalogues():
    loaded = assigned(ID)
    assert list(loaded.sound) == list(POINTS)
    for id, exercise in loaded.sound.items():
        assert exercise.points == sum(POINTS[id]), id
    assert sum(map(sum, POINTS.values())) == 82


@pytest.mark.parametrize("name", POINTS)
def test_no_right_answer_is_a_rounding_error(name):
    """An entry of 1e-17 would be compared within 1 %, and a student's 0 would be wrong."""
    exercise = module(name).exercise
    for variant in draws(exercise, "attention").pool:
        for part, answer in solve(exercise, variant).items():
            if isinstance(answer, np.ndarray) and answer.dtype.kind == "f":
                assert not np.any((answer != 0) & (np.abs(answer) < 1e-9)), part


class TestSoftmaxHand:
    z = np.array([1, 2, 3, 4, 1])

    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("softmax_hand", z=self.z)
        same(found["e"], [0.04978707, 0.1353353, 0.3678794, 1, 0.04978707])
        same(found["e"].sum(), 1.602789)
        same(found["p"], [0.03106277, 0.08443737, 0.2295246, 0.6239125, 0.03106277])

    @pytest.mark.parametrize(
        ("mistake", "figures"),
        [
            (
                "logits_over_their_sum",
                [0.09090909, 0.1818182, 0.2727273, 0.3636364, 0.09090909],
            ),
            ("powers_of_two", [0.0625, 0.125, 0.25, 0.5, 0.0625]),
            ("one_sigmoid_each", [0.7310586, 0.8807971, 0.9525741, 0.9820138, 0.7310586]),
        ],
    )
    def test_wrong_procedures_give_their_wrong_answers(self, mistake, figures):
        same(wrong("softmax_hand", "p", mistake, z=self.z), figures)

    def test_carried_exponentials(self):
        exercise = module("softmax_hand").exercise
        part = exercise.parts[1]
        own = {"e": wrong("softmax_hand", "e", "shifted_powers_of_two", z=self.z)}
        same(apply(part, own), [0.0625, 0.125, 0.25, 0.5, 0.0625])
        assert exercise.parts[0].carry_if(own["e"])
        assert not exercise.parts[0].carry_if(np.ones(5))
        assert not exercise.parts[0].carry_if(np.zeros(5))

    def test_draws(self):
        for variant in draws(module("softmax_hand").exercise, "attention").pool:
            z = variant["z"]
            assert z.min() >= -1
            assert z.max() <= 4
            assert 2 <= np.ptp(z) <= 5
            assert len(set(z)) >= 3


class TestSoftmaxInvariance:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("softmax_invariance", k=2)
        assert equal(found["ratio"], "exp(z1 - z2)")
        assert equal(found["scaled"], "p1**2/(p1**2 + p2**2 + p3**2)")
        assert found["steps"][-1].text == "p1"

    def test_numbers(self):
        p = [0.09003057, 0.2447285, 0.665241]
        formula = known("softmax_invariance", k=2)["scaled"]
        for i, figure in enumerate([0.01587624, 0.1173104, 0.8668133]):
            own = dict(zip(("p1", "p2", "p3"), (p[i], *p[:i], *p[i + 1 :]), strict=True))
            same(at(formula, **own), figure)

    def test_wrong_procedures_give_their_wrong_answers(self):
        assert equal(wrong("softmax_invariance", "scaled", "scale_taken_for_a_shift", k=3), "p1")
        assert equal(wrong("softmax_invariance", "scaled", "power_not_normalised", k=2), "p1**2")

    def test_draws(self):
        pool = draws(module("softmax_invariance").exercise, "attention").pool
        assert {variant["k"] for variant in pool} == {2, 3, 0.5}


class TestSoftmaxProps:
    def test_right_answers_are_those_of_the_catalogue(self):
        assert known("softmax_props", statements=list("ABCDEFGH"))["true_set"] == "ABDF"

    def test_a_wrong_mark_takes_what_a_right_one_gives(self):
        part, _ = module("softmax_props").exercise.parts
        for given, share in (("ABDF", 4), ("ABDFC", 3), ("ABD", 3), ("C", 0), ("ABCDEFGH", 0)):
            assert part.answer.judge(given, "ABDF").credit == share / 4

    def test_a_counterexample_contradicts_every_false_statement(self):
        softmax = module("jacobian_spectrum").softmax
        _, part = module("softmax_props").exercise.parts
        for z in (np.array(apply(route, {"true_set": "E"}), float) for route in part.routes):
            p = softmax(z)
            assert not np.allclose(softmax(2 * z), p)  # C
            assert np.allclose(softmax(z + 1), p)  # E
            assert not np.allclose(softmax(p), p)  # G
            assert not np.allclose(softmax(np.roll(z, 1)), p)  # H
            assert p.max() <= 0.5  # K
            assert not np.allclose(softmax(-z), 1 - p)  # L
            assert not np.allclose(softmax(z + np.eye(3)[0])[1:], p[1:])  # N
            assert part.answer.same(z, np.array(apply(part, {})))
        assert all(
            "K" in v["statements"]
            for v in draws(module("softmax_props").exercise, "attention").pool[:9]
        )

    def test_draws(self):
        for variant in draws(module("softmax_props").exercise, "attention").pool:
            assert len(set(variant["statements"])) == 8
            assert len(known("softmax_props", **variant)["true_set"]) == 4

    def test_twice_is_not_once(self):
        p = module("softmax_hand").normalised(np.exp([0.2, 0.2, 0.6]))
        same(p, [0.2863832, 0.2863832, 0.4272336])

    def test_every_statement_holds_or_fails_as_said(self):
        softmax = module("jacobian_spectrum").softmax
        rng = np.random.default_rng(1)
        for _ in range(50):
            z = 3 * rng.normal(size=5)
            p = softmax(z)
            true = {
                "A": np.isclose(p.sum(), 1),
                "B": (p > 0).all(),
                "C": np.allclose(softmax(2 * z), p),
                "D": (np.argsort(z) == np.argsort(p)).all(),
                "E": not np.allclose(softmax(z + 1), p),
                "F": np.allclose(p[1:] / softmax(z[1:]), p[1] / softmax(z[1:])[0]),
                "G": np.allclose(softmax(p), p),
                "H": np.allclose(softmax(np.roll(z, 1)), p),
                "I": np.isclose(p[0] / p[1], np.exp(z[0] - z[1])),
                "J": (softmax(z + np.eye(5)[0])[1:] < p[1:]).all(),
                "K": softmax(z / 100).max() > 0.5,
                "L": np.allclose(softmax(-z), 1 - p),
                "M": np.allclose(softmax(np.full(5, z[0])), 0.2),
                "N": np.allclose(softmax(z + np.eye(5)[0])[1:], p[1:]),
            }
            held = "".join(letter for letter, holds in true.items() if holds)
            assert held == module("softmax_props").true_letters
        assert softmax(np.array([0.0, -800.0]))[1] == 0  # by rounding


class TestSoftmaxTemperature:
    numbers = {"z": np.array([1, 2, 3, 4]), "tau": np.array([0.1, 1, 10])}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("softmax_temperature", **self.numbers)
        cold = [9.357198e-14, 2.06106e-9, 4.539787e-5, 0.9999546]
        hot = [0.2138382, 0.2363278, 0.2611826, 0.2886514]
        same(found["p"], [cold, [0.0320586, 0.08714432, 0.2368828, 0.6439143], hot])
        same(found["cold"], [0, 0.5, 0.5, 0])
        same(found["hot"], [0.25] * 4)
        mean = {"zbar": 2.5, "n": 4, "tau": 10}
        expanded = [at(found["first_order"], z_i=z, **mean) for z in (1, 2, 3, 4)]
        same(expanded, [0.2125, 0.2375, 0.2625, 0.2875])
        assert found["application"] == "C"
        multiplied = wrong(
            "softmax_temperature", "p", "multiplied_by_the_temperature", **self.numbers
        )
        same(multiplied[[0, 2]], [hot, cold])

    def test_limits_are_approached(self):
        m = module("softmax_temperature")
        same(m.softmax(m.tied / 1e-3), m.cold())
        np.testing.assert_allclose(m.softmax(m.tied / 1e9), m.hot(), atol=1e-8)

    def test_draws(self):
        for variant in draws(module("softmax_temperature").exercise, "attention").pool:
            assert np.count_nonzero(variant["z"] == variant["z"].max()) == 1
            assert sorted(variant["tau"]) == [0.5, 3, 5]


class TestSoftmaxSigmoid:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("softmax_sigmoid", a=3, b=2)
        assert equal(found["first"], "1/(1 + exp(-(a - b)/tau))")
        same(found["p"], [0.8807971, 0.7310586, 0.5621765])  # the last at τ = 4
        same(found["q"], [0.1192029, 0.5, 0.8807971])

    def test_wrong_procedures_give_their_wrong_answers(self):
        alone = wrong("softmax_sigmoid", "p", "sigmoid_of_one_logit", a=3, b=2)
        same(alone[1], 0.9525741)
        multiplied = wrong("softmax_sigmoid", "p", "multiplied_by_temperature", a=3, b=2)
        same(multiplied, [0.6224593, 0.7310586, 0.9820138])

    def test_draws(self):
        pool = draws(module("softmax_sigmoid").exercise, "attention").pool
        assert {variant["a"] - variant["b"] for variant in pool} == {0.5, 1, 1.5, 2}


class TestSoftArgmax:
    numbers = {"z": np.array([1, 2, 3, 4, 1]), "a": 5}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("soft_argmax", **self.numbers)
        same(found["ei"], [2.539475, 1])
        same(found["lse"], 4.471745)
        same(found["boltz"], 3.415224)
        same(4 + np.log(5), 5.609438)
        assert 4 <= found["lse"] <= 4 + np.log(5)
        assert (str(found["at_least"]), str(found["at_most"])) == ("1", "n")
        assert found["why"] == "B"

    def test_notes(self):
        softmax = module("soft_argmax").softmax
        same(softmax(np.array([5, 0, 5])), [0.4983212, 0.003357662, 0.4983212])
        same(softmax(self.numbers["z"] / 0.1) @ np.arange(5), 2.999955)

    def test_wrong_procedures_give_their_wrong_answers(self):
        same(wrong("soft_argmax", "ei", "counted_from_one", **self.numbers)[0], 3.539475)


class TestTemperatureFigure:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("temperature_figure")
        x, y = found["curve"]["1"]
        at = np.isin(x.round(9), [-2, -1, 0, 1, 2])
        same(y[at], [0.9933071, 0.9820138, 0.9525741, 0.8807971, 0.7310586])
        same(found["curve"]["2"][1][at], [0.9241418, 0.8807971, 0.8175745, 0.7310586, 0.6224593])
        same(found["bars"]["1"], [0.0320586, 0.08714432, 0.2368828, 0.6439143])
        assert all((np.diff(y) < 0).all() for _, y in found["curve"].values())

    def test_one_point_of_three_is_given_by_hand(self):
        exercise = module("temperature_figure").exercise
        assert (exercise.points, exercise.auto_points) == (3, 2)


class TestJacobianSums:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("jacobian_sums")
        assert (found["columns"], found["rows"]) == ("A", "B")
        assert found["row_steps"][-1].expr == 0
        assert wrong("jacobian_sums", "rows", "reason_of_the_columns") == "A"

    def test_the_other_map_separates_the_causes(self):
        loaded = assigned(ID)
        (source,) = (c.source for c in loaded.cells if "def other_map" in c.source)
        names = {"np": np, "print": lambda *_: None}
        exec(source, names)
        J = names["other_J"]
        assert np.abs(J.sum(axis=0)).max() < 1e-7
        np.testing.assert_allclose(J.sum(axis=1), [0.023, -0.0366, 0.0136], atol=5e-5)


class TestJacobianCode:
    z, v = np.array([1.0, 2, 3]), np.array([1.0, 0, -1])

    def test_right_answers_are_those_of_the_catalogue(self):
        m = module("jacobian_code")
        same(
            m.softmax_jacobian(self.z),
            [
                [0.08192507, -0.02203304, -0.05989202],
                [-0.02203304, 0.1848364, -0.1628034],
                [-0.05989202, -0.1628034, 0.2226954],
            ],
        )
        same(m.softmax_jvp(self.z, self.v), [0.1418171, 0.1407704, -0.2825875])

    @pytest.mark.parametrize(
        ("mistake", "figures"),
        [
            ("mean_not_subtracted", [0.09003057, 0, -0.665241]),
            ("mean_alone", [0.05178652, 0.1407704, 0.3826535]),
            ("product_of_sigmoids", [0.08192507, 0, -0.2226954]),
        ],
    )
    def test_wrong_procedures_give_their_wrong_answers(self, mistake, figures):
        same(getattr(module("jacobian_code"), mistake)(self.z, self.v), figures)

    def test_points_of_the_two_functions(self):
        points = {
            function.solution.__name__: sum(check.points for check in function.checks)
            for function in module("jacobian_code").exercise.functions
        }
        assert points == {"softmax_jacobian": 3, "softmax_jvp": 3}


class TestJacobianSpectrum:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("jacobian_spectrum", z=np.array([1, 2, 3]))
        same(found["eig0"], [0, 0.3333333, 0.3333333])
        same(found["eig1"], [0, 0.1185533, 0.3709036])
        same(found["norms"], [0.5, 9.079162e-5])
        assert (found["rank"], found["norm_bound"]) == ("C", "B")

    def test_trace(self):
        m = module("jacobian_spectrum")
        same(np.trace(m.softmax_jacobian(np.array([1, 2, 3]))), 0.4894569)
        p = dict(zip(("p1", "p2", "p3"), m.softmax(np.array([1, 2, 3])), strict=True))
        steps = known("jacobian_spectrum", z=np.array([1, 2, 3]))["trace_steps"]
        same(at(steps[-1].expr, **p), 0.4894569)

    def test_the_form_is_a_variance(self):
        m = module("jacobian_spectrum")
        rng = np.random.default_rng(0)
        for _ in range(20):
            z, v = rng.normal(size=(2, 6))
            p = m.softmax(z)
            assert np.isclose(v @ m.softmax_jacobian(z) @ v, p @ (v - p @ v) ** 2)
            assert np.linalg.matrix_rank(m.softmax_jacobian(z)) == 5
            assert np.linalg.norm(m.softmax_jacobian(z), 2) <= 0.5
        same(np.linalg.norm(m.softmax_jacobian(np.array([40.0, 40, 0])), 2), 0.5)


class TestLseGradient:
    numbers = {"z": np.array([1, 2, 3]), "y": 1}  # noqa: RUF012

    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("lse_gradient", **self.numbers)
        assert equal(found["lse_slope"], "p1")
        assert equal(found["lse_curvature"], "-p1*p2")
        same(found["loss"], 1.407606)
        same(found["grad"], [0.09003057, -0.7552715, 0.665241])

    def test_wrong_procedures_give_their_wrong_answers(self):
        reversed_ = wrong("lse_gradient", "grad", "gradient_reversed", **self.numbers)
        same(reversed_, [-0.09003057, 0.7552715, -0.665241])
        slopes = wrong("lse_gradient", "grad", "slopes_of_the_probabilities", **self.numbers)
        same(slopes, [0.08192507, 0.1848364, 0.2226954])


class TestDistillation:
    def test_right_answers_are_those_of_the_catalogue(self):
        found = known("distillation")
        same(found["t"], [0.665241, 0.2447285, 0.09003057])
        same(found["s"], [0.4498162, 0.4498162, 0.1003676])
        same(found["kl"], 0.1015665)
        assert equal(found["kl_slope"], "(s_i - t_i)/tau")
        same(found["kl_grad"], [-0.1077124, 0.1025439, 0.005168496])
        same(found["limit"], [-0.3333333, 0.3333333, 0])

    def test_wrong_procedures_give_their_wrong_answers(self):
        same(wrong("distillation", "kl", "arguments_exchanged"), 0.1086898)
        twice = wrong("distillation", "kl_grad", "temperature_forgotten")
        same(twice, 2 * known("distillation")["kl_grad"])

    def test_carried_distributions(self):
        parts = {p.name: p for p in module("distillation").exercise.parts}
        assert parts["kl"].needs == ("t", "s")
        assert parts["kl_grad"].needs == ("kl_slope", "t", "s")
        assert parts["t"].carry_if(np.array([0.9, 0.07, 0.03]))
        assert not parts["t"].carry_if(np.full(3, 1 / 3))


class TestGumbelMax:
    z = np.array([1.0, 2, 3])

    def frequencies(self, sample):
        return np.bincount(sample(self.z, 200_000, 0), minlength=3) / 200_000

    def test_right_answers_are_those_of_the_catalogue(self):
        p = module("gumbel_max").softmax(self.z)
        same(p, [0.09003057, 0.2447285, 0.665241])
        same(3 * np.sqrt(0.25 / 200_000), 0.003354102)
        assert np.abs(self.frequencies(module("gumbel_max").gumbel_sample) - p).max() < 0.005

    @pytest.mark.parametrize("mistake", ["normal_noise", "one_logarithm_only"])
    def test_wrong_procedures_give_their_wrong_answers(self, mistake):
        m = module("gumbel_max")
        assert np.abs(self.frequencies(getattr(m, mistake)) - m.softmax(self.z)).max() > 0.02

    def test_a_generator_may_be_given_too(self):
        sample = module("gumbel_max").gumbel_sample
        assert (sample(self.z, 9, np.random.default_rng(4)) == sample(self.z, 9, 4)).all()
