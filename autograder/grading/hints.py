"""Hints that a notebook says were taken: its cells `hint("an_exercise", 2)`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Any

from autograder.grading.own_text import Unparsable, looking, statements
from autograder.grading.results import ExerciseGrade, hundredths

NOTE = "hints"


def hints_taken(notebook: Mapping[str, Any]) -> dict[str, int]:
    """Return by exercise the number of the last hint that a cell of a notebook asks for.

    >>> cell = {"cell_type": "code", "source": 'hint("sdpa"); hint("sdpa", 2)'}
    >>> hints_taken({"cells": [cell]})
    {'sdpa': 2}
    """
    code = (cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code")
    asking = [source for source in code if "hint(" in source]
    taken: dict[str, int] = {}
    looking("hints", lambda: _take(asking, taken), None)
    return taken


def with_hints(grade: ExerciseGrade, number: int, offered: int, cost: float) -> ExerciseGrade:
    """Add an item for the hints that were taken, where there are any.

    Parameters
    ----------
    number
        Of the last hint that was asked for; there are as many as are ``offered``.
    cost
        The share of the points given automatically that each hint costs.
    """
    number = min(number, offered)
    if number < 1:
        return grade
    points = sum(item.max_score for item in grade.items if item.note != "manual")
    lost = min(hundredths(cost * number * points), max(grade.score or 0.0, 0.0))
    said = f"{number} of {offered} hints, as your notebook says."
    said += f" Each costs {cost:.0%} of the points." if cost else " They are free."
    return grade.less(lost, NOTE, "Hints that you took.", said)


def _take(sources: Iterable[str], taken: dict[str, int]) -> None:
    for source in sources:
        try:
            nodes = statements(source)
        except Unparsable:  # it has not run either
            continue
        for call in (each for node in nodes for each in ast.walk(node) if _asks(each)):
            exercise, number = _hint(call)
            taken[exercise] = max(number, taken.get(exercise, 0))


def _asks(node: ast.AST) -> bool:
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id
    return called == "hint"


def _hint(call: Any) -> tuple[str, int]:
    """Return exercise and number of a call; what is worked out counts as the first."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    values = [node.value for node in given if isinstance(node, ast.Constant)]
    names = [value for value in values if isinstance(value, str)]
    numbers = [value for value in values if type(value) is int]
    return names[0] if names else "", numbers[0] if numbers else 1
