"""Which exercise a variable answers, where several have answers of one name."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.student.released_files import RecordedExercise

# The cells that are known to be an exercise's, by their number among those that were run.
_claimed: dict[int, str] = {}


def answers_another(
    exercise: str,
    name: str,
    exercises: dict[str, RecordedExercise],
    notebook: dict[str, Any],
) -> str:
    """Return the exercise that a variable was last written for, "" if it is this one.

    Jupyter keeps the text of the cells that were run: the last one that writes the variable is
    another exercise's if that was checked with it, or if it writes all of that one's answers and
    not all of these.  Where this can't be known the variable counts as this exercise's.
    """
    cells: Any = notebook.get("In")
    if not isinstance(cells, list):
        return ""
    for number in reversed(range(len(cells))):
        written = _written(cells[number])
        if name not in written:
            continue
        if _names(exercises[exercise]) <= written:
            return "" if _claimed.setdefault(number, exercise) == exercise else _claimed[number]
        others = (e for e in exercises if name in (own := _names(exercises[e])) and own <= written)
        return next(others, "")
    return ""


def _names(exercise: RecordedExercise) -> set[str]:
    return {part["name"] for part in exercise["parts"] if part["hint"]["kind"] != "manual"}


def _written(source: Any) -> set[str]:
    """Return the names that a cell writes."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, TypeError, RecursionError):
        return set()
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
