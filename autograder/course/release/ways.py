"""How a part is computed, as a formula to put numbers in: for solutions of what was practised."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

from autograder.exercise import Part
from autograder.exercise.words.loading import HELPERS

_SIGNS = {
    ast.Add: (" + ", 1),
    ast.Sub: (" − ", 1),
    ast.Mult: ("·", 2),
    ast.Div: ("/", 2),
    ast.MatMult: (" @ ", 2),
    ast.Pow: ("^", 4),
}
_SIGN, _ATOM = 3, 5
#: Characters of a formula that still says something.
LONGEST = 120
#: What a function is called in a formula; with others it is none.
_CALLED = {
    **dict.fromkeys(("array", "asarray", "float", "int"), ""),
    **{name: name for name in ("exp", "log", "log2", "log10", "sin", "cos", "tanh", "abs", "len")},
    **{name: name for name in ("sum", "max", "min", "mean", "prod", "trace", "floor", "ceil")},
    **{name: name for name in ("round", "sigmoid", "norm")},
    "sqrt": "√",
}
#: By name, how it is written, and how strongly that holds together.
Known = dict[str, tuple[str, int]]


class _Unsaid(ValueError):
    """Something that no formula of one line says."""


def way_of(part: Part, known: Collection[str]) -> str:
    """Return the formula of a part with names in braces, "" where it isn't one line of arithmetic.

    Examples
    --------
    >>> from autograder.exercise import Exercise, Numbers
    >>> exercise = Exercise("scaled", title="", source="")
    >>> @exercise.part(points=1, answer=Numbers())
    ... def scores(q, K):
    ...     '''Scaled scores.'''
    ...     return K @ q / np.sqrt(len(q))
    >>> way_of(scores, ["q", "K"])
    '{K} @ {q}/√(len({q}))'
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(part.compute)))
        (function,) = tree.body
        assert isinstance(function, ast.FunctionDef)
        _, *steps, result = function.body  # after the docstring
        assert isinstance(result, ast.Return)
        texts: Known = {name: (name, _ATOM) for name in _helpers_of_one(part)}
        texts |= {name: (f"{{{name}}}", _ATOM) for name in known}
        for step in steps:
            assert isinstance(step, ast.Assign)
            (target,) = step.targets
            assert isinstance(target, ast.Name)
            texts[target.id] = _written(step.value, texts)
        found, _ = _written(result.value, texts)
    except (_Unsaid, AssertionError, OSError, SyntaxError, ValueError):
        return ""
    said = "{" in found and found.strip("{}") not in known and len(found) <= LONGEST
    return found if said else ""


def _written(node: ast.AST | None, known: Known) -> tuple[str, int]:
    """Return how an expression is written, and how strongly it holds together."""
    match node:
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.Constant(value=(int() | float()) as value) if not isinstance(value, bool):
            return f"{value}", _ATOM
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return f"−{_inside(operand, known, _SIGN)}", _SIGN
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _SIGNS:
            sign, level = _SIGNS[type(op)]
            return f"{_inside(left, known, level)}{sign}{_inside(right, known, level + 1)}", level
        case ast.Attribute(value=value, attr="T"):
            return f"{_inside(value, known, _ATOM)}ᵀ", _ATOM
        case ast.Call(func=func, args=args, keywords=[]):
            return _called(func, args, known), _ATOM
    raise _Unsaid


def _called(func: ast.AST, args: list[ast.expr], known: Known) -> str:
    match func:
        case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="np" | "math"), attr=name):
            told = ", ".join(_written(each, known)[0] for each in args)
        case ast.Attribute(value=value, attr=("sum" | "max" | "min" | "mean") as name) if not args:
            told = _written(value, known)[0]
        case _:
            raise _Unsaid
    if name not in _CALLED and known.get(name) != (name, _ATOM):
        raise _Unsaid
    return f"{_CALLED.get(name, name)}({told})"


def _helpers_of_one(part: Part) -> list[str]:
    """Return the functions of one argument among a course's helpers, which have names there."""
    helpers = Path(inspect.getfile(part.compute)).parent.parent / f"{HELPERS}.py"
    return _of_one(helpers.read_text("utf-8")) if helpers.is_file() else []


@lru_cache(1)  # a course has one text of helpers, which all its parts are looked at with
def _of_one(source: str) -> list[str]:
    defined = [f for f in ast.parse(source).body if isinstance(f, ast.FunctionDef)]
    return [f.name for f in defined if len(f.args.args) - len(f.args.defaults) == 1]


def _inside(node: ast.AST, known: Known, level: int) -> str:
    text, own = _written(node, known)
    return text if own >= level else f"({text})"
