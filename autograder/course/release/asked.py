"""What a notebook knows of what is asked: a student's numbers, and the form of each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autograder.course.config import CourseError
from autograder.course.release.plain_json import encode
from autograder.exercise import Exercise, Part


def hint_of(part: Part, answers: Sequence[Any]) -> dict[str, Any]:
    """Return the form of an answer; what of it depends on the variant, one by variant."""
    if part.manual:
        return {"kind": "manual"}
    first, *others = hints = [part.answer.hint(answer) for answer in answers]
    if not all(hint.get("exact") for hint in hints):  # of one alone it would tell something
        for hint in hints:
            hint.pop("exact", None)
    varies = {key for hint in others for key in hint | first if hint.get(key) != first.get(key)}
    common = {key: value for key, value in first.items() if key not in varies}
    if not varies:
        return common
    return common | {"varies": [{key: hint.get(key) for key in sorted(varies)} for hint in hints]}


def encode_variant(exercise: Exercise, variant: Mapping[str, Any]) -> dict[str, Any]:
    """Encode a student's numbers; a numpy scalar is shown and used as a plain number."""
    try:
        return {
            name: encode(value.item() if isinstance(value, np.generic) else value)
            for name, value in variant.items()
        }
    except TypeError as error:
        raise CourseError(f"{exercise.id}: its variants can't be released: {error}") from None
