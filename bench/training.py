"""How surely and how fast the references of the training exercises learn.

    OMP_NUM_THREADS=1 python bench/training.py [--seeds 20] [--out bench/results/training.json]

For each seed the reference is trained as it is in the jail, on one core, and what it has learned is
measured on new sequences as the exercise's checks do.
"""

import argparse
import json
import os
import platform
import time
from pathlib import Path

import numpy as np

from autograder.exercise.words.loading import load_module

FOLDER = Path(__file__).parents[1] / "reference" / "a12_capstone"


def reversing(module, seed):
    """Return what the reference's model gets right of new sequences, after training."""
    started = time.process_time()
    _, width = module.asked_for(np.random.default_rng(seed))
    result = module.train(seed, width)
    seconds = time.process_time() - started
    run = module.Trained(result, np.random.default_rng(10_000 + seed))
    right = run.written == run.labels
    return {
        "seed": seed,
        "seconds": round(seconds, 2),
        "symbols": float(right.mean()),
        "sequences": float(right.all(axis=1).mean()),
        "last_loss": round(float(result[1][-1]), 6),
        "passed": bool(right.all(axis=1).mean() >= 0.9),
    }


def classifying(module, seed):
    """Return how many of new sequences the reference's model classifies rightly."""
    started = time.process_time()
    _, width = module.asked_for(np.random.default_rng(seed))
    weights = module.train_classifier(seed, width)
    seconds = time.process_time() - started
    share, _ = module.tried(weights, np.random.default_rng(10_000 + seed), width)
    return {
        "seed": seed,
        "seconds": round(seconds, 2),
        "right": share,
        "passed": share >= 0.95,
    }


MEASURED = {"cap_seq2seq": reversing, "cap_classify": classifying}


def main():
    """Train for all seeds, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = {"python": platform.python_version(), "cores": os.cpu_count()}
    for name, measure in MEASURED.items():
        module = load_module(FOLDER / f"{name}.py")
        rows = found[name] = [measure(module, seed) for seed in range(options.seeds)]
        seconds = sorted(row["seconds"] for row in rows)
        print(
            f"{name}: {sum(row['passed'] for row in rows)} of {len(rows)} seeds pass; "
            f"CPU seconds {seconds[0]} to {seconds[-1]}, median {seconds[len(rows) // 2]}"
        )
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
