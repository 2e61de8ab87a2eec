"""Commands about the database that holds the gradebook."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.options import Where

gradebook = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="The database that holds all scores."
)


def add_to(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.add_typer(gradebook, name="gradebook")


@gradebook.callback()
def _group() -> None:
    """Without this, Typer would make the only command of the group the group itself."""


@gradebook.command()
def copy(
    to: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="An empty database: postgresql+psycopg://user@host/name, or sqlite:///FILE.",
        ),
    ],
    course: Where = Path(),
) -> None:
    """Copy the gradebook to another database: every row, or none."""
    from autograder.course.config import Course
    from autograder.delivery.nbgrader.moving import copy_gradebook

    for line in copy_gradebook(Course.load(course), to):
        print(line)
