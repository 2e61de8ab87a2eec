"""Start a new exercise: a cell and a module that prove themselves, to be rewritten."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from autograder.course.config import CONFIG, Course, CourseError
from autograder.course.discover import read_cells
from autograder.course.files import write_atomically
from autograder.exercise import Answer
from autograder.exercise.answers.registry import kinds as answer_kinds

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


_CELLS = """
# %% [markdown]
# ## $title
#
{asks}

{numbers}# %% exercise="$id"
{stub}
"""
_MARKED_BY_HAND = """
# %% [markdown] exercise="$id"
# ## $title
#
{asks}

# %% [markdown] exercise="$id" part="why"
# *Your answer:*
"""
_NUMBERS = """\
# %%
your_numbers("$id")

"""
_REFERENCE = '''"""$title.

Source: where the theory comes from.
"""

{imports}

exercise = Exercise("$id", title="$title", source="where the theory comes from")

{body}'''


def kinds() -> list[str]:
    """Return the kinds of exercise that can be started."""
    answers = [name for name, kind in answer_kinds().items() if kind.scaffold]
    return sorted([*answers, *(path.stem for path in _FOLDER.glob("*.template"))])


def _template(kind: str) -> tuple[str, str]:
    """Return the cells and the reference of a new exercise."""
    answer = answer_kinds().get(kind)
    if answer is None or answer.scaffold is None:
        cells, _, reference = (_FOLDER / f"{kind}.template").read_text("utf-8").partition(_MARK)
        return cells, reference
    begun = answer.scaffold
    cells = (_MARKED_BY_HAND if answer.manual else _CELLS).format(
        asks="\n".join(f"# {line}".rstrip() for line in begun.asks.splitlines()),
        numbers=_NUMBERS if begun.numbers else "",
        stub=begun.stub,
    )
    imports = _imports(answer, begun.imports.splitlines())
    return cells, _REFERENCE.format(imports=imports, body=begun.reference)


def _imports(answer: type[Answer], own: list[str]) -> str:
    """Return the lines of imports, those of this project behind the others."""
    ours = f"from autograder.exercise import {', '.join(sorted(('Exercise', answer.__name__)))}"
    near = sorted([ours, *(line for line in own if line.startswith("from autograder."))])
    far = [line for line in own if line not in near]
    return "\n\n".join("\n".join(group) for group in (far, near) if group)


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
    cells, reference = _template(kind)
    before = (
        text.read_text("utf-8")
        if text.exists()
        else _HEADER.format(title=course.titles[assignment])
    )
    added = Template(cells).substitute(names)
    write_atomically(text, f"{before.rstrip()}\n{added}".encode())
    write_atomically(module, Template(reference).substitute(names).encode())
    return [text, module]
