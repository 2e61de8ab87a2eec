"""Train the small model that a11 ships, and say what its heads have become.

    OMP_NUM_THREADS=1 python bench/echo.py [--seed 3] [--out bench/results/echo.json] [--save FILE]

Its language: the symbol ``^``, then a motif of 4 to 8 different letters A–J that is said again and
again, cut at 24 symbols.  The model: two blocks of RMS norm, rotated causal attention with two
heads, and a gated feed-forward layer; 5,552 numbers.  Two aids make its heads readable: noise on
the stream in front of each block, and a penalty on the entropy of the first layer's rows.

It fails where the model lies outside the bands in which those of six seeds lay.  Another machine
gives other digits: what is shipped is a file, and what is promised are the bands.
"""

import argparse
import json
import math
import platform
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from autograder.exercise.words.loading import load_helpers

ROOT = Path(__file__).parents[1]
SHIPPED = ROOT / "assignments" / "a11_theory" / "data" / "echo.npz"
V, N, D, H, F, LAYERS = 11, 24, 16, 2, 32, 2
SHORTEST, LONGEST = 4, 8
STEPS, BATCH, RATE = 2000, 64, 4e-3
NOISE, PENALTY = 0.1, 0.03
WATCHED = (1, 300, 500, 700, 1000, 2000)  # steps after which it is looked at
SQUARES = dict.fromkeys(("wq", "wk", "wv", "wo"), (LAYERS, D, D))
SHAPES = {
    **{"embed": (V, D), "norm1": (LAYERS, D), **SQUARES, "norm2": (LAYERS, D)},
    **{"gate": (LAYERS, D, F), "up": (LAYERS, D, F), "down": (LAYERS, F, D)},
    **{"norm": (D,), "unembed": (D, V)},
}
#: What a trained model has to reach: at most, or at least.
BANDS = {"loss": (0, 0.65), "repeats": (0, 0.01), "previous": (0.8, 1), "induction": (0.8, 1)}


def sequences(generator, count):
    """Draw sequences (count, 24) and the lengths of their motifs (count, 1)."""
    m = torch.randint(SHORTEST, LONGEST + 1, (count, 1), generator=generator)
    letters = torch.rand(count, V - 1, generator=generator).argsort(1) + 1
    said = letters.gather(1, torch.arange(N - 1)[None] % m)
    return torch.cat([torch.zeros(count, 1, dtype=torch.long), said], 1), m


class Model:
    """The model in torch, whose weights are in ``w`` by name."""

    def __init__(self, seed):
        torch.manual_seed(seed)
        self.w = {name: self._drawn(name, shape) for name, shape in SHAPES.items()}
        angle = torch.arange(N - 1)[:, None] * (1 / 100.0 ** (torch.arange(0, D // H, 2) * H / D))
        self._turn = torch.polar(torch.ones_like(angle), angle)
        self._hidden = ~torch.ones(N - 1, N - 1, dtype=torch.bool).tril()

    def __call__(self, ids, noise):
        """Return the logits, and the weights of the first layer's heads."""
        w, x, first = self.w, self.w["embed"][ids], None
        for i in range(LAYERS):
            if noise:
                size = x.detach().pow(2).mean(-1, keepdim=True).sqrt()
                x = x + NOISE * size * torch.randn(x.shape)
            y = self._norm(x, w["norm1"][i])
            q, k, v = (
                (y @ w[name][i]).unflatten(-1, (H, D // H)).transpose(1, 2)
                for name in ("wq", "wk", "wv")
            )
            scores = self._turned(q) @ self._turned(k).transpose(-1, -2) / math.sqrt(D // H)
            weights = scores.masked_fill(self._hidden, -1e30).softmax(-1)
            first = weights if first is None else first
            x = x + (weights @ v).transpose(1, 2).flatten(-2) @ w["wo"][i]
            y = self._norm(x, w["norm2"][i])
            x = x + (functional.silu(y @ w["gate"][i]) * (y @ w["up"][i])) @ w["down"][i]
        return self._norm(x, w["norm"]) @ w["unembed"], first

    def arrays(self):
        """Return the weights as arrays."""
        return {name: w.detach().numpy().copy() for name, w in self.w.items()}

    @staticmethod
    def _drawn(name, shape):
        if name.startswith("norm"):
            return torch.ones(shape, requires_grad=True)
        scale = 0.5 if name == "embed" else shape[-2] ** -0.5
        return (torch.randn(shape) * scale).requires_grad_()

    @staticmethod
    def _norm(x, gain):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * gain

    def _turned(self, x):
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * self._turn).flatten(-2)


def train(seed):
    """Return what is measured on the way, by steps, and the weights in the end.

    After a warm-up the rate falls to a twentieth.
    """
    torch.set_num_threads(1)
    model = Model(seed)
    generator = torch.Generator().manual_seed(seed + 1)
    course = {}
    optimiser = torch.optim.Adam(model.w.values(), RATE, betas=(0.9, 0.98))
    for step in range(1, STEPS + 1):
        rate = RATE * min(1, step / 100) * (1 - 0.95 * step / STEPS)
        for group in optimiser.param_groups:
            group["lr"] = rate
        ids, _ = sequences(generator, BATCH)
        logits, first = model(ids[:, :-1], noise=step < 0.8 * STEPS)
        loss = functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        if step > 0.3 * STEPS:
            loss = loss - PENALTY * (first * (first + 1e-9).log()).sum(-1).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step in WATCHED:
            course[step] = measured(model.arrays())
    return course, model.arrays()


def measured(weights, count=256):
    """Return what a model has learned, on new sequences: nats and masses, to four digits.

    ``repeats`` is the loss from the second letter of the second pass on, where all is decided;
    ``previous`` and ``induction`` the mean weights on the token before, of the best head of the
    first layer, and on those behind earlier copies, of the best one of the second.
    """
    helpers = load_helpers(ROOT / "reference")
    ids, m = (found.numpy() for found in sequences(torch.Generator().manual_seed(5), count))
    weights = {name: array.astype(float) for name, array in weights.items()}
    found = [helpers.echo_pass(weights, row) for row in ids]
    p = helpers.softmax(np.stack([logits for logits, _ in found]))[:, :-1]
    cost = -np.log(np.take_along_axis(p, ids[:, 1:, None], 2)[..., 0])
    maps = np.stack([maps for _, maps in found])
    late = np.arange(N - 1) >= m + 1
    i, j = np.indices((N, N))
    behind = ((i + 1 - j) % m[..., None] == 0) & (j <= i) & (j >= 2)
    mass = (maps * behind[:, None, None]).sum(-1)[..., :-1]
    induction = np.moveaxis(mass, 0, -2)[..., late].mean(-1)
    previous = np.diagonal(maps, -1, -2, -1).mean((0, -1))
    values = {
        "loss": cost.mean(),
        "repeats": cost[late].mean(),
        "previous": previous[0].max(),
        "induction": induction[1].max(),
    }
    return {name: float(f"{value:.4g}") for name, value in values.items()} | {
        "heads": [f"0.{previous[0].argmax()}", f"1.{induction[1].argmax()}"]
    }


def outside(values):
    """Return what lies outside its band, in sentences."""
    return [
        f"{name} is {values[name]}, not between {low} and {high}"
        for name, (low, high) in BANDS.items()
        if not low <= values[name] <= high
    ]


def main():
    """Train, and compare with what is shipped."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--save", type=Path, help="write the weights, as .npz")
    options = parser.parse_args()
    started = time.process_time()
    course, weights = train(options.seed)
    seconds = round(time.process_time() - started, 1)
    if options.save:
        np.savez(options.save, **weights)
    shipped = dict(np.load(SHIPPED)) if SHIPPED.exists() else weights
    rows = {"shipped": measured(shipped), "trained": measured(weights)}
    same = all(np.array_equal(shipped[name], weights[name]) for name in SHAPES)
    for name, row in rows.items():
        print(f"{name:8} {row}")
    for step, row in course.items():
        print(f"{step:8} {row}")
    print(f"seed {options.seed}, {seconds} CPU seconds; {'the same' if same else 'other'} numbers")
    if options.out:
        about = {"python": platform.python_version(), "torch": torch.__version__}
        about |= {"seed": options.seed, "seconds": seconds, "same": same}
        options.out.write_text(json.dumps(about | rows | {"steps": course}, indent=1) + "\n")
    if wrong := [said for row in rows.values() for said in outside(row)]:
        raise SystemExit("; ".join(wrong))


if __name__ == "__main__":
    main()
