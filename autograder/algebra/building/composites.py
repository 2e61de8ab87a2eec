"""Answers that are no expressions: lists, sets, intervals, logic.

sympy has all of these, but simplifies them while it builds them, which asks for the sign of
every difference and can take for ever.  Here they stay as they were written.
"""

from __future__ import annotations

from typing import Any

import sympy

_RELATIONS = {
    "=": sympy.Eq,
    "!=": sympy.Ne,
    "<": sympy.Lt,
    "<=": sympy.Le,
    ">": sympy.Gt,
    ">=": sympy.Ge,
}


def relation(sign: str, left: sympy.Basic, right: sympy.Basic) -> sympy.Basic:
    """Return ``left sign right`` as it stands, true or not."""
    return _RELATIONS[sign](left, right, evaluate=False)


class Inert(sympy.Basic):  # type: ignore[misc]  # sympy is untyped
    """Something that is only compared, never computed with."""

    template = "{}"
    between = ", "

    def _latex(self, printer: Any) -> str:
        inner = self.between.join(printer.doprint(argument) for argument in self.args)
        return self.template.format(inner)

    def _sympystr(self, printer: Any) -> str:
        return f"{type(self).__name__}({', '.join(map(printer.doprint, self.args))})"


class Listing(Inert):
    """A list: what it holds, in order."""

    template = r"\left[ {} \right]"


class Tuple(Listing):
    """A list written in round brackets; two numbers in them may be an open interval as well."""

    template = r"\left( {} \right)"


class Ratio(Listing):
    """``a : b``, which is the same as ``2 a : 2 b``."""

    template = "{}"
    between = " : "


class FiniteSet(Inert):
    """A set given by its elements."""

    template = r"\left\{{ {} \right\}}"


class Interval(Inert):
    """An interval: its ends, and for each whether it is left out (``sympy.true``)."""

    def _latex(self, printer: Any) -> str:
        low, high, left_open, right_open = self.args
        opening, closing = "(" if left_open else "[", ")" if right_open else "]"
        ends = ", ".join(map(printer.doprint, (low, high)))
        return rf"\left{opening} {ends} \right{closing}"


class Union(Inert):
    """What is in at least one of two sets."""

    between = r" \cup "


class Intersection(Inert):
    """What is in both of two sets."""

    between = r" \cap "


class Difference(Inert):
    """What is in the first of two sets but not in the second."""

    between = r" \setminus "


class Conjunction(Inert):
    """Statements that all hold."""

    between = r" \wedge "
    template = r"\left( {} \right)"


class Disjunction(Inert):
    """Statements of which at least one holds."""

    between = r" \vee "
    template = r"\left( {} \right)"


class Negation(Inert):
    """A statement that does not hold."""

    template = r"\neg {}"


SETS = (FiniteSet, Interval, Union, Intersection, Difference)
LOGIC = (Conjunction, Disjunction, Negation, sympy.logic.boolalg.BooleanAtom)


def kind(value: Any) -> str:
    """Say in one word what an answer is.

    >>> kind(sympy.Symbol("x") + 1), kind(Listing()), kind(relation("<", sympy.S(1), sympy.S(2)))
    ('expression', 'list', 'inequality')
    """
    if isinstance(value, sympy.MatrixBase):
        return "matrix"
    if isinstance(value, SETS):
        return "set"
    if isinstance(value, Ratio):
        return "ratio"
    if isinstance(value, Listing):
        return "list"
    if isinstance(value, sympy.Eq):
        return "equation"
    if isinstance(value, sympy.core.relational.Relational):
        return "inequality"
    if isinstance(value, LOGIC):
        return "statement"
    return "expression"
