"""a04: the references give the catalogue's figures on its fixed data, and so do the mistakes."""

from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.loading import load_module

close = partial(np.testing.assert_allclose, rtol=1e-6)
FOLDER = Path(__file__).parents[2] / "reference" / "a04_multi_head"
POINTS = {  # by exercise: each row of the catalogue may be several parts or checks
    "heads_dims": 8,
    "mha_split": 5,
    "mha_params": 7,
    "mha_sum_form": 5,
    "rank_logits": 7,
    "cross_attn": 9,
    "mask_broadcast": 5,
    "mha_numpy": 15,
    "mha_grad": 11,
    "mha_torch": 7,
    "why_heads": 5,
}
DATA = {
    "heads_dims": {"d": 512, "h": 8, "n": 100},
    "mha_split": {"B": 1, "n": 4, "d": 8, "h": 2},
    "mha_sum_form": {"d": 8, "h": 2},
    "cross_attn": {"B": 2, "n": 5, "m": 7, "d": 8, "h": 2},
    "rank_logits": {"x": np.array([1, 2, 3])},
}


@cache
def module(name):
    return load_module(FOLDER / f"{name}.py")


@cache
def known(name):
    own = module(name)
    steps = {"steps": own.proof.shuffled(np.random.default_rng(0))} if hasattr(own, "proof") else {}
    return solve(own.exercise, DATA.get(name, {}) | steps)


def wrong(name, part, mistake):
    """What a mistake gives where everything before it is right."""
    (target,) = (p for p in module(name).exercise.parts if p.name == part)
    (made,) = (m for m in target.misconceptions if m.name == mistake)
    return evaluate(target, made, known(name))


@pytest.mark.parametrize(("name", "points"), POINTS.items())
def test_points_are_the_catalogues(name, points):
    assert module(name).exercise.points == points


@pytest.mark.parametrize(
    ("name", "part", "figures"),
    [
        ("heads_dims", "d_k", 64),
        ("heads_dims", "joined", 512),
        ("heads_dims", "costs", [5_120_000, 5_120_000, 80_000, 10_000]),
        ("heads_dims", "scale", 0.125),
        ("mha_split", "split_shape", [1, 2, 4, 4]),
        ("mha_split", "merged_shape", [1, 4, 8]),
        ("mha_sum_form", "ranks", [4, 4]),
        ("cross_attn", "weights_shape", [2, 2, 5, 7]),
        ("cross_attn", "out_shape", [2, 5, 8]),
        ("cross_attn", "entries", [25, 35]),
        (
            "rank_logits",
            "A",
            [
                [0.09003057, 0.2447285, 0.665241],
                [0.01587624, 0.1173104, 0.8668133],
                [0.002355633, 0.04731416, 0.9503302],
            ],
        ),
        ("rank_logits", "ranks", [1, 3]),
        ("rank_logits", "det", 0.003467758),
        ("why_heads", "blended", 2),
        ("why_heads", "needed", 3),
    ],
)
def test_right_values(name, part, figures):
    np.testing.assert_allclose(np.asarray(known(name)[part], float), figures, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "part", "mistake", "figures"),
    [
        ("heads_dims", "scale", "scale_of_the_model", 0.04419417),
        ("cross_attn", "weights_shape", "source_tokens_ask", [2, 2, 7, 5]),
    ],
)
def test_wrong_values(name, part, mistake, figures):
    np.testing.assert_allclose(wrong(name, part, mistake), figures, rtol=1e-6)


def test_splitting_and_merging():
    m, x = module("mha_split"), np.arange(32.0).reshape(1, 4, 8)
    heads = m.split_heads(x, 2)
    assert heads[0, 1, 2, 0] == 20
    assert heads[0, 0, 1].tolist() == [8, 9, 10, 11]
    assert m.merge_heads(heads)[0, 1].tolist() == [8, 9, 10, 11, 12, 13, 14, 15]
    at_once = m.reshaped_at_once(x, 2)
    assert at_once[0, 1, 2, 0] == 24
    assert at_once[0, 0, 1].tolist() == [4, 5, 6, 7]
    alone = m.merged_by_reshape_alone(heads)
    assert alone[0, 1].tolist() == [16, 17, 18, 19, 24, 25, 26, 27]


def test_a_mask_for_each_example_meets_the_heads():
    m = module("mask_broadcast")
    mask = np.ones((2, 3, 3), bool)
    mask[0, :, 1:] = False
    for aligned, expected in ((mask, m.wrong()), (m.align_mask(mask, 4), m.right())):
        allowed = np.broadcast_to(aligned, (2, 2, 3, 3))
        weights = allowed / allowed.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(weights[:, :, 0, 0], expected)


def test_a_layer_is_a_sum_over_its_heads():
    m = module("cross_attn")
    dec, enc, W = m.fixture(np.random.default_rng(0))
    np.testing.assert_allclose(
        m.cross_attention(dec, enc, W, 3), m.head_by_head(dec, enc, W, 3), atol=1e-12
    )


class TestMhaNumpy:
    """One layer on the catalogue's fixture, its mistakes, and torch's own."""

    @staticmethod
    def layer(kind, W, **options):
        made = kind(W.shape[-1], 2, **options)
        for name, each in zip(("W_q", "W_k", "W_v", "W_o"), W, strict=True):
            setattr(made, name, each)
        return made

    @pytest.fixture
    def fixture(self):
        rng = np.random.default_rng(0)
        return rng.standard_normal((1, 4, 8)), rng.standard_normal((4, 8, 8)) / np.sqrt(8)

    def test_the_output_and_the_weights(self, fixture):
        X, W = fixture
        out, weights = self.layer(module("mha_numpy").MultiHead, W)(X, X, X)
        close(out[0, 0, :4], [-0.4087459, -0.3800551, -0.3363111, 0.7095015])
        close(weights[0, 0, 0], [0.3235163, 0.1852885, 0.3254706, 0.1657246])

    @pytest.mark.parametrize(
        ("mistake", "values"),
        [
            ("SplitByReshaping", [-0.0795596, -0.140331, -0.03994033, 0.3684453]),
            ("ScaledByTheWidth", [-0.3886935, -0.3261354, -0.3099213, 0.720611]),
            ("HeadsIgnored", [-0.4051817, -0.3860516, -0.254362, 0.6428892]),
            ("MergedByReshaping", [0.2709916, -0.1904331, 0.02594132, -0.475547]),
            ("SoftmaxOverEverything", [-0.04428993, -0.05388259, -0.04335618, 0.06448903]),
            ("OutputMatrixForgotten", [-0.6988663, -0.2783936, -0.5544244, -0.05455197]),
        ],
    )
    def test_the_mistakes(self, fixture, mistake, values):
        X, W = fixture
        kind = getattr(module("mha_numpy"), mistake).compute
        close(self.layer(kind, W)(X, X, X)[0][0, 0, :4], values)

    def test_torch_agrees_with_biases_and_masks(self):
        torch = pytest.importorskip("torch")
        torch.manual_seed(0)
        theirs = torch.nn.MultiheadAttention(8, 2, batch_first=True, dtype=torch.float64)
        rng = np.random.default_rng(1)
        theirs.in_proj_bias.data = torch.tensor(rng.normal(size=24))
        W = [
            w.T.detach().numpy() for w in (*theirs.in_proj_weight.chunk(3), theirs.out_proj.weight)
        ]
        ours = self.layer(module("mha_numpy").MultiHead, np.stack(W), bias=True)
        ours.b_q, ours.b_k, ours.b_v = theirs.in_proj_bias.detach().numpy().reshape(3, 8)
        x, y = rng.normal(size=(2, 3, 8)), rng.normal(size=(2, 5, 8))
        mask = rng.random((3, 5)) < 0.6
        mask[:, 0] = True
        blocked = torch.tensor(~mask)
        right = theirs(*map(torch.tensor, (x, y, y)), attn_mask=blocked, average_attn_weights=False)
        for found, expected in zip(ours(x, y, y, mask), right, strict=True):
            np.testing.assert_allclose(found, expected.detach().numpy(), rtol=1e-9, atol=1e-12)


class TestMhaGrad:
    """The backward pass on the catalogue's fixture: torch agrees, and mistakes are as far off."""

    @pytest.fixture
    def fixture(self):
        rng = np.random.default_rng(0)
        X, W = rng.normal(size=(2, 4, 6)), rng.normal(size=(4, 6, 6)) / 2
        return X, W, 2, rng.normal(size=(2, 4, 6)), np.tri(4, dtype=bool)

    def test_torch_finds_the_same_gradients(self, fixture):
        torch = pytest.importorskip("torch")
        X, W, h, dY, mask = fixture
        x, w = (torch.tensor(a, requires_grad=True) for a in (X, W))
        q, k, v = ((x @ w[i]).unflatten(-1, (h, -1)).transpose(1, 2) for i in range(3))
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, torch.tensor(mask))
        (out.transpose(1, 2).flatten(2) @ w[3] * torch.tensor(dY)).sum().backward()
        for found, right in zip(module("mha_grad").mha_backward(*fixture), (x, w), strict=True):
            np.testing.assert_allclose(found, right.grad.numpy(), rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize(
        ("mistake", "which", "error"),
        [
            ("query_path_alone", 0, 0.589),
            ("value_path_missing", 0, 0.412),
            ("scale_missing", 1, 0.268),
        ],
    )
    def test_the_mistakes(self, fixture, mistake, which, error):
        found = module("mha_grad")
        right, wrong = found.mha_backward(*fixture), getattr(found, mistake).compute(*fixture)
        part = slice(2) if which else ...  # W_q and W_k alone
        assert round(found.relative(right[which][part], wrong[which][part]), 3) == error

    def test_differences_agree_at_a_good_step_alone(self, fixture):
        found, (X, W, h, dY, _) = module("mha_grad"), fixture

        def f(weights):
            out = module("mha_numpy").expected(weights, h, X, X, X)[0]
            return (out * dY).sum(), found.mha_backward(X, weights, h, dY)[1]

        coarse, good, fine = (found.gradcheck(f, W, step) for step in (1e-1, 1e-5, 1e-13))
        assert good < 1e-8 < 1e-5 < fine
        assert coarse > 1e-4


class TestMhaTorch:
    """The counts are the library's."""

    def test_the_counts(self):
        torch = pytest.importorskip("torch")
        layers = [torch.nn.MultiheadAttention(512, 8, bias=bias) for bias in (True, False)]
        counted = [sum(p.numel() for p in layer.parameters()) for layer in layers]
        assert module("mha_torch").parameters() == counted == [1_050_624, 1_048_576]
