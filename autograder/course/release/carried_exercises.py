"""What students carry from earlier notebooks: where it is said, and what a release says of it."""

from __future__ import annotations

import re

from autograder.course.discover import Assignment, load_exercise
from autograder.exercise import CheckedFunction, Exercise
from autograder.exercise.words.carried_source import source_of_carried
from autograder.exercise.words.checked import Carried
from autograder.exercise.words.source import standalone
from autograder.student.released_files import CarriedExercise

_CALL = re.compile(r"^carry\(\s*[\"'](\w+)[\"'](?!\s*,\s*given=True)", re.M)
_GIVEN = re.compile(r"\bcarry\(\s*[\"'](\w+)[\"']\s*,\s*given=True")


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
    for exercise, functions in _given_here(assignment).items():
        found[exercise] = {
            "assignment": assignment.id,
            "names": [one.name for one in functions],
            "given": "\n".join(standalone(one.given, one.name) for one in functions if one.given),
        }
    return found


def _given_here(assignment: Assignment) -> dict[str, list[CheckedFunction]]:
    """Return by exercise which of its own functions an assignment's text offers to build on.

    It may be an exercise that the course leaves out.
    """
    found = {}
    folder = assignment.course.root / "reference" / assignment.id
    for id in sorted(set().union(*(_GIVEN.findall(cell.source) for cell in assignment.cells))):
        if id not in needed(assignment):
            exercise = assignment.sound.get(id) or load_exercise(folder / f"{id}.py")
            functions = exercise.functions if isinstance(exercise, Exercise) else ()
            found[id] = [function for function in functions if function.given]
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
    found += [
        f'carry("{id}", given=True) gets nothing: no function of {id} has a version to build on; '
        "register one behind its reference, @exercise.given"
        for id, functions in _given_here(assignment).items()
        if not functions
    ]
    for id in sorted(said - wanted.keys()):
        found.append(
            f'carry("{id}") is not needed; say in a reference what is carried, '
            f'`exercise.carries("…/{id}", "…")`, or delete the cell'
        )
    return found
