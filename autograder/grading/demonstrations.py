"""Cells that only show something, and so need not run while grading.

An author tags such a cell in the assignment's text, ``# %% tags=["demonstration"]``.  It is run
all the same for a student who has changed it, or who uses one of the names it makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from autograder.grading.own_text import WORD, Unparsable, looking, names

TAG = "demonstration"


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
    return looking("demonstrations", lambda: _unneeded(sources, shows), set())


def _unneeded(sources: Sequence[str], shows: set[str]) -> set[int]:
    found = {i for i, source in enumerate(sources) if source.strip() in shows}
    while found:
        made: dict[str, int] = {}  # names that only a demonstration has made so far
        needed = set()
        for i, source in enumerate(sources):
            if i not in found and not any(name in source for name in made):
                continue
            words = WORD.findall(source)
            if i not in found and made.keys().isdisjoint(words):
                continue
            try:
                used, remade = names(source)
            except Unparsable:  # it may use whatever occurs in it
                used, remade = frozenset(words), frozenset()
            if i in found:
                made |= dict.fromkeys(remade, i)
                continue
            needed |= {made[name] for name in made.keys() & used - remade}
            for name in made.keys() & remade:
                del made[name]
        if not needed:
            break
        found -= needed  # what these use has to be there as well
    return found
