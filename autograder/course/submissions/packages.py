"""The packages that a course needs, and this machine may not have."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path

from autograder.course.config import Course, CourseError
from autograder.course.release.handed_out import Release


def demand_packages(course: Course) -> None:
    """Refuse a machine without what references and released notebooks import.

    What a module tries to import, and does without, is not needed.

    Raises
    ------
    CourseError
        If a package is missing, with a file that imports it.
    """
    lacking: dict[str, str] = {}
    for name, path in _needed(course):
        if name not in lacking and importlib.util.find_spec(name) is None:
            lacking[name] = path
    if lacking:
        said = ", ".join(f"{name} ({path} imports it)" for name, path in sorted(lacking.items()))
        raise CourseError(
            f"packages that the course needs are missing there: {said}: install them on that "
            "machine, and start its worker again"
        )


def _needed(course: Course) -> Iterator[tuple[str, str]]:
    """Yield the packages that a course imports, each with a file."""
    for path in sorted((course.root / "reference").rglob("*.py")):
        for name in sorted(_imported(path) - {"reference"}):
            yield name, str(path.relative_to(course.root))
    for folder in sorted(course.folder("release").iterdir()):
        if folder.name in course.titles:
            for name in Release.load(course, folder.name).imports:
                yield name.split(".")[0], f"release/{folder.name}"


def _imported(path: Path) -> set[str]:
    """Return the packages that a module imports without a `try` around it."""
    try:
        todo: list[ast.AST] = [ast.parse(path.read_bytes())]
    except SyntaxError:  # its exercise is withheld, on every machine
        return set()
    found: set[str] = set()
    for node in todo:
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module).split(".")[0])
        elif not isinstance(node, ast.Try):
            todo += ast.iter_child_nodes(node)
    return found
