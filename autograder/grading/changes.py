"""What a function of a reference would be with one change: a sign, a factor, a pair of brackets."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import _lru_cache_wrapper, cache
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

MOST = 300  # changes of a part; a longer way is not looked at
#: What takes its time, or comes out otherwise each time.
LEFT_ALONE = {"rng", "random", "seed", "seeded", "data_file", "default_rng", "while"}
ROOTS = {"sqrt", "square", "cbrt"}
FUNCTIONS = {"exp", "log", "log2", "log10", "log1p", "expm1"}
OTHER = {"max": "min", "min": "max", "argmax": "argmin", "argmin": "argmax"}
MEANS = {"sum": "mean", "mean": "sum"}
LARGEST = {"sum": "max"}
REDUCED = {*OTHER, *MEANS, "std", "var", "cumsum", "norm"}
SIGNS: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}
PRODUCTS: dict[type[ast.operator], type[ast.operator]] = {ast.Mult: ast.Div, ast.Div: ast.Mult}

Change = tuple[str, ast.AST]  #: its kind, and what stands in a node's place
Place = tuple[str, str]  #: the function that is changed, and its text after the change


class Way(NamedTuple):
    """A way to an answer with one change."""

    kind: str
    place: Place
    compute: Callable[..., Any]


@cache
def ways(compute: Callable[..., Any]) -> tuple[Way, ...]:
    """Return a function with one change at a time, there or in its helpers.

    None of one whose source can't be had, that draws, or has a loop that may not end.
    """
    functions, names = _reached(compute)
    found: dict[Place, str] = {}
    plain = {name: ast.unparse(function) for name, function in functions.items()}
    for name, function in functions.items():
        for kind, text in _changed(function):
            if text != plain[name]:
                found.setdefault((name, text), kind)
    if len(found) > MOST:
        return ()
    return tuple(
        Way(kind, (name, text), _made({**plain, name: text}, names, compute))
        for (name, text), kind in found.items()
    )


def _reached(compute: Callable[..., Any]) -> tuple[dict[str, ast.FunctionDef], dict[str, Any]]:
    """Return by name a function and the helpers that it calls, and all that these see.

    Helpers stand in its module, or in one that its package shares. Nothing where one is dear; one
    that remembers what it gave stays as it is.
    """
    found: dict[str, ast.FunctionDef] = {}
    names: dict[str, Any] = {}
    waiting = [compute]
    while waiting:
        each = waiting.pop()
        if each is not compute and isinstance(each, _lru_cache_wrapper):
            continue
        if not isinstance(each, FunctionType) or each.__closure__:
            return {}, {}
        try:
            function = ast.parse(textwrap.dedent(inspect.getsource(each))).body[0]
        except (OSError, SyntaxError, TypeError):
            return {}, {}
        if not isinstance(function, ast.FunctionDef) or (used := _names(function)) & LEFT_ALONE:
            return {}, {}
        function.decorator_list, function.returns = [], None
        found[function.name] = function
        names = {**each.__globals__, **names}
        own = map(each.__globals__.get, sorted(used - found.keys()))
        waiting += [helper for helper in own if callable(helper) and _is_near(helper, compute)]
    return found, names


def _is_near(helper: Any, compute: Callable[..., Any]) -> bool:
    file = getattr(sys.modules.get(getattr(helper, "__module__", "")), "__file__", None) or ""
    own = compute.__code__.co_filename
    return file == own or (file != "" and Path(file).parent in Path(own).parents)


def _names(function: ast.FunctionDef) -> set[str]:
    """Return what a function uses and how it goes on: names, attributes and its loops."""
    nodes = [*ast.walk(function)]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    names |= {argument.arg for argument in function.args.args}
    return names | {"while" for node in nodes if isinstance(node, ast.While)}


def _made(
    texts: Mapping[str, str], names: Mapping[str, Any], compute: Callable[..., Any]
) -> Callable[..., Any]:
    seen = dict(names)
    for text in texts.values():
        exec(compile(text, compute.__code__.co_filename, "exec"), seen)  # a reference's own text
    return seen[compute.__name__]  # type: ignore[no-any-return]


def _changed(function: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Yield the text of a function after each change."""
    given = [argument.arg for argument in function.args.args]
    for statement in function.body[1:] if ast.get_docstring(function) else function.body:
        for kind in _changed_in(statement, given):
            yield kind, ast.unparse(function)


def _changed_in(tree: ast.AST, given: list[str]) -> Iterator[str]:
    """Make each change in a tree, yield its kind, and take it back."""
    numbers = _numbers_of_another_kind(tree)
    for parent in [*ast.walk(tree)]:
        for field, value in [*ast.iter_fields(parent)]:
            places = [*enumerate(value)] if isinstance(value, list) else [(None, value)]
            for place, node in places:
                if isinstance(node, ast.expr):
                    for kind, new in _changes(node, given):
                        _put(parent, field, place, new)
                        yield numbers.get(node, kind)
                        _put(parent, field, place, node)


def _numbers_of_another_kind(tree: ast.AST) -> dict[ast.AST, str]:
    """Return the numbers that are a place or an axis, and no count."""
    found: dict[ast.AST, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(slice=place):
                found |= dict.fromkeys(ast.walk(place), "one_place")
            case ast.keyword(arg="axis", value=axis):
                found |= dict.fromkeys(ast.walk(axis), "one_axis")
            case ast.Call(func=ast.Attribute(attr=name), args=args) if name in REDUCED:
                found |= dict.fromkeys(args, "one_axis")
    return {node: kind for node, kind in found.items() if isinstance(node, ast.Constant)}


def _put(parent: ast.AST, field: str, place: int | None, node: ast.AST) -> None:
    if place is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[place] = node


def _changes(node: ast.expr, given: list[str]) -> Iterator[Change]:
    """Yield what may stand in a node's place."""
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            yield "one_sign", _with(node, op=SIGNS[type(node.op)]())
            yield "one_term_missing", node.left
            yield "one_term_missing", _with(node, left=ast.Constant(0))
            for factor in (ast.Constant(2), ast.Constant(0.5)):
                yield "one_term_twice", _with(node, left=_times(factor, node.left))
                yield "one_term_twice", _with(node, right=_times(factor, node.right))
        case ast.BinOp(op=ast.Mult() | ast.Div()):
            yield "one_quotient", _with(node, op=PRODUCTS[type(node.op)]())
            yield "one_factor_missing", node.left
            yield "one_factor_twice", ast.BinOp(node, node.op, node.right)
            if isinstance(node.op, ast.Mult):
                yield "one_factor_missing", node.right
                yield "one_factor_twice", ast.BinOp(node, node.op, node.left)
            else:
                yield "one_factor_missing", _with(node, left=ast.Constant(1))
                yield "one_factor_twice", ast.BinOp(node, ast.Mult(), node.left)
        case ast.BinOp(op=ast.Pow()):
            yield "one_power", node.left
            yield "one_power_of", _with(node, op=ast.Mult())
        case ast.UnaryOp(op=ast.USub()):
            yield "one_sign", node.operand
        case ast.Constant() | ast.Name(ctx=ast.Load()):
            yield from _other_quantities(node, given)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=args):
            yield from _other_calls(node, name, args)
        case ast.Attribute(value, "T"):
            yield "one_axis", value
    yield from (("one_pair_of_brackets", new) for new in _unbracketed(node))


def _other_quantities(node: ast.Constant | ast.Name, given: list[str]) -> Iterator[Change]:
    """Yield what may stand for a number, a text, or something that is given."""
    match node:
        case ast.Constant(value) if type(value) is int:
            yield "one_count", ast.Constant(value + 1)
            yield "one_count", ast.Constant(value - 1)
            if value > 1:
                yield "one_half", ast.Constant(2 * value)
                yield "one_half", ast.Constant(value // 2 if value % 2 == 0 else value / 2)
        case ast.Constant(str(text)):
            yield from ((kind, ast.Constant(new)) for kind, new in _other_texts(text))
        case ast.Name(name, ast.Load()) if name in given:
            yield "one_count", ast.BinOp(node, ast.Add(), ast.Constant(1))
            yield "one_count", ast.BinOp(node, ast.Sub(), ast.Constant(1))
            yield "one_half", ast.BinOp(ast.Constant(2), ast.Mult(), node)
            yield "one_half", ast.BinOp(node, ast.Div(), ast.Constant(2))
            yield from (("one_quantity", ast.Name(other)) for other in given if other != name)


def _other_texts(text: str) -> Iterator[tuple[str, str]]:
    """Yield a formula with one change at a time; nothing of what isn't written as Python does."""
    try:
        tree = ast.parse(text.replace("^", "**"), mode="eval")
    except SyntaxError:
        return
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n not in called}
    if isinstance(tree.body, ast.BinOp | ast.Call | ast.UnaryOp):
        yield from ((kind, ast.unparse(tree)) for kind in _changed_in(tree, sorted(names)))


def _other_calls(node: ast.Call, name: str, args: list[ast.expr]) -> Iterator[Change]:
    if name in ROOTS and args:
        yield "one_power", args[0]
    if name in FUNCTIONS and args:
        yield "one_function", args[0]
    for kind, others in (("one_extreme", OTHER), ("one_mean", MEANS), ("one_largest", LARGEST)):
        if isinstance(node.func, ast.Attribute) and name in others:
            yield kind, _with(node, func=_with(node.func, attr=others[name]))
    for number, word in enumerate(node.keywords):
        if word.arg == "axis" and isinstance(word.value, ast.Constant | ast.UnaryOp):
            axis = 1 if ast.unparse(word.value) == "0" else 0
            keywords = [*node.keywords]
            keywords[number] = ast.keyword("axis", ast.Constant(axis))
            yield "one_axis", _with(node, keywords=keywords)


def _unbracketed(node: ast.expr) -> Iterator[ast.expr]:
    """Yield what is read where one of its operands loses its brackets."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.BinOp):
        inner = node.operand
        yield _with(inner, left=_with(node, operand=inner.left))
    if not isinstance(node, ast.BinOp):
        return
    if isinstance(node.left, ast.BinOp):  # (a + b) c, read as a + b c
        yield _with(node.left, right=_with(node, left=node.left.right))
    if isinstance(node.right, ast.BinOp):  # a/(b c), read as a/b c
        yield _with(node.right, left=_with(node, right=node.right.left))


def _times(factor: ast.expr, node: ast.expr) -> ast.expr:
    return ast.BinOp(factor, ast.Mult(), node)


def _with(node: Any, **changes: Any) -> Any:
    new = copy(node)
    for name, value in changes.items():
        setattr(new, name, value)
    return new
