"""Seconds and CPU seconds per submission: `autograder grade` against nbgrader and otter-grader.

All grade submissions of the same students, everything included: reading, running, judging,
gradebook, autograded notebooks and records.  nbgrader and otter-grader get the same cells of the
students, with tests written for them (equivalent.py), and no isolation.  They run in turns, each
time in a fresh copy of the course; medians are reported.  The other tools get a part of the class,
as they cost the same for each submission.  Released cells that only show a picture or the student's
numbers are not run by ours; "no demos" is nbgrader without them.  The simulated submissions are
honest ones: right, wrong or blank, but none that hangs.  Nearly all students err in every exercise,
which costs ours most: there a mistake is looked for.  `--right 0.7` is a class that gets seven
exercises of ten right.

Processor time is that of a control group, so that no process escapes it; where this user may make
none, the figures say so and miss what runs in bubblewrap.
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
from collections.abc import Callable
from pathlib import Path

from equivalent import Equivalents
from processes import Cost, counts_everything, measure

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course
from autograder.delivery.department.demo import copy_course
from autograder.delivery.department.releasing import generate

ROOT = Path(__file__).resolve().parents[1]
# As the installed programs do it, but of this checkout.
AUTOGRADER = [sys.executable, "-c", "from autograder.cli import main; main()"]
NBGRADER = [sys.executable, "-m", "nbgrader"]


def prepare(assignments: list[str], submissions: int, folder: Path, *, right: float = 0.0) -> Path:
    """Write a course with honest submissions, registered in its gradebook."""
    course = copy_course(ROOT, folder)
    ids = course.ids(assignments)
    generate(course, ids)
    handed = course.folder("submitted")
    for i, id in enumerate(ids):
        students = submissions // len(ids) + (i < submissions % len(ids)) + 3
        simulate(course, id, students, right=right)
        for student in ("student_004", "student_005", "student_006"):  # no hang, no attack
            shutil.rmtree(handed / student / id)
        for path in (course.folder("release") / id).glob("check.*"):
            for notebook in handed.glob(f"*/{id}"):
                shutil.copy(path, notebook)
    return course.root


def stock(root: Path) -> None:
    """Let nbgrader execute notebooks as it does by itself."""
    config = root / "course_config.py"
    lines = config.read_text().replace(
        "autograder.delivery.nbgrader.preprocessor.LockedDownExecute",
        "nbgrader.preprocessors.Execute",
    )
    kept = [line for line in lines.splitlines() if "WithholdErrored" not in line]
    config.write_text("\n".join(kept) + "\n")


class Bench:
    """The class, and what each tool does with a copy of it."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.many, self.few = options.submissions, options.sample
        self.otter: str = options.otter
        self.folder = folder
        self.origin = prepare(
            options.assignments, self.many, folder / "origin", right=options.right
        )
        course = Course.load(self.origin)
        self.ids = course.ids(options.assignments)
        shares = [
            self.few // len(self.ids) + (i < self.few % len(self.ids))
            for i, _ in enumerate(self.ids)
        ]
        self.stock = shutil.copytree(self.origin, folder / "stock")
        self.spared = shutil.copytree(self.origin, folder / "spared")
        stock(self.stock)
        stock(self.spared)
        (folder / "otter").mkdir()
        self.notebooks = []
        for id, share in zip(self.ids, shares, strict=True):
            equivalents = Equivalents(Course.load(self.stock), id)
            if self.few and self.otter:
                archive, notebooks = equivalents.for_otter(share, self.otter, folder / "otter")
                self.notebooks += [(archive, notebook) for notebook in notebooks]
            equivalents.for_nbgrader(share)
            Equivalents(Course.load(self.spared), id).for_nbgrader(share, demonstrations=False)

    def bare(self) -> float:
        """Return the CPU seconds a submission that the students' code takes by itself."""
        course = Course.load(self.origin)
        own = [Equivalents(course, id).bare(self.many // len(self.ids)) for id in self.ids]
        return statistics.mean(own)

    def autograder(self, jobs: int, *, memory: bool = False) -> Cost:
        """Grade the class."""
        root = shutil.copytree(self.origin, self.folder / "copy")
        command = [*AUTOGRADER, "grade", *self.ids, "--jobs", str(jobs)]
        cost = measure(command, root, memory=memory, watch=True)
        cost.long["students"] = sum(
            json.loads(path.read_text())["runtime"].get("cpu_seconds", 0.0)
            for path in (root / "records").glob("*/*.json")
        )
        shutil.rmtree(root)
        return cost

    def by_nbgrader(self, course: Path) -> Cost:
        """Grade the sample as an instructor does, one command for each assignment."""
        root = shutil.copytree(course, self.folder / "copy")
        parts = [measure([*NBGRADER, "autograde", id], root) for id in self.ids]
        graded = len(list((root / "autograded").glob("*/*/*.ipynb")))
        if graded != self.few:
            sys.exit(f"nbgrader has graded {graded} of {self.few} submissions")
        shutil.rmtree(root)
        return Cost(sum(p.wall for p in parts), sum(p.cpu for p in parts))

    def by_otter(self) -> Cost:
        """Grade the sample, one command for each submission."""
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        parts = []
        for archive, notebook in self.notebooks:
            command = [self.otter, "-m", "otter", "run", "-a", archive.name, "--no-logo"]
            parts.append(
                measure([*command, notebook.name], self.folder / "otter", environment=environment)
            )
            if not (self.folder / "otter" / "results.json").exists():
                sys.exit(f"otter has not graded {notebook.name}")
            (self.folder / "otter" / "results.json").unlink()
        return Cost(sum(p.wall for p in parts), sum(p.cpu for p in parts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assignments", nargs="+", default=["a01", "a02"])
    parser.add_argument("--submissions", type=int, default=200)
    parser.add_argument("--sample", type=int, default=10, help="for the other tools; 0: none")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--right", type=float, default=0.0, help="share of exercises got right")
    parser.add_argument(
        "--otter",
        default=os.environ.get("OTTER_PYTHON", ""),
        help="a Python with otter-grader, ipykernel, matplotlib and sympy (or $OTTER_PYTHON)",
    )
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    options = parser.parse_args()
    os.environ["PYTHONPATH"] = str(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, Path(folder))
        runs: dict[str, tuple[int, Callable[[], Cost]]] = {
            "autograder, 1 job": (bench.many, lambda: bench.autograder(1)),
            "autograder, 2 jobs": (bench.many, lambda: bench.autograder(2)),
        }
        if bench.few:
            runs["nbgrader"] = bench.few, lambda: bench.by_nbgrader(bench.stock)
            runs["nbgrader, no demos"] = bench.few, lambda: bench.by_nbgrader(bench.spared)
        if bench.few and options.otter:
            runs["otter"] = (bench.few, bench.by_otter)
        costs: dict[str, list[Cost]] = {name: [] for name in runs}
        for _ in range(options.rounds):
            for name, (_, run) in runs.items():
                costs[name].append(run())
                print(f"{name}: {costs[name][-1].wall:.1f} s", file=sys.stderr)
        peak = bench.autograder(2, memory=True)
        bare = bench.bare()
        ids = bench.ids
    rows = {name: _row(runs[name][0], costs[name]) for name in runs}
    rows["autograder, 2 jobs"]["peak_pss_mb"] = round(peak.pss_mb)
    result = {
        "assignments": ids,
        "right": options.right,
        "rounds": options.rounds,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "cpu_counts_every_process": counts_everything(),
        "sample": f"nbgrader and otter grade the first {bench.few} submissions of the class",
        **rows,
        "profile": {
            **_profile(bench.many, costs["autograder, 1 job"]),
            "for comparison: students' code alone, cells and calls in plain Python": round(bare, 4),
        },
        **_ratios(rows),
    }
    if "otter" not in rows:
        result["otter"] = "not measured: it takes a sample, and a Python that has it (--otter)"
    _show(result, rows)
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")


def _row(submissions: int, costs: list[Cost]) -> dict[str, object]:
    return {
        "submissions": submissions,
        "wall_seconds": round(statistics.median(c.wall for c in costs) / submissions, 4),
        "cpu_seconds": round(statistics.median(c.cpu for c in costs) / submissions, 4),
        "rounds_wall": [round(c.wall, 2) for c in costs],
        "rounds_cpu": [round(c.cpu, 2) for c in costs],
    }


def _profile(submissions: int, costs: list[Cost]) -> dict[str, float]:
    """Return the CPU seconds per submission by process, of the run in the middle."""
    cost = sorted(costs, key=lambda c: c.cpu)[len(costs) // 2]
    judging = sum(s for command, s in cost.long.items() if "multiprocessing" in command)
    saving = sum(s for command, s in cost.long.items() if "autograder.cli" in command)
    students = cost.long["students"]
    shares = {
        "students' processes": students,
        "judging (grading processes, their start included)": judging,
        "saving (main process: start, gradebook, notebooks, records)": saving,
        "zygotes and the rest": cost.cpu - judging - saving - students,
    }
    return {name: round(seconds / submissions, 4) for name, seconds in shares.items()}


def _ratios(rows: dict[str, dict[str, object]]) -> dict[str, float]:
    def ratio(over: str, under: str, what: str) -> float:
        return round(float(str(rows[over][what])) / float(str(rows[under][what])), 2)

    one, two = "autograder, 1 job", "autograder, 2 jobs"
    found = {"speedup_of_2_jobs": ratio(one, two, "wall_seconds")}
    for other in rows.keys() - {one, two}:
        found[f"ratio_cpu_{other}"] = ratio(other, one, "cpu_seconds")
        found[f"ratio_wall_{other}"] = ratio(other, two, "wall_seconds")
    return dict(sorted(found.items()))


def _show(result: dict[str, object], rows: dict[str, dict[str, object]]) -> None:
    head = (
        f"{'per submission':20}{'wall s':>10}{'CPU s':>10}{'submissions':>13}{'peak PSS MiB':>14}"
    )
    print(head)
    for name, row in rows.items():
        print(
            f"{name:20}{row['wall_seconds']:10.3f}{row['cpu_seconds']:10.3f}"
            f"{row['submissions']:13}{row.get('peak_pss_mb', ''):>14}"
        )
    for name, value in result.items():
        if name.startswith(("ratio", "speedup")):
            print(f"{name:32}{value:10}")
    for name, seconds in result["profile"].items():  # type: ignore[attr-defined]
        print(f"{seconds:10.4f} CPU s  {name}")
    if isinstance(result.get("otter"), str):
        print(result["otter"])


if __name__ == "__main__":
    main()
