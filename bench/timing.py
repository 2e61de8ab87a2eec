"""Grade sample submissions of attention again and again, idle and beside busy cores.

Each sample of tests/timing, right or wrong in how it computes, is graded ``--repeats`` times with
no, one and two other processes that keep a core busy.  What counts: right ones failed, wrong ones
passed, decisions withheld, and the seconds that an exercise takes.  Samples that work decides are
decided alike every time; those that processor time decides are marked.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dataclasses import replace

from autograder.grading.yardstick import Yardstick
from autograder.sandbox import Zygote
from tests.timing import course
from tests.timing.samples import SAMPLES

_LONG = 1.0
_BURN = "while True: sum(range(100000))"


def without_diagnosis(function):
    """Return the function with its verdicts alone: names of mistakes cost time of the grader's."""
    checks = tuple(check for check in function.checks if check.name != "no_loop")  # see unlooped
    return replace(function, checks=checks, misconceptions=())


def outcome(items):
    found = {str(item.status) for item in items.values()}
    return next(s for s in ("errored", "failed", "passed") if s in found)


def grade_all(names, repeats, few, busy):
    """Return, for every sample, what came of it and how long that took."""
    burners = [subprocess.Popen([sys.executable, "-c", _BURN]) for _ in range(busy)]
    rows = {name: {"verdicts": Counter(), "seconds": []} for name in names}
    try:
        with Zygote(("numpy", "torch")) as zygote, Yardstick() as yardstick:
            for name in ("outside_the_tracer", "torch_lazy"):  # start the yardstick, with torch
                course.grade(SAMPLES[name], zygote, yardstick)
            for repeat in range(repeats):
                for name in names:
                    long = repeat >= few and max(rows[name]["seconds"]) > _LONG
                    if long and not SAMPLES[name].by_time:
                        continue
                    start = time.perf_counter()
                    items = course.grade(SAMPLES[name], zygote, yardstick)
                    rows[name]["seconds"].append(time.perf_counter() - start)
                    rows[name]["verdicts"][outcome(items)] += 1
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    return rows


def summary(rows):
    """Count what must not be, and what should be rare."""
    total, wrong = sum(sum(row["verdicts"].values()) for row in rows.values()), Counter()
    for name, row in rows.items():
        for verdict, count in row["verdicts"].items():
            if verdict == SAMPLES[name].verdict:
                continue
            if verdict == "errored":
                wrong["withheld"] += count
            else:
                wrong[f"false {'pass' if verdict == 'passed' else 'fail'}"] += count
    seconds = [s for row in rows.values() for s in row["seconds"]]
    most = {
        f"most seconds by {how}": round(max(found, default=0.0), 3)
        for how, found in (
            ("work", [s for n, r in rows.items() if not SAMPLES[n].by_time for s in r["seconds"]]),
            ("time", [s for n, r in rows.items() if SAMPLES[n].by_time for s in r["seconds"]]),
        )
    }
    return {
        "decisions": total,
        "false pass": wrong["false pass"],
        "false fail": wrong["false fail"],
        "withheld": wrong["withheld"],
        "median seconds": round(statistics.median(seconds), 3),
        "seconds": round(sum(seconds), 1),
        **most,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="samples; by default all")
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument(
        "--few",
        type=int,
        default=3,
        help=f"repeats of a sample that takes over {_LONG} s and is decided by work",
    )
    parser.add_argument("--busy", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    names = options.names or list(SAMPLES)
    course.FUNCTIONS = {kind: without_diagnosis(f) for kind, f in course.FUNCTIONS.items()}
    found = {"python": platform.python_version(), "cores": os.cpu_count(), "runs": {}}
    for busy in options.busy:
        rows = grade_all(names, options.repeats, options.few, busy)
        found["runs"][str(busy)] = {
            "busy cores": busy,
            **summary(rows),
            "samples": {
                name: {
                    "right": SAMPLES[name].verdict,
                    "by time": SAMPLES[name].by_time,
                    "verdicts": dict(row["verdicts"]),
                    "median seconds": round(statistics.median(row["seconds"]), 3),
                    "most seconds": round(max(row["seconds"]), 3),
                }
                for name, row in rows.items()
            },
        }
        print(f"{busy} busy:", summary(rows), flush=True)
        for name, row in rows.items():
            sample = SAMPLES[name]
            print(
                f"  {name:26} {sample.verdict:7} {dict(row['verdicts'])!s:30}"
                f" {statistics.median(row['seconds']):7.3f} s {max(row['seconds']):7.3f} s"
                f"{'  by time' if sample.by_time else ''}"
            )
        if options.out:  # now already: the busier runs take long
            options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
