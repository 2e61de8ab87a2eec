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

from autograder.course.classes.simulate import simulate
from autograder.delivery.department.demo import copy_course
from autograder.delivery.department.releasing import generate

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


def summary(rounds: list[dict[str, dict[str, float]]]) -> dict[str, Any]:
    """Return medians of both sides, and of the ratios within a round."""
    found: dict[str, Any] = {}
    for unit in ("wall_s", "cpu_s"):
        sides = {name: [one[name][unit] for one in rounds] for name in SIDES}
        found[unit] = {name: round(statistics.median(each), 1) for name, each in sides.items()}
        ratios = [loop / one for loop, one in zip(*sides.values(), strict=True)]
        found[unit]["loop_by_all_courses"] = round(statistics.median(ratios), 2)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--courses", type=int, default=12)
    parser.add_argument("--submissions", type=int, default=20, help="in each course")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--origin", choices=[*ORIGINS], default="sample")
    parser.add_argument("--memory", action="store_true", help="one more run of each, for that")
    parser.add_argument("--add", action="store_true", help="rounds to those that --out holds")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT)
    before = json.loads(options.out.read_text()) if options.add else {}
    rounds = before.get("rounds", {"graded": [], "up_to_date": []})
    peaks: dict[str, int] = before.get("peak_pss_mb", {})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clean = folder / "clean"
        clean.mkdir()
        prepare(options.origin, options.courses, options.submissions, clean)
        for number in range(options.rounds):
            now: dict[str, dict[str, dict[str, float]]] = {what: {} for what in rounds}
            for label, command in SIDES.items():
                print(f"round {number + 1} of {options.rounds}: {label}", file=sys.stderr)
                *costs, count = side(command, clean, folder, memory=False)
                if count != options.courses * options.submissions:
                    raise SystemExit(f"{label}: {count} were graded")
                for what, cost in zip(now, costs, strict=True):
                    now[what][label] = {"wall_s": round(cost.wall, 1), "cpu_s": round(cost.cpu, 1)}
            for what, sides in now.items():
                rounds[what].append(sides)
        for label, command in SIDES.items() if options.memory else ():
            print(f"memory: {label}", file=sys.stderr)
            peaks[label] = round(side(command, clean, folder, memory=True)[0].pss_mb)
    found = {
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "origin": options.origin,
        "courses": options.courses,
        "submissions_each": options.submissions,
        "cpu_counts_every_process": counts_everything(),
        **{what: summary(each) for what, each in rounds.items()},
        "peak_pss_mb": peaks,
        "rounds": rounds,
    }
    print(json.dumps(found, indent=1))
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
