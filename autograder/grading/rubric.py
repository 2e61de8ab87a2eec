"""The rubric of an answer that is marked by hand: its points, and a cell above it for the marker.

The cell stands in autograded/ alone, which formgrader shows.  It is tagged, so that delivery can
keep it out of feedback.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.exercise import Exercise, Part
from autograder.exercise.words.dependencies import apply, solve
from autograder.exercise.words.part import arguments
from autograder.student.notebook import new_cell, part_of

TAG = "autograder_rubric"

_MARKUP = re.compile(r"([\\*_<>|#$\[\]~])")
_POINT = re.compile(r"(?m)^(?=\((?:\d+|[a-z])\)\s)")
_NAMED = re.compile(r"(\((?:\d+|[a-z])\))\s+(?:([\d.]+) points?\.\s+)?(.*)", re.S)


@dataclass(frozen=True)
class RubricPoint:
    """One of the things that a marker looks for.

    Attributes
    ----------
    name
        As the rubric calls it: ``(1)``.
    most
        What it is worth; None where the rubric leaves that to the marker.
    """

    name: str
    text: str
    most: float | None


def rubric_points(part: Part) -> list[RubricPoint]:
    """Return the points (1), (2), … of a rubric, in its order.

    What they are worth counts only where it adds up to what the part is worth.
    """
    pieces = (piece for paragraph in part.scheme for piece in _pieces(paragraph))
    named = [found.groups() for piece in pieces if (found := _NAMED.fullmatch(piece))]
    worth = [float(points or 0) for _, points, _ in named]
    told = sum(worth) == part.points
    return [
        RubricPoint(name, text, most if told else None)
        for (name, _, text), most in zip(named, worth, strict=True)
    ]


def rubric_cell(exercise: Exercise, part: Part, variant: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cell with the rubric, a model answer and samples, for the student's numbers."""
    points = f"{part.points:g} point{'s' * (part.points != 1)}"
    told = [f"**For the marker: {exercise.id}, `{part.name}`, {points}**"]
    told += [_listed(paragraph) for paragraph in part.scheme]
    if model := _text(exercise, part.compute, variant):
        told.append(f"*A model answer.* {_plain(model)}")
    for sample in part.samples:
        text = _text(exercise, sample.compute, variant)
        told.append(f"*A sample, worth {sample.points:g} of {part.points:g}.* {_plain(text)}")
        told.append(f"*Why.* {_plain(sample.why)}")
    id = f"rubric_{part_of(exercise.id, part.name)}"[:64]
    metadata = {"tags": [TAG], "deletable": False, "editable": False}
    return {"id": id, **new_cell("markdown", "\n\n".join(told), metadata)}


def _text(exercise: Exercise, compute: Callable[..., Any], variant: Mapping[str, Any]) -> str:
    """Return a model answer or a sample, for a student's numbers."""
    try:
        answer = apply(compute, solve(exercise, variant) if arguments(compute) else {})
    except Exception as error:  # an author's mistake is no reason to lose a submission
        return f"(It can't be computed: {type(error).__name__}: {error}.)"
    return " ".join(answer.split()) if isinstance(answer, str) else ""


def _listed(paragraph: str) -> str:
    """Turn the points (1), (2), … of a rubric into a list."""
    return "\n".join(
        f"- {_plain(piece)}" if _POINT.match(piece) else f"{_plain(piece)}\n"
        for piece in _pieces(paragraph)
    )


def _pieces(paragraph: str) -> list[str]:
    """Split a paragraph of a rubric before each of its points."""
    return [" ".join(piece.split()) for piece in _POINT.split(paragraph) if piece.strip()]


def _plain(text: str) -> str:
    r"""Escape what Markdown would take for markup, except between backticks.

    >>> print(_plain("x_t < `x_1` * y"))
    x\_t \< `x_1` \* y
    """
    pieces = text.split("`")
    pieces[::2] = [_MARKUP.sub(r"\\\1", piece) for piece in pieces[::2]]
    return "`".join(pieces)
