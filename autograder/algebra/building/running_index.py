"""Sums, products and names with a running index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from autograder.algebra.building.construction import Construction
from autograder.algebra.building.functions import delta
from autograder.algebra.building.sizes import MAX_TERMS, bits
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.lexer import Token
from autograder.algebra.reading.tree import Node


class Running(Construction):
    """Build what has an index."""

    def _bind(self, node: Node, depth: int) -> Any:
        """Build ``sum(f, k, 1, n)``, ``sum(f, k)`` or a sum over all k but one."""
        parts = node.children
        if len(parts) == 2 and parts[1].kind == "tuple":
            parts = (parts[0], *parts[1].children)
        word = node.token.text
        body, index = parts[0], parts[1] if len(parts) > 1 else parts[0]
        left_out = parts[2] if node.marks else None
        if len(parts) not in (2, 4) and not left_out:
            raise self.fail(f"write the range: {word}(term, k, 1, n)", node)
        if index.kind != "name":
            raise self.fail("expected the name of the running index", index)
        if len(parts) == 4:
            low, high = self.build(parts[2], depth), self.build(parts[3], depth)
        else:
            low, high = self._range(index, node)
        add = word.lower() == "sum"
        if any(isinstance(end, sympy.MatrixBase) for end in (low, high)):
            raise self.fail("a range goes from a whole number to one", index)
        if low.is_number and high.is_number:
            total = self._written_out(add, body, index.token, low, high, depth)
        else:
            symbol = sympy.Symbol(index.token.text, integer=True)
            with_index = self._with_index(body, index.token, symbol, depth)
            total = (sympy.Sum if add else sympy.Product)(with_index, (symbol, low, high))
            if with_index == (0 if add else 1):  # nothing is added, or multiplied by one
                total = with_index
        if left_out is None:
            return total
        one = self._with_index(body, index.token, self._index(left_out, depth), depth)
        return total - one if add else total / one

    def _range(self, index: Node, node: Node) -> tuple[sympy.Expr, sympy.Expr]:
        """Return the range of an index for which none is written."""
        size = self.scope.size(index.token.text)
        if size is None:
            word = "sum" if node.token.text.lower() == "sum" else "product"
            name = index.token.text
            raise self.fail(f"write the range of {name}: {word}(term, {name}, 1, n)", node)
        return sympy.Integer(1), size

    def _written_out(
        self, add: bool, body: Node, index: Token, low: Any, high: Any, depth: int
    ) -> Any:
        if not (low.is_Integer and high.is_Integer):
            raise ParseError("a range goes from a whole number to one", self.text, index.position)
        if high - low >= MAX_TERMS or max(abs(low), abs(high)) > 10**6:
            raise ParseError(f"at most {MAX_TERMS} terms are read", self.text, index.position)
        total: Any = sympy.Integer(0 if add else 1)
        if high < low:  # nothing is added, but what is written must make sense
            self._with_index(body, index, sympy.Symbol(index.text, integer=True), depth)
        for value in range(int(low), int(high) + 1):
            term = self._with_index(body, index, sympy.Integer(value), depth)
            total = total + term if add else total * term
            if bits(total) > 20 * MAX_TERMS:
                raise ParseError("this number is too large", self.text, index.position)
        return total

    def _with_index(self, body: Node, index: Token, value: sympy.Expr, depth: int) -> Any:
        hidden = self.bound.get(index.text)
        self.bound[index.text] = value
        try:
            term = self.build(body, depth)
        finally:
            del self.bound[index.text]
            if hidden is not None:
                self.bound[index.text] = hidden
        if isinstance(term, sympy.MatrixBase):
            raise self.fail("a sum of matrices is not read", body)
        return term

    def _indexed(self, node: Node, depth: int) -> Any:
        """Build ``p[k]`` and ``z_{k+1}``."""
        return self._entry(node, node.token.text, [self._index(i, depth) for i in node.children])

    def _index(self, node: Node, depth: int) -> Any:
        """Return an index as a number, an expression with whole numbers, or a name's text."""
        if node.kind == "name" and node.token.text not in self.bound:
            return node.token.text
        value = self.build(node, depth)
        if value.is_Integer:
            return value
        whole = {s: sympy.Symbol(s.name, integer=True) for s in value.free_symbols if s.is_Symbol}
        return value.xreplace(whole)

    def with_index(self, node: Node) -> Any:
        """Return what a running index, or a name with one as subscript, stands for."""
        word = node.token.text
        if word in self.bound:
            return self.bound[word]
        base, underscore, subscript = word.partition("_")
        if not underscore:
            return None
        letters = [subscript] if subscript in self.bound else list(subscript)
        if not any(letter in self.bound for letter in letters):
            return None
        return self._entry(node, base, [self.bound.get(letter, letter) for letter in letters])

    def _entry(self, node: Node, base: str, values: list[Any]) -> Any:
        if base == "delta" and len(values) == 2:
            indices = [*map(as_index, values)]
            if problem := index_problem(indices):
                raise self.fail(problem, node)
            return delta(*indices)
        if all(isinstance(value, str) or value.is_Integer for value in values):
            name = f"{base}_{''.join(map(str, values))}"
            value = self.scope.find(name)
            if value is None:
                raise self.fail(f"unknown name {name}; {self.scope.nearest(name)}", node)
            return value
        if not self.scope.find_base(base):
            raise self.fail(f"unknown name {base}; {self.scope.nearest(base)}", node)
        family = sympy.IndexedBase(base, **self.scope.known_of_family(base))
        return sympy.Indexed(family, *map(as_index, values))


def index_problem(values: Sequence[sympy.Expr]) -> str:
    """Say why these are no indices of a Kronecker delta, "" if they are."""
    numbers = any(value.is_number and not value.is_Integer for value in values)
    return "delta takes two indices" if numbers else ""


def as_index(value: object) -> Any:
    """Return an index that is written as text as a number or a name for whole numbers."""
    if isinstance(value, str):
        return sympy.Integer(value) if value.isdigit() else sympy.Symbol(value, integer=True)
    return value
