"""Whether a line may be made to fit the few n that are tried, those that are drawn among them."""

from __future__ import annotations

import sympy
from sympy.core.function import AppliedUndef

from autograder.algebra.building.functions import Ceiling, Floor, Max, Min
from autograder.algebra.deriving.lines.indexed_binding import BINDERS
from autograder.algebra.deriving.lines.world import World
from autograder.algebra.deriving.lines.written_out import value

_TRIED = range(2, 13)
_BENT = (Floor, Ceiling, Max, Min, sympy.Piecewise)
_DIGITS = 15


def made_to_fit(e: sympy.Expr, world: World) -> bool:
    """Whether something of n alone stands in an expression that is the same for each n tried.

    Then it can be 0 for all of these and for no other: ``binomial(n, 20)`` is 0 for n up to 19.
    What is put together of pieces can be made so whatever else is in it.
    """
    size = world.names.index(world.names.size)
    if size not in _free(e):
        return False
    if isinstance(e, _BENT) or (_is_of(size, e) and e.has(*_BENT)):
        return True
    if isinstance(e, sympy.Abs | sympy.sign) and size in _free(e, ends=False):
        return True  # |n - 13 + p| for a p between 0 and 1
    if _is_of(size, e):
        found = {str(sympy.N(value(e, {size: sympy.Integer(n)}, world), _DIGITS)) for n in _TRIED}
        return len(found) == 1
    return any(made_to_fit(part, world) for part in _parts(e, size))


def _parts(e: sympy.Expr, size: sympy.Symbol) -> list[sympy.Expr]:
    """Return what an expression is made of; of a sum or a product what is of n alone as one."""
    if isinstance(e, BINDERS):
        return [e.args[0]]
    alone = [arg for arg in e.args if e.is_Add or e.is_Mul if _is_of(size, arg)]
    return [*(arg for arg in e.args if arg not in alone), *([e.func(*alone)] if alone else [])]


def _is_of(size: sympy.Symbol, e: sympy.Expr) -> bool:
    return _free(e) == {size} and not e.has(AppliedUndef)


def _free(e: sympy.Expr, *, ends: bool = True) -> set[sympy.Expr]:
    """Return the symbols of an expression that no sum binds; `ends` of sums may be left out."""
    if isinstance(e, BINDERS):
        body, index, *rest = e.args
        outside = map(_free, rest) if ends else ()
        return (_free(body, ends=ends) - {index}).union(*outside)
    if not e.args:
        return {e} if isinstance(e, sympy.Symbol) else set()
    return set().union(*(_free(part, ends=ends) for part in e.args))
