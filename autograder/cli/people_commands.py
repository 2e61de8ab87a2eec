"""Commands about the people of a course."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autograder.cli.options import Where

roster = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The class list.")

student = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Rename, merge and remove students, with everything that hangs on them.",
)
Yes = Annotated[bool, typer.Option("--yes", help="Do it; without, only say what would be done.")]


def add_to(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.add_typer(roster, name="roster")
    app.add_typer(student, name="student")
    app.command()(extension)
    app.command()(look)


@roster.command("import")
def import_(
    source: Annotated[
        Path,
        typer.Argument(
            help="Canvas's gradebook, Moodle's participants or grading worksheet, Gradescope's "
            "roster (CSV), or JupyterHub's users (JSON)."
        ),
    ],
    course: Where = Path(),
) -> None:
    """Add the people of a platform's export to students.csv, or complete those in it."""
    from autograder.course.config import Course
    from autograder.delivery.nbgrader.people import import_people

    found = Course.load(course)
    for line in import_people(found, source):
        print(line)


@roster.command("show")
def show(course: Where = Path()) -> None:
    """Print the class list."""
    from autograder.course.config import Course
    from autograder.course.people.roster import declared

    for person in declared(Course.load(course)):
        print("  ".join(filter(None, (person.id, person.name, person.email, person.section))))


@student.command("rename")
def rename(old: str, new: str, yes: Yes = False, course: Where = Path()) -> None:
    """Give a student another id."""
    _change(course, old, new, merge=False, yes=yes)


@student.command("merge")
def merge(old: str, into: str, yes: Yes = False, course: Where = Path()) -> None:
    """Make one student of two; where both handed in, what INTO handed in stays."""
    _change(course, old, into, merge=True, yes=yes)


@student.command("remove")
def remove(old: str, yes: Yes = False, course: Where = Path()) -> None:
    """Take a student out of the course; what there was is put aside in removed/."""
    _change(course, old, None, merge=False, yes=yes)


def _change(folder: Path, old: str, new: str | None, *, merge: bool, yes: bool) -> None:
    from autograder.course.config import Course
    from autograder.course.people.student_ids import checked_id
    from autograder.delivery.department.students import apply, planned

    found = Course.load(folder)
    change = planned(found, old, "" if new is None else checked_id(new), merge=merge)
    for line in change.lines():
        print(line)
    if not yes:
        print("nothing is changed yet: the same command with --yes does it")
        return
    aside = apply(found, change)
    if aside:
        print(f"put aside: {aside}")
    if change.moved:
        print("run `autograder grade`, then `feedback` and `report`")


def extension(
    student: str,
    assignment: str,
    until: Annotated[
        str, typer.Option(help='The later date, like "2027-03-08 23:59 UTC"; empty takes it back.')
    ],
    course: Where = Path(),
) -> None:
    """Give a student a later due date; the next `grade` takes penalties back, without --force."""
    from autograder.course.config import Course
    from autograder.delivery.nbgrader.extensions import extend

    found = Course.load(course)
    print(extend(found, student, found.ids([assignment])[0], until))


def look(
    student: str,
    part: Annotated[str, typer.Argument(metavar="A/E.PART", help="As in a02/by_hand.result.")],
    course: Where = Path(),
) -> None:
    """Give a student the code of a look at one part, which costs what the course says."""
    from autograder.course.config import Course
    from autograder.course.submissions.giving_looks import give_look

    print(give_look(Course.load(course), student, part))
