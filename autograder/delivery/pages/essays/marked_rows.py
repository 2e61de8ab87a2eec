"""Read marks from a sheet: what a row gives, and everything that may be wrong with it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.delivery.pages.essays.free_text import Answers, Asked, FreeText, Stamp
from autograder.delivery.pages.essays.worksheet import Row, fitting, read_rows, unquoted

_STAMP = re.compile(r"([0-9a-f]{8})-([0-9a-f]{8})-([0-9a-f]{8})")


class Unclear(Exception):
    """A row can't be read; the message names the cell and says what to do."""


@dataclass(frozen=True)
class Marked:
    """What a marker gave to one answer.

    Attributes
    ----------
    points
        In all; None where nothing was given.
    split
        By the rubric's points; empty where only the sum was given.
    stamp
        What was there when the sheet was written.
    """

    row: Row
    written: FreeText
    points: float | None
    split: dict[str, float]
    comment: str
    stamp: Stamp


def read_marked(found: Answers, paths: Iterable[Path]) -> tuple[list[Marked], list[str]]:
    """Return the rows of sheets in which somebody gave something, and what is wrong with others.

    Raises
    ------
    CourseError
        If a file can't be read.
    """
    by_code = {written.code: written for written in found.written}
    marked: dict[str, Marked] = {}
    problems: list[str] = []
    for row in _given(paths):
        try:
            one = _marked(row, by_code, found.assignment)
            if (first := marked.setdefault(one.written.code, one)) is not one:
                raise Unclear(
                    f"{row.at('code')}: {one.written.code} is there twice, also in "
                    f"{first.row.at('code')}; delete one of the two rows"
                )
        except Unclear as error:
            problems.append(str(error))
    return list(marked.values()), problems


def _given(paths: Iterable[Path]) -> Iterator[Row]:
    """Yield the rows in which there is a mark or a comment."""
    for path in paths:
        for row in read_rows(path):
            filled = (c for c, text in row.cells.items() if text and c.startswith("("))
            if row["points"] or row["comment"] or any(filled):
                yield row


def _marked(row: Row, by_code: Mapping[str, FreeText], assignment: str) -> Marked:
    written = by_code.get(row["code"].upper())
    if written is None:
        raise Unclear(
            f"{row.at('code')}: no answer to {assignment} has the code {row['code']!r}. If it was "
            "not edited, the sheet is of another assignment or course, or the student has another "
            "id by now: write a new sheet"
        )
    stamp = _STAMP.fullmatch(row["stamp"])
    if stamp is None:
        raise Unclear(
            f"{row.at('stamp')}: {row['stamp']!r} is not what was written there; take the column "
            "over from a sheet that was not edited"
        )
    then, now = Stamp(*stamp.groups()), written.stamp
    if then.text != now.text:
        raise Unclear(
            f"{row.at('text')}: {written.code} was graded again with another text since the sheet "
            "was written; mark it in a new sheet, or in formgrader"
        )
    for column, expected in (("essay", written.asked.cell), ("text", fitting(written.text))):
        if row[column].split() != expected.split():
            raise Unclear(
                f"{row.at(column)}: this is not what {written.code} has there, so the marks may be "
                "another answer's. If rows were sorted, all columns have to be; undo the change"
            )
    split = _split(row, written.asked)
    points = _points(row, written.asked, split)
    return Marked(row, written, points, split, unquoted(row["comment"]), then)


def _split(row: Row, asked: Asked) -> dict[str, float]:
    """Return what each point of the rubric was given; all of them or none."""
    most = {p.name: asked.part.points if p.most is None else p.most for p in asked.rubric}
    filled = [name for name, text in row.cells.items() if name.startswith("(") and text]
    for name in filled:
        if name not in most:
            known = ", ".join(most) or "no points"
            raise Unclear(f"{row.at(name)}: the rubric of {asked.cell} has {known}; empty it")
    for name in most:
        if filled and name not in filled:
            raise Unclear(
                f"{row.at(name)}: it is empty, and {', '.join(filled)} not; write 0 where nothing "
                "is earned, or the sum alone into points"
            )
    return {name: _number(row, name, most[name]) for name in filled}


def _points(row: Row, asked: Asked, split: dict[str, float]) -> float | None:
    """Return the points in all."""
    most = asked.part.points
    given = _number(row, "points", most) if row["points"] else None
    if not split:
        return given
    total = round(sum(split.values()), 6)
    last = list(split)[-1]
    if total > most:
        raise Unclear(
            f"{row.at(last)}: the points add up to {total:g}, and {asked.cell} is worth {most:g}"
        )
    if given is not None and given != total:
        raise Unclear(
            f"{row.at('points')}: it says {given:g}, and the rubric's points add up to {total:g}; "
            "empty it, or correct them"
        )
    return total


def _number(row: Row, column: str, most: float) -> float:
    try:
        number = float(row[column].replace(",", "."))
    except ValueError:
        number = math.nan
    if not 0 <= number <= most:
        raise Unclear(f"{row.at(column)}: {row[column]!r} is not a number from 0 to {most:g}")
    return number
