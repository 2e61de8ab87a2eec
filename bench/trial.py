"""A blind trial: what becomes of submissions of which their author says what is right and wrong.

Each folder holds ``submitted/<student>/<assignment>/`` and ``manifest.json``, a list of

    {"student", "assignment", "exercise", "item", "kind": "right", "wrong" or "follows", "slip"}

where ``item`` is a part, a check or a function, and "follows" is wrong in nothing but an earlier
answer.  All are graded as a class is, in a copy of the course; then each item that was said to be
right and lost points is shown, and each wrong one by what its student was told: a known mistake by
its name (also where it is paid for elsewhere), a place or a counterexample, no more than that it
isn't right, or nothing at all.  Whether a name fits the slip is for whoever reads the list.
A slip that is paid for with what follows from it, as the dearest, is a loss of none. Where a folder
has the release that was answered, what has other numbers or statements since is left out.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.submissions.grade import Grader
from autograder.course.submissions.handed_in import Handed
from autograder.delivery.department.demo import copy_course
from autograder.exercise import Exercise
from autograder.grading.results import Item, Status

ROOT = Path(__file__).resolve().parents[1]
Entry = dict[str, str]
VAGUE = {"This is not the right answer.", "The result is not the right number."}


def graded(folder: Path) -> Iterator[tuple[tuple[str, str, str], Exercise, dict[str, Item]]]:
    """Yield by (student, assignment, exercise) its outcomes by name."""
    with tempfile.TemporaryDirectory() as place:
        course = copy_course(ROOT, Path(place) / "course")
        submitted = course.folder("submitted")
        shutil.rmtree(submitted, ignore_errors=True)
        shutil.copytree(folder / "submitted", submitted)
        course = Course.load(course.root)
        with Grader(course) as grader:
            for path in sorted(submitted.glob("*/*/*.ipynb")):
                if path.stem != path.parent.name:
                    continue
                student, id = path.parts[-3], path.stem
                known = load_assignment(course, id).sound
                for own in grader.grade(Handed(student, id, path)).grade.exercises:
                    yield (
                        (student, id, own.id),
                        known[own.id],
                        {item.name: item for item in own.items},
                    )


def said_of(entry: Entry, exercise: Exercise, items: dict[str, Item]) -> tuple[str, list[Item]]:
    """Return what became of an item of the manifest, and the outcomes that say so."""
    name = entry["item"]
    of_function = {f.name: [check.name for check in f.checks] for f in exercise.functions}
    names = [name] if name in items else of_function.get(name, [])
    found = [items[n] for n in names if n in items and items[n].note != "manual"]
    if not found:
        return "unknown", []
    short = [item for item in found if item.score is None or item.score < item.max_score]
    if any(item.status is Status.ERRORED for item in found):
        return "withheld", short
    if entry["kind"] != "wrong":
        paid = [item for item in short if not _is_the_price(item, items)]
        return ("lost" if paid else "the price" if short else "kept"), short
    told = short or [item for item in found if item.note]
    if any(item.note in _names(exercise) for item in told):
        return "named", told
    if not short:
        return ("follows" if told else "unseen"), told or found
    return ("vague" if all(item.feedback in VAGUE for item in short) else "located"), short


def _is_the_price(item: Item, items: dict[str, Item]) -> bool:
    """Tell whether others go free because this item pays for the same mistake."""
    return any(f"paid for with “{item.rubric}”" in other.feedback for other in items.values())


def _changed(folder: Path, assignment: str) -> set[tuple[str, str]]:
    """Return the parts and functions that ask for something else than what was answered.

    They have other numbers, or other statements behind their letters.
    """
    place = Path("release") / assignment / "check.json"
    if not (folder / place).exists():
        return set()
    then, now = (json.loads((root / place).read_text())["exercises"] for root in (folder, ROOT))
    found = set()
    for id, exercise in then.items():
        new = now.get(id, {"parts": [], "functions": []})
        offered = {part["name"]: part["hint"].get("statements") for part in new["parts"]}
        for part in exercise["parts"] + exercise["functions"]:
            name, statements = part["name"], part.get("hint", {}).get("statements")
            if exercise.get("pool") != new.get("pool") or offered.get(name) != statements:
                found.add((id, name))
    return found


def _names(exercise: Exercise) -> set[str]:
    known: Iterable[Any] = (*exercise.parts, *exercise.functions)
    return {wrong.name for each in known for wrong in each.misconceptions}


def tried(folder: Path) -> Iterator[tuple[Entry, str, list[Item]]]:
    """Yield each entry of a folder's manifest, what became of it, and the outcomes that say so."""
    outcomes = {key: (exercise, items) for key, exercise, items in graded(folder)}
    changed: dict[str, set[tuple[str, str]]] = {}
    for entry in json.loads((folder / "manifest.json").read_text()):
        key = entry["student"], entry["assignment"], entry["exercise"]
        known = changed.setdefault(key[1], _changed(folder, key[1]))
        if (entry["exercise"], entry["item"]) in known:
            yield entry, "changed since", []
        else:
            yield entry, *(said_of(entry, *outcomes[key]) if key in outcomes else ("ungraded", []))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, help="a JSON file to write: counts by assignment")
    options = parser.parse_args()
    counts: dict[str, dict[str, Counter[str]]] = {}
    found = [each for folder in options.folders for each in tried(folder)]
    for entry, became, items in sorted(found, key=lambda one: one[1]):
        own = counts.setdefault(entry["assignment"], {})
        own.setdefault(entry["kind"], Counter())[became] += 1
        if became != "kept":
            where = ", ".join(entry[k] for k in ("student", "assignment", "exercise", "item"))
            print(f"{became}: {where} ({entry['kind']}): {entry['slip']}")
            for item in items:
                earned = f"{item.score}/{item.max_score}"
                print(f"    {item.name} {earned} {item.note} {item.feedback} {item.given:.200}")
    report = json.dumps(counts, indent=1, sort_keys=True)
    print(report)
    if options.out:
        options.out.write_text(report + "\n")


if __name__ == "__main__":
    main()
