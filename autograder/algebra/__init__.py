"""Formulas as students write them: read, compared, derived and classed; no text is ever run."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.algebra.complexity import Complexity, parse_complexity
    from autograder.algebra.derivation import Chain, Line, Waypoint
    from autograder.algebra.equivalence import Verdict, equal, equivalent
    from autograder.algebra.errors import ParseError
    from autograder.algebra.examination import Examination, Finding
    from autograder.algebra.parse import parse, parse_matrix, read_back

_HOMES = {
    "Chain": "derivation",
    "Complexity": "complexity",
    "Examination": "examination",
    "Finding": "examination",
    "Line": "derivation",
    "ParseError": "errors",
    "Verdict": "equivalence",
    "Waypoint": "derivation",
    "equal": "equivalence",
    "equivalent": "equivalence",
    "parse": "parse",
    "parse_complexity": "complexity",
    "parse_matrix": "parse",
    "read_back": "parse",
}

__all__ = [
    "Chain",
    "Complexity",
    "Examination",
    "Finding",
    "Line",
    "ParseError",
    "Verdict",
    "Waypoint",
    "equal",
    "equivalent",
    "parse",
    "parse_complexity",
    "parse_matrix",
    "read_back",
]


def __getattr__(name: str) -> Any:
    # Lazy: most exercises have no formula, and sympy takes a third of a second.
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
