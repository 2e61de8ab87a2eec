"""Files of other versions: an earlier form is read as today's, and a later one refused by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autograder.course.config import CourseError


def refuse_later(schema: object, known: int, path: Path) -> None:
    """Refuse a file that a later version wrote: taken for a damaged one, it would be replaced.

    Raises
    ------
    CourseError
        With what to install.
    """
    if isinstance(schema, int) and schema > known:
        raise CourseError(
            f"{path} has schema {schema}, and this autograder knows {known} at most: a later "
            "version wrote it; install that one, or one after it (`pip install -U "
            "autograder-engine`)"
        )


def exercises_of_today(exercises: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the exercises of check.json, also those of 0.1, which have one function at most."""
    return {
        id: _with_functions(**exercise) if "function" in exercise else exercise
        for id, exercise in exercises.items()
    }


def _with_functions(
    *, function: str | None, checks: list[Any], hidden_checks: int, **others: object
) -> dict[str, Any]:
    one = {"name": function, "checks": checks, "hidden_checks": hidden_checks}
    return {**others, "functions": [one] if function else []}
