"""Formulas in the ways students write them: are the right ones accepted, and the wrong ones not?

    python bench/formulas.py [--busy 4] [--out bench/results/formulas.json]

`formulas.toml` holds tasks with declared names, right answers by way of writing, tempting wrong
ones, hostile ones that no point tried is likely to tell from the right one, and unfinished ones,
that only say what is to be computed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from algebra import busy_loops
from graded import REVIEW, RIGHT, UNREADABLE, WRONG, graded

from autograder.exercise import Formula, Matrix

DATA = Path(__file__).with_name("formulas.toml")
# Nothing was tuned on these: the second set, and the third.
UNSEEN = Path(__file__).with_name("formulas_unseen.toml")
FRESH = Path(__file__).with_name("formulas_fresh.toml")
WAYS = ("latex", "python", "unicode", "chat")
RUNS = 3
SLOW = 0.2  # seconds


class Row(NamedTuple):
    """One formula, with what is expected and how it is meant."""

    sort: str  # one of `WAYS`, all of them right; "wrong", "hostile" or "unfinished"
    expected: str
    given: str
    names: tuple[str, ...]
    assumptions: dict[str, str]


def rows(data: Path = DATA) -> Iterator[Row]:
    """Yield all formulas."""
    for task in tomllib.loads(data.read_text(encoding="utf-8"))["task"]:
        declared = dict(name.partition(": ")[::2] for name in task["names"])
        known = {name: words for name, words in declared.items() if words}
        for sort in (*WAYS, "wrong", "hostile", "unfinished"):
            for given in task.get(sort, ()):
                yield Row(sort, task["expected"], given, tuple(declared), known)


def judge(row: Row) -> str:
    """Grade one formula."""
    if row.expected.startswith("Matrix("):
        answer: Formula = Matrix(" ".join(row.names), row.assumptions)
    else:
        answer = Formula(" ".join(row.names), row.assumptions)
    return graded(answer, row.expected, row.given)


def measure(chosen: list[Row]) -> tuple[list[str], list[float]]:
    """Return what becomes of each formula, and the time that it takes."""
    outcomes, times = [], []
    for row in chosen:
        start = time.perf_counter()
        outcomes.append(judge(row))
        times.append(time.perf_counter() - start)
    return outcomes, times


def fresh_outcomes() -> list[str]:
    """Measure in a process of its own: what has been compared once is remembered."""
    command = [sys.executable, __file__, "--outcomes"]
    outcomes: list[str] = json.loads(subprocess.run(command, stdout=-1, check=True).stdout)
    return outcomes


def summary(chosen: list[Row], outcomes: list[str], times: list[float]) -> dict[str, Any]:
    """Count what was accepted."""
    pairs = list(zip(chosen, outcomes, strict=True))
    right = [(row, outcome) for row, outcome in pairs if row.sort in WAYS]
    wrong = [outcome for row, outcome in pairs if row.sort in ("wrong", "hostile")]
    unfinished = [outcome for row, outcome in pairs if row.sort == "unfinished"]

    def percent(some: list[tuple[Row, str]]) -> float:
        return round(100 * sum(outcome == RIGHT for _, outcome in some) / len(some), 1)

    ordered = sorted(times)
    refused = Counter(outcome for _, outcome in right)
    return {
        "formulas": len(chosen),
        "right": len(right),
        "right_accepted_percent": percent(right),
        "by_way": {way: percent([pair for pair in right if pair[0].sort == way]) for way in WAYS},
        "right_refused": refused[WRONG],
        "right_unreadable": refused[UNREADABLE],
        "wrong_or_hostile": len(wrong),
        "false_accepts": wrong.count(RIGHT),
        "wrong_left_to_a_person": wrong.count(REVIEW),
        "unfinished": len(unfinished),
        "unfinished_accepted": unfinished.count(RIGHT),
        "median_ms": round(1000 * statistics.median(times), 2),
        "p99_ms": round(1000 * ordered[int(0.99 * (len(ordered) - 1))], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--unseen", action="store_true", help=f"those of {UNSEEN.name}")
    parser.add_argument("--fresh", action="store_true", help=f"those of {FRESH.name}")
    parser.add_argument("--show", action="store_true", help="print what is not as it should be")
    parser.add_argument("--busy", type=int, metavar="LOOPS", help=f"{RUNS} more runs beside them")
    parser.add_argument("--outcomes", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.outcomes:
        print(json.dumps(measure(list(rows()))[0]))
        return
    chosen = list(rows(FRESH if options.fresh else UNSEEN if options.unseen else DATA))
    judge(chosen[0])  # what is loaded on first use is not counted
    outcomes, times = measure(chosen)
    result = summary(chosen, outcomes, times)
    if options.show:
        for row, outcome, seconds in zip(chosen, outcomes, times, strict=True):
            if (outcome == RIGHT) != (row.sort in WAYS) or seconds > SLOW:
                print(row.sort, "|", row.expected, "|", row.given, "|", outcome, round(seconds, 2))
    if options.busy:
        with busy_loops(options.busy):
            runs = [fresh_outcomes() for _ in range(RUNS)]
        differ = sum(len(set(answers)) > 1 for answers in zip(outcomes, *runs, strict=True))
        result |= {"busy_loops": options.busy, "changed_in_three_runs": differ}
    print(json.dumps(result, indent=2))
    if options.out:
        options.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
