"""Say what a small trained model does, for the pictures in the notebooks: its every number, anew.

    python bench/thread.py [--out bench/results/thread.json]

The model is the one that a11 ships (echo.py trained it).  A notebook shows what its own subject
means in this model, in a cell that only draws; there its numbers are written out, because weights
and code that runs them would hand out attention, norms and rotations before a student has written
them.  The tests compare those cells with what is computed here.

All means are over 1,024 sequences.  ``repeats`` is the loss in nats from the second letter of the
second pass on, where everything is decided; ``first`` is the loss in the first pass.
"""

import argparse
import json
import math
from pathlib import Path

import numpy as np

from autograder.exercise.words.loading import load_helpers

ROOT = Path(__file__).parents[1]
helpers = load_helpers(ROOT / "reference")
SYMBOLS = "^ABCDEFGHIJ"
N, SHORTEST, LONGEST, LAYERS, H, D, F = 24, 4, 8, 2, 2, 16, 32
WEIGHTS = {
    name: array.astype(float)
    for name, array in np.load(ROOT / "assignments" / "a11_theory" / "data" / "echo.npz").items()
}
HEADS = [(layer, head) for layer in range(LAYERS) for head in range(H)]


def sequences(seed, count, n=N):
    """Draw sequences (count, n) and the lengths of their motifs (count,)."""
    rng = np.random.default_rng(seed)
    m = rng.integers(SHORTEST, LONGEST + 1, count)
    letters = rng.permuted(np.tile(np.arange(1, len(SYMBOLS)), (count, 1)), axis=1)
    said = np.take_along_axis(letters, np.arange(n - 1) % m[:, None], 1)
    return np.hstack([np.zeros((count, 1), int), said]), m


def ids(text):
    """Return a text as a batch of one sequence."""
    return np.array([[SYMBOLS.index(letter) for letter in text]])


def rms_norm(x, gain):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * gain


def rotated(x, positions, base):
    angles = np.asarray(positions)[:, None] * base ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    pairs = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
    return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)


def run(
    batch,
    weights=WEIGHTS,
    *,
    off=(),
    masked=True,
    scale=8**-0.5,
    window=N * 100,
    largest=None,
    features=None,
    base=100.0,
    positions=None,
):
    """Return logits, maps (layers, batch, heads, n, n), scores likewise, pieces of the stream.

    Parameters
    ----------
    off
        Heads that add nothing.
    window, largest
        Only so many keys before each query count, or only so many of the largest weights.
    features
        Weights are φ(q)·φ(k), without rotation, in place of the exponential.
    """
    n = batch.shape[1]
    positions = np.arange(n) if positions is None else positions
    i, j = np.indices((n, n))
    allowed = ((j <= i) | (not masked)) & (i - j < window)
    x = weights["embed"][batch]
    pieces, maps, all_scores = [x], [], []
    for layer in range(LAYERS):
        w = {name: array[layer] for name, array in weights.items() if len(array) == LAYERS}
        y = rms_norm(x, w["norm1"])
        q, k, v = (helpers.split_heads(y @ w[name], H) for name in ("wq", "wk", "wv"))
        if features:
            similar = features(q) @ features(k).swapaxes(-1, -2) * allowed
            A = similar / similar.sum(-1, keepdims=True)
        else:
            q, k = (rotated(each, positions, base) for each in (q, k))
            all_scores.append(q @ k.swapaxes(-1, -2))
            A = helpers.softmax(np.where(allowed, all_scores[-1] * scale, -np.inf))
        if largest:
            A = np.where(np.sort(A, -1)[..., -min(largest, n), None] <= A, A, 0)
            A /= A.sum(-1, keepdims=True)
        maps.append(A)
        out = A @ v
        for head in range(H):
            added = out[:, head] @ w["wo"][head * D // H : (head + 1) * D // H]
            pieces.append(added * ((layer, head) not in off))
            x = x + pieces[-1]
        y = rms_norm(x, w["norm2"])
        gate = y @ w["gate"]
        pieces.append((gate / (1 + np.exp(-gate)) * (y @ w["up"])) @ w["down"])
        x = x + pieces[-1]
    logits = rms_norm(x, weights["norm"]) @ weights["unembed"]
    return logits, np.stack(maps), all_scores, pieces


BATCH, LENGTHS = sequences(1234, 1024)
_PLACE = np.arange(N - 1)
REPEATS, FIRST = LENGTHS[:, None] + 1 <= _PLACE, LENGTHS[:, None] > _PLACE


def nats(logits, batch=BATCH):
    """Return what each symbol after the first costs."""
    p = helpers.softmax(logits[:, :-1])
    return -np.log(np.take_along_axis(p, batch[:, 1:, None], 2)[..., 0])


def losses(weights=WEIGHTS, **changes):
    """Return the loss over all letters, in the first pass, and on repeats."""
    cost = nats(run(BATCH, weights, **changes)[0])
    return cost.mean(), cost[FIRST].mean(), cost[REPEATS].mean()


def least():
    """Return the least possible nats at each of the 23 places, on the average over motifs."""
    rows = []
    for m in range(SHORTEST, LONGEST + 1):
        over = [1 / (LONGEST - k + 1) if SHORTEST <= k <= LONGEST else 0 for k in range(N - 1)]
        new = [-math.log((1 - p) / (10 - k)) for k, p in enumerate(over[:m])]
        rows.append([*new, -math.log(over[m]), *[0] * (N - 2 - m)])
    return np.mean(rows, 0)


def how_sure():
    """a01: after ^BADGE; the letters that it may be, in order of the alphabet."""
    logits = run(ids("^BADGE"))[0][0, -1]
    places = [SYMBOLS.index(letter) for letter in "BCFHIJ"]
    by_temperature = [helpers.softmax(logits / tau) for tau in (0.5, 1, 2)]
    return {
        "model": (by_temperature[1][places], 3),
        "exact": ([1 / 4, *[(1 - 1 / 4) / 5] * 5], 3),
        "of_B": ([p[places[0]] for p in by_temperature], 3),
        "entropy": ([-(p * np.log(p)).sum() for p in by_temperature], 2),
    }


def looked_up():
    """a02: what head 1.1 finds at the second A of ^BADGEBA."""
    _, maps, scores, _ = run(ids("^BADGEBA"))
    return {
        "scores": (scores[1][0, 1, -1] / math.sqrt(D // H), 2),
        "weights": (maps[1, 0, 1, -1], 3),
    }


def unmasked():
    """a03: head 1.1 with the mask and without it, in percent; and what changes cost."""
    text = ids("^BADGEBADGE")
    percent = [100 * run(text, masked=masked)[1][1, 0, 1] for masked in (True, False)]
    changes = [{}, {"masked": False}, {"scale": 1.0}, {"scale": 1 / 8}]
    spread = [scores[:, head].std() for scores in run(BATCH)[2][:1] for head in range(H)]
    return {
        "masked": (percent[0], 0),
        "unmasked": (percent[1], 0),
        "losses": ([losses(**change)[0] for change in changes], 3),
        "spread": (spread, 1),
    }


def switched_off():
    """a04: the losses while a head adds nothing; the last entry is with all of them."""
    found = [losses(off=(head,)) for head in HEADS] + [losses()]
    return {
        "first_pass": ([row[1] for row in found], 2),
        "on_repeats": ([row[2] for row in found], 4),
    }


def longer():
    """a05: the share of right ones among the last 8 letters, for sequences of four lengths."""
    lengths = (24, 32, 48, 96)

    def share(n, **changes):
        batch, _ = sequences(7, 512, n)
        return (run(batch, **changes)[0][:, :-1].argmax(-1) == batch[:, 1:])[:, -8:].mean()

    return {
        "as_trained": ([share(n) for n in lengths], 2),
        "squeezed": ([share(n, positions=np.arange(n) * 24 / n) for n in lengths], 2),
        "larger_base": ([share(n, base=100 * (n / 24) ** (8 / 6)) for n in lengths], 2),
        "window_of_8": ([share(n, window=8) for n in lengths], 2),
    }


def written():
    """a06: the root mean square of what each part adds to the stream, and of the sum so far."""
    pieces = run(BATCH)[3]
    louder = WEIGHTS | {"embed": 3 * WEIGHTS["embed"]}
    return {
        "pieces": ([np.sqrt((each**2).mean()) for each in pieces], 2),
        "stream": ([np.sqrt((each**2).mean()) for each in np.cumsum(pieces, 0)], 2),
        "losses": ([losses()[0], losses(louder)[0]], 3),
    }


def against_the_best():
    """a07: nats at each place, of the model and of the best possible; greedy continuations."""
    rng, right = np.random.default_rng(11), 0
    motifs = [rng.permutation(10)[:m] + 1 for m in rng.integers(SHORTEST, LONGEST + 1, 512)]
    for length in range(SHORTEST, LONGEST + 1):
        group = np.array([motif for motif in motifs if len(motif) == length])
        batch = np.hstack([np.zeros((len(group), 1), int), group, group[:, :1]])
        while batch.shape[1] < N:
            batch = np.hstack([batch, run(batch)[0][:, -1:].argmax(-1)])
        right += (batch[:, 1:] == group[:, np.arange(N - 1) % length]).all(1).sum()
    return {
        "model": (nats(run(BATCH)[0]).mean(0), 2),
        "best": (least(), 2),
        "continued": ([right / len(motifs)], 3),
    }


def cached():
    """a08: multiply-adds of a step, and what writing 24 letters without a cache costs more."""
    matrices = LAYERS * (4 * D * D + 3 * D * F) + D * len(SYMBOLS)
    attention = 2 * LAYERS * D  # for each key: a score, and a value that is added
    steps = np.arange(1, N + 1)
    anew = steps * matrices + attention * steps * (steps + 1) / 2
    return {
        "weights": ([matrices], 0),
        "per_key": ([attention], 0),
        "times_as_much": ([anew.sum() / (matrices + attention * steps).sum()], 1),
        "per_token": ([2 * LAYERS * D], 0),
        "numbers": ([sum(array.size for array in WEIGHTS.values())], 0),
    }


def fewer_keys():
    """a09: the loss on repeats, if each query sees less or compares otherwise."""

    def elu_plus_one(x):
        return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))

    return {
        "windows": ([losses(window=w)[2] for w in (2, 4, 6, 8, 12)], 4),
        "largest": ([losses(largest=k)[2] for k in (1, 2, 3)], 4),
        "linear": ([losses(features=elu_plus_one)[2]], 2),
    }


def fewer_bits():
    """a10: the loss with coarser weights; that on repeats with weights of a lower rank."""

    def rounded(array, bits):
        if bits == 16:
            return array.astype(np.float16).astype(float)
        step = np.abs(array).max((-2, -1), keepdims=True) / (2 ** (bits - 1) - 1)
        return np.round(array / step) * step

    def coarser(bits):
        return {n: a if n.startswith("norm") else rounded(a, bits) for n, a in WEIGHTS.items()}

    def cut(names, rank):
        changed = dict(WEIGHTS)
        for name in names:
            u, s, v = np.linalg.svd(WEIGHTS[name], full_matrices=False)
            changed[name] = (u[..., :rank] * s[..., None, :rank]) @ v[..., :rank, :]
        return changed

    return {
        "bits": ([losses(coarser(bits))[0] for bits in (16, 8, 6, 5, 4, 3)], 2),
        "rank_qk": ([losses(cut(("wq", "wk"), rank))[2] for rank in (8, 6, 4)], 3),
        "rank_vo": ([losses(cut(("wv", "wo"), rank))[2] for rank in (12, 8, 6)], 3),
    }


def votes():
    """a11: what each part of the stream says for D after ^BADGEBA, beyond the mean letter."""
    _, _, _, pieces = run(ids("^BADGEBA"))
    last = [piece[0, -1] for piece in pieces]
    gain = WEIGHTS["norm"] / np.sqrt((sum(last) ** 2).mean() + 1e-5)
    said = np.array([piece * gain @ WEIGHTS["unembed"] for piece in last])
    return {"votes": ((said - said.mean(1, keepdims=True))[:, SYMBOLS.index("D")], 2)}


def stretched():
    """a13: nats on twice as many symbols: in the second half, and on repeats in the first half.

    Unscaled, interpolated by 2, and with the base that turns the slowest pair by half as much.
    """
    batch, m = sequences(7, 1024, 2 * N)
    early = (m[:, None] + 1 <= np.arange(2 * N - 1)) & (np.arange(2 * N - 1) < N - 1)
    ways = ({}, {"positions": np.arange(2 * N) / 2}, {"base": 100 * 2 ** (8 / 6)})
    costs = [nats(run(batch, **way)[0], batch) for way in ways]
    return {
        "second_half": ([cost[:, N - 1 :].mean() for cost in costs], 1),
        "repeats_before": ([cost[early].mean() for cost in costs], 3),
        "guessing": ([math.log(len(SYMBOLS))], 1),
    }


def on_twice_as_many():
    """a13: nats on twice as many symbols, in the second half."""
    found = stretched()
    return {name: found[name] for name in ("second_half", "guessing")}


#: What a notebook shows of the model; each entry with the decimals that are written there.
SHOWN = {
    "a01_softmax": how_sure,
    "a02_attention_by_hand": looked_up,
    "a03_scaled_attention": unmasked,
    "a04_multi_head": switched_off,
    "a05_positions": longer,
    "a06_block": written,
    "a07_full_transformer": against_the_best,
    "a08_cost": cached,
    "a09_efficient": fewer_keys,
    "a10_scale_adapt": fewer_bits,
    "a11_theory": votes,
    "a13_modern": on_twice_as_many,
}

#: What a notebook says of it in words alone.
SAID = {"a13_modern": stretched}


def shown(assignment):
    """Return the numbers of a notebook's cell, by name, rounded as they are written there."""
    found = (SHOWN | SAID)[assignment]()
    return {
        name: (np.round(np.asarray(value, float), decimals) + 0.0).tolist()
        for name, (value, decimals) in found.items()
    }


def main():
    """Print all of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = {assignment: shown(assignment) for assignment in SHOWN | SAID}
    for assignment, numbers in found.items():
        print(assignment)
        for name, value in numbers.items():
            print(f"    {name} = {value}")
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
