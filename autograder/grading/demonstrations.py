"""Cells that only show something, and so need not run while grading.

An author tags such a cell in the assignment's text, ``# %% tags=["demonstration"]``.  It is run
all the same for a student who has changed it, or who uses one of the names it makes.
"""

from __future__ import annotations

import re
import symtable
from collections.abc import Iterable, Sequence
from typing import Any

from autograder.exercise.remember import remembered

TAG = "demonstration"

_WORD = re.compile(r"[^\W\d]\w*")
_NONE: frozenset[str] = frozenset()


def tagged(cell: dict[str, Any]) -> bool:
    """Say whether a cell is tagged as a demonstration."""
    return TAG in cell["metadata"].get("tags", ())


def unneeded(sources: Sequence[str], demonstrations: Iterable[str]) -> set[int]:
    """Return which cells of code are demonstrations that no other cell depends on.

    Parameters
    ----------
    sources
        The texts of a notebook's code cells, in their order.
    demonstrations
        The texts of those that are released as demonstrations.
    """
    shows = {text.strip() for text in demonstrations}
    found = {i for i, source in enumerate(sources) if source.strip() in shows}
    while found:
        made: dict[str, int] = {}  # names that only a demonstration has made so far
        needed = set()
        for i, source in enumerate(sources):
            if i in found:
                made |= dict.fromkeys(scope(source)[1], i)
            elif not made.keys().isdisjoint(_WORD.findall(source)):
                uses, makes = scope(source)
                needed |= {made[name] for name in uses - makes if name in made}
                for name in makes & made.keys():
                    del made[name]
        if not needed:
            break
        found -= needed  # what these use has to be there as well
    return found


@remembered()
def scope(source: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that a cell takes from the notebook, and those that it gives to it.

    What is not plain Python may take any name that occurs in it.
    """
    try:
        top = symtable.symtable(source, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(_WORD.findall(source)), _NONE
    symbols = top.get_symbols()
    makes = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
    uses = {s.get_name() for s in symbols if s.is_referenced()}
    inner = list(top.get_children())
    while inner:
        table = inner.pop()
        inner += table.get_children()
        taken = [s for s in table.get_symbols() if s.is_global()]
        uses |= {s.get_name() for s in taken if s.is_referenced()}
        makes |= {s.get_name() for s in taken if s.is_assigned()}
    return frozenset(uses), frozenset(makes)
