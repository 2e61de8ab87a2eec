"""Does load change points? One submission graded again and again, idle and beside busy loops.

For each assignment two simulated submissions are graded: one with every answer right, one with
mistakes. It fails where two gradings differ in an outcome, a score or a word of feedback. Results
are added to those in ``--out``, so that assignments can be run one by one.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from pipeline import prepare

from autograder.course.config import Course
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.handed_in import Handed
from autograder.grading.results import Grade

STUDENTS = {"right": "student_001", "wrong": "student_008"}


@contextlib.contextmanager
def busy(loops: int) -> Iterator[None]:
    """Run loops, each in a session of its own: else the kernel may count all of them as one."""
    command = [sys.executable, "-c", "while True: pass"]
    processes = [subprocess.Popen(command, start_new_session=True) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def outcome(grade: Grade) -> dict[str, tuple[Any, ...]]:
    """Return what a student is told: by item, all but the measured times."""
    return {
        f"{exercise.id}.{item.name}": (str(item.status), item.score, item.note, item.feedback)
        for exercise in grade.exercises
        for item in exercise.items
    }


def gradings(grader: Grader, handed: Handed, times: int) -> tuple[list[Any], float]:
    """Grade so often, and return the outcomes and the median of the seconds that one took."""
    found, seconds = [], []
    for _ in range(times):
        start = time.perf_counter()
        found.append(outcome(grader.grade(handed).grade))
        seconds.append(time.perf_counter() - start)
    return found, round(median(seconds), 2)


def measure(course: Course, assignment: str, times: int, loops: int) -> dict[str, Any]:
    """Grade both submissions of an assignment, idle and busy."""
    result: dict[str, Any] = {"times": times, "busy_loops": loops}
    with Grader(course) as grader:
        for kind, student in STUDENTS.items():
            handed = Handed(student, assignment, course.submission(student, assignment))
            idle, idle_seconds = gradings(grader, handed, times)
            with busy(loops):
                loaded, busy_seconds = gradings(grader, handed, times)
            seen = {item: Counter(each[item] for each in idle + loaded) for item in idle[0]}
            differing = {
                item: [[*verdict, count] for verdict, count in counts.items()]
                for item, counts in seen.items()
                if len(counts) > 1
            }
            statuses = Counter(status for status, *_ in idle[0].values())
            result[kind] = {
                "items": dict(statuses),
                "points": round(sum(score or 0 for _, score, *_ in idle[0].values()), 2),
                "seconds": [idle_seconds, busy_seconds],
                "differing": differing,
            }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assignments", nargs="*", help="all of them where none is named")
    parser.add_argument("--times", type=int, default=30, help="idle, and as often beside the loops")
    parser.add_argument("--loops", type=int, default=4)
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    options = parser.parse_args()
    found = {"cores": os.cpu_count(), "python": platform.python_version(), "assignments": {}}
    if options.out and options.out.exists():
        found = json.loads(options.out.read_text())
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        here = Course.load(Path(__file__).resolve().parents[1])
        for number, id in enumerate(here.ids(options.assignments)):
            root = prepare([id], 9, Path(folder) / f"course{number}")
            result = measure(Course.load(root), id, options.times, options.loops)
            found["assignments"][id] = result
            for kind in STUDENTS:
                one = result[kind]
                print(
                    f"{id:24} {kind:6} {one['points']:6g} points {one['items']}, "
                    f"{one['seconds'][0]:g} s idle, {one['seconds'][1]:g} s busy: "
                    f"{len(one['differing'])} items differ",
                    flush=True,
                )
                wrong += [f"{id} {kind}: {item}: {v}" for item, v in one["differing"].items()]
            if options.out:
                options.out.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    if wrong:
        sys.exit("load has changed what a student gets:\n" + "\n".join(wrong))


if __name__ == "__main__":
    main()
