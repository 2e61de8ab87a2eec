"""What students carry from earlier notebooks: where it is said, and what a release says of it."""

from __future__ import annotations

import re

from autograder.course.discover import Assignment
from autograder.exercise.carried_source import source_of_carried
from autograder.exercise.checked import Carried
from autograder.student.released_files import CarriedExercise

_CALL = re.compile(r"^carry\(\s*[\"'](\w+)[\"']", re.M)


def carries(source: str) -> set[str]:
    """Return the exercises whose code comes in place of a cell."""
    return set(_CALL.findall(source))


def needed(assignment: Assignment) -> dict[str, list[Carried]]:
    """Return what the exercises build on that other assignments ask for, by exercise."""
    found: dict[str, list[Carried]] = {}
    for exercise in assignment.sound.values():
        for carried in exercise.carried:
            if carried.assignment != assignment.id:
                found.setdefault(carried.exercise, []).append(carried)
    return found


def carried(assignment: Assignment) -> dict[str, CarriedExercise]:
    """Return by exercise what `carry` reads, where anything is carried here.

    A version that works is in it where the course gives the solutions of that assignment away,
    ``c.Course.given = ["a04_waves"]``.
    """
    found: dict[str, CarriedExercise] = {}
    sources = given_sources(assignment) if assignment.course.given else {}
    for exercise, each in needed(assignment).items():
        solutions = {one.name: one.solution for one in each}
        found[exercise] = {"assignment": each[0].assignment, "names": list(solutions)}
        if each[0].assignment in assignment.course.given:
            found[exercise]["given"] = sources[exercise]
    return found


def given_sources(assignment: Assignment) -> dict[str, str]:
    """Return by exercise code that defines the references of what is carried from it.

    What these were built on in turn comes with them, where it has no cell of its own here.
    """
    wanted = needed(assignment)
    own_cells = {one.name for each in wanted.values() for one in each}
    return {exercise: source_of_carried(each, own_cells) for exercise, each in wanted.items()}


def carry_problems(assignment: Assignment) -> list[str]:
    """Return what is wrong with the cells that students' own code comes into."""
    wanted = needed(assignment)
    order = [
        id for cell in assignment.cells for id in [*sorted(carries(cell.source)), cell.exercise]
    ]
    found = []
    for exercise in assignment.sound.values():
        for each in exercise.carried:
            if each.assignment == assignment.id:
                continue
            if each.exercise not in order[: order.index(exercise.id)]:
                found.append(
                    f"{exercise.id} builds on `{each.name}` of {each.exercise}, which nobody has "
                    f'here; add a code cell `carry("{each.exercise}")` above its stub'
                )
    said = set().union(*(carries(cell.source) for cell in assignment.cells))
    for id in sorted(said - wanted.keys()):
        found.append(
            f'carry("{id}") is not needed; say in a reference what is carried, '
            f'`exercise.carries("…/{id}", "…")`, or delete the cell'
        )
    return found
