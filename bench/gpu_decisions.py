"""Judge submissions on this machine's GPU again and again: right ones, wrong ones, attacks.

The checks are those of the course that need a GPU, with their references and alternatives (right)
and the known mistakes of the functions that they are about (wrong), and the samples and attacks of
tests/timing.  They are judged in turn, round after round.  What counts: wrong ones passed, right
ones failed, and what could not be decided.  ``--raw`` keeps every time that was measured.
"""

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.proofs.sources import function_source
from autograder.exercise import Inconclusive, Mismatch, grows_on_gpu
from autograder.grading.gpu import Gpu, missing
from autograder.grading.runner import Runner
from autograder.sandbox import StudentError
from tests.timing.gpu_samples import ATTACKS, SAMPLES, Submitted

ROOT = Path(__file__).resolve().parents[1]
ASSIGNMENTS = ("a08_cost", "a12_capstone")
#: Other solutions and known mistakes are about arrays: with tensors they all do the same.
ABOUT_ARRAYS = {"flash_attention"}
#: On a GPU it is as good as the table that was asked for; a check before this one fails it.
NOT_ABOUT_GROWTH = {"explicit_in_blocks"}


QUICK, AT_ONCE = 0.3, 4  # seconds in which a case is judged again at once, and how often


@dataclass(frozen=True)
class Case:
    """Code to be judged, and how."""

    name: str
    right: bool
    source: str
    function: str
    check: object


class Kept(Submitted):
    """A submission's call, which keeps what was measured."""

    def __init__(self, *of):
        super().__init__(*of)
        self.rows = []

    def on_gpu(self, shape, dtype, drawn, *, sdpa=False):
        """Time it."""
        timing = super().on_gpu(shape, dtype, drawn, sdpa=sdpa)
        if timing is not None:
            times = round(1e3 * timing.seconds, 4), round(1e3 * timing.events, 4)
            self.rows.append([sdpa, dtype, shape[-2], *times, timing.peak])
        return timing


def cases():
    samples = {f"sample {name}": sample for name, sample in SAMPLES.items()}
    attacks = {f"attack {name}": sample for name, sample in ATTACKS.items()}
    for name, sample in {**attacks, **samples}.items():
        yield Case(name, not sample.fails, sample.source, "attention", judge_of(sample))
    course = Course.load(ROOT)
    for id in ASSIGNMENTS:
        for exercise in load_assignment(course, id).sound.values():
            for function in exercise.functions:
                yield from cases_of(id, exercise, function)


def judge_of(sample):
    return lambda call: grows_on_gpu(call, time=sample.time, memory=sample.memory, rows=sample.rows)


def cases_of(id, exercise, function):
    for check in (check for check in function.checks if check.gpu):
        others = function.name not in ABOUT_ARRAYS
        right = [function.solution, *(function.alternatives if others else ())]
        wrong = function.misconceptions if others else ()
        for number, other in enumerate([*right, *wrong]):
            label = getattr(other, "name", None) or getattr(other, "__name__", "")
            if label in NOT_ABOUT_GROWTH:
                continue
            yield Case(
                f"{id[:3]} {exercise.id}.{check.name}: {label}",
                number < len(right),
                function_source(function, other),
                function.name,
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


def judge(call, case, row, most, raw):
    """Judge a case, again and again where that is quick, and keep what came of it."""
    begin = time.perf_counter()
    for _ in range(most):
        start, call.rows = time.perf_counter(), []
        said, kind, why = verdict(case, call)
        row["seconds"].append(time.perf_counter() - start)
        row["verdicts"][said, kind] += 1
        row["said"].setdefault(f"{said} {kind}".strip(), why)
        if raw:
            raw.write(json.dumps([case.name, said, kind, why, call.rows]) + "\n")
            raw.flush()
        if time.perf_counter() - begin > QUICK:
            break


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
    parser.add_argument("--times", type=int, default=20, help="decisions about a case, at most")
    parser.add_argument("--seconds", type=float, default=20, help="of a case, at most")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds of all of it")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"), help="cpu: a trial")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--raw", type=Path)
    options = parser.parse_args()
    if options.device == "cuda" and (reason := missing()):
        sys.exit(f"{reason}: nothing is measured")
    end = time.perf_counter() + options.budget
    raw = options.raw.open("w") if options.raw else None
    wanted = [c for c in cases() if not options.names or any(n in c.name for n in options.names)]
    rows = {
        case.name: {"right": case.right, "verdicts": Counter(), "seconds": [], "said": {}}
        for case in wanted
    }

    def open_(case):
        row = rows[case.name]
        enough = len(row["seconds"]) >= options.times or sum(row["seconds"]) >= options.seconds
        return not enough and time.perf_counter() < end

    with Gpu(options.device) as gpu:
        together = [case for case in wanted if not case.name.startswith("attack")]
        with Runner(gpu._zygote, {}, seconds=3600) as runner:
            cell = 0
            while still := [case for case in together if open_(case)]:
                for case in filter(open_, still):
                    cell += 1
                    runner.execute(case.source, cell)
                    call = Kept(gpu, runner, case.function)
                    judge(call, case, rows[case.name], AT_ONCE, raw)
                keep(rows, options)
        for case in (case for case in wanted if case.name.startswith("attack")):
            with Runner(gpu._zygote, {}, seconds=3600) as runner:  # it may patch everything
                runner.execute(case.source, 1)
                judge(Kept(gpu, runner, case.function), case, rows[case.name], 1, raw)
    keep(rows, options)
    for name, row in rows.items():
        told = {" ".join(key).strip(): n for key, n in row["verdicts"].items()}
        print(f"{name:75} {told} {max(row['seconds'], default=0):.2f} s")
    print(summary(rows))


def keep(rows, options):
    """Write what has come so far."""
    print(summary(rows), flush=True)
    if options.out:
        options.out.write_text(json.dumps(kept_of(options.device, rows), indent=1) + "\n")


def kept_of(device, rows):
    card = torch.cuda.get_device_name() if device == "cuda" else "processor (a trial)"
    told = {
        name: {
            "right": row["right"],
            "verdicts": {" ".join(key).strip(): n for key, n in row["verdicts"].items()},
            "median seconds": round(statistics.median(row["seconds"]), 2),
            "said": {what: why for what, why in row["said"].items() if why},
        }
        for name, row in rows.items()
        if row["seconds"]
    }
    return {"card": card, "torch": torch.__version__, **summary(rows), "cases": told}


if __name__ == "__main__":
    main()
