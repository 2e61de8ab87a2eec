"""Sums with a running index, as the sums that they are short for: Σ w_k is w_1 + w_2 + w_3."""

from __future__ import annotations

from autograder.algebra.deriving.lines.line import MAX_SPLIT_TERMS
from autograder.algebra.reading.lexer import Token
from autograder.algebra.reading.tree import Node

_SUMS = ("sum", "Sum")


def spelled_out(node: Node) -> Node:
    """Return a tree in which short sums from one number to another stand term by term.

    What a line shows is looked for in how it is written, and Σ_{k=1}^3 w_k shows what
    w_1 + w_2 + w_3 does.
    """
    node = node._replace(children=tuple(map(spelled_out, node.children)))
    if node.kind != "call" or node.token.text not in _SUMS or node.marks:
        return node
    parts = node.children
    if len(parts) == 2 and parts[1].kind == "tuple":
        parts = (parts[0], *parts[1].children)
    if len(parts) != 4 or parts[1].kind != "name" or not all(map(_is_whole, parts[2:])):
        return node
    body, index, low, high = parts
    first, last = int(low.token.text), int(high.token.text)
    if not 0 < last - first < MAX_SPLIT_TERMS:
        return node
    terms = [_with(body, index.token.text, str(value)) for value in range(first, last + 1)]
    total = Node("chain", node.token, tuple(terms), ("+",) * (len(terms) - 1))
    return Node("group", node.token, (total,))


def _is_whole(node: Node) -> bool:
    return node.kind == "number" and node.token.text.isdigit()


def _with(node: Node, letter: str, number: str) -> Node:
    """Return a tree with a number for an index, alone or in the name of an entry."""
    node = node._replace(children=tuple(_with(child, letter, number) for child in node.children))
    if node.kind != "name":
        return node
    base, mark, index = node.token.text.partition("_")
    if not mark and base == letter:
        return Node("number", Token("number", number, node.token.position, node.token.end))
    places = number if index == letter else index.replace(letter, number)
    return node._replace(token=node.token._replace(text=f"{base}{mark}{places}"))
