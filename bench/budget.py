"""What a fixed small class costs in counts, which no other load on the machine changes.

Beside them stand those of the last commit that was measured, in budget.toml.  Where one has grown
by more than a tenth and nobody has said why there, it is a failure: `--set "why"` says it and
keeps the new ones.  The class is honest, and nothing of it is decided by a clock.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course
from autograder.course.secret import FILE as SECRET
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.handed_in import submissions
from autograder.delivery.department.demo import copy_course
from autograder.grading import checks, followed, parts
from autograder.grading.local import Local
from autograder.sandbox.conversation import Conversation
from autograder.sandbox.fork_server import Zygote

ROOT = Path(__file__).resolve().parents[1]
BUDGET = Path(__file__).with_name("budget.toml")
ASSIGNMENTS = ("a02", "a04")
STUDENTS = 8
OTHERS = ("student_004", "student_005", "student_006")  # a hang and attacks: a clock ends these
MORE = 1.1

#: What is counted, and where it passes.
COUNTED: dict[str, tuple[Any, str]] = {
    "forks": (Zygote, "_fork"),
    "questions": (Conversation, "ask"),
    "checks": (checks, "attempt"),
    "checks_again": (followed, "attempt"),
    "answers_of_ours": (Local, "_answer"),
    "answers_judged": (parts, "judge"),
}


@contextmanager
def counting(counts: Counter[str]) -> Iterator[None]:
    """Count what passes."""
    with ExitStack() as after:
        for name, (place, attribute) in COUNTED.items():
            usual = getattr(place, attribute)
            after.callback(setattr, place, attribute, usual)
            setattr(place, attribute, _counted(usual, name, counts))
        yield


def _counted(usual: Callable[..., Any], name: str, counts: Counter[str]) -> Callable[..., Any]:
    def count(*args: Any, **kwargs: Any) -> Any:
        counts[name] += 1
        return usual(*args, **kwargs)

    return count


def measured() -> dict[str, int]:
    """Grade the class in this process, and return what was counted."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        course = Course.load(copy_course(ROOT, Path(folder) / "course").root)
        (course.root / SECRET).write_text("budget")
        for id in course.ids(ASSIGNMENTS):
            simulate(course, id, STUDENTS)
            for student in OTHERS:
                shutil.rmtree(course.folder("submitted") / student / id)
        with Grader(course) as grader, counting(counts):
            for id in course.ids(ASSIGNMENTS):
                grader.release(id)
            for id in course.ids(ASSIGNMENTS):
                for handed in submissions(course, id):
                    grader.grade(handed)
    return {name: counts[name] for name in COUNTED}


def main() -> None:
    """Print the counts beside those that were kept; exit 1 where one has grown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", metavar="WHY", help="keep these counts, and say why they are so")
    options = parser.parse_args()
    found = measured()
    if options.set:
        lines = [f"why = {json.dumps(options.set)}", "", "[counts]"]
        BUDGET.write_text("\n".join([*lines, *(f"{n} = {c}" for n, c in found.items())]) + "\n")
    kept = tomllib.loads(BUDGET.read_text())
    grown = [n for n, count in found.items() if count > MORE * kept["counts"].get(n, 0)]
    print(f"{'':16} {'now':>10} {'kept':>10}   ({kept['why']})")
    for name, count in found.items():
        before = kept["counts"].get(name, 0)
        print(f"{name:16} {count:10,} {before:10,} {'  grown' if name in grown else ''}")
    if grown:
        sys.exit(
            f"{', '.join(grown)}: more than a tenth above bench/budget.toml. Bring it down, or say "
            'why it has to be: python bench/budget.py --set "why"'
        )


if __name__ == "__main__":
    main()
