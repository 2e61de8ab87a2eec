"""Matrices of formulas, a kind of answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autograder import algebra
from autograder.algebra.building.parse import parse_matrix
from autograder.exercise.answers.how_wrong import some_right
from autograder.exercise.answers.kind import (
    Array,
    FormatError,
    Scaffold,
    same_everywhere,
)
from autograder.exercise.answers.symbolic import Assumptions, Formula, Operators
from autograder.exercise.cache import Unfamiliar, Values, remembered
from autograder.exercise.formula_types import is_formula
from autograder.student.rows import rows_of


@dataclass(frozen=True)
class Matrix(Formula):
    """A matrix of expressions: rows of lists or of text, ``"a 0; 0 b"``, or a matrix in LaTeX."""

    kind = "matrix"
    table = (
        (
            'Matrix("p1 p2")',
            'rows of text, `"p1 0; 0 p2"`, a matrix in LaTeX',
            "equal entry by entry",
        ),
    )
    scaffold = Scaffold(
        asks="Ask for a matrix with entries in $$x$$ and $$y$$.",
        stub="matrix = None  # text, such as a b; c d",
        reference='''
@exercise.part(points=1, answer=Matrix("x y"))
def matrix():
    """The outer product of (x, y) with itself."""
    return [["x^2", "x*y"], ["x*y", "y^2"]]


@matrix.misconception()
def diagonal_only():
    """An outer product has an entry for every pair, also for different ones."""
    return [["x^2", "0"], ["0", "y^2"]]
''',
    )

    def read(self, raw: Any, like: Any = None) -> Any:
        """Parse each entry; the size must be that of ``like``."""
        value = raw
        if not is_formula(raw):
            try:
                value = _read(rows_of(raw), self.names, self._assumed, self._finished(like))
            except algebra.ParseError as error:
                raise FormatError(str(error)) from None
        if like is not None and value.shape != like.shape:
            raise FormatError(f"a {_size(like)} matrix is expected, not a {_size(value)} one")
        return value

    def same(
        self, given: Any, expected: Any, *, slack: float | Array = 0.0, widen: float = 1.0
    ) -> bool:
        """Equality entry by entry."""
        if given.shape != expected.shape:
            return False
        return all(super(Matrix, self).same(g, e) for g, e in zip(given, expected, strict=True))

    def locate(self, given: Any, expected: Any) -> str:
        """Say how many entries are right, and which is the first that is not."""
        if given.shape != expected.shape:
            return ""
        right = [super(Matrix, self).same(g, e) for g, e in zip(given, expected, strict=True)]
        if not (told := some_right(right)) or all(right):
            return ""
        row, column = divmod(right.index(False), given.shape[1])
        return f"{told} Look first at row {row + 1}, column {column + 1}."

    def _is_rounded(self, given: Any, expected: Any) -> bool:
        """Tell so of an entry, where the others are right."""
        pairs = list(zip(given, expected, strict=True))
        rounded = [super(Matrix, self)._is_rounded(*pair) for pair in pairs]
        others = [pair for pair, found in zip(pairs, rounded, strict=True) if not found]
        return any(rounded) and all(super(Matrix, self).same(g, e) for g, e in others)

    def _extended(self, right: object, more: str) -> Any:
        """Write it behind the first entry."""
        rows = right.tolist() if hasattr(right, "tolist") else rows_of(right)
        written = [list(map(str, row)) for row in rows]
        written[0][0] += more
        return written

    def guess(self, number: int, right: Any) -> Any:
        """Return the same number everywhere."""
        entries = same_everywhere(number, right.shape).astype(int)
        return entries.astype(str).tolist()

    def hint(self, expected: Any) -> dict[str, Any]:
        """Kind, symbols and size."""
        return super().hint(expected) | {"kind": "matrix", "shape": list(expected.shape)}


def _read(rows: Any, *asked: Any) -> Any:
    try:
        values = Values(rows)
    except Unfamiliar:
        return _parsed(rows, *asked)
    return _remembered(values, *asked).copy()


@remembered()
def _remembered(rows: Values, *asked: Any) -> Any:
    return _parsed(rows.values, *asked)


def _parsed(rows: Any, names: str, assumptions: Assumptions, operators: Operators) -> Any:
    return parse_matrix(
        rows, names.split(), implicit=True, assumptions=dict(assumptions), operators=operators
    )


def _size(matrix: Any) -> str:
    return f"{matrix.shape[0]} × {matrix.shape[1]}"
