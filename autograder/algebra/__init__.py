"""Formulas as students write them: read, compared, derived and classed; no text is ever run."""

from autograder.algebra.building.functions import Diff
from autograder.algebra.building.numeric import Undefined, value_at
from autograder.algebra.building.parse import operators_in, parse, parse_matrix, read_back
from autograder.algebra.building.scope import check_assumptions
from autograder.algebra.building.undeclared import to_declare
from autograder.algebra.comparing.complexity import Complexity, parse_complexity
from autograder.algebra.comparing.texts import equivalent
from autograder.algebra.comparing.verdict import HOPELESS, Verdict
from autograder.algebra.deriving.chain import Chain
from autograder.algebra.deriving.equation_chain import EquationChain
from autograder.algebra.deriving.examination import Examination
from autograder.algebra.deriving.indexed_chain import IndexedChain
from autograder.algebra.deriving.line import Line
from autograder.algebra.deriving.rules import RULES, Fact, Rule
from autograder.algebra.deriving.task import Finding
from autograder.algebra.deriving.waypoint import Waypoint
from autograder.algebra.reading.errors import ParseError
from autograder.algebra.reading.finished import check_operators

__all__ = [
    "HOPELESS",
    "RULES",
    "Chain",
    "Complexity",
    "Diff",
    "EquationChain",
    "Examination",
    "Fact",
    "Finding",
    "IndexedChain",
    "Line",
    "ParseError",
    "Rule",
    "Undefined",
    "Verdict",
    "Waypoint",
    "check_assumptions",
    "check_operators",
    "equivalent",
    "operators_in",
    "parse",
    "parse_complexity",
    "parse_matrix",
    "read_back",
    "to_declare",
    "value_at",
]
