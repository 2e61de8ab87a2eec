"""Commands for those who grade."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.cli.options import (
    Assignments,
    Json,
    Tls,
    Trust,
    Where,
    cluster,
    output,
    progress,
    working,
)

if TYPE_CHECKING:
    from autograder.course.graders import Graders, Open


def add_to(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command()(collect)
    app.command()(grade)
    app.command("grade-file")(grade_file)
    app.command()(essays)
    app.command()(watch)


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
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Grade on the workers of this Dask scheduler: tcp://host:port or tls://host:port.",
        ),
    ] = None,
    tls: Tls = None,
    json: Json = False,
    trust_students: Trust = False,
    course: Where = Path(),
) -> None:
    """Grade submissions in locked-down processes and enter the scores in the gradebook.

    A run that was interrupted goes on where it stopped.
    """
    from autograder.course.config import Course, CourseError
    from autograder.course.graders.processes import warm_up

    if only not in (None, "gpu"):
        raise CourseError(f"--only {only}: there is nothing but `--only gpu`")
    found = Course.load(course)
    opened: Open | None = None
    if scheduler is None:
        if tls:
            raise CourseError("--tls goes with --scheduler")
        warm_up()  # before what takes a second to import
    elif jobs or gpu or only:
        raise CourseError("--jobs, --gpu and --only are for this machine, --scheduler for others")
    else:
        there: Graders = cluster().Cluster(found, scheduler, tls=tls, trust_students=trust_students)

        def opened(_width: int) -> Graders:
            return there  # as wide as its workers are

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
            opened=opened,
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


def essays(
    assignment: Annotated[str, typer.Argument(metavar="A", help="The assignment, such as a11.")],
    to: Annotated[
        Path | None,
        typer.Option(
            help="Write the answers that wait: an .xlsx or .csv for marks, an .html page to read."
        ),
    ] = None,
    source: Annotated[
        list[Path] | None,
        typer.Option("--from", help="Enter the marks of this sheet; repeat for more."),
    ] = None,
    agreement: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="ONE TWO", help="Compare the sheets of two markers."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="With --to: those that are marked as well.")
    ] = False,
    marker: Annotated[
        str,
        typer.Option(
            help="With --to: a sheet for this marker, in another order and without others' marks."
        ),
    ] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --from: only say what would be entered.")
    ] = False,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="With --from: also replace marks given after the sheet was written."
        ),
    ] = False,
    course: Where = Path(),
) -> None:
    """Mark free text by exercise in a spreadsheet, without names.

    A row is an answer, with a code in place of the student; write into the columns of the rubric's
    points (or into points, the sum alone) and into comment. What is wrong with a sheet is said cell
    by cell, and then nothing of it is entered.
    """
    from autograder.course.config import Course, CourseError

    if sum(map(bool, (to, source, agreement))) != 1:
        raise CourseError("say one of --to FILE, --from FILE and --agreement ONE TWO")
    found = Course.load(course)
    (id,) = found.ids([assignment])
    problems: list[str] = []
    if to:
        from autograder.delivery.essays.sheets import write_essays

        for line in write_essays(found, id, to, everything=everything, marker=marker):
            print(line)
    elif source:
        from autograder.delivery.essays.marking import read_essays

        entered = read_essays(found, id, source, dry_run=dry_run, replace=replace)
        problems = entered.problems
        for line in (*problems, *entered.lines):
            print(line)
    elif agreement:
        from autograder.delivery.essays.agreement import agreement_tables, compare

        both, problems = compare(found, id, *agreement)
        console = output()
        for table in agreement_tables(both):
            console.print(table)
        for line in problems:
            print(line)
    if problems:
        raise typer.Exit(1)


def watch(
    assignments: Assignments = None,
    source: Annotated[
        str, typer.Option("--from", help="`exchange`, or a folder that notebooks are put into.")
    ] = "exchange",
    feedback: Annotated[
        str,
        typer.Option(
            help="When feedback is published: `now`, `due` (after the due date and its last "
            "extension) or `never`; by default as c.Course.watch_feedback says, or else `due`."
        ),
    ] = "",
    every: Annotated[float, typer.Option(min=1, help="Seconds from one look to the next.")] = 30,
    once: Annotated[
        bool, typer.Option("--once", help="Look once and end, as cron wants it.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="Submissions at the same time; by default one per core."),
    ] = None,
    trust_students: Trust = False,
    course: Where = Path(),
) -> None:
    """Collect, grade and publish feedback as submissions arrive, until Ctrl-C or SIGTERM.

    Nothing is graded twice: a watch that was ended, even killed, is followed by another that goes
    on where it stopped. A file that is still being copied is waited for.
    """
    from autograder.course.config import Course
    from autograder.delivery.watch import Watch
    from autograder.delivery.watch import watch as look

    found = Course.load(course)
    work = Watch(
        found.root,
        found.ids(assignments),
        source,
        feedback=feedback,
        jobs=jobs,
        trust_students=trust_students,
        say=lambda line: print(line, flush=True),
    )
    if not look(work, every=every, once=once):
        raise typer.Exit(1)
