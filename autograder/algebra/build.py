"""Trees to sympy expressions, with every size checked before the arithmetic is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy

from autograder.algebra import objects
from autograder.algebra.errors import ParseError
from autograder.algebra.functions import MAX_FACTORIAL, Diff, Limit
from autograder.algebra.grammar import Node
from autograder.algebra.lexer import Token
from autograder.algebra.library import (
    BINDERS,
    CALLS,
    CONSTRUCTORS,
    FUNCTIONS,
    INTERVALS,
    LIMITS,
    RELATIONS,
    Refusal,
)
from autograder.algebra.limits import (
    MAX_BUILT,
    MAX_CELLS,
    MAX_DECIMAL_EXPONENT,
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_NODES,
    MAX_TERMS,
    bits,
    is_in_range,
    is_larger,
    power_problem,
)
from autograder.algebra.numeric import LARGEST
from autograder.algebra.scope import Scope

UNDEFINED = (sympy.zoo, sympy.nan, sympy.oo, -sympy.oo)
_EXPONENTIALS = ("exp", "sinh", "cosh", "tanh", "sech", "csch", "coth", "erf", "sigmoid")
_SET_OPERATIONS = {
    "union": objects.Union,
    "intersection": objects.Intersection,
    "difference": objects.Difference,
}


class Builder:
    """Build the value of a tree, checking sizes before computing."""

    def __init__(self, text: str, scope: Scope, functions: Mapping[str, Any]) -> None:
        self.text = text
        self.scope = scope
        self.functions = functions
        self.bound: dict[str, sympy.Expr] = {}  # what running indices stand for
        self.built = 0

    def fail(self, reason: str, node: Node) -> ParseError:
        """Return the error that points at `node`."""
        while node.kind == "group":
            node = node.children[0]
        return ParseError(reason, self.text, node.token.position)

    def build(self, node: Node, depth: int = 0) -> Any:
        """Return the value of `node`, or raise `ParseError`."""
        self.built += 1
        if depth > MAX_DEPTH:
            raise self.fail("this is nested too deeply", node)
        if self.built > MAX_BUILT:
            raise self.fail("this formula has too many parts", node)
        value = getattr(self, f"_{node.kind}")(node, depth + 1)
        if value in UNDEFINED:
            raise self.fail("this is not defined", node)
        return value

    def number(self, node: Node, depth: int) -> Any:
        """Build something to compute with: an expression or a matrix."""
        value = self.build(node, depth)
        if not isinstance(value, sympy.Expr | sympy.MatrixBase):
            raise self.fail(f"expected a number or a formula, not {_a(value)}", node)
        return value

    # ---- one method per kind of node

    def _group(self, node: Node, depth: int) -> Any:
        return self.build(node.children[0], depth)

    def _number(self, node: Node, _depth: int) -> sympy.Rational:
        mantissa, _, exponent = node.token.text.lower().partition("e")
        if len(mantissa) > MAX_DIGITS or len(exponent) > 5:
            raise self.fail(f"a number may have at most {MAX_DIGITS} digits", node)
        if abs(int(exponent or 0)) > MAX_DECIMAL_EXPONENT:
            raise self.fail("this number is out of range", node)
        value = Fraction(mantissa) * Fraction(10) ** int(exponent or 0)
        return sympy.Rational(value.numerator, value.denominator)

    def _name(self, node: Node, _depth: int) -> Any:
        word = node.token.text
        value = self._indexed(node) if self.bound else None
        value = self.scope.find(word) if value is None else value
        if value is not None:
            return value
        if word in self.functions or word in CALLS:
            raise self.fail(f"{word} needs brackets: {word}(…)", node)
        raise self.fail(f"unknown name {word}; {self.scope.nearest(word)}", node)

    def _negative(self, node: Node, depth: int) -> Any:
        return -self.number(node.children[0], depth)

    def _chain(self, node: Node, depth: int) -> Any:
        value = self.number(node.children[0], depth)
        for sign, operand in zip(node.marks, node.children[1:], strict=True):
            right = self.number(operand, depth)
            value = self._combine(sign, value, right, operand)
            if isinstance(value, sympy.MatrixBase) and is_larger(value, MAX_NODES):
                raise self.fail("this matrix is too large", operand)
        return value

    def _combine(self, sign: str, left: Any, right: Any, at: Node) -> Any:
        matrices = [isinstance(value, sympy.MatrixBase) for value in (left, right)]
        if sign in "+-":
            if any(matrices) and (not all(matrices) or left.shape != right.shape):
                raise self.fail("these cannot be added: their sizes differ", at)
            return left + right if sign == "+" else left - right
        if sign == "/":
            if matrices[1]:
                raise self.fail("there is no division by a matrix", at)
            if right == 0:
                raise self.fail("division by zero", at)
            return left / right
        if all(matrices):
            if sign == "∘":
                if left.shape != right.shape:
                    raise self.fail("an entrywise product needs equal sizes", at)
                return left.multiply_elementwise(right)
            if left.cols != right.rows:
                raise self.fail("these cannot be multiplied: their sizes do not fit", at)
        return left * right

    def _power(self, node: Node, depth: int) -> Any:
        base = self.number(node.children[0], depth)
        exponent = self.number(node.children[1], depth)
        if isinstance(exponent, sympy.MatrixBase):
            raise self.fail("an exponent cannot be a matrix", node.children[1])
        if isinstance(base, sympy.MatrixBase):
            if base.rows != base.cols or not exponent.is_Integer or not 0 <= exponent <= 8:
                raise self.fail("only small powers of square matrices are read", node)
            return base**exponent
        if problem := power_problem(base, exponent):
            raise self.fail(problem, node.children[1])
        return base**exponent

    def _factorial(self, node: Node, depth: int) -> Any:
        return self._apply("factorial", [self.build(node.children[0], depth)], node)

    def _transpose(self, node: Node, depth: int) -> Any:
        return self._apply("transpose", [self.build(node.children[0], depth)], node)

    def _relation(self, node: Node, depth: int) -> Any:
        signs: Sequence[str] = node.marks
        if "≈" in signs:  # what follows is a rounded value
            signs = signs[: signs.index("≈")]
        sides = [self.build(side, depth) for side in node.children[: len(signs) + 1]]
        links = [
            self._link(sign, left, right, node)
            for sign, left, right in zip(signs, sides, sides[1:], strict=False)
        ]
        if not links:
            return sides[0]
        return links[0] if len(links) == 1 else objects.Conjunction(*links)

    def _link(self, sign: str, left: Any, right: Any, node: Node) -> Any:
        for side in (left, right):
            if not isinstance(side, sympy.Expr | objects.Listing | sympy.MatrixBase):
                raise self.fail(f"expected a formula on both sides, not {_a(side)}", node)
        return objects.relation(sign, *(_hashable(side) for side in (left, right)))

    def _logic(self, node: Node, depth: int) -> Any:
        sides = [self.build(child, depth) for child in node.children]
        return (objects.Conjunction if node.marks == ("and",) else objects.Disjunction)(*sides)

    def _items(self, node: Node, depth: int) -> list[Any]:
        return [_hashable(self.build(child, depth)) for child in node.children]

    def _list(self, node: Node, depth: int) -> Any:
        return objects.Listing(*self._items(node, depth))

    def _tuple(self, node: Node, depth: int) -> Any:
        return objects.Tuple(*self._items(node, depth))

    def _set(self, node: Node, depth: int) -> Any:
        return objects.FiniteSet(*self._items(node, depth))

    def _interval(self, node: Node, depth: int) -> Any:
        low, high = (self._end(child, depth) for child in node.children)
        return objects.Interval(
            low, high, sympy.sympify(node.marks[0] == "("), sympy.sympify(node.marks[1] == ")")
        )

    def _end(self, node: Node, depth: int) -> Any:
        if node.kind == "name" and node.token.text in ("oo", "infinity"):
            return sympy.oo
        if node.kind == "negative" and node.children[0].token.text in ("oo", "infinity"):
            return -sympy.oo
        return self.number(node, depth)

    def _union(self, node: Node, depth: int) -> Any:
        sides = [self._pair_as_interval(child, depth) for child in node.children]
        for side in sides:
            if not isinstance(side, objects.SETS):
                raise self.fail(f"expected a set, not {_a(side)}", node)
        return _SET_OPERATIONS[node.kind](*sides)

    _intersection = _difference = _union

    def _pair_as_interval(self, node: Node, depth: int) -> Any:
        """``(1, 2) ∪ (3, 4)``: beside a set, a pair is an interval."""
        while node.kind == "group":
            node = node.children[0]
        if node.kind in ("tuple", "list") and len(node.children) == 2:
            marks = ("(", ")") if node.kind == "tuple" else ("[", "]")
            node = Node("interval", node.token, node.children, marks)
        return self.build(node, depth)

    def _matrix(self, node: Node, depth: int) -> Any:
        rows = [row.children if row.kind in ("list", "tuple") else (row,) for row in node.children]
        if len({len(row) for row in rows}) != 1 or not rows[0]:
            raise self.fail("every row of a matrix must have the same number of entries", node)
        if len(rows) * len(rows[0]) > MAX_CELLS:
            raise self.fail(f"a matrix may have at most {MAX_CELLS} entries", node)
        cells = [[self.build(cell, depth) for cell in row] for row in rows]
        for row, written in zip(cells, rows, strict=True):
            for cell, place in zip(row, written, strict=True):
                if not isinstance(cell, sympy.Expr):
                    raise self.fail(f"expected a formula, not {_a(cell)}", place)
        return sympy.ImmutableMatrix(cells)

    # ---- calls

    def _call(self, node: Node, depth: int) -> Any:
        word, args = node.token.text, node.children
        if word in BINDERS and word not in self.functions:
            return self._bind(node, depth)
        if word == "Matrix" and len(args) == 1 and args[0].kind == "list":
            return self._matrix(args[0], depth)
        if word == "EmptySet" and not args:
            return objects.FiniteSet()
        if word in INTERVALS:
            return self._interval_call(node, depth)
        if word == "diff" or word == "Derivative":
            return self._derivative(node, depth)
        if word in LIMITS and word not in self.functions:
            return self._limit(node, depth)
        return self._apply(word, [self.build(argument, depth) for argument in args], node)

    def _apply(self, word: str, values: list[Any], node: Node) -> Any:
        if word in RELATIONS:
            self._count(word, 2, 2, values, node)
            return self._link(RELATIONS[word], values[0], values[1], node)
        if word in self.functions:
            least, most, function = self.functions[word]
            numbers = True
        elif word in CONSTRUCTORS:
            least, most, function = CONSTRUCTORS[word]
            numbers = False
        elif word in CALLS:
            raise self.fail(f"{word} cannot be used like this", node)
        else:
            least, most, function = 1, 10, sympy.Function(word)
            numbers = True
        self._count(word, least, most, values, node)
        for value in values if numbers else ():
            if not isinstance(value, sympy.Expr | sympy.MatrixBase):
                raise self.fail(f"{word} takes numbers, not {_a(value)}", node)
            if isinstance(value, sympy.MatrixBase) and word not in _OF_MATRICES:
                raise self.fail(f"{word} takes numbers, not a matrix", node)
        if word in _EXPONENTIALS and values[0].is_number and not is_in_range(values[0], LARGEST):
            raise self.fail("this number is too large", node)
        if word in ("factorial", "binomial") and bits(sympy.Tuple(*values)) > 16:
            raise self.fail(f"this number is too large for {word}", node)
        if word == "factorial" and values[0].is_Rational and not 0 <= values[0] <= MAX_FACTORIAL:
            raise self.fail(f"factorials are read from 0 to {MAX_FACTORIAL}", node)
        try:
            return function(*map(_hashable, values))
        except Refusal as error:
            raise self.fail(str(error), node) from None

    def _count(self, word: str, least: int, most: int, values: Sequence[Any], node: Node) -> None:
        if not least <= len(values) <= most:
            count = f"{least} to {most}" if most > least else least
            raise self.fail(f"{word} takes {count} argument{'s' * (most > 1)}", node)

    def _interval_call(self, node: Node, depth: int) -> Any:
        opening, closing = INTERVALS[node.token.text]
        self._count(node.token.text, 2, 4, node.children, node)
        flags = [self.build(flag, depth) for flag in node.children[2:]]
        opening = "(" if sympy.true in flags[:1] else opening
        closing = ")" if sympy.true in flags[1:] else closing
        whole = Node("interval", node.token, node.children[:2], (opening, closing))
        return self._interval(whole, depth)

    def _derivative(self, node: Node, depth: int) -> Any:
        least, most, _ = self.functions.get("diff", FUNCTIONS["diff"])
        variables: list[Node] = []
        for argument in node.children[1:]:
            if argument.kind == "tuple" and len(argument.children) == 2:
                times = self.build(argument.children[1], depth)
                if not times.is_Integer or not 1 <= times <= most:
                    raise self.fail("expected how often to differentiate", argument)
                variables += [argument.children[0]] * int(times)
            else:
                variables.append(argument)
        self._count(node.token.text, least, most, (node, *variables), node)
        inner = self.number(node.children[0], depth)
        values = [self.build(variable, depth) for variable in variables]
        if isinstance(inner, sympy.MatrixBase) or not all(v.is_Symbol for v in values):
            raise self.fail("differentiate with respect to a variable: diff(f, x)", variables[0])
        return Diff(inner, *values)

    def _limit(self, node: Node, depth: int) -> Any:
        self._count(node.token.text, 3, 3, node.children, node)
        inner, variable = (self.number(child, depth) for child in node.children[:2])
        if isinstance(inner, sympy.MatrixBase) or not variable.is_Symbol:
            raise self.fail("write limit(f, x, a)", node.children[1])
        return Limit(inner, variable, self._end(node.children[2], depth))

    # ---- sums and products with a running index

    def _bind(self, node: Node, depth: int) -> Any:
        parts = node.children
        if len(parts) == 2 and parts[1].kind == "tuple":
            parts = (parts[0], *parts[1].children)
        word = node.token.text
        if len(parts) != 4:
            raise self.fail(f"write {word}(term, k, 1, n)", node)
        body, index = parts[0], parts[1]
        if index.kind != "name":
            raise self.fail("expected the name of the running index", index)
        low, high = self.number(parts[2], depth), self.number(parts[3], depth)
        add = word.lower() == "sum"
        if low.is_number and high.is_number:
            return self._written_out(add, body, index.token, low, high, depth)
        symbol = sympy.Symbol(index.token.text, integer=True)
        with_index = self._with_index(body, index.token, symbol, depth)
        return (sympy.Sum if add else sympy.Product)(with_index, (symbol, low, high))

    def _written_out(
        self, add: bool, body: Node, index: Token, low: Any, high: Any, depth: int
    ) -> Any:
        if not (low.is_Integer and high.is_Integer):
            raise ParseError("a range goes from a whole number to one", self.text, index.position)
        if high - low >= MAX_TERMS or max(abs(low), abs(high)) > 10**6:
            raise ParseError(f"at most {MAX_TERMS} terms are read", self.text, index.position)
        total: Any = sympy.Integer(0 if add else 1)
        for value in range(int(low), int(high) + 1):
            term = self._with_index(body, index, sympy.Integer(value), depth)
            total = total + term if add else total * term
            if bits(total) > 20 * MAX_TERMS:
                raise ParseError("this number is too large", self.text, index.position)
        return total

    def _with_index(self, body: Node, index: Token, value: sympy.Expr, depth: int) -> Any:
        hidden = self.bound.get(index.text)
        self.bound[index.text] = value
        try:
            term = self.number(body, depth)
        finally:
            del self.bound[index.text]
            if hidden is not None:
                self.bound[index.text] = hidden
        if isinstance(term, sympy.MatrixBase):
            raise self.fail("a sum of matrices is not read", body)
        return term

    def _indexed(self, node: Node) -> Any:
        """Return what a running index, or a name with one as subscript, stands for."""
        word = node.token.text
        if word in self.bound:
            return self.bound[word]
        base, underscore, subscript = word.partition("_")
        if not underscore:
            return None
        letters = [subscript] if subscript in self.bound else list(subscript)
        if not any(letter in self.bound for letter in letters):
            return None
        values = [self.bound.get(letter, letter) for letter in letters]
        if base == "delta" and len(values) == 2:
            return sympy.KroneckerDelta(*map(_as_index, values))
        if all(isinstance(value, str) or value.is_Integer for value in values):
            name = f"{base}_{''.join(map(str, values))}"
            value = self.scope.find(name)
            if value is None:
                raise self.fail(f"unknown name {name}; {self.scope.nearest(name)}", node)
            return value
        if not self.scope.find_base(base):
            raise self.fail(f"unknown name {word}; {self.scope.nearest(word)}", node)
        return sympy.Indexed(sympy.IndexedBase(base, real=True), *map(_as_index, values))


_OF_MATRICES = ("norm", "abs", "transpose", "diag", "trace", "tr", "det")


def _as_index(value: Any) -> Any:
    if isinstance(value, str):
        return sympy.Integer(value) if value.isdigit() else sympy.Symbol(value, integer=True)
    return value


def _hashable(value: Any) -> Any:
    return value.as_immutable() if isinstance(value, sympy.MatrixBase) else value


def _a(value: Any) -> str:
    kind = objects.kind(value)
    return f"an {kind}" if kind[0] in "aei" else f"a {kind}"
