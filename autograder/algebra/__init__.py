"""Formulas as students write them: read, compared and derived; no text is ever run.

    from autograder.algebra import equivalent, parse

`equivalent` compares two texts and says how it knows; chains say how a derivation goes, and are
handed to ``Derivation`` (`autograder.exercise`).  What is named here is public (docs/api.md), and
no other module of this package is.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

#: The module of each of them.
_MODULES = {
    "Chain": "deriving.judging.chain",
    "Diff": "building.functions",
    "EquationChain": "deriving.judging.equation_chain",
    "Fact": "deriving.rewriting.rules",
    "IndexedChain": "deriving.judging.indexed_chain",
    "ParseError": "reading.errors",
    "RULES": "deriving.rewriting.rules",
    "Rule": "deriving.rewriting.rules",
    "Verdict": "comparing.verdict",
    "Waypoint": "deriving.judging.waypoint",
    "equivalent": "comparing.texts",
    "parse": "building.parse",
}


def __getattr__(name: str) -> Any:
    # Lazy: whoever saves grades needs a module of this package, and no sympy.
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
