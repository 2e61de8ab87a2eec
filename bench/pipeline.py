"""Seconds and CPU seconds per submission: `autograder grade` against stock `nbgrader autograde`.

Both grade the same notebooks of one assignment, everything included: reading, running, scoring,
gradebook and autograded notebooks.  They run in turns, each time in a fresh copy of the course;
medians are reported.  Stock nbgrader starts one kernel per notebook and one process for all; it
has no isolation and no scoring to do here beyond running the visible checks.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from autograder.course.simulate import simulate
from autograder.delivery.demo import copy_course
from autograder.delivery.release import generate

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent


def prepare(assignment: str, submissions: int, folder: Path) -> Path:
    """Write a course with honest submissions, registered in its gradebook."""
    course = copy_course(ROOT, folder / "course")
    generate(course, [assignment])
    simulate(course, assignment, submissions + 3)
    handed = course.folder("submitted")
    for student in ("student_004", "student_005", "student_006"):  # no hang, no attack
        shutil.rmtree(handed / student)
    for path in (course.folder("release") / assignment).glob("check.*"):
        for notebook in handed.glob(f"*/{assignment}"):
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


def measure(command: list[str], root: Path) -> tuple[float, float]:
    """Return wall and CPU seconds of a command and all of its processes."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-3000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assignment", default="a03_scaled_attention")
    parser.add_argument("--submissions", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    options = parser.parse_args()
    commands = {
        "autograder": [str(BIN / "autograder"), "grade", options.assignment],
        "nbgrader": [str(BIN / "nbgrader"), "autograde", options.assignment],
    }
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as folder:
        origin = prepare(options.assignment, options.submissions, Path(folder))
        for turn in range(options.rounds):
            for name, command in commands.items():
                root = Path(folder) / f"{name}_{turn}"
                shutil.copytree(origin, root)
                if name == "nbgrader":
                    stock(root)
                seconds[name].append(measure(command, root))
                shutil.rmtree(root)
                print(f"round {turn + 1}, {name}: {seconds[name][-1][0]:.1f} s", file=sys.stderr)
    per = options.submissions
    result = {
        "assignment": options.assignment,
        "submissions": per,
        "rounds": options.rounds,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{
            name: {
                "wall_seconds_per_submission": round(statistics.median(w for w, _ in s) / per, 4),
                "cpu_seconds_per_submission": round(statistics.median(c for _, c in s) / per, 4),
                "wall_seconds": [round(w, 2) for w, _ in s],
                "cpu_seconds": [round(c, 2) for _, c in s],
            }
            for name, s in seconds.items()
        },
    }
    pairs = list(zip(seconds["nbgrader"], seconds["autograder"], strict=True))
    result["ratio_wall"] = round(statistics.median(a[0] / b[0] for a, b in pairs), 1)
    result["ratio_cpu"] = round(statistics.median(a[1] / b[1] for a, b in pairs), 1)
    print(f"{'':12}{'wall s':>10}{'CPU s':>10}   per submission, of {per}")
    for name in commands:
        row = result[name]
        wall, cpu = row["wall_seconds_per_submission"], row["cpu_seconds_per_submission"]
        print(f"{name:12}{wall:10.3f}{cpu:10.3f}")
    print(f"{'ratio':12}{result['ratio_wall']:10}{result['ratio_cpu']:10}")
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
