"""How good an answer is, and the share of an array's entries that are right."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Judgement(NamedTuple):
    """How good an answer is: ``credit`` from 0 to 1, a stable ``note`` and a sentence."""

    credit: float
    note: str = ""
    feedback: str = ""


def judged_by_entries(credits: Any, expected: Any) -> Judgement:
    """Return the share of an array's entries that are right, where at least half are.

    Entries that repeat the array's commonest value come free with a guess: they count only where
    half of the others are right, too.

    Parameters
    ----------
    credits
        What each entry is worth, from 0 to 1.

    Examples
    --------
    >>> judged_by_entries(np.array([1, 1, 0]), np.array([0.2, 0.3, 0.5])).feedback
    '2 of 3 entries are right.'
    >>> judged_by_entries(np.array([1, 1, 0]), np.array([0.0, 0.0, 0.5])).credit
    0.0
    """
    credits, expected = np.ravel(credits), np.ravel(expected)
    right = int(np.sum(credits == 1))
    values, places, times = np.unique(expected, return_inverse=True, return_counts=True)
    others = places != np.argmax(times) if len(values) > 1 and times.max() > 1 else places >= 0
    given = credits > 0
    if credits.size < 2 or np.mean(given) < 0.5 or np.mean(given[others]) < 0.5 or not right:
        return Judgement(0.0)
    return Judgement(float(np.mean(credits)), feedback=entries_right(right, credits.size))


def entries_right(right: int, size: int) -> str:
    """Say how many entries are right."""
    return f"{right} of {size} entries {'is' if right == 1 else 'are'} right."
