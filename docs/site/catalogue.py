"""Tables made with the site: of the exercises, from the course, and of the kinds of answer."""

from __future__ import annotations

import inspect
import re
from functools import cache
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from autograder.course.config import Course
from autograder.course.discover import Assignment, load_assignment
from autograder.course.release.overview import Planned, best_of, sign, summary, tasks
from autograder.exercise import Exercise
from autograder.exercise.answers.registry import kinds as answer_kinds

_HEAD = "| kind | reads | right if |\n|---|---|---|"
COURSE = Course.load(Path(__file__).resolve().parents[2])


def catalogue() -> str:
    """Return the sections of all assignments, as Markdown."""
    return "\n\n".join(_section(loaded(id)) for id in COURSE.ids())


@cache
def loaded(id: str) -> Assignment:
    """Load an assignment, once for all pages."""
    return load_assignment(COURSE, id)


def kinds(exercise: Exercise) -> list[str]:
    """Return what students write: kinds of answer, functions, classes."""
    written = [part.answer.kind for part in exercise.parts]
    for function in exercise.functions:
        written.append("class" if inspect.isclass(function.solution) else "function")
    return list(dict.fromkeys(written))


def _section(assignment: Assignment) -> str:
    if assignment.broken:
        raise ValueError("; ".join(broken.message for broken in assignment.broken))
    every = tasks(assignment)
    points = sum(exercise.points for exercise in assignment.sound.values())
    roles = "\n".join(summary(every, assignment.course.counting[assignment.id].choice))
    head = f"{len(every)} exercises, {points:g} points."
    best = "".join(f" {sentence}." for sentence in best_of(assignment))
    columns = ["what", "exercise", "min", "points"]
    rows = [
        [sign(task.role), _told(assignment, task), f"{task.minutes or ''}", f"{task.points:g}"]
        for task in every
    ]
    table = "\n".join(f"| {' | '.join(row)} |" for row in [columns, ["---"] * len(columns), *rows])
    return f"## {assignment.title}\n\n{head}{best}\n\n{roles}\n\n{overview(assignment)}\n\n{table}"


def _told(assignment: Assignment, task: Planned) -> str:
    """Return an exercise in two lines: what it is called; what is written, and its source."""
    exercise = assignment.sound[task.id]
    written = f'<span class="kinds">{", ".join(kinds(exercise))}</span>'
    return f"{task.title} (`{task.id}`)<br><small>{written} · {exercise.source}</small>"


def overview(assignment: Assignment) -> str:
    """Return the notebook's own table of what is learned in which time, if it has one."""
    text = "\n".join(cell.source for cell in assignment.cells[:3])
    table = re.search(r"^\| part \| you learn \|.*\n(?:\|.*\n?)+", text, re.M)
    return table[0] if table else ""


class Catalogue(SphinxDirective):
    """``{catalogue}``: all assignments and their exercises."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        self.env.note_reread()  # it is made of files that Sphinx doesn't know
        return self.parse_text_to_nodes(catalogue(), allow_section_headings=True)


class Kinds(SphinxDirective):
    """``{kinds}``: how each kind of answer is declared, what it reads, and what is right."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        rows = [
            f"| `{declared}` | {reads} | {right} |"
            for kind in answer_kinds().values()
            for declared, reads, right in kind.table
        ]
        return self.parse_text_to_nodes("\n".join([_HEAD, *rows]))


def setup(app: Sphinx) -> None:
    """Let Sphinx know the directives."""
    app.add_directive("catalogue", Catalogue)
    app.add_directive("kinds", Kinds)
