"""Read a release back: the notebook as it was handed out, and who has which numbers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from autograder.course.config import Course, CourseError
from autograder.course.release.datafiles import altered
from autograder.course.schemas import exercises_of_today, refuse_later
from autograder.course.typed_json import converted
from autograder.exercise.words.variants import pick
from autograder.grading.demonstrations import only_shows, tagged
from autograder.sandbox import COMPILER
from autograder.student.data import SCHEMA, decode
from autograder.student.notebook import grade_id, source_of
from autograder.student.released_files import CheckFile

# Libraries worth importing before a notebook is run, and the module to import for each.
_SLOW = {
    **{"matplotlib": "matplotlib.pyplot", "pandas": "pandas", "scipy": "scipy"},
    **{"sympy": "sympy", "torch": "torch"},
}
# What of torch imports its compiler when it is used first, where it isn't the text of a string.
# So do tensors without numbers, with which a check's `outline` counts.
_COMPILES = re.compile(
    r"(?<!['\"])\b(?:_dynamo|checkpoint\w*|compile|cond|FakeTensor\w*|flex_\w+|functorch|optim"
    r"|func(?!(?:\.|[ \t]+import[ \t]+)(?:functional_call|stack_module_state)\b)|outline"
    r"|while_loop)\b"
)
_IMPORT = re.compile(r"(?:^|[;:])[ \t]*(?:import[ \t]+([^\n;#]+)|from[ \t]+(\w+))", re.M)
_MODULE = re.compile(r"(?:^|,)\s*(\w+)")


def libraries(notebook: dict[str, Any]) -> set[str]:
    """Return those of the libraries that take a while to load that a notebook's cells import.

    Those of demonstrations are left out, which are not run.
    """
    code = (
        cell["source"]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code" and not tagged(cell)
    )
    return libraries_of("\n".join(code))


def libraries_of(source: str) -> set[str]:
    """Return those of the libraries that take a while to load that a piece of code imports.

    Examples
    --------
    >>> sorted(libraries_of("import numpy, torch"))
    ['torch']
    >>> sorted(libraries_of("from torch import optim"))
    ['torch', 'torch._dynamo']
    """
    found: set[str] = set()
    for modules, module in _IMPORT.findall(source):
        found |= {module, *_MODULE.findall(modules)} & _SLOW.keys()
    compiled = {COMPILER} if "torch" in found and _COMPILES.search(source) else set()
    return {_SLOW[name] for name in found} | compiled


@dataclass(frozen=True)
class Release:
    """What students were given for one assignment.

    Attributes
    ----------
    notebook
        As JSON; the source of every cell is one text.
    data
        What is in check.json (docs/formats.md).
    files
        The data files that stand beside the notebook, by name.
    """

    assignment: str
    notebook: dict[str, Any]
    data: CheckFile
    files: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def load(cls, course: Course, id: str) -> Release:
        """Read release/<id>/.

        Raises
        ------
        CourseError
            If it isn't there, was written by a later version, or a data file was changed.
        """
        folder = course.folder("release") / id
        again = f"run `autograder generate {id}`"
        try:
            notebook = json.loads((folder / f"{id}.ipynb").read_text(encoding="utf-8"))
            known = json.loads((folder / "check.json").read_bytes())
            for cell in notebook["cells"]:
                cell["source"] = source_of(cell)
            refuse_later(known["schema"], SCHEMA, folder / "check.json")
            known["exercises"] = exercises_of_today(known["exercises"])
            data = converted(known, CheckFile)
        except OSError as error:
            raise CourseError(f"release/{id} is missing: {again}") from error
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise CourseError(f"release/{id} can't be read ({error}): {again}") from error
        names = data.get("data", {})
        files = {name: path.read_bytes() for name in names if (path := folder / name).is_file()}
        if changed := altered(course, id, names, files):
            raise CourseError("\n".join(changed))
        return cls(id, notebook, data, files)

    @cached_property
    def imports(self) -> tuple[str, ...]:
        """The libraries that the notebook's own cells import, and that take a while to load."""
        return tuple(sorted({"numpy"} | libraries(self.notebook) - {COMPILER}))

    @cached_property
    def cells(self) -> dict[str, dict[str, Any]]:
        """The cells of exercises by what they are called."""
        return {id: cell for cell in self.notebook["cells"] if (id := grade_id(cell))}

    @cached_property
    def demonstrations(self) -> list[str]:
        """The texts of cells that only show something."""
        code = (cell for cell in self.notebook["cells"] if cell["cell_type"] == "code")
        return [cell["source"] for cell in code if only_shows(cell)]

    def pool(self, exercise: str) -> list[dict[str, Any]]:
        """Return the variants of an exercise: arrays, numbers and text by name."""
        return self._pools[exercise]

    @cached_property
    def _pools(self) -> dict[str, list[dict[str, Any]]]:
        return {
            id: [
                {name: decode(value) for name, value in variant.items()} for variant in data["pool"]
            ]
            for id, data in self.data["exercises"].items()
        }

    def variant(self, exercise: str, student: str) -> int:
        """Return which variant of an exercise a student has."""
        size = len(self.data["exercises"][exercise]["pool"])
        return pick(self.data["course"], student, exercise, size)

    def numbers(self, student: str) -> dict[str, dict[str, Any]]:
        """Return a student's numbers by exercise and name."""
        return {
            exercise: self.pool(exercise)[self.variant(exercise, student)]
            for exercise in self.data["exercises"]
        }
