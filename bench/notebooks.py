"""A class in which a thousand notebooks are broken: what becomes of them, and of the others.

Real submissions are broken in the ways of tests/hostile/broken_notebooks.py and graded in one run,
between others that are whole; feedback and the class report are written for all of them.  Each must
be graded, or refused with one sentence; none may be withheld because of a fault of the engine's
own; and the whole ones must get what they get without the broken ones.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from autograder.course.classes.simulate import simulate  # noqa: E402
from autograder.course.config import Course  # noqa: E402
from autograder.course.submissions.grading_options import GradingOptions  # noqa: E402
from autograder.course.submissions.records import read_grade  # noqa: E402
from autograder.delivery.department.bar import Bar  # noqa: E402
from autograder.delivery.department.demo import copy_course  # noqa: E402
from autograder.delivery.department.grading import grade_and_save  # noqa: E402
from autograder.delivery.department.releasing import generate  # noqa: E402
from autograder.delivery.pages.feedback import write_feedback  # noqa: E402
from autograder.delivery.pages.report import write_report  # noqa: E402
from autograder.delivery.platforms.export import export  # noqa: E402
from autograder.grading.results import Grade, Status  # noqa: E402
from tests.hostile.broken_notebooks import WAYS, broken  # noqa: E402


def class_of(folder: Path, short: str, whole: int) -> Course:
    """Write a course with honest submissions to one assignment."""
    origin = ROOT / "tests" / "sample_course" if short.startswith("m") else ROOT
    course = copy_course(origin, folder)
    (id,) = course.ids([short])
    generate(course, [id])
    simulate(course, id, whole + 3)
    for student in ("student_004", "student_005", "student_006"):  # no hang, no attack
        shutil.rmtree(course.folder("submitted") / student)
    return course


def hand_in(course: Course, id: str, first: int, count: int) -> dict[str, str]:
    """Hand in broken notebooks; return by which way each of them is broken."""
    honest = sorted(course.folder("submitted").glob(f"student_*/{id}/{id}.ipynb"))
    ways = {}
    for number in range(first, first + count):
        way, content = broken(honest[number % len(honest)].read_bytes(), number)
        path = course.submission(f"broken_{number:04d}", id)
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        ways[f"broken_{number:04d}"] = way
    return ways


def became(grade: Grade | None) -> str:
    """Say in a word what became of a submission, and everything where that may not be."""
    if grade is None:
        return "has no grade"
    items = [item for exercise in grade.exercises for item in exercise.items]
    if withheld := [item for item in items if item.status is Status.ERRORED]:
        return f"withheld: {withheld[0].feedback}"
    if items and all(item.note == "unreadable_submission" for item in items):
        one = len(grade.notices) == 1 and grade.notices[0].endswith(".")
        return "refused with a sentence" if one else f"refused with {grade.notices}"
    return "graded"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notebooks", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--whole", type=int, default=20)
    parser.add_argument(
        "--assignments", default="a02", help="comma-separated; m01 and m02 are of the sample course"
    )
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--add", action="store_true", help="to what --out holds already")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    names = options.assignments.split(",")
    outcomes: Counter[str] = Counter()
    by_way: dict[str, Counter[str]] = {way: Counter() for way in WAYS}
    wrong: list[str] = []
    seconds = 0.0
    first = options.first
    for i, short in enumerate(names):
        count = options.notebooks // len(names) + (i < options.notebooks % len(names))
        with tempfile.TemporaryDirectory() as name:
            course = class_of(Path(name) / "course", short, options.whole)
            (id,) = course.ids([short])
            usual = {
                g.student: g
                for g in grade_and_save(course, [id], GradingOptions(jobs=options.jobs)).grades
            }
            ways = hand_in(course, id, first, count)
            first += count
            print(f"{id}: {len(usual)} whole ones, {count} broken ones", file=sys.stderr)
            began = time.monotonic()
            run(course, id, options.jobs)
            seconds += time.monotonic() - began
            for student, way in ways.items():
                what = became(read_grade(course, student, id))
                outcomes[what if what in ("graded", "refused with a sentence") else "wrong"] += 1
                by_way[way][what[:40]] += 1
                if outcomes["wrong"] and what not in ("graded", "refused with a sentence"):
                    wrong.append(f"{student}, {way}: {what}")
                wrong += pages(course, student, id)
            for student, grade in usual.items():
                now = read_grade(course, student, id)
                if now is None or now.exercises != grade.exercises:
                    wrong.append(f"{student}: another grade beside broken ones")
    found: dict[str, Any] = {
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "whole_in_each_class": options.whole,
        "assignments": names,
        "broken": options.notebooks,
        "seconds": round(seconds, 1),
        "became": dict(outcomes),
        "by_way": {way: dict(counts) for way, counts in by_way.items()},
        "wrong": wrong,
    }
    if options.add:
        found = added(json.loads(options.out.read_text()), found)
    print(json.dumps(found, indent=2, ensure_ascii=False))
    if options.out:
        options.out.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    if wrong:
        raise SystemExit(f"{len(wrong)} are not as they must be")


def added(before: Any, now: Any) -> Any:
    """Put together what two runs counted."""
    if isinstance(now, dict):
        keys = {**before, **now}
        return {
            key: added(before[key], now[key])
            if key in before and key in now and key not in ("machine", "whole_in_each_class")
            else (before if key in before else now)[key]
            for key in keys
        }
    return round(before + now, 1) if isinstance(now, float) else before + now


def run(course: Course, id: str, jobs: int | None) -> None:
    """Grade the class again, whole ones too, and write what is handed back."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as shown:
        grade_and_save(course, [id], GradingOptions(jobs=jobs, force=True), bar=Bar(shown))
    write_feedback(course, [id])
    write_report(course, [id])
    export(course, "csv", course.root / "marks.csv", assignments=[id], partial=True)


def pages(course: Course, student: str, id: str) -> list[str]:
    """Return what is wrong with what a student gets back."""
    try:
        nbformat.validate(nbformat.read(course.submission(student, id, "autograded"), 4))
    except Exception as error:
        return [f"{student}: autograded notebook: {type(error).__name__}: {error}"[:300]]
    page = course.folder("feedback") / student / id / f"{id}.html"
    return [] if page.is_file() else [f"{student}: no feedback"]


if __name__ == "__main__":
    main()
