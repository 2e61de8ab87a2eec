"""A department's courses: `grade --all-courses` against a loop of `grade` over the courses.

Both grade the same classes, one after the other in each round; then the same again, when all is up
to date.  The courses are copies of one, so that what is measured is the cost of having many.
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
from typing import Any

from processes import Cost, counts_everything, measure

from autograder.course.simulate import simulate
from autograder.delivery.demo import copy_course
from autograder.delivery.release import generate

ROOT = Path(__file__).resolve().parents[1]
ORIGINS = {"sample": (ROOT / "tests/sample_course", "m01"), "attention": (ROOT, "a02")}
PROGRAM = str(Path(sys.executable).with_name("autograder"))
SIDES = {
    "loop": ["sh", "-c", f'for c in */; do "{PROGRAM}" grade --course "$c" || exit 1; done'],
    "all_courses": [PROGRAM, "grade", "--all-courses"],
}
HOSTILE = ("student_004", "student_005", "student_006")  # a hang, an attack: their time is a limit


def prepare(origin: str, courses: int, submissions: int, folder: Path) -> None:
    """Write so many courses with so many honest submissions each."""
    path, short = ORIGINS[origin]
    first = copy_course(path, folder / "course_01")
    (id,) = first.ids([short])
    generate(first, [id])
    simulate(first, id, submissions + len(HOSTILE))
    for student in HOSTILE:
        shutil.rmtree(first.folder("submitted") / student)
    for i in range(2, courses + 1):
        shutil.copytree(first.root, folder / f"course_{i:02d}")


def graded(folder: Path) -> int:
    return len(list(folder.glob("*/records/*/*.json")))


def side(command: list[str], clean: Path, folder: Path, *, memory: bool) -> tuple[Cost, Cost, int]:
    """Grade a fresh copy, and again when nothing has changed."""
    work = Path(shutil.copytree(clean, folder / "work"))
    first = measure(command, work, memory=memory)
    count = graded(work)
    again = measure(command, work)
    shutil.rmtree(work)
    return first, again, count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--courses", type=int, default=12)
    parser.add_argument("--submissions", type=int, default=20, help="in each course")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--origin", choices=[*ORIGINS], default="sample")
    parser.add_argument("--no-memory", action="store_true", help="without the runs for that")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT)
    walls: dict[str, list[tuple[Cost, Cost]]] = {name: [] for name in SIDES}
    peaks: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clean = folder / "clean"
        clean.mkdir()
        prepare(options.origin, options.courses, options.submissions, clean)
        for number in range(options.rounds):
            for label, command in SIDES.items():
                print(f"round {number + 1} of {options.rounds}: {label}", file=sys.stderr)
                first, again, count = side(command, clean, folder, memory=False)
                if count != options.courses * options.submissions:
                    raise SystemExit(f"{label}: {count} were graded")
                walls[label].append((first, again))
        for label, command in () if options.no_memory else SIDES.items():
            print(f"memory: {label}", file=sys.stderr)
            peaks[label] = side(command, clean, folder, memory=True)[0].pss_mb
    found: dict[str, Any] = {
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "origin": options.origin,
        "courses": options.courses,
        "submissions_each": options.submissions,
        "rounds": options.rounds,
        "cpu_counts_every_process": counts_everything(),
    }
    for i, what in enumerate(("graded", "up_to_date")):
        table = {
            label: {
                "wall_s": round(statistics.median(pair[i].wall for pair in pairs), 1),
                "wall_s_of_each": [round(pair[i].wall, 1) for pair in pairs],
                "cpu_s": round(statistics.median(pair[i].cpu for pair in pairs), 1),
            }
            for label, pairs in walls.items()
        }
        pairs = zip(*walls.values(), strict=True)
        ratios = [(loop[i].wall / one[i].wall, loop[i].cpu / one[i].cpu) for loop, one in pairs]
        wall, cpu = (round(statistics.median(column), 2) for column in zip(*ratios, strict=True))
        found[what] = {**table, "loop_by_all_courses": {"wall": wall, "cpu": cpu}}
    found["peak_pss_mb"] = {label: round(peak) for label, peak in peaks.items()}
    print(json.dumps(found, indent=2))
    if options.out:
        options.out.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
