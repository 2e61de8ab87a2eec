"""Commands for those who grade."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.cli.options import (
    Assignments,
    Insecure,
    Json,
    Tls,
    Trust,
    Where,
    dask,
    output,
    print_json,
    progress,
    working,
)
from autograder.course.submissions.grading_options import GradingOptions

if TYPE_CHECKING:
    from autograder.course.config import Course
    from autograder.course.graders import Graders, Open
    from autograder.delivery.department.all_courses import Opener

Wanted = list[str] | None  #: Assignments, by the names that they are asked for by; all of them.


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
    worksheet: Annotated[
        Path | None,
        typer.Option(help="Moodle's grading worksheet: it says when each was handed in."),
    ] = None,
    course: Where = Path(),
) -> None:
    """Bring submissions in."""
    from autograder.course.config import Course
    from autograder.delivery.platforms.collect import collect as bring_in

    found = Course.load(course)
    collected = bring_in(found, found.ids(assignments), source, worksheet=worksheet)
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
            help="Grade on the workers of this Dask scheduler: tls://host:port.",
        ),
    ] = None,
    tls: Tls = None,
    insecure: Insecure = False,
    all_courses: Annotated[
        bool,
        typer.Option(
            "--all-courses",
            help="Grade every course in the folder that --course names, with one pool of graders.",
        ),
    ] = False,
    json: Json = False,
    trust_students: Trust = False,
    course: Where = Path(),
) -> None:
    """Grade submissions in locked-down processes and enter the scores in the gradebook.

    A run that was interrupted goes on where it stopped.
    """
    from autograder.course.config import Course, CourseError
    from autograder.course.graders.starting import warm_up

    if only not in (None, "gpu"):
        raise CourseError(f"--only {only}: there is nothing but `--only gpu`")
    opener: Opener | None = None
    if scheduler is None:
        if tls or insecure:
            raise CourseError(f"{'--tls' if tls else '--insecure'} goes with --scheduler")
        warm_up()  # before what takes a second to import
    elif jobs or gpu or only:
        raise CourseError("--jobs, --gpu and --only are for this machine, --scheduler for others")
    options = GradingOptions(
        students=tuple(student or ()),
        jobs=jobs,
        force=force,
        trust_students=trust_students,
        gpu=gpu or only == "gpu",
        waiting_for_gpu=only == "gpu",
    )
    if scheduler is not None:
        opener = _others(scheduler, assignments, options, tls=tls, insecure=insecure)
    if all_courses:
        well = _grade_all(course, assignments, opener, options, json)
    else:
        well = _grade_one(Course.load(course), assignments, opener, options, json)
    if not well:
        raise typer.Exit(1)


def _others(
    scheduler: str, wanted: Wanted, options: GradingOptions, *, tls: Path | None, insecure: bool
) -> Opener:
    """Return what opens graders on other machines, as wide as there are workers."""
    with dask():
        from autograder.course.graders.cluster import Cluster

    def opener(course: Course) -> Open:
        ids = course.ids(wanted)
        there: Graders = Cluster(course, scheduler, ids, options, tls=tls, insecure=insecure)
        return lambda _width: there

    return opener


def _grade_one(
    course: Course, wanted: Wanted, opener: Opener | None, options: GradingOptions, as_json: bool
) -> bool:
    open_graders = opener(course) if opener else None
    from autograder.delivery.department.bar import Bar
    from autograder.delivery.department.grading import grade_and_save

    with progress() as shown:
        ids = course.ids(wanted)
        outcome = grade_and_save(course, ids, options, bar=Bar(shown), open_graders=open_graders)
    if as_json:
        print_json([grade.to_json() for grade in outcome.grades])
    else:
        for line in outcome.lines():
            print(line)
    return not outcome.problems


def _grade_all(
    folder: Path, wanted: Wanted, opener: Opener | None, options: GradingOptions, as_json: bool
) -> bool:
    from autograder.delivery.department.all_courses import courses_table, grade_courses
    from autograder.delivery.department.bar import Bar

    with progress() as shown:
        rows = grade_courses(
            folder, wanted, options, bar=lambda total: Bar(shown, total), opener=opener
        )
    if as_json:
        print_json({row.name: row.to_json() for row in rows})
    else:
        output().print(courses_table(rows))
        for row in rows:
            for line in row.lines():
                print(line)
    return all(row.well for row in rows)


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
    """Grade one notebook and print the result; no grade is saved."""
    from autograder.course.config import Course
    from autograder.course.submissions.grade import grade_file as grade_one

    found = Course.load(course)
    wanted = found.ids([assignment])[0] if assignment else None
    with working() as tell:
        graded = grade_one(
            found,
            notebook,
            student=student,
            assignment=wanted,
            options=GradingOptions(trust_students=trust_students),
            tell=tell,
        )
    if json:
        print_json(graded.grade.to_json())
        return
    from autograder.delivery.pages.tables import grade_table

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
        from autograder.delivery.pages.essays.sheets import write_essays

        for line in write_essays(found, id, to, everything=everything, marker=marker):
            print(line)
    elif source:
        from autograder.delivery.pages.essays.essay_marks import read_essays

        entered = read_essays(found, id, source, dry_run=dry_run, replace=replace)
        problems = entered.problems
        for line in (*problems, *entered.lines):
            print(line)
    elif agreement:
        from autograder.delivery.pages.essays.two_markers import agreement_tables, compare

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
    from autograder.delivery.department.watch import Watcher
    from autograder.delivery.department.watch import watch as look

    found = Course.load(course)
    work = Watcher(
        found.root,
        found.ids(assignments),
        source,
        feedback=feedback,
        options=GradingOptions(jobs=jobs, trust_students=trust_students),
        say=lambda line: print(line, flush=True),
    )
    if not look(work, every=every, once=once):
        raise typer.Exit(1)
