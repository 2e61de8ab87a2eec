"""a06: the references give the catalogue's figures on its fixed data, and so do the mistakes."""

import ast
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from autograder.exercise.words.dependencies import evaluate, solve
from autograder.exercise.words.loading import load_module

ROOT = Path(__file__).parents[2]
POINTS = {  # by exercise: each row of the catalogue may be several parts or checks
    "ln_hand": 4,
    "ln_code": 7,
    "ln_vs_bn": 6,
    "ln_invariance": 5,
    "ln_jacobian": 7,
    "rmsnorm": 3,
    "ffn_code": 7,
    "ffn_params": 4,
    "ffn_gelu": 4,
    "residual_grad": 6,
    "highway_gate": 4,
    "encoder_block": 11,
    "block_params": 3,
    "pre_post_norm": 7,
    "torch_block": 5,
    "echo_block": 3,
}
DATA = {
    "ln_hand": {
        "x": np.array([1, 7, 9, 15]),
        "gamma": np.array([2, 1, 1, 2]),
        "beta": np.array([0, 1, 0, -1]),
    },
    "ln_vs_bn": {
        "X": np.array(
            [
                [[1, 2, 3, 4], [2, 4, 6, 8], [0, 0, 1, 1]],
                [[4, 3, 2, 1], [1, 1, 2, 2], [5, 5, 5, 9]],
            ]
        )
    },
    "ffn_code": {
        "x": np.array([1, -2]),
        "W1": np.array([[1, 0, -1], [0, 1, -1]]),
        "b1": np.array([0, 1, 0]),
        "W2": np.array([[1, 2], [3, 4], [-1, 1]]),
        "b2": np.array([0.5, -0.5]),
    },
    "ffn_params": {"d": 512, "f": 2048},
    "residual_grad": {"a": 0.1, "L": 12},
    "echo_block": {"sentence": "^BADGEBADGE"},
}


@cache
def module(name):
    return load_module(ROOT / "reference" / "a06_block" / f"{name}.py")


def known(name):
    return solve(module(name).exercise, DATA.get(name, {}))


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
        ("ln_hand", "mean", 8),
        ("ln_hand", "var", 25),
        ("ln_hand", "xhat", [-1.4, -0.2, 0.2, 1.4]),
        ("ln_hand", "y", [-2.8, 0.8, 0.2, 1.8]),
        (
            "ln_code",
            "tiny",
            [
                [-1.183216, -0.1690309, 0.1690309, 1.183216],
                [-1.39972, -0.19996, 0.19996, 1.39972],
                [-1.397206, -0.1996008, 0.1996008, 1.397206],
            ],
        ),
        ("ln_vs_bn", "means", [6, 4]),
        ("ln_vs_bn", "ln_row", [-1.341641, -0.4472136, 0.4472136, 1.341641]),
        ("ln_vs_bn", "bn_row", [-0.6585046, -0.29277, -0.09407209, -0.05150262]),
        ("ln_invariance", "factors", [0.9999998, 0.8451543]),
        (
            "ln_jacobian",
            "J",
            [
                [0.2290811, -0.3436216, 0.1145405],
                [-0.3436216, 0.5154324, -0.1718108],
                [0.1145405, -0.1718108, 0.05727027],
            ],
        ),
        ("ln_jacobian", "sigma", 1.247219),
        ("rmsnorm", "rms", 9.433981),
        ("rmsnorm", "y", [0.1059998, 0.7419985, 0.9539981, 1.589997]),
        ("rmsnorm", "parameters", [1024, 512]),
        ("ffn_code", "pre", [1, -1, 1]),
        ("ffn_code", "hidden", [1, 0, 1]),
        ("ffn_code", "y", [0.5, 2.5]),
        ("ffn_params", "matrices", 2097152),
        ("ffn_params", "with_biases", 2099712),
        ("ffn_params", "ratio", 2),
        ("ffn_gelu", "exact", [-0.004049694, 0, 0.8413447, 1.9545]),
        ("ffn_gelu", "slopes", [0.5, 1.0833155]),
        ("residual_grad", "with_path", 3.138428),
        ("residual_grad", "without_path", 1e-12),
        ("residual_grad", "damped", [0, 0.0002441406]),
        ("residual_grad", "paths", 4096),
        ("highway_gate", "y", [2, 3, 6]),
        ("block_params", "groups", [1050624, 2099712, 2048]),
        ("block_params", "total", 3152384),
        ("block_params", "share", 0.6660711),
        ("block_params", "bare", 3145728),
        ("pre_post_norm", "path_of_six_blocks", 0.015625),
        ("pre_post_norm", "stream", [1, 2, 3, 4]),
        ("echo_block", "sizes", [41.15346, 5.15056, 3.40253]),
    ],
)
def test_right_values(name, part, figures):
    given = np.asarray(known(name)[part], float)
    np.testing.assert_allclose(given, figures, rtol=1e-6, atol=1e-13)


@pytest.mark.parametrize(
    ("name", "part", "mistake", "figures"),
    [
        (
            "ln_hand",
            "xhat",
            "normalised_over_one_less",
            [-1.212436, -0.1732051, 0.1732051, 1.212436],
        ),
        ("ln_hand", "xhat", "divided_by_the_variance", [-0.28, -0.04, 0.04, 0.28]),
        ("ln_hand", "xhat", "mean_not_removed", [0.2, 1.4, 1.8, 3]),
        ("ln_hand", "y", "shift_before_scale", [-2.8, 0.8, 0.2, 0.8]),
        ("rmsnorm", "y", "layer_normed", [-1.4, -0.2, 0.2, 1.4]),
        (
            "rmsnorm",
            "y",
            "divided_by_the_length",
            [0.05299989, 0.3709993, 0.476999, 0.7949984],
        ),
        ("ffn_code", "y", "linear_throughout", [-2.5, -1.5]),
        ("ffn_code", "y", "relu_at_the_end", [0, 0]),
        ("ffn_code", "y", "both_biases_left_out", [0, 3]),
        ("ffn_params", "matrices", "one_matrix", 1048576),
        ("ffn_params", "with_biases", "two_short_biases", 2098176),
        ("highway_gate", "y", "carry_left_open", [2, 3.5, 8]),
        ("block_params", "total", "without_norms", 3150336),
        ("block_params", "total", "with_one_norm", 3151360),
    ],
)
def test_wrong_values(name, part, mistake, figures):
    np.testing.assert_allclose(np.asarray(wrong(name, part, mistake), float), figures, rtol=1e-6)


def test_the_jacobian_of_a_norm_and_its_mistakes():
    assert np.linalg.norm(known("ln_jacobian")["J"], 2) == pytest.approx(0.8017837, rel=1e-6)
    first = wrong("ln_jacobian", "J", "second_term_missing")[0]
    assert first == pytest.approx([0.5345225, -0.2672612, -0.2672612], rel=1e-6)
    assert wrong("ln_jacobian", "J", "each_by_itself")[0] == pytest.approx([0.8017837, 0, 0])
    x, h = np.array([1.0, 2, 4, 8, 16]), 1e-6
    norm = module("ln_code").normalised
    J = [(norm(x + h * e, eps=0) - norm(x - h * e, eps=0)) / (2 * h) for e in np.eye(5)]
    assert np.linalg.matrix_rank(J, tol=1e-6) == 3 == known("ln_jacobian")["ranks"][1]


def test_layer_norm_and_its_mistakes():
    m, x = module("ln_code"), np.random.default_rng(0).standard_normal((2, 3, 4))
    plain = np.ones(4), np.zeros(4)
    by_name = {wrong.name: wrong for wrong in m.exercise.misconceptions}
    for function, figures in {
        m.layer_norm: [-0.2092973, -1.123839, 1.616318, -0.2831818],
        by_name["over_d_minus_one"]: [-0.1812597, -0.9732886, 1.399795, -0.2452465],
        by_name["over_the_tokens"]: [1.387948, 0.3130183, 0.2502293, -0.6286875],
        by_name["over_everything"]: [0.2826205, -0.02116861, 0.8890468, 0.2580779],
    }.items():
        assert function(x, *plain)[0, 0] == pytest.approx(figures, rel=1e-6)


def test_a_change_in_another_sequence_moves_batch_norm():
    m, X = module("ln_vs_bn"), DATA["ln_vs_bn"]["X"].copy()
    X[1] += 10
    moved = [-0.9774142, -0.9586383, -1.004189, -0.8886207]
    assert m.normalised(X, (0, 1))[0, 0] == pytest.approx(moved, rel=1e-6)


def test_approximations_of_gelu():
    m = module("ffn_gelu")
    tanh, sigmoid = m.gelu(m.AT, "tanh"), m.gelu(m.AT, "sigmoid")
    assert tanh == pytest.approx([-0.003637392, 0, 0.841192, 1.954598], rel=1e-6)
    assert sigmoid == pytest.approx([-0.01807131, 0, 0.8457958, 1.935659], rel=1e-6)
    assert known("ffn_gelu")["minimum"] == pytest.approx([-0.7518, -0.16997], abs=3e-5)
    x = np.linspace(-6, 6, 2001)  # "up to 0.0005 and 0.02", says the notebook
    apart = [np.abs(m.gelu(x, kind) - m.gelu(x)).max() for kind in ("tanh", "sigmoid")]
    assert apart == pytest.approx([0.000473, 0.0203], rel=0.01)


class TestBlock:
    """The catalogue's fixture, and the library's own layer."""

    @staticmethod
    def fixture():
        first, second = np.random.default_rng(0), np.random.default_rng(5)
        X = first.standard_normal((1, 4, 8))
        drawn = first.standard_normal((4, 8, 8)) / 8**0.5
        weights = dict(zip(("W_q", "W_k", "W_v", "W_o"), drawn, strict=True))
        weights["W1"] = second.standard_normal((8, 32)) / 8**0.5
        weights["W2"] = second.standard_normal((32, 8)) / 32**0.5
        return X, weights

    @pytest.mark.parametrize(
        ("name", "figures"),
        [
            ("EncoderBlock", [-1.140308, -1.36616, 1.060536, 0.8814575]),
            ("PreNorm", [-1.106795, -0.9686949, 1.178672, 1.421184]),
            ("NoShortcuts", [-0.1775443, -0.1149465, 0.5342306, 0.7700255]),
            ("FirstNormMissing", [-1.003766, -1.444178, 0.2097954, 1.227968]),
            ("SecondShortcutFromTheInput", [-0.5267939, -0.7287598, 2.023, 0.143441]),
        ],
    )
    def test_first_token(self, name, figures):
        X, weights = self.fixture()
        block = getattr(module("encoder_block"), name)(8, 2, 32, np.random.default_rng(0))
        block.load(weights)
        assert block(X).shape == (1, 4, 8)
        assert block(X)[0, 0, :4] == pytest.approx(figures, rel=1e-6)

    def test_equals_the_librarys_layer(self):
        import torch

        X, w = self.fixture()
        layer = torch.nn.TransformerEncoderLayer(8, 2, 32, dropout=0, batch_first=True).double()
        tensors = {name: torch.tensor(array.T) for name, array in w.items()}
        zeros = {
            name: torch.zeros_like(p) for name, p in layer.named_parameters() if "bias" in name
        }
        layer.load_state_dict(
            zeros
            | {
                "self_attn.in_proj_weight": torch.cat([tensors[f"W_{name}"] for name in "qkv"]),
                "self_attn.out_proj.weight": tensors["W_o"],
                "linear1.weight": tensors["W1"],
                "linear2.weight": tensors["W2"],
                "norm1.weight": torch.ones(8, dtype=torch.float64),
                "norm2.weight": torch.ones(8, dtype=torch.float64),
            }
        )
        block = module("encoder_block").EncoderBlock(8, 2, 32, np.random.default_rng(0))
        block.load(w)
        right = layer(torch.tensor(X)).detach().numpy()
        np.testing.assert_allclose(block(X), right, rtol=1e-10, atol=1e-10)

    def test_parameters_are_those_of_the_librarys_layer(self):
        import torch

        layer = torch.nn.TransformerEncoderLayer(512, 8, 2048)
        assert sum(p.numel() for p in layer.parameters()) == known("block_params")["total"]


def parameters(block):
    """All parameters of a block, one behind the other."""
    from torch.nn.utils import parameters_to_vector

    return parameters_to_vector(block.parameters())


def lesson():
    """The lesson's code, cell by cell, as one tree."""
    return ast.parse((ROOT / "assignments" / "a06_block" / "a06_block.py").read_text("utf-8"))


@pytest.mark.slow
class TestDepth:
    """What the lesson says was measured at initialisation."""

    def test_gradients_of_the_last_block(self):
        import torch

        m = module("pre_post_norm")
        names = {"torch": torch, "nn": torch.nn}
        (deep,) = (n for n in lesson().body if isinstance(n, ast.FunctionDef) and n.name == "deep")
        exec(compile(ast.Module([deep], []), "lesson", "exec"), names)
        theirs, ours = names["deep"](2, True, 5)[0], m.stack(2, True, 5, sizes=m.DEEP)
        for one, other in zip(map(parameters, theirs), map(parameters, ours), strict=True):
            assert torch.equal(one, other)
        for pre_norm, right in ((True, m.PRE), (False, m.POST)):
            for depth, expected in zip(m.DEPTHS, right, strict=True):
                stacks = [names["deep"](depth, pre_norm, seed) for seed in range(4)]
                norms = [m.gradient_norms(*stack, pre_norm)[-1] for stack in stacks]
                assert np.mean(norms) == pytest.approx(expected, rel=1e-2)

    def test_size_and_gradient_of_the_stream(self):
        drawn = {
            target.id: ast.literal_eval(node.value)
            for node in lesson().body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
            for target in node.targets
        }
        for name in ("original", "pre-norm", "today", "bare"):
            runs = [through_depth(name, seed) for seed in range(4)]
            sizes, gradients = np.mean(runs, axis=0)[:, ::2]
            np.testing.assert_allclose(drawn["sizes"][name], sizes, rtol=0.01)
            np.testing.assert_allclose(drawn["gradients"][name], gradients, rtol=0.01)


def through_depth(name, seed, depth=32, d=64, h=4):
    """Size of the stream in front of each block and behind the last, and its gradient there."""
    import torch
    from torch import nn
    from torch.nn import functional as F

    today, bare, pre = name == "today", name == "bare", name in ("pre-norm", "today")
    norm = F.rms_norm if today else F.layer_norm

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            f = 170 if today else 4 * d  # 2/3 · 4d = 170.67
            self.attention = nn.MultiheadAttention(d, h, bias=not today, batch_first=True)
            self.up, self.down = nn.Linear(d, f, bias=not today), nn.Linear(f, d, bias=not today)
            self.gate = nn.Linear(d, f, bias=False) if today else None
            for p in self.parameters():
                nn.init.xavier_uniform_(p) if p.dim() > 1 else nn.init.zeros_(p)

        def forward(self, x):
            for sublayer in (self.attend, self.feed):
                if bare:
                    x = sublayer(x)
                elif pre:
                    x = x + sublayer(norm(x, (d,), eps=1e-5))
                else:
                    x = norm(x + sublayer(x), (d,), eps=1e-5)
            return x

        def attend(self, x):
            return self.attention(x, x, x, need_weights=False)[0]

        def feed(self, x):
            hidden = F.silu(self.gate(x)) * self.up(x) if today else F.relu(self.up(x))
            return self.down(hidden)

    torch.manual_seed(seed)
    blocks = [Block() for _ in range(depth)]
    x, w = torch.randn(2, 4, 16, d)
    stream = [x.requires_grad_()]
    for block in blocks:
        stream.append(block(stream[-1]))
    y = norm(stream[-1], (d,), eps=1e-5) if pre else stream[-1]
    gradients = torch.autograd.grad((w * y).sum(), stream)
    sizes = [float(each.detach().square().mean().sqrt()) for each in stream]
    return sizes, [float(each.norm()) for each in gradients]


def test_widths_of_gated_layers():
    assert round(8 * 4096 / 3, 2) == 10922.67
    assert -(-8 * 4096 // 3 // 256) * 256 == 11008
    assert (3 * 4096 * 11008, 2 * 4096 * 16384) == (135266304, 134217728)


def test_a_torch_block_is_the_librarys():
    m = module("torch_block")
    layer, block = m.library(8, 2, 12), m.Block(8, 2, 12, 0.5).eval()
    block.load_from(layer)
    x = m.torch.linspace(-1, 1, 80).reshape(2, 5, 8).sin()
    ahead = m.torch.ones(5, 5, dtype=bool).triu(1)
    with m.torch.no_grad():
        for given, blocked in ((None, None), (~ahead, ahead)):
            np.testing.assert_allclose(block(x, given), layer(x, src_mask=blocked), atol=1e-5)
        assert not np.allclose(block.train()(x), block(x))
    np.testing.assert_allclose(known("torch_block")["growth"], 1.111111, rtol=1e-6)


def test_a_block_of_ones_own_is_the_trained_models():
    m, theory = module("echo_block"), load_module(ROOT / "reference/a11_theory/head_profile.py")
    ids = [m.LETTERS.index(letter) for letter in "^BADGEBADGE"]
    x = m.embedded("^BADGEBADGE")
    for layer in range(2):
        x = m.echo_block(x, {n: w[layer] for n, w in m.ECHO.items() if len(w) == 2}, 2)
    logits = m.norm(x, m.ECHO["norm"]) @ m.ECHO["unembed"]
    right, _ = theory.echo_pass(m.ECHO, ids)
    np.testing.assert_allclose(logits[0], right, rtol=1e-9, atol=1e-9)
    # what the notebook says of the first block
    row = m.echo_block(m.embedded("^BADGEBADGE"), m.FIRST, 2)[0, -1, :4]
    assert row == pytest.approx([-4.09954, 0.09381, 1.34782, -3.95544], abs=6e-6)
