"""Start a new exercise: a cell and a module that prove themselves, to be rewritten."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from autograder.course.config import CONFIG, Course, CourseError
from autograder.course.discover import read_cells
from autograder.course.files import write_atomically

_FOLDER = Path(__file__).with_name("scaffolds")
_MARK = "=== reference\n"
_HEADER = """\
# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # {title}
"""


def kinds() -> list[str]:
    """Return the kinds of exercise that can be started."""
    return sorted(path.stem for path in _FOLDER.glob("*.txt"))


def new_exercise(course: Course, assignment: str, exercise: str, kind: str) -> list[Path]:
    """Add an exercise to an assignment's text, and write its reference.

    Returns
    -------
    list of Path
        The two files, the assignment's text first.

    Raises
    ------
    CourseError
        If the kind or the id can't be used, or the exercise is there already.
    """
    if kind not in kinds():
        raise CourseError(f"{kind} is no kind of exercise; there are {', '.join(kinds())}")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", exercise):
        raise CourseError(
            f"{exercise!r} can't be an exercise's id: small letters, digits and _ only"
        )
    text = course.root / "assignments" / assignment / f"{assignment}.py"
    module = course.root / "reference" / assignment / f"{exercise}.py"
    if module.exists():
        raise CourseError(f"{module} exists already")
    if text.exists() and exercise in {cell.exercise for cell in read_cells(text)}:
        raise CourseError(f"{text} has a cell of {exercise} already")
    if assignment not in course.titles:
        raise CourseError(f"{assignment} is not in {course.root / CONFIG}: add it there first")
    names = {"id": exercise, "title": exercise.replace("_", " ").capitalize()}
    cells, _, reference = (_FOLDER / f"{kind}.txt").read_text("utf-8").partition(_MARK)
    before = (
        text.read_text("utf-8")
        if text.exists()
        else _HEADER.format(title=course.titles[assignment])
    )
    added = Template(cells).substitute(names)
    write_atomically(text, f"{before.rstrip()}\n{added}".encode())
    write_atomically(module, Template(reference).substitute(names).encode())
    return [text, module]
