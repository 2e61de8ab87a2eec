"""Write what is to be marked: a row for each answer, a column for each point of its rubric."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from autograder.course.config import Course, CourseError
from autograder.course.release.handed_out import Release
from autograder.delivery.pages.essays.free_text import Asked, FreeText, answers, numbers
from autograder.delivery.pages.essays.worksheet import SUFFIXES, Worksheet, fitting, write_tables
from autograder.delivery.pages.rendering import write_page
from autograder.delivery.pages.sanitise import beneath, rendered
from autograder.exercise.words.part import arguments
from autograder.grading.rubric import rubric_cell

#: The columns before and behind those of the rubric.
_FIRST, _LAST = ["code", "essay", "numbers", "text"], ["points", "of", "comment", "stamp"]
_WIDTHS = {"code": 14, "essay": 16, "numbers": 24, "text": 90, "of": 14, "comment": 40, "stamp": 5}
_OF_RUBRIC = {"essay": 16, "point": 8, "of": 6, "what to look for": 110}


def write_essays(
    course: Course, assignment: str, path: Path, *, everything: bool = False, marker: str = ""
) -> list[str]:
    """Write the answers that wait for a person to a table or a page; say what was done.

    Parameters
    ----------
    everything
        Those that are marked, too.
    marker
        Who will mark: with an order of their own, and without what others gave.

    Raises
    ------
    CourseError
        If the file is there already, or nothing waits.
    """
    if path.suffix not in (*SUFFIXES, ".html"):
        raise CourseError(f"{path} is neither .xlsx nor .csv nor .html: name one of these")
    if path.exists():
        raise CourseError(
            f"{path} is there already, and may hold marks: name another file, or move it away"
        )
    found = answers(course, assignment)
    rows = {
        one: [w for w in found.to(one, marker) if everything or w.mark.pending]
        for one in found.asked
    }
    rows = {one: own for one, own in rows.items() if own}
    if not rows:
        more = "" if everything else "; --all writes those that are marked as well"
        raise CourseError(f"no answer to {assignment} waits for a person{more}")
    if path.suffix == ".html":
        _write_page(course, assignment, path, rows)
    else:
        _write_table(path, rows, marker)
    counts = ", ".join(f"{one.cell}: {len(own)}" for one, own in rows.items())
    return [f"{sum(map(len, rows.values()))} answers in {path} ({counts})"]


def _write_table(path: Path, rows: dict[Asked, list[FreeText]], marker: str) -> None:
    if path.suffix == ".csv":
        write_tables(path, [_table("", rows, marker)])
        return
    sheets = [_table(one.cell, {one: own}, marker) for one, own in rows.items()]
    write_tables(path, [*sheets, _rubrics(list(rows))])


def _table(name: str, rows: dict[Asked, list[FreeText]], marker: str) -> Worksheet:
    points = {p.name: p.most for one in rows for p in one.rubric}
    most = {p: points[p] or one.part.points for one in rows for p in points}
    most["points"] = max(one.part.points for one in rows)
    return Worksheet(
        name,
        [*_FIRST, *points, *_LAST, *(["marker"] if marker else [])],
        [_row(written, list(points), marker) for own in rows.values() for written in own],
        _WIDTHS,
        most,
    )


def _row(written: FreeText, points: Sequence[str], marker: str) -> list[Any]:
    given = written.mark.manual
    shown = given is not None and not written.mark.pending and not marker
    return [
        written.code,
        written.asked.cell,
        fitting(numbers(written.variant)),
        fitting(written.text),
        *[None] * len(points),
        given if shown else None,
        _worth(written.asked),
        None if marker else fitting(written.comment),
        str(written.stamp),
        *([marker] if marker else []),
    ]


def _worth(asked: Asked) -> str:
    """Say what a part is worth, and what its rubric's points are: ``8 = 2 + 2 + 4``."""
    points = [p.most for p in asked.rubric]
    parts = " + ".join(f"{most:g}" for most in points if most is not None)
    return f"{asked.part.points:g}" + (f" = {parts}" if parts else "")


def _write_page(
    course: Course, assignment: str, path: Path, rows: dict[Asked, list[FreeText]]
) -> None:
    """Write all on one page, with rubrics, model answers and the students' pictures."""
    release = Release.load(course, assignment)
    rubrics = {}
    for one in rows:
        variant = release.pool(one.exercise.id)[0]
        rubric = rubric_cell(one.exercise, one.part, variant)["source"]
        if arguments(one.part.compute):
            rubric += f"\n\n*The model answer is for the numbers* {numbers(variant)}"
        rubrics[one.cell] = Markup(rendered({}, rubric))
    write_page(
        path,
        "essays.html.j2",
        title=course.titles[assignment],
        rows=rows,
        rubrics=rubrics,
        shown=_shown,
        numbers=numbers,
    )


def _shown(written: FreeText) -> Markup:
    """Return what a student wrote or drew as HTML that is safe to show."""
    if written.cell["cell_type"] == "markdown":
        return beneath(rendered({"cell": written.cell}, written.text))
    pictures = [
        f"![drawn by the code above](data:image/png;base64,{data})"
        for output in written.cell.get("outputs", ())
        if (data := "".join(output.get("data", {}).get("image/png", "")).replace("\n", ""))
    ]
    code = "\n".join(f"    {line}" for line in written.text.splitlines())
    return Markup(rendered({}, "\n\n".join([code, *pictures])))


def _rubrics(asked: Sequence[Asked]) -> Worksheet:
    rows: list[list[Any]] = []
    for one in asked:
        rows.append([one.cell, None, one.part.points, fitting(one.part.asks)])
        rows += [[one.cell, p.name, p.most, fitting(p.text)] for p in one.rubric]
    return Worksheet("rubrics", list(_OF_RUBRIC), rows, _OF_RUBRIC, {})
