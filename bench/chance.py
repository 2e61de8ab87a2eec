"""How often chance fails a right answer in the experiments of a09.

    python bench/chance.py [--seeds 2000] [--out bench/results/chance.json]

For each seed the experiment is done as a student does it, and its result is held against what the
reference accepts: the band is printed beside how far the results lie from its middle, in standard
deviations of the results.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from autograder.exercise.words.loading import load_module

FOLDER = Path(__file__).parents[1] / "reference" / "a09_efficient"


def performer(module, seed):
    """Return log RMSE for each number of features, as the notebook asks for it."""
    Q, K, V = np.random.default_rng(0).normal(size=(3, 32, 8)).astype(np.float32)
    Q, K = np.float32(0.3) * Q, np.float32(0.3) * K
    right = module.attention(Q, K, V)[0]
    rng = np.random.default_rng(seed)
    errors = []
    for m in (64, 256, 1024, 4096):
        draws = [rng.standard_normal((m, 8), dtype=np.float32) for _ in range(20)]
        outputs = np.array([module.performer(Q, K, V, W) for W in draws])
        errors.append(np.median(np.sqrt(np.mean((outputs - right) ** 2, axis=(1, 2)))))
    return np.log(errors)


def unattended(module, seed):
    """Return the shares of tokens to which no other token attends, as the notebook asks."""
    rng = np.random.default_rng(seed)
    shares = []
    for n, graphs in module.SIZES.items():
        keys = rng.integers(0, n, (graphs, n, 3))
        while (twice := np.diff(np.sort(keys, axis=-1), axis=-1).min(axis=-1) == 0).any():
            keys[twice] = rng.integers(0, n, (int(twice.sum()), 3))
        others = keys != np.arange(n)[:, None]
        flat = (keys + n * np.arange(graphs)[:, None, None])[others]
        shares.append(np.mean(np.bincount(flat, minlength=graphs * n) == 0))
    return np.array(shares)


def report(name, results, middle, band):
    """Say how many results lie outside of the band, and how far its edge is."""
    results = np.array(results, dtype=float)
    edge = (band - abs(results.mean(axis=0) - middle)) / results.std(axis=0)
    found = {
        "seeds": len(results),
        "outside": int((abs(results - middle) > band).any(axis=1).sum()),
        "mean": results.mean(axis=0).round(4).tolist(),
        "standard_deviation": results.std(axis=0).round(5).tolist(),
        "edge_in_standard_deviations": edge.round(2).tolist(),
    }
    print(
        f"{name}: {found['outside']} of {len(results)} outside; mean {found['mean']}, "
        f"edge at {edge.min():.1f} standard deviations or more"
    )
    return {name: found}


def main():
    """Do both experiments for all seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--out", type=Path, help="write the results here, as JSON")
    args = parser.parse_args()
    seeds = range(args.seeds)
    bigbird = load_module(FOLDER / "sparse_bigbird.py")
    expected = np.array([(1 - 3 / n) ** (n - 1) for n in bigbird.SIZES])
    shares = [unattended(bigbird, seed) for seed in seeds]
    found = report("unattended", shares, expected, bigbird.BAND)
    favor = load_module(FOLDER / "favor_code.py")
    errors = [performer(favor, seed) for seed in seeds]
    found |= report("rmse", errors, np.log(favor.TYPICAL), np.log(favor.WITHIN))
    if args.out:
        args.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
