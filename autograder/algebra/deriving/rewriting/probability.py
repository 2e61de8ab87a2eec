"""What can be done to expectations and variances."""

from __future__ import annotations

from typing import Any

import sympy

from autograder.algebra.deriving.lines.inert import E, Total, Uncomputed, Var
from autograder.algebra.deriving.lines.places import free_indices
from autograder.algebra.deriving.lines.world import World


def mean_is_linear(e: sympy.Expr, world: World) -> sympy.Expr:
    """Take sums and constant factors out of an expectation."""
    if not isinstance(e, E):
        return e
    inner = e.args[0]
    if not world.is_random(inner):
        return inner
    inner = sympy.expand(inner, deep=False) if inner.is_Mul or inner.is_Pow else inner
    if inner.is_Add:
        return sympy.Add(*map(E, inner.args))
    if isinstance(inner, Total):
        return Total(E(inner.args[0]), *inner.args[1:])
    factors = _exponential_factors(inner)
    fixed = [f for f in factors if not world.is_random(f)]
    if fixed:
        rest = [f for f in factors if world.is_random(f)]
        return sympy.Mul(*fixed) * E(sympy.Mul(*rest))
    return e


def independence(e: sympy.Expr, world: World) -> sympy.Expr:
    """Write the expectation of a product of independent entries as a product."""
    if not isinstance(e, E):
        return e
    groups: dict[str, list[sympy.Expr]] = {}
    for factor in sympy.Mul.make_args(e.args[0]):
        entries = [f for f in factor.atoms(sympy.Function) if world.is_random(f)]
        names = {f.func.__name__ for f in entries if f.func.__name__ in world.moments}
        if len(names) != 1:
            return e
        groups.setdefault(names.pop(), []).append(factor)
    if len(groups) < 2:
        return e
    return sympy.Mul(*(E(sympy.Mul(*group)) for group in groups.values()))


def moments(e: sympy.Expr, world: World) -> sympy.Expr:
    """Put in the mean of a random entry, and that of its square."""
    if not isinstance(e, E):
        return e
    base, power = e.args[0].as_base_exp()
    name = base.func.__name__
    if power not in (1, 2) or not base.is_Function:
        return e
    if name in world.normal:
        return sympy.Integer(power == 2)
    if name not in world.moments:
        return e
    mean, variance = world.moments[name]
    return mean if power == 1 else variance + mean**2


def variance(e: sympy.Expr, world: World) -> sympy.Expr:
    """Write Var X as E X² − (E X)²."""
    if not isinstance(e, Var):
        return e
    inner = e.args[0]
    return E(inner**2) - E(inner) ** 2


def about_the_mean(e: sympy.Expr, world: World) -> sympy.Expr:
    """Multiply E (X − E X)² out, which Var X is, too: a mean inside a mean is a number."""
    return mean_is_linear(e, world) if isinstance(e, E) and e.args[0].has(E) else e


def variance_of_sum(e: sympy.Expr, world: World) -> sympy.Expr:
    """Write the variance of a sum of independent terms as a sum of variances."""
    if not isinstance(e, Var):
        return e
    inner = e.args[0]
    if isinstance(inner, Total) and all(
        inner.args[1] in f.args for f in inner.args[0].atoms(sympy.Function) if world.is_random(f)
    ):
        return Total(Var(inner.args[0]), *inner.args[1:])
    return e


def alike(e: sympy.Expr, world: World) -> sympy.Expr:
    """Write E f(q_i) and Var f(q_i) with the first entry, where all are distributed alike."""
    if not isinstance(e, E | Var):
        return e
    entries = {f for f in e.atoms(sympy.Function) if world.is_random(f)}
    names = {f.func.__name__ for f in entries}
    places = {f.args for f in entries if not isinstance(f, Uncomputed)}
    laws = [law for name in names & world.moments.keys() for law in world.moments[name]]
    if len(places) != 1 or any(free_indices(law, world.names) for law in laws):
        return e
    ((*place,),) = places
    if len(place) != 1 or not place[0].is_Symbol:
        return e
    rest = e.xreplace({f: sympy.Dummy() for f in entries if not isinstance(f, Uncomputed)})
    return e if rest.has(place[0]) else e.xreplace({place[0]: sympy.Integer(1)})


def variance_of_multiple(e: sympy.Expr, world: World) -> sympy.Expr:
    """Take constant factors out of a variance, squared."""
    if not isinstance(e, Var):
        return e
    fixed = [f for f in sympy.Mul.make_args(e.args[0]) if not world.is_random(f)]
    if not fixed:
        return e
    rest = [f for f in sympy.Mul.make_args(e.args[0]) if f not in fixed]
    return sympy.Mul(*fixed) ** 2 * Var(sympy.Mul(*rest))


def normal_exponential(e: sympy.Expr, world: World) -> sympy.Expr:
    """Write E exp(a w) as exp(a²/2) where w is standard normal, and over independent sums."""
    if not isinstance(e, E):
        return e
    powers = [f.exp for f in sympy.Mul.make_args(e.args[0]) if isinstance(f, sympy.exp)]
    if len(powers) != len(sympy.Mul.make_args(e.args[0])):
        return e
    result = sympy.Integer(0)
    for term in sympy.Add.make_args(sympy.expand(_one_sum(sympy.Add(*powers)))):
        if isinstance(term, Total):
            inner, k, low, high = term.args
            slope = _slope(inner, world)
            if slope is None:
                return e
            result += Total(slope**2 / 2, k, low, high)
        elif world.is_random(term):
            slope = _slope(term, world)
            if slope is None:
                return e
            result += slope**2 / 2
        else:
            result += term
    return sympy.exp(result)


def _one_sum(expr: sympy.Expr) -> sympy.Expr:
    """Put sums over the same range into one, so that their slopes add up before squaring."""
    ranges: dict[tuple[Any, Any], sympy.Expr] = {}
    rest = sympy.Integer(0)
    k = sympy.Dummy("k", integer=True, positive=True)
    for term in sympy.Add.make_args(sympy.expand(expr)):
        totals = [f for f in sympy.Mul.make_args(term) if isinstance(f, Total)]
        if len(totals) != 1:
            rest += term
            continue
        inner, index, low, high = totals[0].args
        inner = inner.xreplace({index: k}) * term / totals[0]
        ranges[low, high] = ranges.get((low, high), 0) + inner
    return rest + sympy.Add(*(Total(inner, k, *ends) for ends, inner in ranges.items()))


def _slope(term: sympy.Expr, world: World) -> sympy.Expr | None:
    """Return a, if `term` is a · w with one standard normal entry w."""
    entries = [
        f for f in sympy.expand(term).atoms(sympy.Function) if f.func.__name__ in world.normal
    ]
    if len(entries) != 1:
        return None
    slope = sympy.cancel(sympy.expand(term) / entries[0])
    return None if world.is_random(slope) else slope


def _exponential_factors(inner: sympy.Expr) -> list[sympy.Expr]:
    factors: list[sympy.Expr] = []
    for f in sympy.Mul.make_args(inner):
        parts = f.exp.args if isinstance(f, sympy.exp) and f.exp.is_Add else ()
        factors += [sympy.exp(a) for a in parts] or [f]
    return factors
