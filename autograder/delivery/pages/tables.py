"""Tables for the console."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.markup import escape
from rich.table import Table

from autograder.delivery.pages.rendering import STATUS, earned, points, so_far

if TYPE_CHECKING:  # sheets need nbgrader, which a single notebook's table can do without
    from autograder.delivery.pages.class_results import ClassResult, ExerciseResult, Note
    from autograder.delivery.pages.final_grades import Section, Sheet
    from autograder.grading.results import Grade


def scores_tables(
    title: str, exercises: Sequence[ExerciseResult], found: Mapping[str, Sheet], width: int
) -> list[Table]:
    """Return tables with a row per student, a column per exercise, and the score in the last.

    There are as many as it takes for none to be wider than ``width``.  Where one with ids is too
    wide, exercises have numbers, and below the last table stand their ids: none is ever cut.
    """
    pages = _pages(exercises, [e.id for e in exercises], found, width)
    if len(pages) == 1:
        return [_page(title, 1, 1, *pages[0])]
    numbers = [str(number) for number, _ in enumerate(exercises, 1)]
    pages = _pages(exercises, numbers, found, width)
    tables = [_page(title, i, len(pages), *page) for i, page in enumerate(pages, 1)]
    ids = ", ".join(f"{n}\N{NO-BREAK SPACE}{e.id}" for n, e in zip(numbers, exercises, strict=True))
    tables[-1].caption = "; ".join(filter(None, [str(tables[-1].caption or ""), ids]))
    return tables


def _pages(
    exercises: Sequence[ExerciseResult],
    heads: Sequence[str],
    found: Mapping[str, Sheet],
    width: int,
) -> list[tuple[list[str], list[list[str]]]]:
    """Return the first column and the others of each table: its head, its foot, and the rows."""
    names = ["student", "mean so far" if any(s.open for s in found.values()) else "mean", *found]
    columns = [
        [
            f"{head}\nof {points(exercise.max_score)}",
            points(exercise.mean),
            *(_cell(sheet.by_id.get(exercise.id)) for sheet in found.values()),
        ]
        for head, exercise in zip(heads, exercises, strict=True)
    ]
    most = max(sheet.grade.max_score for sheet in found.values())
    mean = points(sum(sheet.score for sheet in found.values()) / len(found))
    columns.append([f"score\nof {points(most)}", mean, *map(so_far, found.values())])
    pages: list[list[list[str]]] = [[]]
    for column in columns:
        if pages[-1] and sum(map(_width, [names, *pages[-1], column])) + 1 > width:
            pages.append([])
        pages[-1].append(column)
    return [(names, page) for page in pages]


def _page(
    title: str, number: int, count: int, names: Sequence[str], columns: Sequence[Sequence[str]]
) -> Table:
    part = f" ({number} of {count})" if count > 1 else ""
    signs = {
        "(+": "(+3): points that are not final",
        "°": "°: without a part that is not among the best",
    }
    texts = [text for column in columns for text in column]
    caption = "; ".join(said for sign, said in signs.items() if any(sign in t for t in texts))
    table = Table(
        title=f"{title}{part}",
        title_justify="left",
        caption=caption or None,
        caption_justify="left",
        show_footer=True,
    )
    table.add_column(names[0], names[1], no_wrap=True)
    for head, foot, *_ in columns:
        table.add_column(head, foot, justify="right", no_wrap=True)
    for row in zip(names[2:], *(column[2:] for column in columns), strict=True):
        table.add_row(*map(escape, row))
    return table


def _width(column: Sequence[str]) -> int:
    """Return how wide a column is, with its padding and border."""
    return max(cell_len(line) for text in column for line in text.split("\n")) + 3


def statistics_table(results: Mapping[str, ClassResult]) -> Table:
    """Return a table with a row per assignment: how the class did, and what it waits for."""
    waits = [f"{r.waiting} of {r.count} in {id}" for id, r in results.items() if r.waiting]
    caption = f"Points so far: {', '.join(waits)} wait for a marker." if waits else None
    table = Table(
        title="Class statistics",
        title_justify="left",
        caption=caption,
        caption_justify="left",
        box=None,
        pad_edge=False,
    )
    table.add_column("assignment", overflow="fold")
    for name in ("graded", "mean", "median", "range", "of", "withheld"):
        table.add_column(name, justify="right", no_wrap=True)
    for id, result in results.items():
        table.add_row(
            id,
            str(result.count),
            points(result.mean),
            points(result.median),
            f"{points(result.lowest)} – {points(result.highest)}",
            points(result.max_score),
            str(result.withheld),
        )
    return table


def mistakes_table(most: Sequence[tuple[str, Note]]) -> Table:
    """Return a table of what was said most often, and in which exercise."""
    table = Table(title="Most frequent mistakes", title_justify="left", box=None, pad_edge=False)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("exercise", no_wrap=True)
    table.add_column("what was said", overflow="fold")
    for exercise, note in most:
        table.add_row(f"{note.count} ×", exercise, escape(note.feedback))
    return table


def grade_table(grade: Grade) -> Table:
    """Return what was found in one submission, item by item, for the console."""
    total = f"{points(grade.score)} of {points(grade.max_score)}"
    table = Table(title=escape(f"{grade.assignment}, {grade.student}: {total}"), show_lines=True)
    for name in ("exercise", "", "points", "what was found"):
        table.add_column(name, justify="right" if name == "points" else "left")
    for exercise in grade.exercises:
        for item in exercise.items:
            said = "\n".join(text for text in (item.rubric, item.feedback) if text)
            state, earned = "", ""
            if item.max_score or item.score:  # hints that are free are no success
                state = " ".join(STATUS[item.status])
                earned = f"{points(item.score)}/{points(item.max_score)}"
            table.add_row(exercise.id, state, earned, escape(said))
    return table


def _cell(section: Section | None) -> str:
    return f"{earned(section)} {STATUS[section.status][0]}" if section else ""
