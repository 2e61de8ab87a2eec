"""A syllabus: which exercises of which notebook in which week of a term."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from autograder.course.config import CourseError
from autograder.course.discover import Assignment
from autograder.course.release.overview import Planned, tasks


@dataclass(frozen=True)
class Stretch:
    """What a week has of one notebook."""

    assignment: str
    title: str
    exercises: list[Planned]
    sources: list[str]

    @property
    def minutes(self) -> int:
        """Minutes of these exercises."""
        return sum(task.minutes or 0 for task in self.exercises)


@dataclass(frozen=True)
class Plan:
    """A term.

    Attributes
    ----------
    weeks
        What is done in each.
    hours
        Hours that there are in a week.
    unneeded
        The last notebooks, on whose code no other one builds: id and minutes.
    optional
        Notebooks that are a choice as a whole, and in no week: id and minutes of their core.
    """

    weeks: list[list[Stretch]]
    hours: float
    unneeded: dict[str, int]
    optional: dict[str, int]

    @property
    def minutes(self) -> int:
        """Minutes of the whole term."""
        return sum(stretch.minutes for week in self.weeks for stretch in week)

    @property
    def short(self) -> float:
        """Hours that are missing, if there are any."""
        return max(0.0, self.minutes / 60 - self.hours * len(self.weeks))


def plan(
    assignments: Iterable[Assignment], weeks: int, hours: float, *, drop: Collection[str] = ()
) -> Plan:
    """Spread the core exercises of a course evenly over so many weeks.

    Parameters
    ----------
    assignments
        In their order.
    hours
        Hours in a week.
    drop
        Assignments that are not in it.

    Raises
    ------
    CourseError
        If an exercise doesn't say how long it takes, or builds on an assignment that is dropped.
    """
    wanted = [a for a in assignments if a.id not in drop]
    chosen = [a for a in wanted if a.id in a.course.optional]
    kept = [a for a in wanted if a not in chosen]
    core = {a.id: [task for task in tasks(a) if task.role == "core"] for a in wanted}
    built_on = {a.id: _built_on(a, core[a.id]) for a in kept}
    for a in kept:
        if unknown := [task.id for task in core[a.id] if task.minutes is None]:
            raise CourseError(
                f"{a.id}/{unknown[0]} doesn't say how long it takes: write `minutes=` into its "
                "Exercise(...)"
            )
        if missing := built_on[a.id] & {*drop, *(each.id for each in chosen)}:
            raise CourseError(f"{a.id} builds on {', '.join(sorted(missing))}: keep it")
    needed = set().union(*built_on.values())
    minutes = {id: sum(task.minutes or 0 for task in own) for id, own in core.items()}
    last = max((place for place, a in enumerate(kept) if a.id in needed), default=-1)
    return Plan(
        [list(_stretches(own, kept)) for own in _spread({a.id: core[a.id] for a in kept}, weeks)],
        hours,
        {a.id: minutes[a.id] for a in kept[last + 1 :]},
        {a.id: minutes[a.id] for a in chosen},
    )


def _built_on(assignment: Assignment, core: Iterable[Planned]) -> set[str]:
    ids = {task.id for task in core}
    return {
        carried.assignment
        for id, exercise in assignment.sound.items()
        for carried in exercise.carried
        if id in ids and carried.assignment != assignment.id
    }


def _spread(core: dict[str, list[Planned]], weeks: int) -> list[list[tuple[str, Planned]]]:
    """Give each exercise to the week in which its middle falls, if all are equally long."""
    total = sum(task.minutes or 0 for own in core.values() for task in own)
    found: list[list[tuple[str, Planned]]] = [[] for _ in range(weeks)]
    before = 0
    for id, own in core.items():
        for task in own:
            minutes = task.minutes or 0
            found[int((before + minutes / 2) / total * weeks)].append((id, task))
            before += minutes
    return found


def _stretches(week: list[tuple[str, Planned]], kept: list[Assignment]) -> Iterator[Stretch]:
    by_id = {a.id: a for a in kept}
    for id, rows in groupby(week, key=lambda row: row[0]):
        own = [task for _, task in rows]
        exercises = by_id[id].sound
        sources = dict.fromkeys(exercises[task.id].source for task in own)
        yield Stretch(id, by_id[id].title, own, list(sources))


def markdown(found: Plan) -> str:
    """Write a plan as a table and what it says of the hours."""
    rows = ["| week | notebook | exercises | hours | to read |", "|---:|---|---|---:|---|"]
    for number, week in enumerate(found.weeks, 1):
        for place, stretch in enumerate(week):
            exercises = ", ".join(task.title for task in stretch.exercises)
            hours = f"{sum(s.minutes for s in week) / 60:.1f}" if not place else ""
            head = f"{number}" if not place else ""
            title = f"{stretch.assignment.partition('_')[0]} {stretch.title}"
            sources = "; ".join(stretch.sources)
            rows.append(f"| {head} | {title} | {exercises} | {hours} | {sources} |")
    return "\n".join([*rows, "", *notes(found)])


def notes(found: Plan) -> list[str]:
    """Say in sentences whether a plan fits, and what it could do without."""
    weeks = len(found.weeks)
    said = [
        f"{found.minutes / 60:.1f} hours of core exercises in {weeks} weeks: "
        f"{found.minutes / 60 / weeks:.1f} a week, where there are {found.hours:g}."
    ]
    rest = _listed(found.unneeded)
    if found.short:
        said.append(
            f"{found.short:.1f} hours are missing. Nothing is built on the code of {rest}: leave "
            "one out with --drop, or make exercises choice."
        )
    elif rest:
        said.append(f"What may be dropped, since nothing is built on its code: {rest}.")
    if found.optional:
        said.append(f"In no week, since it is optional: {_listed(found.optional)}.")
    return said


def _listed(minutes: Mapping[str, int]) -> str:
    """Name notebooks with their hours."""
    return ", ".join(f"{id.partition('_')[0]} ({own / 60:.1f} h)" for id, own in minutes.items())
