"""Find the exercises of an assignment: text in assignments/, references in reference/."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.course.author_errors import in_words, place
from autograder.course.config import CONFIG, Course, CourseError, line_of
from autograder.course.sections import headed, without
from autograder.exercise import Exercise
from autograder.exercise.nearest import meant
from autograder.exercise.words.loading import load_module
from autograder.grading.demonstrations import TAG

_FOR_SERVERS = {"jupytext.sync_contentsmanager", "jupytext.async_contentsmanager"}


@dataclass(frozen=True)
class Broken:
    """An exercise whose module can't be loaded: it is withheld, the others go on."""

    id: str
    message: str
    lacking: str = ""  # the package that this machine doesn't have


@dataclass(frozen=True)
class SourceCell:
    """One cell of assignments/<a>/<a>.py.

    ``exercise`` names the exercise it answers, ``part`` the part that is marked by hand.  A
    ``demonstration`` only shows something.
    """

    kind: str  # "markdown" or "code"
    source: str
    exercise: str = ""
    part: str = ""
    demonstration: bool = False


@dataclass(frozen=True)
class Assignment:
    """An assignment as its authors wrote it."""

    course: Course
    id: str
    cells: list[SourceCell]
    exercises: dict[str, Exercise | Broken] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The title in course_config.py."""
        return self.course.titles[self.id]

    @cached_property
    def sound(self) -> dict[str, Exercise]:
        """The exercises that could be loaded."""
        return {id: e for id, e in self.exercises.items() if isinstance(e, Exercise)}

    @property
    def broken(self) -> list[Broken]:
        """The exercises that could not."""
        return [e for e in self.exercises.values() if isinstance(e, Broken)]


def text_of(course: Course, id: str) -> Path:
    """Return where the text and stubs of an assignment are."""
    return course.root / "assignments" / id / f"{id}.py"


def load_assignment(course: Course, id: str, wanted: Collection[str] = ()) -> Assignment:
    """Load an assignment's text and the references of its exercises.

    Where some are ``wanted``, those behind the last of them are left out: what stands before them
    students have written already.

    Raises
    ------
    CourseError
        If the text is missing, names an exercise twice, or not one that is wanted.
    """
    path = text_of(course, id)
    if not path.is_file():
        where = line_of(course.root / CONFIG, f'"{id}"')
        raise CourseError(
            f"{path} is missing: it holds the text and stubs of {id}, which {where} lists"
            f"{meant(id, course.unlisted)}"
        )
    cells = read_cells(path)
    names = [cell.exercise for cell in cells if cell.exercise and not cell.part]
    if twice := {name for name in names if names.count(name) > 1}:
        raise CourseError(f"{path}: two cells are the solution of {', '.join(sorted(twice))}")
    if left_out := course.without.get(id):
        places = headed(cells)
        _demand_sections(id, left_out, {name: name in places for name in names})
        cells = without(cells, left_out)
        names = [name for name in names if name not in left_out]
    if unknown := set(wanted) - set(names):
        raise CourseError(
            f"{id} has no exercise {', '.join(sorted(unknown))}; it has {', '.join(names)}"
        )
    if wanted:
        names = names[: max(map(names.index, wanted)) + 1]
    folder = course.root / "reference" / id
    found = {name: load_exercise(folder / f"{name}.py", gpu=course.gpu) for name in names}
    return Assignment(course, id, cells, found)


def _demand_sections(id: str, left_out: Sequence[str], headings: Mapping[str, bool]) -> None:
    for name in left_out:
        if name not in headings:
            raise CourseError(
                f'"without" of {id} names `{name}`, which is no exercise there'
                f"{meant(name, headings)}"
            )
        if not headings[name]:
            raise CourseError(
                f'"without" of {id} names `{name}`, whose section can\'t be left out: it stands '
                "below no heading of its own"
            )


def read_cells(path: Path) -> list[SourceCell]:
    """Read a jupytext percent script."""
    notebook: Any = _jupytext().read(path)
    return [
        SourceCell(
            cell.cell_type,
            cell.source,
            cell.metadata.get("exercise", ""),
            cell.metadata.get("part", ""),
            TAG in cell.metadata.get("tags", ()),
        )
        for cell in notebook.cells
    ]


def _jupytext() -> ModuleType:
    """Import jupytext without its part for servers, which brings one along and is not used here.

    It does without by itself where there is no server.
    """
    modules: dict[str, Any] = sys.modules
    if "jupytext" not in modules:
        left_out = dict.fromkeys(_FOR_SERVERS - modules.keys())
        modules.update(left_out)
        try:
            importlib.import_module("jupytext")
        finally:
            for name in left_out:
                del modules[name]
    return sys.modules["jupytext"]


def load_exercise(path: Path, *, gpu: bool = True) -> Exercise | Broken:
    """Load the module at ``path`` and return its ``exercise``, or what is wrong with it.

    ``gpu`` says whether it has its checks that need one.
    """
    if not path.is_file():
        return Broken(path.stem, f"{path} is missing")
    try:
        module = load_module(path)
    except ModuleNotFoundError as error:
        name = str(error.name).split(".")[0]
        if name == "reference":
            return Broken(path.stem, f"{place(error, path)}: {in_words(error)}")
        return Broken(
            path.stem,
            f"{place(error, path)}: there is no package {name!r} on this machine: install it (or "
            "correct the import), and grade again",
            lacking=name,
        )
    except (Exception, SystemExit) as error:
        return Broken(path.stem, f"{place(error, path)}: {in_words(error)}")
    exercise = getattr(module, "exercise", None)
    if not isinstance(exercise, Exercise):
        return Broken(path.stem, f"{path}: defines no `exercise = Exercise(...)`")
    if exercise.id != path.stem:
        return Broken(path.stem, f"{path}: the exercise is called {exercise.id!r}, the file isn't")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", exercise.id):
        return Broken(path.stem, f"{path}: an id has small letters, digits and _ only")
    if not gpu:
        exercise.leave_out_gpu()
        if not exercise.items:
            return Broken(path.stem, f"{path}: all of it needs a GPU, and c.Course.gpu is False")
    exercise.freeze()
    return exercise
