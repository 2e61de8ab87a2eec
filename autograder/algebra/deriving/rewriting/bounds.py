"""How norms, absolute values and sums are bounded, and how a sum falls into parts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import sympy
from sympy.utilities.iterables import multiset_partitions

from autograder.algebra.deriving.lines.bars import rebuilt, size
from autograder.algebra.deriving.lines.inert import InertNorm, Largest, Total
from autograder.algebra.deriving.lines.world import World
from autograder.algebra.deriving.lines.written_out import rewritten, value
from autograder.algebra.deriving.rewriting.climbing import has_both_signs

MAX_PLACES = 4

Bound = Callable[[sympy.Expr, World], sympy.Expr]


def triangle(e: sympy.Expr, _world: World) -> sympy.Expr:
    """Bound the norm or size of a sum by the sum of the norms or sizes."""
    if not isinstance(e, InertNorm | sympy.Abs):
        return e
    inner = e.args[0]
    if isinstance(inner, Total):
        return Total(rebuilt(e, [inner.args[0]]), *inner.args[1:])
    return sympy.Add(*(rebuilt(e, [term]) for term in inner.args)) if inner.is_Add else e


def cauchy_schwarz(e: sympy.Expr, _world: World) -> sympy.Expr:
    """Bound Σ a_k b_k by √(Σ a_k²) √(Σ b_k²)."""
    if not isinstance(e, Total):
        return e
    factors = sympy.Mul.make_args(e.args[0])
    if len(factors) != 2:
        return e
    return sympy.Mul(*(sympy.sqrt(Total(factor**2, *e.args[1:])) for factor in factors))


def parts(e: sympy.Expr, world: World) -> sympy.Expr:
    """Split a sum over all indices at the ends of its parts: Σ_{k ≤ m} and Σ_{k > m}."""
    if not isinstance(e, Total):
        return e
    inner, k, low, high = e.args
    size = world.names.index(world.names.size)
    for name in world.names.parts:
        end = world.names.index(name)
        if (low, high) == (1, size) and inner.has(k):
            return Total(inner, k, low, end) + Total(inner, k, end + 1, high)
    return e


def norm_of_multiple(e: sympy.Expr, world: World) -> sympy.Expr:
    """Take factors out of a norm, by their absolute value."""
    if not isinstance(e, InertNorm):
        return e
    scalars = [f for f in sympy.Mul.make_args(e.args[0]) if not _is_vector(f, world)]
    rest = [f for f in sympy.Mul.make_args(e.args[0]) if _is_vector(f, world)]
    return sympy.Mul(*map(size, scalars)) * InertNorm(sympy.Mul(*rest)) if scalars else e


def largest(e: sympy.Expr, world: World) -> sympy.Expr:
    """Bound Σ w_k a_k by max a · Σ w_k for positive w; the maximum is over all, also in a part."""
    if not isinstance(e, Total):
        return e
    inner, k, low, high = e.args
    factors = sympy.Mul.make_args(inner)
    weights = [f for f in factors if f.is_positive]
    rest = sympy.Mul(*(f for f in factors if not f.is_positive))
    if not weights or rest == 1:
        return e
    size = world.names.index(world.names.size)
    ends = (
        (1, size)
        if {low - 1, high} & set(map(world.names.index, world.names.parts))
        else (low, high)
    )
    return Largest(rest, k, *ends) * Total(sympy.Mul(*weights), k, low, high)


def signed(expr: sympy.Expr, world: World, sizes: tuple[int, ...]) -> sympy.Expr:
    """Leave the bars out around factors that have one sign, whatever the names are.

    For M ≤ 1, |1 - 1/M| is 1/M - 1, and |a - a/M| is (1/M - 1) |a|.
    """
    known = {}
    for bars in expr.atoms(sympy.Abs):
        factors = sympy.Mul.make_args(sympy.factor_terms(bars.args[0]))
        signs = [_sign(factor, world, sizes) for factor in factors]
        if len(factors) > 1 or any(signs):
            pairs = zip(signs, factors, strict=True)
            known[bars] = sympy.Mul(*(sign * f if sign else size(f) for sign, f in pairs))
    return expr.xreplace(known)


def _sign(factor: sympy.Expr, world: World, sizes: tuple[int, ...]) -> int:
    """Return the sign of a factor, 0 where it has more than one."""

    def worked_out() -> int:
        cases = world.cases(factor, sizes=sizes)
        values = [value(factor, env, world) for env in cases]
        if any(map(has_both_signs, values)):
            return 0
        values = [sympy.cancel(sympy.together(v)) for v in values]
        if all(v.is_nonnegative for v in values):
            return 1
        return -1 if all(v.is_nonpositive for v in values) else 0

    found: int = world.remembered(("sign", factor, sizes), worked_out)
    return found


def _is_vector(e: sympy.Expr, world: World) -> bool:
    names = {f.func.__name__ for f in e.atoms(sympy.Function)}
    return bool(names & world.vectors) and not isinstance(e, InertNorm)


def bounded(expr: sympy.Expr, bounds: Sequence[Bound], world: World) -> Iterator[sympy.Expr]:
    """Yield `expr` with some of its parts bounded, in one place or in several; with all of them."""
    yield rewritten(expr, bounds, world)
    places = {
        part: bounded_part
        for part in sympy.preorder_traversal(expr)
        for bound in bounds
        if (bounded_part := bound(part, world)) != part
    }
    for count in range(1, len(places) + 1 if len(places) <= MAX_PLACES else 2):
        for chosen in itertools.combinations(places, count):
            yield expr.xreplace({part: places[part] for part in chosen})
    if triangle in bounds:
        for part in sympy.preorder_traversal(expr):
            for groups in _grouped(part):
                yield expr.xreplace({part: groups})


def _grouped(e: sympy.Expr) -> Iterator[sympy.Expr]:
    """Bound ‖a + b + c‖ by ‖a + b‖ + ‖c‖, in all ways to make groups of several terms."""
    if not isinstance(e, InertNorm | sympy.Abs) or len(e.args[0].args) > MAX_PLACES:
        return
    if e.args[0].is_Add:
        for groups in multiset_partitions(list(e.args[0].args)):
            if 1 < len(groups) < len(e.args[0].args):
                yield sympy.Add(*(rebuilt(e, [sympy.Add(*group)]) for group in groups))
