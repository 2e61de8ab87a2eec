"""Formulas as students write them: read, compared, derived and classed; no text is ever run."""

from autograder.algebra.answers import equivalent
from autograder.algebra.complexity import Complexity, parse_complexity
from autograder.algebra.derivation import Chain, Line, Waypoint
from autograder.algebra.equivalence import equal
from autograder.algebra.errors import ParseError
from autograder.algebra.examination import Examination, Finding
from autograder.algebra.parse import parse, parse_any, parse_matrix, read_back
from autograder.algebra.ruled import IndexedChain
from autograder.algebra.rules import RULES, Fact, Rule
from autograder.algebra.verdict import Verdict

__all__ = [
    "RULES",
    "Chain",
    "Complexity",
    "Examination",
    "Fact",
    "Finding",
    "IndexedChain",
    "Line",
    "ParseError",
    "Rule",
    "Verdict",
    "Waypoint",
    "equal",
    "equivalent",
    "parse",
    "parse_any",
    "parse_complexity",
    "parse_matrix",
    "read_back",
]
