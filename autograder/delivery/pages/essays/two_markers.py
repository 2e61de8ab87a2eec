"""Do two markers agree?  Shares of equal marks, weighted kappa, and the answers they differ on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.markup import escape
from rich.table import Table

from autograder.course.config import Course, CourseError
from autograder.delivery.pages.essays.free_text import answers
from autograder.delivery.pages.essays.marked_rows import Marked, read_marked
from autograder.delivery.pages.rendering import points

#: Of fewer answers a kappa means little.
FEW = 20
_SHOWN = 10


@dataclass(frozen=True)
class Agreed:
    """How two markers agree on one point of a rubric, or on the sum.

    Attributes
    ----------
    equal
        The share of equal marks.
    kappa
        None where it is not defined: all marks are the same.
    higher
        By how much the second marker gives more on the average.
    """

    cell: str
    point: str
    count: int
    equal: float
    kappa: float | None
    higher: float


def weighted_kappa(one: Sequence[float], two: Sequence[float]) -> float | None:
    """Return Cohen's kappa with weights that grow as the square of the difference.

    1 is full agreement and 0 what would come of chance; None where all marks are the same.

    References
    ----------
    Cohen, J. (1968). Weighted kappa. Psychological Bulletin 70, 213-220.

    Examples
    --------
    >>> weighted_kappa([0, 1, 2, 2], [0, 1, 2, 2]), weighted_kappa([0, 2], [2, 0])
    (1.0, -1.0)
    >>> weighted_kappa([0, 1, 2, 1], [0, 2, 1, 1]), weighted_kappa([1, 1], [1, 1])
    (0.5, None)
    """
    a, b = np.asarray(one, float), np.asarray(two, float)
    by_chance = np.mean((a[:, None] - b) ** 2)
    return float(1 - np.mean((a - b) ** 2) / by_chance) if by_chance else None


def compare(
    course: Course, assignment: str, one: Path, two: Path
) -> tuple[list[tuple[Marked, Marked]], list[str]]:
    """Return what both markers marked, and what is wrong with other rows.

    Raises
    ------
    CourseError
        If a sheet can't be read, or there is nothing that both marked.
    """
    found = answers(course, assignment)
    sheets, problems = [], []
    for path in (one, two):
        marked, wrong = read_marked(found, [path])
        sheets.append({m.written.code: m for m in marked if m.points is not None})
        problems += wrong
    both = [(own, sheets[1][code]) for code, own in sheets[0].items() if code in sheets[1]]
    if not both:
        said = " ".join(problems)
        raise CourseError(f"{one} and {two} have no marks for the same answer. {said}".rstrip())
    return both, problems


def agreed(both: Sequence[tuple[Marked, Marked]]) -> Iterator[Agreed]:
    """Return how two markers agree, part by part and point by point."""
    for cell in dict.fromkeys(first.written.asked.cell for first, _ in both):
        own = [pair for pair in both if pair[0].written.asked.cell == cell]
        for point in (p.name for p in own[0][0].written.asked.rubric):
            given = [(a.split[point], b.split[point]) for a, b in own if a.split and b.split]
            if given:
                yield _agreed(cell, point, given)
        yield _agreed(cell, "sum", [(a.points or 0.0, b.points or 0.0) for a, b in own])


def _agreed(cell: str, point: str, given: Sequence[tuple[float, float]]) -> Agreed:
    one, two = zip(*given, strict=True)
    equal = sum(a == b for a, b in given) / len(given)
    higher = float(np.mean(np.subtract(two, one)))
    return Agreed(cell, point, len(given), equal, weighted_kappa(one, two), higher)


def agreement_tables(both: Sequence[tuple[Marked, Marked]]) -> Iterator[Table]:
    """Return tables for the console: how two markers agree, and where they differ most."""
    names = [pair[0].row.place.partition(",")[0] for pair in (both[0], both[0][::-1])]
    table = Table(title="How two markers agree", title_justify="left", box=None, pad_edge=False)
    table.add_column("answer to", overflow="fold")
    table.add_column("point")
    for name in ("marked by both", "equal", "weighted kappa", f"{names[1]} gives more"):
        table.add_column(name, justify="right")
    few = False
    for one in agreed(both):
        mark = "*" if one.count < FEW else ""
        few = few or bool(mark)
        kappa = "–" if one.kappa is None else f"{one.kappa:.2f}{mark}"
        numbers = f"{one.count}", f"{one.equal:.0%}", kappa, f"{one.higher:+.2f}"
        table.add_row(one.cell, one.point, *numbers)
    table.caption_justify = "left"
    table.caption = "1: they agree in everything; 0: as by chance; –: all marks are the same" + (
        f"\n*: of fewer than {FEW} answers, which says little" if few else ""
    )
    yield table
    apart = sorted(both, key=_apart, reverse=True)[:_SHOWN]
    rows = Table(title="Where they differ most", title_justify="left", box=None, pad_edge=False)
    rows.add_column("code", no_wrap=True)
    rows.add_column("answer to", overflow="fold")
    for name in names:
        rows.add_column(escape(name), justify="right")
    for a, b in (pair for pair in apart if any(_apart(pair))):
        rows.add_row(a.written.code, a.written.asked.cell, _given(a), _given(b))
    if rows.row_count:
        yield rows


def _apart(pair: tuple[Marked, Marked]) -> tuple[float, float]:
    """Return by how much two marks differ, in all and by the rubric's points."""
    one, two = pair
    split = [abs(one.split[p] - two.split[p]) for p in one.split.keys() & two.split.keys()]
    return abs((one.points or 0.0) - (two.points or 0.0)), sum(split)


def _given(marked: Marked) -> str:
    split = " + ".join(map(points, marked.split.values()))
    return f"{points(marked.points)}" + (f" = {split}" if split else "")
