"""Time the sandbox alone: fresh sessions against fresh kernels, and single calls.

A session runs 15 cells and makes 60 calls with small arrays. The kernel (nbclient with ipykernel,
as nbgrader uses it) runs the same 15 cells and one more that makes the same 60 calls. The two take
turns, so that what else the machine does falls on both. What the zygote imports beforehand, the
first cell imports in either. Starting a zygote is timed once; an array of 64 MiB goes there and
comes back.
"""

import argparse
import json
import os
import platform
import statistics
import time
from pathlib import Path

import numpy as np

from autograder.sandbox import Zygote

CELLS = 15
CALLS = 60
SOURCES = [
    f"""import numpy as np

def f{i}(x):
    e = np.exp(x - x.max())
    return {i} + e / e.sum()

f{i}(np.arange(4.0))"""
    for i in range(CELLS)
]
ARGUMENT = np.linspace(0, 1, 12).reshape(3, 4)


def time_session(zygote, sources):
    start = time.perf_counter()
    with zygote.session() as session:
        for number, source in enumerate(sources, 1):
            run = session.execute(source, number=number)
            assert run.error is None, run.error
        for i in range(CALLS):
            session.call(f"f{i % CELLS}", ARGUMENT)
    return time.perf_counter() - start


def time_kernel(sources):
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell, new_notebook

    names = [f"f{i % CELLS}" for i in range(CALLS)]
    calls = f"x = np.array({ARGUMENT.tolist()})\nfor name in {names}: globals()[name](x)"
    notebook = new_notebook(cells=[new_code_cell(source) for source in [*sources, calls]])
    start = time.perf_counter()
    NotebookClient(notebook, kernel_name="python3", extra_arguments=["--log-level=ERROR"]).execute()
    return time.perf_counter() - start


def time_calls(zygote, rounds):
    with zygote.session() as session:
        session.execute("def f(x): return 2 * x")
        times = []
        for _ in range(rounds):
            start = time.perf_counter()
            session.call("f", ARGUMENT)
            times.append(time.perf_counter() - start)
    return times


def time_large(zygote, rounds):
    array = np.random.default_rng(0).random((64 << 20) // 8)
    with zygote.session() as session:
        session.execute("def f(x): return x")
        times = []
        for _ in range(rounds + 1):
            start = time.perf_counter()
            result = session.call("f", array)
            times.append(time.perf_counter() - start)
            assert np.array_equal(result, array)
    return times[1:]  # the first one finds no memory that it could use again


def summary(times):
    ordered = sorted(times)
    return {
        "median_ms": statistics.median(times) * 1e3,
        "min_ms": ordered[0] * 1e3,
        "p95_ms": ordered[int(0.95 * (len(ordered) - 1))] * 1e3,
        "n": len(times),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20, help="sessions and kernels (default 20)")
    parser.add_argument("--calls", type=int, default=5000, help="single calls (default 5000)")
    parser.add_argument("--large", type=int, default=15, help="calls with 64 MiB (default 15)")
    parser.add_argument("--modules", default="numpy", help="what the zygote imports, with commas")
    parser.add_argument("--cpu", type=int, help="keep everything on this processor")
    parser.add_argument("--no-kernel", action="store_true", help="time the sandbox alone")
    parser.add_argument("--out", type=Path, help="write the results here, as JSON")
    arguments = parser.parse_args()
    if arguments.cpu is not None:
        os.sched_setaffinity(0, [arguments.cpu])

    modules = arguments.modules.split(",")
    sources = [f"import {arguments.modules}\n{SOURCES[0]}", *SOURCES[1:]]
    times = {"start": [], "session": [], "kernel": []}
    start = time.perf_counter()
    with Zygote(modules) as zygote:
        zygote.session().close()
        times["start"].append(time.perf_counter() - start)
        time_session(zygote, sources)
        for _ in range(arguments.rounds):
            times["session"].append(time_session(zygote, sources))
            if not arguments.no_kernel:
                times["kernel"].append(time_kernel(sources))
        times["call"] = time_calls(zygote, arguments.calls)
        times["64 MiB"] = time_large(zygote, arguments.large)
        tier = zygote.isolation.tier
    results = {name: summary(values) for name, values in times.items() if values}

    print(f"{'':10}{'median':>12}{'min':>12}{'95 %':>12}{'n':>8}")
    for name, row in results.items():
        cells = "".join(f"{row[key]:>9.3f} ms" for key in ("median_ms", "min_ms", "p95_ms"))
        print(f"{name:10}{cells}{row['n']:>8}")
    if results.get("kernel"):
        ratio = results["kernel"]["median_ms"] / results["session"]["median_ms"]
        results["kernel_to_session"] = round(ratio, 1)
        print(f"a session takes 1/{ratio:.1f} of a kernel")
    if arguments.out:
        machine = {"python": platform.python_version(), "cpus": os.cpu_count(), "tier": tier}
        machine["modules"] = modules
        arguments.out.write_text(json.dumps({**machine, **results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
