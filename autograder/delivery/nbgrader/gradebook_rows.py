"""Rows of nbgrader's tables, many at once: found by one query, made by another."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from sqlalchemy import insert


def rows_of(
    db: Any,
    kind: Any,
    keys: Iterable[str],
    *,
    by: str,
    fresh: Mapping[str, Mapping[str, Any]] | None = None,
    **fixed: str,
) -> dict[str, Any]:
    """Return the row of each key, made where there is none, with what is ``fresh`` for its key.

    They are inserted past SQLAlchemy's objects: these are made when all is there, by one query.
    """
    column = getattr(kind, by)
    query = db.query(kind).filter_by(**fixed).filter(column.in_(list(keys)))
    rows = {getattr(row, by): row for row in query}
    if new := [key for key in keys if key not in rows]:
        ids = [{}] * len(new) if by == "id" else [{"id": id} for id in _fresh_ids(len(new))]
        own = fresh or {}
        made = [{by: k, **fixed, **id, **own.get(k, {})} for k, id in zip(new, ids, strict=True)]
        db.execute(insert(kind.__table__), made)
        rows |= {getattr(row, by): row for row in query if getattr(row, by) not in rows}
    return rows


def _fresh_ids(count: int) -> Iterator[str]:
    """Yield ids as nbgrader's are, drawn at once: each by itself asks the system once more."""
    drawn = secrets.token_hex(16 * count)
    return (drawn[i : i + 32] for i in range(0, len(drawn), 32))


class CellRows:
    """A table's rows for some cells and notebooks; those that are missing are made.

    They are fetched by one query and inserted by another, past SQLAlchemy's objects.

    Parameters
    ----------
    fresh
        What a row that was not there has in its columns.
    """

    def __init__(
        self,
        db: Any,
        kind: Any,
        notebooks: Mapping[str, str],
        cells: Sequence[Any],
        **fresh: Any,
    ) -> None:
        self._db, self._kind, self._cells = db, kind, cells
        self._rows: dict[str, dict[str, Any]] = {cell.id: {} for cell in cells}
        theirs = kind.notebook_id.in_(list(notebooks)), kind.cell_id.in_(list(self._rows))
        # Whoever marks by hand meanwhile waits, on a server, until this is saved.
        for row in db.query(kind).filter(*theirs).with_for_update():
            self._rows[row.cell_id][row.notebook_id] = row
        new = [
            (cell, id) for cell, rows in self._rows.items() for id in notebooks.keys() - rows.keys()
        ]
        self._new = [
            SimpleNamespace(id=own, notebook_id=id, cell_id=cell, **fresh)
            for own, (cell, id) in zip(_fresh_ids(len(new)), new, strict=True)
        ]
        for row in self._new:
            self._rows[row.cell_id][row.notebook_id] = row

    def __iter__(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield each cell with its rows by notebook."""
        return ((cell, self._rows[cell.id]) for cell in self._cells)

    def insert(self) -> None:
        """Insert the rows that are new."""
        if self._new:
            self._db.execute(insert(self._kind.__table__), [vars(row) for row in self._new])
