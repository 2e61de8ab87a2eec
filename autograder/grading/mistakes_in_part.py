"""Recognise a known mistake in some entries of an answer in which something else is wrong, too."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from autograder.exercise import Part, Undecided
from autograder.exercise.answers.slips import by_chance
from autograder.exercise.words.dependencies import evaluate

_NONE = (Undecided, ArithmeticError, LookupError, ValueError, TypeError)


def told_in_part(part: Part, answer: Any, true: Mapping[str, Any]) -> str:
    """Say which known mistake, or which two, are in most of the wrong entries, if by no chance."""
    right = true[part.name]
    if not isinstance(answer, np.ndarray) or np.shape(answer) != np.shape(right):
        return ""
    found: dict[str, int] = {}
    for wrong in part.misconceptions:
        with contextlib.suppress(*_NONE), np.errstate(all="ignore"):
            value = evaluate(part, wrong, true)
            wrongly = part.answer.without(answer, right, right)  # what is right, to the last digit
            made = np.not_equal(part.answer.without(wrongly, value, right), wrongly)
            if made.sum() > 1 and not by_chance([right[made]], [answer[made]]):
                found[wrong.feedback] = int(made.sum())
    most = [said for said, many in found.items() if many == max(found.values())]
    said = " Or: ".join(most)
    return f"There is more than one thing wrong. One of them: {said}" if 0 < len(most) < 3 else ""
