"""What grading costs in every assignment: the first submission, those that follow, one by itself.

Each assignment's class is honest and is graded in one process that was started for it.  Processor
time of that process is what judging takes; that of students' processes is beside it.  `alone` is
`autograder grade-file` of the first right submission where nothing was graded before, all of its
processes together, and `again` the same once more, with what was worked out then.  `generate`
is that command for this assignment where nothing has changed since; `anew` where nothing is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from processes import measure

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course
from autograder.course.secret import FILE as SECRET
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.handed_in import submissions
from autograder.delivery.department.demo import copy_course
from autograder.grading.one_exercise import OneExercise
from autograder.sandbox.conversation import Conversation

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = str(Path(sys.executable).with_name("autograder"))
OTHERS = ("student_004", "student_005", "student_006")  # a hang and attacks: a clock ends these


@contextmanager
def watched(seconds: Counter[str], questions: Counter[str]) -> Iterator[None]:
    """Add up the processor time of each exercise, and count what is asked."""
    read, call, ask = OneExercise.read, OneExercise.call, Conversation.ask

    def timed(usual: Any) -> Any:
        def run(one: OneExercise, *args: Any, **kwargs: Any) -> Any:
            start = time.process_time()
            try:
                return usual(one, *args, **kwargs)
            finally:
                name = one.exercise.id if one.exercise else "?"
                seconds[name] += time.process_time() - start

        return run

    def asked(*args: Any, **kwargs: Any) -> Any:
        questions["all"] += 1
        return ask(*args, **kwargs)

    OneExercise.read, OneExercise.call, Conversation.ask = timed(read), timed(call), asked  # type: ignore[method-assign]
    try:
        yield
    finally:
        OneExercise.read, OneExercise.call, Conversation.ask = read, call, ask  # type: ignore[method-assign]


def graded(root: Path, id: str) -> dict[str, Any]:
    """Grade a class in this process, from the first thing that has to be loaded."""
    started = time.process_time()
    course = Course.load(root)
    seconds, questions = Counter[str](), Counter[str]()
    each, students, asked = [], [], []
    with Grader(course) as grader, watched(seconds, questions):
        for number, handed in enumerate(submissions(course, id)):
            start, before = time.process_time(), questions["all"]
            grade = grader.grade(handed).grade
            each.append(time.process_time() - start)
            students.append(grade.runtime["cpu_seconds"])
            asked.append(questions["all"] - before)
            if number == 0:
                each[0] = time.process_time() - started
                seconds.clear()
    warm = sorted(each[1:])
    slowest, most = seconds.most_common(1)[0]
    return {
        "submissions": len(each),
        "cold_s": round(each[0], 3),
        "warm_ms": round(1000 * statistics.median(warm), 1),
        "p99_ms": round(1000 * warm[min(len(warm) - 1, int(0.99 * len(warm)))], 1),
        "student_ms": round(1000 * statistics.median(students[1:]), 1),
        "questions": round(statistics.median(asked)),
        "slowest": slowest,
        "slowest_ms": round(1000 * most / len(warm), 1),
        "exercises_ms": {n: round(1000 * s / len(warm), 1) for n, s in seconds.most_common(8)},
    }


def measured(id: str, students: int) -> dict[str, Any]:
    """Measure one assignment: its class in a process of its own, then one submission alone."""
    with tempfile.TemporaryDirectory() as folder:
        root = copy_course(ROOT, Path(folder) / "course").root
        course = Course.load(root)
        (root / SECRET).write_text("assignments")
        simulate(course, id, students + len(OTHERS))
        for student in OTHERS:
            shutil.rmtree(course.folder("submitted") / student / id)
        child = [sys.executable, __file__, "--in", str(root), id]
        graders = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        run = subprocess.run(child, check=True, capture_output=True, env=graders)
        found = json.loads(run.stdout)
        first = course.submission("student_001", id)
        shutil.rmtree(root / "records", ignore_errors=True)
        commands = {
            "alone_s": ["grade-file", str(first)],
            "again_s": ["grade-file", str(first)],
            "anew_s": ["generate", id],
            "generate_s": ["generate", id],
        }
        alone = {n: round(measure([PROGRAM, *c], root).cpu, 2) for n, c in commands.items()}
        return {**found, **alone}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assignments", nargs="*", help="by default all")
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--in", dest="root", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help="a file of results, of which others are kept")
    options = parser.parse_args()
    if options.root:
        print(json.dumps(graded(options.root, options.assignments[0])))
        return
    course, load = Course.load(ROOT), round(os.getloadavg()[0], 1)
    table: dict[str, Any] = {}
    if options.out and options.out.exists():
        table = json.loads(options.out.read_text())["assignments"]
    columns = ("cold_s", "alone_s", "again_s", "warm_ms", "p99_ms", "student_ms", "questions")
    columns += ("generate_s", "anew_s")
    print(f"{'':24}" + "".join(f"{name:>12}" for name in columns) + "  slowest exercise")
    for id in course.ids(options.assignments or None):
        found = table[id] = measured(id, options.students)
        print(
            f"{id:24}" + "".join(f"{found[name]:12}" for name in columns),
            f" {found['slowest']} {found['slowest_ms']}",
            flush=True,
        )
        if options.out:
            result = {
                "what": __doc__.split("\n")[0] if __doc__ else "",
                "machine": f"{platform.machine()}, Python {platform.python_version()}",
                "load": load,
                "assignments": dict(sorted(table.items())),
            }
            options.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
