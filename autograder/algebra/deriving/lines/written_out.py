"""What an indexed line comes to for a given n: sums written out, derivatives carried out.

Or not carried out: an operator can be left *opaque*, and then counts for nothing but what it is
applied to.  Two lines that agree with every operator opaque follow from each other by algebra.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import sympy

from autograder.algebra.building.functions import Max
from autograder.algebra.deriving.lines.bars import rebuilt, size
from autograder.algebra.deriving.lines.indexed_binding import BINDERS
from autograder.algebra.deriving.lines.inert import (
    D,
    E,
    InertNorm,
    Total,
    Uncomputed,
    is_sum_of_sum,
)
from autograder.algebra.deriving.lines.opacity import Opaque, flat
from autograder.algebra.deriving.lines.world import Env, World

MAX_WRITTEN_TERMS = 1000
DIMENSION = 2  # of vectors and matrices


class TooMuch(Exception):
    """Writing this out would take too long."""


def value(expr: sympy.Expr, env: Env, world: World, opaque: Opaque | None = None) -> Any:
    """Return what `expr` comes to: an expression or, for vectors and matrices, a matrix of them.

    Parameters
    ----------
    env
        Values of the indices and of n.
    opaque
        Keeps every operator and every defined name as a symbol; without it everything is
        carried out.

    Raises
    ------
    TooMuch
        If sums nested in sums get too long.
    """
    if opaque is not None:
        return _Writer(world, opaque).write(expr, env)

    def worked_out() -> Any:
        return _Writer(world, None).write(world.put_in(expr), env)

    return world.remembered((expr, *env.items()), worked_out)


class _Writer:
    def __init__(self, world: World, opaque: Opaque | None) -> None:
        self.world, self.opaque, self.terms = world, opaque, 0
        self._known = opaque.written if opaque else world.parts_written

    def write(self, e: sympy.Expr, env: Env) -> Any:
        self.terms += 1
        if self.terms > 40 * MAX_WRITTEN_TERMS:
            raise TooMuch
        if e.is_Symbol:
            return self._symbol(e, env)
        if not e.args:
            return e
        key = (e, *self.world.places_in(e, env))
        if (known := self._known.get(key)) is not None:
            written, terms = known
            self.terms += terms
            return written
        before = self.terms
        written = self._parts(e, env)
        self._known.keep(key, (written, self.terms - before))
        return written

    def _parts(self, e: sympy.Expr, env: Env) -> Any:
        """Write an operation whose parts are written."""
        if isinstance(e, Uncomputed):
            return self._operator(e, env)
        if e.is_Function and e.func.__name__ in self.world.names.indexed:
            return self._entry(e, env)
        args = [self.write(a, env) for a in e.args]
        if self.opaque and e.func.__name__ in self.opaque.closed:
            return self.opaque.symbol(e.func.__name__, *args)
        if isinstance(e, sympy.Abs):
            return size(*args)
        if e.is_Add:
            return _sum(_same_kind(args))
        if e.is_Mul:
            return _product(args)
        if e.is_Pow and isinstance(args[0], sympy.MatrixBase):
            return args[0] ** args[1]
        return e.func(*args)

    def _symbol(self, e: sympy.Symbol, env: Env) -> Any:
        if e in env:
            return env[e]
        if e.name in self.world.names.matrices:
            cells = sympy.symbols(f"{e.name}_1:{DIMENSION**2 + 1}", real=True)
            return sympy.Matrix(DIMENSION, DIMENSION, cells)
        return e

    def _entry(self, e: sympy.Expr, env: Env) -> Any:
        name = e.func.__name__
        label = "_".join([name, *(str(self.write(a, env)) for a in e.args)])
        if name in self.world.vectors:
            return sympy.Matrix(sympy.symbols(f"{label}_1:{DIMENSION + 1}", real=True))
        return _number(label, name in self.world.names.positive or None)

    def _operator(self, e: sympy.Expr, env: Env) -> Any:
        if isinstance(e, BINDERS):
            terms = list(self._terms(e, env))
            if self.opaque:
                return self._opaque_sum(e, terms)
            if isinstance(e, Total):
                return _sum(terms)
            return Max(*terms)
        args = [self.write(a, env) for a in e.args]
        if self.opaque:
            return self.opaque.symbol(e.func.__name__, *args)
        if isinstance(e, D):
            return sympy.diff(*args)
        if isinstance(e, InertNorm):
            return sympy.sqrt(sum(x**2 for x in flat(args[0])))
        mean = self._mean(args[0], env)
        return mean if isinstance(e, E) else self._mean(args[0] ** 2, env) - mean**2

    def _terms(self, e: sympy.Expr, env: Env) -> Iterator[Any]:
        """Yield what is added up, or the largest of which is taken."""
        inner, index, *ends = e.args
        low, high = (int(self.write(end, env)) for end in ends)
        if high - low > MAX_WRITTEN_TERMS:
            raise TooMuch
        nested = is_sum_of_sum(e) and self.opaque is not None and self.opaque.reorders
        for k in range(low, high + 1):
            at = {**env, index: sympy.Integer(k)}
            if nested:
                yield from self._terms(inner, at)
            else:
                yield self.write(inner, at)

    def _opaque_sum(self, e: sympy.Expr, terms: list[Any]) -> Any:
        assert self.opaque
        opaque, kind = self.opaque, e.func.__name__

        def symbol(*parts: object) -> Any:
            reorders = opaque.reorders and is_sum_of_sum(e)
            return opaque.total(parts) if reorders else opaque.symbol(kind, *parts)

        if not terms or not isinstance(terms[0], sympy.MatrixBase):
            return symbol(*terms)
        return sympy.Matrix(*terms[0].shape, [symbol(*row) for row in zip(*terms, strict=True)])

    def _mean(self, expr: sympy.Expr, env: Env) -> sympy.Expr:
        """Take the expectation of an expression in independent random entries."""
        expr = sympy.expand(expr)
        return sympy.Add(*(self._mean_of_term(t, env) for t in sympy.Add.make_args(expr)))

    def _mean_of_term(self, term: sympy.Expr, env: Env) -> sympy.Expr:
        result: Any = sympy.Integer(1)
        exponent: Any = sympy.Integer(0)
        powers: dict[sympy.Symbol, int] = {}
        for factor in sympy.Mul.make_args(sympy.powsimp(term)):
            base, power = factor.as_base_exp()
            if isinstance(factor, sympy.exp):
                exponent += factor.exp
            elif base.is_Symbol and self._law(base) and power.is_Integer and power > 0:
                powers[base] = powers.get(base, 0) + int(power)
            elif any(map(self._law, factor.free_symbols)):
                raise TooMuch
            else:
                result *= factor
        normal = [s for s in exponent.free_symbols if self._law(s) == "normal"]
        if normal and not powers:
            linear = sympy.Poly(sympy.expand(exponent), *normal)
            if linear.total_degree() > 1:
                raise TooMuch
            slopes = [linear.coeff_monomial(s) for s in normal]
            rest = linear.coeff_monomial(1)
            return result * sympy.exp(rest + sum(c**2 for c in slopes) / 2)
        if any(map(self._law, exponent.free_symbols)):
            raise TooMuch
        for base, power in powers.items():
            result *= self._moment(base, power, env)
        return result * sympy.exp(exponent)

    def _law(self, symbol: sympy.Symbol) -> str:
        name = symbol.name.rstrip("0123456789_")
        if name in self.world.normal:
            return "normal"
        return "moments" if name in self.world.moments else ""

    def _moment(self, symbol: sympy.Symbol, power: int, env: Env) -> sympy.Expr:
        name = symbol.name.rstrip("0123456789_")
        if name in self.world.normal:
            return sympy.factorial2(power - 1) if power % 2 == 0 else sympy.Integer(0)
        mean, variance = (self.write(m, env) for m in self.world.moments[name])
        if power > 2:
            raise TooMuch
        return mean if power == 1 else variance + mean**2


@functools.cache  # sympy looks through what is assumed each time
def _number(label: str, positive: bool | None) -> sympy.Symbol:
    return sympy.Symbol(label, real=True, positive=positive)


def _same_kind(args: list[Any]) -> list[Any]:
    """Write numbers that are added to matrices as multiples of the identity."""
    shapes = {a.shape for a in args if isinstance(a, sympy.MatrixBase)}
    if not shapes:
        return args
    (shape,) = shapes
    if shape[0] != shape[1] and not all(isinstance(a, sympy.MatrixBase) for a in args):
        raise TooMuch
    return [a if isinstance(a, sympy.MatrixBase) else a * sympy.eye(shape[0]) for a in args]


def _sum(terms: list[Any]) -> Any:
    if any(isinstance(term, sympy.MatrixBase) for term in terms):
        return functools.reduce(operator.add, terms)
    return sympy.Add(*terms)


def _product(factors: list[Any]) -> Any:
    if any(isinstance(factor, sympy.MatrixBase) for factor in factors):
        return functools.reduce(operator.mul, factors)
    return sympy.Mul(*factors)


def rewritten(
    expr: sympy.Expr, rules: Sequence[Callable[[sympy.Expr, World], sympy.Expr]], world: World
) -> sympy.Expr:
    """Apply rules everywhere, the innermost first, until nothing changes.

    Lines are made of parts of others: what became of a part is remembered.
    """
    rules = tuple(rules)
    for _ in range(30):
        before, expr = expr, _once(expr, rules, world)
        if expr == before:
            return expr
        nodes = itertools.islice(sympy.preorder_traversal(expr), MAX_WRITTEN_TERMS)
        if sum(1 for _ in nodes) == MAX_WRITTEN_TERMS:
            raise TooMuch
    return expr


def _once(expr: sympy.Expr, rules: tuple[Any, ...], world: World) -> sympy.Expr:
    def worked_out() -> sympy.Expr:
        args = expr.args
        found = rebuilt(expr, [_once(a, rules, world) for a in args]) if args else expr
        for rule in rules:
            found = rule(found, world)
        return found

    return world.parts_remembered((rules, expr), worked_out)
