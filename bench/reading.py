"""How well the reference of a14's training reads, and the curves that students are shown.

    OMP_NUM_THREADS=1 python bench/reading.py [--seeds 20] [--out bench/results/reading.json]
    OMP_NUM_THREADS=1 python bench/reading.py --curves 6
    python bench/reading.py --save assignments/a14_text/data/lessons.npz

For each seed the reference is trained as it is in the jail, on one core, and tried on the two
lessons that it was not given, by what the exercise's checks draw. `--curves` prints the losses of
four kinds of runs, for `CURVES` in the exercise; `--save` cuts the frozen text into lessons, and
writes their tokens in the vocabulary of 512, which the first 256 merges make.
"""

import argparse
import json
import os
import platform
import re
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from autograder.exercise.words.loading import load_module

ROOT = Path(__file__).parents[1]
DATA = ROOT / "assignments" / "a14_text" / "data"
RUNS = {"right": {}, "small": {"rate": 3e-4}, "large": {"rate": 0.1}, "cold": {"warm": 0}}


def encoded(text, merges):
    """Return the tokens of a text: each merge is carried out everywhere, one after the other."""
    ids = list(text)
    for new, (one, two) in enumerate(merges, start=256):
        out, at = [], 0
        while at < len(ids):
            both = ids[at] == one and at + 1 < len(ids) and ids[at + 1] == two
            out.append(new if both else ids[at])
            at += 1 + both
        ids = out
    return np.array(ids, np.int16)


def lessons():
    """Return the tokens of each lesson by the number of its notebook."""
    text = (DATA / "course.txt").read_text(encoding="utf-8")
    merges = np.load(DATA / "merges.npy")[:256].tolist()
    parts = re.split(r"^(?=# )", text, flags=re.MULTILINE)[1:]
    return {f"{i:02}": encoded(part.encode(), merges) for i, part in enumerate(parts, start=1)}


def tried(module, seed):
    """Train the reference, and return how many bits a byte of unread lessons takes."""
    seconds = []

    def train_text(*asked):
        started = time.process_time()
        found = module.train_text(*asked)
        seconds.append(time.process_time() - started)
        return found

    call = SimpleNamespace(once=train_text)
    _, run, _ = module.tried(call, np.random.default_rng(seed))
    return {
        "seed": seed,
        "seconds": round(sum(seconds), 2),
        "bits": round(float(run.own), 4),
        "pairs": round(float(run.pairs), 4),
        "below_pairs": round(float(run.pairs - run.own), 4),
        "looks_back": round(run.looks_back, 4),
        "last_losses": round(float(run.losses[-40:].mean()), 4),
        "read_again": round(run.read_again(), 4),
        "passed": bool(run.pairs - run.own >= module.BAND and run.looks_back >= module.HELPS),
    }


def curves(module, seed):
    """Return the losses of each kind of run at the steps that are shown, means of up to five."""
    _, width, text, _ = module.asked_for(np.random.default_rng(seed))
    found = {}
    for name, kind in RUNS.items():
        losses = module.trained(seed, width, text, steps=500, batch=8, **kind)[1]
        found[name] = [round(float(losses[max(0, s - 5) : s].mean()), 2) for s in module.STEPS]
    return found


def main():
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--curves", type=int, metavar="SEEDS", help="print curves of so many seeds")
    parser.add_argument("--save", type=Path, metavar="FILE", help="write the lessons' tokens")
    options = parser.parse_args()
    if options.save:
        np.savez_compressed(options.save, **lessons())
        return
    module = load_module(ROOT / "reference" / "a14_text" / "train_text.py")
    if options.curves:
        for seed in range(options.curves):
            print(json.dumps(curves(module, seed)), flush=True)
        return
    rows = []
    for seed in range(options.seeds):
        rows.append(tried(module, seed))
        print(rows[-1], flush=True)
    below = sorted(row["below_pairs"] for row in rows)
    seconds = sorted(row["seconds"] for row in rows)
    print(
        f"{sum(row['passed'] for row in rows)} of {len(rows)} seeds pass; {below[0]} to "
        f"{below[-1]} bits per byte below pairs; CPU seconds {seconds[0]} to {seconds[-1]}"
    )
    if options.out:
        found = {"python": platform.python_version(), "cores": os.cpu_count(), "train_text": rows}
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
