"""The modules that go to students, each in one file: check.py, and check_formulas.py.

check_formulas.py reads formulas as the grader does, since it is the grader's own grammar. Nothing
is written twice: a module and those of ours that it imports are put one behind the other.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType

from autograder import student
from autograder.algebra import reading
from autograder.algebra.building.library import CONSTANTS, COUNTS
from autograder.exercise import Answer
from autograder.exercise.words.source import standalone

FORMULAS = "check_formulas.py"


def shipped(kinds: Iterable[type[Answer]]) -> dict[str, bytes]:
    """Return the modules that a notebook with these kinds of answer needs, by name."""
    further = {name for kind in kinds for name in kind.ships}
    known = {FORMULAS: formulas_module}
    return {"check.py": check_module(frozenset(kinds)), **{n: known[n]() for n in sorted(further)}}


def shared() -> dict[str, bytes]:
    """Return the modules that are the same for all assignments with kinds of ours, by name."""
    return {"check.py": check_module(), FORMULAS: formulas_module()}


@cache
def check_module(kinds: frozenset[type[Answer]] = frozenset()) -> bytes:
    """Return check.py; it needs numpy.

    The readers of kinds that aren't ours stand behind everything else.
    """
    text = _assembled(student, "check", libraries=("numpy",))
    for kind in sorted(kinds, key=lambda kind: kind.kind):
        reader = kind.reader
        if reader is not None and not reader.__module__.startswith(f"{student.__name__}."):
            text += _brought(kind, reader, text)
    return text.encode()


def _brought(kind: type[Answer], reader: Callable[..., object], text: str) -> str:
    """Return the reader of a kind that another package brings, ready to be found by its name.

    Raises
    ------
    ValueError
        If what it defines has a name that check.py, so far this ``text``, has already.
    """
    source = standalone(reader, reader.__name__)
    if twice := _defined(ast.parse(source)) & _defined(ast.parse(text)):
        raise ValueError(
            f"the kind {kind.kind!r} brings {', '.join(sorted(twice))} to check.py, which has "
            f"that already: give it another name in {reader.__module__}"
        )
    return f"\n\n{source}\n\nREADERS[{kind.kind!r}] = {reader.__name__}\n"


@cache
def formulas_module() -> bytes:
    """Return check_formulas.py; it needs the standard library alone."""
    lines = [f"CALLS = {COUNTS!r}", f"CONSTANTS = frozenset({sorted(CONSTANTS)!r})"]
    module = _assembled(reading, "preview", "followed_lines", "typesetting")
    return "\n".join([module, *lines, ""]).encode()


@dataclass
class _Gathered:
    """What the modules read so far come to."""

    libraries: tuple[str, ...]
    modules: list[str] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    bodies: list[str] = field(default_factory=list)
    defined: dict[str, str] = field(default_factory=dict)  # by name, the module it is from


def _assembled(package: ModuleType, root: str, *more: str, libraries: tuple[str, ...] = ()) -> str:
    """Return a module, and more, with those of its package that these need, as one text.

    Raises
    ------
    ValueError
        If one of them needs another library, or two define the same name.
    """
    gathered = _Gathered(libraries)
    for name in (root, *more):
        _gather(package, name, gathered)
    tree = ast.parse(_source(package, root))
    imports = sorted(gathered.imports)
    head = [f'"""{ast.get_docstring(tree, clean=False)}"""', "from __future__ import annotations"]
    return "\n\n".join([*head, "\n".join(imports), *(f"\n{body}" for body in gathered.bodies), ""])


def _source(package: ModuleType, name: str) -> str:
    return Path(package.__file__ or "").with_name(f"{name}.py").read_text(encoding="utf-8")


def _gather(package: ModuleType, name: str, gathered: _Gathered) -> None:
    """Add a module behind those that it imports: of its package, and those of `student`."""
    if name in gathered.modules:
        return
    gathered.modules.append(name)
    source = _source(package, name)
    tree = ast.parse(source)
    last = 0
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            last = node.end_lineno or 0  # types stay here
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        last = node.end_lineno or 0
        module = (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name) or ""
        own = next((p for p in (package, student) if module.startswith(f"{p.__name__}.")), None)
        if module == package.__name__:  # `from autograder.algebra import signs`: of this file
            for alias in node.names:
                _gather(package, alias.name, gathered)
                gathered.imports.add("import sys")
                gathered.bodies.append(f"{alias.name} = sys.modules[__name__]")
        elif own is not None:
            _gather(own, module.rpartition(".")[2], gathered)
        elif module.partition(".")[0] not in sys.stdlib_module_names | {*gathered.libraries}:
            raise ValueError(
                f"{package.__name__}.{name} imports {module}, which students need not have"
            )
        elif module != "__future__":
            gathered.imports.add(ast.unparse(node))
    for defined in _defined(tree):
        other = gathered.defined.setdefault(defined, name)
        if other != name:
            raise ValueError(f"{name} and {other} of {package.__name__} both define {defined}")
    gathered.bodies.append("\n".join(source.splitlines()[last:]).strip())


def _defined(tree: ast.Module) -> set[str]:
    names = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return names
