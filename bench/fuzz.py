"""10,000 random and mutated strings are graded: nothing raises, nothing takes too long.

python bench/fuzz.py [--strings 10000] [--out bench/results/fuzz.json]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections import Counter
from pathlib import Path

from graded import formula, graded
from mutants import FORMULAS

SEED = 7
ALPHABET = "xyzn_0129.+-*/^(){}[], \\eπτ²−·'\"=<>!|&∪:@#\0\n"
_CALLS = ["sin(", "exp(", "log(", "sqrt(", "max(", "diff(", "sum(", "det(", "floor(", "f("]
_LATEX = [r"\frac{", "}{", r"\sum_{k=1}^{n}", r"\begin{bmatrix}", "&", r"\\", r"\end{bmatrix}"]
_SIGNS = [r"\|", r"\sqrt[3]{", r"\le", " and ", " or ", "=", "<", "Matrix([[", "]])", "!", "ᵀ"]
_LARGE = ["**9", "^999", "1e300", "9**9**9", ",k,1,n)", ",x)", ")^(1/3)", "limit("]
PIECES = [*_CALLS, *_LATEX, *_SIGNS, *_LARGE]


def string(rng: random.Random, expected: str) -> str:
    kind = rng.random()
    if kind < 0.2:
        return "".join(rng.choices(ALPHABET, k=rng.randint(0, 40)))
    if kind < 0.4:
        return "".join(rng.choices([*PIECES, *ALPHABET], k=rng.randint(1, 25)))
    text = expected if kind < 0.8 else rng.choice(FORMULAS)
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(text))
        new = rng.choice([*PIECES, *ALPHABET, ""] if rng.random() < 0.3 else [*"0123+-*/^nxd", ""])
        text = text[:at] + new + text[min(len(text), at + rng.randint(0, 3)) :]
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--strings", type=int, default=10_000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rng = random.Random(SEED)
    answers = {text: formula([text], {}) for text in FORMULAS}
    outcomes: Counter[str] = Counter()
    times = []
    slowest = (0.0, "", "")
    for _ in range(options.strings):
        expected = rng.choice(FORMULAS)
        given = string(rng, expected)
        start = time.perf_counter()
        outcome = graded(answers[expected], expected, given)
        seconds = time.perf_counter() - start
        times.append(seconds)
        slowest = max(slowest, (seconds, expected, given))
        outcomes[outcome] += 1
    results = {
        "strings": options.strings,
        "exceptions": 0,
        "outcomes": dict(outcomes),
        "median_ms": round(1000 * statistics.median(times), 2),
        "p99_ms": round(1000 * sorted(times)[int(0.99 * len(times))], 1),
        "longest_ms": round(1000 * slowest[0], 1),
    }
    print(json.dumps(results, indent=2), "slowest:", slowest[1:])
    if options.out:
        options.out.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
