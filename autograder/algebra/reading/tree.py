"""What a text says, as a tree: how it was written, nothing computed."""

from __future__ import annotations

import re
from typing import NamedTuple

from autograder.algebra.reading.lexer import Token


class Node(NamedTuple):
    """One construct of a text.

    Attributes
    ----------
    kind : str
        ``number``, ``name``, ``call``, ``chain`` (a sum or a product), ``power``, ``relation``,
        ``matrix``, …
    token : Token
        Where it stands; the name of a ``call``.
    children : tuple of Node
    marks : tuple of str
        The operators between the children of a ``chain`` or ``relation``.
    """

    kind: str
    token: Token
    children: tuple[Node, ...] = ()
    marks: tuple[str, ...] = ()


_BINDING = ("Sum", "sum", "Product", "product", "Largest", "Smallest")


def call(name: str, token: Token, *arguments: Node) -> Node:
    """Return a call of `name` that stands where `token` does."""
    return Node("call", Token("name", name, token.position), arguments)


def shares_a_name(one: Node, other: Node) -> bool:
    """Whether a name of one tree stands in the other, alone or as an index: j in ``v_j``.

    An index that is bound inside is no name of the whole: there is no j in ``sum(v_j, j)``.
    """
    return bool(_names(one) & _names(other))


def _names(node: Node) -> set[str]:
    own = re.findall(r"[^\W\d_]+", node.token.text) if node.kind == "name" else []
    if node.kind == "call" and node.token.text in _BINDING and len(node.children) > 1:
        body, index, *ends = node.children
        return _names(body) - _names(index) | set().union(*map(_names, ends))
    return {*own}.union(*map(_names, node.children))
