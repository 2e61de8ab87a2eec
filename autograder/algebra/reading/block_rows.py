"""Lists that are block matrices: ``[A, B]``, a column ``[A; B]``, rows of rows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.tree import Node, nodes_of


def as_blocks(tree: Node, text: str) -> Node:
    """Return a tree in which ``[A; B]`` is ``[[A], [B]]``.

    Raises
    ------
    ParseError
        If something in it is a row or a product: ``[A B]``.
    """
    _refuse_blanks(tree, text)
    return _with_columns(tree, text) if ";" in text else tree


def rows_of_blocks(node: Node) -> Sequence[Sequence[Node]]:
    """Return the entries of a block matrix: one row, or a row for each list in a list."""
    rows = [child.children if child.kind == "list" else () for child in node.children]
    return rows if all(rows) else [node.children]


def _refuse_blanks(tree: Node, text: str) -> None:
    """Refuse ``[A B]``, where lists are block matrices: is that a row, or a product?

    Raises
    ------
    ParseError
        With both readings.
    """
    for node in nodes_of(tree):
        if node.kind not in ("list", "group") or text[node.token.position] != "[":
            continue
        places = [min(n.token.position for n in nodes_of(child)) for child in node.children]
        if "," in text[places[0] : places[-1]]:
            continue
        for child, place in zip(node.children, places, strict=True):
            if child.kind == "chain" and {*child.marks} == {"*"}:
                end = max(n.token.position for n in nodes_of(child))
                if not re.search(r"[*·×∙⋅(\[{]|\\(?:cdot|times|ast)", text[place:end]):
                    reason = "are these blocks side by side, or a product? Write [A, B], or [A*B]"
                    raise ParseError(reason, text, place)


def _with_columns(node: Node, text: str) -> Node:
    """Make of a list ``[A; B]`` what ``[[A], [B]]`` is."""
    children = tuple(_with_columns(child, text) for child in node.children)
    if node.kind == "list" and len(children) > 1:
        places = [child.token.position for child in node.children]
        if ";" in text[places[0] : places[1]]:
            children = tuple(
                child if child.kind == "list" else Node("list", child.token, (child,))
                for child in children
            )
    return node._replace(children=children)
