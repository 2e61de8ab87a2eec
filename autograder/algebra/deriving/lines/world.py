"""What indexed lines are about: definitions, random names, vectors, and the cases to look at."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy

from autograder.algebra.deriving.lines.bars import rebuilt
from autograder.algebra.deriving.lines.indexed import LineNames
from autograder.algebra.deriving.lines.indexed_binding import fresh
from autograder.algebra.deriving.lines.inert import E, Uncomputed, Var
from autograder.algebra.deriving.lines.memory import Memory
from autograder.algebra.deriving.lines.places import are_numbers, free_indices, places

_KEPT = 128  # lines with definitions put in
_PARTS = 2**16  # of lines, by each set of rules
_CASES = 2**6  # each with operators that are not looked into
_WRITTEN = 2**13  # parts of lines, for some n and indices

Env = dict[sympy.Symbol, sympy.Integer]
Meanings = Mapping[str, tuple[tuple[sympy.Symbol, ...], sympy.Expr]]


@dataclass(frozen=True)
class World:
    """What lines are about, apart from the names themselves.

    Attributes
    ----------
    definitions
        By name, its indices and what it stands for.
    moments
        By random name, mean and variance of each entry as a function of its indices; entries are
        independent.
    normal
        Random names whose entries are independent standard normal variables.
    vectors
        Indexed names whose entries are vectors.
    assumed
        As `definitions`, for names of which something is assumed: all that they can be.
    """

    names: LineNames
    definitions: Meanings = field(default_factory=dict)
    moments: Mapping[str, tuple[sympy.Expr, sympy.Expr]] = field(default_factory=dict)
    normal: frozenset[str] = frozenset()
    vectors: frozenset[str] = frozenset()
    assumed: Meanings = field(default_factory=dict)

    @functools.cached_property
    def put_in(self) -> Callable[[sympy.Expr], sympy.Expr]:
        """Replace every name that is defined, or of which something is assumed.

        A line is looked at for every n: sympy would work out anew what is new by name alone.
        """
        meanings = {**self.definitions, **self.assumed}
        return functools.lru_cache(_KEPT)(lambda expr: self._replaced(expr, meanings))

    @functools.cached_property
    def remembered(self) -> Memory:
        """What was worked out before: a line is compared with both of its neighbours."""
        return Memory()

    @functools.cached_property
    def parts_remembered(self) -> Memory:
        """What became of parts of lines by rules: each line is made of parts of others."""
        return Memory(_PARTS)

    @functools.cached_property
    def opaque(self) -> Memory:
        """The symbols for operators that are not looked into, for some n, indices and facts."""
        return Memory(_CASES)

    @functools.cached_property
    def parts_written(self) -> Memory:
        """What parts of lines come to for some n and indices, with the terms that each took."""
        return Memory(_WRITTEN)

    def places_in(self, expr: sympy.Expr, env: Env) -> list[tuple[sympy.Symbol, Any]]:
        """Return the indices and sizes on which it depends what an expression comes to."""
        return [(symbol, env[symbol]) for symbol in self._names(expr) if symbol in env]

    @functools.cached_property
    def _names(self) -> Callable[[sympy.Expr], tuple[sympy.Symbol, ...]]:
        moments = {s for pair in self.moments.values() for m in pair for s in m.free_symbols}

        def names(expr: sympy.Expr) -> tuple[sympy.Symbol, ...]:
            return tuple(sorted(expr.free_symbols | moments, key=str))

        return functools.lru_cache(_WRITTEN)(names)

    def put_definitions_in(self, expr: sympy.Expr) -> sympy.Expr:
        """Replace every defined name by what it stands for."""
        return self._replaced(expr, self.definitions)

    def _replaced(self, expr: sympy.Expr, meanings: Meanings) -> sympy.Expr:
        numbers = itertools.count()
        for _ in range(len(meanings) + 1):
            before, expr = expr, self._replaced_once(expr, meanings, numbers)
            if expr == before:
                return expr
        raise ValueError("the definitions go round in a circle")

    def _replaced_once(
        self, expr: sympy.Expr, meanings: Meanings, numbers: Iterator[int]
    ) -> sympy.Expr:
        if not expr.args:
            found = meanings.get(getattr(expr, "name", ""))
            return fresh(found[1], numbers) if found and expr.is_Symbol else expr
        args = [self._replaced_once(a, meanings, numbers) for a in expr.args]
        found = meanings.get(expr.func.__name__)
        if found and expr.is_Function and not isinstance(expr, Uncomputed):
            return fresh(found[1], numbers).xreplace(dict(zip(found[0], args, strict=True)))
        return rebuilt(expr, args)

    def is_random(self, expr: sympy.Expr) -> bool:
        """Whether a random name occurs, but for means and variances: these are numbers."""
        if isinstance(expr, E | Var):
            return False
        if expr.is_Function and expr.func.__name__ in {*self.moments, *self.normal}:
            return True
        return any(map(self.is_random, expr.args))

    def is_variable(self, expr: sympy.Expr, by: sympy.Expr) -> bool:
        """Whether `expr` may depend on what is differentiated by."""
        expr = self.put_in(expr)
        if by.is_Symbol:
            return bool(expr.has(by))
        return any(f.func == by.func for f in _entries(expr))

    def cases(self, *lines: sympy.Expr, sizes: tuple[int, ...]) -> Iterator[Env]:
        """Yield every n with every coincidence of the free indices."""
        found = {s for line in lines for s in free_indices(line, self.names)}
        indices = sorted(found, key=str)
        size = self.names.index(self.names.size)
        if not indices and not any(size in self.put_in(line).free_symbols for line in lines):
            sizes = sizes[:1]  # nothing depends on n
        # In parts it matters which of all they are, and in i x_i as well.
        each = bool(self.names.parts) or any(are_numbers(found, line) for line in lines)
        for n in sizes:
            for lengths in self._lengths(n):
                env = {size: sympy.Integer(n), **lengths}
                for values in places(len(indices), n, each=each):
                    yield env | dict(zip(indices, map(sympy.Integer, values), strict=True))

    def _lengths(self, n: int) -> Iterator[Env]:
        """Yield the other sizes for a given n; a part has one index, or all but one."""
        others = {self.names.index(name): sympy.Integer(n + 1) for name in self.names.sizes}
        parts = [self.names.index(name) for name in self.names.parts]
        for ends in itertools.product(sorted({1, n - 1}), repeat=len(parts)):
            yield others | dict(zip(parts, map(sympy.Integer, ends), strict=True))


def _entries(expr: sympy.Expr) -> set[sympy.Expr]:
    return {f for f in expr.atoms(sympy.Function) if not isinstance(f, Uncomputed)}
