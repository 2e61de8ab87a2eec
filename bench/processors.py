"""Does the processor change anything? A release, its proofs and a class's marks under several.

Numerical libraries choose their code by the processor, and round differently with each.  Their
own switches make one machine stand for others: an old one without vector units, one with AVX2, one
with AVX-512 where this machine has it; and two threads.  Under each, what is released must be up
to date, every exercise must prove itself, and the same submissions must get the same outcomes,
points and sentences, to the letter.  What was graded under one is up to date under the next.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from autograder.course.classes.simulate import simulate
from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.proofs.verify import verify
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.handed_in import Handed
from autograder.course.submissions.keys import Keys
from autograder.delivery.department.demo import copy_course
from autograder.delivery.department.releasing import generate
from autograder.grading.results import Grade

ROOT = Path(__file__).resolve().parents[1]
_NO_FMA = {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4", "ATEN_CPU_CAPABILITY": "default"}
PROCESSORS = {
    "this one": {},
    "Prescott": {"OPENBLAS_CORETYPE": "Prescott", "ONEDNN_MAX_CPU_ISA": "SSE41", **_NO_FMA},
    "Sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge", "ONEDNN_MAX_CPU_ISA": "AVX", **_NO_FMA},
    "Haswell": {
        "OPENBLAS_CORETYPE": "Haswell",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "ATEN_CPU_CAPABILITY": "avx2",
    },
    "SkylakeX": {
        "OPENBLAS_CORETYPE": "SkylakeX",
        "ONEDNN_MAX_CPU_ISA": "AVX512_CORE",
        "ATEN_CPU_CAPABILITY": "avx512",
    },
    "two threads": {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"},
}
_NEEDS = {"Sandybridge": "avx", "Haswell": "avx2", "SkylakeX": "avx512f"}
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def offered() -> dict[str, dict[str, str]]:
    """Return the processors that this machine can stand for."""
    flags: set[str] = set()
    if (info := Path("/proc/cpuinfo")).exists():
        lines = info.read_text().splitlines()
        flags = set(next((line for line in lines if line.startswith("flags")), "").split())
    return {name: how for name, how in PROCESSORS.items() if _NEEDS.get(name, "") in {"", *flags}}


def told(grade: Grade) -> dict[str, list[Any]]:
    """Return by item what a student is told: all but what was measured."""
    return {
        f"{exercise.id}.{item.name}": [str(item.status), item.score, item.note, item.feedback]
        for exercise in grade.exercises
        for item in exercise.items
    }


def bits() -> str:
    """Return what shows how this process rounds: bits of products and exponentials."""
    x = np.random.default_rng(0).normal(size=(100, 100))
    found = [f(x.astype(kind)) for f in (np.exp, lambda x: x @ x) for kind in ("f4", "f8")]
    return hashlib.sha256(b"".join(each.tobytes() for each in found)).hexdigest()


def seen(course: Course, ids: list[str], variants: int) -> Iterator[tuple[str, Any]]:
    """Yield by name what must not depend on the processor of this process."""
    for id in ids:
        drifts = generate(course, [id], check=True)
        yield f"{id}: release", [str(drift) for drift in drifts]
        for proof in verify(load_assignment(course, id), variants=variants) if variants else ():
            yield f"{id}/{proof.exercise}: proof", proof.problems
        keys = Keys(course)
        with Grader(course) as grader:
            for path in sorted(course.folder("submitted").glob(f"*/{id}/{id}.ipynb")):
                handed = Handed(path.parts[-3], id, path)
                yield f"{handed.student}, {id}: key", keys.of(handed)
                for item, outcome in told(grader.grade(handed).grade).items():
                    yield f"{handed.student}, {id}: {item}", outcome


def compare(
    root: Path, id: str, variants: int, processors: dict[str, dict[str, str]]
) -> dict[str, dict[str, Any]]:
    """Look at a course under each processor, two at a time; say how each differs from the first."""
    inside = [sys.executable, __file__, "--inside", str(root), "--variants", str(variants), id]
    found, waiting, running = {}, list(processors), {}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 1):
            name = waiting.pop(0)
            environment = {**os.environ, **_ONE_THREAD, **processors[name]}
            running[name] = (
                time.perf_counter(),
                subprocess.Popen(
                    inside,
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                ),
            )
        name = next(iter(running))
        start, process = running.pop(name)
        out, errors = process.communicate()
        if process.returncode:
            sys.exit(f"{name}: {errors[-3000:]}")
        found[name] = {**json.loads(out), "seconds": time.perf_counter() - start}
    here = next(iter(found.values()))
    first = here["seen"]
    return {
        name: {
            "seconds": round(each["seconds"]),
            "other_bits": each["bits"] != here["bits"],
            "items": len(each["seen"]),
            "differing": {
                item: [first.get(item), each["seen"].get(item)]
                for item in {**first, **each["seen"]}
                if first.get(item) != each["seen"].get(item)
            },
            "wrong": {
                item: value
                for item, value in each["seen"].items()
                if item.endswith((": release", ": proof")) and value
            },
        }
        for name, each in found.items()
    }


def prepare(origin: Path, id: str, students: int, folder: Path) -> Course:
    """Write a course with a simulated class, as it is on the processor of this machine."""
    course = copy_course(origin, folder)
    generate(course, [id])
    simulate(course, id, students)
    return course


def show(id: str, found: dict[str, dict[str, Any]]) -> None:
    for name, one in found.items():
        print(
            f"{id} {name:12} rounds {'otherwise' if one['other_bits'] else 'as the first':12} "
            f"{one['items']:6,} items in {one['seconds']:4} s: "
            f"{len(one['differing'])} differ, {len(one['wrong'])} wrong",
            flush=True,
        )
        for item in [*{**one["differing"], **one["wrong"]}][:5]:
            said = one["wrong"].get(item) or one["differing"][item]
            print(f"    {item}: {json.dumps(said, ensure_ascii=False):.200}")


def write(path: Path, added: dict[str, Any]) -> None:
    """Write what was found of some assignments, beside what is there of others."""
    before = json.loads(path.read_text())["assignments"] if path.exists() else {}
    report = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "assignments": before | added,
        "not_here": sorted(PROCESSORS.keys() - offered().keys()),
    }
    path.write_text(json.dumps(report, indent=1, sort_keys=True) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assignments", nargs="*", help="all of them where none is named")
    parser.add_argument("--students", type=int, default=8)
    parser.add_argument("--variants", type=int, default=16, help="of each proof; 0: no proofs")
    parser.add_argument("--course", type=Path, default=ROOT)
    parser.add_argument("--out", type=Path, help="a JSON file to write")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        course = Course.load(options.inside)
        found = dict(seen(course, options.assignments, options.variants))
        print(json.dumps({"bits": bits(), "seen": found}))
        return
    changed = False
    for id in Course.load(options.course).ids(options.assignments):
        with tempfile.TemporaryDirectory() as folder:
            course = prepare(options.course, id, options.students, Path(folder) / "course")
            found = compare(course.root, id, options.variants, offered())
        show(id, found)
        changed |= any(one["differing"] or one["wrong"] for one in found.values())
        if options.out:
            sizes = {"students": options.students, "variants": options.variants}
            write(options.out, {id: {**sizes, "processors": found}})
    if left := sorted(PROCESSORS.keys() - offered().keys()):
        print(f"this machine can't stand for {', '.join(left)}")
    if changed:
        sys.exit("the processor changes something: the JSON of --out says what")


if __name__ == "__main__":
    main()
