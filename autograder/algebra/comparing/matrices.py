"""Names that stand for matrices and vectors: compared at several sizes, products in their order.

What holds for square matrices of two rows need not hold for others, so the sizes come from the
formulas: whatever must fit together is equal, all else differs.  A vector is a column, and two
columns side by side are their scalar product.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import sympy

from autograder.algebra.building import chance
from autograder.algebra.building.functions import Norm, Permutation, RowWise, Transpose, Vector
from autograder.algebra.building.sizes import is_larger

SIZES = ((2, 3, 4, 5), (3, 5, 2, 4), (4, 2, 3, 5))  # of what need not be equal, in three trials
PARTS, MOST_PARTS = 41, 80  # random entries are so many parts of 1/41
MAX_EXPANDED = 12  # the degree up to which products are multiplied out for a proof

_ONE = "one"
_Shape = tuple[Any, Any]  # of rows and columns; None for a number


class Ambiguous(Exception):
    """It is not clear what a product of vectors means."""


def has_matrices(expr: sympy.Expr) -> bool:
    """Whether a name in `expr` stands for a matrix or a vector."""
    return any(not symbol.is_commutative for symbol in expr.free_symbols)


def is_identity(a: sympy.Expr, b: sympy.Expr) -> bool:
    """Whether multiplying out proves a = b, for matrices of every size.

    >>> A, B = sympy.symbols("A B", commutative=False)
    >>> is_identity((A + B) ** 2, A**2 + A * B + B * A + B**2)
    True
    """
    difference = a - b
    if _degree(difference) > MAX_EXPANDED or is_larger(difference, 100):
        return bool(difference == 0)
    return bool(sympy.expand(difference) == 0)


def pairs(a: sympy.Expr, b: sympy.Expr) -> Iterator[tuple[str, sympy.Expr, sympy.Expr]]:
    """Yield what must be equal if a = b: entries by entries, for random matrices of some sizes."""
    sizes = _Sizes()
    sizes.join(sizes.shape(a), sizes.shape(b))
    if misfit := sizes.misfit(a.free_symbols | b.free_symbols):
        raise Ambiguous(f"a product in which {misfit} has one row or column")
    for trial in SIZES:
        values = _Values(sizes, trial)
        left, right = values(a), values(b)
        shape = next((x.shape for x in (left, right) if _is_matrix(x)), (1, 1))
        left, right = (_as_matrix(value, shape) for value in (left, right))
        for i, j in itertools.product(range(shape[0]), range(shape[1])):
            place = f"entry ({i + 1}, {j + 1}) of a matrix of {shape[0]} × {shape[1]}"
            yield place if shape != (1, 1) else "random matrices", left[i, j], right[i, j]


class _Sizes:
    """Which numbers of rows and columns must be equal."""

    def __init__(self) -> None:
        self._same: dict[Any, Any] = {}

    def find(self, size: object) -> Any:
        while size in self._same:
            size = self._same[size]
        return size

    def misfit(self, names: set[sympy.Symbol]) -> str:
        """Return the name of a matrix that could only be a row or a column, or of such a column."""
        for name in names:
            shape = None if name.is_commutative else self.shape(name)
            if shape and any(map(self.is_one, shape[: 1 if isinstance(name, Vector) else 2])):
                return str(name)
        return ""

    def is_one(self, size: object) -> bool:
        return bool(self.find(size) == _ONE)

    def unite(self, one: object, other: object) -> None:
        one, other = self.find(one), self.find(other)
        if one != other:
            self._same.update({other: one} if one == _ONE else {one: other})

    def join(self, one: _Shape | None, other: _Shape | None) -> _Shape | None:
        """Let two shapes be the same; a number is a multiple of the identity."""
        if one is None or other is None:
            known = one or other
            if known:
                self.unite(*known)
            return known
        self.unite(one[0], other[0])
        self.unite(one[1], other[1])
        return one

    def shape(self, expr: sympy.Expr) -> _Shape | None:
        if not has_matrices(expr):
            return None
        if isinstance(expr, Permutation):
            return (expr, "rows"), (expr, "rows")
        if isinstance(expr, RowWise):
            return self.shape(expr.args[1])
        if expr.is_Symbol:
            columns = _ONE if isinstance(expr, Vector) else (expr, "columns")
            return (expr, "rows"), columns
        shapes = [self.shape(argument) for argument in expr.args]
        if expr.is_Add:
            return functools.reduce(self.join, shapes)
        if expr.is_Mul:
            return self._product([shape for shape in shapes if shape])
        if isinstance(expr, Transpose):
            return shapes[0] and (shapes[0][1], shapes[0][0])
        if isinstance(expr, Norm) or all(map(self._is_number, shapes)):
            return None
        if expr.is_Pow and shapes[0]:
            if self.is_one(shapes[0][1]):
                return None
            self.unite(*shapes[0])
            return shapes[0]
        return (expr, "rows"), (expr, "columns")

    def _is_number(self, shape: _Shape | None) -> bool:
        return shape is None or all(map(self.is_one, shape))

    def _product(self, shapes: list[_Shape]) -> _Shape | None:
        ones = [(self.is_one(rows), self.is_one(columns)) for rows, columns in shapes]
        factors = []
        for kind, group in _groups(ones):
            chosen = [shapes[i] for i in group]
            if kind == "scalar product":
                self.unite(chosen[0][0], chosen[1][0])
                continue
            for left, right in itertools.pairwise(chosen):
                self.unite(left[1], right[0])
            if kind == "matrices":
                factors += chosen
        for left, right in itertools.pairwise(factors):
            self.unite(left[1], right[0])
        return (factors[0][0], factors[-1][1]) if factors else None


def _groups(ones: Sequence[tuple[bool, bool]]) -> Iterator[tuple[str, range]]:
    """Split a product into numbers, xᵀ…y, and other factors; `ones`: what has one row, one column.

    >>> list(_groups([(False, False), (True, False), (False, True)]))
    [('matrices', range(0, 1)), ('number', range(1, 3))]
    """
    if len(ones) == 2 and ones == [(False, True), (False, True)]:
        yield "scalar product", range(2)
        return
    at = 0
    while at < len(ones):
        end = at
        if ones[at][0]:  # a row: with the next column a number
            end = next((i for i in range(at, len(ones)) if ones[i][1]), at)
        elif ones[at] == (False, True) and ones[at + 1 : at + 2] == [(False, True)]:
            raise Ambiguous("a product of vectors")
        is_number = ones[at][0] and ones[end][1]
        yield "number" if is_number else "matrices", range(at, end + 1)
        at = end + 1


class _Values:
    """The values of formulas for random matrices."""

    def __init__(self, sizes: _Sizes, trial: Sequence[int]) -> None:
        self._sizes = sizes
        self._trial = itertools.cycle(trial)
        self._known: dict[Any, int] = {_ONE: 1}
        self._matrices: dict[sympy.Symbol, sympy.ImmutableMatrix] = {}
        self._cubics: dict[sympy.Symbol, list[sympy.Rational]] = {}  # of functions of rows

    def _size(self, key: object) -> int:
        key = self._sizes.find(key)
        if key not in self._known:
            self._known[key] = next(self._trial)
        return self._known[key]

    def __call__(self, expr: sympy.Expr) -> Any:
        if not has_matrices(expr):
            return expr
        if expr.is_Symbol:
            return self._matrix(expr)
        args = [_plain(self(argument)) for argument in expr.args]
        if expr.is_Add:
            shape = next((value.shape for value in args if _is_matrix(value)), None)
            return functools.reduce(operator.add, (_as_matrix(value, shape) for value in args))
        if expr.is_Mul:
            return _product(args)
        if isinstance(expr, Norm):
            return _norm(args[0])
        if isinstance(expr, RowWise):
            return self._by_rows(*args)
        if isinstance(expr, Transpose):
            return args[0].T if _is_matrix(args[0]) else args[0]
        if not any(map(_is_matrix, args)):
            return expr.func(*args)
        return _power(*args) if expr.is_Pow else self._applied(expr, args)

    def _matrix(self, name: sympy.Symbol) -> sympy.ImmutableMatrix:
        if name not in self._matrices:
            self._matrices[name] = self._draw(name)
        return self._matrices[name]

    def _draw(self, name: sympy.Symbol) -> sympy.ImmutableMatrix:
        shape = self._sizes.shape(name)
        assert shape is not None
        if isinstance(name, Permutation):
            return _random_permutation(self._size(shape[0]))
        return sympy.ImmutableMatrix(*map(self._size, shape), lambda *_: _random_entry())

    def _by_rows(self, name: sympy.Symbol, value: Any) -> sympy.ImmutableMatrix:
        """Return what some function of its kind makes of a matrix: shares of each row."""
        if name not in self._cubics:
            self._cubics[name] = [_random_entry() for _ in range(3)]
        a, b, c = self._cubics[name]
        shares = value.applyfunc(lambda x: ((x + a) * x + b) * x + c)
        return sympy.ImmutableMatrix(
            *value.shape, lambda i, j: shares[i, j] / sum(shares[i, k] for k in range(value.cols))
        )

    def _applied(self, expr: sympy.Expr, args: list[Any]) -> sympy.ImmutableMatrix:
        """Return what an unknown function makes of matrices: entries that depend on all of it."""
        flat = [cell for value in args for cell in (value if _is_matrix(value) else [value])]
        shape = self._sizes.shape(expr)
        assert shape is not None
        name = expr.func.__name__
        return sympy.ImmutableMatrix(
            *map(self._size, shape), lambda i, j: sympy.Function(f"{name}_{i}_{j}")(*flat)
        )


def _product(values: list[Any]) -> Any:
    number = sympy.Mul(*(value for value in values if not _is_matrix(value)))
    matrices = [value for value in values if _is_matrix(value)]
    factors = []
    for kind, group in _groups([(m.rows == 1, m.cols == 1) for m in matrices]):
        chosen = [matrices[i] for i in group]
        if kind == "scalar product":
            chosen[0] = chosen[0].T
        product = functools.reduce(operator.mul, chosen)
        if kind == "matrices":
            factors.append(product)
        else:
            number *= product[0]
    return functools.reduce(operator.mul, factors) * number if factors else number


def _power(base: Any, exponent: Any) -> Any:
    """Return a power of a matrix; the square of a vector is that of its norm."""
    if exponent.is_Integer and base.cols > 1:
        return base**exponent
    if exponent.is_Integer and exponent == 2:
        return (base.T * base)[0]
    raise Ambiguous("a power of a vector")


def _norm(value: Any) -> sympy.Expr:
    if not _is_matrix(value):
        raise Ambiguous("the norm of a number")
    return sympy.sqrt(sympy.Add(*[cell**2 for cell in value]))


def _random_permutation(size: int) -> sympy.ImmutableMatrix:
    """Draw one that is not its own transpose, if there are more than two rows."""
    order = list(range(size))
    while True:
        chance.draw.shuffle(order)
        drawn = sympy.ImmutableMatrix(size, size, lambda i, j: int(order[i] == j))
        if size < 3 or drawn != drawn.T:
            return drawn


def _random_entry() -> sympy.Rational:
    """Draw a number of size about 1, so that exponentials stay in range."""
    return sympy.Rational(chance.draw.choice((-1, 1)) * chance.draw.randint(1, MOST_PARTS), PARTS)


def _is_matrix(value: object) -> bool:
    return isinstance(value, sympy.MatrixBase)


def _plain(value: Any) -> Any:
    """Return a matrix of one entry as that number."""
    return value[0] if _is_matrix(value) and value.shape == (1, 1) else value


def _as_matrix(value: object, shape: tuple[int, int] | None) -> Any:
    """Return a number as that multiple of the identity."""
    if _is_matrix(value) or shape is None:
        return value
    return value * sympy.ImmutableMatrix.eye(shape[0])


def _degree(expr: sympy.Expr) -> int:
    """Return a bound on the number of factors in a product once it is multiplied out."""
    if expr.is_Add:
        return max(map(_degree, expr.args))
    if expr.is_Mul:
        return sum(map(_degree, expr.args))
    if expr.is_Pow and expr.exp.is_Integer:
        return abs(int(expr.exp)) * _degree(expr.base)
    return 1
