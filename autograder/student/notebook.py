"""A notebook's cells: what they are called, and what stands in them.

A notebook comes from anywhere, so its cells may be anything.  nbgrader calls a cell by its
``grade_id``: an exercise's solution cell has the exercise's id, its check cell ``check_`` before
that, and a part marked by hand ``_`` and the part's name behind it.
"""

from __future__ import annotations

from typing import Any

#: What the ``grade_id`` of an exercise's check cell begins with.
CHECK = "check_"


def grade_id(cell: object) -> str:
    """Return what a cell is called, "" where it has no such name."""
    found = cell
    for key in ("metadata", "nbgrader", "grade_id"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


def source_of(cell: object) -> str:
    """Return the text of a cell, which may be one string or a list of lines."""
    source = cell.get("source", "") if isinstance(cell, dict) else ""
    lines = source if isinstance(source, list) else [source]
    return "".join(line for line in lines if isinstance(line, str))


def check_of(exercise: str) -> str:
    """Return what the check cell of an exercise is called."""
    return CHECK + exercise


def part_of(exercise: str, part: str) -> str:
    """Return what the cell of a part marked by hand is called."""
    return f"{exercise}_{part}"


def new_cell(kind: str, source: str, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a cell, ``code`` or ``markdown``, that was not run."""
    code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": metadata or {}, "source": source, **code}
