"""Exact proofs that an expression is zero, in bounded time.

The expression is written as a rational function: ``exp(2*z1 - z2)`` becomes ``u**2/v``, the sine
becomes ``(w - 1/w)/(2*I)``, ``sqrt(d)`` a root ``r`` with ``r**2 = d``, and whatever is left (a
logarithm, an absolute value) a variable of its own.  If the numerator of that function is zero,
the expression is zero wherever it is defined.  Full simplification, which may run for ever, is
never asked for.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from typing import Any, NamedTuple

import sympy
from sympy.polys.domains import QQ
from sympy.polys.orderings import lex
from sympy.polys.rings import PolyRing

from autograder.algebra.building.functions import cosh, sinh, tanh
from autograder.algebra.building.sizes import is_larger

MAX_VARIABLES = 24
MAX_PRODUCTS = 200_000  # products of two terms
MAX_MULTIPLIED_POWER = 2000
MAX_EXPONENT_TERMS = 64
MAX_FACTORED = 60  # nodes of what is factored
MAX_FACTORED_SYMBOLS = 2
MAX_SIGN_DEGREE = 6

Polynomial = Any
# A quantity u and the power of it: exp(2*z1 - z2) is {(E, z1): 2, (E, z2): -1}.
Unit = tuple[sympy.Expr, sympy.Expr]
Powers = dict[Unit, sympy.Rational]
_I: Unit = (sympy.I, sympy.S.One)
_VARIABLES = sympy.symbols(f"u:{MAX_VARIABLES}")


def is_zero(expr: sympy.Expr) -> bool:
    """Whether `expr` is proved to be zero; False says that no proof was found.

    >>> x = sympy.Symbol("x", real=True)
    >>> is_zero(sympy.exp(x) / (1 + sympy.exp(x)) - 1 / (1 + sympy.exp(-x)))
    True
    """
    if expr.has(sympy.log):
        expr = sympy.expand_log(expr)
        # exp(-(c*log(Z) - 1)/c) holds 1/Z: sympy sees it in a sum, and not in a bracket.
        expr = expr.replace(sympy.exp, lambda inner: sympy.exp(sympy.expand_mul(inner)))
    expr = expr.replace(_is_root_of_sum, _root)
    if expr.has(sympy.Abs):
        expr = expr.replace(sympy.Abs, _absolute)
    try:
        return _Field(expr).is_zero(expr)
    except _TooLarge:
        return False


def _is_root_of_sum(expr: sympy.Expr) -> bool:
    """Whether this is a root that may have to be taken out of: √(w²x² + w²y²) is w√(x² + y²)."""
    return bool(expr.is_Pow and expr.exp.is_Rational and expr.exp.q > 1 and expr.base.is_Add)


def _root(root: sympy.Expr) -> sympy.Expr:
    """Take out of a root what is positive and common to all terms under it."""
    terms = [
        dict(factor.as_base_exp() for factor in sympy.Mul.make_args(term))
        for term in root.base.args
    ]
    common = sympy.Mul(
        *(
            base ** min(term[base] for term in terms)
            for base in set.intersection(*map(set, terms))
            if base.is_positive and all(term[base].is_Rational for term in terms)
        )
    )
    if common.is_Rational:
        return root
    inner = sympy.Add(*(term / common for term in root.base.args))
    return common**root.exp * inner**root.exp


def split_sums(expr: sympy.Expr) -> sympy.Expr:
    """Write each sum term by term, without what does not depend on its index.

    Sums that then differ by the name of the index alone are one; of others nothing is known.

    >>> k, j, n, c = sympy.symbols("k j n c")
    >>> split_sums(sympy.Sum(c * k**2 + 1, (k, 1, n)) - c * sympy.Sum(j**2, (j, 1, n)))
    n
    """
    return expr.replace(sympy.Sum, _term_by_term).as_dummy()


def _term_by_term(inner: sympy.Expr, *limits: sympy.Tuple) -> sympy.Expr:
    if len(limits) > 1 or is_larger(inner, MAX_FACTORED):
        return sympy.Sum(inner, *limits)
    index, low, high = limits[0]
    count = high - low + 1 if low in (0, 1) else sympy.Sum(1, limits[0])  # it may be empty
    total = []
    for term in sympy.Add.make_args(sympy.expand_mul(inner)):
        factor, rest = term.as_independent(index, as_Add=False)
        total.append(factor * (count if rest == 1 else sympy.Sum(rest, limits[0])))
    return sympy.Add(*total)


@functools.cache  # making one compiles code
def _ring(variables: int) -> PolyRing:
    return PolyRing(_VARIABLES[:variables], QQ, lex)


def _absolute(inner: sympy.Expr) -> sympy.Expr:
    """Write |x² − 1| as |x − 1| |x + 1|, each factor with one sign for ±f."""
    symbols = inner.free_symbols
    small = 0 < len(symbols) <= MAX_FACTORED_SYMBOLS and not is_larger(inner, MAX_FACTORED)
    if not (small and inner.is_extended_real and _degree(inner) <= MAX_SIGN_DEGREE):
        return sympy.Abs(inner, evaluate=False)
    if (whole := sympy.expand(inner)).is_number:  # 0 in disguise has no factors
        return abs(whole)
    number, factors = sympy.factor_list(inner)
    even = [factor**power for factor, power in factors if power % 2 == 0]
    odd = [
        factor ** (power - 1) * sympy.Abs(factor, evaluate=False)
        for factor, power in factors
        if power % 2
    ]
    return sympy.Mul(abs(number), *even, *odd)


def _degree(expr: sympy.Expr) -> float:
    """Return a bound on the degree of a polynomial; infinite for anything else."""
    if expr.is_Symbol or expr.is_Rational:
        return int(expr.is_Symbol)
    if expr.is_Add:
        return max(map(_degree, expr.args))
    if expr.is_Mul:
        return sum(map(_degree, expr.args))
    if expr.is_Pow and expr.exp.is_Integer and expr.exp > 0:
        return int(expr.exp) * _degree(expr.base)
    return math.inf


class _TooLarge(Exception):
    pass


class _Fraction(NamedTuple):
    """A polynomial over a product of powers of polynomials; common factors are left alone."""

    numerator: Polynomial
    denominator: dict[Polynomial, int]


class _Field:
    """The rational functions in which an expression can be written."""

    def __init__(self, expr: sympy.Expr) -> None:
        self._fineness: dict[Unit, int] = {}  # a unit's variable is its fineness-th root
        self._collect(expr)
        if len(self._fineness) > MAX_VARIABLES:
            raise _TooLarge
        self._ring = _ring(len(self._fineness))
        self._variables = dict(zip(self._fineness, self._ring.gens, strict=True))
        self._work = 0

    def is_zero(self, expr: sympy.Expr) -> bool:
        numerator = self._write(expr).numerator
        for unit in reversed(self._fineness):  # a root before the roots under it
            numerator = self._without_roots(numerator, unit)
        return not numerator

    def _collect(self, expr: sympy.Expr) -> None:
        if expr.is_Rational:
            return
        if expr.is_Add or expr.is_Mul:
            for argument in expr.args:
                self._collect(argument)
        elif expr.is_Pow and expr.exp.is_Integer:
            self._collect(expr.base)
        else:
            if expr.is_Pow:
                self._collect(expr.base)
            elif _is_size(expr):
                self._collect(expr.args[0])
            for unit, power in _powers(expr).items():
                self._fineness[unit] = math.lcm(self._fineness.get(unit, 1), power.q)
            if expr.func in _TRIGONOMETRIC:
                self._fineness.setdefault(_I, 1)

    def _write(self, expr: sympy.Expr) -> _Fraction:
        if expr.is_Rational:
            return self._number(expr.p, expr.q)
        if expr.is_Add:
            return functools.reduce(self._add, map(self._write, expr.args))
        if expr.is_Mul:
            return functools.reduce(self._multiply, map(self._write, expr.args))
        if expr.is_Pow and expr.exp.is_Integer:
            return self._raise(self._write(expr.base), int(expr.exp))
        powers = _powers(expr)
        if expr.func not in _TRIGONOMETRIC + _HYPERBOLIC:
            return self._product(powers)
        up, down = self._product(powers), self._product(powers, -1)
        double_cosine = self._add(up, down)
        double_sine = self._add(up, self._multiply(self._number(-1), down))
        if expr.func in _TRIGONOMETRIC:
            i = _Fraction(self._variables[_I], {})
            double_sine = self._multiply(double_sine, self._raise(i, -1))
        if expr.func in (sympy.tan, tanh):
            return self._multiply(double_sine, self._raise(double_cosine, -1))
        wave = double_sine if expr.func in (sympy.sin, sinh) else double_cosine
        return self._multiply(wave, self._number(1, 2))

    def _number(self, p: int, q: int = 1) -> _Fraction:
        return _Fraction(self._ring(QQ(p, q)), {})

    def _product(self, powers: Powers, sign: int = 1) -> _Fraction:
        result = self._number(1)
        for unit, power in powers.items():
            exponent = int(sign * power * self._fineness[unit])
            factor = self._raise(_Fraction(self._variables[unit], {}), exponent)
            result = self._multiply(result, factor)
        return result

    def _without_roots(self, polynomial: Polynomial, unit: Unit) -> Polynomial:
        """Replace every r^k in `polynomial` by b, where `unit` is b with the k-th root r.

        Where b is a fraction, the result is multiplied by a power of its denominator.
        """
        base, exponent = unit
        if unit == _I:
            fineness, power = 2, self._number(-1)
        elif exponent == 1 and (base.is_Add or base.is_Rational):
            fineness, power = self._fineness[unit], self._write(base)
        elif _is_size(base) and exponent == 1:  # |x|² is x²
            fineness, power = 2 * self._fineness[unit], self._raise(self._write(base.args[0]), 2)
        else:
            return polynomial
        place = list(self._fineness).index(unit)
        parts: dict[int, Polynomial] = {}
        for exponents, coefficient in polynomial.terms():
            whole, rest = divmod(exponents[place], fineness)
            exponents = (*exponents[:place], rest, *exponents[place + 1 :])
            part = parts.setdefault(whole, self._ring.zero)
            parts[whole] = part + self._ring({exponents: coefficient})
        below = self._over(_Fraction(self._ring.one, {}), power.denominator)
        least, most = min(parts, default=0), max(parts, default=0)
        total = self._ring.zero
        for whole, part in parts.items():
            above = self._power(power.numerator, whole - least)
            total += self._times(self._times(part, above), self._power(below, most - whole))
        return total

    def _add(self, a: _Fraction, b: _Fraction) -> _Fraction:
        both = {
            factor: max(a.denominator.get(factor, 0), b.denominator.get(factor, 0))
            for factor in a.denominator | b.denominator
        }
        return _Fraction(self._over(a, both) + self._over(b, both), both)

    def _over(self, a: _Fraction, denominator: dict[Polynomial, int]) -> Polynomial:
        """Return the numerator that `a` has over a multiple of its denominator."""
        numerator = a.numerator
        for factor, power in denominator.items():
            missing = power - a.denominator.get(factor, 0)
            numerator = self._times(numerator, self._power(factor, missing))
        return numerator

    def _multiply(self, a: _Fraction, b: _Fraction) -> _Fraction:
        denominator = Counter(a.denominator) + Counter(b.denominator)
        return _Fraction(self._times(a.numerator, b.numerator), dict(denominator))

    def _raise(self, a: _Fraction, exponent: int) -> _Fraction:
        numerator, denominator = a
        if exponent < 0:
            if not numerator:
                raise _TooLarge  # a zero that sympy did not see: nothing can be proved
            swapped = self._over(_Fraction(self._ring.one, {}), denominator)
            numerator, denominator = swapped, {numerator: 1}
        powers = {factor: power * abs(exponent) for factor, power in denominator.items()}
        return _Fraction(self._power(numerator, abs(exponent)), powers)

    def _power(self, base: Polynomial, exponent: int) -> Polynomial:
        if exponent > MAX_MULTIPLIED_POWER:
            raise _TooLarge
        result = self._ring.one
        for _ in range(exponent):
            result = self._times(result, base)
        return result

    def _times(self, left: Polynomial, right: Polynomial) -> Polynomial:
        self._work += len(left) * len(right)
        if self._work > MAX_PRODUCTS:
            raise _TooLarge
        return left * right


def _is_size(expr: sympy.Expr) -> bool:
    return isinstance(expr, sympy.Abs) and bool(expr.args[0].is_extended_real)


def _powers(expr: sympy.Expr) -> Powers:
    """Write a node that is no sum, product or integer power as a product of powers of units."""
    if expr is sympy.E:
        return {(sympy.E, sympy.S.One): sympy.S.One}
    if isinstance(expr, sympy.exp):
        return _split(sympy.E, expr.exp)
    if expr.is_Pow:
        return _split(expr.base, expr.exp)
    if expr.func in _TRIGONOMETRIC:
        return _split(sympy.E, sympy.I * expr.args[0])
    if expr.func in _HYPERBOLIC:
        return _split(sympy.E, expr.args[0])
    return {(expr, sympy.S.One): sympy.S.One}


def _split(base: sympy.Expr, exponent: sympy.Expr) -> Powers:
    terms = math.prod(len(sympy.Add.make_args(f)) for f in sympy.Mul.make_args(exponent))
    if terms <= MAX_EXPONENT_TERMS:
        exponent = sympy.expand_mul(exponent, deep=False)
    powers: Powers = {}
    for term in sympy.Add.make_args(exponent):
        power, rest = term.as_coeff_Mul(rational=True)
        powers[base, rest] = powers.get((base, rest), 0) + power
    return powers


_TRIGONOMETRIC = (sympy.sin, sympy.cos, sympy.tan)
_HYPERBOLIC = (sinh, cosh, tanh)
