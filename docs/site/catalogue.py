"""The catalogue of exercises: a table an assignment, made from the course with the site."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from autograder.course.config import Course
from autograder.course.discover import Assignment, load_assignment
from autograder.exercise import Exercise

ROOT = Path(__file__).resolve().parents[2]


def catalogue() -> str:
    """Return the sections of all assignments, as Markdown."""
    course = Course.load(ROOT)
    return "\n\n".join(_section(load_assignment(course, id)) for id in course.titles)


def kinds(exercise: Exercise) -> list[str]:
    """Return what students write: kinds of answer, functions, classes."""
    written = [part.answer.kind for part in exercise.parts]
    for function in exercise.functions:
        written.append("class" if inspect.isclass(function.solution) else "function")
    return list(dict.fromkeys(written))


def minutes(assignment: Assignment) -> dict[str, str]:
    """Return the time of each exercise whose text begins with one, ``*20 minutes.*``."""
    found, told = {}, ""
    for cell in assignment.cells:
        if cell.kind == "markdown":
            said = re.search(r"^\*(\d+) minutes(?:, and (\d+)[^*]*)?\.\*", cell.source, re.M)
            told = " + ".join(filter(None, said.groups())) if said else told
        elif cell.exercise:
            found[cell.exercise], told = told, ""
    return found


def _section(assignment: Assignment) -> str:
    if assignment.broken:
        raise ValueError("; ".join(broken.message for broken in assignment.broken))
    times = minutes(assignment)
    stars = assignment.course.counting[assignment.id].stars
    points = sum(exercise.points for exercise in assignment.sound.values())
    head = f"{len(assignment.sound)} exercises, {points:g} points."
    best = "".join(f" {sentence}." for sentence in assignment.choices)
    columns = ["exercise", "source", "what is written", "points", "minutes"]
    rows = [
        [
            f"{'★ ' if id in stars else ''}{e.title} (`{id}`)",
            e.source,
            ", ".join(kinds(e)),
            f"{e.points:g}",
            times[id],
        ]
        for id, e in assignment.sound.items()
    ]
    if not any(times.values()):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    table = "\n".join(f"| {' | '.join(row)} |" for row in [columns, ["---"] * len(columns), *rows])
    return f"## {assignment.title}\n\n{head}{best}\n\n{overview(assignment)}\n\n{table}"


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


def setup(app: Sphinx) -> None:
    """Let Sphinx know the directive."""
    app.add_directive("catalogue", Catalogue)
