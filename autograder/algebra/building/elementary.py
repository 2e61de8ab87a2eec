"""Elementary functions of numbers of many digits, which note the sizes they meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy
from mpmath.ctx_mp import MPContext

from autograder.algebra.building import functions as own

LARGEST = 1000  # natural logarithm of the largest value that is worked with
MAX_ANGLE = 60  # digits before the point of the argument of a sine

Value = Any  # mpmath's mpf or mpc


class Undefined(Exception):
    """The expression has no value here, or one that is out of range."""


def size_of(value: Value) -> int:
    """Return the power of 2 above the size of a value; `Undefined` if it is infinite or none."""
    if hasattr(value, "_mpc_"):
        return max(size_of(value.real), size_of(value.imag))
    _sign, mantissa, exponent, bits = value._mpf_
    if mantissa:
        return int(exponent + bits)
    if exponent:
        raise Undefined("not a number")
    return -(10**9)


class Elementary:
    """Functions of numbers; `numeric.Evaluator` says what the attributes are."""

    def __init__(self, context: MPContext) -> None:
        self.context = context
        self.largest = self.smallest = 1

    def note(self, value: Value) -> Value:
        """Return a value whose size counts."""
        if value:
            self.smallest = min(self.smallest, size_of(value))
        return value

    def exp(self, value: Value) -> Value:
        """Return the exponential of a value that is not too large."""
        if abs(value) > LARGEST:
            raise Undefined("exp")
        return self.note(self.context.exp(value))

    def whole(self, value: Value) -> int | None:
        """Return a value as a whole number, None if it is none."""
        if self.context.im(value) != 0 or abs(value) > 10**9:
            return None
        nearest = int(self.context.nint(self.context.re(value)))
        close = abs(value - nearest) <= self.context.mpf(10) ** (10 - self.context.dps)
        return nearest if close else None

    def _log(self, value: Value) -> Value:
        if value == 0:
            raise Undefined("log")
        return self.context.log(value)

    def _cosh(self, value: Value) -> Value:
        return (self.exp(value) + self.exp(-value)) / 2

    def _sinh(self, value: Value) -> Value:
        return (self.exp(value) - self.exp(-value)) / 2

    def _tanh(self, value: Value) -> Value:
        # Through exponentials, so that the distance of tanh(100) from 1 is noted as a size.
        return self._sinh(value) / self._cosh(value)

    def _trigonometric(self, name: str, value: Value) -> Value:
        size = abs(value)
        if abs(self.context.im(value)) > LARGEST or size > self.context.mpf(10) ** MAX_ANGLE:
            raise Undefined(name)
        if size > 1:  # the fractional part of a large angle must be known to all digits
            self.largest = max(self.largest, size_of(size))
            self.note(1 / size)
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

    def _floor(self, value: Value, *, up: bool = False) -> Value:
        real = self._real(value)
        nearest = self.context.nint(real)  # n/3 + 2/3 is a whole number but for rounding
        if abs(real - nearest) <= self.context.mpf(10) ** (10 - self.context.dps) * (1 + abs(real)):
            return nearest
        return self.context.ceil(real) if up else self.context.floor(real)

    def _factorial(self, value: Value) -> Value:
        whole = self.whole(value)
        if abs(value) > 200 or (whole is not None and whole < 0):
            raise Undefined("factorial")
        return self.note(self.context.gamma(value + 1))

    def _bounded(self, name: str, value: Value) -> Value:
        if abs(value) > LARGEST:
            raise Undefined(name)
        return self.note(getattr(self.context, name)(value))

    def _same(self, left: Value, right: Value) -> Value:
        return self.context.mpf(self.whole(left - right) == 0)


FUNCTIONS: dict[Any, Callable[..., Value]] = {
    sympy.log: Elementary._log,
    own.cosh: Elementary._cosh,
    own.sinh: Elementary._sinh,
    own.tanh: Elementary._tanh,
    sympy.sin: lambda self, x: self._trigonometric("sin", x),
    sympy.cos: lambda self, x: self._trigonometric("cos", x),
    sympy.tan: lambda self, x: self._trigonometric("tan", x),
    sympy.Abs: Elementary._abs,
    sympy.sign: lambda self, x: self.context.sign(self._real(x)),
    sympy.Heaviside: Elementary._heaviside,
    own.Asin: lambda self, x: self._bounded("asin", x),
    own.Acos: lambda self, x: self._bounded("acos", x),
    own.Atan: lambda self, x: self._bounded("atan", x),
    own.Atan2: lambda self, y, x: self.context.atan2(self._real(y), self._real(x)),
    own.Erf: lambda self, x: self._bounded("erf", x),
    own.Floor: Elementary._floor,
    own.Ceiling: lambda self, x: self._floor(x, up=True),
    own.Factorial: Elementary._factorial,
    own.Conjugate: lambda self, x: self.context.conj(x),
    own.RealPart: lambda self, x: self.context.re(x),
    own.ImaginaryPart: lambda self, x: self.context.im(x),
    own.Norm: Elementary._abs,
    sympy.KroneckerDelta: Elementary._same,
    own.Max: lambda self, *xs: max(map(self._real, xs)),
    own.Min: lambda self, *xs: min(map(self._real, xs)),
}
