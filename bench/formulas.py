"""Formulas in the ways students write them: are the right ones accepted, and the wrong ones not?

    python bench/formulas.py [--busy 4] [--out bench/results/formulas.json]

`formulas.toml` holds tasks with declared names, right answers by way of writing, tempting wrong
ones, and hostile ones that no point tried is likely to tell from the right one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from algebra import busy_loops

from autograder.algebra import Verdict, equivalent

DATA = Path(__file__).with_name("formulas.toml")
WAYS = ("latex", "python", "unicode", "chat")
RUNS = 3


class Row(NamedTuple):
    """One formula, with what is expected and how it is meant."""

    sort: str  # one of `WAYS`, all of them right; "wrong" or "hostile"
    expected: str
    given: str
    names: tuple[str, ...]
    assumptions: dict[str, str]


def rows() -> Iterator[Row]:
    """Yield all formulas."""
    for task in tomllib.loads(DATA.read_text(encoding="utf-8"))["task"]:
        declared = dict(name.partition(": ")[::2] for name in task["names"])
        known = {name: words for name, words in declared.items() if words}
        for sort in (*WAYS, "wrong", "hostile"):
            for given in task.get(sort, ()):
                yield Row(sort, task["expected"], given, tuple(declared), known)


def judge(row: Row) -> Verdict:
    """Compare one formula with what is expected."""
    return equivalent(
        row.expected, row.given, variables=row.names, assumptions=row.assumptions or None
    )


def measure(chosen: list[Row]) -> tuple[list[Verdict], list[float]]:
    """Return verdicts and times."""
    verdicts, times = [], []
    for row in chosen:
        start = time.perf_counter()
        verdicts.append(judge(row))
        times.append(time.perf_counter() - start)
    return verdicts, times


def summary(chosen: list[Row], verdicts: list[Verdict], times: list[float]) -> dict[str, Any]:
    """Count what was accepted."""
    pairs = list(zip(chosen, verdicts, strict=True))
    right = [(row, verdict) for row, verdict in pairs if row.sort in WAYS]
    wrong = [(row, verdict) for row, verdict in pairs if row.sort not in WAYS]

    def percent(some: list[tuple[Row, Verdict]]) -> float:
        return round(100 * sum(verdict.equal is True for _, verdict in some) / len(some), 1)

    ordered = sorted(times)
    return {
        "formulas": len(chosen),
        "right": len(right),
        "right_accepted_percent": percent(right),
        "by_way": {way: percent([pair for pair in right if pair[0].sort == way]) for way in WAYS},
        "right_refused": sum(verdict.equal is False for _, verdict in right),
        "wrong_or_hostile": len(wrong),
        "false_accepts": sum(verdict.equal is True for _, verdict in wrong),
        "wrong_left_to_a_person": sum(verdict.equal is None for _, verdict in wrong),
        "how": dict(Counter(verdict.how for _, verdict in pairs if verdict.equal)),
        "median_ms": round(1000 * statistics.median(times), 2),
        "p99_ms": round(1000 * ordered[int(0.99 * (len(ordered) - 1))], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--show", action="store_true", help="print what is not as it should be")
    parser.add_argument("--busy", type=int, metavar="LOOPS", help=f"{RUNS} more runs beside them")
    options = parser.parse_args()
    chosen = list(rows())
    judge(chosen[0])  # what is loaded on first use is not counted
    verdicts, times = measure(chosen)
    result = summary(chosen, verdicts, times)
    if options.show:
        for row, verdict in zip(chosen, verdicts, strict=True):
            if (verdict.equal is True) != (row.sort in WAYS):
                print(row.sort, "|", row.expected, "|", row.given, "|", verdict.how.split("\n")[0])
    if options.busy:
        with busy_loops(options.busy):
            runs = [[v.equal for v in measure(chosen)[0]] for _ in range(RUNS)]
        first = [verdict.equal for verdict in verdicts]
        differ = sum(len(set(answers)) > 1 for answers in zip(first, *runs, strict=True))
        result |= {"busy_loops": options.busy, "changed_in_three_runs": differ}
    print(json.dumps(result, indent=2))
    if options.out:
        options.out.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
