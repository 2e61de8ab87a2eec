"""Trees to sympy expressions, with every size checked before the arithmetic is done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy

from autograder.algebra.building import composites
from autograder.algebra.building.calls import Applied
from autograder.algebra.building.construction import a_kind, hashable
from autograder.algebra.building.library import CONSTANTS
from autograder.algebra.building.sizes import MAX_CELLS, MAX_NODES, is_larger, power_problem
from autograder.algebra.reading.tree import Node

_SET_OPERATIONS = {
    "union": composites.Union,
    "intersection": composites.Intersection,
    "difference": composites.Difference,
}


class Builder(Applied):
    """Build the value of a tree: numbers, formulas, matrices, and what is said of them."""

    def _negative(self, node: Node, depth: int) -> Any:
        return -self.number(node.children[0], depth)

    def _chain(self, node: Node, depth: int) -> Any:
        value = self.number(node.children[0], depth)
        if node.marks[0] in "+-" and not isinstance(value, sympy.MatrixBase):
            return self._sum(value, node, depth)
        for sign, operand in zip(node.marks, node.children[1:], strict=True):
            right = self.number(operand, depth)
            value = self._combine(sign, value, right, operand)
            if isinstance(value, sympy.MatrixBase) and is_larger(value, MAX_NODES):
                raise self.fail("this matrix is too large", operand)
        return value

    def _sum(self, first: sympy.Expr, node: Node, depth: int) -> sympy.Expr:
        """Add all terms at once: one after the other takes far longer."""
        terms = [first]
        for sign, operand in zip(node.marks, node.children[1:], strict=True):
            term = self.number(operand, depth)
            if isinstance(term, sympy.MatrixBase):
                raise self.fail("these cannot be added: their sizes differ", operand)
            terms.append(term if sign == "+" else -term)
        return sympy.Add(*terms)

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
            quotient = left / right
            self.cancelled += [f for f in sympy.Mul.make_args(right) if _is_lost(f, quotient)]
            return quotient
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

    def _percent(self, node: Node, depth: int) -> Any:
        return self.number(node.children[0], depth) / 100

    def _degrees(self, node: Node, depth: int) -> Any:
        return self.number(node.children[0], depth) * sympy.pi / 180

    def _transpose(self, node: Node, depth: int) -> Any:
        return self._apply("transpose", [self.build(node.children[0], depth)], node)

    def _relation(self, node: Node, depth: int) -> Any:
        signs: Sequence[str] = node.marks
        if "≈" in signs:  # what follows is a rounded value
            signs = signs[: signs.index("≈")]
        if "∈" in signs:
            return self._member(node, depth)
        sides = [self.build(side, depth) for side in node.children[: len(signs) + 1]]
        links = [
            self._link(sign, left, right, node)
            for sign, left, right in zip(signs, sides, sides[1:], strict=False)
        ]
        if not links:
            return sides[0]
        return links[0] if len(links) == 1 else composites.Conjunction(*links)

    def _member(self, node: Node, depth: int) -> Any:
        """Return the set of ``x ∈ [0, 1)``: that is what such an answer says."""
        name, whole = self.number(node.children[0], depth), None
        if len(node.children) == 2:
            whole = self._pair_as_interval(node.children[1], depth)
        if not name.is_Symbol or not isinstance(whole, composites.SETS):
            raise self.fail("expected a name, ∈ and a set", node)
        return whole

    def _link(self, sign: str, left: Any, right: Any, node: Node) -> Any:
        for side in (left, right):
            if not isinstance(side, sympy.Expr | composites.Listing | sympy.MatrixBase):
                raise self.fail(f"expected a formula on both sides, not {a_kind(side)}", node)
        link = composites.relation(sign, *(hashable(side) for side in (left, right)))
        is_label = any(child.kind == "name" for child in node.children)
        if sign != "=" or not self.cancelled or is_label:
            return link
        # What stood below a line is not zero, though nothing shows it any more: (x - 2)²/(x - 2)
        apart = [composites.relation("!=", factor, sympy.S.Zero) for factor in self.cancelled]
        return composites.Conjunction(link, *apart)

    def _logic(self, node: Node, depth: int) -> Any:
        sides = [self.build(child, depth) for child in node.children]
        return (composites.Conjunction if node.marks == ("and",) else composites.Disjunction)(
            *sides
        )

    def _items(self, node: Node, depth: int) -> list[Any]:
        return [hashable(self.build(child, depth)) for child in node.children]

    def _list(self, node: Node, depth: int) -> Any:
        return composites.Listing(*self._items(node, depth))

    def _tuple(self, node: Node, depth: int) -> Any:
        return composites.Tuple(*self._items(node, depth))

    def _ratio(self, node: Node, depth: int) -> Any:
        return composites.Ratio(*(hashable(self.number(child, depth)) for child in node.children))

    def _set(self, node: Node, depth: int) -> Any:
        return composites.FiniteSet(*self._items(node, depth))

    def _interval(self, node: Node, depth: int) -> Any:
        low, high = (self._end(child, depth) for child in node.children)
        return composites.Interval(
            low, high, sympy.sympify(node.marks[0] == "("), sympy.sympify(node.marks[1] == ")")
        )

    def _end(self, node: Node, depth: int) -> Any:
        if node.kind == "name" and CONSTANTS.get(node.token.text) is sympy.oo:
            return sympy.oo
        if node.kind == "negative" and CONSTANTS.get(node.children[0].token.text) is sympy.oo:
            return sympy.S.NegativeInfinity
        return self.number(node, depth)

    def _union(self, node: Node, depth: int) -> Any:
        sides = [self._pair_as_interval(child, depth) for child in node.children]
        for side in sides:
            if not isinstance(side, composites.SETS):
                raise self.fail(f"expected a set, not {a_kind(side)}", node)
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
                    raise self.fail(f"expected a formula, not {a_kind(cell)}", place)
        return sympy.ImmutableMatrix(cells)


def _is_lost(factor: sympy.Expr, quotient: sympy.Expr) -> bool:
    """Whether sympy has cancelled a factor that was divided by."""
    base = factor.as_base_exp()[0]
    below = [power.as_base_exp() for power in sympy.Mul.make_args(quotient)]
    return bool(factor.free_symbols) and not any(
        base == other and exponent.could_extract_minus_sign() for other, exponent in below
    )
