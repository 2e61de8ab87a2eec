"""Formulas as students write them: read, compared and derived; no text is ever run.

    from autograder.algebra import equivalent, parse

`equivalent` compares two texts and says how it knows; chains say how a derivation goes, and are
handed to ``Derivation`` (`autograder.exercise`).  What is named here is public (docs/api.md), and
no other module of this package is.
"""

from autograder.algebra.building.functions import Diff
from autograder.algebra.building.parse import parse
from autograder.algebra.comparing.texts import equivalent
from autograder.algebra.comparing.verdict import Verdict
from autograder.algebra.deriving.judging.chain import Chain
from autograder.algebra.deriving.judging.equation_chain import EquationChain
from autograder.algebra.deriving.judging.indexed_chain import IndexedChain
from autograder.algebra.deriving.judging.waypoint import Waypoint
from autograder.algebra.deriving.rewriting.rules import RULES, Fact, Rule
from autograder.algebra.reading.errors import ParseError

__all__ = [
    "RULES",
    "Chain",
    "Diff",
    "EquationChain",
    "Fact",
    "IndexedChain",
    "ParseError",
    "Rule",
    "Verdict",
    "Waypoint",
    "equivalent",
    "parse",
]
