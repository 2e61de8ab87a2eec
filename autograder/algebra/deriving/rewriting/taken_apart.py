"""What goes out of a line again once its sums are taken apart: terms, factors, and given ones."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

import sympy

from autograder.algebra.building.sizes import is_larger
from autograder.algebra.deriving.lines.bars import rebuilt
from autograder.algebra.deriving.lines.inert import Total, unnamed
from autograder.algebra.deriving.lines.world import World
from autograder.algebra.deriving.rewriting import calculus

MAX_NODES = 400
_ONE = sympy.Symbol("given to be 1")


def pads(
    before: sympy.Expr, line: sympy.Expr, world: World, ones: Collection[sympy.Expr] = ()
) -> bool:
    """Whether a line is another one, and beside it what goes out once sums are taken apart.

    ``sum(x_k + y_k, k) - sum(y_k, k)`` is ``sum(x_k, k)``, and ``sum(2*x_k, k)/2`` is; so is what
    is multiplied by one of the `ones`, wherever it stands; in place of a 1 it may be of use.  To a
    number all may lead.
    """
    if not _can_be_taken_apart(before, line):
        return False
    if before.is_number or not line.has(Total) or unnamed(before) == unnamed(line):
        return False
    known = frozenset(map(unnamed, ones))
    padded = _apart(line, world, known)
    if not padded.gone:
        return False
    plain = _apart(before, world, known)
    same = plain.expr == padded.expr and padded.cancels <= plain.cancels
    return bool(same and padded.gone > plain.gone)


def are_alike(one: sympy.Expr, other: sympy.Expr, world: World) -> bool:
    """Whether two lines are the same once brackets and sums are taken apart."""
    if not _can_be_taken_apart(one, other):
        return False
    sides = [_apart(e, world) for e in (one, other)]
    return bool(sides[0].expr == sides[1].expr and sides[0].cancels == sides[1].cancels)


def _can_be_taken_apart(*sides: sympy.Basic) -> bool:
    """Whether some lines are formulas of numbers, and small enough."""
    return all(
        isinstance(e, sympy.Expr) and e.is_commutative and not is_larger(e, MAX_NODES)
        for e in sides
    )


def _apart(e: sympy.Expr, world: World, ones: frozenset[sympy.Expr] = frozenset()) -> _Apart:
    """Take an expression apart; a line is held against many others."""
    found: _Apart = world.remembered(("apart", e, ones), lambda: _Apart(e, world, ones))
    return found


class _Apart:
    """An expression with one sum for each term, and how much went out on the way.

    That a factor cancels, which stood in a sum, is more than that: a step may be done for it.
    """

    def __init__(
        self, e: sympy.Expr, world: World, ones: Collection[sympy.Expr] = frozenset()
    ) -> None:
        self.world = world
        self.ones = ones
        self.gone = 0
        self.cancels = False
        self.expr = unnamed(_expanded(self.of(e).subs(_ONE, 1)))

    def of(self, e: sympy.Expr) -> sympy.Expr:
        """Take the sums in an expression apart."""
        if not (e.args and e.has(Total)):
            return e
        if isinstance(e, Total):
            body, *bound = e.args
            return self._added(self._terms(self.of(body), bound))
        args = [self.of(a) for a in e.args]
        if e.is_Add:
            return self._added(args)
        if e.is_Mul:
            return self._multiplied(args)
        if e.is_Pow and args[0] == _ONE:
            return _ONE
        if e.is_Pow and args[0].is_Add and args[1].is_Integer:
            number, rest = args[0].primitive()
            return number ** args[1] * rest ** args[1]
        return rebuilt(e, args)

    def _terms(self, body: sympy.Expr, bound: Sequence[sympy.Expr]) -> list[sympy.Expr]:
        """Return the sum of each term, without what is the same for each index."""
        k, low, high = bound
        found = []
        for term in sympy.Add.make_args(_expanded(body)):
            fixed, rest = term.as_independent(k, as_Add=False)
            total = calculus.contraction(Total(rest, *bound), self.world)
            if not rest.has(k):
                total = high - low + 1
            total = unnamed(total)
            if total in self.ones:
                total = _ONE
            found.append(self._multiplied([fixed, total]))
        return found

    def _added(self, terms: Sequence[sympy.Expr]) -> sympy.Expr:
        """Add up; a term goes out where there is another one that is a multiple of it."""
        if len(terms) == 1:
            return terms[0]
        alike: Counter[sympy.Expr] = Counter()
        count = 0
        for term in terms:
            for part in sympy.Add.make_args(_expanded(term.subs(_ONE, 1))):
                number, rest = part.as_coeff_Mul()
                alike[rest] += number
                count += 1
        total = sympy.Add(*(number * rest for rest, number in alike.items()))
        self.gone += count - sum(number != 0 for number in alike.values())
        return total

    def _multiplied(self, factors: Sequence[sympy.Expr]) -> sympy.Expr:
        """Multiply; a number goes out where another one is divided by it, and a one anywhere."""
        others = [factor for factor in factors if factor != _ONE]
        if not all(factor.is_number for factor in others) or len(factors) - len(others) > 1:
            self.gone += len(factors) > len(others)
            factors = others
        signs: dict[sympy.Expr, set[bool]] = defaultdict(set)
        above, below = [], []
        for factor in factors:
            number, rest = factor.as_coeff_Mul(rational=True)
            above.append(number.p)
            below.append(number.q)
            for base, exponent in rest.as_powers_dict().items():
                signs[base].add(exponent.could_extract_minus_sign())
        self.gone += any(
            math.gcd(p, q) > 1 for i, p in enumerate(above) for j, q in enumerate(below) if i != j
        )
        self.cancels |= any(len(both) > 1 for both in signs.values())
        return _expanded(sympy.Mul(*factors))


def _expanded(e: sympy.Expr) -> sympy.Expr:
    """Multiply out, and leave exponents, roots and logarithms as they are."""
    return sympy.expand(e, power_exp=False, power_base=False, log=False)
