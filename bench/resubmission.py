"""What it takes to grade one notebook that was handed in again, in the middle of a large class.

The class is graded first.  Then, in each round, one notebook changes and `autograder grade A` runs,
with and without `--student`; for comparison, the same when nothing has changed, and `grade-file`
of the notebook alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from pipeline import AUTOGRADER, prepare
from processes import measure

from autograder.course.config import Course
from autograder.course.submissions.handed_in import submissions

ROOT = Path(__file__).resolve().parents[1]


def change(path: Path, number: int) -> None:
    """Write something into a notebook's last cell."""
    notebook = json.loads(path.read_text())
    notebook["cells"][-1]["source"] = f"# {number}"
    path.write_text(json.dumps(notebook))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assignment", default="a02")
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT)
    seconds: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = prepare([options.assignment], options.submissions, Path(folder) / "course")
        (id,) = Course.load(root).ids([options.assignment])
        handed = submissions(Course.load(root), id)
        grade = [*AUTOGRADER, "grade", id]
        subprocess.run(grade, cwd=root, check=True, stdout=subprocess.DEVNULL)
        for number in range(options.rounds):
            one, other = handed[len(handed) // 2 + number], handed[-1 - number]
            change(one.path, number)
            change(other.path, number)
            commands = {
                "one of them, --student": [*grade, "--student", other.student],
                "the class, one changed": grade,
                "the class, none changed": grade,
                "grade-file": [*AUTOGRADER, "grade-file", str(one.path)],
            }
            for name, command in commands.items():
                cost = measure(command, root)
                seconds.setdefault(name, []).append((cost.wall, cost.cpu))
                print(f"{name}: {cost.wall:.2f} s", file=sys.stderr)
    result = {
        "assignment": id,
        "submissions": options.submissions,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "rounds": options.rounds,
    }
    for name, found in seconds.items():
        wall, cpu = zip(*found, strict=True)
        result[name] = {
            "wall_seconds": round(statistics.median(wall), 2),
            "fastest": round(min(wall), 2),
            "cpu_seconds": round(statistics.median(cpu), 2),
        }
    print(json.dumps(result, indent=1))
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
