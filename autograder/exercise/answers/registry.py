"""The kinds of answer that there are: ours, and those that an installed package brings.

A package names its kinds as entry points of the group ``autograder.kinds``; each is one class, a
subclass of ``Answer``, in one file::

    [project.entry-points."autograder.kinds"]
    dice = "our_course.dice:Dice"
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from autograder.exercise.answers.kind import Answer

GROUP = "autograder.kinds"

_OURS = {
    "kind": ("Essay",),
    "choice": ("Choice",),
    "derivation": ("Derivation",),
    "exact": ("Count", "Fractions", "Shape"),
    "figure": ("Figure",),
    "labels": ("Labels",),
    "matrix": ("Matrix",),
    "numbers": ("Numbers",),
    "ordering": ("Ordering",),
    "symbolic": ("Formula",),
    "cost_class": ("ComplexityClass",),
    "witness": ("Witness",),
}


@cache
def kinds() -> dict[str, type[Answer]]:
    """Return every kind of answer by its name.

    Raises
    ------
    TypeError
        If an entry point is no kind of answer, or has the name of another one.
    """
    found: dict[str, type[Answer]] = {}
    for module, names in _OURS.items():
        for name in names:
            kind: type[Answer] = getattr(
                import_module(f"autograder.exercise.answers.{module}"), name
            )
            found[kind.kind] = kind
    for entry in entry_points(group=GROUP):
        kind = entry.load()
        if not (isinstance(kind, type) and issubclass(kind, Answer)) or kind.kind in found:
            raise TypeError(
                f"the entry point {entry.name} = {entry.value!r} of {GROUP} must be a subclass of "
                f"Answer with a `kind` of its own, other than {', '.join(found)}"
            )
        found[kind.kind] = kind
    return dict(sorted(found.items()))


def brought() -> list[Path]:
    """Return the source files of the packages that bring kinds of answer."""
    files: list[Path] = []
    for package in sorted({entry.module.partition(".")[0] for entry in entry_points(group=GROUP)}):
        spec = find_spec(package)
        if spec and spec.submodule_search_locations:
            folders = spec.submodule_search_locations
            files += sorted(path for folder in folders for path in Path(folder).rglob("*.py"))
        elif spec and spec.origin:
            files.append(Path(spec.origin))
    return files
