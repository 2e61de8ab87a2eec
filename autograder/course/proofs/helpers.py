"""The course's helpers, which references share: proved as exercises are, and never shipped."""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.course.config import Course
from autograder.exercise.words.cell_names import names
from autograder.exercise.words.loading import HELPERS, load_helpers

_LIBRARIES = {"numpy", "sympy", "torch", "jaxtyping", *sys.stdlib_module_names}
_OURS = ("autograder.exercise", "autograder.algebra")


def helpers_path(course: Course) -> Path:
    """Return where the helpers of a course are, if it has any."""
    return course.root / "reference" / f"{HELPERS}.py"


def helpers_problems(course: Course) -> list[str]:
    """Return what is wrong with the helpers, in sentences: each must show that it is right.

    A helper is proved by the examples in its docstring, and by the exercises that use it.
    """
    path = helpers_path(course)
    try:
        module = load_helpers(path.parent)
    except Exception as error:  # the author's module
        return [f"it can't be loaded: {type(error).__name__}: {error}"]
    problems = [f"line {line}: it imports {name}; {_MAY}" for line, name in foreign_imports(path)]
    used = set().union(*map(_taken, (course.root / "reference").glob("*/*.py")))
    for name, helper in _public(module):
        if not (helper.__doc__ or "").strip():
            problems.append(f"`{name}` has no docstring: say what it returns, with an example")
        else:
            problems += _examples(name, helper, module)
        if name not in used | _used_within(path, name):
            problems.append(f"no reference uses `{name}`: take it out")
    return problems


_MAY = "references may import numpy, sympy, torch, jaxtyping, the standard library, "
_MAY += f"{', '.join(_OURS)} and reference.{HELPERS}"


def foreign_imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and module of each import that has no business in a reference."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        found = []
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = ["." * node.level + (node.module or "")]
        for name in found:
            ours = name.startswith(_OURS) or name == f"reference.{HELPERS}"
            if not ours and name.partition(".")[0] not in _LIBRARIES:
                yield node.lineno, name  # type: ignore[attr-defined]


def imports_problems(path: Path) -> list[str]:
    """Return a sentence for each import that a reference may not have."""
    return [f"line {line} imports {name}; {_MAY}" for line, name in foreign_imports(path)]


def _public(module: ModuleType) -> list[tuple[str, Any]]:
    found = vars(module).items()
    return [
        (name, value)
        for name, value in found
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]


def _examples(name: str, helper: object, module: ModuleType) -> list[str]:
    """Run the examples of a docstring."""
    finder = doctest.DocTestFinder(recurse=False)
    tests = [t for t in finder.find(helper, name, module=module) if t.examples]
    if not tests:
        return [f"`{name}` has no example: show one with >>>, so that it is proved"]
    shown = io.StringIO()
    runner = doctest.DocTestRunner(verbose=False)
    with contextlib.redirect_stdout(shown):
        for test in tests:
            runner.run(test, out=shown.write)
    return [f"an example of `{name}` fails: {shown.getvalue()}"] if runner.failures else []


def _taken(path: Path) -> set[str]:
    """Return the helpers that a reference imports."""
    return {
        alias.name
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == f"reference.{HELPERS}"
        for alias in node.names
    }


def _used_within(path: Path, name: str) -> set[str]:
    """Return the names that the other helpers use."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    others = [s for s in tree.body if getattr(s, "name", "") != name]
    return set().union(*(names(ast.unparse(statement)).used for statement in others))
