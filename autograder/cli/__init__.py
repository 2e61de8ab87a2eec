"""The command line: one module per group of commands, and no logic of its own."""

from __future__ import annotations

import atexit
import gc
import sys
from typing import Annotated, Any

import typer

from autograder import __version__
from autograder.cli import (
    authoring_commands,
    gradebook_commands,
    grading_commands,
    machine_commands,
    people_commands,
    results_commands,
)
from autograder.sandbox.threads import take_one_thread

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="An nbgrader course that grades itself, in locked-down processes.",
)
for group in (
    authoring_commands,
    grading_commands,
    people_commands,
    gradebook_commands,
    results_commands,
    machine_commands,
):
    group.add_to(app)


def _tell(version: bool) -> None:
    if version:
        print(f"autograder {__version__}")
        raise typer.Exit


@app.callback()
def before_commands(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_tell, help="Say which version this is."),
    ] = False,
) -> None:
    """Take what goes before a command."""


def main() -> None:
    """Run a command; what is wrong is said in one sentence, without a traceback."""
    take_one_thread()
    # nbformat and nbgrader import jsonschema, which imports these if they are there, and with them
    # compiles 38 grammars and brings all of arrow, for kinds of text that notebooks don't contain:
    # a second for every command. It does without.
    modules: dict[str, Any] = sys.modules
    for left_out in ("rfc3987_syntax", "isoduration", "rfc3986_validator"):
        modules.setdefault(left_out, None)
    # Looking for garbage takes a tenth of the time for imports; and at the end, with all that
    # nbgrader brings, a third of a second. What is frozen is not looked at.
    gc.set_threshold(200_000)
    atexit.register(gc.freeze)
    try:
        app()
    except Exception as error:  # told in a sentence below
        from autograder.course.config import CourseError
        from autograder.sandbox import SandboxError

        if isinstance(error, OSError):  # a full disk, above all: it may meet any command anywhere
            from autograder.course.files import unusable

            error = unusable(error)
        if not isinstance(error, CourseError | SandboxError):
            raise
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
