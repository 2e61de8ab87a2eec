"""How the cost of grading grows: with parts, known mistakes, cells of a notebook, and the class.

Each is varied by itself; a line through the costs says what one more costs, and the exponent how
they grow.  Times are processor time: of this process, and where cells are run of the student's.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course
from autograder.course.secret import FILE as SECRET
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.handed_in import submissions
from autograder.delivery.department.demo import copy_course
from autograder.exercise import Exercise, Numbers, agree
from autograder.grading.checks import grade_checks
from autograder.grading.parts import grade_parts
from autograder.sandbox import Zygote

ROOT = Path(__file__).resolve().parents[1]
ROUNDS = 5
OTHERS = ("student_004", "student_005", "student_006")  # a hang and attacks: a clock ends these
SIZES = {
    "parts": (2, 4, 8, 16, 32),
    "mistakes of a part": (4, 16, 64, 256),
    "mistakes of a function": (4, 16, 64, 256),
    "cells": (10, 20, 40, 80),
    "class": (10, 20, 40, 80),
}


def with_parts(count: int) -> Exercise:
    """Return an exercise in which each part follows from the one before."""
    exercise = Exercise("chain", title="Chain", source="bench")
    for number in range(count):
        body = f"def part_{number}({f'part_{number - 1}' if number else ''}):\n    'A number.'\n"
        body += f"    return {f'1.5 + part_{number - 1}' if number else '2.5'}\n"
        names: dict[str, Any] = {}
        exec(body, names)
        exercise.part(points=1, answer=Numbers())(names[f"part_{number}"])
    return exercise


def with_mistakes(count: int) -> Exercise:
    """Return an exercise of one part and one function, with so many known mistakes of each."""
    exercise = Exercise("bank", title="Bank", source="bench")

    @exercise.part(points=1, answer=Numbers())
    def numbers() -> Any:
        """Six numbers."""
        return np.arange(6) + 0.25

    numbers.mistakes(
        **{f"off_by_{n}": (np.arange(6) + 0.25 + 3 * n, f"{n} too much") for n in range(1, count)}
    )

    @exercise.reference
    def total(x: Any) -> Any:
        """Add up rows."""
        return x.sum(axis=1)

    @exercise.check(points=1)
    def adds_up(call: Any, rng: Any) -> None:
        """Add up."""
        x = rng.normal(size=(5, 7))
        agree(call(x), x.sum(axis=1))

    for number in range(1, count):

        def wrong(x: Any, number: int = number) -> Any:
            return x.sum(axis=1) + 3 * number

        wrong.__name__, wrong.__doc__ = f"more_by_{number}", f"{number} too much."
        exercise.misconception(wrong)
    return exercise


def least(work: Callable[[int], object], rounds: int = ROUNDS) -> float:
    """Return the median milliseconds of processor time; each round is told its number."""
    times = []
    for number in range(rounds + 1):  # the first one fills memories
        began = time.thread_time()
        work(number)
        times.append(1000 * (time.thread_time() - began))
    return statistics.median(times[1:])


def parts(count: int) -> dict[str, float]:
    """Answer every part, also from a wrong first one that is carried on."""
    exercise = with_parts(count)

    def answers(first: float) -> dict[str, Any]:
        return {f"part_{number}": first + 1.5 * number for number in range(count)}

    return {
        "right": least(lambda _: grade_parts(exercise, {}, answers(2.5).get)),
        "wrong": least(lambda n: grade_parts(exercise, {}, answers(3.1 + n / 10).get)),
    }


def mistakes_of_a_part(count: int) -> dict[str, float]:
    """Answer right, and wrong in a way that no mistake explains."""
    exercise = with_mistakes(count)
    right, rng = np.arange(6) + 0.25, np.random.default_rng(0)
    return {
        "right": least(lambda _: grade_parts(exercise, {}, {"numbers": right}.get)),
        "wrong": least(lambda _: grade_parts(exercise, {}, {"numbers": rng.normal(size=6)}.get)),
    }


def mistakes_of_a_function(count: int) -> dict[str, float]:
    """Check a right function, and a wrong one that no mistake explains."""
    [function] = with_mistakes(count).functions
    return {
        "right": least(lambda _: grade_checks(function, lambda x: x.sum(axis=1))),
        "wrong": least(lambda n: grade_checks(function, lambda x: x.sum(axis=1) * (1.1 + n))),
    }


def cells(count: int) -> dict[str, float]:
    """Run so many short cells in a student's process that is forked and ended."""
    spent: list[float] = []

    def run(_: int) -> None:
        session = zygote.session()
        for number in range(count):
            session.execute(f"x_{number} = {number}")
        spent.append(1000 * session.close().cpu_seconds)

    with Zygote() as zygote:
        ours = least(run)
    return {"grader": ours, "student": statistics.median(spent[1:])}


def classes(sizes: Iterable[int]) -> list[dict[str, float]]:
    """Grade honest classes of a02 in this process, behind one that loads what all need."""
    found = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            course = Course.load(copy_course(ROOT, Path(folder) / "course").root)
            (course.root / SECRET).write_text("growth")
            [id] = course.ids(["a02"])
            simulate(course, id, size + len(OTHERS))
            for student in OTHERS:
                shutil.rmtree(course.folder("submitted") / student / id)
            with Grader(course) as grader:
                first, *_ = handed_in = [*submissions(course, id)]
                grader.grade(first)
                began, students = time.process_time(), 0.0
                for handed in handed_in:
                    students += grader.grade(handed).grade.runtime["cpu_seconds"]
                ours = 1000 * (time.process_time() - began)
        found.append({"grader": ours, "students": 1000 * students})
    return found


def line(sizes: Iterable[int], costs: Iterable[float]) -> dict[str, float]:
    """Return what one more costs, in milliseconds, and the exponent of the growth at the end."""
    n, ms = np.array([*sizes], float), np.array([*costs])
    each = float(np.polyfit(n, ms, 1)[0])
    power = float(np.log(ms[-1] / ms[-2]) / np.log(n[-1] / n[-2]))
    return {"one_more_ms": round(each, 4), "exponent": round(power, 2)}


def draw(found: dict[str, Any], path: Path) -> None:
    """Draw all of them on axes of their own."""
    figure = Figure(figsize=(15, 3.2), layout="constrained")
    for axes, (name, each) in zip(figure.subplots(1, len(found)), found.items(), strict=True):
        for what, costs in each["ms"].items():
            more = each["lines"][what]["one_more_ms"]
            axes.loglog(each["sizes"], costs, "o-", label=f"{what}: {more:.2g} ms for one more")
        axes.set(xlabel=name, ylabel="processor time in ms")
        axes.set_xticks(each["sizes"], labels=map(str, each["sizes"]))
        axes.minorticks_off()
        axes.legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0))
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "growth"}):
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Measure, print, and keep figures and picture where they are wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=SIZES, help="one of them")
    parser.add_argument("--small", action="store_true", help="the two smallest sizes alone")
    parser.add_argument("--out", type=Path, help="a JSON file; the picture stands beside it")
    options = parser.parse_args()
    measured: dict[str, Callable[[int], dict[str, float]]] = {
        "parts": parts,
        "mistakes of a part": mistakes_of_a_part,
        "mistakes of a function": mistakes_of_a_function,
        "cells": cells,
    }
    found: dict[str, Any] = {}
    for name, every in SIZES.items():
        if options.only not in (None, name):
            continue
        sizes = every[:2] if options.small else every
        costs = [*map(measured[name], sizes)] if name in measured else classes(sizes)
        ms = {what: [round(each[what], 3) for each in costs] for what in costs[0]}
        lines = {what: line(sizes, own) for what, own in ms.items()}
        found[name] = {"sizes": sizes, "ms": ms, "lines": lines}
        for what, own in lines.items():
            print(
                f"{name:24} {what:9} {own['one_more_ms']:9.4f} ms for one more, n^{own['exponent']}"
            )
    if options.out:
        machine = f"{platform.machine()}, Python {platform.python_version()}"
        result = {"machine": machine, "load": round(os.getloadavg()[0], 1), "growth": found}
        options.out.write_text(json.dumps(result, indent=1) + "\n")
        draw(found, options.out.with_suffix(".svg"))


if __name__ == "__main__":
    main()
