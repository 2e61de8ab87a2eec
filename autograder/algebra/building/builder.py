"""Trees to sympy expressions, with every size checked before the arithmetic is done."""

from __future__ import annotations

from typing import Any

import sympy

from autograder.algebra.building.calls import Applied
from autograder.algebra.building.construction import STATEMENTS
from autograder.algebra.building.sizes import MAX_CELLS, MAX_NODES, is_larger, power_problem
from autograder.algebra.reading.tree import Node


class Builder(Applied):
    """Build the value of a tree: numbers, formulas, matrices."""

    def _negative(self, node: Node, depth: int) -> Any:
        return -self.build(node.children[0], depth)

    def _chain(self, node: Node, depth: int) -> Any:
        value = self.build(node.children[0], depth)
        if node.marks[0] in "+-" and not isinstance(value, sympy.MatrixBase):
            return self._sum(value, node, depth)
        for sign, operand in zip(node.marks, node.children[1:], strict=True):
            right = self.build(operand, depth)
            value = self._combine(sign, value, right, operand)
            if isinstance(value, sympy.MatrixBase) and is_larger(value, MAX_NODES):
                raise self.fail("this matrix is too large", operand)
        return value

    def _sum(self, first: sympy.Expr, node: Node, depth: int) -> sympy.Expr:
        """Add all terms at once: one after the other takes far longer."""
        terms = [first]
        for sign, operand in zip(node.marks, node.children[1:], strict=True):
            term = self.build(operand, depth)
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
        base = self.build(node.children[0], depth)
        exponent = self.build(node.children[1], depth)
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
        return self.build(node.children[0], depth) / 100

    def _degrees(self, node: Node, depth: int) -> Any:
        return self.build(node.children[0], depth) * sympy.pi / 180

    def _transpose(self, node: Node, depth: int) -> Any:
        return self._apply("transpose", [self.build(node.children[0], depth)], node)

    def _statement(self, node: Node, depth: int) -> Any:  # noqa: ARG002
        raise self.fail(f"expected a formula, not {STATEMENTS[node.kind]}", node)

    _relation = _list = _tuple = _statement

    def _matrix(self, node: Node, depth: int) -> Any:
        rows = [row.children if row.kind in ("list", "tuple") else (row,) for row in node.children]
        if len({len(row) for row in rows}) != 1 or not rows[0]:
            raise self.fail("every row of a matrix must have the same number of entries", node)
        if len(rows) * len(rows[0]) > MAX_CELLS:
            raise self.fail(f"a matrix may have at most {MAX_CELLS} entries", node)
        cells = [[self.build(cell, depth) for cell in row] for row in rows]
        return sympy.ImmutableMatrix(cells)
