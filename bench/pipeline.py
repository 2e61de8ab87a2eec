"""Seconds and CPU seconds per submission: `autograder grade` against stock `nbgrader autograde`.

Both grade the same notebooks, everything included: reading, running, scoring, gradebook, autograded
notebooks and records.  They run in turns, each time in a fresh copy of the course; medians are
reported.  nbgrader gets a part of the class, as it costs the same for each submission.  Stock
nbgrader starts one kernel per notebook and one process for all; it has no isolation and no scoring
to do here beyond running the visible checks.  The simulated submissions are honest ones: right,
wrong or blank, but none that hangs.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from processes import Cost, measure

from autograder.course.simulate import simulate
from autograder.delivery.demo import copy_course
from autograder.delivery.release import generate

ROOT = Path(__file__).resolve().parents[1]
# As the installed programs do it, but of this checkout.
AUTOGRADER = [sys.executable, "-c", "from autograder.cli import main; main()"]
NBGRADER = [sys.executable, "-m", "nbgrader"]


def prepare(assignments: list[str], submissions: int, folder: Path) -> Path:
    """Write a course with honest submissions, registered in its gradebook."""
    course = copy_course(ROOT, folder)
    ids = course.ids(assignments)
    generate(course, ids)
    handed = course.folder("submitted")
    for i, id in enumerate(ids):
        simulate(course, id, submissions // len(ids) + (i < submissions % len(ids)) + 3)
        for student in ("student_004", "student_005", "student_006"):  # no hang, no attack
            shutil.rmtree(handed / student / id)
        for path in (course.folder("release") / id).glob("check.*"):
            for notebook in handed.glob(f"*/{id}"):
                shutil.copy(path, notebook)
    return course.root


def stock(root: Path) -> None:
    """Let nbgrader execute notebooks as it does by itself."""
    config = root / "course_config.py"
    lines = config.read_text().replace(
        "autograder.delivery.preprocessor.LockedDownExecute", "nbgrader.preprocessors.Execute"
    )
    kept = [line for line in lines.splitlines() if "WithholdErrored" not in line]
    config.write_text("\n".join(kept) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assignments", nargs="+", default=["a01", "a02"])
    parser.add_argument("--submissions", type=int, default=200)
    parser.add_argument("--nbgrader-submissions", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT)
    many, few = options.submissions, options.nbgrader_submissions
    commands = {
        "autograder, 1 job": (many, [[*AUTOGRADER, "grade", *options.assignments, "--jobs", "1"]]),
        "autograder, 2 jobs": (many, [[*AUTOGRADER, "grade", *options.assignments, "--jobs", "2"]]),
        "nbgrader": (few, []),
    }
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        origins = {n: prepare(options.assignments, n, Path(folder) / str(n)) for n in {many, few}}
        names = sorted(path.name for path in (origins[few] / "submitted").glob("*/*"))
        commands["nbgrader"][1].extend([*NBGRADER, "autograde", id] for id in sorted(set(names)))

        def cost(name: str, *, memory: bool = False) -> Cost:
            size, todo = commands[name]
            root = Path(folder) / "copy"
            shutil.copytree(origins[size], root)
            if name == "nbgrader":
                stock(root)
            parts = [measure(command, root, memory=memory) for command in todo]
            shutil.rmtree(root)
            print(f"{name}: {sum(p.wall for p in parts):.1f} s", file=sys.stderr)
            return Cost(
                sum(p.wall for p in parts),
                sum(p.cpu for p in parts),
                max(p.rss_mb for p in parts),
                max(p.pss_mb for p in parts),
            )

        for _ in range(options.rounds):
            for name in commands:
                costs[name].append(cost(name))
        peak = cost("autograder, 2 jobs", memory=True)
    result = {
        "assignments": sorted(set(names)),
        "rounds": options.rounds,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{name: _row(commands[name][0], costs[name]) for name in commands},
    }
    memory = {"peak_rss_mb": round(peak.rss_mb), "peak_pss_mb": round(peak.pss_mb)}
    result["autograder, 2 jobs"] |= memory
    one, two, stock_row = (result[name] for name in commands)
    result["ratio_wall"] = round(stock_row["wall_seconds"] / two["wall_seconds"], 1)
    result["ratio_cpu"] = round(stock_row["cpu_seconds"] / one["cpu_seconds"], 1)
    result["speedup_of_2_jobs"] = round(one["wall_seconds"] / two["wall_seconds"], 2)

    print(
        f"{'per submission':20}{'wall s':>10}{'CPU s':>10}{'submissions':>13}{'peak PSS MiB':>14}"
    )
    for name in commands:
        row = result[name]
        print(
            f"{name:20}{row['wall_seconds']:10.3f}{row['cpu_seconds']:10.3f}"
            f"{row['submissions']:13}{row.get('peak_pss_mb', ''):>14}"
        )
    for name in ("ratio_wall", "ratio_cpu", "speedup_of_2_jobs"):
        print(f"{name:20}{result[name]:10}")
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")


def _row(submissions: int, costs: list[Cost]) -> dict[str, object]:
    return {
        "submissions": submissions,
        "wall_seconds": round(statistics.median(c.wall for c in costs) / submissions, 4),
        "cpu_seconds": round(statistics.median(c.cpu for c in costs) / submissions, 4),
        "rounds_wall": [round(c.wall, 2) for c in costs],
        "rounds_cpu": [round(c.cpu, 2) for c in costs],
    }


if __name__ == "__main__":
    main()
