"""Agreement and speed on the answer tests of other systems, read and judged as grading does.

    python bench/algebra.py ROWS.jsonl [--out bench/results/algebra.json]

The rows are not part of this project (their licences differ); their README says what the fields
mean.  Only counts and times are written.  Names are declared as the author of an exercise does,
as real numbers or as what the row assumes.  No exercise asks for equations, sets and the like: such
rows are left out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from graded import RIGHT, UNREADABLE, WRONG, formula, graded

from autograder.exercise import Matrix
from autograder.exercise.answers.kind import FormatError

TESTS = ["AlgEquiv", "Equivalent", "EquivStep", "Sets", "PLParse", "PLReject", "LatexVerify"]
KINDS = ["expr", "matrix", "latex"]
SECONDS = 5.0

Row = dict[str, Any]


class _Late(BaseException):
    pass


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Stop systems that have no time limit of their own."""
    import signal

    def stop(*_: object) -> None:
        raise _Late

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def ours(row: Row) -> str:
    assumptions = {
        name: " ".join([words] if isinstance(words, str) else words)
        for name, words in (row.get("assume") or {}).items()
    }
    sides = row["teacher"], row["student"]
    answer = formula(sides, assumptions, row.get("functions") or ())
    if row["kind"] == "matrix":
        answer = Matrix(answer.names, answer.assumptions, operators=answer.operators)
    try:
        outcome = graded(answer, *sides)
    except FormatError:  # the expected one
        return "error"
    return {RIGHT: "true", WRONG: "false", UNREADABLE: "error"}.get(outcome, "review")


def with_sympy(decide: Callable[[Any, Any], bool]) -> Callable[[Row], str]:
    from sympy.parsing.latex import parse_latex
    from sympy.parsing.sympy_parser import convert_xor, parse_expr, standard_transformations

    def read(text: str, kind: str) -> Any:
        if kind == "latex":
            return parse_latex(text, backend="lark")
        return parse_expr(text, transformations=(*standard_transformations, convert_xor))

    def system(row: Row) -> str:
        try:
            a, b = (read(row[side], row["kind"]) for side in ("teacher", "student"))
        except Exception:
            return "error"
        try:
            return "true" if decide(a, b) else "false"
        except Exception:
            return "review"

    return system


def math_verify(row: Row) -> str:
    import sympy
    from math_verify import parse, verify

    def read(text: str) -> Any:
        if row["kind"] == "latex":
            return parse(f"${text}$", parsing_timeout=None)
        return parse(f"${sympy.latex(sympy.sympify(text))}$", parsing_timeout=None)

    try:
        a, b = read(row["teacher"]), read(row["student"])
    except Exception:
        return "error"
    return "true" if verify(a, b, timeout_seconds=None) else "false"


def is_formula(row: Row) -> bool:
    """Whether a formula or a matrix is asked for, and no statement about one."""
    sides = row["teacher"], row["student"]
    return row["kind"] in KINDS and not any("=" in text or text.startswith("Eq(") for text in sides)


def expected(row: Row) -> str:
    return {True: "true", False: "false"}.get(row["expect"], "error")


def measure(rows: list[Row], system: Callable[[Row], str]) -> tuple[list[str], list[float]]:
    """Return what `system` answers and how long it takes; ours has limits of its own."""
    outcomes, times = [], []
    for row in rows:
        start = time.perf_counter()
        try:
            with nullcontext() if system is ours else deadline(SECONDS):
                outcome = system(row)
        except _Late:
            outcome = "late"
        times.append(time.perf_counter() - start)
        outcomes.append(outcome)
    return outcomes, times


def agrees(row: Row, outcome: str) -> bool:
    """Whether an outcome is the labelled one; what cannot be read is not accepted either."""
    return outcome == expected(row) or (expected(row) == "false" and outcome == "error")


def summary(rows: list[Row], outcomes: list[str], times: list[float]) -> dict[str, Any]:
    def rate(kind: str | None) -> dict[str, Any]:
        chosen = [(r, o) for r, o in zip(rows, outcomes, strict=True) if kind in (None, r["kind"])]
        good = sum(agrees(row, outcome) for row, outcome in chosen)
        return {"rows": len(chosen), "agree_percent": round(100 * good / max(1, len(chosen)), 1)}

    ordered = sorted(times)
    return {
        "assigned": rate(None),
        **{kind: rate(kind) for kind in KINDS},
        "false_accepts": sum(
            o == "true" and expected(r) != "true" for r, o in zip(rows, outcomes, strict=True)
        ),
        "outcomes": dict(Counter(outcomes)),
        "median_ms": round(1000 * statistics.median(times), 2),
        "p99_ms": round(1000 * ordered[int(0.99 * (len(ordered) - 1))], 1),
        "longest_ms": round(1000 * ordered[-1], 1),
    }


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Keep so many cores busy."""
    command = [sys.executable, "-c", "while True: pass"]
    loops = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def changed(rows: list[Row], outcomes: list[str], runs: int, loops: int) -> int:
    """Count the rows that are answered otherwise in one of some runs beside busy loops."""
    with busy_loops(loops):
        again = [measure(rows, ours)[0] for _ in range(runs)]
    return sum(len({first, *rest}) > 1 for first, *rest in zip(outcomes, *again, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only-ours", action="store_true")
    parser.add_argument("--show", action="store_true", help="print the rows that disagree")
    parser.add_argument("--busy", type=int, metavar="LOOPS", help="three more runs beside them")
    parser.add_argument("--every", action="store_true", help="all kinds of the assigned tests")
    options = parser.parse_args()
    rows = [json.loads(line) for line in options.rows.read_text().splitlines()]
    rows = [r for r in rows if r["test"] in TESTS and (options.every or is_formula(r))]
    systems: dict[str, Callable[[Row], str]] = {"grading": ours}
    if not options.only_ours:
        import sympy

        systems["sympy simplify"] = with_sympy(lambda a, b: sympy.simplify(a - b) == 0)
        systems["sympy equals"] = with_sympy(lambda a, b: bool(a.equals(b)))
        systems["Math-Verify"] = math_verify
    results: dict[str, Any] = {}
    for name, system in systems.items():
        measure(rows[:3], system)  # what is loaded on first use is not counted
        outcomes, times = measure(rows, system)
        results[name] = summary(rows, outcomes, times)
        if options.busy and system is ours:
            results[name]["busy_loops"] = options.busy
            results[name]["changed_in_three_runs"] = changed(rows, outcomes, 3, options.busy)
        if options.show and system is ours:
            for row, outcome, seconds in zip(rows, outcomes, times, strict=True):
                if not agrees(row, outcome) or seconds > 0.3:
                    print(
                        row["kind"],
                        "|",
                        row["teacher"],
                        "|",
                        row["student"],
                        "|",
                        expected(row),
                        "->",
                        outcome,
                        round(seconds, 2),
                    )
    print(json.dumps(results, indent=2))
    if options.out:
        options.out.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
