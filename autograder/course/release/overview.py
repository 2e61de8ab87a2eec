"""What there is to do in a notebook: what each exercise is to the points, its time, its points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from autograder.course.discover import Assignment, SourceCell
from autograder.course.release.carried_exercises import needed
from autograder.course.sections import headed
from autograder.exercise import Exercise
from autograder.grading.results import ROLE_SIGNS, Role

_WORDS: dict[Role, str] = {"core": "core", "choice": "choice", "star": "on top"}


def sign(role: Role) -> str:
    """Return the mark of a role with its word.

    >>> sign("star")
    '★ on top'
    """
    return f"{ROLE_SIGNS[role]} {_WORDS[role]}"


class Planned(NamedTuple):
    """An exercise, as those see it who plan."""

    id: str
    title: str
    role: Role
    minutes: int | None
    points: float

    @property
    def badge(self) -> str:
        """Say all of it but the title.

        >>> Planned("a", "A", "choice", 15, 2.0).badge
        '○ choice · 15 minutes · 2 points'
        """
        time = [f"{self.minutes} minutes"] if self.minutes else []
        return " · ".join([sign(self.role), *time, _points(self.points)])


def tasks(assignment: Assignment) -> list[Planned]:
    """Return the exercises of an assignment."""
    rule = assignment.course.counting[assignment.id]
    return [
        Planned(id, exercise.title, rule.role(id), exercise.minutes, exercise.points)
        for id, exercise in assignment.sound.items()
    ]


def told(assignment: Assignment) -> list[SourceCell]:
    """Return the text of an assignment with what there is to do: a table, and a line a heading.

    A course that says neither minutes nor what is core has its text as it is, but for what a
    function is to be written without.
    """
    rule = assignment.course.counting[assignment.id]
    every = tasks(assignment)
    planned = _planned(every)
    cells = list(assignment.cells)
    places = headed(cells)
    for task in reversed(every):
        badge = [f"*{task.badge}*"] if planned else []
        lines = "".join(f"\n\n{line}" for line in badge + barred(assignment.sound[task.id]))
        if place := places.get(task.id):
            cell = cells[place.cell]
            text = cell.source[: place.end] + lines + cell.source[place.end :]
            cells[place.cell] = replace(cell, source=text)
    if not planned:
        return cells
    after_title = 1 if cells and cells[0].kind == "markdown" else 0
    table = SourceCell("markdown", _table(every, rule.choice))
    return [*cells[:after_title], table, *cells[after_title:]]


def barred(exercise: Exercise) -> list[str]:
    """Say what functions are to be written without: whoever uses it has not done the task."""
    return [
        f"Write `{one.name}` without {' and '.join(one.without)}; with it, it earns nothing."
        for one in exercise.functions
        if one.without
    ]


def _planned(every: Sequence[Planned]) -> bool:
    """Tell whether the course says minutes, or which exercises are core."""
    return any(task.minutes or task.role != "core" for task in every)


def _table(every: Sequence[Planned], most: float | None) -> str:
    rows = [
        f"| {sign(task.role)} | {task.title} | {task.minutes or ''} | {task.points:g} |"
        for task in every
    ]
    head = ["| what | exercise | minutes | points |", "|---|---|---|---|"]
    return "\n".join([*head, *rows, "", *summary(every, most)])


def summary(every: Sequence[Planned], most: float | None) -> list[str]:
    """Say how much there is of each role, a line of Markdown each."""
    rules: dict[Role, str] = {
        "core": "",
        "choice": " whatever you choose of them counts"
        if most is None
        else f" {most:g} points of them count, whichever",
        "star": " what you earn there comes on top",
    }
    found = []
    for role, rule in rules.items():
        own = [task for task in every if task.role == role]
        if own:
            said = f"{_points(sum(task.points for task in own))}{time_of(own)}"
            after = f";{rule}" if rule else ""
            found.append(f"- **{sign(role)}**: {said}{after}.")
    return found


def _points(points: float) -> str:
    return f"{points:g} point{'s' * (points != 1)}"


def time_of(every: Sequence[Planned]) -> str:
    """Say how long exercises take, to a quarter of an hour; nothing where nobody says.

    >>> time_of([Planned("a", "A", "core", 100, 2.0), Planned("b", "B", "core", 40, 1.0)])
    ', about 2 h 15 min'
    """
    quarters = round(sum(task.minutes or 0 for task in every) / 15)
    if not quarters:
        return ""
    hours, rest = divmod(quarters * 15, 60)
    return ", about " + " ".join([*[f"{hours} h"] * bool(hours), *[f"{rest} min"] * bool(rest)])


def best_of(assignment: Assignment) -> list[str]:
    """Say where only the best parts of a name count, and what that leaves."""
    total = sum(exercise.points for exercise in assignment.sound.values())
    found = []
    for name, count in assignment.course.counting[assignment.id].best.items():
        parts = [p.points for e in assignment.sound.values() for p in e.parts if p.name == name]
        earned = total - sum(sorted(parts)[:-count])
        found.append(
            f"{total:g} points in all, of which {earned:g} can be earned: the best {count} of "
            f"{len(parts)} `{name}` count"
        )
    return found


def in_words(assignment: Assignment) -> list[str]:
    """Return lines for authors: points and hours by role, what counts, what it builds on."""
    rule = assignment.course.counting[assignment.id]
    every = tasks(assignment)
    roles = summary(every, rule.choice) if _planned(every) else []
    lines = [line.replace("*", "") for line in roles]
    lines += [f"- {sentence}" for sentence in best_of(assignment)]
    built_on = sorted({f"{c[0].assignment}/{id}" for id, c in needed(assignment).items()})
    more = [f"- builds on {', '.join(built_on)}"] if built_on else []
    return [f"{assignment.id}:", *lines, *more] if lines or more else []
