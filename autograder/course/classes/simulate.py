"""A class with known outcomes: right answers, every known mistake, and worse."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autograder.course.classes.expected import ExpectedScore, expect
from autograder.course.config import Course
from autograder.course.discover import Assignment, load_assignment
from autograder.course.files import write_atomically
from autograder.course.proofs.part_proofs import right_answers
from autograder.course.proofs.prices import answers_after
from autograder.course.proofs.sources import assignments_source, function_source, typed
from autograder.course.release.carried_exercises import carries, given_sources
from autograder.course.release.handed_out import Release
from autograder.course.secret import secret_of
from autograder.exercise import (
    CheckedFunction,
    Exercise,
    FormatError,
    Misconception,
    Part,
    Undecided,
)
from autograder.exercise.words.dependencies import apply, evaluate, solve
from autograder.exercise.words.part import arguments
from autograder.grading.checks import NO_GPU, grade_checks
from autograder.grading.diagnosis import by_itself
from autograder.grading.local import Local
from autograder.grading.parts import grade_parts
from autograder.grading.results import hundredths
from autograder.student.notebook import grade_id, part_of

#: What a student does who makes no mistake.
RIGHT = ("right", "right_other_style")

#: A mistake that an earlier one explains.
FOLLOWS = "follows from an earlier function"

HOSTILE = """\
import os, signal, socket, sys

def look_around():
    for start in (".", "..", "/", "/home", "/tmp"):
        for folder, _, files in os.walk(start):
            if "reference" in folder or "gradebook.db" in files:
                return open(os.path.join(folder, files[0])).read()

for attempt in (
    look_around,
    os.fork,
    lambda: os.kill(os.getppid(), signal.SIGKILL),
    lambda: socket.create_connection(("127.0.0.1", 80), timeout=1),
    lambda: open("left_behind", "w").write("here"),
):
    try:
        attempt()
    except BaseException as error:
        print(type(error).__name__)

os._exit(0)
"""


@dataclass(frozen=True)
class Answered(ExpectedScore):
    """What one simulated student does about one exercise; no source leaves the stub."""

    source: str | None


def simulate(
    course: Course,
    assignment: str,
    students: int | None = None,
    *,
    seed: int = 0,
    right: float = 0.0,
) -> dict[str, dict[str, Answered]]:
    """Write submissions of students student_001, … and what each of them must get.

    Parameters
    ----------
    students
        How many; by default as many as it takes to have every known mistake once.
    seed
        Shifts which mistakes a class too small for all of them makes.
    right
        The share of exercises, in tenths, that those get right who make mistakes.

    Returns
    -------
    dict
        By student and exercise what was done; ``simulated.json`` keeps scenario and score.
    """
    release = Release.load(course, assignment)
    loaded = load_assignment(course, assignment)
    count, secret = students or _everything(loaded), secret_of(course)
    carried = given_sources(loaded)
    choices = _choices(loaded)
    outcome = {}
    for index in range(count):
        student = f"student_{index + 1:03d}"
        answered = {
            id: _answer(exercise, release, student, index, place, seed, secret, right)
            for place, (id, exercise) in enumerate(loaded.sound.items())
        }
        _build_on_mistakes(loaded, release, student, answered)
        left = {
            cell
            for cells, best in choices
            for place, cell in enumerate(cells)
            if (place - index) % len(cells) >= best
        }
        notebook = _filled(release, student, answered, carried, left, blank=index == 2)
        path = course.submission(student, assignment)
        write_atomically(path, json.dumps(notebook, indent=1, ensure_ascii=False).encode())
        write_atomically(path.with_name("timestamp.txt"), b"2026-01-01 12:00:00 UTC\n")
        outcome[student] = answered
    expect(course, assignment, outcome)
    return outcome


def _choices(assignment: Assignment) -> list[tuple[list[str], int]]:
    """Return the cells of which only the best count, and how many these are."""
    best = assignment.course.counting[assignment.id].best
    parts = [(id, part.name) for id, e in assignment.sound.items() for part in e.parts]
    return [([part_of(id, n) for id, n in parts if n == name], best[name]) for name in best]


def _build_on_mistakes(
    assignment: Assignment, release: Release, student: str, answered: dict[str, Answered]
) -> None:
    """Look again at what builds on another exercise of the notebook that isn't right.

    A function stays a stub: what a slip there costs in the end `autograder verify` proves. A wrong
    number may be right by the student's own function.
    """
    for id, exercise in assignment.sound.items():
        built_on = [c for c in exercise.carried if c.assignment == assignment.id]
        own = {
            carried.name: Local(wrong)
            for carried in built_on
            for wrong in carried.function.misconceptions
            if answered[carried.exercise].scenario == wrong.name
        }
        if all(answered[c.exercise].scenario in RIGHT for c in built_on):
            continue
        if exercise.functions:
            answered[id] = Answered("untouched", 0.0, None)
        elif own and ":" in answered[id].scenario:
            variant = release.pool(id)[release.variant(id, student)]
            answered[id] = _by_own_functions(exercise, variant, answered[id], own)


def _by_own_functions(
    exercise: Exercise, variant: dict[str, Any], given: Answered, own: dict[str, Local]
) -> Answered:
    """Return what answers are worth beside functions of the student's own that are wrong."""
    values: dict[str, Any] = {}
    exec(given.source or "", values)
    with np.errstate(all="ignore"):
        items = grade_parts(exercise, variant, values.get, earlier=own)
    score = sum(item.score or 0.0 for item in items)
    return replace(given, scenario=FOLLOWS, score=score) if score > given.score else given


def _everything(assignment: Assignment) -> int:
    return 6 + max((len(_mistakes(e)) for e in assignment.sound.values()), default=0)


def _mistakes(exercise: Exercise) -> list[tuple[Part | CheckedFunction, Misconception]]:
    """Return each mistake with the part or the function that it is made in."""
    places: list[Part | CheckedFunction] = [*exercise.parts, *exercise.functions]
    return [(place, wrong) for place in places for wrong in place.misconceptions]


def _can_be_made(
    exercise: Exercise, variant: dict[str, Any], place: Part | CheckedFunction, wrong: Misconception
) -> bool:
    """Tell whether a mistake gives an answer at all with these numbers."""
    if isinstance(place, Part):
        try:
            with np.errstate(all="ignore"):
                evaluate(place, wrong, solve(exercise, variant))
        except (FormatError, ArithmeticError):
            return False
    return True


def _answer(
    exercise: Exercise,
    release: Release,
    student: str,
    index: int,
    place: int,
    seed: int,
    secret: str,
    right: float,
) -> Answered:
    """Give the first six students set roles, each in one exercise only; then make mistakes."""
    pool = release.pool(exercise.id)
    variant = pool[release.variant(exercise.id, student)]
    number = len(release.data["exercises"])
    if index == 2:
        return Answered("untouched", 0.0, None)
    if index in (3, 4, 5) and place == (index - 3 + seed) % number:
        if index == 3:
            return Answered("syntax_error", 0.0, "def (:\n")
        if index == 4:
            return Answered("infinite_loop", 0.0, _endless(exercise))
        return Answered("hostile", 0.0, HOSTILE)
    mistakes = [m for m in _mistakes(exercise) if _can_be_made(exercise, variant, *m)]
    errs = (7 * index + 3 * place) % 10 >= 10 * right  # three and seven: all exercises in turn
    if index >= 6 and mistakes and errs:
        where, wrong = mistakes[(index - 6 + seed) % len(mistakes)]
        if isinstance(where, Part):
            return _wrong_part(exercise, variant, where, wrong)
        return _wrong_function(exercise, variant, where, wrong, secret)
    return _right(exercise, variant, style=index % 2)


def _right(exercise: Exercise, variant: dict[str, Any], *, style: int) -> Answered:
    known, answers = dict(variant) | exercise.solutions, dict[str, Any]()
    for part in exercise.parts:
        ways = [way for way in part.alternatives if known.keys() >= {*arguments(way)}]
        route = ways[0] if style == 1 and ways else part
        known[part.name] = evaluate(part, route, known)
        answers[part.name] = typed(part, apply(route, known), known)
    answers = _typed(exercise, answers)
    rounded = {
        part.name
        for part in exercise.parts
        if style == 1 and part.answer.rounding(known[part.name]) is not None
    }
    source = "".join(
        assignments_source({name: value}, rounded=name in rounded)
        for name, value in answers.items()
    )
    for function in exercise.functions:
        other = function.alternatives[0] if style == 1 and function.alternatives else None
        source += function_source(function, other or function.solution)
    return Answered(RIGHT[style], exercise.auto_points, source)


def _wrong_function(
    exercise: Exercise,
    variant: dict[str, Any],
    place: CheckedFunction,
    wrong: Misconception,
    secret: str,
) -> Answered:
    answers = _typed(exercise, right_answers(exercise, variant))
    source = assignments_source(answers)
    others = [function for function in exercise.functions if function is not place]
    source += "".join(function_source(function, function.solution) for function in others)
    source += function_source(place, wrong)  # last: others may bring the right one along
    with np.errstate(all="ignore"):
        items = grade_checks(place, wrong, secret=secret)
    # What waits for a GPU is not lost.
    lost = sum(item.max_score - (item.score or 0.0) for item in items if item.note != NO_GPU)
    return Answered(wrong.name, exercise.auto_points - lost, source)


def _wrong_part(
    exercise: Exercise, variant: dict[str, Any], part: Part, wrong: Misconception
) -> Answered:
    """One part is wrong; what follows is worked out from it, and counts in full."""
    known = solve(exercise, variant)
    answers = _typed(exercise, answers_after(exercise, variant, part, wrong))
    source = assignments_source(answers)
    for function in exercise.functions:
        source += function_source(function, function.solution)
    credit = max(wrong.credit, _credit(part, answers[part.name], known))
    score = exercise.auto_points - part.points + hundredths(credit * part.points)
    score -= sum(other.points for other in exercise.resting_on(part) if credit < 1)
    return Answered(f"{part.name}: {wrong.name}", score, source)


def _credit(part: Part, raw: object, known: dict[str, Any]) -> float:
    """Return what a wrong answer earns by what is right in it."""
    right = known[part.name]
    try:
        answer = part.answer.meant(part.answer.read(raw, like=right), part.order(known))
        return by_itself(part, answer, right).credit
    except (FormatError, Undecided):
        return 0.0


def _typed(exercise: Exercise, answers: dict[str, Any]) -> dict[str, Any]:
    """Leave out what isn't typed into the solution cell."""
    manual = {part.name for part in exercise.parts if part.manual}
    return {name: value for name, value in answers.items() if name not in manual}


def _endless(exercise: Exercise) -> str:
    names = [function.name for function in exercise.functions]
    if names and not exercise.parts:
        return "".join(f"def {name}(*_, **__):\n    while True:\n        pass\n" for name in names)
    return "while True:\n    pass\n"


def _filled(
    release: Release,
    student: str,
    answered: dict[str, Answered],
    carried: dict[str, str],
    left: set[str],
    *,
    blank: bool,
) -> dict[str, Any]:
    notebook = deepcopy(release.notebook)
    for cell in notebook["cells"]:
        id = grade_id(cell)
        if cell["source"].startswith("from check import"):
            cell["source"] = cell["source"].replace('student("")', f'student("{student}")')
        elif id in answered and (source := answered[id].source) is not None:
            cell["source"] = source
        elif came := carries(cell["source"]) & carried.keys():
            cell["source"] = "\n".join(carried[each] for each in sorted(came))
        elif cell["cell_type"] == "markdown" and id and id not in left and not blank:
            cell["source"] += f"\n\n{student} wrote this."
    return notebook
