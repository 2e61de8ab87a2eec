"""A function or class of an author's module as text that stands alone.

So simulated students write it, and so a function that is handed to a student's reaches the process
of that student's code: with what it needs of its module, and nothing else.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard

from autograder.exercise.words.cell_names import names
from autograder.exercise.words.earlier import METHOD
from autograder.exercise.words.loading import HELPERS

_Definition = ast.FunctionDef | ast.ClassDef


@cache  # a check may hand the same function over many times
def standalone(function: Callable[..., Any], name: str) -> str:
    """Return code that defines ``function`` under a name, with what it needs of its module.

    There are no decorators, annotations and docstrings in it.  Of the course's helpers it holds
    those that are used.  What is carried from an earlier exercise stands in the notebook already.
    """
    module = sys.modules[function.__module__]
    imports, statements = _statements(module)
    needed = _closure(statements, function.__name__)
    tree = ast.Module([s for s in statements if needed & _defined(s)], [])
    body = "\n\n".join([*imports, ast.unparse(tree)])
    if function.__name__ == name:
        return body + "\n"
    # A wrong version may build on the right one, which then needs another name.
    renamed = ast.unparse(_Renamed(name, f"{name}_right").visit(ast.parse(body)))
    return f"{renamed}\n\n{name} = {function.__name__}\n"


@lru_cache(maxsize=32)  # right and wrong versions are written from one module
def _statements(module: ModuleType) -> tuple[list[str], list[ast.stmt]]:
    """Return a module's imports of libraries and its definitions, bare, those of helpers first."""
    path = Path(module.__file__ or "")
    own = ast.parse(inspect.getsource(module)).body
    imports, statements = _split(own)
    taken = {alias for s in own for alias in _from_helpers(s).items()}
    if not taken:
        return imports, statements
    helpers = path.parent.parent / f"{HELPERS}.py"
    more, given = _split(ast.parse(helpers.read_text(encoding="utf-8")).body)
    aliases = {name: alias for name, alias in taken if name != alias}
    clashing = set().union(*map(_defined, statements)) & set().union(*map(_defined, given))
    for name in clashing - {name for name, _ in taken}:
        aliases[name] = f"helpers_{name}"
    for old, new in aliases.items():
        given = [_Renamed(old, new).visit(s) for s in given]
    return list(dict.fromkeys([*more, *imports])), given + statements


def _split(body: list[ast.stmt]) -> tuple[list[str], list[ast.stmt]]:
    """Take apart the imports that students have as well, and what is defined."""
    imports = [s for s in body if _is_library_import(s)]
    known = {(a.asname or a.name).partition(".")[0] for s in imports for a in s.names}
    known |= vars(builtins).keys()
    defined = [s for s in body if _defined(s) and not _is_carried(s)]
    return [ast.unparse(s) for s in imports], [_bare(s, known) for s in defined]


def _is_carried(statement: ast.stmt) -> bool:
    """Tell ``Spectrum = exercise.carries(…)``."""
    asked = getattr(getattr(statement, "value", None), "func", None)
    return isinstance(asked, ast.Attribute) and asked.attr == METHOD


def _from_helpers(statement: ast.stmt) -> dict[str, str]:
    """Return what a statement imports of the helpers, and as what."""
    if isinstance(statement, ast.ImportFrom) and statement.module == f"reference.{HELPERS}":
        return {a.name: a.asname or a.name for a in statement.names}
    return {}


def _is_library_import(statement: ast.stmt) -> TypeGuard[ast.Import | ast.ImportFrom]:
    """Tell imports of what students have as well; what only says types is left out."""
    ours = ("autograder", "jaxtyping", "reference", "__future__")
    if isinstance(statement, ast.ImportFrom):
        return (statement.module or "").split(".")[0] not in ours
    return isinstance(statement, ast.Import)


def _defined(statement: ast.stmt) -> set[str]:
    """Return the names that a definition or an assignment makes."""
    if isinstance(statement, _Definition):
        return {statement.name}
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return set()
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}


def _closure(statements: list[ast.stmt], name: str) -> set[str]:
    """Return the names, of those defined here, that ``name`` needs, itself included."""
    makers: dict[str, list[ast.stmt]] = {}
    for statement in statements:
        for made in _defined(statement):
            makers.setdefault(made, []).append(statement)
    found: set[str] = set()
    waiting = {name}
    while waiting:
        current = waiting.pop()
        found.add(current)
        for statement in makers.get(current, []):
            waiting |= (names(ast.unparse(statement)).used & makers.keys()) - found
    return found


def _bare(statement: ast.stmt, known: set[str]) -> ast.stmt:
    """Return a statement without annotations, docstrings, and decorators of our vocabulary."""
    for node in ast.walk(statement):
        if isinstance(node, _Definition):
            node.decorator_list = [d for d in node.decorator_list if _root(d) in known]
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
    return statement


def _root(decorator: ast.expr) -> str:
    """Return the name that a decorator begins with."""
    while not isinstance(decorator, ast.Name):
        decorator = getattr(decorator, "func", None) or getattr(decorator, "value")  # noqa: B009
    return decorator.id


class _Renamed(ast.NodeTransformer):
    """Renames what a module defines; a function's own variable of that name stays."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Rename a use."""
        node.id = self.new if node.id == self.old else node.id
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Rename the class, and in it."""
        node.name = self.new if node.name == self.old else node.name
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Rename the function; what is in it, unless the name is a variable of its own."""
        node.name = self.new if node.name == self.old else node.name
        inside = [n for child in ast.iter_child_nodes(node) for n in ast.walk(child)]
        own = {n.arg for n in inside if isinstance(n, ast.arg)}
        own |= {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return node if self.old in own else self.generic_visit(node)
