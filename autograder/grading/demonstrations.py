"""Cells that only show something, and so need not run while grading.

An author tags such a cell in the assignment's text, ``# %% tags=["demonstration"]``; a cell that
shows a student's numbers needs no tag.  It is run all the same for a student who has changed it,
or who uses what it shows or one of the names it makes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from autograder.grading.own_text import WORD, Unparsable, looking, names

TAG = "demonstration"

_NUMBERS = re.compile(r"""\s*your_numbers\((["'])(\w+)\1\)\s*""")
_SHOWN = re.compile(r"\b(?:_{1,3}|_\d+|_oh|Out)\b")  # where IPython keeps what cells have shown
_NOT_RUN = {
    "output_type": "stream",
    "name": "stdout",
    "text": "(This cell only shows something: it is not run while grading.)\n",
}


def tagged(cell: dict[str, Any]) -> bool:
    """Say whether a cell is tagged as a demonstration."""
    return TAG in cell["metadata"].get("tags", ())


def only_shows(cell: dict[str, Any]) -> bool:
    """Say whether a released cell is a demonstration, or shows the numbers of an exercise."""
    return tagged(cell) or bool(_NUMBERS.fullmatch(cell["source"]))


def shown(cell: dict[str, Any], numbers: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the output of a cell that was not run: a student's numbers, or that it wasn't.

    Parameters
    ----------
    numbers
        What ``your_numbers`` knows, by exercise.
    """
    if not (found := _NUMBERS.fullmatch(cell["source"])):
        return _NOT_RUN
    theirs = numbers.get(found[2], {}).items()
    lines = (f"{name!r}: {value!r}".replace("\n", "\n ") for name, value in theirs)
    return {
        "output_type": "execute_result",
        "data": {"text/plain": "{" + ",\n ".join(lines) + "}"},
        "metadata": {},
        "execution_count": cell["execution_count"],
    }


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
    if any(_uses_what_was_shown(source) for i, source in enumerate(sources) if i not in found):
        return set()
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


def _uses_what_was_shown(source: str) -> bool:
    words = {*_SHOWN.findall(source)}
    try:
        return bool(words) and not words.isdisjoint(names(source).used)
    except Unparsable:
        return True
