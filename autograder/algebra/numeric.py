"""Values of expressions to any number of digits, with the size of everything met on the way.

Nothing is compiled or printed and read back: the tree is walked, and a value that would be too
large is refused before it is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy
from mpmath.ctx_mp import MPContext

from autograder.algebra.functions import Max, Min, cosh, sinh, tanh

LARGEST = 1000  # natural logarithm of the largest value that is worked with

Value = Any  # mpmath's mpf or mpc


class Undefined(Exception):
    """The expression has no value here, or one that is out of range."""


class Evaluator:
    """The values of expressions at one point.

    Parameters
    ----------
    context : mpmath context
        Decides the number of digits.
    point : mapping of symbol to number

    Attributes
    ----------
    work : int
        The number of nodes computed.
    largest, smallest : mpmath number
        Bounds on the sizes met, 1 included.  For `smallest` only constants and exponentials count:
        a sum may come out tiny by cancellation, and then its size means nothing.
    """

    def __init__(self, context: MPContext, point: Mapping[sympy.Symbol, Value]) -> None:
        self.context = context
        self.work = 0
        self.largest = self.smallest = context.mpf(1)
        self._known: dict[sympy.Expr, Value] = dict(point)

    def __call__(self, expr: sympy.Expr) -> Value:
        """Return the value of `expr`; raise `Undefined` where there is none."""
        if expr not in self._known:
            value = self._compute(expr)
            self.work += 1
            if not self.context.isfinite(value):
                raise Undefined(str(expr.func))
            self._known[expr] = value
            self.largest = max(self.largest, abs(value))
        return self._known[expr]

    def _compute(self, expr: sympy.Expr) -> Value:
        context = self.context
        if expr.is_Rational:
            self._note(context.mpf(1) / expr.q)  # 1 + 10⁻⁴⁰ is one number, of size 1
            return context.mpf(expr.p) / expr.q
        if expr.is_Add:
            return context.fsum([self(argument) for argument in expr.args])
        if expr.is_Mul:
            return context.fprod([self(argument) for argument in expr.args])
        if expr is sympy.I:
            return context.mpc(0, 1)
        if expr is sympy.pi:
            return +context.pi
        if expr is sympy.E:
            return self._exp(context.mpf(1))
        if isinstance(expr, sympy.exp):
            return self._exp(self(expr.exp))
        if expr.is_Pow:
            return self._power(expr)
        function = _FUNCTIONS.get(expr.func)
        if function is None:
            raise Undefined(str(expr.func))
        return function(self, *[self(argument) for argument in expr.args])

    def _note(self, value: Value) -> Value:
        if value:
            self.smallest = min(self.smallest, abs(value))
        return value

    def _exp(self, value: Value) -> Value:
        if abs(value) > LARGEST:
            raise Undefined("exp")
        return self._note(self.context.exp(value))

    def _power(self, expr: sympy.Expr) -> Value:
        base, exponent = self(expr.base), self(expr.exp)
        if base == 0:
            if self.context.re(exponent) <= 0:
                raise Undefined("0**0")
            return base
        if not expr.exp.is_Integer:
            return self._exp(exponent * self.context.log(base))
        if abs(exponent * self.context.log(abs(base))) > LARGEST:
            raise Undefined("power")
        return base ** int(expr.exp)

    def _log(self, value: Value) -> Value:
        if value == 0:
            raise Undefined("log")
        return self.context.log(value)

    def _cosh(self, value: Value) -> Value:
        return (self._exp(value) + self._exp(-value)) / 2

    def _sinh(self, value: Value) -> Value:
        return (self._exp(value) - self._exp(-value)) / 2

    def _tanh(self, value: Value) -> Value:
        # Through exponentials, so that the distance of tanh(100) from 1 is noted as a size.
        return self._sinh(value) / self._cosh(value)

    def _trigonometric(self, name: str, value: Value) -> Value:
        if abs(self.context.im(value)) > LARGEST:
            raise Undefined(name)
        return getattr(self.context, name)(value)

    def _abs(self, value: Value) -> Value:
        return abs(value)

    def _real(self, value: Value) -> Value:
        if self.context.im(value) != 0:
            raise Undefined("order of complex numbers")
        return self.context.re(value)

    def _heaviside(self, value: Value, at_zero: Value) -> Value:
        sign = self.context.sign(self._real(value))
        return at_zero if sign == 0 else (sign + 1) / 2


_FUNCTIONS: dict[Any, Callable[..., Value]] = {
    sympy.log: Evaluator._log,
    cosh: Evaluator._cosh,
    sinh: Evaluator._sinh,
    tanh: Evaluator._tanh,
    sympy.sin: lambda self, x: self._trigonometric("sin", x),
    sympy.cos: lambda self, x: self._trigonometric("cos", x),
    sympy.tan: lambda self, x: self._trigonometric("tan", x),
    sympy.Abs: Evaluator._abs,
    sympy.sign: lambda self, x: self.context.sign(self._real(x)),
    sympy.Heaviside: Evaluator._heaviside,
    Max: lambda self, *xs: max(map(self._real, xs)),
    Min: lambda self, *xs: min(map(self._real, xs)),
}
