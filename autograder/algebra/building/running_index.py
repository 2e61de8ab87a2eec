"""Names, which may have a running index, and sums and products over one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from autograder.algebra.building.block import Block
from autograder.algebra.building.construction import Construction
from autograder.algebra.building.functions import delta
from autograder.algebra.building.library import CALLS, CONSTANTS
from autograder.algebra.building.sizes import MAX_TERMS, bits
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.lexer import Token
from autograder.algebra.reading.tree import Node, is_constant


def name(site: Construction, node: Node, _depth: int) -> Any:
    """Return what a name stands for."""
    word = node.token.text
    value = _with_index(site, node) if site.bound else None
    if value is None and is_constant(node, site.text, site.scope.names or {}, CONSTANTS):
        value = CONSTANTS[word]
    value = site.scope.find(word) if value is None else value
    if value is not None:
        return value
    if word in site.functions or word in CALLS:
        raise site.fail(f"{word} needs brackets: {word}(…)", node)
    raise site.fail(f"unknown name {word}; {site.scope.nearest(word)}", node)


def bind(site: Construction, node: Node, depth: int) -> Any:
    """Build ``sum(f, k, 1, n)``, ``sum(f, k)`` or a sum over all k but one."""
    parts = node.children
    if len(parts) == 2 and parts[1].kind == "tuple":
        parts = (parts[0], *parts[1].children)
    word = node.token.text
    body, index = parts[0], parts[1] if len(parts) > 1 else parts[0]
    left_out = parts[2] if node.marks else None
    if len(parts) not in (2, 4) and not left_out:
        raise site.fail(f"write the range: {word}(term, k, 1, n)", node)
    if index.kind != "name":
        raise site.fail("expected the name of the running index", index)
    if len(parts) == 4:
        low, high = site.build(parts[2], depth), site.build(parts[3], depth)
    else:
        low, high = _range(site, index, node)
    add = word.lower() == "sum"
    if any(isinstance(end, sympy.MatrixBase) for end in (low, high)):
        raise site.fail("a range goes from a whole number to one", index)
    if low.is_number and high.is_number:
        total = _written_out(site, add, body, index.token, low, high, depth)
    else:
        symbol = sympy.Symbol(index.token.text, integer=True)
        with_index = _term(site, body, index.token, symbol, depth)
        total = (sympy.Sum if add else sympy.Product)(with_index, (symbol, low, high))
        if with_index == (0 if add else 1):  # nothing is added, or multiplied by one
            total = with_index
    if left_out is None:
        return total
    one = _term(site, body, index.token, _index(site, left_out, depth), depth)
    return total - one if add else total / one


def _range(site: Construction, index: Node, node: Node) -> tuple[sympy.Expr, sympy.Expr]:
    """Return the range of an index for which none is written."""
    size = site.scope.size(index.token.text)
    if size is None:
        word = "sum" if node.token.text.lower() == "sum" else "product"
        name = index.token.text
        raise site.fail(f"write the range of {name}: {word}(term, {name}, 1, n)", node)
    return sympy.Integer(1), size


def _written_out(
    site: Construction, add: bool, body: Node, index: Token, low: Any, high: Any, depth: int
) -> Any:
    if not (low.is_Integer and high.is_Integer):
        raise ParseError("a range goes from a whole number to one", site.text, index.position)
    if high - low >= MAX_TERMS or max(abs(low), abs(high)) > 10**6:
        raise ParseError(f"at most {MAX_TERMS} terms are read", site.text, index.position)
    total: Any = sympy.Integer(0 if add else 1)
    if high < low:  # nothing is added, but what is written must make sense
        _term(site, body, index, sympy.Symbol(index.text, integer=True), depth)
    for value in range(int(low), int(high) + 1):
        term = _term(site, body, index, sympy.Integer(value), depth)
        total = total + term if add else total * term
        if bits(total) > 20 * MAX_TERMS:
            raise ParseError("this number is too large", site.text, index.position)
    return total


def _term(site: Construction, body: Node, index: Token, value: sympy.Expr, depth: int) -> Any:
    hidden = site.bound.get(index.text)
    site.bound[index.text] = value
    try:
        term = site.build(body, depth)
    finally:
        del site.bound[index.text]
        if hidden is not None:
            site.bound[index.text] = hidden
    if isinstance(term, sympy.MatrixBase):
        raise site.fail("a sum of matrices is not read", body)
    return term


def indexed(site: Construction, node: Node, depth: int) -> Any:
    """Build ``p[k]`` and ``z_{k+1}``."""
    return _entry(site, node, node.token.text, [_index(site, i, depth) for i in node.children])


def _index(site: Construction, node: Node, depth: int) -> Any:
    """Return an index as a number, an expression with whole numbers, or a name's text."""
    if node.kind == "name" and node.token.text not in site.bound:
        return node.token.text
    value = site.build(node, depth)
    if value.is_Integer:
        return value
    whole = {s: sympy.Symbol(s.name, integer=True) for s in value.free_symbols if s.is_Symbol}
    return value.xreplace(whole)


def _with_index(site: Construction, node: Node) -> Any:
    """Return what a running index, or a name with one as subscript, stands for."""
    word = node.token.text
    if word in site.bound:
        return site.bound[word]
    base, underscore, subscript = word.partition("_")
    if not underscore:
        return None
    letters = [subscript] if subscript in site.bound else list(subscript)
    if not any(letter in site.bound for letter in letters):
        return None
    return _entry(site, node, base, [site.bound.get(letter, letter) for letter in letters])


def _entry(site: Construction, node: Node, base: str, values: list[Any]) -> Any:
    if base == "delta" and len(values) == 2:
        indices = [*map(as_index, values)]
        if problem := index_problem(indices):
            raise site.fail(problem, node)
        return delta(*indices)
    if all(isinstance(value, str) or value.is_Integer for value in values):
        name = f"{base}_{''.join(map(str, values))}"
        value = site.scope.find(name)
        if value is None:
            raise site.fail(f"unknown name {name}; {site.scope.nearest(name)}", node)
        return value
    if not site.scope.find_base(base):
        raise site.fail(f"unknown name {base}; {site.scope.nearest(base)}", node)
    family = sympy.IndexedBase(base, **site.scope.known_of_family(base))
    return sympy.Indexed(family, *map(as_index, values))


def index_problem(values: Sequence[sympy.Expr]) -> str:
    """Say why these are no indices of a Kronecker delta, "" if they are."""
    others = any((v.is_number and not v.is_Integer) or v.has(Block) for v in values)
    return "delta takes two indices" if others else ""


def as_index(value: object) -> Any:
    """Return an index that is written as text as a number or a name for whole numbers."""
    if isinstance(value, str):
        return sympy.Integer(value) if value.isdigit() else sympy.Symbol(value, integer=True)
    return value
