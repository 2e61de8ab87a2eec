"""Building values from a tree: sizes are checked before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from autograder.algebra.building.library import CALLS, CONSTANTS
from autograder.algebra.building.scope import Scope
from autograder.algebra.building.sizes import (
    MAX_BUILT,
    MAX_DECIMAL_EXPONENT,
    MAX_TREE_DEPTH,
    MAX_WRITTEN_DIGITS,
)
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.tree import Node, is_constant

UNDEFINED = (sympy.zoo, sympy.nan, sympy.oo, -sympy.oo)
_UNDEFINED_TYPES = frozenset(map(type, UNDEFINED))


# What is written with the signs of formulas and is none.
STATEMENTS = {"relation": "an equation", "list": "a list", "tuple": "a list"}


class Construction:
    """What is known while the value of a tree is built.

    Parameters
    ----------
    text : str
        As written, for messages.
    scope : Scope
        What the names mean.
    functions : mapping
        The functions that may be used, see `library.FUNCTIONS`.
    """

    def __init__(self, text: str, scope: Scope, functions: Mapping[str, Any]) -> None:
        self.text = text
        self.scope = scope
        self.functions = functions
        self.bound: dict[str, sympy.Expr] = {}  # what running indices stand for
        self.built = 0
        self.pending = False  # whether there is a derivative that is not carried out

    def fail(self, reason: str, node: Node) -> ParseError:
        """Return the error that points at `node`."""
        while node.kind == "group":
            node = node.children[0]
        return ParseError(reason, self.text, node.token.position)

    def build(self, node: Node, depth: int = 0) -> Any:
        """Return the value of `node`, or raise `ParseError`."""
        self.built += 1
        if depth > MAX_TREE_DEPTH:
            raise self.fail("this is nested too deeply", node)
        if self.built > MAX_BUILT:
            raise self.fail("this formula has too many parts", node)
        value = getattr(self, f"_{node.kind}")(node, depth + 1)
        if type(value) in _UNDEFINED_TYPES:
            raise self.fail("this is not defined", node)
        return value

    # ---- one method per kind of node

    def _group(self, node: Node, depth: int) -> Any:
        return self.build(node.children[0], depth)

    def _number(self, node: Node, _depth: int) -> sympy.Rational:
        try:
            return number_value(node.token.text)
        except ValueError as error:
            raise self.fail(str(error), node) from None

    def _name(self, node: Node, _depth: int) -> Any:
        word = node.token.text
        value = self.with_index(node) if self.bound else None
        if value is None and is_constant(node, self.text, self.scope.names or {}, CONSTANTS):
            value = CONSTANTS[word]
        value = self.scope.find(word) if value is None else value
        if value is not None:
            return value
        if word in self.functions or word in CALLS:
            raise self.fail(f"{word} needs brackets: {word}(…)", node)
        raise self.fail(f"unknown name {word}; {self.scope.nearest(word)}", node)

    def with_index(self, node: Node) -> Any:
        """Return what a running index, or a name with one as subscript, stands for."""
        raise NotImplementedError


def number_value(text: str) -> sympy.Rational:
    """Return a number as it is written: ``12``, ``0.25``, ``1e-3``, ``1/2``.

    Raises
    ------
    ValueError
        If it is too long or out of range.
    """
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > MAX_WRITTEN_DIGITS or len(exponent) > 5:
        raise ValueError(f"a number may have at most {MAX_WRITTEN_DIGITS} digits")
    if abs(int(exponent or 0)) > MAX_DECIMAL_EXPONENT:
        raise ValueError("this number is out of range")
    above, _, below = mantissa.partition("/")
    whole, _, decimals = above.partition(".")
    power = int(exponent or 0) - len(decimals)
    scale = 10 ** abs(power)
    number = int(whole + decimals or 0)
    if power >= 0 and not below:
        return sympy.Integer(number * scale)
    return sympy.Rational(number, int(below or scale))


def hashable(value: object) -> Any:
    """Return `value` in a form that can be part of an expression."""
    return value.as_immutable() if isinstance(value, sympy.MatrixBase) else value
