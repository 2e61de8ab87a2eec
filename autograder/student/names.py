"""Which names a piece of Python uses and makes, by its text."""

from __future__ import annotations

import symtable
from typing import NamedTuple


class Unparsable(Exception):
    """A cell is not plain Python."""


class Names(NamedTuple):
    """Names of the notebook that a cell uses, and that it makes; it may do both with one."""

    used: frozenset[str]
    made: frozenset[str]


def names(source: str) -> Names:
    """Return the names of a cell.

    Raises
    ------
    Unparsable
        If it has magics or isn't Python.
    """
    try:
        top = symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unparsable(str(error)) from error
    symbols = top.get_symbols()
    made = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
    used = {s.get_name() for s in symbols if s.is_referenced()}
    inner = list(top.get_children())
    while inner:
        table = inner.pop()
        inner += table.get_children()
        taken = [s for s in table.get_symbols() if s.is_global()]
        used |= {s.get_name() for s in taken if s.is_referenced()}
        made |= {s.get_name() for s in taken if s.is_assigned()}
    return Names(frozenset(used), frozenset(made))
