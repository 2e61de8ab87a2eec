"""The command line: one module per group of commands, and no logic of its own."""

from __future__ import annotations

import sys
from textwrap import shorten

import typer

from autograder.cli import authoring, grading, machine, people, results

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="An nbgrader course that grades itself, in locked-down processes.",
)
_ADVICE = "make room on the disk, or change the permissions, and run the command again"

for group in (authoring, grading, people, results, machine):
    group.add_to(app)


def main() -> None:
    """Run a command; what is wrong is said in one sentence, without a traceback."""
    try:
        app()
    except Exception as error:
        from autograder.course.config import CourseError
        from autograder.sandbox import SandboxError

        if isinstance(error, OSError):  # a full disk, above all: it may meet any command anywhere
            what = error.filename or "a file"
            why = shorten(error.strerror or str(error), 200)
            error = CourseError(f"{what} can't be used ({why}): {_ADVICE}")
        if not isinstance(error, CourseError | SandboxError):
            raise
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
