"""Tables for the console."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from autograder.delivery.pages import STATUS, points, so_far

if TYPE_CHECKING:  # sheets need nbgrader, which a single notebook's table can do without
    from autograder.delivery.report import ClassResult, ExerciseResult
    from autograder.delivery.sheets import Section, Sheet
    from autograder.grading.results import Grade


def scores_table(
    title: str, exercises: Sequence[ExerciseResult], found: Mapping[str, Sheet]
) -> Table:
    """Return a table with a row per student and a column per exercise."""
    table = Table(title=title, title_justify="left", min_width=len(title), show_footer=True)
    table.add_column("student", "mean (final points alone)")
    for exercise in exercises:
        table.add_column(
            f"{exercise.id}\nof {points(exercise.max_score)}",
            points(exercise.mean),
            justify="right",
        )
    most = sum(exercise.max_score for exercise in exercises)
    final = [sheet.score for sheet in found.values() if not sheet.open]
    mean = points(sum(final) / len(final) if final else None)
    table.add_column(f"score\nof {points(most)}", mean, justify="right")
    for student, sheet in found.items():
        by_id = sheet.by_id
        cells = [_cell(by_id.get(exercise.id)) for exercise in exercises]
        table.add_row(escape(student), *cells, so_far(sheet))
    return table


def statistics_table(results: Mapping[str, ClassResult]) -> Table:
    """Return a table with a row per assignment: how the class did."""
    table = Table(title="Class statistics", title_justify="left", box=None, pad_edge=False)
    table.add_column("assignment", no_wrap=True)
    for name in ("graded", "final", "mean", "median", "range", "of", "to mark", "withheld"):
        table.add_column(name, justify="right", no_wrap=True)
    for id, result in results.items():
        table.add_row(
            id,
            str(result.count),
            str(result.final),
            points(result.mean),
            points(result.median),
            f"{points(result.lowest)} – {points(result.highest)}",
            points(result.max_score),
            str(result.waiting),
            str(result.withheld),
        )
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
            earned = f"{points(item.score)}/{points(item.max_score)}"
            symbol, word = STATUS[item.status]
            table.add_row(exercise.id, f"{symbol} {word}", earned, escape(said))
    return table


def _cell(section: Section | None) -> str:
    return f"{points(section.score)} {STATUS[section.status][0]}" if section else ""
