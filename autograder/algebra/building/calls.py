"""Calls: functions, derivatives and limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from autograder.algebra.building.construction import Construction, hashable
from autograder.algebra.building.elementary import FUNCTIONS as COMPUTED
from autograder.algebra.building.expressions import matrix
from autograder.algebra.building.functions import MAX_FACTORIAL, Diff, Limit
from autograder.algebra.building.library import (
    BINDERS,
    CALLS,
    CONSTANTS,
    FUNCTIONS,
    LIMITS,
    WrongArguments,
)
from autograder.algebra.building.numeric import LARGEST, Evaluator, Undefined, shared_context
from autograder.algebra.building.piecewise import Condition, chosen, completes, holds
from autograder.algebra.building.running_index import bind, index_problem
from autograder.algebra.building.sizes import bits, is_in_range
from autograder.algebra.reading.amounts import BINOMIALS
from autograder.algebra.reading.tree import Node, indicator, written_delta

_EXPONENTIALS = ("exp", "sinh", "cosh", "tanh", "sech", "csch", "coth", "erf", "sigmoid")
_POLES = {"tan": sympy.cos, "sec": sympy.cos, "cot": sympy.sin, "csc": sympy.sin}
_NEAR = 1e-9  # as in reading/magnitudes.py
_OF_MATRICES = ("norm", "abs", "transpose", "diag", "trace", "tr", "det")


def call(site: Construction, node: Node, depth: int) -> Any:
    """Build a call, or what is written as one."""
    word, args = node.token.text, node.children
    if word in BINDERS and word not in site.functions:
        return bind(site, node, depth)
    if word == "Matrix" and len(args) == 1 and args[0].kind == "list":
        return matrix(site, args[0], depth)
    if word == "cases" and word not in site.functions:
        return _cases(site, node, depth)
    if word == "diff" or word == "Derivative":
        return _derivative(site, node, depth)
    if word == "Largest":
        raise site.fail("the largest over an index is not read here: write max(a, b)", node)
    if word in LIMITS and word not in site.functions:
        return _limit(site, node, depth)
    if site.scope.has_delta and (
        delta := written_delta(node, lambda word: site.scope.find(word) is not None)
    ):
        return site.build(delta, depth)
    return apply_function(site, word, [site.build(argument, depth) for argument in args], node)


def postfix(site: Construction, node: Node, depth: int) -> Any:
    """Build a factorial or a transpose."""
    return apply_function(site, node.kind, [site.build(node.children[0], depth)], node)


def apply_function(site: Construction, word: str, values: list[Any], node: Node) -> Any:
    """Return what a function comes to, or refuse what it is given."""
    if word in site.functions:
        least, most, function = site.functions[word]
    elif word in CALLS:
        raise site.fail(f"{word} cannot be used like this", node)
    else:
        least, most, function = 1, 10, sympy.Function(word)
    _count(site, word, least, most, values, node)
    for value in values:
        if isinstance(value, sympy.MatrixBase) and word not in _OF_MATRICES:
            raise site.fail(f"{word} takes numbers, not a matrix", node)
    if problem := argument_problem(word, values):
        raise site.fail(problem, node)
    try:
        return function(*map(hashable, values))
    except WrongArguments as error:
        raise site.fail(str(error), node) from None


def _count(
    site: Construction, word: str, least: int, most: int, values: Sequence[Any], node: Node
) -> None:
    if not least <= len(values) <= most:
        count = f"{least} to {most}" if most > least else least
        raise site.fail(f"{word} takes {count} argument{'s' * (most > 1)}", node)


def _cases(site: Construction, node: Node, depth: int) -> Any:
    """Build values with the conditions under which they hold, the first that holds."""
    parts = [*node.children]
    rest = site.build(parts.pop(), depth) if len(parts) % 2 else None
    pairs = list(zip(parts[::2], parts[1::2], strict=True))
    conditions = [_conditions(site, condition, depth) for _, condition in pairs]
    if rest is None:
        if len(pairs) != 2 or not _always(conditions):
            raise site.fail("say what holds for all others: otherwise", node)
        rest = site.build(pairs.pop()[0], depth)
    for (value, _), condition in reversed([*zip(pairs, conditions, strict=False)]):
        first = site.build(value, depth)
        if not isinstance(condition, list):
            rest = rest + (first - rest) * condition
        elif len(condition) == 1:
            rest = chosen(condition[0], first, rest)
        else:
            rest = rest + (first - rest) * sympy.Mul(*(holds(*link) for link in condition))
    return rest


def _conditions(site: Construction, node: Node, depth: int) -> list[Condition] | sympy.Expr:
    """Return the links of ``0 <= x < 1``, or what is 1 where two indices are the same."""
    while node.kind == "group":
        node = node.children[0]
    if node.kind != "relation" or "≈" in node.marks:
        raise site.fail("expected a condition, such as x > 0", node)
    names = all(side.kind == "name" for side in node.children)
    if names and not all(site.scope.knows(side.token.text) for side in node.children):
        found = indicator(node.token, node)
        if found is not None and site.scope.has_delta:
            return site.build(found, depth)
    sides = [site.build(side, depth) for side in node.children]
    return list(zip(node.marks, sides, sides[1:], strict=False))


def _derivative(site: Construction, node: Node, depth: int) -> Any:
    least, most, _ = site.functions.get("diff", FUNCTIONS["diff"])
    variables: list[Node] = []
    for argument in node.children[1:]:
        if argument.kind == "tuple" and len(argument.children) == 2:
            times = site.build(argument.children[1], depth)
            if not times.is_Integer or not 1 <= times <= most:
                raise site.fail("expected how often to differentiate", argument)
            variables += [argument.children[0]] * int(times)
        elif argument.kind == "number" and argument.token.text in ("1", "2", "3") and variables:
            variables += [variables[-1]] * (int(argument.token.text) - 1)
        else:
            variables.append(argument)
    _count(site, node.token.text, least, most, (node, *variables), node)
    inner = site.build(node.children[0], depth)
    values = [site.build(variable, depth) for variable in variables]
    if isinstance(inner, sympy.MatrixBase) or not all(v.is_Symbol for v in values):
        raise site.fail("differentiate with respect to a variable: diff(f, x)", variables[0])
    site.pending = True
    return Diff(inner, *values)


def _limit(site: Construction, node: Node, depth: int) -> Any:
    _count(site, node.token.text, 3, 4, node.children, node)
    inner, variable = (site.build(child, depth) for child in node.children[:2])
    if isinstance(inner, sympy.MatrixBase) or not variable.is_Symbol:
        raise site.fail("write limit(f, x, a)", node.children[1])
    side = node.children[3].token.text if len(node.children) > 3 else "+"
    if side not in ("+", "-"):
        raise site.fail("write limit(f, x, a)", node.children[3])
    site.pending = True
    return Limit(inner, variable, _end(site, node.children[2], depth), sympy.Symbol(side))


def _end(site: Construction, node: Node, depth: int) -> sympy.Expr:
    """Build where a limit goes, which alone may be infinity."""
    minus = node.kind == "negative"
    name = node.children[0] if minus else node
    if name.kind == "name" and CONSTANTS.get(name.token.text) is sympy.oo:
        return sympy.S.NegativeInfinity if minus else sympy.oo
    return site.build(node, depth)


def argument_problem(word: str, values: Sequence[Any]) -> str:
    """Say why a function is not built of these numbers, "" if it is."""
    made_of = {function.func for function in values[0].atoms(sympy.Function)}
    known = values[0].is_number and made_of <= {*COMPUTED, sympy.exp}
    if word in _EXPONENTIALS and known and not is_in_range(values[0], LARGEST):
        return "this number is too large"
    if word in ("factorial", *BINOMIALS):
        numbers = [value for value in values if value.is_Rational]
        if bits(sympy.Tuple(*numbers)) > 16:
            return f"this number is too large for {word}"
    if word in ("KroneckerDelta", "delta"):
        return index_problem(values)
    if word in _POLES and known and not values[0].is_Rational and _is_pole(word, values[0]):
        return "this is not defined"
    if word == "factorial" and values[0].is_Rational and not 0 <= values[0] <= MAX_FACTORIAL:
        return f"factorials are read from 0 to {MAX_FACTORIAL}"
    return ""


def _is_pole(word: str, value: sympy.Expr) -> bool:
    """Whether a function has no value at a number, within rounding, as tan(pi/2) has none."""
    try:
        return bool(abs(Evaluator(shared_context(15), {})(_POLES[word](value))) < _NEAR)
    except (Undefined, ArithmeticError, ValueError, TypeError):
        return False


def _always(conditions: Sequence[Any]) -> bool:
    """Whether one of two conditions holds at every point."""
    first, second = conditions
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) == 1 and completes(first[0], second[0])
    return not isinstance(first, list) and not isinstance(second, list) and first + second == 1
