"""The vocabulary that authors write in.

    from autograder.exercise import Exercise, Numbers, agree

An exercise is ordinary Python: functions are the answers, their docstrings are the rubric,
and their argument names say what each answer is computed from.  What is named here, and in
`autograder.exercise.properties`, is public (docs/api.md); no other module of this package is.
"""

from typing import TYPE_CHECKING, Any

from autograder.exercise.answers.choice import Choice
from autograder.exercise.answers.exact import Count, Fractions, Shape
from autograder.exercise.answers.figure import Figure
from autograder.exercise.answers.form import Form
from autograder.exercise.answers.kind import (
    Answer,
    Attempt,
    Essay,
    FormatError,
    Judgement,
    Scaffold,
    Senseless,
    Undecided,
)
from autograder.exercise.answers.labels import Labels
from autograder.exercise.answers.numbers import Numbers
from autograder.exercise.answers.ordering import Ordering
from autograder.exercise.answers.registry import kinds
from autograder.exercise.answers.witness import Witness
from autograder.exercise.checks.agree import Mismatch, agree, alike, require
from autograder.exercise.checks.clocks import Inconclusive, no_slower
from autograder.exercise.checks.gpu_checks import grows_on_gpu
from autograder.exercise.checks.work import Work, covers, grows, vectorised, within
from autograder.exercise.words.checked import Check, CheckedFunction
from autograder.exercise.words.datafile import data_file
from autograder.exercise.words.exhibit import Curves, HeatMaps, Table
from autograder.exercise.words.given import given, made, seeded
from autograder.exercise.words.part import AuthoringError, Misconception, Part
from autograder.exercise.words.vocabulary import Exercise

if TYPE_CHECKING:
    from autograder.exercise.answers.cost_class import ComplexityClass
    from autograder.exercise.answers.derivation import Derivation
    from autograder.exercise.answers.matrix import Matrix
    from autograder.exercise.answers.symbolic import Formula

__all__ = [
    "Answer",
    "Attempt",
    "AuthoringError",
    "Check",
    "CheckedFunction",
    "Choice",
    "ComplexityClass",
    "Count",
    "Curves",
    "Derivation",
    "Essay",
    "Exercise",
    "Figure",
    "Form",
    "FormatError",
    "Formula",
    "Fractions",
    "HeatMaps",
    "Inconclusive",
    "Judgement",
    "Labels",
    "Matrix",
    "Misconception",
    "Mismatch",
    "Numbers",
    "Ordering",
    "Part",
    "Scaffold",
    "Senseless",
    "Shape",
    "Table",
    "Undecided",
    "Witness",
    "Work",
    "agree",
    "alike",
    "covers",
    "data_file",
    "given",
    "grows",
    "grows_on_gpu",
    "made",
    "no_slower",
    "require",
    "seeded",
    "vectorised",
    "within",
]


def __getattr__(name: str) -> Any:
    # Lazy: most exercises have no formula, and sympy takes a third of a second.
    if name == "Derivation":
        from autograder.exercise.answers.derivation import Derivation

        return Derivation
    if name == "ComplexityClass":
        from autograder.exercise.answers.cost_class import ComplexityClass

        return ComplexityClass
    if name == "Formula":
        from autograder.exercise.answers.symbolic import Formula

        return Formula
    if name == "Matrix":
        from autograder.exercise.answers.matrix import Matrix

        return Matrix
    for kind in kinds().values() if name[0].isupper() else ():  # those that packages bring
        if kind.__name__ == name:
            return kind
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
