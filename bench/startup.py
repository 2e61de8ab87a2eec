"""Seconds until a command is done that has little to do: what starting costs.

`--help`, `doctor`, and `grade-file` of one notebook: cold, that is in a process of its own each
time (the files are in the system's cache).
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

from autograder.course.classes.simulate import simulate
from autograder.delivery.department.demo import copy_course

ROOT = Path(__file__).resolve().parents[1]
COMMAND = [sys.executable, "-c", "from autograder.cli import main; main()"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assignments", nargs="+", default=["a02", "a03"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT)
    commands = {"--help": ["--help"], "doctor": ["doctor"]}
    costs: dict[str, list[Cost]] = {}
    with tempfile.TemporaryDirectory() as folder:
        course = copy_course(ROOT, Path(folder) / "course")
        for id in course.ids(options.assignments):
            shutil.copytree(
                ROOT / "release" / id, course.folder("release") / id, dirs_exist_ok=True
            )
            simulate(course, id, 1)
            commands[f"grade-file {id}"] = ["grade-file", str(course.submission("student_001", id))]
        for _ in range(options.rounds):
            for name, arguments in commands.items():
                cost = measure([*COMMAND, *arguments], course.root)
                costs.setdefault(name, []).append(cost)
    result: dict[str, object] = {"cores": os.cpu_count(), "python": platform.python_version()}
    result["rounds"] = options.rounds
    print(f"{'':34}{'wall s':>10}{'CPU s':>10}")
    for name, values in costs.items():
        wall, cpu = (
            statistics.median(getattr(v, kind) for v in values) for kind in ("wall", "cpu")
        )
        result[name] = {
            "wall_seconds": round(wall, 3),
            "min_wall_seconds": round(min(v.wall for v in values), 3),
            "cpu_seconds": round(cpu, 3),
        }
        print(f"{name:34}{wall:10.3f}{cpu:10.3f}")
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
