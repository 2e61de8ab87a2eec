"""Commands for what comes after grading."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.options import Assignments, Where


def add_to(app: typer.Typer) -> None:
    """Add this group's commands."""
    for command in (feedback, report, export):
        app.command()(command)


def feedback(assignments: Assignments = None, course: Where = Path()) -> None:
    """Write a feedback page per student and assignment."""
    from autograder.course.config import Course
    from autograder.delivery.feedback import write_feedback

    found = Course.load(course)
    pages = write_feedback(found, found.ids(assignments))
    print(f"{len(pages)} feedback pages in {found.folder('feedback')}")


def report(assignments: Assignments = None, course: Where = Path()) -> None:
    """Write the class report and print the table of scores."""
    from rich.console import Console

    from autograder.course.config import Course
    from autograder.delivery.report import summarise, write_report

    found = Course.load(course)
    ids = found.ids(assignments)
    page = write_report(found, ids)
    console = Console()
    for table in summarise(found, ids):
        console.print(table)
    print(f"class report: {page}")


def export(
    to: Annotated[str, typer.Option(help="csv, canvas, moodle or gradescope.")] = "csv",
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path(
        "grades.csv"
    ),
    course: Where = Path(),
) -> None:
    """Export scores, those given by hand included."""
    from autograder.course.config import Course
    from autograder.delivery.export import export as write

    rows = write(Course.load(course), to, output)
    print(f"{rows} rows in {output}")
