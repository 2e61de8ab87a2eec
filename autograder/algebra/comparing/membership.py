"""Whether a statement holds, or a number lies in a set, at one point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from autograder.algebra.building import composites
from autograder.algebra.building.numeric import Evaluator, Undefined, shared_context

DIGITS = 50
NOISE = 30  # numbers that agree to so many digits are the same


class Judge:
    """What holds at a point.

    Parameters
    ----------
    point : mapping of symbol to number
    """

    def __init__(self, point: Mapping[sympy.Symbol, Any]) -> None:
        self.context = shared_context(DIGITS)
        numbers = Evaluator(self.context, {})
        self.point = {
            symbol: numbers(value) if isinstance(value, sympy.Basic) else self.context.mpf(value)
            for symbol, value in point.items()
        }

    def value(self, expr: sympy.Expr) -> Any:
        """Return the value of `expr`, a real number where it is one; `Undefined` where none."""
        if expr in (sympy.oo, -sympy.oo):
            return self.context.mpf("inf" if expr is sympy.oo else "-inf")
        value = Evaluator(self.context, self.point)(expr)
        return self.context.chop(value, self.context.mpf(10) ** -NOISE * (1 + abs(value)))

    def same(self, left: Any, right: Any) -> bool:
        """Whether two numbers are equal but for rounding."""
        if self.context.isinf(left) or self.context.isinf(right):
            return bool(left == right)
        size = max(1, abs(left), abs(right))
        return bool(abs(left - right) <= size * self.context.mpf(10) ** -NOISE)

    def holds(self, statement: Any) -> bool:
        """Whether `statement` is true; one that has no value is false."""
        if statement in (sympy.true, sympy.false):
            return bool(statement)
        if isinstance(statement, composites.Conjunction):
            return all(map(self.holds, statement.args))
        if isinstance(statement, composites.Disjunction):
            return any(map(self.holds, statement.args))
        if isinstance(statement, composites.Negation):
            return not self.holds(statement.args[0])
        if statement.is_Symbol:
            return bool(self.point[statement] > 0)
        if statement == composites.FiniteSet():
            return False  # no solutions
        try:
            left, right = self.value(statement.lhs), self.value(statement.rhs)
        except (Undefined, ArithmeticError, ValueError):
            return False
        same = self.same(left, right)
        if isinstance(statement, sympy.Eq | sympy.Ne):
            return same == isinstance(statement, sympy.Eq)
        if self.context.im(left) or self.context.im(right):
            return False
        if isinstance(statement, sympy.Le | sympy.Ge) and same:
            return True
        less = isinstance(statement, sympy.Lt | sympy.Le)
        return not same and bool(left < right if less else left > right)

    def contains(self, whole: Any, number: Any) -> bool:
        """Whether `number` lies in the set `whole`."""
        if isinstance(whole, composites.FiniteSet):
            return any(self.same(self.value(element), number) for element in whole.args)
        if isinstance(whole, composites.Union):
            return any(self.contains(part, number) for part in whole.args)
        if isinstance(whole, composites.Intersection):
            return all(self.contains(part, number) for part in whole.args)
        if isinstance(whole, composites.Difference):
            return self.contains(whole.args[0], number) and not self.contains(whole.args[1], number)
        low, high = map(self.value, whole.args[:2])
        for end, is_open in ((low, whole.args[2]), (high, whole.args[3])):
            if self.same(end, number):
                return not is_open and not self.context.isinf(end)
        return bool(low < number < high)

    def ends(self, whole: Any) -> list[Any]:
        """Return the finite numbers at which something may begin or end."""
        if isinstance(whole, composites.FiniteSet):
            values = [self.value(element) for element in whole.args]
        elif isinstance(whole, composites.Interval):
            values = [self.value(end) for end in whole.args[:2]]
        else:
            values = [end for part in whole.args for end in self.ends(part)]
        return [value for value in values if not self.context.isinf(value)]
