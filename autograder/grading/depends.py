"""What a function of a notebook may depend on, by the notebook's text.

Too much does no harm: then something expensive is done once more.  Too little would keep a result
that is no longer the function's own.  So a statement counts as soon as it could have a hand in it,
and where the text does not tell, everything counts.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from autograder.grading.own_text import Unparsable, looking, names, statements

#: Whoever uses these reaches any name without writing it.
_OPAQUE = frozenset(
    (
        "__builtins__",
        "__code__",
        "__defaults__",
        "__dict__",
        "__globals__",
        "__import__",
        "__main__",
        "builtins",
        "compile",
        "ctypes",
        "delattr",
        "eval",
        "exec",
        "gc",
        "get_ipython",
        "globals",
        "importlib",
        "inspect",
        "locals",
        "os",
        "setattr",
        "sys",
        "vars",
    )
)
_BUILTINS = frozenset(vars(builtins))


@dataclass(frozen=True)
class _Statement:
    """A statement of a notebook.

    Attributes
    ----------
    made
        Names that it binds.
    touched
        All names in it, those among them, the packages that it imports, and the attributes
        through which any name can be reached.
    quiet
        Does it bind names and do nothing else?
    """

    source: str
    made: frozenset[str]
    touched: frozenset[str]
    quiet: bool


def behind(cells: Iterable[str], function: str) -> list[str]:
    r"""Return the statements that may have a hand in what a function does, in their order.

    Examples
    --------
    >>> behind(["rate = 0.1\nsize = 3", "def train(seed):\n    return rate * seed"], "train")
    ['rate = 0.1', 'def train(seed):\n    return rate * seed']
    """
    cells = list(cells)
    return looking("what a call rests on", lambda: _behind(cells, function), cells)


def _behind(cells: list[str], function: str) -> list[str]:
    try:
        own = [_statement(node) for cell in cells for node in statements(cell)]
    except Unparsable:
        return cells
    if any(statement.touched & _OPAQUE for statement in own):
        return cells
    # A builtin is everybody's, unless the notebook gives its name to something else.
    common = _BUILTINS.difference(*(statement.made for statement in own))
    reached = [names - common for names in _reached(own)]
    found: set[int] = set()
    wanted = {function}
    while True:
        more = {i for i, names in enumerate(reached) if i not in found and names & wanted}
        if not more:
            return [own[i].source for i in sorted(found)]
        found |= more
        wanted |= {name for i in more for name in own[i].touched}


def _reached(statements: Sequence[_Statement]) -> list[frozenset[str]]:
    """Return by statement the names through which it concerns others.

    A definition concerns those who use its name. What is run concerns whoever shares a name with
    it, or with a function that it may call.
    """
    bodies: dict[str, set[str]] = {}
    for statement in statements:
        if statement.quiet:
            for name in statement.made:
                bodies.setdefault(name, set()).update(statement.touched)
    found = []
    for statement in statements:
        if statement.quiet:
            found.append(statement.made)
            continue
        seen: set[str] = set()
        waiting = set(statement.touched)
        while waiting:
            seen.add(name := waiting.pop())
            waiting |= bodies.get(name, set()) - seen
        found.append(frozenset(seen))
    return found


def _statement(node: ast.stmt) -> _Statement:
    source = ast.unparse(node)
    used, made = names(source)
    imported: set[str] = set()
    attributes = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    hidden = {name for name in attributes & _OPAQUE if name.startswith("__")}  # not model.eval
    for each in ast.walk(node):
        if isinstance(each, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in each.names}
        elif isinstance(each, ast.ImportFrom):
            imported.add((each.module or "").partition(".")[0])
            if any(alias.name == "*" for alias in each.names):
                raise Unparsable("names that are not written")
    return _Statement(source, made, used | made | imported | hidden, _quiet(node))


def _quiet(node: ast.stmt) -> bool:
    """Say whether a statement defines something and does nothing else."""
    if isinstance(node, ast.FunctionDef):
        defaults = [*node.args.defaults, *(each for each in node.args.kw_defaults if each)]
        return not node.decorator_list and all(isinstance(e, ast.Constant) for e in defaults)
    if isinstance(node, ast.ClassDef):
        plain = not (node.decorator_list or node.bases or node.keywords)
        return plain and all(map(_quiet, node.body))
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return all(isinstance(each, ast.Name) for each in targets) and _constant(node.value)
    return isinstance(node, ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def _constant(value: ast.expr | None) -> bool:
    try:
        ast.literal_eval(value) if value else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
