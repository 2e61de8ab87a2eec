"""Operators that are not looked into, for steps that are to follow without doing so."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import sympy

from autograder.algebra.building.numeric import Evaluator, Undefined, fixed_context
from autograder.algebra.deriving.lines.memory import Memory

_KNOWN = 2**10  # operators
_WRITTEN = 2**11  # parts of lines
LINEAR = ("D", "Total", "E")


class Opaque:
    """Symbols for operators that are not looked into; equal contents have equal symbols.

    Contents are compared by their value at one random point.
    """

    def __init__(self, closed: tuple[str, ...] = (), *, reorders: bool = False) -> None:
        self.closed = closed  # functions that are opaque, too
        self.reorders = reorders  # whether a sum of a sum is one, in whichever order it is added up
        self.known: dict[str, sympy.Symbol] = {}
        self.facts: dict[sympy.Symbol, Any] = {}  # what some of the symbols are known to be
        self.context = fixed_context(30)
        self.written = Memory(_WRITTEN)  # as `World.parts_written`

    @property
    def is_full(self) -> bool:
        """Whether so many operators are known that new ones should have a place of their own."""
        return len(self.known) >= _KNOWN

    def symbol(self, kind: str, *contents: Any) -> Any:
        """Return the symbol for an operator applied to `contents`.

        For a linear operator a sign in front of the contents is one in front of the symbol.
        """
        parts = [self._mark(entry) for content in contents for entry in flat(content)]
        if kind in LINEAR and parts[:1] and parts[0].startswith("-"):
            first = 1 if kind == "D" else len(contents)
            return -self.symbol(kind, *(-c for c in contents[:first]), *contents[first:])
        if kind == "cos":  # cos(-x) is cos(x)
            parts = [part.removeprefix("-") for part in parts]
        elif kind == "sin" and parts[0].startswith("-"):
            return -self.symbol(kind, -contents[0])
        key = "|".join([kind, *parts])
        symbol = self.known.setdefault(key, sympy.Symbol(f"{kind}#{len(self.known)}", real=True))
        return self.facts.get(symbol, symbol)

    def total(self, terms: Sequence[Any]) -> Any:
        """Return the symbol for the sum of the sums of some terms, in an order of their own."""
        marks = {term: self._mark(term) for term in terms}

        def size(term: sympy.Expr) -> tuple[str, str]:
            return marks[term].removeprefix("-"), marks[term]

        return self.symbol("Total", *sorted(terms, key=size))

    def _mark(self, content: sympy.Expr) -> str:
        point = {s: self._value(s.name) for s in content.free_symbols}
        try:
            return str(self.context.nstr(Evaluator(self.context, point)(content), 18))
        except (Undefined, ArithmeticError, ValueError):
            return f"undefined {content}"

    def _value(self, name: str) -> Any:
        digest = hashlib.sha256(name.encode()).digest()
        return self.context.mpf(int.from_bytes(digest[:12], "big")) / 2**96 + 0.3


def flat(content: object) -> list[sympy.Expr]:
    """Return the entries of a vector or matrix, or what is none by itself."""
    return list(content) if isinstance(content, sympy.MatrixBase) else [content]
