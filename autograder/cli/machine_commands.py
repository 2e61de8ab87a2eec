"""Commands about this machine, and the tour."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.options import Insecure, Tls, Where, dask, progress

cluster = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Machines that grade together."
)


@cluster.callback()
def machines() -> None:
    """Machines that grade together."""


def add_to(app: typer.Typer) -> None:
    """Add this group's commands."""
    for command in (doctor, demo, worker):
        app.command()(command)
    app.add_typer(cluster, name="cluster")


def doctor(
    course: Annotated[
        Path | None,
        typer.Option("--course", help="Look at this course instead: do all its books agree?"),
    ] = None,
) -> None:
    """Say what this machine offers; exit with 1 if it can't isolate student code.

    With --course: say whose the folders of its exchange are, and where submissions, records and
    the gradebook disagree; exit with 1 if these do, which `autograder grade` mends where it can,
    or if others can replace what is in the exchange.
    """
    if course is not None:
        _check_course(course)
        return
    from autograder.sandbox.hardware import look
    from autograder.sandbox.isolation import probe

    isolation = probe()
    for tried in isolation.tried:
        print(f"{'ok ' if tried.ok else 'no '} {tried.what}: {tried.detail}")
    print(f"isolation tier {isolation.tier}: {isolation.meaning}")
    for advice in isolation.advice():
        print(f"for a better tier: {advice}")
    for item in look():
        print(f"{item.what}: {item.found or 'none'} (for {item.purpose})")
    if not isolation.isolates:
        raise typer.Exit(1)


def _check_course(folder: Path) -> None:
    from autograder.course.config import Course
    from autograder.delivery.nbgrader.agreement import disagreements
    from autograder.delivery.nbgrader.database import read_by_others
    from autograder.delivery.nbgrader.exchange import exchange_root
    from autograder.delivery.nbgrader.exchange_owners import described, faults

    found = Course.load(folder)
    exchange = exchange_root(found)
    open_to_others = faults(found.root, exchange, found.id)
    lines = disagreements(found, found.ids())
    described_here = (*described(exchange, found.id), *read_by_others(found))
    for line in (*described_here, *open_to_others, *lines):
        print(line)
    if lines:
        print("`autograder grade` grades what is not, and enters again what has a record")
    else:
        print("submissions, records and gradebook agree")
    if lines or open_to_others:
        raise typer.Exit(1)


def demo(
    folder: Annotated[
        Path | None, typer.Argument(help="A folder that does not exist yet; by default a new one.")
    ] = None,
    students: Annotated[int, typer.Option(min=1, help="Students in the simulated class.")] = 8,
    everything: Annotated[
        bool, typer.Option("--all", help="All assignments, not only those of c.Course.demo.")
    ] = False,
    course: Where = Path(),
) -> None:
    """Run everything on a simulated class: generate, simulate, grade, feedback, report."""
    from rich.console import Console

    from autograder.delivery.department.demo import run_demo

    console = Console()  # also in a file as wide as a page: it is to be read
    with progress() as bar:
        for said in run_demo(course, folder, students, bar, everything=everything):
            console.print(said, highlight=False, soft_wrap=isinstance(said, str))


def worker(
    scheduler: Annotated[
        str, typer.Argument(metavar="URL", help="A Dask scheduler: tls://host:port.")
    ],
    processes: Annotated[
        int | None,
        typer.Option(min=1, help="Submissions at the same time; by default one per core."),
    ] = None,
    tls: Tls = None,
    insecure: Insecure = False,
) -> None:
    """Grade on this machine for whoever asks `autograder grade --scheduler URL`, until Ctrl-C.

    It takes the course from the one who asks, and keeps nothing of it. Both sides have the same
    long random text in the environment variable AUTOGRADER_CLUSTER_SECRET.
    """
    import os

    with dask():
        from autograder.course.graders.station import serve

    serve(scheduler, processes or os.cpu_count() or 1, tls, insecure=insecure)


@cluster.command("certificates")
def certificates(
    folder: Annotated[Path, typer.Argument(help="Where they go; made if it isn't there.")],
    days: Annotated[int, typer.Option(min=1, help="How long they are valid.")] = 365,
) -> None:
    """Make the key and certificates with which machines that grade together know each other."""
    with dask():
        from autograder.course.graders.tls import make_certificates

    for line in make_certificates(folder, days):
        print(line)
