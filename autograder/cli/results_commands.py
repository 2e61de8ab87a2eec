"""Commands for what comes after grading."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.options import Assignments, Where, output


def add_to(app: typer.Typer) -> None:
    """Add this group's commands."""
    for command in (feedback, report, progress, copies, portfolio, export):
        app.command()(command)


def feedback(
    assignments: Assignments = None,
    to: Annotated[
        Path | None,
        typer.Option(
            help="A .zip file as well, for returning one assignment's pages: named as Moodle or "
            "Canvas named what was collected."
        ),
    ] = None,
    course: Where = Path(),
) -> None:
    """Write a feedback page per student and assignment."""
    from autograder.course.config import Course
    from autograder.delivery.pages.feedback import pack_feedback, write_feedback

    found = Course.load(course)
    ids = found.ids(assignments)
    pages = write_feedback(found, ids)
    print(f"feedback pages: {len(pages)}, in {found.folder('feedback')}")
    if to is not None:
        for line in pack_feedback(found, ids, to):
            print(line)


def report(
    assignments: Assignments = None,
    before: Annotated[
        Path | None,
        typer.Option(help="The course's folder of an earlier class, to be compared with."),
    ] = None,
    course: Where = Path(),
) -> None:
    """Write the class report and print the table of scores, and how good each test was."""
    from autograder.course.config import Course
    from autograder.delivery.pages.report import quality_in_short, summarise, write_report

    found = Course.load(course)
    ids = found.ids(assignments)
    page = write_report(found, ids, before)
    console = output()
    for table in summarise(found, ids, console.width):
        console.print(table)
    for line in quality_in_short(found, ids):
        print(line)
    print(f"class report: {page}")


def progress(assignments: Assignments = None, course: Where = Path()) -> None:
    """Write how the term goes, a page of the class and one of each student; say who is missing."""
    from autograder.course.config import Course
    from autograder.delivery.pages.progress import term, write_progress

    found = Course.load(course)
    all_of = term(found, found.ids(assignments))
    page, own = write_progress(found, all_of)
    for line in all_of.lines():
        print(line)
    print(f"{len(own)} pages of students, progress.html in {found.folder('feedback')}/<student>/")
    print(f"progress of the class: {page}")


def copies(assignments: Assignments = None, course: Where = Path()) -> None:
    """Write a page of work that is alike: answers to another's numbers, functions side by side.

    It is for the instructor, proves nothing, and changes no score.
    """
    from autograder.course.config import Course
    from autograder.delivery.pages.copies import write_copies

    found = Course.load(course)
    for line in write_copies(found, found.ids(assignments)):
        print(line)


def portfolio(
    assignments: Assignments = None,
    to: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("portfolio"),
    student: Annotated[
        list[str] | None, typer.Option(help="Only this student's; repeat for more.")
    ] = None,
    course: Where = Path(),
) -> None:
    """Write a page of each student's work for others: pictures, tables, texts, and no points."""
    from autograder.course.config import Course
    from autograder.delivery.pages.portfolio import write_portfolios

    found = Course.load(course)
    pages = write_portfolios(found, found.ids(assignments), to, student or ())
    print(f"{len(pages)} portfolio pages in {to}")


def export(
    assignments: Assignments = None,
    to: Annotated[str, typer.Option(help="csv, or a platform: an unknown one lists them.")] = "csv",
    file: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path(
        "grades.csv"
    ),
    partial: Annotated[
        bool,
        typer.Option("--partial", help="Send scores that are not final, as far as they are known."),
    ] = False,
    scale: Annotated[
        float, typer.Option(min=0, help="Send scores as so many of this, such as 100.")
    ] = 0.0,
    worksheet: Annotated[
        Path | None,
        typer.Option(help="With --to moodle-worksheet: the worksheet that Moodle handed out."),
    ] = None,
    course: Where = Path(),
) -> None:
    """Export scores, those given by hand included.

    A score is left out while points of it are withheld or wait for a person: an empty cell would
    erase what the platform has.
    """
    from autograder.course.config import Course
    from autograder.delivery.platforms.export import export as write

    found = Course.load(course)
    written = write(
        found,
        to,
        file,
        assignments=found.ids(assignments),
        partial=partial,
        scale=scale,
        worksheet=worksheet,
    )
    print(f"rows: {written.rows}, in {file}")
    for note in written.notes:
        print(note)
