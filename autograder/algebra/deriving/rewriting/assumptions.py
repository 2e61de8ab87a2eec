"""What is assumed of names: by facts that a step may use, and by what names can be."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import sympy

from autograder.algebra.deriving.lines.opacity import Opaque
from autograder.algebra.deriving.lines.places import free_indices
from autograder.algebra.deriving.lines.world import Env, World
from autograder.algebra.deriving.lines.written_out import value


def assumed_values(world: World, point: str) -> Iterator[str]:
    """Yield what the names of which something is assumed come to at a point: ``"x_1=0.73"``."""
    at = dict(re.findall(r"(\w+)=([^,]+)", point))
    size = world.names.index(world.names.size)
    if size.name not in at:
        return
    env = {size: sympy.Integer(at[size.name])}
    for name, (indices, meaning) in world.assumed.items():
        for at_places in itertools.product(range(1, env[size] + 1), repeat=len(indices)):
            own = dict(zip(indices, map(sympy.Integer, at_places), strict=True))
            entry = value(meaning, env | own, world)
            known = {s: sympy.Float(at[s.name]) for s in entry.free_symbols if s.name in at}
            if (number := entry.xreplace(known).evalf(4)).is_number:
                yield f"{'_'.join([name, *map(str, at_places)])}={number}"


def assume(
    name: str, sides: tuple[sympy.Expr, sympy.Expr], env: Env, opaque: Opaque, world: World
) -> None:
    """Let a sum or an operator be what a fact of this name says, for all values of its indices."""
    left, right = sides
    free = sorted(free_indices(left, world.names), key=str)
    size = int(env[world.names.index(world.names.size)])
    for values in itertools.product(range(1, size + 1), repeat=len(free)):
        case = env | dict(zip(free, map(sympy.Integer, values), strict=True))
        known = value(left, case, world, opaque)
        if not known.is_Symbol:
            raise ValueError(f"the fact {name!r} says nothing about a sum or an operator")
        opaque.facts[known] = value(right, case, world, opaque)
