"""a07: the references give the catalogue's figures on its fixed data, and so do the mistakes."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from autograder.exercise.words.dependencies import apply, evaluate, solve
from autograder.exercise.words.loading import load_module

FOLDER = Path(__file__).parents[2] / "reference" / "a07_full_transformer"
BASE = {"L": 6, "d": 512, "h": 8, "f": 2048}
DATA = {
    "encoder_stack": {"n": 2, "L": 6, "d": 512},
    "teacher_forcing": {"s": 1, "t": 1},
    "params_layers": BASE,
    "params_full": BASE,
    "sequence_nll": {"p": np.array([0.5, 0.25, 0.8])},
    "arch_costs": {"n": 100, "m": 60},
    "echo_reads": {
        "motif": "BADGE",
        "motifs": [
            "BADGE",
            "FACE",
            "CAGED",
            "BEACH",
            "JADE",
            "DICE",
            "HIDE",
            "AGED",
            "JADEC",
            "FACED",
        ],
    },
}
REFERENCE = [
    ("encoder_stack", "embedded", [1, 2, 512]),
    ("encoder_stack", "factor", 22.62742),
    ("encoder_stack", "after_two", [1, 2, 512]),
    ("encoder_stack", "scores", [1, 8, 2, 2]),
    ("encoder_stack", "output", [1, 2, 512]),
    ("encoder_stack", "attention_sublayers", 6),
    ("encoder_stack", "norms", 12),
    ("encoder_stack", "weights", 192),
    ("decoder_layer", "numbers", [3, 3, 2]),
    ("decoder_layer", "affected", [[0, 0, 0, 1, 1], [1, 1, 1, 1, 1]]),
    ("teacher_forcing", "encoded", [1, 1, 512]),
    ("teacher_forcing", "decoder_input", [1, 2, 512]),
    ("teacher_forcing", "self_weights", [1, 8, 2, 2]),
    ("teacher_forcing", "cross_weights", [1, 8, 2, 1]),
    ("params_layers", "attention", 1_048_576),
    ("params_layers", "feed_forward", 2_097_152),
    ("params_layers", "norms", 2048),
    ("params_layers", "share", 0.000649667),
    ("params_layers", "encoder", 18_874_368),
    ("params_layers", "decoder", 25_165_824),
    ("params_layers", "both", 44_040_192),
    ("params_full", "encoder_layer", 3_152_384),
    ("params_full", "decoder_layer", 4_204_032),
    ("params_families", "gpt2_tied", 124_439_808),
    ("params_families", "gpt2_untied", 163_037_184),
    ("params_families", "bert", 109_482_240),
    ("params_families", "bert_without_pooler", 108_891_648),
    ("params_families", "twelve_layers", 85_054_464),
    ("params_families", "rule", 84_934_656),
    ("sequence_nll", "joint", 0.1),
    ("sequence_nll", "total", 2.302585),
    ("sequence_nll", "mean", 0.7675284),
    ("sequence_nll", "bits", 1.107309),
    ("sequence_nll", "perplexity", 2.154435),
    ("greedy_decode", "greedy_probability", 0.3),
    ("greedy_decode", "best_probability", 0.36),
    ("mlm_vs_clm", "hidden_predicted", 76.8),
    ("mlm_vs_clm", "fractions", [0.12, 0.015, 0.015]),
    ("mlm_vs_clm", "next_predicted", 511),
    ("mlm_vs_clm", "ratio", 6.653646),
    ("mlm_vs_clm", "pairs_both_ways", 262_144),
    ("mlm_vs_clm", "pairs_backwards", 131_328),
    ("arch_costs", "encoder_only", 10_000),
    ("arch_costs", "decoder_only", 12_880),
    ("arch_costs", "encoder_decoder", 17_830),
    ("arch_costs", "dense", 19_600),
    ("position_in_stack", "norms", [16, 1, 22.62742]),
    ("position_in_stack", "ratio", [0.7071068, 16]),
    ("echo_reads", "surprise", [1.2487025, 0.00033402504]),
    ("echo_reads", "loss", 0.58028665),
]
# exercise, part, mistake, figures
WRONG = [
    ("params_layers", "decoder", "cross_attention_forgotten", 37_748_736 / 2),
    ("sequence_nll", "joint", "added_up", 1.55),
    ("sequence_nll", "perplexity", "reciprocal_of_the_mean", 1.935484),
    ("sequence_nll", "perplexity", "exponential_of_the_total", 10),
    ("arch_costs", "encoder_decoder", "target_forgotten", 16_000),
]
CHOICES = [
    ("teacher_forcing", "where_attention_is", "C"),
    ("teacher_forcing", "row_predicts", "D"),
    ("mlm_vs_clm", "meanings", "C"),
    ("causality_test", "may_influence", "B"),
    ("echo_reads", "silent", "AB"),
    ("echo_reads", "dear", "DF"),
]
POINTS = {
    "encoder_stack": 8,
    "decoder_layer": 12,
    "teacher_forcing": 7,
    "params_layers": 7,
    "params_full": 13,
    "params_families": 5,
    "sequence_nll": 6,
    "causality_test": 5,
    "greedy_decode": 4,
    "mlm_vs_clm": 4,
    "arch_costs": 4,
    "position_in_stack": 2,
    "echo_reads": 3,
}


@cache
def module(exercise):
    """Load a reference by its path."""
    return load_module(FOLDER / f"{exercise}.py")


def solved(exercise):
    """Solve an exercise with the catalogue's data, and its shuffled steps by lot."""
    asked = module(exercise).exercise
    drawn = asked.draw(np.random.default_rng(0)) if asked.draw else {}
    return solve(asked, drawn | DATA.get(exercise, {}))


def part(exercise, name):
    return next(part for part in module(exercise).exercise.parts if part.name == name)


def same(value, figures):
    """Agree to the seven digits that the catalogue prints."""
    np.testing.assert_allclose(np.asarray(value, float), figures, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("exercise", "name", "figures"), REFERENCE)
def test_reference_gives_the_figure(exercise, name, figures):
    same(solved(exercise)[name], figures)


@pytest.mark.parametrize(("exercise", "name", "wrong", "figures"), WRONG)
def test_mistake_gives_its_figure(exercise, name, wrong, figures):
    target = part(exercise, name)
    mistake = next(each for each in target.misconceptions if each.name == wrong)
    same(evaluate(target, mistake, solved(exercise)), figures)


@pytest.mark.parametrize(("exercise", "name", "letter"), CHOICES)
def test_choice_has_its_letter(exercise, name, letter):
    assert solved(exercise)[name] == letter


@pytest.mark.parametrize(("exercise", "points"), POINTS.items())
def test_points_are_those_of_the_catalogue(exercise, points):
    asked = module(exercise).exercise
    assert sum(each.points for each in [*asked.parts, *asked.checks]) == points


def test_logits_are_as_wide_as_the_vocabulary():
    asked = part("teacher_forcing", "logits")
    assert apply(asked, solved("teacher_forcing")) == (1, 2, "V")


def test_heads_multiplied_in_give_the_catalogue_s_wrong_encoder():
    counts = solved("params_layers")
    times_heads = next(
        each for each in part("params_layers", "attention").misconceptions if "times" in each.name
    )
    wrong = evaluate(part("params_layers", "attention"), times_heads, counts)
    assert BASE["L"] * (wrong + counts["feed_forward"]) == 62_914_560


def config(**changed):
    plain = {"d": 512, "f": 2048, "L_enc": 6, "L_dec": 6, "V": 0}
    extras = {"bias": True, "norms": True, "tied": True, "final_norm": False}
    return plain | extras | changed


class TestCount:
    count = staticmethod(lambda **changed: module("params_full").count(config(**changed)))

    def test_gives_the_catalogue_s_totals(self):
        assert self.count(L_dec=0) == 18_914_304
        assert self.count(L_enc=0) == 25_224_192
        assert self.count() == 44_138_496
        assert self.count(bias=False, norms=False) == 44_040_192 == 44_138_496 - 98_304
        assert self.count(final_norm=True) == 44_140_544
        assert self.count(V=37_000) == 63_082_496 == 44_138_496 + 18_944_000
        assert self.count(V=37_000, tied=False) == 101_007_496

    def test_gives_the_formulas(self):
        for d in (64, 512):
            assert self.count(d=d, f=4 * d, L_enc=1, L_dec=0) == 12 * d**2 + 13 * d
            assert self.count(d=d, f=4 * d, L_enc=0, L_dec=1) == 16 * d**2 + 19 * d

    def test_gives_the_known_models(self):
        stack = config(d=768, f=3072, L_enc=12, L_dec=0, final_norm=True)
        known = solved("params_families")
        assert module("params_full").count(stack | {"V": 50257}) + 1024 * 768 == known["gpt2_tied"]
        bert = module("params_full").count(stack | {"V": 30522})  # the norm is the embedding's
        assert bert + 514 * 768 + 768 * 769 == known["bert"]

    @pytest.mark.filterwarnings("ignore:enable_nested_tensor:UserWarning")
    @pytest.mark.parametrize(
        ("d", "f", "L_enc", "L_dec", "bias"),
        [(512, 2048, 6, 6, True), *[(16, 24 + k, k, 3, k % 2 == 0) for k in range(1, 10)]],
    )
    def test_agrees_with_torch(self, d, f, L_enc, L_dec, bias):
        nn = pytest.importorskip("torch").nn
        model = nn.Transformer(d, 4, L_enc, L_dec, f, batch_first=True, bias=bias, device="meta")
        without_bias = 0 if bias else d * (2 * L_enc + 3 * L_dec + 2)  # torch drops shifts as well
        found = sum(weights.numel() for weights in model.parameters())
        ours = self.count(d=d, f=f, L_enc=L_enc, L_dec=L_dec, bias=bias, final_norm=True)
        assert found == ours - without_bias


class TestGreedy:
    def test_decodes_the_catalogue_s_model(self):
        m = module("greedy_decode")
        assert m.greedy(m.toy(125), 0, 5) == [0, 2, 4, 3, 0, 1]

    def test_one_pass_predicts_what_was_decoded(self):
        m = module("greedy_decode")
        for seed in range(20):
            ids = m.greedy(m.toy(seed), 0, 5)
            assert m.toy(seed)(ids[:-1]).argmax(-1).tolist() == ids[1:]


class TestCausality:
    @pytest.mark.parametrize(("ahead", "leaks"), [(0, 0), (9, 15), (1, 5)])
    def test_counts_the_catalogue_s_leaks(self, ahead, leaks):
        m = module("causality_test")
        X = np.random.default_rng(0).normal(size=(6, 8))
        assert m.count_leaks(m.attending(9, ahead), X) == leaks

    def test_counts_the_leaks_of_a_transposed_mask(self):
        m = module("causality_test")
        X = np.random.default_rng(0).normal(size=(6, 8))
        assert m.count_leaks(m.ahead_only, X) == 15


class TestLoss:
    def test_is_torch_s(self):
        torch = pytest.importorskip("torch")
        rng = np.random.default_rng(0)
        logits, labels = rng.normal(size=(6, 5)) * 30, np.array([0, 4, -100, 2, -100, 1])
        right = torch.nn.functional.cross_entropy(torch.tensor(logits), torch.tensor(labels))
        same(module("sequence_nll").nll(logits, labels), right.item())


class TestTeacherForcing:
    def test_shifts_the_catalogue_s_target(self):
        m = module("teacher_forcing")
        dec_in, labels = m.shift_right([5, 9, 2], 0, 1)
        assert (dec_in.tolist(), labels.tolist()) == ([0, 5, 9, 2], [5, 9, 2, 1])
        assert m.not_shifted([5, 9, 2], 0, 1)[0].tolist() == [5, 9, 2]


class TestTorchAgrees:
    """The classes, with torch's own weights in them, give what torch's modules give."""

    d, h, f = 8, 2, 12
    ATTENTION = ("W_q", "W_k", "W_v", "W_o")

    @pytest.fixture
    def torch(self):
        torch = pytest.importorskip("torch")
        torch.manual_seed(0)
        return torch

    def attention(self, theirs):
        into, out = theirs.in_proj_weight.detach().numpy(), theirs.out_proj.weight.detach().numpy()
        return dict(zip(self.ATTENTION, [*(W.T for W in np.split(into, 3)), out.T], strict=True))

    def others(self, theirs, norms):
        found = {"W1": theirs.linear1.weight.T, "b1": theirs.linear1.bias}
        found |= {"W2": theirs.linear2.weight.T, "b2": theirs.linear2.bias}
        for i in range(1, norms + 1):
            norm = getattr(theirs, f"norm{i}")
            found |= {f"gamma{i}": norm.weight, f"beta{i}": norm.bias}
        return {name: array.detach().numpy() for name, array in found.items()}

    def test_with_an_encoder(self, torch):
        args = {"dropout": 0.0, "batch_first": True, "dtype": torch.float64}
        layer = torch.nn.TransformerEncoderLayer(self.d, self.h, self.f, **args)
        theirs = torch.nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        for weights in theirs.parameters():
            torch.nn.init.normal_(weights, std=0.5) if weights.dim() > 1 else None
        ours = module("encoder_stack").Encoder(3, self.d, self.h, self.f, np.random.default_rng(0))
        ours.load([self.attention(t.self_attn) | self.others(t, 2) for t in theirs.layers])
        x = torch.randn(2, 5, self.d, dtype=torch.float64)
        mask = np.tri(5, dtype=bool)
        right = theirs(x, mask=torch.tensor(~mask)).detach().numpy()
        np.testing.assert_allclose(ours(x.numpy(), mask), right, atol=1e-10)

    def test_with_a_decoder_layer(self, torch):
        args = {"dropout": 0.0, "batch_first": True, "dtype": torch.float64}
        theirs = torch.nn.TransformerDecoderLayer(self.d, self.h, self.f, **args)
        ours = module("decoder_layer").DecoderLayer(
            self.d, self.h, self.f, np.random.default_rng(0)
        )
        cross = self.attention(theirs.multihead_attn)
        ours.load(self.attention(theirs.self_attn) | self.others(theirs, 3))
        ours.load({f"cross_{name}": W for name, W in cross.items()})
        y, memory = (torch.randn(2, n, self.d, dtype=torch.float64) for n in (5, 7))
        mask, seen = np.tri(5, dtype=bool), np.arange(7) < np.array([[4], [6]])
        masks = {"tgt_mask": torch.tensor(~mask), "memory_key_padding_mask": torch.tensor(~seen)}
        right = theirs(y, memory, **masks).detach().numpy()
        found = ours(y.numpy(), memory.numpy(), mask, seen[:, None, None])
        np.testing.assert_allclose(found, right, atol=1e-10)


def test_slips_that_a_fresh_model_does_not_show():
    """What `silent` and `dear` say is what the block's known mistakes do, for any ten motifs."""
    m, block = module("echo_reads"), load_module(FOLDER.parent / "a06_block" / "echo_block.py")
    known, rng = solved("echo_reads"), np.random.default_rng(0)
    fresh = {
        name: np.ones(w.shape) if "norm" in name else rng.normal(scale=0.02, size=w.shape)
        for name, w in m.ECHO.items()
    }
    slips = {
        "A": block.gains_left_out,
        "B": block.one_gain_for_both,
        "C": block.not_scaled,
        "D": block.looks_ahead,
        "E": block.no_epsilon,
        "F": block.gate_and_up_exchanged,
    }

    def logits(model, ids, one):
        x = model["embed"][ids][None]
        for layer in range(2):
            x = one(x, {name: model[name][layer] for name in m.PARTS}, 2)
        return m.out(x[0], model)

    ids = m.read(m.said("BADGE"))
    right = logits(fresh, ids, block.echo_block)
    moved = {letter: abs(logits(fresh, ids, one) - right).max() for letter, one in slips.items()}
    assert {letter for letter, by in moved.items() if by == 0} == set(known["silent"])
    assert all(by == 0 or by > 1e-4 for by in moved.values())

    for motifs in (m.words(rng, 10) for _ in range(3)):
        paid = m.costs(m.echo_logits, motifs)
        more = {
            letter: m.costs(lambda ids, model, one=one: logits(model, ids, one), motifs) - paid
            for letter, one in slips.items()
        }
        assert {letter for letter, by in more.items() if by > 1} == set(known["dear"])
        assert all(by < 0.6 or by > 1.4 for by in more.values())
