"""Write answers and functions down as a student would: the text of a solution cell."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from autograder.exercise import Exercise, Part


def function_source(exercise: Exercise, function: Any) -> str:
    """Return code that defines ``function`` under the name that students must use.

    The code stands alone: it holds what the function needs from its module, without
    decorators, annotations and docstrings.
    """
    assert exercise.solution
    target = exercise.solution.__name__
    function = getattr(function, "compute", function)
    module = sys.modules[function.__module__]
    tree = ast.parse(inspect.getsource(module))
    needed = _closure(tree, function.__name__)
    body: list[ast.stmt] = [s for s in tree.body if _is_library_import(s)]
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name in needed:
            body.append(_bare(statement))
        elif isinstance(statement, ast.Assign) and needed & _stored(statement):
            body.append(statement)
    tree.body = body
    if function.__name__ != target:
        # A wrong version may build on the right one, which then needs another name.
        tree = _Renamed(target, f"{target}_right").visit(tree)
        return f"{ast.unparse(tree)}\n\n{target} = {function.__name__}\n"
    return ast.unparse(tree) + "\n"


def assignments_source(values: Mapping[str, Any], *, rounded: bool = False) -> str:
    """Return lines ``name = value``; ``rounded`` writes numbers as text of five digits."""
    return "".join(f"{name} = {literal(v, rounded=rounded)}\n" for name, v in values.items())


def literal(value: Any, *, rounded: bool = False) -> str:
    """Write a value as a Python literal: numbers, lists of them, text, formulas as text."""
    return repr(plain(value, rounded=rounded))


def plain(value: Any, *, rounded: bool = False) -> Any:
    """Return a value as a student types it: plain numbers, lists and text."""
    if hasattr(value, "free_symbols"):  # a formula, or a matrix of them
        rows = getattr(value, "tolist", None)
        return [[str(e) for e in row] for row in rows()] if rows else str(value)
    if hasattr(value, "texts"):  # a derivation
        return value.texts
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, set | frozenset):  # letters, in an order that stays the same
        value = sorted(value)
    if isinstance(value, dict):
        return {key: plain(entry, rounded=rounded) for key, entry in value.items()}
    if isinstance(value, tuple):
        return tuple(plain(entry, rounded=rounded) for entry in value)
    if isinstance(value, list):
        return [plain(entry, rounded=rounded) for entry in value]
    if rounded and isinstance(value, float):
        return f"{value:.5g}"
    return value


def typed(part: Part, value: Any) -> Any:
    """Return an answer to a part as a student types it."""
    return part.answer.typed(plain(value))


def _closure(tree: ast.Module, name: str) -> set[str]:
    """Return the module's own names that ``name`` needs, itself included."""
    defined: dict[str, ast.stmt] = {}
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef):
            defined[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            defined |= dict.fromkeys(_stored(statement), statement)
    found: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in defined and current not in found:
            found.add(current)
            statement = defined[current]
            waiting += _globals(statement)
    return found


def _globals(statement: ast.stmt) -> set[str]:
    """Return the names that a definition looks up outside of itself."""
    node = _bare(statement) if isinstance(statement, ast.FunctionDef) else statement
    names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
    own = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    own |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
    return {n.id for n in names} - own


def _stored(statement: ast.Assign) -> set[str]:
    return {n.id for t in statement.targets for n in ast.walk(t) if isinstance(n, ast.Name)}


def _is_library_import(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return (statement.module or "").split(".")[0] not in ("autograder", "jaxtyping")
    return isinstance(statement, ast.Import)


def _bare(function: ast.FunctionDef) -> ast.FunctionDef:
    """Return the function without decorators, annotations and docstring."""
    copied = ast.parse(ast.unparse(function)).body[0]
    assert isinstance(copied, ast.FunctionDef)
    copied.decorator_list, copied.returns = [], None
    for argument in ast.walk(copied.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    if ast.get_docstring(copied) is not None:
        copied.body = copied.body[1:] or [ast.Pass()]
    return copied


class _Renamed(ast.NodeTransformer):
    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.new if node.id == self.old else node.id
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self.new if node.name == self.old else node.name
        return self.generic_visit(node)
