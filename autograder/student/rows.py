r"""Matrices of formulas: rows of lists or of text, one text for all, LaTeX.

The entries stay text: the grammar of formulas reads them.
"""

from __future__ import annotations

import re
from typing import Any

from autograder.student.display import brief
from autograder.student.formulas import read_formula
from autograder.student.typeset import as_typed
from autograder.student.unreadable import FormatError, refuse_set

MAX_MATRIX = 20_000  # characters of a matrix, or entries of an array

_AROUND = r"(?:\$|\\[()\[\]]|\\(?:left|right)|[\s()\[\].,])*"
_LATEX = re.compile(
    _AROUND
    + r"\\begin\s*\{([A-Za-z]*matrix|array)\*?\}(?:\s*\{[lcr| ]*\})?(.*)\\end\s*\{\1\*?\}"
    + _AROUND,
    re.DOTALL,
)
_NUMPY = re.compile(r"(?:[A-Za-z]+\.)?(?:Matrix|matrix|array)\s*\((.*)\)", re.DOTALL)
# A blank between entries: 1 -2 are two, and 1 - 2 is one, as in Matlab.
_BLANK = r"(?<![-+*/^·×\s])\s+(?![*/^·×\s]|[-+]\s)"


def rows_of(raw: Any) -> Any:
    r"""Return the rows of a matrix, each a list of its entries as they are written.

    >>> rows_of("1 0; 0 a + b"), rows_of(r"\begin{pmatrix} a & 1 \\ 0 & -a \end{pmatrix}")
    ([['1', '0'], ['0', 'a + b']], [['a', '1'], ['0', '-a']])

    Raises
    ------
    FormatError
        If it is nothing that has rows.
    """
    refuse_set(raw, "rows")
    if isinstance(raw, str):
        raw = _rows_of_text(raw)
    if hasattr(raw, "tolist") and 0 < raw.size <= MAX_MATRIX:
        raw = raw.tolist()
    if not isinstance(raw, (list, tuple)):
        raise FormatError(f'rows are expected, such as "a b; c d", not {brief(raw)}')
    for row in raw:
        refuse_set(row, "entries")
    return [_entries_of(row) if isinstance(row, str) else row for row in raw]


def _rows_of_text(text: str) -> list[Any]:
    if len(text) > MAX_MATRIX:
        raise FormatError(f"a matrix of {len(text)} characters is too long")
    text = as_typed(text)
    if found := _LATEX.fullmatch(text):
        rows = re.split(r"\\\\(?:\[[^]]*\])?", found[2])
        return [
            [entry.strip() for entry in re.split(r"(?<!\\)&", row)] for row in rows if row.strip()
        ]
    text = text.strip().strip("$").strip()
    if found := _NUMPY.fullmatch(text):
        text = found[1].strip()
    inner = _unwrapped(text)
    rows = [row.strip(" \t\r,") for row in _split_outside(inner, r"[;\n]")]
    if len(rows) == 1 and inner.lstrip().startswith("["):
        rows = [row.strip() for row in _split_outside(inner, ",")]
    return [row for row in rows if row]


def _entries_of(row: str) -> list[str]:
    row = _unwrapped(row.strip())
    found = _split_outside(row, ",")
    return [entry.strip() for entry in (found if found[1:] else _split_outside(row, _BLANK))]


def _unwrapped(text: str) -> str:
    """Take the square brackets away that stand around a text."""
    inner = text[1:-1]
    wrapped = text[:1] == "[" and text[-1:] == "]"
    return inner.strip() if wrapped and _deepest_end(inner) >= 0 else text


def _deepest_end(text: str) -> int:
    """Return how far closing brackets run ahead of the opening ones, as a negative number."""
    depth = least = 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        least = min(least, depth)
    return least


def _split_outside(text: str, at: str) -> list[str]:
    """Split a text where a pattern matches outside of all brackets."""
    pieces, start, seen, depth = [], 0, 0, 0
    for found in re.finditer(at, text):
        between = text[seen : found.start()]
        depth += sum(map(between.count, "([{")) - sum(map(between.count, ")]}"))
        seen = found.start()
        if depth == 0:
            pieces.append(text[start : found.start()])
            start = found.end()
    return [*pieces, text[start:]]


def read_matrix(raw: object, hint: dict[str, Any]) -> str:
    """Return how the entries of a matrix are read, or which of them can't be."""
    rows, columns = hint["shape"]
    given = rows_of(raw)
    if len(given) != rows:
        raise FormatError(f"a {rows} × {columns} matrix is expected, not {brief(raw)}")
    lines = []
    for number, row in enumerate(given, 1):
        if not isinstance(row, (list, tuple)) or len(row) != columns:
            size = f"a row of {columns} entries"
            raise FormatError(f"row {number}: {size} is expected, not {brief(row)}")
        entries = []
        for column, entry in enumerate(row, 1):
            try:
                entries.append(read_formula(entry, hint).shown.removeprefix("read as "))
            except FormatError as error:
                raise FormatError(f"row {number}, column {column}: {error}") from None
        lines.append(f"[{', '.join(entries)}]")
    return "\n".join(["read as", *lines])
