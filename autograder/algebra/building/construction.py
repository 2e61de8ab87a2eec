"""Building values from a tree: sizes are checked before anything is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy

from autograder.algebra.building.scope import Scope
from autograder.algebra.building.sizes import (
    MAX_BUILT,
    MAX_DECIMAL_EXPONENT,
    MAX_TREE_DEPTH,
    MAX_WRITTEN_DIGITS,
)
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.tree import Node

UNDEFINED = (sympy.zoo, sympy.nan, sympy.oo, -sympy.oo)
_UNDEFINED_TYPES = frozenset(map(type, UNDEFINED))

Build = Callable[["Construction", Node, int], Any]


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
    builders : mapping
        For each kind of node, what builds its value out of this, the node, and how deep it stands.
    """

    def __init__(
        self,
        text: str,
        scope: Scope,
        functions: Mapping[str, Any],
        builders: Mapping[str, Build],
    ) -> None:
        self.text = text
        self.scope = scope
        self.functions = functions
        self._builders = builders
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
        value = self._builders[node.kind](self, node, depth + 1)
        if type(value) in _UNDEFINED_TYPES:
            raise self.fail("this is not defined", node)
        return value


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
