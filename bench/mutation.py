"""Mutate the right answers of an assignment: does every change lose points?

    python bench/mutation.py a03 [--only sdpa,dead_rows] [--helpers] [--out FILE]

A mutant (`changes.py`) answers as a student would who made that one slip, and is graded in this
process against the untouched reference: a part with the others right, in several variants, a
function or class with all of its checks until one fails. One that loses nothing is compared with
the reference in every variant of the pool, if only parts are computed with it: it is equivalent if
all answers agree to nine digits, or are another right example where students choose one; tolerated
if they are right to the digits, or within the band, that the exercise asks for. What reading
showed of the others stands in `judged.toml`, with a reason; all else has survived. It also names
functions that are left out, because nothing that is checked here calls them.
"""

import argparse
import ast
import inspect
import json
import platform
import sys
import time
import tomllib
import types
import warnings
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from changes import mutants, names_in, reached

from autograder.course.config import Course
from autograder.course.discover import load_assignment
from autograder.course.proofs.part_proofs import right_answers
from autograder.course.proofs.sources import plain
from autograder.exercise import Numbers
from autograder.exercise.words.dependencies import apply, solve
from autograder.exercise.words.variants import draws
from autograder.grading import checks
from autograder.grading.budget import Exhausted, bounded
from autograder.grading.parts import grade_parts
from autograder.grading.results import Status

ROOT = Path(__file__).resolve().parents[1]
HELPERS = "reference.helpers"  # what references share: slips in it are made where asked for
JUDGED = Path(__file__).with_name("judged.toml")
VARIANTS = 6  # of the pool, in which a mutant may lose its points
KINDS = ("equivalent", "tolerated", "survivors")  # of mutants that cost nothing
COLUMNS = ("mutants", "killed", *KINDS)
SECONDS = 20.0  # of processor time for a check or the parts: more is a hang


def run(tree, path, name="mutant"):
    """Return a module with what is defined in a tree."""
    module = types.ModuleType(name)
    exec(compile(tree, str(path), "exec"), module.__dict__)
    return module


def load(tree, path, helpers=None):
    """Return the exercise of a module, which is mutated or takes mutated helpers for the right."""
    mutated = {HELPERS: run(helpers, path, HELPERS)} if helpers else {}
    with patch.dict(sys.modules, mutated):
        return run(tree, path).exercise


def slips(path, roots, students, helpers):
    """Yield mutants of what ``roots`` need, how to load each, and whether ``students`` need it.

    These are names in the module at ``path``. With ``helpers``, what it takes of them counts too.
    """
    source = path.read_text()
    tree = ast.parse(source)
    called = reached(tree, students)
    for mutant in mutants(source, roots):
        yield mutant, partial(load, mutant.tree, path), mutant.function in called
    if helpers:
        source = path.parents[1].joinpath("helpers.py").read_text()
        shared = ast.parse(source)
        called = reached(shared, taken(tree, students))
        for mutant in mutants(source, taken(tree, roots)):
            named = replace(mutant, function=place(shared, mutant.line))
            yield named, partial(load, tree, path, mutant.tree), mutant.function in called


def taken(tree, roots):
    """Return the names of the helpers that a module imports and its ``roots`` reach."""
    used = {name for statement in reached(tree, roots).values() for name in names_in(statement)}
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    found = {alias.name for node in imports if node.module == HELPERS for alias in node.names}
    return sorted(found & used)


def place(shared, line):
    """Name the functions and classes that a line of the helpers is in, outermost first."""
    defined = (n for n in ast.walk(shared) if isinstance(n, ast.FunctionDef | ast.ClassDef))
    around = (node.name for node in defined if node.lineno <= line <= node.end_lineno)
    return ".".join(("helpers", *around))


def passes(exercise, mutated):
    """Tell whether the functions of a mutated module pass all checks."""
    for function, other in zip(exercise.functions, mutated.functions, strict=True):
        for check in function.checks:
            # Nobody asks for the name of the mistake, so that none is looked for.
            alone = replace(function, checks=(replace(check, after=None),), misconceptions=())
            [item] = checks.grade_checks(alone, other.solution)
            if item.status is not Status.PASSED and item.note != checks.NO_GPU:
                return False
    return True


def answers(exercise, mutated, pool):
    """Tell whether all parts of a mutated module earn their points."""
    for variant in pool:
        right = right_answers(exercise, variant)
        for part, other in zip(exercise.parts, mutated.parts, strict=True):
            if part.manual:
                continue
            given = {**right, part.name: plain(apply(other, solve(exercise, variant)))}
            items = grade_parts(exercise, variant, given.get)
            if any(item.name == part.name and item.score != part.points for item in items):
                return False
    return True


def earns(exercise, mutated, pool):
    """Tell whether a slip of the mutated module costs nothing in any of the variants."""
    try:
        return bounded("parts", lambda: answers(exercise, mutated, pool), SECONDS) and passes(
            exercise, mutated
        )
    except (Exception, Exhausted):  # it doesn't even run: no answer
        return False


def same_answers(exercise, mutated, pool):
    """Tell whether all answers to the parts are the same in every variant."""
    for variant in pool:
        known = solve(exercise, variant)
        for part, other in zip(exercise.parts, mutated.parts, strict=True):
            if part.manual:
                continue
            its = part.answer.read(apply(other, known))
            if isinstance(part.answer, Numbers):
                same = np.shape(its) == np.shape(known[part.name])
                same = same and np.allclose(its, known[part.name], 1e-9, 1e-12)
            else:
                same = part.answer.same(its, known[part.name])
            if not same:
                return False
    return True


def examine(course, assignment, id, judged, helpers):
    """Return counts of an exercise's mutants, and those that cost nothing by their kind.

    What the checks of a function let pass was not shown to be the same, since they try some inputs
    only: somebody must have read and ``judged`` it.
    """
    exercise = assignment.sound[id]
    path = course.root / "reference" / assignment.id / f"{id}.py"
    pool = draws(exercise, course.id).pool
    students = [function.solution.__name__ for function in exercise.functions]
    roots = [part.compute.__name__ for part in exercise.parts] + students
    if not earns(exercise, load(ast.parse(path.read_text()), path), pool[:VARIANTS]):
        raise SystemExit(f"{id}: here the reference itself loses points")
    counts, found = Counter(mutants=0, killed=0), {kind: [] for kind in KINDS}
    for mutant, loaded, called in slips(path, roots, students, helpers):
        if mutant.function in judged["left_out"].get(id, {}):
            counts["left_out"] += 1
            continue
        counts["mutants"] += 1
        try:
            mutated = loaded()
        except Exception:  # the module or a shared helper breaks: no answer can be right
            mutated = None
        if mutated is None or not earns(exercise, mutated, pool[:VARIANTS]):
            counts["killed"] += 1
            continue
        kind, reason = judgement(judged, id, mutant.key)
        if not called and same_answers(exercise, mutated, pool):
            kind, reason = "equivalent", "the same answer in every variant"
        elif not called and answers(exercise, mutated, pool):
            kind, reason = "tolerated", "right to the precision that is asked for, in every variant"
        row = {"exercise": id, "function": mutant.function, "line": mutant.line}
        row |= {"before": mutant.before, "after": mutant.after, "reason": reason}
        found[kind].append(row)
    return dict(counts) | {kind: len(rows) for kind, rows in found.items()}, found


def judgement(judged, id, key):
    """Return what reading showed of a mutant, and why."""
    for kind in KINDS:
        if reason := judged[kind].get(id, {}).get(key):
            return kind, reason
    return "survivors", "not judged"


def judgements():
    """Return the reason by mutant, for each kind and exercise: what reading showed."""
    with JUDGED.open("rb") as file:
        found = tomllib.load(file)
    return {
        kind: {
            id: {key: reason for reason, keys in reasons.items() for key in keys}
            for id, reasons in found.get(kind, {}).items()
        }
        for kind in (*KINDS, "left_out")
    }


def summed(report):
    """Put the sums over all exercises into a report, and the share of mutants that are killed."""
    total = Counter()
    for row in report["exercises"].values():
        total.update(row)
    real = total["mutants"] - total["equivalent"] - total["tolerated"]
    report["total"] = {name: round(number, 1) for name, number in total.items()}
    report["share"] = round(total["killed"] / real, 4) if real else 1.0


def show(name, counts, found, judged):
    """Print what was found in an exercise, and judgements of mutants that are not among it."""
    print(f"{name:24}" + "".join(f"{counts[key]:12}" for key in COLUMNS) + f"{counts['seconds']:7}")
    for row in found["survivors"]:
        print(f"  {name}:{row['line']} {row['function']} ({row['reason']})")
        print(f"    - {row['before']}\n    + {row['after']}")
    met = {f"{row['function']}: {row['after']}" for rows in found.values() for row in rows}
    for key in {key for kind in KINDS for key in judged[kind].get(name, {})} - met:
        print(f"  judged in {JUDGED.name}, but not met: {key}")
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=inspect.cleandoc(__doc__).partition("\n")[0])
    parser.add_argument("assignment", help="its id, or the beginning of it")
    parser.add_argument("--only", help="these exercises; what --out holds of others stays")
    parser.add_argument("--helpers", action="store_true", help="also slips in the shared helpers")
    parser.add_argument("--out", type=Path, help="write what was found to this JSON file")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    checks.CHECK_SECONDS = SECONDS
    course = Course.load(ROOT)
    id = next(id for id in course.ids() if id.startswith(arguments.assignment))
    assignment = load_assignment(course, id)
    if assignment.broken:
        raise SystemExit("; ".join(f"{each.id}: {each.message}" for each in assignment.broken))
    wanted = arguments.only.split(",") if arguments.only else list(assignment.sound)
    report = {"assignment": id, "python": platform.python_version(), "variants": VARIANTS}
    report |= {"share": 0.0, "total": {}, "exercises": {}} | {kind: [] for kind in KINDS}
    if arguments.only and arguments.out and arguments.out.exists():
        report |= json.loads(arguments.out.read_text())
    judged = judgements()
    print(f"{'exercise':24}" + "".join(f"{name:>12}" for name in COLUMNS) + f"{'s':>7}")
    for name in wanted:
        start = time.perf_counter()
        counts, found = examine(course, assignment, name, judged, arguments.helpers)
        counts["seconds"] = round(time.perf_counter() - start, 1)
        report["exercises"][name] = counts
        for kind, rows in found.items():
            report[kind] = [row for row in report[kind] if row["exercise"] != name] + rows
        show(name, counts, found, judged)
    summed(report)
    print(f"{report['share']:.1%} of the mutants whose answers are wrong are killed")
    if arguments.out:
        arguments.out.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
