"""The tables of docs/formats.md, made with the site from the types that read and write the files.

The page links to each type, a line of its own; on the site its table stands there.
"""

from __future__ import annotations

import enum
import inspect
import re
import types
import typing
from pathlib import Path
from typing import Any

from autograder.course.classes.expected import ExpectedScore
from autograder.course.submissions.graded import Provenance
from autograder.course.submissions.hand_in import HandIn
from autograder.delivery.gradescope import PackedSettings
from autograder.grading.results import Counting, ExerciseGrade, Grade, Item
from autograder.student import released_files

PAGE = Path(__file__).resolve().parents[1] / "formats.md"

#: The types whose tables the page has, by name.
TYPES = {
    form.__name__: form
    for form in (
        *(Grade, Counting, ExerciseGrade, Item, Provenance, HandIn, ExpectedScore, PackedSettings),
        *(form for form in vars(released_files).values() if typing.is_typeddict(form)),
    )
}

_WORDS = {str: "text", float: "number", int: "whole number", bool: "true or false", Any: "any"}
_LINK = re.compile(r"^- \[`(\w+)`\]\(\.\./(autograder/[\w/]+\.py)\)$", re.M)
_ATTRIBUTE = re.compile(r"^(\w+(?:, \w+)*)$\n((?:^    .*\n?)+)", re.M)


def page(text: str) -> str:
    """Return the page with a section of its own in place of the link to each type."""
    return _LINK.sub(lambda found: f"\n### {found[1]}\n\n{table(TYPES[found[1]])}\n", text)


def linked(text: str) -> dict[str, str]:
    """Return where the page says that the types are: by name, a path in the repository."""
    return dict(_LINK.findall(text))


def table(form: type) -> str:
    """Return what a type says about itself: a sentence, and its entries with what they hold."""
    first, _, rest = inspect.cleandoc(form.__doc__ or "").replace("``", "`").partition("\n\n")
    hints, required = typing.get_type_hints(form, include_extras=True), _required(form)
    rows = []
    for names, text in _ATTRIBUTE.findall(f"{rest}\n"):
        together = names.split(", ")
        holds = [
            _in_words(hints.pop(name)) + ", or missing" * (name not in required)
            for name in together
        ]
        entries = ", ".join(f"`{name}`" for name in together)
        rows.append(f"| {entries} | {'; '.join(dict.fromkeys(holds))} | {' '.join(text.split())} |")
    if hints:
        raise ValueError(f"the docstring of {form.__name__} doesn't say what {[*hints]} hold")
    head = ["", "| entry | holds | |", "|---|---|---|"]
    return "\n".join([" ".join(first.split()), *head, *rows])


def _required(form: type) -> frozenset[str]:
    if typing.is_typeddict(form):
        hints = typing.get_type_hints(form, include_extras=True).items()
        optional = {n for n, hint in hints if typing.get_origin(hint) is typing.NotRequired}
        return frozenset() if not form.__total__ else frozenset(form.__annotations__) - optional
    parameters = inspect.signature(form).parameters.values()
    return frozenset(p.name for p in parameters if p.default is p.empty)


def _in_words(hint: Any) -> str:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.NotRequired, typing.Required):
        return _in_words(args[0])
    if origin in (types.UnionType, typing.Union):
        return " or ".join("nothing" if a is type(None) else _in_words(a) for a in args)
    if origin is list or args[1:] == (...,):
        return f"list of {_in_words(args[0])}"
    if origin is tuple:
        return f"pair of {' and '.join(map(_in_words, args))}"
    if origin is dict:
        return f"{_in_words(args[1])} by name"
    if inspect.isclass(hint) and issubclass(hint, enum.Enum):
        return ", ".join(f"`{member.value}`" for member in hint)
    return _WORDS.get(hint) or f"[{hint.__name__}](#{hint.__name__.lower()})"
