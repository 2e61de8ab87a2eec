"""Functions that sympy has too, but evaluates too early or at too great a cost."""

from __future__ import annotations

import math
from typing import Any

import sympy

MAX_FACTORIAL = 300


class Diff(sympy.Function):  # type: ignore[misc]  # sympy is untyped
    """A derivative as written, ``Diff(f, x, …)``; `carried_out` works it out.

    `sympy.Derivative` will not do: it makes ``Derivative(Z, z1)`` zero before ``Z`` is replaced
    by its definition.
    """


def delta(one: sympy.Expr, other: sympy.Expr) -> sympy.Expr:
    """Return 1 where two indices are the same, 0 where a number lies between them, else δ.

    sympy would look at what is assumed of them, too, of which a notebook knows nothing.

    >>> n = sympy.Symbol("n", positive=True)
    >>> delta(n, n + 1), delta(n, 0)
    (0, KroneckerDelta(0, n))
    """
    apart = sympy.expand(one - other)
    if apart.is_number:
        return sympy.Integer(apart == 0)
    first, second = sorted((one, other), key=sympy.default_sort_key)
    return sympy.KroneckerDelta(first, second, evaluate=False)


class Limit(sympy.Function):  # type: ignore[misc]
    """A limit as written, ``Limit(f, x, a, side)``; `carried_out` works it out."""

    def _sympystr(self, printer: Any) -> str:
        return f"limit({', '.join(printer.doprint(argument) for argument in self.args[:3])})"


class _Extremum(sympy.Function):  # type: ignore[misc]
    # sympy's Max compares every pair of arguments, which can take long or fail.
    sign: int

    @classmethod
    def eval(cls, *args: sympy.Expr) -> sympy.Expr | None:
        if all(argument.is_Rational for argument in args):
            return max(args) if cls.sign > 0 else min(args)
        ordered = tuple(sorted(set(args), key=sympy.default_sort_key))
        if len(ordered) == 1:
            return ordered[0]
        return cls(*ordered) if ordered != args else None

    def fdiff(self, argindex: int = 1) -> sympy.Expr:
        chosen = self.args[argindex - 1]
        others = [other for other in self.args if other != chosen]
        return math.prod(sympy.Heaviside(self.sign * (chosen - other)) for other in others)

    def _eval_is_extended_real(self) -> bool | None:
        return all(argument.is_extended_real for argument in self.args) or None


class _Hyperbolic(sympy.Function):  # type: ignore[misc]
    # Asked whether tanh(x) is real, sympy reduces the imaginary part of x modulo π, for which it
    # expands x: that can take for ever.
    odd: bool

    @classmethod
    def eval(cls, argument: sympy.Expr) -> sympy.Expr | None:
        if argument == 0:
            return sympy.Integer(0 if cls.odd else 1)
        if argument.could_extract_minus_sign():
            return -cls(-argument) if cls.odd else cls(-argument)
        return None

    def _eval_is_extended_real(self) -> bool | None:
        return self.args[0].is_extended_real or None


class sinh(_Hyperbolic):  # printed, and a name of mathematics
    """The hyperbolic sine."""

    odd = True

    def fdiff(self, *_index: int) -> sympy.Expr:
        """Return the derivative."""
        return cosh(self.args[0])


class cosh(_Hyperbolic):
    """The hyperbolic cosine."""

    odd = False

    def fdiff(self, *_index: int) -> sympy.Expr:
        """Return the derivative."""
        return sinh(self.args[0])


class tanh(_Hyperbolic):
    """The hyperbolic tangent."""

    odd = True

    def fdiff(self, *_index: int) -> sympy.Expr:
        """Return the derivative."""
        return 1 - self**2


class Max(_Extremum):
    """The largest of its arguments."""

    sign = 1


class Min(_Extremum):
    """The smallest of its arguments."""

    sign = -1


class Factorial(sympy.Function):  # type: ignore[misc]
    """The factorial; computed for small whole numbers alone."""

    @classmethod
    def eval(cls, argument: sympy.Expr) -> sympy.Expr | None:
        """Return the value for a small whole number."""
        if argument.is_Integer and 0 <= argument <= MAX_FACTORIAL:
            return sympy.Integer(math.factorial(int(argument)))
        return None


class _RealFunction(sympy.Function):  # type: ignore[misc]
    """A function of real numbers that is never evaluated by sympy."""

    def _eval_is_extended_real(self) -> bool | None:
        return True


class Floor(_RealFunction):
    """The largest whole number that is not larger."""

    def _eval_is_integer(self) -> bool | None:
        return self.args[0].is_real or None


class Ceiling(_RealFunction):
    """The smallest whole number that is not smaller."""

    def _eval_is_integer(self) -> bool | None:
        return self.args[0].is_real or None


class Atan2(_RealFunction):
    """The angle of the point (x, y), given as (y, x)."""


class _Inverse(sympy.Function):  # type: ignore[misc]
    def _eval_is_extended_real(self) -> bool | None:
        # Only the arc tangent is real wherever its argument is.
        return (type(self) is Atan and self.args[0].is_extended_real) or None


class Asin(_Inverse):
    """The arc sine."""

    def fdiff(self, *_index: int) -> sympy.Expr:
        """Return the derivative."""
        return 1 / sympy.sqrt(1 - self.args[0] ** 2)


class Acos(_Inverse):
    """The arc cosine."""

    def fdiff(self, *_index: int) -> sympy.Expr:
        """Return the derivative."""
        return -1 / sympy.sqrt(1 - self.args[0] ** 2)


class Atan(_Inverse):
    """The arc tangent."""

    def fdiff(self, *_index: int) -> sympy.Expr:
        """Return the derivative."""
        return 1 / (1 + self.args[0] ** 2)


class Erf(sympy.Function):  # type: ignore[misc]
    """The error function."""

    @classmethod
    def eval(cls, argument: sympy.Expr) -> sympy.Expr | None:
        """Return 0 at 0."""
        return argument if argument.is_zero else None

    def fdiff(self, *_index: int) -> sympy.Expr:
        """Return the derivative."""
        return 2 * sympy.exp(-(self.args[0] ** 2)) / sympy.sqrt(sympy.pi)

    def _eval_is_extended_real(self) -> bool | None:
        return self.args[0].is_extended_real or None


class Conjugate(sympy.Function):  # type: ignore[misc]
    """The complex conjugate."""


class RealPart(_RealFunction):
    """The real part of a complex number."""


class ImaginaryPart(_RealFunction):
    """The imaginary part of a complex number."""


class Vector(sympy.Symbol):  # type: ignore[misc]
    """A name that stands for a column of numbers."""


class Undeclared(sympy.Symbol):  # type: ignore[misc]
    """A name that stands for a number or a matrix: nobody has said which."""


class Permutation(sympy.Symbol):  # type: ignore[misc]
    """A name that stands for a permutation matrix."""


class RowWise(sympy.Function):  # type: ignore[misc]
    """``RowWise(S, X)``: a function S that does the same to each row of X.

    It treats the entries of a row alike: permuted rows or columns of X are those of S(X).
    """

    is_commutative = False

    def _sympystr(self, printer: Any) -> str:
        return f"{self.args[0]}({printer.doprint(self.args[1])})"


class Transpose(sympy.Function):  # type: ignore[misc]
    """The transpose of something whose entries are not known."""

    @classmethod
    def eval(cls, argument: sympy.Expr) -> sympy.Expr | None:
        """Push the transpose inwards, to the names."""
        if argument.is_commutative:
            return argument
        if isinstance(argument, Transpose):
            return argument.args[0]
        if argument.is_Add:
            return sympy.Add(*map(cls, argument.args))
        if argument.is_Mul:
            return sympy.Mul(*map(cls, reversed(argument.args)))
        if argument.is_Pow and argument.exp.is_Integer:
            return cls(argument.base) ** argument.exp
        return None

    def _sympystr(self, printer: Any) -> str:
        return f"transpose({printer.doprint(self.args[0])})"


class Norm(sympy.Function):  # type: ignore[misc]
    """The Euclidean norm of something whose entries are not known."""

    is_commutative = True
    is_extended_real = True

    @classmethod
    def eval(cls, argument: sympy.Expr) -> sympy.Expr | None:
        """Return the norm of a number; take numbers and signs out."""
        if argument.is_Rational:
            return sympy.Abs(argument)
        factor, rest = argument.as_coeff_Mul(rational=True)
        if factor != 1:
            return abs(factor) * cls(rest)
        return cls(-argument) if argument.could_extract_minus_sign() else None
