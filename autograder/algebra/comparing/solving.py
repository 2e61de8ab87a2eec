"""Comparisons that need sympy to solve or simplify: only ever run in the second process."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any

import sympy

from autograder.algebra.building import chance, composites
from autograder.algebra.building.functions import Max, Min
from autograder.algebra.building.numeric import Undefined
from autograder.algebra.comparing.equations import (
    NO_MULTIPLE,
    defined_everywhere,
    multiples,
    polynomials,
)
from autograder.algebra.comparing.equivalence import equal
from autograder.algebra.comparing.membership import Judge
from autograder.algebra.comparing.roots import boundaries, conditions, solved
from autograder.algebra.comparing.verdict import EVERYWHERE, Verdict

DRAWS = 4  # of the parameters of an equation or a set
POINTS = 60  # in several variables
LINES = 6  # through space, looked at as closely as one variable is
EXTREME = 10**20


def formulas(expected: Any, given: Any, _declared: str) -> Verdict:
    """Try to prove what agrees at all points tried, but is defined in pieces."""
    # sympy knows how its own functions bend; ours, which it does not, only stand for them.
    known = {Max: sympy.Max, Min: sympy.Min}
    difference = expected - given
    for ours, theirs in known.items():
        difference = difference.replace(ours, theirs)
    for attempt in (sympy.simplify, lambda d: sympy.simplify(d.rewrite(sympy.Piecewise))):
        if attempt(difference) == 0:
            return Verdict(True, "proved")
    return Verdict(None, "undecided: equal at the points tried, but defined in pieces")


def sets(expected: Any, given: Any, _declared: str) -> Verdict:
    """Compare two sets at the ends of their parts and between these."""
    symbols = sorted(expected.free_symbols | given.free_symbols, key=str)
    compared = 0
    for _ in range(4 * DRAWS):
        point = {symbol: _number(symbol) for symbol in symbols}
        judge = Judge(point)
        try:
            if verdict := _nearly_the_same_ends(judge, expected, given, point):
                return verdict
            ends = sorted(judge.ends(expected) + judge.ends(given))
            between = [(a + b) / 2 for a, b in itertools.pairwise(ends) if not judge.same(a, b)]
            outside = [ends[0] - 1, ends[-1] + 1] if ends else [judge.context.mpf(0)]
            for number in (*ends, *between, *outside):
                if judge.contains(expected, number) != judge.contains(given, number):
                    shown = judge.context.nstr(number, 6)
                    return Verdict(False, f"refuted at {_written(point)}: {shown} is in one alone")
        except (Undefined, ArithmeticError, ValueError, TypeError):
            continue
        compared += 1
        if compared == DRAWS or not symbols:
            return Verdict(True, "numeric" if symbols else "proved")
    return Verdict(None, "undecided: too few points could be computed")


def _nearly_the_same_ends(
    judge: Judge, expected: Any, given: Any, point: dict[Any, Any]
) -> Verdict | None:
    """Compare exactly the ends that numbers of many digits cannot tell apart; None if all agree."""
    for one, other in itertools.product(_ends(expected), _ends(given)):
        one, other = (end.xreplace(point) for end in (one, other))
        if one != other and judge.same(judge.value(one), judge.value(other)):
            verdict = equal(one, other)
            if not verdict.equal:
                return verdict
    return None


def _ends(whole: Any) -> list[sympy.Expr]:
    if isinstance(whole, composites.FiniteSet):
        return list(whole.args)
    if isinstance(whole, composites.Interval):
        return [end for end in whole.args[:2] if end.is_finite is not False]
    return [end for part in whole.args for end in _ends(part)]


def statements(expected: Any, given: Any, declared: str) -> Verdict:
    """Compare equations, inequalities and what is made of them."""
    if isinstance(expected, composites.FiniteSet) or isinstance(given, composites.FiniteSet):
        return Verdict(False, "a set instead of a statement")
    if expected == given:
        return Verdict(True, "proved")
    if _extremes(expected) != _extremes(given):
        return Verdict(None, "undecided: there are extreme numbers")
    one, other = _zero(expected), _zero(given)
    if one is not None and other is not None:
        return _equations(expected, given, one, other, declared)
    return _truths(expected, given)


def _extremes(statement: Any) -> set[sympy.Rational]:
    """Return the numbers that are lost beside others when a statement is judged by numbers."""
    numbers = (abs(number) for number in statement.atoms(sympy.Rational) if number)
    return {n for n in numbers if n > EXTREME or n * EXTREME < 1}


def _zero(statement: Any) -> sympy.Expr | None:
    """Return an expression that is zero where `statement` holds; None if there is none."""
    if isinstance(statement, sympy.Eq):
        if not isinstance(statement.lhs, sympy.Expr) or not isinstance(statement.rhs, sympy.Expr):
            return None
        difference = statement.lhs - statement.rhs
        if _highest_power(difference) > 60:
            return difference
        return _numerator(difference)
    if isinstance(statement, composites.Disjunction):
        factors = [_zero(part) for part in statement.args]
        return None if None in factors else sympy.Mul(*factors)
    return {sympy.true: sympy.S.Zero, sympy.false: sympy.S.One}.get(statement)


def _numerator(difference: sympy.Expr) -> sympy.Expr:
    """Return what is above the line, without its zeros at which there is also one below."""
    above, below = sympy.fraction(sympy.together(difference))
    while polynomials(above, below) and below.free_symbols:
        common = sympy.gcd(above, below)
        if not common.free_symbols:
            break
        above = sympy.cancel(above / common)
    return above


def _highest_power(expr: sympy.Expr) -> int:
    powers = (power.exp for power in expr.atoms(sympy.Pow) if power.exp.is_Integer)
    return max(map(abs, powers), default=0)


def _equations(expected: Any, given: Any, one: Any, other: Any, declared: str) -> Verdict:
    verdict = multiples(one, other)
    if verdict is NO_MULTIPLE:
        if not declared and polynomials(one, other):
            return Verdict(False, "the solutions differ, or how often each occurs")
        return _same_solutions(expected, given, one, other)
    if verdict.equal and not (defined_everywhere(one) and defined_everywhere(other)):
        # Where one is defined and the other is not, one of them may have more solutions.
        with contextlib.suppress(NotImplementedError):
            solutions = _same_solutions(expected, given, one, other)
            return solutions if solutions.equal is False else verdict
    return verdict


def _same_solutions(expected: Any, given: Any, one: Any, other: Any) -> Verdict:
    common = sorted(one.free_symbols & other.free_symbols, key=str)
    symbols = one.free_symbols | other.free_symbols
    met = 0
    for variable, _ in itertools.product(common[:2], range(2 if len(symbols) > 1 else 1)):
        point = {symbol: _number(symbol) for symbol in symbols - {variable}}
        for zero, here, there in ((one, expected, given), (other, given, expected)):
            for root in solved(zero.xreplace(point), variable):
                if not _fits(variable, root):
                    continue
                judge = Judge({**point, variable: root})
                if not judge.holds(here):
                    continue  # came in by clearing denominators
                if not judge.holds(there):
                    shown = _written({**point, variable: root})
                    return Verdict(False, f"refuted at {shown}: solves one alone")
                met += 1
    if met:
        return Verdict(True, "numeric")
    return Verdict(None, "undecided: no solution was found")


def _truths(expected: Any, given: Any) -> Verdict:
    symbols = sorted(expected.free_symbols | given.free_symbols, key=str)
    propositions = [s for s in symbols if _is_proposition(s, expected) or _is_proposition(s, given)]
    if propositions:
        if len(propositions) != len(symbols) or len(symbols) > 10:
            return Verdict(None, "undecided: names and statements are mixed")
        cases = itertools.product((1, -1), repeat=len(symbols))
        points: Any = [dict(zip(symbols, case, strict=True)) for case in cases]
    elif len(symbols) <= 1:
        points = _on_a_line(symbols, expected, given)
    else:
        points = _in_space(symbols, expected, given)
        if points is None:
            return Verdict(None, "undecided: the equations could not be solved")
    seen = set()
    for point in points:
        judge = Judge(point)
        answers = judge.holds(expected), judge.holds(given)
        if answers[0] != answers[1]:
            return Verdict(False, f"refuted at {_written(point)}: one holds, the other does not")
        seen.add(answers[0])
    if len(seen) < 2 and len(symbols) > 1 and not propositions:
        return Verdict(None, "undecided: no point was found at which the statements hold")
    return Verdict(True, "proved" if propositions else "numeric")


def _is_proposition(symbol: sympy.Symbol, statement: Any) -> bool:
    if isinstance(statement, composites.Conjunction | composites.Disjunction | composites.Negation):
        return any(_is_proposition(symbol, part) for part in statement.args)
    return bool(statement == symbol)


def _on_a_line(symbols: list[Any], expected: Any, given: Any) -> list[dict[Any, Any]]:
    """Points at every bend and zero, between them, and far away."""
    if not symbols:
        return [{}]
    (symbol,) = symbols
    found = boundaries(expected, symbol) + boundaries(given, symbol)
    found = sorted({sympy.Rational(str(sympy.N(value, 40))) for value in found})
    exact = boundaries(expected, symbol) + boundaries(given, symbol)
    between = [(a + b) / 2 for a, b in itertools.pairwise(found)]
    far = [found[0] - 1, found[-1] + 1, found[0] - 10**6, found[-1] + 10**6] if found else [0]
    points = [*exact, *between, *far, *(_number(symbol) for _ in range(POINTS))]
    allowed = (v for v in points if not (symbol.is_positive and v <= 0))
    return [{symbol: value} for value in allowed]


def _in_space(symbols: list[Any], expected: Any, given: Any) -> list[dict[Any, Any]] | None:
    """Random points, and points at which the equations of one side hold."""
    points = [{symbol: _number(symbol) for symbol in symbols} for _ in range(POINTS)]
    for i in range(LINES):
        points += _along_a_line(symbols, expected, given, through_zero=i % 2 == 0)
    for statement in (expected, given):
        for equations in conditions(statement):
            if not equations:
                continue
            solutions = sympy.solve(equations, symbols, dict=True)
            for solution, _ in itertools.product(solutions, range(2)):
                free = {s: _number(s) for s in symbols if s not in solution}
                values = {s: value.xreplace(free) for s, value in solution.items()}
                if all(not v.free_symbols and _fits(s, v) for s, v in values.items()):
                    points.append({**free, **values})
    return points


def _along_a_line(
    symbols: list[Any], expected: Any, given: Any, *, through_zero: bool
) -> list[dict[Any, Any]]:
    """Points on a line through space: at every bend and zero on it, and between them."""
    place = sympy.Dummy(real=True)
    start = {s: sympy.S.Zero if through_zero else _number(s) for s in symbols}
    line = {s: _number(s) if s.is_integer else start[s] + place * _number(s) for s in symbols}
    found = []
    for statement in (expected, given):
        with contextlib.suppress(NotImplementedError, ValueError, sympy.PolynomialError):
            found += boundaries(statement.xreplace(line), place)
    ends = sorted({sympy.Rational(str(sympy.N(value, 60))) for value in found})
    places = [*ends, *((a + b) / 2 for a, b in itertools.pairwise(ends))]
    points = [{s: value.xreplace({place: at}) for s, value in line.items()} for at in places]
    return [point for point in points if all(_fits(s, value) for s, value in point.items())]


def _fits(symbol: sympy.Symbol, value: sympy.Expr) -> bool:
    if symbol.is_real and value.is_real is False:
        return False
    return not (symbol.is_positive and value.is_positive is False)


def _number(symbol: sympy.Symbol) -> sympy.Rational:
    """Draw a number that lies on no decimal grid."""
    if symbol.is_integer:
        return sympy.Integer(chance.draw.randint(1, 12))
    size = sympy.Rational(chance.draw.randint(1, 4000), 997)
    positive = symbol.is_nonnegative or chance.draw.random() < 0.5
    return size if positive and not symbol.is_negative else -size


def _written(point: dict[Any, Any]) -> str:
    shown = (f"{symbol}={sympy.N(value, 4)}" for symbol, value in point.items())
    return ", ".join(shown) or EVERYWHERE
