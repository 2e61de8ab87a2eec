"""Whether two indexed lines are equal: for n = 2 … 5 by numbers, for every n by a normal form."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import sympy

from autograder.algebra.building import chance
from autograder.algebra.building.sizes import is_larger
from autograder.algebra.comparing.equivalence import equal, glance
from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deriving.lines.inert import E, Uncomputed, Var
from autograder.algebra.deriving.lines.places import free_indices
from autograder.algebra.deriving.lines.world import Env, World
from autograder.algebra.deriving.lines.written_out import DIMENSION, TooMuch, rewritten, value
from autograder.algebra.deriving.rewriting.bounds import norm_of_multiple, parts
from autograder.algebra.deriving.rewriting.calculus import apart, contraction, linear
from autograder.algebra.deriving.rewriting.climbing import Climb
from autograder.algebra.deriving.rewriting.made_to_fit import made_to_fit
from autograder.algebra.deriving.rewriting.rules import DERIVATIVES, EXPECTATIONS
from autograder.algebra.deriving.rewriting.sums import is_zero_for_all

SIZES = (2, 3, 4, 5)
GUARDS = 2  # of these are tried before a proof, which most wrong lines never get to
MORE_SIZES = (6, 12)  # between these one more is drawn, which no student knows
MAX_PRODUCT_NODES = 200  # nodes of a product of matrices


def equal_for_all(a: sympy.Expr, b: sympy.Expr, world: World) -> Verdict:
    """Compare two lines for n = 2 … 5 and every coincidence of their indices, then for every n."""
    size = world.names.index(world.names.size)
    tried: set[Any] = set()
    agreed = True
    for env in world.cases(a, b, sizes=SIZES[:GUARDS]):
        verdict = _equal_in(env, a, b, world, glance)
        if verdict.equal is False:
            return verdict
        agreed = agreed and verdict.equal is True
        tried.add(env[size])
    if agreed and proved_for_all(a, b, world):
        matrices = not (a.is_commutative and b.is_commutative)
        which = f" for every {world.names.size}" if len(tried) > 1 else ""
        return Verdict(True, "proved" + which + " for matrices of every size" * matrices)
    certificates = set()
    for env in world.cases(a, b, sizes=SIZES):
        verdict = _equal_in(env, a, b, world)
        if not verdict.equal:
            return verdict
        certificates.add(verdict.how)
        tried.add(env[size])
    another = _another(a, b, world) if len(tried) > 1 else None
    if another:
        verdict = _equal_in(another, a, b, world)
        if verdict.equal is False:
            return verdict
        if made_to_fit(a - b, world):
            return Verdict(None, f"undecided for every {size.name}: it could be made for a few")
    how = "proved" if certificates == {"proved"} else "numeric"
    return Verdict(True, f"{how}{_for_which(a, b, world, len(tried))}")


def _equal_in(
    env: Env,
    a: sympy.Expr,
    b: sympy.Expr,
    world: World,
    compare: Callable[[Any, Any], Verdict] = equal,
) -> Verdict:
    """Compare two lines for one n and certain indices."""
    try:
        sides = value(a, env, world), value(b, env, world)
    except TooMuch:
        return Verdict(None, "undecided: too long when written out")
    verdict = compare(*sides)
    if verdict.equal is None and len({*map(_divides_by_zero, sides)}) == 2:
        return Verdict(False, "refuted: it divides by 0")
    if verdict.equal is False and verdict.values:
        where = verdict.how.rpartition("refuted at ")[2]
        return Verdict(False, f"refuted at {_case(env)}{where}", verdict.values)
    return verdict


def _another(a: sympy.Expr, b: sympy.Expr, world: World) -> Env | None:
    """Return a case with an n that is drawn, so that no line can be made for those tried."""
    size = chance.draw.randint(*MORE_SIZES)
    cases = list(itertools.islice(world.cases(a, b, sizes=(size,)), 4))
    return chance.draw.choice(cases) if cases else None


def _divides_by_zero(expr: sympy.Expr) -> bool:
    """Tell whether there is something in it that has no value, whatever the names stand for."""
    below = [p.base for p in expr.atoms(sympy.Pow) if p.exp.is_negative and not p.base.is_number]
    return any(equal(base, sympy.Integer(0)).equal is True for base in below)


def _for_which(a: sympy.Expr, b: sympy.Expr, world: World, sizes: int) -> str:
    """Say for which n, and for matrices of which size, two lines were compared."""
    parts = []
    if sizes > 1:
        parts.append(f"{world.names.size} = {SIZES[0]} … {SIZES[-1]} alone")
    if not (a.is_commutative and b.is_commutative):
        parts.append(f"{DIMENSION} × {DIMENSION} matrices alone")
    if any(f.func.__name__ in world.vectors for e in (a, b) for f in e.atoms(sympy.Function)):
        parts.append(f"vectors of {DIMENSION} entries alone")
    return f" for {' and '.join(parts)}" if parts else ""


def proved_for_all(a: sympy.Expr, b: sympy.Expr, world: World) -> bool:
    """Whether the normal forms of two lines agree, for each coincidence of their indices.

    In the normal form definitions are put in, derivatives and expectations are carried out, sums
    are split and sums over δ are gone; the sums that remain are compared up to the name of their
    index.  Products of matrices are multiplied out in order, whatever their size.
    """
    if not (a.is_commutative and b.is_commutative):
        neutral = {sympy.Symbol("I", commutative=False): sympy.Integer(1)}
        difference = (world.put_in(a) - world.put_in(b)).xreplace(neutral)
        small = not difference.has(Uncomputed) and not is_larger(difference, MAX_PRODUCT_NODES)
        return small and sympy.expand(difference) == 0
    try:
        a, b = (_normal(e, world) for e in (a, b))
        indices = sorted(free_indices(a, world.names) | free_indices(b, world.names), key=str)
        return all(
            is_zero_for_all((a - b).xreplace(same).xreplace(distinct))
            for same, distinct in _patterns(indices)
        )
    except TooMuch:
        return False


def only_tried(a: sympy.Expr, b: sympy.Expr, world: World) -> bool:
    """Whether two lines that depend on n are known to be equal for some n alone."""
    size = world.names.index(world.names.size)
    sizes = {env[size] for env in world.cases(a, b, sizes=SIZES[:GUARDS])}
    return len(sizes) > 1 and not proved_for_all(a, b, world)


def at_most(a: sympy.Expr, b: sympy.Expr, world: World) -> Verdict:
    """Look for a point at which `a` is larger than `b`, for n = 2 … 5."""
    for env in world.cases(a, b, sizes=SIZES):
        if verdict := _larger_in(env, a, b, world):
            return verdict
    another = _another(a, b, world)
    found = _larger_in(another, a, b, world) if another else None
    if found and found.equal is False:
        return found
    return Verdict(True, f"numeric for {world.names.size} = {SIZES[0]} … {SIZES[-1]} alone")


def _larger_in(env: Env, a: sympy.Expr, b: sympy.Expr, world: World) -> Verdict | None:
    """Look for a point at which `a` is larger, for one n and certain indices."""
    try:
        sides = value(a, env, world), value(b, env, world)
    except TooMuch:
        return Verdict(None, "undecided: too long when written out")
    if found := Climb(*sides).counterexample():
        where, values = found
        return Verdict(False, f"refuted at {_case(env)}{where}", values)
    return None


def _case(env: Env) -> str:
    return "".join(f"{name}={number}, " for name, number in env.items())


def _normal(expr: sympy.Expr, world: World) -> sympy.Expr:
    def worked_out() -> sympy.Expr:
        plain = world.put_in(expr)
        if plain.has(E, Var):
            plain = rewritten(plain, EXPECTATIONS, world)
        known = (parts, norm_of_multiple) if world.names.parts or world.vectors else ()
        return rewritten(plain, (*DERIVATIVES, apart, *known, linear, contraction), world)

    return world.remembered(("normal form", expr), worked_out)


def _patterns(
    indices: list[sympy.Symbol],
) -> Iterator[tuple[dict[sympy.Expr, sympy.Expr], dict[sympy.Expr, sympy.Expr]]]:
    """Yield every coincidence of indices: what to put in for them, and the δ that are then 0."""
    for groups in itertools.product(range(len(indices)), repeat=len(indices)):
        if all(g <= place and groups[g] == g for place, g in enumerate(groups)):
            same = {s: indices[g] for s, g in zip(indices, groups, strict=True)}
            heads = [indices[g] for g in sorted(set(groups))]
            pairs = itertools.combinations(heads, 2)
            yield same, {sympy.KroneckerDelta(x, y): sympy.Integer(0) for x, y in pairs}
