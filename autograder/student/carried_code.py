"""Your own code of an earlier notebook, with what it needs of that notebook."""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import json
import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from autograder.student.data import contents
from autograder.student.names import Unparsable, names
from autograder.student.notebook import grade_id, source_of

_MAGIC = re.compile(r"^([ \t]*)[%!].*$", re.M)


class NotCarried(Exception):
    """Code can't be carried; the message says why, and what to do."""


def carried_code(exercise: str, notebook: str = "", *, given: bool = False) -> tuple[str, str]:
    """Return code of an earlier exercise as the text of a cell, and a sentence about it.

    Raises
    ------
    NotCarried
        If it isn't found, isn't written yet or doesn't run.
    """
    known = contents().get("carried", {})
    if exercise not in known:
        only = f": only of {' and '.join(known)}" if known else ""
        raise NotCarried(f"nothing of {exercise!r} is carried on here{only}")
    assignment, wanted = known[exercise]["assignment"], known[exercise]["names"]
    mark = f"# {exercise} of {assignment}, carried over. Change it here if it needs mending."
    if given:
        if "given" not in known[exercise]:
            raise NotCarried(f"your course gives no version of {exercise}: carry or write your own")
        return f"{mark}\n{known[exercise]['given']}", "the version that your course gives"
    path = _found(assignment, notebook)
    units = _units(_cells(path), exercise, wanted, path)
    chosen = _needed(units, wanted)
    text = "\n\n".join(units[i].source for i in sorted(chosen))
    listed = " and ".join(f"`{name}`" for name in wanted)
    if "raise NotImplementedError" in "".join(u.source for u in units if u.made & {*wanted}):
        raise NotCarried(f"{listed} of {exercise} is not written yet in {path}")
    _try(text, exercise, path)
    others = {name for i in chosen for name in units[i].functions} - {*wanted}
    more = f", with {', '.join(sorted(others))}" if others else ""
    saved = datetime.fromtimestamp(path.stat().st_mtime).strftime("%d %b, %H:%M")
    return f"{mark}\n{text}\n", f"{listed}{more}, from {path} as it was saved on {saved}"


def _found(assignment: str, notebook: str) -> Path:
    """Return where the earlier notebook is: in the folder beside this one, or where they say."""
    if notebook:
        path = Path(notebook)
        if not path.is_file():
            raise NotCarried(f"there is no file {path}")
        return path
    here = Path(__file__).parent
    for folder in (here.parent / assignment, here):
        if (path := folder / f"{assignment}.ipynb").is_file():
            return path
    raise NotCarried(
        f"there is no {here.parent / assignment / assignment}.ipynb. Put the folder {assignment} "
        'beside this one, or say where the notebook is: carry("…", "path/to/it.ipynb")'
    )


def _cells(path: Path) -> list[tuple[str, str]]:
    """Return the id and the text of each cell of code."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        return [(grade_id(cell), _MAGIC.sub(r"\1pass", source_of(cell))) for cell in code]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise NotCarried(f"{path} can't be read as a notebook") from None


class _Unit(NamedTuple):
    """A statement, or several that stand on one line."""

    source: str
    used: frozenset[str]
    made: frozenset[str]
    functions: frozenset[str]  # that it defines; also classes
    built_on: frozenset[str]  # names that it makes out of what they were before


def _units(
    cells: Iterable[tuple[str, str]], exercise: str, wanted: list[str], path: Path
) -> list[_Unit]:
    """Return the statements of a notebook, up to the exercise's own cell if that can be told."""
    found: list[_Unit] = []
    for id, source in cells:
        try:
            found += _statements(source)
        except (SyntaxError, ValueError, Unparsable) as error:
            if id == exercise:
                raise NotCarried(
                    f"the cell of {exercise} in {path} is no Python: {error}"
                ) from None
        if id == exercise:
            break
    if missing := {*wanted}.difference(*(unit.made for unit in found)):
        listed = " and ".join(f"`{name}`" for name in sorted(missing))
        raise NotCarried(f"the cell of {exercise} in {path} defines no {listed}")
    return found


def _statements(source: str) -> list[_Unit]:
    lines = source.splitlines()
    groups: list[tuple[int, int, list[ast.stmt]]] = []
    for node in ast.parse(source).body:
        decorators = [d.lineno for d in getattr(node, "decorator_list", [])]
        first, last = min([node.lineno, *decorators]) - 1, node.end_lineno or node.lineno
        if groups and first < groups[-1][1]:
            groups[-1] = groups[-1][0], last, [*groups[-1][2], node]
        else:
            groups.append((first, last, [node]))
    return [_unit("\n".join(lines[first:last]), nodes) for first, last, nodes in groups]


def _unit(source: str, nodes: list[ast.stmt]) -> _Unit:
    used, made = names(source)
    defined = [n for n in nodes if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    # `Layer.forward = …` and `weights[0] = …` change what is there already.
    changed = set()
    for node in nodes if not defined else ():
        for target in ast.walk(node):
            if isinstance(target, ast.Attribute | ast.Subscript) and isinstance(
                target.ctx, ast.Store
            ):
                changed |= {n.id for n in ast.walk(target.value) if isinstance(n, ast.Name)}
    at_once = [ast.unparse(part) for node in defined for part in _at_once(node)]
    now = {name for text in at_once for name in names(text).used} if defined else used
    functions = frozenset(node.name for node in defined)
    return _Unit(source, used, made | changed, functions, frozenset((made & now) | changed))


def _at_once(node: ast.FunctionDef | ast.ClassDef) -> list[ast.expr]:
    """Return what a definition uses when it is made, not when it is called."""
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases]
    defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
    return [*node.decorator_list, *defaults]


def _needed(units: list[_Unit], wanted: Iterable[str]) -> set[int]:
    """Return which statements make these names and all that they use."""
    found: set[int] = set()
    waiting, seen = {*wanted}, set(vars(builtins))
    while waiting:
        seen.add(name := waiting.pop())
        for i in reversed(range(len(units))):
            if name in units[i].made:
                found.add(i)
                waiting |= units[i].used - seen
                if name not in units[i].built_on:
                    break
    return found


def _try(text: str, exercise: str, path: Path) -> None:
    """Run the code by itself, as grading will."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, f"<{exercise}>", "exec"), {"__name__": "__main__"})
    except (Exception, SystemExit) as error:
        raise NotCarried(
            f"your code of {exercise} in {path} doesn't run by itself "
            f"({type(error).__name__}: {error}). Mend it there, save, and try again"
        ) from None
