"""a10: the references give the catalogue's figures on its fixed data, and so do the mistakes."""

import heapq
import itertools
import math
from functools import cache
from itertools import combinations, pairwise

import jupytext
import numpy as np
import pytest
import torch

from autograder.exercise.words.dependencies import apply, evaluate, solve
from autograder.exercise.words.loading import load_module

from ..loaded import ROOT, assigned

ID = "a10_scale_adapt"
#: Points of the catalogue's rows; a row may be several parts.
POINTS = {
    "moe_gate": [1, 2, 2, 1],
    "moe_route": [4, 1, 1],
    "moe_balance": [2, 1, 1],
    "moe_gradient": [2, 1, 1],
    "moe_params": [2, 1],
    "ckpt_memory": [2, 2, 1, 1],
    "ckpt_time": [2, 1, 1],
    "ckpt_plan": [3, 1, 2, 1],
    "ckpt_budget": [2, 2, 1],
    "ckpt_code": [4, 1],
    "pipeline_bubbles": [1, 1, 1],
    "fp16_limits": [2, 1, 2],
    "fp16_softmax": [1, 1, 1, 3],
    "loss_scale": [1, 2, 1, 3],
    "mixed_memory": [1, 1, 1],
    "lora_shapes": [1, 2, 1, 1],
    "lora_layer": [5, 1, 1],
    "lora_best_rank": [2, 1, 1, 3, 1],
    "adapter": [1, 2, 3, 1],
    "prefix_attn": [2, 2, 3, 1, 1],
    "peft_counts": [2, 2, 1],
    "straight_through": [0.75, 0.5, 1.25, 1, 0.5],
    "tensor_split": [2, 0.5, 1, 0.5],
    "zero_stages": [1.5, 1, 0.5],
    "echo_lora": [1, 0.5, 1, 0.5],
}
GATE = {"z": np.array([2.0, 1, 0, -1]), "y": np.array([10.0, 20, 30, 40])}
HAND = {"s": np.array([1.0, 0, 2]), "v": np.array([10.0, 0, 3])}


@cache
def module(name):
    return load_module(ROOT / "reference" / ID / f"{name}.py")


def solved(name, **numbers):
    return solve(module(name).exercise, numbers)


def wrong(name, part, mistake, **numbers):
    """What a known mistake in a part gives."""
    found = next(p for p in module(name).exercise.parts if p.name == part)
    known = next(m for m in found.misconceptions if m.name == mistake)
    return evaluate(found, known, solve(module(name).exercise, numbers) | numbers)


def same(value, figures):
    """Agree to the seven digits that the catalogue prints."""
    np.testing.assert_allclose(np.asarray(value, float), figures, rtol=1e-6, atol=1e-12)


def least_by_search(layers, slots):
    """The least runs that any order of running, keeping and forgetting takes, by Dijkstra.

    A state: the layers still to reverse, where the state at hand is, and which ones are kept.
    """
    start = (layers, 0, frozenset({0}))
    cost, heap, order = {start: 0}, [(0, 0, start)], itertools.count(1)
    while heap[0][2][0]:
        paid, _, (left, at, kept) = heapq.heappop(heap)
        ways = [(0, (left, place, kept)) for place in kept]
        ways += [(0, (left, at, kept - {place})) for place in kept]
        if at is not None and len(kept) < slots:
            ways.append((0, (left, at, kept | {at})))
        if at is not None and at < left - 1:
            ways.append((1, (left, at + 1, kept)))
        if at == left - 1:
            ways.append((0, (left - 1, None, kept)))
        for price, way in ways:
            if paid + price < cost.get(way, math.inf):
                cost[way] = paid + price
                heapq.heappush(heap, (paid + price, next(order), way))
    return heap[0][0]


def test_points_and_their_order():
    loaded = assigned(ID)
    assert list(loaded.sound) == list(POINTS)
    for id, exercise in loaded.sound.items():
        assert exercise.points == pytest.approx(sum(POINTS[id])), id
    assert sum(map(sum, POINTS.values())) == 107 + 11 + 8 + 3


class TestExperts:
    def test_gates(self):
        found = solved("moe_gate", **GATE)
        same(found["G"], [0.6439143, 0.2368828, 0.08714432, 0.0320586])
        same(found["kept"], 0.8807971)
        same(found["plain"], 11.1768)
        same(found["gates"], [0.7310586, 0.2689414])
        same(found["renormalised"], 12.68941)

    @pytest.mark.parametrize(
        ("mistake", "figure"),
        [
            ("every_expert", 15.07347),
            ("smallest_gates", 3.896674),
            ("evenly", 15),
            ("sigmoids", 23.42914),
        ],
    )
    def test_wrong_outputs(self, mistake, figure):
        same(wrong("moe_gate", "plain", mistake, **GATE), figure)

    def test_routing(self):
        m, found = module("moe_route"), solved("moe_route")
        chosen, _ = m.route(m.LOGITS, 2)
        right = [[0, 1], [0, 2], [1, 0], [1, 2], [0, 3], [1, 0], [2, 0], [0, 3]]
        assert chosen.tolist() == right
        assert found["load"].tolist() == [7, 4, 3, 2]
        assert found["top1_load"].tolist() == [4, 3, 1, 0]
        assert (found["capacity"], found["dropped"].sum()) == (5, 2)
        assert wrong("moe_route", "capacity", "capacity_without_k") == 3

    def test_balance(self):
        found = solved("moe_balance")
        same(found["loss"], 1.3)
        same(found["extremes"][:2], [1, 4])
        same(found["batch_loss"], 1.452348)
        same(found["spread"], 0.6846532)
        same(wrong("moe_balance", "loss", "number_of_experts_missing"), 0.325)
        same(wrong("moe_balance", "loss", "mean_gates_twice"), 1.2)
        assert (module("moe_balance").BATCH == module("moe_route").LOGITS).all()

    def test_gradients_of_the_router(self):
        found = solved("moe_gradient")
        plain = [-0.757758, 2.090065, -0.973995, -0.358313]
        np.testing.assert_allclose(found["plain"], plain, atol=1e-6)
        np.testing.assert_allclose(found["renormalised"], [-1.966119, 1.966119, 0, 0], atol=1e-6)
        one = [[2.292887, -1.525322, -0.561135, -0.20643], [0, 0, 0, 0]]
        np.testing.assert_allclose(found["one_expert"], one, atol=1e-6)
        off = 0.6439142599 * 10 + 0.2368828181 * 20 - 20
        stepped = GATE["z"] - 0.01 * off * np.array(plain)
        np.testing.assert_allclose(found["stepped"], stepped, atol=1e-6)

    def test_parameters(self):
        sizes = {"E": 8, "k": 2, "d": 512, "f": 2048}
        found = solved("moe_params", **sizes)
        assert [found[n] for n in ("total", "active", "dense")] == [16801792, 4203520, 2099712]
        same(found["ratio"], 3.997077)
        assert wrong("moe_params", "active", "active_without_gate", **sizes) == 4199424


class TestCheckpoints:
    def test_memory(self):
        found = solved("ckpt_memory")
        assert found["units"].tolist() == [65, 20, 16, 20, 65]
        assert found["twelve"].tolist() == [8, 7, 7, 8]
        assert found["hundred"] == min(module("ckpt_memory").stored(100, np.arange(1, 101)))
        assert (found["all_bytes"], found["kept_bytes"]) == (4831838208, 1006632960)
        assert wrong("ckpt_memory", "units", "live_segment_forgotten")[2] == 8

    def test_time(self):
        found = solved("ckpt_time")
        assert found["units"].tolist() == [3, 4]
        same([found["ratio"], found["last_alive"]], [4 / 3, 1.291667])
        assert found["forwards"][1] == 2

    def test_plans(self):
        m = module("ckpt_plan")
        assert [m.uniform_plan(*p) for p in ((12, 4), (12, 3), (10, 4))] == [(7, 8), (7, 9), (7, 8)]
        assert solved("ckpt_plan")["reversible"].tolist() == [10, 10, 9]
        sizes = [8, 1, 1, 1, 1, 4]
        assert m.best_cut(sizes) == (1, 9)
        assert m.middle(sizes) == (3, 11)
        assert m.smallest_part(sizes, 2) == 8

    def test_dynamic_programming_agrees_with_every_way_to_cut(self):
        m, rng = module("ckpt_plan"), np.random.default_rng(0)
        for _ in range(30):
            sizes = rng.integers(1, 9, 8).tolist()
            for cuts in (0, 1, 2, 7):
                ways = combinations(range(1, 8), cuts)
                ends = ([0, *way, 8] for way in ways)
                best = min(max(sum(sizes[a:b]) for a, b in pairwise(way)) for way in ends)
                assert m.smallest_part(sizes, cuts) == best

    def test_budget(self):
        found = solved("ckpt_budget", L=10, k=4)
        assert list(found["pieces"]) == [4, 15, 4]
        assert list(found["least"]) == [45, 20, 15]
        assert found["fewest"] == 12

    @pytest.mark.parametrize("slots", [1, 2, 3])
    def test_no_way_of_keeping_states_takes_fewer_runs(self, slots):
        assert [least_by_search(n, slots) for n in range(1, 8)] == [
            module("ckpt_budget").least_runs(n, slots) for n in range(1, 8)
        ]

    def test_pipeline(self):
        found = solved("pipeline_bubbles", p=4, m=10, percent=8)
        same(found["share"], 3 / 13)
        assert found["needed"] == 35
        assert 3 / (35 + 3) < 0.08 <= 3 / (34 + 3)
        assert list(found["held"]) == [10, 10, 4, 1]

    def test_block_calls(self):
        assert list(solved("ckpt_code")["calls"]) == [8, 14]


class TestSixteenBits:
    def test_limits(self):
        found = solved("fp16_limits")
        half, single = np.finfo(np.float16), np.finfo(np.float32)
        assert found["half_largest"] == half.max == 65504
        same(
            2.0 ** np.array(found["half_exponents"]), [half.tiny, half.smallest_subnormal, half.eps]
        )
        same(found["single_largest"], float(single.max))
        same(2.0 ** np.array(found["single_exponents"]), [single.tiny, single.eps])
        np.testing.assert_allclose(found["digits"], [3.31133, 7.22472], rtol=1e-5)
        a, b = found["bfloat16_largest"]
        same(2.0**a - 2.0**b, 3.3895313892515355e38)
        assert wrong("fp16_limits", "half_largest", "next_power_of_two") == 65536

    def test_rounding_is_what_numpy_does(self):
        found, half = solved("fp16_limits"), np.float16
        results = [half(2048) + half(1), half(2049), half(2051)]
        steps = [half(2.0**-25), half(3 * 2.0**-25)]
        assert list(found["rounded"]) == [
            *map(int, results),
            *(int(float(x) * 2**24) for x in steps),
        ]
        same(found["spacing"], np.spacing(np.array([1000, 5000], half)))

    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_softmax_in_half_is_what_numpy_does(self):
        found, half = solved("fp16_softmax"), np.float16
        same(found["threshold"], 11.08987)
        same(found["exponentials"], np.exp(np.array([11, 12], half)))
        e = np.exp(np.array([12, 11, 0], half))
        np.testing.assert_array_equal(found["naive"], e / e.sum(dtype=half))
        same(found["right"], [0.7310553, 0.2689402, 4.491759e-6])
        ten, more = np.exp(half(10)), np.exp(np.full(3, 10.5, half)).sum(dtype=half)
        products = half(200) * half(300), half(300) * half(300)
        same(found["overflows"], [ten + ten, more, *products])

    def test_loss_scale(self):
        m, found = module("loss_scale"), solved("loss_scale")
        same(found["bounds"], [6103.516, 21834.66667])
        assert list(found["powers"]) == [8192, 16384]
        same(found["recovered"], 9997.166)
        same(wrong("loss_scale", "recovered", "not_unscaled"), 8192 * 9997.166)
        right = [65536, 32768, 16384, 16384, 16384, 32768, 32768, 16384, 16384, 16384]
        assert m.dynamic_scale(m.FLAGS) == right
        assert np.float16(2.0**-25) == 0 < np.float16(2.0**-24)
        assert found["vanishing"] == -25

    def test_memory(self):
        found = solved("mixed_memory")
        assert found["per_parameter"].tolist() == [16, 16]
        assert found["total"] == 706215936
        same(found["gib"], 0.6577148)
        assert list(found["weights"]) == [176553984, 88276992]
        assert wrong("mixed_memory", "total", "total_halved") == 353107968


class TestFewParameters:
    def test_shapes_and_counts(self):
        found = solved("lora_shapes", d=768, D=4096, r=8, R=64)
        factors = next(p for p in module("lora_shapes").exercise.parts if p.name == "factors")
        assert apply(factors, found) == {"B": ("4*d", "r"), "A": ("r", "d")}
        assert list(found["counts"]) == [589824, 12288, 16777216, 524288, 30720]
        same(found["ratios"], [0.020833333, 0.16666667, 0.00390625, 0.03125])
        same(found["reduction"], 0.83333333)
        assert list(found["ranks"]) == [38, 204]

    def test_layer(self):
        found = solved("lora_layer")
        assert [*found["start"], *found["madds"]] == [1024, 2048, 262144, 8192]

    def test_best_rank(self):
        proof = module("lora_best_rank").proof
        found = solved("lora_best_rank", proof_steps=proof.shuffled(np.random.default_rng(0)))
        same(found["errors"], [5.937171, 3.201562, 1.118034, 0.5, 0])
        same(found["energy"], [0.7092199, 0.964539, 0.9929078, 1])
        assert found["smallest"][1] == 2
        same([found["stable_rank"], found["entropy_rank"]], [1.41, 2.98551])
        same(found["identity"][0], 0.9934683)
        assert module("lora_best_rank").singular_values_added.compute()[2] == 1.5

    def test_adapter(self):
        found = solved("adapter")
        same(found["y"], [1, 5, -2])
        assert [*found["one"], found["twelve_layers"]] == [99136, 98304, 2379264]
        same(found["share"], 0.02173196)
        same(wrong("adapter", "y", "residual_forgotten"), [0, 2, 0])
        assert wrong("adapter", "twelve_layers", "one_for_each_layer") == 1189632

    def test_prefix(self):
        found = solved("prefix_attn", **HAND)
        same(found["output"], 4.443008)
        same(found["prefix_weight"], 0.2447285)
        same(found["without"], 2.642391)
        assert (found["mask_shape"], found["allowed"]) == ((5, 8), 30)
        same(wrong("prefix_attn", "output", "value_added", **HAND), 12.64239)

    def test_a_hidden_prefix_changes_nothing(self):
        m = module("prefix_attn")
        args = m.inputs(np.random.default_rng(0))
        assert np.abs(m.prefix_attention(*args) - m.prefix_hidden(*args)).max() > 0.01
        np.testing.assert_allclose(m.as_a_mixture(*args), m.prefix_attention(*args))

    def test_budgets(self):
        found = solved("peft_counts", d=768, L=12, p=10, r=8, m=64)
        names = ("prompt", "prefix", "lora", "adapters", "full")
        assert [found[n] for n in names] == [7680, 184320, 294912, 2379264, 85054464]
        np.testing.assert_allclose(found["percent"], [0.009, 0.2167, 0.3467, 2.7973], atol=5e-5)
        assert found["llama"] == 4194304
        wrong_prefix = wrong(
            "peft_counts", "prefix", "prefix_once_per_layer", d=768, L=12, p=10, r=8, m=64
        )
        assert wrong_prefix == 92160


class TestEchoLora:
    def test_short_motifs_are_learned_and_the_old_ones_dearer(self):
        m = module("echo_lora")
        (before, old), (after, forgotten) = m.both_losses(0 * m.NEW), m.both_losses(m.NEW / 100)
        assert 0.29 < before < 0.32
        assert after < m.ENOUGH / 5
        assert old < 0.001 < m.KEPT < forgotten
        assert max(m.both_losses(m.BOTH / 100)) < 0.006

    def test_it_is_learned_by_one_s_own_layers_as_the_notebook_says(self, monkeypatch):
        monkeypatch.chdir(ROOT / "assignments" / ID / "data")
        notebook = jupytext.read(ROOT / "assignments" / ID / f"{ID}.py")
        [cell] = [cell for cell in notebook.cells if "def echo_torch(" in cell.source]
        given = {}
        exec(compile(cell.source, "given", "exec"), given)
        m = module("echo_lora")
        ids, _ = given["sentences"](4, 8, 2, np.random.default_rng(0))
        for row, found in zip(ids.numpy(), given["echo_torch"](ids).numpy(), strict=True):
            np.testing.assert_allclose(found, m.echo_pass(m.ECHO, row)[0], atol=2e-3)
        assert m.learned(self.trained(given, 2, 3)) == "learned"
        assert m.kept(self.trained(given, 2, 8)) == (True, True)

    def trained(self, given, shortest, longest):
        """Return the factors after 200 steps, and that they are what the layers compute."""
        torch.manual_seed(0)
        rng, m = np.random.default_rng(0), module("echo_lora")
        layers = [
            module("lora_layer").LoRALinear(given["trained"][name][1].T, 1, 1.0)
            for name in ("wq", "wk")
        ]
        adam = torch.optim.Adam([p for layer in layers for p in layer.parameters()], 0.02)
        for step in range(200):
            adam.param_groups[0]["lr"] = 0.02 * (1 - 0.95 * step / 200)
            ids, known = given["sentences"](shortest, longest, 32, rng)
            logits = given["echo_torch"](ids, *layers)
            loss = torch.nn.functional.cross_entropy(logits[:, :-1][known], ids[:, 1:][known])
            adam.zero_grad()
            loss.backward()
            adam.step()
        factors = np.stack(
            [x.detach().numpy().ravel() for each in layers for x in (each.A, each.B)]
        )
        mine = m.echo_pass(m.adapted(factors), ids[0].numpy())[0]
        theirs = given["echo_torch"](ids, *layers)[0].detach().numpy()
        np.testing.assert_allclose(theirs, mine, atol=2e-3)
        return factors
