"""The course's derivations: how long one takes, and which wrong lines are found.

    python bench/derivations.py [--out bench/results/derivations.json]

Every line of every derivation (those of tests/algebra/derivation_cases.py) is changed a few times:
a sign, an index, a factor, a number, a function.  Whether a changed line still is true is decided
apart from the examination, by numbers, for n = 6 and 7, which the examination never tries.  A
wrong line must be found, with its number; a true one must not be called wrong.

Then each derivation of the course: ten right routes (its own, those of tests/exercises, and these
in other clothes), of which none may lose anything; each line made wrong, which must be found and
may cost no more than its step beside the lines without it; and every attempt that `verify` makes,
which may earn no more than the honest steps in it.  Times are processor time, which other
processes change little; counts do not depend on them.  `--course` leaves the first part out.
"""

from __future__ import annotations

import argparse
import functools
import json
import operator
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sympy

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "algebra"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "exercises"))

from derivation_cases import CASES
from derivations_otherwise import OTHERWISE
from right_derivations import RIGHT

from autograder.algebra import ParseError, equivalent
from autograder.algebra.building.functions import RowWise
from autograder.algebra.deriving.lines.inert import Transposed
from autograder.algebra.deriving.lines.written_out import TooMuch, value
from autograder.exercise import Derivation
from autograder.exercise.words.loading import load_module

ROOT = Path(__file__).resolve().parents[1]
MUTANTS = 6  # of each derivation
ROUTES = 10  # of each derivation of the course
SECONDS = 0.3  # that a reference may take
STEPS_WORTH = 0.8
SIZES = (6, 7)
POINTS = 400  # at which a bound is tried
SEED = 5

_numbers = np.random.default_rng(SEED)

_CHANGES: list[tuple[str, list[str]]] = [
    (r"(?<=[\w)\]] )\+(?= )", ["-"]),
    (r"(?<=[\w)\]] )-(?= )", ["+"]),
    (r"(?<=[\w)\]])\*(?=[\w(])", ["+", "/"]),
    (r"(?<=[\w)\]])/(?=[\w(])", ["*"]),
    (r"(?<=_)[ij]\b", ["i", "j"]),
    (r"\b[2-9]\b", ["3", "1", "4"]),
    (r"\^2", ["", "^3"]),
    (r"\bexp\b", ["sin"]),
    (r"\bsin\b", ["cos"]),
    (r"\bcos\b", ["sin"]),
    (r"\bdelta\([a-z],[a-z]\)\*?", ["", "2*"]),
    (r"/n\b", ["", "/(n + 1)"]),
    (r"\^T", [""]),
    (r"\b[PRS]\*", [""]),
    (r"\babs\b", [""]),
]


def changed(line: str, rng: random.Random) -> str:
    """Change one place of the formula; the reason stays."""
    formula, mark, reason = line.partition("#")
    places = [
        (match, new)
        for pattern, news in _CHANGES
        for match in re.finditer(pattern, formula)
        for new in news
        if new != match[0]
    ]
    if not places:
        return line
    match, new = rng.choice(places)
    return formula[: match.start()] + new + formula[match.end() :] + mark + reason


def holds(chain: Any, before: Any, line: Any) -> bool | None:
    """Whether one line follows from the other for larger n than the examination tries."""
    if chain.matrices:
        return all(_matrices_agree(chain, before.expr, line.expr) for _ in range(3))
    try:
        for env in chain.world.cases(before.expr, line.expr, sizes=SIZES):
            left, right = (value(side.expr, env, chain.world) for side in (before, line))
            if line.relation == "<=":
                if any(_larger(left, right) for _ in range(POINTS)):
                    return False
            elif not equivalent(left, right).equal:
                return False
    except (TooMuch, TypeError, ValueError):
        return None
    return True


def _matrices_agree(chain: Any, left: Any, right: Any) -> bool:
    """Compare two lines for random matrices of six rows that are as the author says."""
    known: dict[Any, Any] = {}

    def at(expr: Any) -> Any:
        if expr.is_number:
            return float(expr) * np.eye(6)
        if expr.is_Symbol and expr not in known:
            is_permutation = expr.name in chain.permutations
            drawn = np.eye(6)[_numbers.permutation(6)] if is_permutation else None
            known[expr] = _numbers.normal(size=(6, 6)) if drawn is None else drawn
        if expr.is_Symbol:
            return known[expr]
        if expr.is_Pow:
            return np.linalg.matrix_power(at(expr.base), int(expr.exp))
        if isinstance(expr, RowWise):
            e = np.exp(at(expr.args[1]) / 10)
            return e / e.sum(axis=1, keepdims=True)
        if isinstance(expr, Transposed):
            return at(expr.args[0]).T
        parts = [at(argument) for argument in expr.args]
        return functools.reduce(operator.add if expr.is_Add else operator.matmul, parts)

    sides = [at(chain.world.put_in(side)) for side in (left, right)]
    return bool(np.allclose(*sides, rtol=1e-6, atol=1e-6))


def _larger(left: Any, right: Any) -> bool:
    symbols = sorted(left.free_symbols | right.free_symbols, key=str)
    point = {s: random.gauss(0, 2) for s in symbols}
    point = {s: abs(x) if s.is_positive else x for s, x in point.items()}
    difference = sympy.N((left - right).xreplace({s: sympy.Float(x) for s, x in point.items()}))
    return bool(difference.is_real and difference > 1e-9)


def examine(make: Any, rng: random.Random) -> tuple[dict[str, Any], list[str]]:
    case = make()
    start = time.process_time()
    case.chain.examine(case.right)
    first = time.process_time() - start
    start = time.process_time()
    assert case.chain.examine(case.right).credit == 1
    again = time.process_time() - start
    outcomes: Counter[str] = Counter()
    missed = []
    for _ in range(10 * MUTANTS):
        if outcomes.total() >= MUTANTS:
            break
        place = rng.randrange(len(case.right))
        line = changed(case.right[place], rng)
        lines = [*case.right[:place], line, *case.right[place + 1 :]]
        try:
            read = case.chain.read(lines)
        except ParseError:
            continue
        before = read[place - 1] if place else case.chain.given
        if read[place].expr == case.chain.read([case.right[place]])[0].expr:
            continue
        true = holds(case.chain, before, read[place])
        examination = case.chain.examine(lines)
        kinds = {f.kind for f in examination.findings if f.line == place + 1}
        called_wrong = bool(kinds & {"wrong", "wrong_start", "unreadable"})  # 1/0, say
        match true, called_wrong:
            case None, _:
                outcomes["undecided"] += 1
            case False, True:
                outcomes["wrong, found"] += 1
            case False, False:
                outcomes["review" if examination.review else "wrong, missed"] += 1
                missed.append(f"{make.__name__} {place + 1}: {line}")
            case True, True:
                outcomes["true, called wrong"] += 1
                missed.append(f"{make.__name__} {place + 1}: {line}")
            case _:
                outcomes["true, not called wrong"] += 1
    times = {"first_ms": round(1000 * first, 1), "again_ms": round(1000 * again, 1)}
    verdict = case.chain.follows(case.chain.read([case.right[-1]])[0]).how
    return {"steps": len(case.right), **times, "proof": verdict, **outcomes}, missed


def parts() -> Iterator[tuple[str, Any, list[list[str]]]]:
    """Yield the course's derivations: name, part, and its right routes."""
    for path in sorted((ROOT / "reference").glob("*/*.py")):
        if "Derivation(" not in path.read_text():
            continue
        for part in load_module(path).exercise.parts:
            if isinstance(part.answer, Derivation):
                where = (path.parent.name, path.stem, part.name)
                written = [route for known in (RIGHT, OTHERWISE) for route in known.get(where, [])]
                routes = [part(), *(route() for route in part.alternatives), *written]
                yield f"{path.stem}.{part.name}", part, routes


def course() -> dict[str, Any]:
    """Try right routes, wrong lines and empty attempts on each derivation of the course."""
    found: Counter[str] = Counter()
    amiss: list[str] = []
    times: dict[str, float] = {}
    for name, part, routes in parts():
        answer, chain = part.answer, part.answer.chain
        start = time.process_time()
        chain.examine(routes[0])
        times[name] = round(time.process_time() - start, 2)
        attempts = list(answer.attempts(answer.read(routes[0])))
        clothes = [
            attempt.raw
            for route in routes
            for attempt in answer.attempts(answer.read(route))
            if attempt.at_least == 1
        ]
        routes += clothes[: max(0, ROUTES - len(routes))]
        for lines in routes:
            found["right routes"] += 1
            if (credit := chain.examine(lines).credit) < 1:
                amiss.append(f"{name} loses {1 - credit:.2f}: {lines}")
        for attempt in attempts:
            wrong = re.fullmatch(r"line (\d+) wrong", attempt.name)
            examination = chain.examine(attempt.raw)
            if attempt.at_least < 1:
                found["wrong lines" if wrong else "empty attempts"] += 1
            if not attempt.at_least - 1e-6 <= examination.credit <= attempt.at_most + 1e-6:
                amiss.append(f"{name} earns {examination.credit}: {attempt.name}")
            if wrong:
                place = int(wrong[1]) - 1
                at = (place + 1, place + 2) if chain.task.comparison.bounds else (place + 1,)
                kinds = {f.kind for f in examination.findings if f.line in at}
                if not kinds & {"wrong", "wrong_start"}:
                    amiss.append(f"{name} {attempt.name}: not found")
                left_out = [*routes[0][:place], *routes[0][place + 1 :]]
                without = chain.examine(left_out).credit
                if (
                    place + 1 < len(routes[0])
                    and examination.credit < without - STEPS_WORTH / chain.min_lines - 1e-6
                ):
                    amiss.append(f"{name} {attempt.name}: better left out")
        print(name, dict(found), *amiss[-1:], flush=True)
    slow = {name: seconds for name, seconds in times.items() if seconds > SECONDS}
    return {**found, "amiss": amiss, "slower_than_0.3_s": slow}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--course", action="store_true", help="only the course's derivations")
    options = parser.parse_args()
    rng = random.Random(SEED)
    derivations: dict[str, Any] = {}
    missed: list[str] = []
    total: Counter[str] = Counter()
    for make in () if options.course else CASES:
        found, left = examine(make, rng)
        derivations[make.__name__] = found
        missed += left
        total.update({k: v for k, v in found.items() if "," in k or k in ("review", "undecided")})
        print(f"{make.__name__:20} {found}", flush=True)
    again = [d["again_ms"] for d in derivations.values()] or [0.0]
    wrong = total["wrong, found"] + total["wrong, missed"] + total["review"]
    results = {
        "derivations": derivations,
        "course": course(),
        "changed_lines": dict(total),
        "wrong_lines_found_percent": round(100 * total["wrong, found"] / max(1, wrong), 1),
        "median_ms": round(statistics.median(again), 1),
        "longest_ms": max(again),
    }
    print(*missed, json.dumps({k: v for k, v in results.items() if k != "derivations"}), sep="\n")
    if options.out:
        options.out.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
