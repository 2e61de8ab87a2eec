"""Derivations whose lines are equations: Lagrange, stationarity, completing the square."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from autograder.algebra.deriving.judging.equation_lines import of_equations
from autograder.algebra.deriving.judging.indexed_chain import IndexedChain
from autograder.algebra.deriving.judging.task import Task
from autograder.algebra.deriving.judging.waypoint import Demands
from autograder.algebra.deriving.lines.indexed_language import IndexedLanguage


@dataclass(frozen=True)
class EquationChain(IndexedChain):
    """A derivation that solves an equation: each line is one that follows from the line before.

    ``a = b = c`` are two of them, and an arrow may stand in front.  What the equation determines is
    said with `where`; a line follows if it holds there, and says something: one that holds
    whatever the names are is none.

    Parameters
    ----------
    start, target : str
        The given equation; and what it is solved to, a name on the left: ``"s = sqrt(L)"``.
    where : mapping of str to str
        What all unknowns are, the one that is asked for among them.
    names, indexed, positive, definitions, final_names, waypoints, min_lines
        As for `IndexedChain`.

    Examples
    --------
    >>> chain = EquationChain(
    ...     start="D(L/s + s, s) = 0",
    ...     target="s = sqrt(L)",
    ...     names=("L", "s"),
    ...     positive=("L", "s"),
    ...     where={"s": "sqrt(L)"},
    ... )
    >>> chain.examine(["1 - L/s^2 = 0", "s^2 = L", "s = sqrt(L)"])
    Examination(findings=(), credit=1.0, review=False)
    >>> chain.examine(["1 - L/s = 0", "s = sqrt(L)"]).findings[0].message.partition(":")[0]
    "Line 1 doesn't follow from the given equation"
    """

    @functools.cached_property
    def language(self) -> IndexedLanguage:
        """What the lines are read with."""
        return IndexedLanguage(self.known_names, self.definitions, equations=True)

    @functools.cached_property
    def task(self) -> Task:
        """What judges the lines."""
        asked = Demands(self.waypoints, self.ends, self.min_lines, waypoints_are_steps=True)
        name = self.target.partition("=")[0].strip()
        return of_equations(self.endpoints, self.comparison, self.step_rules, asked, name)

    def prove(self) -> None:
        """Hold the parts against one another; equations hold for what the unknowns are."""
        if self.relation != "=" or self.rules or not self.where:
            raise ValueError("equations have no rules and need `where`: what the unknowns are")
        holds = self.follows(self.given)
        if holds.equal is False:
            raise ValueError(f"the given equation does not hold for `where`: {holds.how}")
        super().prove()
