"""What two formulas are made of, found in one walk over both."""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from autograder.algebra.building.functions import Atan2, Ceiling, Factorial, Floor, Max, Min
from autograder.algebra.building.scope import Scope, plain_name

# Constant or linear in pieces: points on one side of a bend alone say nothing about the other.
PIECES = (sympy.Abs, Max, Min, sympy.sign, sympy.Heaviside, Floor, Ceiling, Atan2)


class Survey:
    """What decides at which points two formulas are to be compared.

    Attributes
    ----------
    symbols : list of symbol
        Those that need a value, by name.
    whole : set of symbol
        Those that only make sense as whole numbers: the bounds of a sum, what has a "!".
    indices : set of symbol
        Those of them that are indices, as j is in p_j.
    wide : bool
        Whether something may change its form far from zero: |x + 10⁶|, √((x + 10⁶)²).
    general : bool
        Whether there is a power with symbols in base and exponent.
    steps : bool
        Whether something is rounded up or down.
    runs : bool
        Whether there is a sum or product with a running index.
    nested : bool
        Whether there is one within another.
    imaginary : bool
        Whether the formulas speak of complex numbers: by i, or by a name declared as complex.
    too_large : bool
        Whether there are more than `most` nodes on a side; then nothing else was found out.
    """

    def __init__(self, a: sympy.Expr, b: sympy.Expr, most: int) -> None:
        self.whole: set[sympy.Symbol] = set()
        self.indices: set[sympy.Symbol] = set()
        self.wide = self.general = self.steps = self.runs = self.too_large = False
        self.nested = self.imaginary = False
        self._found: set[sympy.Symbol] = set()
        self._bound = False
        for side in (a, b):
            self._walk(side, most)
            if self.too_large:
                return
        if self._bound:
            free = sympy.Tuple(a, b).free_symbols
            self._found = {symbol for symbol in free if symbol.is_Symbol}
        self.whole |= self.indices
        self.symbols = sorted(self._found, key=lambda symbol: symbol.name)

    def _walk(self, side: sympy.Expr, most: int) -> None:
        nodes = [side]
        for _ in range(most):
            if not nodes:
                return
            node = nodes.pop()
            if node.is_Symbol:
                self._found.add(node)
                self.imaginary |= is_complex(node)
            elif node is sympy.I:
                self.imaginary = True
            elif node.args:
                nodes += node.args
                self._note(node)
        self.too_large = True

    def _note(self, node: sympy.Basic) -> None:
        if node.is_Add or node.is_Mul:
            return
        if node.is_Pow:
            if not node.exp.is_Rational:
                self.general |= bool(node.exp.free_symbols and node.base.free_symbols)
            elif not node.exp.is_Integer and not node.base.is_Symbol:
                self.wide = True
        elif isinstance(node, PIECES):
            self.wide = True
            self.steps |= isinstance(node, Floor | Ceiling)
        elif isinstance(node, Factorial):
            self.whole |= node.free_symbols
        elif isinstance(node, sympy.Sum | sympy.Product):
            self.runs = self._bound = True
            self.nested |= len(node.limits) > 1 or node.function.has(sympy.Sum, sympy.Product)
            for limit in node.limits:
                self.whole |= limit[1].free_symbols | limit[2].free_symbols
        elif isinstance(node, sympy.KroneckerDelta | sympy.Indexed):
            self._bound |= isinstance(node, sympy.Indexed)
            for index in node.args if isinstance(node, sympy.KroneckerDelta) else node.indices:
                self.indices |= index.free_symbols


def is_complex(symbol: sympy.Symbol) -> bool:
    """Whether a name is declared as complex, so that real values say too little of it."""
    return bool(symbol.is_complex and symbol.is_extended_real is None)


def same_symbols(
    a: sympy.Expr, b: sympy.Expr, assumptions: Mapping[str, str] | None
) -> tuple[sympy.Expr, sympy.Expr]:
    """Give both sides the same symbol for the same name."""
    symbols = sorted(
        (s for s in a.free_symbols | b.free_symbols if s.is_Symbol), key=lambda s: s.name
    )
    known: dict[str, sympy.Symbol] = {}
    scope = None if assumptions is None else Scope(None, assumptions)
    for symbol in symbols:
        if scope:
            known.setdefault(plain_name(symbol.name), scope.symbol(symbol.name))
        known.setdefault(plain_name(symbol.name), symbol)
    renaming = {s: known[plain_name(s.name)] for s in symbols if s != known[plain_name(s.name)]}
    if not renaming:
        return a, b
    return a.xreplace(renaming), b.xreplace(renaming)
