"""Numbers, sums, products, powers and matrices, with every size checked first."""

from __future__ import annotations

from typing import Any

import sympy

from autograder.algebra.building.construction import Construction, number_value
from autograder.algebra.building.sizes import MAX_CELLS, MAX_NODES, is_larger, power_problem
from autograder.algebra.reading.tree import Node

# What is written with the signs of formulas and is none.
STATEMENTS = {"relation": "an equation", "list": "a list", "tuple": "a list"}


def statement(site: Construction, node: Node, _depth: int) -> Any:
    """Refuse what is no formula."""
    raise site.fail(f"expected a formula, not {STATEMENTS[node.kind]}", node)


def number(site: Construction, node: Node, _depth: int) -> sympy.Rational:
    """Build a number."""
    try:
        return number_value(node.token.text)
    except ValueError as error:
        raise site.fail(str(error), node) from None


def chain(site: Construction, node: Node, depth: int) -> Any:
    """Build a sum, or a product with quotients in it."""
    value = site.build(node.children[0], depth)
    if node.marks[0] in "+-" and not isinstance(value, sympy.MatrixBase):
        return _sum(site, value, node, depth)
    for sign, operand in zip(node.marks, node.children[1:], strict=True):
        right = site.build(operand, depth)
        value = _combine(site, sign, value, right, operand)
        if isinstance(value, sympy.MatrixBase) and is_larger(value, MAX_NODES):
            raise site.fail("this matrix is too large", operand)
    return value


def _sum(site: Construction, first: sympy.Expr, node: Node, depth: int) -> sympy.Expr:
    """Add all terms at once: one after the other takes far longer."""
    terms = [first]
    for sign, operand in zip(node.marks, node.children[1:], strict=True):
        term = site.build(operand, depth)
        if isinstance(term, sympy.MatrixBase):
            raise site.fail("these cannot be added: their sizes differ", operand)
        terms.append(term if sign == "+" else -term)
    return sympy.Add(*terms)


def _combine(site: Construction, sign: str, left: Any, right: Any, at: Node) -> Any:
    matrices = [isinstance(value, sympy.MatrixBase) for value in (left, right)]
    if sign in "+-":
        if any(matrices) and (not all(matrices) or left.shape != right.shape):
            raise site.fail("these cannot be added: their sizes differ", at)
        return left + right if sign == "+" else left - right
    if sign == "/":
        if matrices[1]:
            raise site.fail("there is no division by a matrix", at)
        if right == 0:
            raise site.fail("division by zero", at)
        return left / right
    if all(matrices):
        if sign == "∘":
            if left.shape != right.shape:
                raise site.fail("an entrywise product needs equal sizes", at)
            return left.multiply_elementwise(right)
        if left.cols != right.rows:
            raise site.fail("these cannot be multiplied: their sizes do not fit", at)
    return left * right


def power(site: Construction, node: Node, depth: int) -> Any:
    """Build a power."""
    base = site.build(node.children[0], depth)
    exponent = site.build(node.children[1], depth)
    if isinstance(exponent, sympy.MatrixBase):
        raise site.fail("an exponent cannot be a matrix", node.children[1])
    if isinstance(base, sympy.MatrixBase):
        if base.rows != base.cols or not exponent.is_Integer or not 0 <= exponent <= 8:
            raise site.fail("only small powers of square matrices are read", node)
        return base**exponent
    if problem := power_problem(base, exponent):
        raise site.fail(problem, node.children[1])
    return base**exponent


def matrix(site: Construction, node: Node, depth: int) -> Any:
    """Build a matrix from its rows."""
    rows = [row.children if row.kind in ("list", "tuple") else (row,) for row in node.children]
    if len({len(row) for row in rows}) != 1 or not rows[0]:
        raise site.fail("every row of a matrix must have the same number of entries", node)
    if len(rows) * len(rows[0]) > MAX_CELLS:
        raise site.fail(f"a matrix may have at most {MAX_CELLS} entries", node)
    cells = [[site.build(cell, depth) for cell in row] for row in rows]
    return sympy.ImmutableMatrix(cells)
