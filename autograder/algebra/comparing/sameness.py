"""Whether two answers of any kind say the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from autograder.algebra.building.composites import FiniteSet, Interval, Listing, Ratio, Tuple, kind
from autograder.algebra.comparing.equations import (
    NO_MULTIPLE,
    defined_everywhere,
    multiples,
    polynomials,
)
from autograder.algebra.comparing.equivalence import equal
from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deadlines import killable
from autograder.algebra.deadlines.killable import Budget

SECONDS = 2.0  # of processor time, for what is not bounded by construction
ALL_SECONDS = 4.0  # for all of that in one answer: a set may hold many statements
_SOLVING = "autograder.algebra.comparing.solving"

_Assumptions = Mapping[str, str] | None
STATEMENTS = ("equation", "inequality", "statement")


def too_late() -> Verdict:
    """Return the verdict on what takes too long."""
    return Verdict(None, "undecided: this takes too long")


def compare(
    expected: Any, given: Any, assumptions: _Assumptions = None, budget: Budget | None = None
) -> Verdict:
    """Compare two values as `parse_any` makes them; the second process may use up `budget`."""
    budget = budget or Budget(ALL_SECONDS)
    if expected == given:
        return Verdict(True, "proved")
    expected, given = _as_matrices(expected, given)
    kinds = kind(expected), kind(given)
    if all(which in STATEMENTS for which in kinds) or _has_proposition(expected, given):
        quick = (
            _equations(expected, given, bool(assumptions))
            if kinds == ("equation", "equation")
            else None
        )
        return quick or _elsewhere("statements", expected, given, assumptions, budget)
    if kinds == ("set", "list") and len(given.args) == 2 and expected.has(Interval):
        return compare(expected, _interval(given), assumptions, budget)
    if kinds == ("list", "set") and len(expected.args) == 2 and given.has(Interval):
        return compare(_interval(expected), given, assumptions, budget)
    if set(kinds) == {"ratio", "expression"}:
        expected, given = _quotient(expected), _quotient(given)
        kinds = kind(expected), kind(given)
    if kinds[0] != kinds[1]:
        return Verdict(False, f"{_a(kinds[1])} instead of {_a(kinds[0])}")
    match kinds[0]:
        case "ratio":
            return _ratios(expected, given, budget)
        case "list":
            return _lists(expected, given, assumptions, budget)
        case "set":
            return _sets(expected, given, assumptions, budget)
        case "matrix":
            return equal(expected, given)
    verdict = equal(expected, given)
    if verdict.equal is None and verdict.how.startswith("undecided: equal"):
        return _elsewhere("formulas", expected, given, assumptions, budget)
    return verdict


def _equations(expected: sympy.Eq, given: sympy.Eq, declared: bool) -> Verdict | None:
    """Compare two equations as they stand, which settles most of those that are equal."""
    if not all(isinstance(side, sympy.Expr) for side in (*expected.args, *given.args)):
        return None
    one, other = expected.lhs - expected.rhs, given.lhs - given.rhs
    if not (defined_everywhere(one) and defined_everywhere(other)):
        return None
    verdict = multiples(one, other)
    if verdict is not NO_MULTIPLE:
        return verdict
    if not declared and polynomials(one, other):
        return Verdict(False, "the solutions differ, or how often each occurs")
    return None


def _elsewhere(
    task: str, expected: Any, given: Any, assumptions: _Assumptions, budget: Budget
) -> Verdict:
    declared = " ".join((assumptions or {}).values())
    where = f"{_SOLVING}:{task}"
    result = killable.run(where, expected, given, declared, seconds=SECONDS, budget=budget)
    return result or too_late()


def _has_proposition(expected: Any, given: Any) -> bool:
    """Whether a name alone is compared with a statement: then it is one, true or false."""
    one_is_name = expected.is_Symbol or given.is_Symbol
    return one_is_name and "statement" in (kind(expected), kind(given))


def _interval(pair: Listing) -> Interval:
    """Read ``[0, 1]`` or ``(0, 1)`` as an interval, where one is expected."""
    is_open = sympy.sympify(isinstance(pair, Tuple))
    return Interval(*pair.args, is_open, is_open)


def _as_matrices(expected: Any, given: Any) -> tuple[Any, Any]:
    """Read a list of lists as a matrix, where the other side is one."""
    if isinstance(expected, sympy.MatrixBase) and _is_table(given):
        return expected, sympy.ImmutableMatrix([row.args for row in given.args])
    if isinstance(given, sympy.MatrixBase) and _is_table(expected):
        return sympy.ImmutableMatrix([row.args for row in expected.args]), given
    return expected, given


def _is_table(value: Any) -> bool:
    if not (isinstance(value, Listing) and value.args):
        return False
    rows = value.args
    cells = [cell for row in rows if isinstance(row, Listing) for cell in row.args]
    return (
        all(isinstance(row, Listing) and len(row.args) == len(rows[0].args) for row in rows)
        and bool(cells)
        and all(isinstance(cell, sympy.Expr) for cell in cells)
    )


def _quotient(value: Any) -> Any:
    """Return ``a : b`` as a/b."""
    if isinstance(value, Ratio) and len(value.args) == 2 and value.args[1] != 0:
        return value.args[0] / value.args[1]
    return value


def _ratios(expected: Ratio, given: Ratio, budget: Budget) -> Verdict:
    """Compare two ratios, ``11 : 21`` and ``22 : 42``: each term times all the others."""
    if len(expected.args) != len(given.args):
        return Verdict(False, f"{len(given.args)} terms instead of {len(expected.args)}")
    if any(equal(term, sympy.S.Zero).equal for term in given.args):
        return Verdict(expected == given, "a term is zero")
    (a, b), *others = zip(expected.args, given.args, strict=True)
    left, right = [a * y for _, y in others], [b * x for x, _ in others]
    return _lists(Listing(*left), Listing(*right), None, budget)


def _lists(expected: Listing, given: Listing, assumptions: _Assumptions, budget: Budget) -> Verdict:
    verdict = _entries(expected, given, assumptions, budget)
    differ = isinstance(expected, Tuple) != isinstance(given, Tuple)
    if verdict.equal and differ and _may_be_interval(expected):
        return Verdict(None, "undecided: the same as lists, but as intervals the ends differ")
    return verdict


def _may_be_interval(pair: Listing) -> bool:
    """Whether ``(a, b)`` may be an interval: a is not known to be larger than b."""
    if len(pair.args) != 2 or not all(isinstance(end, sympy.Expr) for end in pair.args):
        return False
    length = pair.args[1] - pair.args[0]
    return not (length.is_Rational and length <= 0)


def _entries(
    expected: Listing, given: Listing, assumptions: _Assumptions, budget: Budget
) -> Verdict:
    if len(expected.args) != len(given.args):
        return Verdict(False, f"{len(given.args)} entries instead of {len(expected.args)}")
    pairs = zip(expected.args, given.args, strict=True)
    verdicts = [compare(a, b, assumptions, budget) for a, b in pairs]
    for outcome in (False, None):
        for place, verdict in enumerate(verdicts, start=1):
            if verdict.equal is outcome:
                return Verdict(outcome, f"entry {place}: {verdict.how}", verdict.values)
    return Verdict(True, "numeric" if any(v.how == "numeric" for v in verdicts) else "proved")


def _sets(expected: Any, given: Any, assumptions: _Assumptions, budget: Budget) -> Verdict:
    if not (isinstance(expected, FiniteSet) and isinstance(given, FiniteSet)):
        return _elsewhere("sets", expected, given, assumptions, budget)
    if len(expected.args) * len(given.args) > 400:
        return Verdict(None, "undecided: the sets are too large")
    table = [[compare(a, b, assumptions, budget) for b in given.args] for a in expected.args]
    columns = list(zip(*table, strict=True)) if table else [() for _ in given.args]
    for rows, whose, elements in (
        (table, "is missing", expected.args),
        (columns, "does not belong", given.args),
    ):
        for row, element in zip(rows, elements, strict=True):
            if not any(verdict.equal for verdict in row):
                unsure = any(verdict.equal is None for verdict in row)
                return Verdict(
                    None if unsure else False, f"{'undecided: ' * unsure}{element} {whose}"
                )
    proved = all(
        any(verdict == Verdict(True, "proved") for verdict in row) for row in (*table, *columns)
    )
    return Verdict(True, "proved" if proved else "numeric")


def _a(which: str) -> str:
    return f"an {which}" if which[0] in "aei" else f"a {which}"
