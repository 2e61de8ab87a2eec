"""Judge submissions on this machine's GPU again and again: right ones, wrong ones, attacks.

The checks are those of the course that need a GPU, with their references and alternatives (right)
and the known mistakes of the functions that they are about (wrong), and the samples and attacks of
tests/timing.  Each is judged up to ``--times`` times or for ``--seconds`` seconds.  What counts:
wrong ones passed, right ones failed, and what could not be decided.  ``--raw`` keeps every time
that was measured.
"""

import argparse
import json
import statistics
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.sources import function_source
from autograder.exercise import Inconclusive, Mismatch, grows_on_gpu
from autograder.grading.gpu import Gpu, missing
from autograder.grading.runner import Runner
from autograder.grading.student import StudentCall
from autograder.sandbox import StudentError
from tests.timing.gpu_samples import ATTACKS, SAMPLES

ROOT = Path(__file__).resolve().parents[1]
ASSIGNMENTS = ("a08_cost", "a12_capstone")
#: Their known mistakes are about arrays: what they do with tensors says nothing.
ABOUT_ARRAYS = {"flash_attention"}
#: On a GPU it is as good as the table that was asked for; a check before this one fails it.
NOT_ABOUT_GROWTH = {"explicit_in_blocks"}


@dataclass(frozen=True)
class Case:
    """Code to be judged, and how."""

    name: str
    right: bool
    source: str
    solution: object
    check: object


class Kept:
    """A submission's call, which keeps what was measured."""

    def __init__(self, call):
        self._call, self.curve, self.rows = call, None, []

    def on_gpu(self, shape, dtype, drawn, *, sdpa=False):
        """Time it."""
        timing = self._call.on_gpu(shape, dtype, drawn, sdpa=sdpa)
        if timing is not None:
            times = round(1e3 * timing.seconds, 4), round(1e3 * timing.events, 4)
            self.rows.append([sdpa, dtype, shape[-2], *times, timing.peak])
        return timing


def cases():
    for name, sample in {**SAMPLES, **ATTACKS}.items():
        yield Case(f"sample {name}", not sample.fails, sample.source, attention, judge_of(sample))
    course = Course.load(ROOT)
    for id in ASSIGNMENTS:
        for exercise in load_assignment(course, id).sound.values():
            for function in exercise.functions:
                yield from cases_of(id, exercise, function)


def attention(Q, K, V):
    """Stand for the function of the samples."""


def judge_of(sample):
    return lambda call: grows_on_gpu(call, time=sample.time, memory=sample.memory, rows=sample.rows)


def cases_of(id, exercise, function):
    for check in (check for check in function.checks if check.gpu):
        right = [function.solution, *function.alternatives]
        wrong = [] if function.name in ABOUT_ARRAYS else function.misconceptions
        for number, other in enumerate([*right, *wrong]):
            label = getattr(other, "name", None) or getattr(other, "__name__", "")
            if label in NOT_ABOUT_GROWTH:
                continue
            yield Case(
                f"{id[:3]} {exercise.id}.{check.name}: {label}",
                number < len(right),
                function_source(function, other),
                function.solution,
                lambda call, check=check: check.run(call, None),
            )


def verdict(case, call):
    try:
        case.check(call)
    except Mismatch as failure:
        return "failed", failure.kind or "values", str(failure)
    except StudentError as failure:
        return "failed", "raised", str(failure)
    except Inconclusive as reason:
        return "inconclusive", "", str(reason)
    return "passed", "", ""


def judge(gpu, case, times, seconds, raw):
    """Judge one case again and again, in one process; return verdicts and seconds."""
    found, taken, begin = [], [], time.perf_counter()
    with Runner(gpu._zygote, {}, seconds=3600) as runner:
        runner.execute(case.source, 1)
        with StudentCall(runner, case.solution, gpu=gpu) as call:
            while len(found) < times and (not found or time.perf_counter() - begin < seconds):
                start, kept = time.perf_counter(), Kept(call)
                found.append(verdict(case, kept))
                taken.append(time.perf_counter() - start)
                if raw:
                    raw.write(json.dumps([case.name, *found[-1], kept.rows]) + "\n")
                    raw.flush()
    return found, taken


def summary(rows):
    counts, seconds = Counter(), []
    for row in rows.values():
        seconds += row["seconds"]
        for (said, *_), count in row["verdicts"].items():
            wanted = "passed" if row["right"] else "failed"
            counts["decisions"] += count
            counts["right ones" if row["right"] else "wrong ones"] += count
            if said == "inconclusive":
                counts["inconclusive"] += count
            elif said != wanted:
                counts[f"false {'pass' if said == 'passed' else 'fail'}"] += count
    names = "decisions", "right ones", "wrong ones", "false pass", "false fail", "inconclusive"
    return {name: counts[name] for name in names} | {
        "median seconds": round(statistics.median(seconds), 2),
        "most seconds": round(max(seconds), 2),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="words of the cases' names; by default all cases")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=6.0, help="of a case")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds of all of it")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help="cpu: a trial")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--raw", type=Path)
    options = parser.parse_args()
    if options.device == "cuda" and (reason := missing()):
        sys.exit(f"{reason}: nothing is measured")
    rows = defaultdict(lambda: {"verdicts": Counter(), "seconds": [], "said": {}})
    begin = time.perf_counter()
    raw = options.raw.open("w") if options.raw else None
    wanted = [c for c in cases() if not options.names or any(n in c.name for n in options.names)]
    wanted.sort(key=lambda case: not case.right)
    card = torch.cuda.get_device_name() if options.device == "cuda" else "processor (a trial)"
    with Gpu(options.device) as gpu:
        for case in wanted:
            if time.perf_counter() - begin > options.budget:
                print("the time is over")
                break
            found, taken = judge(gpu, case, options.times, options.seconds, raw)
            row = rows[case.name]
            row["right"], row["seconds"] = case.right, taken
            for said, kind, why in found:
                row["verdicts"][said, kind] += 1
                row["said"].setdefault(f"{said} {kind}".strip(), why)
            told = {" ".join(key).strip(): n for key, n in row["verdicts"].items()}
            print(f"{case.name:75} {told} {max(taken):.2f} s", flush=True)
            if options.out:
                options.out.write_text(json.dumps(kept_of(card, rows), indent=1) + "\n")
    print(summary(rows))


def kept_of(card, rows):
    told = {
        name: {
            "right": row["right"],
            "verdicts": {" ".join(key).strip(): n for key, n in row["verdicts"].items()},
            "median seconds": round(statistics.median(row["seconds"]), 2),
            "said": {what: why for what, why in row["said"].items() if why},
        }
        for name, row in rows.items()
    }
    return {"card": card, "torch": torch.__version__, **summary(rows), "cases": told}


if __name__ == "__main__":
    main()
