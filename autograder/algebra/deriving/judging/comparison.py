"""How the lines of a derivation compare: by value, and by algebra alone."""

from __future__ import annotations

import re
from typing import Protocol

import sympy

from autograder.algebra.building.functions import Diff
from autograder.algebra.comparing.equivalence import equal
from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deriving.judging.ends import Ends
from autograder.algebra.deriving.lines.line import Line


class LineComparison(Protocol):
    """How lines compare; what they say and how they are written is looked at elsewhere."""

    @property
    def bounds(self) -> bool:
        """Whether a line may be at least as large as the one before."""

    def compare(self, before: Line, line: Line) -> Verdict:
        """Whether a line stands to an earlier one as the derivation says."""

    def follows(self, line: Line) -> Verdict:
        """Whether a line stands to the given expression as it should."""

    def same(self, one: sympy.Expr, other: sympy.Expr) -> bool:
        """Whether two parts of lines are equal."""

    def point(self, verdict: Verdict, *lines: Line) -> str:
        """Return the point that refutes, in the names that stand in the lines."""

    def renames(self, before: Line, line: Line) -> bool:
        """Whether a derivative stands in a line as in the one before, whatever it is called."""

    def is_routine(self, before: Line, line: Line) -> bool:
        """Whether a step goes by no rule but algebra, or another name, where there are others."""

    def is_only_tried(self, line: Line) -> bool:
        """Whether a line is known to be the result for some n alone."""

    def is_sharper(self, line: Line) -> bool:
        """Whether a line is a bound, and another one than the result."""

    def is_too_large(self, line: Line) -> bool:
        """Whether a line is a bound, and larger than the result."""


class PlainComparison:
    """Lines without indices: with definitions put in and derivatives carried out."""

    bounds = False

    def __init__(self, ends: Ends) -> None:
        self._ends = ends
        self._language = ends.language

    def compare(self, before: Line, line: Line) -> Verdict:
        """Whether two lines are equal."""
        return equal(before.expanded, line.expanded)

    def follows(self, line: Line) -> Verdict:
        """Whether a line is equal to the given expression."""
        return self.compare(self._ends.given, line)

    def same(self, one: sympy.Expr, other: sympy.Expr) -> bool:
        """Whether two parts of lines are equal."""
        expand = self._language.expand
        return equal(expand(one), expand(other)).equal is True

    def point(self, verdict: Verdict, *lines: Line) -> str:
        """Return the point that refutes, in the names that stand in the lines.

        With a derivative or entries under a running index in them that is not enough to follow
        the numbers: then, in the names that all others are defined by.
        """
        at = dict(re.findall(r"(\w+)=([^,]+)", verdict.point))
        names = sorted({name for line in lines for name in line.names})
        unclear = any(line.expr.has(Diff, sympy.Indexed) for line in lines)
        if unclear or at.keys() >= set(names):
            return verdict.point
        read, expand = self._language.read_form, self._language.expand
        values = {read(name): sympy.Float(value) for name, value in at.items()}
        meanings = {name: expand(read(name), name) for name in names}
        known = {name: meaning.subs(values).evalf(4) for name, meaning in meanings.items()}
        return ", ".join(f"{name}={value}" for name, value in known.items() if value.is_number)

    def renames(self, before: Line, line: Line) -> bool:
        """Whether a derivative stands in a line as in the one before, whatever it is called."""
        if not (before.expr.has(Diff) and line.expr.has(Diff)):
            return False
        return self.same(*(self._undone(side.expr) for side in (before, line)))

    def _undone(self, expr: sympy.Expr) -> sympy.Expr:
        """Put a name for every derivative; what is differentiated counts, not how it is written."""
        for derivative in expr.atoms(Diff):
            inner, *by = derivative.args
            _, rest = sympy.expand(self._language.expand(inner)).as_independent(*by, as_Add=True)
            number, rest = rest.primitive() if rest.is_Add else rest.as_coeff_Mul()
            if rest.could_extract_minus_sign():
                number, rest = -number, -rest
            name = sympy.Symbol(f"{sympy.srepr(sympy.cancel(rest))} by {by}", real=True)
            expr = expr.xreplace({derivative: number * name})
        return expr

    def is_routine(self, before: Line, line: Line) -> bool:
        """Whether algebra alone does a step, where names are defined or a derivative is asked."""
        plain = not (self._language.definitions or self._ends.given.expr.has(Diff))
        return not plain and equal(before.expr, line.expr).equal is True

    def is_only_tried(self, line: Line) -> bool:  # noqa: ARG002
        """Never: nothing depends on n."""
        return False

    is_sharper = is_too_large = is_only_tried
