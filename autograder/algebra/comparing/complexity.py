"""Complexity classes: sums of monomials, with constants and dominated terms dropped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy

from autograder.algebra.building.functions import Ceiling, Floor, Max
from autograder.algebra.building.parse import read
from autograder.algebra.deadlines.guard import within
from autograder.algebra.reading.errors import ParseError

MAX_SUMMANDS = 200
MAX_WHOLE_POWER = 20

# For every symbol: the rate of its exponential to base 2, its exponent and the exponent of its
# logarithm; (0, 1, 1) is n log n, (1, 0, 0) is 2^n.
Growth = tuple[Fraction, Fraction, Fraction]
_CONSTANT: Growth = (Fraction(0), Fraction(0), Fraction(0))
_RATES = 10**9  # the rate of 3^n, log₂ 3, is kept to so many parts of 1


@dataclass(frozen=True)
class Monomial:
    """A product of powers of symbols and of their logarithms, sorted by symbol."""

    powers: tuple[tuple[str, Growth], ...] = ()

    def is_dominated_by(self, other: Monomial) -> bool:
        """Whether this grows at most as `other` does, however the symbols grow.

        Exponentials are compared before powers, and these before logarithms: n log n is dominated
        by n², and that by 2^n.
        """
        mine, theirs = dict(self.powers), dict(other.powers)
        return all(mine.get(s, _CONSTANT) <= theirs.get(s, _CONSTANT) for s in mine | theirs)

    def __mul__(self, other: Monomial) -> Monomial:
        powers = dict(self.powers)
        for symbol, growth in other.powers:
            (a, b, c), (x, y, z) = powers.get(symbol, _CONSTANT), growth
            powers[symbol] = (a + x, b + y, c + z)
        return _monomial(powers)

    def __pow__(self, power: Fraction) -> Monomial:
        return _monomial({s: (power * a, power * b, power * c) for s, (a, b, c) in self.powers})


@dataclass(frozen=True)
class Complexity:
    """A complexity class: two are equal if what is left of their terms is the same.

    ``str()`` writes it in a form that `parse_complexity` reads.
    """

    terms: frozenset[Monomial]
    symbols: tuple[str, ...] = field(compare=False, repr=False)

    def __str__(self) -> str:
        ordered = sorted(self.terms, key=self._order, reverse=True)
        return f"O({' + '.join(self._write(term) for term in ordered)})"

    def _order(self, term: Monomial) -> list[Growth]:
        return [dict(term.powers).get(symbol, _CONSTANT) for symbol in self.symbols]

    def _write(self, term: Monomial) -> str:
        above: list[str] = []
        below: list[str] = []
        for symbol, growth in zip(self.symbols, self._order(term), strict=True):
            rate, *powers = growth
            if rate:
                above.append(f"2^({rate}·{symbol})" if rate != 1 else f"2^{symbol}")
            for name, power in zip((symbol, f"log({symbol})"), powers, strict=True):
                if power:
                    shown = abs(power)
                    exponent = shown if shown.denominator == 1 else f"({shown})"
                    factor = name if shown == 1 else f"{name}^{exponent}"
                    (above if power > 0 else below).append(factor)
        over = "".join(f"/{factor}" for factor in below)
        return ("·".join(above) or "1") + over


def _late() -> Any:
    raise ParseError("reading this cost takes too long")


@within(_late)
def parse_complexity(text: str, symbols: Iterable[str]) -> Complexity:
    """Read a complexity class in the given symbols, which are all taken to grow.

    Parameters
    ----------
    text : str
        With or without ``O(…)``; a blank may stand for a product.
    symbols : iterable of str
        The names that may occur.

    Raises
    ------
    ParseError
        If `text` cannot be read, or is no sum of monomials.

    Examples
    --------
    >>> str(parse_complexity("O(2 n m d_k + 3 n m + 7)", ["n", "m", "d_k"]))
    'O(n·m·d_k)'
    >>> parse_complexity("n**2/2 - n/2", ["n"]) == parse_complexity("O(n^2)", ["n"])
    True
    """
    symbols = tuple(symbols)
    expr = read(
        text,
        symbols,
        implicit=True,
        assumptions={"*": "positive"},
        functions=dict.fromkeys(("O", "Theta"), lambda inner: inner),
    )
    try:
        terms = _terms(expr)
    except _NoMonomial as error:
        raise ParseError(
            f"expected a sum of products of {', '.join(symbols)}; {error}", text
        ) from None
    if not terms:
        raise ParseError("a cost cannot be zero", text)
    leading = frozenset(
        term
        for term in terms
        if not any(term != other and term.is_dominated_by(other) for other in terms)
    )
    if any(terms[term].is_negative for term in leading):
        raise ParseError("a cost cannot be negative", text)
    return Complexity(leading, symbols)


class _NoMonomial(Exception):
    pass


_Terms = Mapping[Monomial, Any]  # with their coefficients


def _terms(expr: sympy.Expr) -> _Terms:
    if not expr.free_symbols:
        return {Monomial(): expr} if expr != 0 else {}
    if expr.is_Symbol:
        return {_monomial({expr.name: (Fraction(0), Fraction(1), Fraction(0))}): sympy.S.One}
    if expr.is_Add:
        return _sum_of(expr)
    if expr.is_Mul:
        product: _Terms = {Monomial(): sympy.S.One}
        for argument in expr.args:
            product = _product(product, _terms(argument))
        return product
    if expr.is_Pow and expr.exp.is_Rational:
        return _power(_terms(expr.base), Fraction(expr.exp.p, expr.exp.q))
    if expr.is_Pow or isinstance(expr, sympy.exp):
        return _exponential(*expr.as_base_exp())
    if isinstance(expr, Ceiling | Floor | Max):  # grow as what they round, or as the sum
        return _sum(map(_terms, expr.args))
    if isinstance(expr, sympy.log):
        return _log(_terms(expr.args[0]))
    raise _NoMonomial(f"{expr} is none")


def _sum_of(expr: sympy.Expr) -> _Terms:
    """Add up; what cancels must not have been rounded, as 1/(k − 1) is to 1/k."""
    summands = list(map(_terms, expr.args))
    rounded = expr.has(Ceiling, Floor, Max)
    rounded = rounded or any(_is_rounded(power) for power in expr.atoms(sympy.Pow))
    if rounded and any(c.is_negative for terms in summands for c in terms.values()):
        raise _NoMonomial(
            "a difference of what is rounded, the largest or divided by a sum is none"
        )
    return _sum(summands)


def _is_rounded(power: sympy.Pow) -> bool:
    return bool(power.base.is_Add and not (power.exp.is_Integer and power.exp.is_positive))


def _sum(summands: Iterable[_Terms]) -> _Terms:
    total: dict[Monomial, Any] = {}
    for terms in summands:
        for term, coefficient in terms.items():
            total[term] = total.get(term, 0) + coefficient
    return {term: coefficient for term, coefficient in total.items() if coefficient != 0}


def _product(left: _Terms, right: _Terms) -> _Terms:
    if len(left) * len(right) > MAX_SUMMANDS:
        raise _NoMonomial("this has too many terms")
    return _sum({a * b: left[a] * right[b]} for a in left for b in right)


def _power(base: _Terms, power: Fraction) -> _Terms:
    if len(base) == 1:
        ((term, coefficient),) = base.items()
        return {term**power: coefficient ** sympy.Rational(power.numerator, power.denominator)}
    if power.denominator != 1 or not 0 <= power <= MAX_WHOLE_POWER:
        return _power(_leading(base), power)
    result: _Terms = {Monomial(): sympy.S.One}
    for _ in range(int(power)):
        result = _product(result, base)
    return result


def _leading(terms: _Terms) -> _Terms:
    """Return the term that a sum grows like, which is k for k − 1."""
    for term, coefficient in terms.items():
        if coefficient.is_positive and all(other.is_dominated_by(term) for other in terms):
            return {term: coefficient}
    raise _NoMonomial("a sum below a line or a root must have one term that grows most")


def _exponential(base: sympy.Expr, exponent: sympy.Expr) -> _Terms:
    """Read 2^(3 n + 1), whose exponent is linear."""
    if not (base.is_number and base.is_positive):
        raise _NoMonomial(f"{base}^({exponent}) is none; only powers such as 2^n are")
    growth, factor = {}, sympy.S.One
    for term in sympy.Add.make_args(sympy.expand(exponent)):
        slope, symbol = term.as_coeff_Mul()
        if term.is_Rational:
            factor *= base**term
        elif not symbol.is_Symbol or not slope.is_Rational:
            raise _NoMonomial(f"{base}^({exponent}) is none; only powers such as 2^n are")
        else:
            rate = Fraction(round(math.log2(base) * float(slope) * _RATES), _RATES)
            growth[symbol.name] = (rate, Fraction(0), Fraction(0))
    return {_monomial(growth): factor}


def _log(inside: _Terms) -> _Terms:
    """Write log(2·n²·m) as log 2 + 2 log n + log m."""
    if len(inside) != 1:
        raise _NoMonomial("the logarithm of a sum is none")
    ((term, coefficient),) = inside.items()
    logs = [{Monomial(): sympy.log(coefficient)}]
    for symbol, (rate, exponent, inner_logs) in term.powers:
        if inner_logs:
            raise _NoMonomial("the logarithm of a logarithm is none")
        if rate:
            monomial = _monomial({symbol: (Fraction(0), Fraction(1), Fraction(0))})
            logs.append({monomial: sympy.log(2) * sympy.Rational(rate.numerator, rate.denominator)})
        monomial = _monomial({symbol: (Fraction(0), Fraction(0), Fraction(1))})
        logs.append({monomial: sympy.Rational(exponent.numerator, exponent.denominator)})
    return _sum(logs)


def _monomial(powers: Mapping[str, Growth]) -> Monomial:
    return Monomial(tuple(sorted((s, g) for s, g in powers.items() if g != _CONSTANT)))
