"""Lines about matrices: compared as products in their order, for matrices of every size.

A line about matrices alone has no sums to write out, so it is not worked out for some n.  What
holds by multiplying out, and by what is assumed, is proved; what fails for random matrices that
are as assumed, of several sizes, is refuted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import sympy

from autograder.algebra.building.block import Block, Misfit
from autograder.algebra.building.functions import Permutation, RowWise, Transpose
from autograder.algebra.comparing.equivalence import equal
from autograder.algebra.comparing.matrices import is_identity
from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deriving.lines.inert import Transposed, Uncomputed
from autograder.algebra.deriving.lines.world import World
from autograder.algebra.deriving.lines.written_out import rewritten
from autograder.algebra.deriving.rewriting import blocks

Rewrite = Callable[[sympy.Expr, World], sympy.Expr]


def are_about_matrices(*lines: sympy.Expr) -> bool:
    """Whether matrices stand in these lines, and nothing with indices."""
    plain = not any(
        line.has(Uncomputed) or line.has(sympy.core.function.AppliedUndef) for line in lines
    )
    return plain and not all(line.is_commutative for line in lines)


def compare(a: sympy.Expr, b: sympy.Expr, known: Iterable[Rewrite], world: World) -> Verdict:
    """Compare two lines, where `known` is what is assumed; block matrices block by block."""
    known = tuple(known)
    sides = [world.put_definitions_in(side) for side in (a, b)]
    if any(side.has(Block) for side in sides):
        return _in_blocks(sides[0], sides[1], known, world)
    if same(a, b, (transposed, definition, permuted, *known), world):
        return Verdict(True, "proved for matrices of every size")
    a, b = (_transposed(world.put_in(side)) for side in (a, b))
    verdict = equal(a, b)
    if verdict.equal is not True:
        return verdict
    return Verdict(True, "numeric for random matrices of several sizes")


def _in_blocks(a: sympy.Expr, b: sympy.Expr, known: Sequence[Rewrite], world: World) -> Verdict:
    try:
        left, right = (blocks.worked_out(side) for side in (a, b))
    except Misfit as error:
        return Verdict(False, f"refuted: {error}")
    shapes = [s.args[:2] if isinstance(s, Block) else (1, 1) for s in (left, right)]
    if shapes[0] != shapes[1]:
        return Verdict(False, "refuted: the numbers of blocks differ")
    if not isinstance(left, Block):
        return compare(left, right, known, world)
    entries = zip(left.args[2:], right.args[2:], strict=True)
    verdicts = [compare(*pair, known, world) for pair in entries]
    return next((v for v in verdicts if v.equal is not True), verdicts[0])


def same(a: sympy.Expr, b: sympy.Expr, rewrites: Iterable[Rewrite], world: World) -> bool:
    """Whether two lines are the same once they are rewritten and multiplied out."""
    rewrites = (multiplied_out, *rewrites)
    return is_identity(*(rewritten(side, rewrites, world) for side in (a, b)))


def multiplied_out(e: sympy.Expr, world: World) -> sympy.Expr:  # noqa: ARG001
    """Multiply sums out."""
    return sympy.expand(e, deep=False) if e.is_Mul or e.is_Pow else e


def definition(e: sympy.Expr, world: World) -> sympy.Expr:
    """Put in what a defined name stands for."""
    return world.put_definitions_in(e)


def transposed(e: sympy.Expr, world: World) -> sympy.Expr:  # noqa: ARG001
    """Take a transpose of sums, products and inverses to the names."""
    return _transposed(e).replace(Transpose, Transposed) if isinstance(e, Transposed) else e


def permuted(e: sympy.Expr, world: World) -> sympy.Expr:  # noqa: ARG001
    """Take permutations of rows and columns out of a function that treats them alike."""
    if not isinstance(e, RowWise):
        return e
    name, inner = e.args
    terms = [_factors(term) for term in sympy.Add.make_args(sympy.expand(inner))]
    first, last = terms[0][1][:1], terms[0][1][-1:]
    if _is_permutation(first) and all(factors[:1] == first for _, factors in terms):
        rest = sympy.Add(*(sympy.Mul(number, *factors[1:]) for number, factors in terms))
        return first[0] * e.func(name, rest)
    if _is_permutation(last) and all(factors[-1:] == last for _, factors in terms):
        rest = sympy.Add(*(sympy.Mul(number, *factors[:-1]) for number, factors in terms))
        return e.func(name, rest) * last[0]
    return e


def assumed(left: sympy.Expr, right: sympy.Expr) -> Rewrite:
    """Return the rewriting of a product into what it is assumed to be.

    Where that is the identity, of two names, the second also stands for the inverse of the first.
    """
    number, pattern = _factors(left)
    if number != 1 or not pattern or left.is_Add:
        raise ValueError(f"{left} is no product of matrices")
    inverses = len(pattern) == 2 and right == 1 and all(name.is_Symbol for name in pattern)

    def rewrite(e: sympy.Expr, world: World) -> sympy.Expr:  # noqa: ARG001
        if inverses and e == pattern[1]:
            return pattern[0] ** -1
        factor, factors = _factors(e) if e.is_Mul or e == left else (1, [])
        for at in range(len(factors) - len(pattern) + 1):
            if factors[at : at + len(pattern)] == pattern:
                return sympy.Mul(factor, *factors[:at], right, *factors[at + len(pattern) :])
        return e

    return rewrite


def _factors(term: sympy.Expr) -> tuple[sympy.Expr, list[sympy.Expr]]:
    """Return the number and the matrices of a product, powers of these one by one."""
    numbers, matrices = term.args_cnc()
    single = []
    for factor in matrices:
        base, power = factor.as_base_exp()
        whole = power.is_Integer and power > 1
        single += [base] * int(power) if whole else [factor]
    return sympy.Mul(*numbers), single


def _is_permutation(factors: list[sympy.Expr]) -> bool:
    names = [f.args[0] if isinstance(f, Transposed) else f for f in factors]
    return bool(names) and isinstance(names[0], Permutation)


def _transposed(e: sympy.Expr) -> sympy.Expr:
    """Carry transposes out as far as the names."""
    return e.replace(Transposed, Transpose)
