"""The sections of an assignment's text: an exercise stands below a heading of its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from autograder.course.discover import SourceCell

_HEADING = re.compile(r"^(#+) .*$", re.M)
_FENCED = re.compile(r"^```.*?^```", re.M | re.S)


class Heading(NamedTuple):
    """A heading: its cell, where it begins and ends there, and its level."""

    cell: int
    begin: int
    end: int
    level: int


def headings(cells: Sequence[SourceCell]) -> Iterator[Heading]:
    """Return the headings of a text, in their order."""
    for index, cell in enumerate(cells):
        if cell.kind == "markdown" and not cell.part:
            text = _FENCED.sub(lambda fenced: " " * len(fenced[0]), cell.source)
            for found in _HEADING.finditer(text):
                yield Heading(index, found.start(), found.end(), len(found[1]))


def headed(cells: Sequence[SourceCell]) -> dict[str, Heading]:
    """Return the heading of each exercise: the last one above its stub, if no other took it."""
    every = [heading for heading in headings(cells) if heading.level > 1]
    found: dict[str, Heading] = {}
    for index, cell in enumerate(cells):
        if cell.exercise and not cell.part:
            above = [heading for heading in every if heading.cell <= index]
            if above and above[-1] not in found.values():
                found[cell.exercise] = above[-1]
    return found


def without(cells: Sequence[SourceCell], exercises: Collection[str]) -> list[SourceCell]:
    """Leave out the sections of these exercises."""
    left_out = [own for id, own in headed(cells).items() if id in exercises]
    every = list(headings(cells))
    for begin in reversed(left_out):
        later = [h for h in every[every.index(begin) + 1 :] if h.level <= begin.level]
        end = later[0] if later else Heading(len(cells), 0, 0, 0)
        cells = [*_before(cells, begin), *_from(cells, end)]
    return list(cells)


def _before(cells: Sequence[SourceCell], heading: Heading) -> list[SourceCell]:
    kept = cells[heading.cell].source[: heading.begin].rstrip()
    rest = [replace(cells[heading.cell], source=kept, exercise="")] if kept else []
    return [*cells[: heading.cell], *rest]


def _from(cells: Sequence[SourceCell], heading: Heading) -> list[SourceCell]:
    if heading.cell == len(cells):
        return []
    first = cells[heading.cell]
    return [replace(first, source=first.source[heading.begin :]), *cells[heading.cell + 1 :]]
