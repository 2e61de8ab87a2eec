"""Arguments and options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from autograder.course.config import Course

Assignments = Annotated[
    list[str] | None,
    typer.Argument(metavar="[A]...", help="Assignments, such as a03 or a03_waves; all by default."),
]
Where = Annotated[Path, typer.Option("--course", help="The course's folder.", show_default="here")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust-students",
        help="Run student code without isolation where this machine offers none.",
    ),
]
Tls = Annotated[
    Path | None,
    typer.Option(
        "--tls",
        metavar="FOLDER",
        help="For tls:// addresses: a folder with ca.pem, cert.pem and key.pem.",
    ),
]
Insecure = Annotated[
    bool,
    typer.Option("--insecure", help="Take tcp://127.0.0.1, which nobody encrypts, for a trial."),
]


def authors_course(folder: Path) -> Course:
    """Load a course for those who write it: with what is wrong in it before anything is made of it.

    Raises
    ------
    CourseError
        If its settings are wrong. What may only be forgotten is printed.
    """
    from autograder.course.config import Course
    from autograder.course.limits import check_limits

    course = Course.load(folder)
    check_limits(course)
    for name in course.unlisted:
        print(course.not_listed(name), file=sys.stderr)
    return course


@contextmanager
def dask() -> Iterator[None]:
    """Say what to install where what reaches other machines, which not everybody has, is missing.

    Raises
    ------
    CourseError
        In place of a ModuleNotFoundError.
    """
    from autograder.course.config import CourseError

    try:
        yield
    except ModuleNotFoundError as error:
        raise CourseError(
            f"other machines are reached through Dask, and {error.name} is missing: "
            "pip install 'autograder-engine[cluster]'"
        ) from None


def output() -> Console:
    """Return standard output: as wide as the terminal, and without an end where it is a file."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=10_000)


def print_json(data: object) -> None:
    """Print data for programs."""
    import json

    print(json.dumps(data, indent=1, ensure_ascii=False))


def progress() -> Progress:
    """Return a progress bar on standard error, which a terminal shows and a file doesn't."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    )


@contextmanager
def working() -> Iterator[Callable[[str, str], None]]:
    """Show on standard error, where it is a terminal, which expensive call is being made."""
    from rich.console import Console

    console = Console(stderr=True)
    with console.status("grading") as status:

        def tell(_student: str, function: str) -> None:
            status.update(f"grading: {function}() takes a while" if function else "grading")

        yield tell
