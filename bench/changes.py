"""Every slip that could be made in a module: one change of its syntax tree at a time.

Operators, comparisons, constants, axes, signs, indices and names of functions are changed; texts,
signatures and decorators are left alone.
"""

import ast
import copy
from dataclasses import dataclass

OPERATORS = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div, ast.Add],
    ast.Div: [ast.Mult],
    ast.MatMult: [ast.Mult],
    ast.Pow: [ast.Mult],
    ast.Mod: [ast.Mult],
    ast.FloorDiv: [ast.Mult],
    ast.Lt: [ast.GtE, ast.LtE],
    ast.LtE: [ast.Gt, ast.Lt],
    ast.Gt: [ast.LtE, ast.GtE],
    ast.GtE: [ast.Lt, ast.Gt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.And: [ast.Or],
    ast.Or: [ast.And],
    ast.BitAnd: [ast.BitOr],
    ast.BitOr: [ast.BitAnd],
}
CALLED = {
    "max": ["min"],
    "min": ["max"],
    "sum": ["mean", "max"],
    "mean": ["sum"],
    "argmax": ["argmin"],
    "exp": ["expm1", "exp2"],
    "sqrt": ["square", "cbrt"],
    "sin": ["cos"],
    "cos": ["sin"],
    "diag": ["tril"],
    "triu": ["tril"],
    "tril": ["triu"],
    "zeros": ["ones"],
    "ones": ["zeros"],
    "randn": ["rand"],
}
LEFT_OUT = ("axis", "dim", "keepdims", "keepdim", "k")  # keywords without which calls still run
SIGNATURES = ("args", "decorator_list", "returns", "annotation", "bases")


@dataclass(frozen=True)
class Mutant:
    """A module with one slip in the function (or assignment) of that name.

    ``line`` is its place, ``before`` and ``after`` are the line of code without and with it, as
    Python would write them.
    """

    function: str
    line: int
    before: str
    after: str
    tree: ast.Module

    @property
    def key(self):
        """What tells it from other mutants of its exercise, wherever its line moves."""
        return f"{self.function}: {self.after}"


def mutants(source, roots):
    """Yield a mutant for each change of what the ``roots``, names in a module, need."""
    tree = ast.parse(source)
    for name, statement in reached(tree, roots).items():
        plain = ast.unparse(statement).splitlines()
        seen = {"\n".join(plain)}
        for parent in list(inside(statement)):
            for field, place, child in children(parent):
                for new in mutations(child):
                    _put(parent, field, place, new)
                    text = ast.unparse(statement)
                    mutant = None if text in seen else copy.deepcopy(tree)
                    _put(parent, field, place, child, restore=new is None)
                    if mutant:
                        seen.add(text)
                        line = getattr(child, "lineno", getattr(parent, "lineno", 0))
                        before, after = _differing(plain, text.splitlines())
                        yield Mutant(name, line, before, after, ast.fix_missing_locations(mutant))


def mutations(node):
    """Yield what may stand for a node by mistake; None leaves it out."""
    match node:
        case ast.BinOp(left, op, right):
            yield from (_with(node, op=other()) for other in OPERATORS.get(type(op), []))
            if not isinstance(op, ast.Add | ast.Mult | ast.BitAnd | ast.BitOr):
                yield _with(node, left=right, right=left)
        case ast.BoolOp(op) | ast.AugAssign(op=op):
            yield from (_with(node, op=other()) for other in OPERATORS.get(type(op), []))
        case ast.Compare(ops=[first, *others]):
            yield from (
                _with(node, ops=[other(), *others]) for other in OPERATORS.get(type(first), [])
            )
        case ast.UnaryOp(ast.USub(), ast.Constant(value)):
            yield from (ast.Constant(other) for other in _other(-value))
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Constant(value):
            yield from (ast.Constant(other) for other in _other(value))
        case ast.Attribute(value, name):
            if name in ("T", "mT"):
                yield value
            yield from (_with(node, attr=other) for other in CALLED.get(name, []))
        case ast.keyword(name) if name in LEFT_OUT:
            yield None
        case ast.Subscript(value, place) if not isinstance(place, ast.Slice):
            yield value


def _with(node, **changes):
    new = copy.copy(node)
    for name, value in changes.items():
        setattr(new, name, value)
    return new


def _other(value):
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return sorted({value + 1, -value, value * 2, 0} - {value})
    return []


def reached(tree, roots):
    """Return the functions, classes and assignments of a module that ``roots`` need, by name."""
    defined = {}
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            defined[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            for node in (node for target in statement.targets for node in ast.walk(target)):
                if isinstance(node, ast.Name):
                    defined[node.id] = statement
    defined.pop("exercise", None)
    found, waiting = {}, list(roots)
    while waiting:
        name = waiting.pop()
        if name in defined and defined[name] not in found.values():
            statement = found[name] = defined[name]
            waiting += names_in(statement)
    return found


def names_in(statement):
    """Return the names that a definition's body, or an assignment, uses."""
    body = getattr(statement, "body", [statement])
    nodes = [node for part in body for node in ast.walk(part)]
    return [node.id for node in nodes if isinstance(node, ast.Name)]


def inside(node):
    """Yield a node and all nodes below it, parents first."""
    yield node
    for _, _, child in children(node):
        yield from inside(child)


def children(parent):
    """Yield the field, the place in it (None where it is no list) and the node of each child.

    A number with a sign is one child, and so is not looked into.
    """
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.operand, ast.Constant):
        return
    for field, value in list(ast.iter_fields(parent)):
        places = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        if field not in SIGNATURES or isinstance(parent, ast.Call):
            yield from ((field, p, child) for p, child in places if isinstance(child, ast.AST))


def _put(parent, name, place, new, *, restore=False):
    """Replace a field's value; None takes an entry out of a list, ``restore`` puts it back."""
    if place is None:
        setattr(parent, name, new)
    elif restore:
        getattr(parent, name).insert(place, new)
    elif new is None:
        del getattr(parent, name)[place]
    else:
        getattr(parent, name)[place] = new


def _differing(before, after):
    """Return the lines that two texts do not share."""
    pairs = [(a.strip(), b.strip()) for a, b in zip(before, after, strict=False) if a != b]
    return tuple(" ".join(lines) for lines in zip(*pairs, strict=True))
