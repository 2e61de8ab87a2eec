"""Commands for those who grade."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.options import Assignments, Json, Trust, Where, output, progress, working


def add_to(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command()(collect)
    app.command()(grade)
    app.command("grade-file")(grade_file)


def collect(
    assignments: Assignments = None,
    source: Annotated[
        str, typer.Option("--from", help="`exchange`, or a folder or zip of notebooks from an LMS.")
    ] = "exchange",
    course: Where = Path(),
) -> None:
    """Bring submissions in."""
    from autograder.course.config import Course
    from autograder.delivery.collect import collect as bring_in

    found = Course.load(course)
    collected = bring_in(found, found.ids(assignments), source)
    for line in collected.lines():
        print(line)
    if collected.problems:
        raise typer.Exit(1)


def grade(
    assignments: Assignments = None,
    student: Annotated[
        list[str] | None, typer.Option(help="Only this student's; repeat for more.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Submissions at the same time; by default one per core."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Grade again what is up to date.")] = False,
    gpu: Annotated[
        bool,
        typer.Option("--gpu", help="Run checks that need a GPU; takes --trust-students as well."),
    ] = False,
    only: Annotated[
        str | None,
        typer.Option(help="`gpu`: only submissions of which a check still waits for a GPU."),
    ] = None,
    json: Json = False,
    trust_students: Trust = False,
    course: Where = Path(),
) -> None:
    """Grade submissions in locked-down processes and enter the scores in the gradebook.

    A run that was interrupted goes on where it stopped.
    """
    from autograder.course.classroom import warm_up
    from autograder.course.config import Course, CourseError

    if only not in (None, "gpu"):
        raise CourseError(f"--only {only}: there is nothing but `--only gpu`")
    found = Course.load(course)
    warm_up()  # before what takes a second to import
    from autograder.delivery.grading import grade_and_save

    with progress() as bar:
        outcome = grade_and_save(
            found,
            found.ids(assignments),
            students=student,
            jobs=jobs,
            force=force,
            trust_students=trust_students,
            gpu=gpu or only == "gpu",
            waiting_for_gpu=only == "gpu",
            bar=bar,
        )
    if json:
        import json as json_module

        print(
            json_module.dumps([g.to_json() for g in outcome.grades], indent=1, ensure_ascii=False)
        )
    else:
        for line in outcome.lines():
            print(line)
    if outcome.problems:
        raise typer.Exit(1)


def grade_file(
    notebook: Annotated[Path, typer.Argument(help="A notebook, wherever it is.")],
    student: Annotated[
        str | None, typer.Option(help="Whose numbers count; by default the id typed in it.")
    ] = None,
    assignment: Annotated[
        str | None, typer.Option(help="By default recognised by the notebook's cells.")
    ] = None,
    json: Json = False,
    trust_students: Trust = False,
    course: Where = Path(),
) -> None:
    """Grade one notebook and print the result; nothing is saved."""
    from autograder.course.config import Course
    from autograder.course.grade import grade_file as grade_one

    found = Course.load(course)
    wanted = found.ids([assignment])[0] if assignment else None
    with working() as tell:
        graded = grade_one(
            found,
            notebook,
            student=student,
            assignment=wanted,
            trust_students=trust_students,
            tell=tell,
        )
    if json:
        import json as json_module

        print(json_module.dumps(graded.grade.to_json(), indent=1, ensure_ascii=False))
        return
    from autograder.delivery.tables import grade_table

    console = output()
    console.print(grade_table(graded.grade))
    for notice in graded.grade.notices:
        console.print(notice, markup=False, highlight=False)
