"""Values of expressions to any number of digits, with the size of everything met on the way.

Nothing is compiled or printed and read back: the tree is walked, and a value that would be too
large is refused before it is computed.
"""

from __future__ import annotations

import functools
import hashlib
import operator
import threading
from collections.abc import Callable, Mapping
from typing import Any

import sympy
from mpmath.ctx_mp import MPContext
from sympy.core.function import AppliedUndef

from autograder.algebra.building import chance
from autograder.algebra.building import functions as own
from autograder.algebra.building.elementary import (
    FUNCTIONS,
    LARGEST,
    Elementary,
    Undefined,
    Value,
    size_of,
)

__all__ = [
    "LARGEST",
    "Evaluator",
    "Undefined",
    "Value",
    "fixed_context",
    "shared_context",
    "value_at",
]

MAX_ADDED = 200  # of a sum with a running index
MAX_NODES_AT_POINT = 40_000  # nodes computed at one point
KEY_DIGITS = 20  # to which arguments must agree for an unknown function to be the same


_threads = threading.local()


def shared_context(digits: int) -> MPContext:
    """Return this thread's context, set to so many digits; making one takes milliseconds."""
    if not hasattr(_threads, "context"):
        _threads.context = MPContext()
    _threads.context.dps = digits
    return _threads.context


def fixed_context(digits: int) -> MPContext:
    """Return this thread's context for so many digits, which nobody sets to another number."""
    contexts: dict[int, MPContext] = _threads.__dict__.setdefault("fixed", {})
    if digits not in contexts:
        contexts[digits] = MPContext()
        contexts[digits].dps = digits
    return contexts[digits]


class Evaluator(Elementary):
    """The values of expressions at one point.

    Parameters
    ----------
    context : mpmath context
        Decides the number of digits.
    point : mapping of symbol to number
    mixed : bool
        Whether unknown functions may be negative; else all of them are positive.

    Attributes
    ----------
    real : bool
        Whether all numbers met were real: √a·√b = √(a·b) says something about real numbers where
        they are.
    work : int
        The number of nodes computed.
    entries : dict of str to number
        The entries of indexed names that were met and that no symbol stands for: ``x_3``.
    largest, smallest : int
        Bounds on the sizes met, 1 included, as powers of 2.  For `smallest` only constants and
        exponentials count: a sum may come out tiny by cancellation, and then its size means
        nothing.
    """

    def __init__(
        self, context: MPContext, point: Mapping[sympy.Symbol, Value], *, mixed: bool = False
    ) -> None:
        super().__init__(context)
        self.work = 0
        self.real = True
        self.entries: dict[str, Value] = {}
        self._mixed = mixed
        self._point = self._free = point
        self._known: dict[sympy.Expr, Value] = dict(point)

    def __call__(self, expr: sympy.Expr) -> Value:
        """Return the value of `expr`; raise `Undefined` where there is none."""
        value = self._known.get(expr)
        if value is None:
            self.work += 1
            if self.work > MAX_NODES_AT_POINT:
                raise Undefined("too much to compute")
            value = self._compute(expr)
            self.largest = max(self.largest, size_of(value))
            self.real = self.real and value.imag == 0
            self._known[expr] = value
        return value

    def _compute(self, expr: sympy.Expr) -> Value:
        if expr.is_Rational:
            return self._rational(expr)
        if way := _WAYS.get(type(expr)):
            return way(self, expr)
        if isinstance(expr, AppliedUndef):
            return self._unknown(expr.func.__name__, expr.args, positive=expr.is_positive)
        if isinstance(expr, sympy.Derivative) and isinstance(expr.expr, AppliedUndef):
            name = f"{expr.expr.func.__name__}'{expr.variables}"
            return self._unknown(name, expr.expr.args)
        function = FUNCTIONS.get(expr.func)
        if function is None:
            raise Undefined(str(expr.func))
        return function(self, *[self(argument) for argument in expr.args])

    def _rational(self, expr: sympy.Rational) -> Value:
        if expr.q == 1:
            return self.context.mpf(expr.p)
        self.smallest = min(self.smallest, 1 - expr.q.bit_length())  # 1 + 10⁻⁴⁰ is of size 1
        return self.context.mpf(expr.p) / expr.q

    def _sum(self, expr: sympy.Add) -> Value:
        return functools.reduce(operator.add, map(self, expr.args))

    def _product(self, expr: sympy.Mul) -> Value:
        return functools.reduce(operator.mul, map(self, expr.args))

    def _power(self, expr: sympy.Expr) -> Value:
        exponent = self(expr.exp)
        if self.context.re(exponent) < 0 and self._is_pole(expr.base):
            return self.context.mpf(0)
        base = self(expr.base)
        if base == 0:
            if self.context.re(exponent) <= 0:
                raise Undefined("0**0")
            return base
        if not expr.exp.is_Integer:
            whole = self.whole(exponent)
            if whole is None or base > 0 or abs(whole) > LARGEST:
                return self.exp(exponent * self.context.log(base))
            exponent = whole  # (-1)^n is a sign, with no trace of an angle
        if abs(exponent * self.context.log(abs(base))) > LARGEST:
            raise Undefined("power")
        return base ** int(exponent)

    def _is_pole(self, expr: sympy.Expr) -> bool:
        """Whether this is (-1)!, which makes 0 below a line: nobody chooses three out of two."""
        if not isinstance(expr, own.Factorial):
            return False
        return (self.whole(self(expr.args[0])) or 0) < 0

    def _running(self, expr: Any) -> Value:
        """Compute a sum or product over a running index, whose name is bound inside alone."""
        *within, (index, low, high) = expr.limits  # sympy writes a sum of a sum as one
        body = expr.func(expr.function, *within) if within else expr.function
        first, last = self.whole(self(low)), self.whole(self(high))
        if first is None or last is None or last - first >= MAX_ADDED:
            raise Undefined("range")
        total = self.context.mpf(isinstance(expr, sympy.Product))
        for value in range(first, last + 1):
            point = {**self._point, index: self.context.mpf(value)}
            inner = Evaluator(self.context, point, mixed=self._mixed)
            inner._free, inner.entries = self._free, self.entries
            inner.work, inner.largest, inner.smallest = self.work, self.largest, self.smallest
            term = inner(body)
            self.work, self.largest, self.smallest = inner.work, inner.largest, inner.smallest
            self.real = self.real and inner.real
            total = total * term if isinstance(expr, sympy.Product) else total + term
        return total

    def _indexed(self, expr: sympy.Indexed) -> Value:
        """Return the value of ``p_k``: that of the symbol ``p_2`` or ``p_i`` where k is 2 or i.

        The i of the symbol is a free one: in a sum over i, the term ``p_i`` is another thing.
        """
        base = str(expr.base)
        places = [self.whole(self(index)) for index in expr.indices]
        written = f"{base}{''.join(map(str, places))}"
        for symbol, value in self._free.items():
            if symbol.name.replace("_", "") == written:
                return value
            name, _, index = symbol.name.partition("_")
            if name == base and len(places) == 1:
                for other, at in self._free.items():
                    if other.name == index and at == places[0]:
                        return value
        entry = self._unknown(base, expr.indices, positive=expr.is_positive)
        if None not in places:
            self.entries["_".join([base, *map(str, places)])] = entry
        return entry

    def _unknown(self, name: str, arguments: Any, *, positive: bool | None = None) -> Value:
        """Compute a function of which nothing is known: some number for every argument."""
        values = [self.context.nstr(self(argument), KEY_DIGITS) for argument in arguments]
        key = f"{name}({', '.join(values)})".encode()
        digest = hashlib.blake2b(key, key=chance.SALT, digest_size=40).digest()
        size = self.context.mpf(int.from_bytes(digest)) / 2**319 + self.context.mpf(1) / 16
        return -size if self._mixed and not positive and digest[-1] % 2 else size


#: How a value is computed, by the class of an expression that is neither a number nor a function.
_WAYS: dict[type, Callable[[Evaluator, Any], Value]] = {
    sympy.Add: Evaluator._sum,
    sympy.Mul: Evaluator._product,
    sympy.Pow: Evaluator._power,
    sympy.Sum: Evaluator._running,
    sympy.Product: Evaluator._running,
    sympy.Indexed: Evaluator._indexed,
    sympy.exp: lambda at, expr: at.exp(at(expr.exp)),
    type(sympy.E): lambda at, _: at.exp(at.context.mpf(1)),
    type(sympy.pi): lambda at, _: +at.context.pi,
    type(sympy.I): lambda at, _: at.context.mpc(0, 1),
}


def value_at(expr: sympy.Expr, numbers: Mapping[str, float]) -> float:
    """Return the real value of ``expr`` where its symbols have these values, by name.

    Raises
    ------
    Undefined
        If there is none: a symbol has no number, an argument is out of range, or the value is
        not real.
    """
    free = {symbol.name: symbol for symbol in expr.free_symbols}
    if missing := sorted(free.keys() - numbers.keys()):
        raise Undefined(f"no number for {', '.join(missing)}")
    if expr.atoms(AppliedUndef):
        raise Undefined("a function that is not known")
    context = shared_context(30)
    point = {symbol: context.mpf(float(numbers[name])) for name, symbol in free.items()}
    value = Evaluator(context, point)(expr)
    if abs(context.im(value)) > context.mpf(10) ** -20 * max(1, abs(value)):
        raise Undefined("a complex value")
    return float(context.re(value))
