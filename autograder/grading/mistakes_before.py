"""Recognise what follows from a known mistake in an earlier answer that was given without it.

Somebody hands in the right weights and goes on with others, or leaves an earlier answer out: what
is wrong then is what an author has foreseen, one step before.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.exercise import FormatError, Misconception, Part, Undecided
from autograder.exercise.words.dependencies import evaluate
from autograder.grading.budget import Exhausted, bounded
from autograder.grading.one_change import SECONDS, is_it, is_telling
from autograder.sandbox import StudentError

_NONE = (FormatError, Undecided, StudentError, ArithmeticError, LookupError, ValueError, TypeError)


def told_before(parts: Sequence[Part], part: Part, answer: Any, true: Mapping[str, Any]) -> str:
    """Say of which earlier part's known mistake this is the consequence; "" where of none."""
    if not is_telling(answer, true[part.name]):
        return ""
    try:
        found = bounded("", lambda: dict(_found(parts, part, answer, true)), SECONDS)
    except Exhausted:
        return ""
    if len(found) != 1:
        return ""
    ((said, name),) = found.items()
    return f"This is what follows from a mistake in `{name}`: {said}"


def _found(
    parts: Sequence[Part], part: Part, answer: Any, true: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    before = [*parts[: parts.index(part)]]
    for earlier in before:
        behind = before[before.index(earlier) + 1 :]
        for wrong in earlier.misconceptions:
            with np.errstate(all="ignore"), contextlib.suppress(*_NONE):
                value = _follows(earlier, wrong, behind, part, true)
                if value is not None and is_it(part, answer, value, true[part.name]):
                    yield wrong.feedback, earlier.name


def _follows(
    earlier: Part, wrong: Misconception, behind: list[Part], part: Part, true: Mapping[str, Any]
) -> Any:
    """Return a part's answer where an earlier one has that mistake; None where it isn't needed."""
    known = {**true, earlier.name: evaluate(earlier, wrong, true)}
    changed = {earlier.name}
    for each in (*behind, part):
        if changed & set(each.needs):
            known[each.name] = evaluate(each, each, known)
            changed.add(each.name)
    return known[part.name] if part.name in changed else None
