"""Sums in a line that go out with the rest: they count, or hold a δ."""

from __future__ import annotations

from collections.abc import Collection

import sympy
from sympy.core.function import AppliedUndef

from autograder.algebra.deriving.lines.bars import rebuilt
from autograder.algebra.deriving.lines.inert import Total, unnamed
from autograder.algebra.deriving.lines.world import World
from autograder.algebra.deriving.rewriting import calculus


def adds_empty_sums(before: sympy.Expr, line: sympy.Expr, world: World) -> bool:
    """Whether a line is another one, with sums in it that go out with the rest.

    ``sum(1, k) - n`` goes out, and so does ``sum(p_k*delta(k, i), k) - p_i``; ``sum(x/n, k)`` is x.
    To write h·m² as a sum of h terms, or two sums as one, is something else: it makes a line
    shorter.
    """
    known = {unnamed(total) for total in before.atoms(Total)}
    if {unnamed(total) for total in line.atoms(Total)} <= known:
        return False
    worked_out, named = _worked_out(line, known, world)
    return bool(unnamed(worked_out) == unnamed(before)) and _leaves(named) >= _leaves(before)


def _worked_out(
    e: sympy.Expr, known: Collection[sympy.Expr], world: World
) -> tuple[sympy.Expr, sympy.Expr]:
    """Put what they come to for all sums but `known` ones that come to something; and a name."""
    if not (e.args and e.has(Total)):
        return e, e
    values, names = zip(*(_worked_out(a, known, world) for a in e.args), strict=True)
    e, named = rebuilt(e, values), rebuilt(e, names)
    if not isinstance(e, Total) or unnamed(e) in known:
        return e, named
    value = _without_counts(e, world)
    if value == e:
        return e, named
    depends_on = sorted(value.free_symbols, key=str) or [sympy.Integer(0)]
    return value, sympy.Function(f"value of {unnamed(e)}")(*depends_on)


def _without_counts(e: Total, world: World) -> sympy.Expr:
    """Take the terms out of a sum that are the same for each index, or hold its δ."""
    body, *bound = e.args
    terms = sympy.Add.make_args(sympy.expand(body))
    values = [
        calculus.contraction(calculus.counted(Total(term, *bound), world), world) for term in terms
    ]
    out = [value for value in values if not value.has(Total)]
    rest = [term for term, value in zip(terms, values, strict=True) if value.has(Total)]
    return sympy.Add(*out, *([Total(sympy.Add(*rest), *bound)] if rest else [])) if out else e


def _leaves(e: sympy.Expr) -> int:
    """Return how many names and numbers stand in an expression; an entry is one."""
    whole = not e.args or isinstance(e, AppliedUndef)
    return 1 if whole else sum(map(_leaves, e.args))
