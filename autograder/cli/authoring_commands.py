"""Commands for those who write and release assignments."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autograder.cli.options import Assignments, Json, Trust, Where, authors_course

if TYPE_CHECKING:
    from autograder.course.proofs.verify import Proof

Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="Assignments at the same time; by default one per core."),
]


def add_to(app: typer.Typer) -> None:
    """Add this group's commands."""
    for command in (init, new, verify, plan, generate, release, gradescope, simulate):
        app.command()(command)


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new folder, or a course's that lacks a file.")
    ],
) -> None:
    """Start a course of your own, with one exercise that proves itself."""
    from autograder.delivery.department.new_course import start_course

    written = start_course(folder)
    for path in written:
        print(path.relative_to(folder.resolve()))
    print(
        "next: `autograder verify`, `autograder generate` and `autograder demo` in that folder"
        if written
        else "nothing is missing"
    )


def new(
    exercise: Annotated[
        str, typer.Argument(metavar="A/E", help="Assignment and new exercise, such as a03/mean.")
    ],
    kind: Annotated[
        str,
        typer.Option(
            help="A kind of answer such as numbers or choice; or function, class, tester."
        ),
    ] = "numbers",
    course: Where = Path(),
) -> None:
    """Start an exercise: a cell and a module that prove themselves, for you to rewrite."""
    from autograder.course.config import CourseError
    from autograder.course.scaffold import new_exercise

    found = authors_course(course)
    assignment, _, id = exercise.partition("/")
    if not id:
        raise CourseError(f"{exercise}: name assignment and exercise, such as {assignment}/mean")
    for path in new_exercise(found, found.ids([assignment])[0], id, kind):
        print(path.relative_to(found.root))


def verify(
    which: Annotated[
        list[str] | None,
        typer.Argument(metavar="[A[/E]]...", help="Assignments or exercises; all by default."),
    ] = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Also what was proved before and is as it was.")
    ] = False,
    jobs: Jobs = None,
    course: Where = Path(),
    json: Json = False,
) -> None:
    """Let every exercise prove itself; exit with 1 where one does not.

    The reference earns everything and the stub nothing, every misconception is caught by its
    own name, every check is failed by one, and no variant hides a mistake. The last columns say
    what is earned without a thought, and the largest share that one mistake costs.  Functions are
    tried on the inputs that this course's secret gives, once it has graded something.

    What was proved before, and nothing has changed in its assignment since, is not proved again;
    an exercise that is named always is.
    """
    from autograder.course.proofs.guessing import guessed
    from autograder.course.proofs.several import prove
    from autograder.course.proofs.verify import verify_helpers
    from autograder.course.secret import FILE, secret_of

    found = authors_course(course)
    secret = secret_of(found) if (found.root / FILE).exists() else ""
    wanted: dict[str, list[str]] = {}
    for name in which or []:
        assignment, _, exercise = name.partition("/")
        for id in found.ids([assignment]):
            wanted.setdefault(id, []).extend([exercise] if exercise else [])
    proofs: list[Proof] = [] if wanted else verify_helpers(found)
    counting: list[str] = []
    every = wanted or {id: [] for id in found.ids()}
    for one in prove(found, every, secret=secret, anew=anew, jobs=jobs or os.cpu_count() or 1):
        proofs += one.proofs
        counting += one.counting
    if json:
        import json as json_module

        print(json_module.dumps([asdict(proof) for proof in proofs], indent=1))
    else:
        _show(proofs)
        for line in counting:
            print(line)
    too_easy = guessed([proof for proof in proofs if not wanted.get(proof.assignment)], found)
    for text in too_easy:
        print(text, file=sys.stderr)
    if too_easy or any(proof.problems for proof in proofs):
        raise typer.Exit(1)


_PROVED = ("proved", "proved before")


def _show(proofs: Sequence[Proof]) -> None:
    from rich.console import Console
    from rich.table import Table

    from autograder.course.proofs.guessing import blindly

    table = Table(box=None, pad_edge=False)
    table.add_column("exercise", no_wrap=True)
    for name in ("points", "parts", "checks", "misconceptions", "variants", "blind", "dearest"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for proof in proofs:
        numbers = (proof.parts, proof.checks, proof.misconceptions, proof.variants)
        table.add_row(
            f"{proof.assignment.split('_')[0]}/{proof.exercise}",
            f"{proof.points:g}",
            *map(str, numbers),
            f"{proof.blind:g}",
            f"{proof.dearest.share:.0%}" if proof.dearest else "",
            f"{len(proof.problems)} problems" if proof.problems else _PROVED[proof.before],
        )
    console = Console()
    console.width = max(console.width, 120)  # a table that is cut says less than one that wraps
    console.print(table)
    for id, own in groupby(proofs, key=lambda proof: proof.assignment):
        every = list(own)
        blind, points = blindly(every), sum(proof.points for proof in every)
        if blind:
            print(f"{id}: answers without a thought earn {blind:g} of {points:g} points")
    for proof in proofs:
        for problem in proof.problems:
            print(f"{proof.exercise}: {problem}")
        for note in proof.notes:
            print(f"{proof.exercise}, a note: {note}")


def plan(
    weeks: Annotated[int, typer.Option(min=1, help="Weeks of the term.")] = 12,
    hours: Annotated[float, typer.Option(min=0.5, help="Hours a week that students have.")] = 5.0,
    drop: Annotated[
        str, typer.Option(metavar="A,…", help="Notebooks to leave out, such as a09,a13.")
    ] = "",
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print Markdown, for a page of your own.")
    ] = False,
    course: Where = Path(),
) -> None:
    """Print a syllabus: the core exercises of the course, spread over the weeks of a term."""
    from rich.console import Console
    from rich.table import Table

    from autograder.course.discover import load_assignment
    from autograder.course.release import plan as planning

    found = authors_course(course)
    dropped = found.ids(drop.split(",")) if drop else []
    loaded = (load_assignment(found, id) for id in found.ids())
    made = planning.plan(loaded, weeks, hours, drop=dropped)
    if markdown:
        print(planning.markdown(made))
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("week", justify="right")
    table.add_column("notebook", no_wrap=True)
    table.add_column("hours", justify="right")
    table.add_column("exercises")
    for number, week in enumerate(made.weeks, 1):
        for place, stretch in enumerate(week):
            exercises = ", ".join(task.id for task in stretch.exercises)
            table.add_row(
                "" if place else str(number),
                stretch.assignment,
                f"{stretch.minutes / 60:.1f}",
                exercises,
            )
    Console().print(table)
    for line in planning.notes(made):
        print(line)


def generate(
    assignments: Assignments = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Change nothing; exit with 1 if release/ is out of date."),
    ] = False,
    jobs: Jobs = None,
    course: Where = Path(),
) -> None:
    """Build the students' notebooks in release/ and enter them in the gradebook."""
    from autograder.course.release.practice_share import share_in_words
    from autograder.delivery.department.releasing import generate as build

    def told(lines: list[str]) -> None:
        for line in lines:
            print(line, flush=True)

    found = authors_course(course)
    ids = found.ids(assignments)
    drift = build(found, ids, check=check, jobs=jobs or os.cpu_count() or 1, progress=told)
    print(share_in_words(found, ids))
    for change in drift:
        print(change)
    if not drift:
        print("release/ is up to date")
    elif check:
        print("release/ is out of date: run `autograder generate` and commit what it writes")
        raise typer.Exit(1)
    else:
        print("release/ has been written anew")


def release(
    assignments: Assignments = None,
    to: Annotated[
        str, typer.Option(help="`exchange` for nbgrader's exchange, or a .zip file for an LMS.")
    ] = "exchange",
    course: Where = Path(),
) -> None:
    """Hand the generated notebooks to students."""
    from autograder.delivery.department.releasing import hand_out

    found = authors_course(course)
    for line in hand_out(found, found.ids(assignments), to):
        print(line)


def gradescope(
    assignment: str,
    to: Annotated[Path, typer.Option(help="The .zip file to write.")],
    visibility: Annotated[
        str,
        typer.Option(
            help="When students see scores and feedback: visible (at once), after_due_date, "
            "after_published or hidden."
        ),
    ] = "after_due_date",
    trust_students: Trust = False,
    course: Where = Path(),
) -> None:
    """Pack an assignment and this engine as an autograder for Gradescope.

    The zip holds references and the class list: upload it there, and give it to nobody else.
    """
    from autograder.course.config import Course
    from autograder.delivery.gradescope.package import pack

    found = Course.load(course)
    (id,) = found.ids([assignment])
    for line in pack(found, id, to, visibility=visibility, trust=trust_students):
        print(line)


def simulate(
    assignments: Assignments = None,
    students: Annotated[
        int | None,
        typer.Option(min=1, help="How many; by default enough to make every known mistake once."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Which mistakes a small class makes.")] = 0,
    right: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of exercises that even who errs gets right."),
    ] = 0.0,
    course: Where = Path(),
) -> None:
    """Write submissions with known outcomes: right, each misconception, blank, hostile, more."""
    from autograder.course.classes.simulate import simulate as write
    from autograder.course.config import Course

    found = Course.load(course)
    for id in found.ids(assignments):
        outcome = write(found, id, students, seed=seed, right=right)
        print(f"{id}: {len(outcome)} submissions")
