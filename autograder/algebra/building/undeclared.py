"""Names that may be numbers or matrices, since nobody has said which.

A name that nobody declared is a number, and numbers may change places.  Were ``Q`` and ``K``
matrices, ``K Q`` would then be taken for ``Q K``.  So where several capital letters meet, something
is transposed, or a capital letter has a norm, undeclared names stay open: what is right for
matrices is right, what is wrong for numbers is wrong, and what lies between is left to a person
until the author has declared them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import sympy

from autograder.algebra.building.functions import Undeclared
from autograder.algebra.building.library import CONSTANTS
from autograder.algebra.building.scope import plain_name
from autograder.algebra.reading.tree import Node

# Q, W_1, W_q; but A_ij, x_T and N_max are numbers, and so is an entry like X_i.
_LIKE_A_MATRIX = re.compile(r"[A-Z](_?\d+|_?[A-Za-ho-z])?'*")


def like_matrices(names: Collection[str]) -> set[str]:
    """Return the names that could be those of matrices, if there are several.

    >>> sorted(like_matrices(["Q", "K", "d_k"])), like_matrices(["N", "d"])
    (['K', 'Q'], set())
    """
    found = {name for name in names if _LIKE_A_MATRIX.fullmatch(name)}
    return found if len(found) > 1 else set()


def to_declare(
    names: Collection[str], declared: Collection[str], *formulas: sympy.Basic
) -> list[str]:
    """Return the names of which an author has to say whether they are numbers or matrices.

    >>> to_declare(["Q", "K"], {"Q": "matrix"}), to_declare(["Q", "K"], {})
    ([], ['K', 'Q'])
    """
    unknown = set() if "*" in declared else like_matrices(set(names) - set(declared))
    return sorted(unknown | {symbol.name for symbol in undeclared(*formulas)})


def left_open(tree: Node, names: Collection[str] | None, declared: Collection[str]) -> set[str]:
    """Return the names of a formula that may be numbers or matrices.

    Parameters
    ----------
    tree
        What was written.
    names
        The names that may occur; None for those in `tree`.
    declared
        Those of which something is known; with ``"*"`` all of them.
    """
    if "*" in declared:
        return set()
    written = set(_names(tree)) - CONSTANTS.keys() if names is None else set(names)
    unknown = written - set(declared)
    found = set(map(plain_name, _of_matrices(tree)))
    if found.intersection(map(plain_name, unknown)):
        return unknown
    return like_matrices(unknown)


def undeclared(*values: sympy.Basic) -> set[sympy.Symbol]:
    """Return the symbols in some formulas of which nobody has said what they are."""
    return {s for value in values for s in value.free_symbols if isinstance(s, Undeclared)}


def as_numbers(value: sympy.Expr) -> sympy.Expr:
    """Return a formula with numbers for what nobody has declared."""
    found = undeclared(value)
    return value.xreplace({symbol: sympy.Symbol(symbol.name, real=True) for symbol in found})


def _names(node: Node) -> Iterator[str]:
    if node.kind == "name":
        yield node.token.text
    for child in node.children:
        yield from _names(child)


def _of_matrices(node: Node) -> Iterator[str]:
    if "transpose" in (node.kind, node.token.text):
        yield from _names(node)
    elif node.token.text == "norm":  # a small letter in a norm is a vector, see `vectors`
        yield from filter(_LIKE_A_MATRIX.fullmatch, _names(node))
    for child in node.children:
        yield from _of_matrices(child)
