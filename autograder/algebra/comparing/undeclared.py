"""What names mean that nobody declared: whatever is transposed is no number.

Names are real numbers unless told otherwise, and the transpose of a number is that number.  So
``QK^T`` would be ``QK``, were the names in it taken for numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from autograder.algebra.building.library import CALLS, CONSTANTS
from autograder.algebra.building.scope import plain_name
from autograder.algebra.reading.grammar import read_tree
from autograder.algebra.reading.tree import Node

_CALLS = frozenset(CALLS)
_HINT = re.compile(r"ᵀ|\^\s*\{?\s*T|\.T\b|\\top|\\intercal|transpose|norm|‖|\|\||\\\||[lr]Vert")
_NUMBERS = frozenset("abcdijlmnt")  # letters that rarely stand for a vector
_ROOTS = ("sqrt", "abs", "log", "ln", "root")


def matrices(
    texts: Iterable[str], names: Collection[str] | None, known: Collection[str]
) -> dict[str, str]:
    """Return assumptions for names that stand for matrices and vectors, without being `known`.

    Those are what is transposed, capital letters in norms, and beside them other capital letters,
    and small ones that are multiplied with them, unless only a number can stand there.
    """
    texts = tuple(texts)
    if not all(isinstance(text, str) for text in texts) or not any(map(_HINT.search, texts)):
        return {}
    trees = [
        read_tree(
            text,
            implicit=True,
            functions=_CALLS,
            words=frozenset(map(plain_name, names or known)),
            open_functions=names is None,
        )
        for text in texts
    ]
    found = {name for tree in trees for name in _transposed(tree)}
    if not found:
        return {}
    numbers = {name for tree in trees for name in _numbers(tree)} | set(known)
    near = {name for tree in trees for name in _beside(tree, found)}
    everywhere = {name for tree in trees for name in _names(tree)}
    found |= {name for name in everywhere if name[0].isupper()}
    found |= {name for name in near if name[0].islower() and name[0] not in _NUMBERS}
    constants = CONSTANTS.keys() - set(names or ())
    return {
        name: "matrix" if name[0].isupper() else "vector"
        for name in found - numbers - constants - {"T"}
    }


def _names(node: Node) -> Iterator[str]:
    if node.kind == "name":
        yield node.token.text
    for child in node.children:
        yield from _names(child)


def _transposed(node: Node) -> Iterator[str]:
    is_norm = node.kind == "call" and node.token.text == "norm"
    if is_norm or node.kind == "transpose" or node.token.text == "transpose":
        yield from (name for name in _names(node) if name[0].isupper() or not is_norm)
    for child in node.children:
        yield from _transposed(child)


def _numbers(node: Node) -> Iterator[str]:
    """Yield the names that stand where only a number can."""
    numbers: Iterable[Node] = ()
    if node.kind == "power":
        numbers = node.children[1:]
    elif node.kind == "chain":
        numbers = [c for c, mark in zip(node.children[1:], node.marks, strict=True) if mark == "/"]
    elif node.kind == "call" and node.token.text in _ROOTS:
        numbers = node.children
    for child in numbers:
        while child.kind == "group":
            child = child.children[0]
        if child.kind == "name":
            yield child.token.text
    for child in node.children:
        yield from _numbers(child)


def _beside(node: Node, found: Collection[str]) -> Iterator[str]:
    """Yield the names that are multiplied with something in `found`."""
    if node.kind == "chain" and "*" in node.marks and not set(_names(node)).isdisjoint(found):
        yield from (child.token.text for child in node.children if child.kind == "name")
    for child in node.children:
        yield from _beside(child, found)
