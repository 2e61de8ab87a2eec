"""Syntax trees to sympy expressions: the names, the functions, and how large is too large.

Every size is checked before the arithmetic is done: ``9**9**9`` is refused, not computed.
"""

from __future__ import annotations

import ast
import difflib
import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import sympy
from mpmath.ctx_mp import MPContext

from autograder.algebra.errors import ParseError
from autograder.algebra.functions import Diff, Max, Min, cosh, sinh, tanh
from autograder.algebra.lexer import Source, Token
from autograder.algebra.numeric import LARGEST, Evaluator, Undefined

MAX_DEPTH = 40
MAX_DIGITS = 60
MAX_DECIMAL_EXPONENT = 300
MAX_BITS = 2000  # of an exact number that a power may make
MAX_EXPONENT = 1000

ASSUMPTIONS = ("complex", "real", "positive", "negative", "nonnegative", "nonzero", "integer")


def plain_name(name: str) -> str:
    """Return what two spellings of one name have in common: ``p_1`` is ``p1``."""
    return name.replace("_", "")


def is_in_range(number: sympy.Expr, largest: float = math.inf) -> bool:
    """Whether a constant can be computed and is at most so large."""
    try:
        return bool(abs(Evaluator(MPContext(), {})(number)) <= largest)
    except (Undefined, ArithmeticError, ValueError):
        return False


class Scope:
    """What the names in a formula mean."""

    def __init__(self, names: Iterable[str] | None, assumptions: Mapping[str, str]) -> None:
        self.names = None if names is None else {plain_name(name): name for name in names}
        self._assumptions = {name: words.split() for name, words in assumptions.items()}
        for word in itertools.chain.from_iterable(self._assumptions.values()):
            if word not in ASSUMPTIONS:
                raise ValueError(f"unknown assumption {word!r}; known: {', '.join(ASSUMPTIONS)}")

    def find(self, word: str) -> sympy.Expr | None:
        """Return the symbol or constant called `word`, None if there is none."""
        if self.names is not None and plain_name(word) in self.names:
            return self._symbol(self.names[plain_name(word)])
        if word in CONSTANTS:
            return CONSTANTS[word]
        return self._symbol(word) if self.names is None and word not in FUNCTIONS else None

    def _symbol(self, name: str) -> sympy.Symbol:
        words = self._assumptions.get(name, self._assumptions.get("*", ["real"]))
        return sympy.Symbol(name, **dict.fromkeys(words, True))


class Builder:
    """Build the expression for a syntax tree, checking sizes before computing."""

    def __init__(self, source: Source, scope: Scope, functions: Mapping[str, Any]) -> None:
        self.source = source
        self.scope = scope
        self.functions = functions

    def fail(self, reason: str, node: ast.expr) -> ParseError:
        """Return the error that points at `node`."""
        return ParseError(reason, self.source.text, self.source.token(node).position)

    def build(self, node: ast.expr, depth: int = 0) -> sympy.Expr:
        """Return the expression for `node`, or raise `ParseError`."""
        if depth > MAX_DEPTH:
            raise self.fail("this is nested too deeply", node)
        value = self._build(node, depth + 1)
        if value in UNDEFINED:
            raise self.fail("this is not defined", node)
        return value

    def _build(self, node: ast.expr, depth: int) -> sympy.Expr:
        match node:
            case ast.Constant():
                return self._number(node)
            case ast.Name():
                return self._name(self.source.token(node), node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self.build(operand, depth)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.build(operand, depth)
            case ast.BinOp(left=base, op=ast.Pow(), right=exponent):
                return self._power(self.build(base, depth), self.build(exponent, depth), exponent)
            case ast.BinOp():
                return self._chain(node, depth)
            case ast.Call(func=ast.Name() as name, args=args, keywords=[]):
                return self._call(name, args, depth)
        raise self.fail("this is not part of a formula", node)

    def _number(self, node: ast.expr) -> sympy.Rational:
        mantissa, _, exponent = self.source.token(node).text.lower().partition("e")
        if len(mantissa) > MAX_DIGITS or len(exponent) > 5:
            raise self.fail(f"a number may have at most {MAX_DIGITS} digits", node)
        if abs(int(exponent or 0)) > MAX_DECIMAL_EXPONENT:
            raise self.fail("this number is out of range", node)
        value = Fraction(mantissa) * Fraction(10) ** int(exponent or 0)
        return sympy.Rational(value.numerator, value.denominator)

    def _name(self, token: Token, node: ast.expr) -> sympy.Expr:
        value = self.scope.find(token.text)
        if value is not None:
            return value
        if token.text in self.functions:
            raise self.fail(f"{token.text} needs brackets: {token.text}(…)", node)
        hint = _nearest(token.text, self.scope.names or {})
        raise self.fail(f"unknown name {token.text}; {hint}", node)

    def _chain(self, node: ast.BinOp, depth: int) -> sympy.Expr:
        # A sum of a hundred terms is a hundred levels deep on the left: walk down in a loop.
        steps = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and not isinstance(left.op, ast.Pow):
            steps.append((left.op, left.right))
            left = left.left
        value = self.build(left, depth)
        for operator, operand in reversed(steps):
            right = self.build(operand, depth)
            match operator:
                case ast.Add():
                    value = value + right
                case ast.Sub():
                    value = value - right
                case ast.Mult():
                    value = value * right
                case _:
                    if right == 0:
                        raise self.fail("division by zero", operand)
                    value = value / right
        return value

    def _power(self, base: sympy.Expr, exponent: sympy.Expr, at: ast.expr) -> sympy.Expr:
        if exponent.is_Rational:
            size = max(1, math.ceil(abs(exponent)))
            if size > MAX_EXPONENT or _bits(base) * size > MAX_BITS:
                raise self.fail("this power is too large", at)
            if base == 0 and exponent <= 0:
                raise self.fail("division by zero" if exponent < 0 else "0**0 is not defined", at)
        elif base.is_number and exponent.is_number:
            self._check_exp(exponent * sympy.log(base, evaluate=False), at)
        return base**exponent

    def _check_exp(self, value: sympy.Expr, at: ast.expr) -> None:
        if not is_in_range(value, LARGEST):
            raise self.fail("this number is too large", at)

    def _call(self, name: ast.Name, args: list[ast.expr], depth: int) -> sympy.Expr:
        word = self.source.token(name).text
        least, most, function = self.functions[word]
        if not least <= len(args) <= most:
            count = f"{least} to {most}" if most > least else least
            raise self.fail(f"{word} takes {count} argument{'s' * (most > 1)}", name)
        values = [self.build(argument, depth) for argument in args]
        if word in _EXPONENTIALS and values[0].is_number:
            self._check_exp(values[0], name)
        if function is Diff and not all(variable.is_Symbol for variable in values[1:]):
            raise self.fail("differentiate with respect to a variable: diff(f, x)", args[1])
        return function(*values)


def _nearest(word: str, names: Mapping[str, str]) -> str:
    if close := difflib.get_close_matches(plain_name(word), names, n=1, cutoff=0.5):
        return f"did you mean {names[close[0]]}?"
    if close := difflib.get_close_matches(word, FUNCTIONS, n=1, cutoff=0.7):
        return f"did you mean {close[0]}?"
    return f"the names are {', '.join(names.values())}" if names else "no names are expected"


def _bits(expr: sympy.Expr) -> int:
    """Return the length of the longest integer in `expr`."""
    numbers = expr.atoms(sympy.Rational)
    return max((max(abs(n.p).bit_length(), n.q.bit_length()) for n in numbers), default=1)


def _log(value: sympy.Expr) -> sympy.Expr:
    # For a constant that is not rational, sympy's log looks for its angle, which can take long.
    return sympy.log(value, evaluate=bool(value.is_Rational or not value.is_number))


def _abs(value: sympy.Expr) -> sympy.Expr:
    # For what may be complex, sympy's Abs expands value·conjugate, which can take long.
    return sympy.Abs(value, evaluate=bool(value.is_extended_real))


UNDEFINED = (sympy.zoo, sympy.nan, sympy.oo, -sympy.oo)

_EXPONENTIALS = ("exp", "sinh", "cosh", "tanh")
CONSTANTS = {"pi": sympy.pi, "e": sympy.E}
# name: (least number of arguments, most, what it makes of them)
FUNCTIONS: dict[str, tuple[int, int, Callable[..., sympy.Expr]]] = {
    "exp": (1, 1, sympy.exp),
    "log": (1, 1, _log),
    "ln": (1, 1, _log),
    "sqrt": (1, 1, sympy.sqrt),
    "sin": (1, 1, sympy.sin),
    "cos": (1, 1, sympy.cos),
    "tan": (1, 1, sympy.tan),
    "sinh": (1, 1, sinh),
    "cosh": (1, 1, cosh),
    "tanh": (1, 1, tanh),
    "abs": (1, 1, _abs),
    "max": (1, 10, Max),
    "min": (1, 10, Min),
    "diff": (2, 4, Diff),
}
