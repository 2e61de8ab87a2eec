"""Memory of the grader and its processes while it grades 1,000 submissions.

The class hands in the same few notebooks of one assignment again and again, under many names. PSS
is sampled over all processes; its growth is the slope of a line through the samples from the first
tenth of the run on, per submission.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import tempfile
from pathlib import Path

import numpy as np
from pipeline import AUTOGRADER, ROOT, prepare
from processes import measure

LIMIT_MB = 1024


def multiply(root: Path, submissions: int) -> None:
    """Hand in each notebook under further names, until there are so many."""
    folders = sorted((root / "submitted").glob("*/*"))
    for number in range(len(folders), submissions):
        original = folders[number % len(folders)]
        shutil.copytree(original, root / "submitted" / f"copy_{number:05d}" / original.name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assignment", default="a02")
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--originals", type=int, default=25)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        root = prepare([options.assignment], options.originals, Path(folder) / "course")
        multiply(root, options.submissions)
        command = [*AUTOGRADER, "grade", options.assignment, "--jobs", str(options.jobs)]
        cost = measure(command, root, memory=True)
        graded = len(list((root / "records").glob("*/*.json")))
    samples = np.array(cost.over[len(cost.over) // 10 :])
    slope = np.polyfit(np.linspace(0.1, 1.0, len(samples)) * graded, samples, 1)[0]
    result = {
        "assignment": options.assignment,
        "submissions": graded,
        "jobs": options.jobs,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "peak_pss_mb": round(cost.pss_mb),
        "peak_rss_mb": round(cost.rss_mb),
        "limit_mb": LIMIT_MB,
        "growth_kb_per_submission": round(slope * 1024, 1),
        "samples": len(cost.over),
        "wall_seconds": round(cost.wall, 1),
    }
    for name, value in result.items():
        print(f"{name:28}{value!s:>12}")
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    if cost.pss_mb > LIMIT_MB or graded != options.submissions:
        raise SystemExit("the memory is above the limit, or not everything was graded")


if __name__ == "__main__":
    main()
