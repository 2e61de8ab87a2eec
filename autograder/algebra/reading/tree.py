"""What a text says, as a tree: how it was written, nothing computed."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping
from typing import NamedTuple

from autograder.algebra.reading.errors import ParseError
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


_BINDING = ("Sum", "sum", "Product", "product", "Largest")


def call(name: str, token: Token, *arguments: Node) -> Node:
    """Return a call of `name` that stands where `token` does."""
    return Node("call", Token("name", name, token.position), arguments)


def kronecker(token: Token, one: Node, other: Node) -> Node:
    """Return what is 1 where two indices are the same and 0 elsewhere, as δ_{ij} is read."""
    if all(_is_letter_or_number(index) for index in (one, other)):
        name = f"delta_{one.token.text}{other.token.text}"
        return Node("name", Token("name", name, token.position, token.end))
    delta = Token("name", "delta", token.position, token.end)
    return Node("indexed", delta, (one, other))


def indices_in(base: str, subscript: str) -> list[str]:
    """Return the letters and numbers of an index; behind a δ are two signs.

    >>> indices_in("p", "k12"), indices_in("delta", "11")
    (['k', '12'], ['1', '1'])
    """
    return re.findall(r"[A-Za-z]|\d" if base == "delta" else r"[A-Za-z]|\d+", subscript)


def written_delta(node: Node, is_known: Callable[[str], bool]) -> Node | None:
    """Return δ(i, j) as δ_ij where a letter is no name by itself, None for any other call."""
    if node.token.text not in ("delta", "KroneckerDelta") or len(node.children) != 2:
        return None
    found = kronecker(node.token, *node.children)
    letters = [child.token.text for child in node.children if child.kind == "name"]
    return found if found.kind == "name" and not all(map(is_known, letters)) else None


def indicator(token: Token, relation: Node) -> Node | None:
    """Return what is 1 where ``i = j``, ``i ≠ j`` or ``x > 0`` holds, None for no condition."""
    if relation.kind != "relation" or "≈" in relation.marks:
        return None
    if relation.marks not in (("=",), ("!=",)):
        if not {*relation.marks} <= {"<", ">", "<=", ">="}:
            return None
        one, zero = (
            Node("number", Token("number", digit, token.position, token.end)) for digit in "10"
        )
        return call("cases", token, one, relation, zero)
    delta = kronecker(token, *relation.children)
    if relation.marks == ("=",):
        return delta
    one = Node("number", Token("number", "1", token.position, token.end))
    return Node("group", token, (Node("chain", token, (one, delta), ("-",)),))


def between_indices(node: Node) -> bool:
    """Whether this says that two running letters are the same: ``i == j``."""
    return node.kind == "relation" and all(
        child.kind == "name" and child.token.text in tuple("ijklm") for child in node.children
    )


def is_delta_with_one_index(node: Node) -> bool:
    """Whether this is δ_i, which stands before a second index: δ_i^j."""
    return node.kind == "name" and re.fullmatch(r"delta_[A-Za-z0-9]", node.token.text) is not None


def _is_letter_or_number(node: Node) -> bool:
    if node.kind == "number":
        return node.token.text.isdigit() and len(node.token.text) == 1
    return node.kind == "name" and len(node.token.text) == 1


def is_constant(
    node: Node, text: str, declared: Mapping[str, str], constants: Container[str]
) -> bool:
    r"""Whether a name is π, where p_i is declared, which is written as pi elsewhere.

    ``\\pi`` and π are the number; what could be either is refused.

    Raises
    ------
    ParseError
        With both readings.
    """
    word = node.token.text
    name = declared.get(word, word)
    if name == word or name.replace("_", "") != word or word not in constants:
        return False
    if text[node.token.position : node.token.end] == word:
        reason = f"{word} may be the constant, or {name}: write {name}, or \\{word}"
        raise ParseError(reason, text, node.token.position)
    return True


def nodes_of(tree: Node) -> Iterator[Node]:
    """Return a tree's nodes, each before those below it."""
    yield tree
    for child in tree.children:
        yield from nodes_of(child)


def unbracketed(node: Node) -> Node:
    """Return what stands in brackets."""
    while node.kind == "group":
        node = node.children[0]
    return node


def bound_parts(node: Node) -> tuple[Node, ...]:
    """Return what is summed, by which index, and its range, in ``sum(f, (k, 1, n))`` as well."""
    parts = node.children
    if len(parts) == 2 and parts[1].kind == "tuple":
        return (parts[0], *parts[1].children)
    return parts


def letters_of(node: Node) -> set[str]:
    """Return the letters of names and of their indices: z, c and k of ``z_{ck}``."""
    named = node.kind in ("name", "indexed")
    base, _, index = node.token.text.partition("_")
    own = re.findall(r"[^\W\d_]", (base if len(base) == 1 else "") + index) if named else []
    return {*own}.union(*map(letters_of, node.children))


def with_letter(node: Node, old: str, new: str) -> Node:
    """Return a tree with another letter for an index, wherever it stands: alone or in ``z_c``."""
    children = tuple(with_letter(child, old, new) for child in node.children)
    token = node.token
    if node.kind == "name":
        base, mark, index = token.text.partition("_")
        if mark:
            token = token._replace(text=f"{base}_{index.replace(old, new)}")
        elif base == old:
            token = token._replace(text=new)
    return node._replace(token=token, children=children)


def shares_a_name(one: Node, other: Node) -> bool:
    """Whether a name of one tree stands in the other, alone or as an index: j in ``v_j``.

    An index that is bound inside is no name of the whole: there is no j in ``sum(v_j, j)``.
    """
    return bool(_names(one) & _names(other))


def _names(node: Node) -> set[str]:
    own = re.findall(r"[^\W\d_]+", node.token.text) if node.kind == "name" else []
    own += node.token.text.partition("_")[2] if own else ""  # j and a in k_ja
    if node.kind == "call" and node.token.text in _BINDING and len(node.children) > 1:
        body, index, *ends = node.children
        return _names(body) - _names(index) | set().union(*map(_names, ends))
    return {*own}.union(*map(_names, node.children))
