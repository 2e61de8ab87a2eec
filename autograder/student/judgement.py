"""How good an answer is, and the share of an array's entries that are right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Judgement(NamedTuple):
    """How good an answer is: ``credit`` from 0 to 1, a stable ``note`` and a sentence."""

    credit: float
    note: str = ""
    feedback: str = ""


def judged_by_entries(credits: Any, expected: Any, taken_for: Callable[[Any], Any]) -> Judgement:
    """Return the share of an array's entries that are right, where at least half are.

    Entries that repeat the array's commonest value come free with one value everywhere: they count
    where half of the others were told apart from them.  Where that value is 0 or infinite the
    pattern alone, of a mask, gives it away: there half of the others must be right.

    Parameters
    ----------
    credits
        What each entry is worth, from 0 to 1.
    expected
        What each of them should be.
    taken_for
        Tells of each entry whether it was given as a certain value.

    Examples
    --------
    >>> given, right = np.array([4, 4, 4, 1]), np.array([4, 4, 4, 2])
    >>> judged_by_entries(given == right, right, lambda value: given == value).feedback
    '3 of 4 entries are right.'
    >>> given = np.array([4, 4, 4, 4])
    >>> judged_by_entries(given == right, right, lambda value: given == value).credit
    0.0
    """
    credits, expected = np.ravel(credits).astype(float), np.ravel(expected)
    right = int(np.sum(credits == 1))
    if credits.size < 2 or np.mean(credits > 0) < 0.5 or not right:
        return Judgement(0.0)
    values, places, times = np.unique(expected, return_inverse=True, return_counts=True)
    common = values[np.argmax(times)]
    if len(values) > 1 and times.max() > 1:
        others = places != np.argmax(times)
        masked = common == 0 or common in (-np.inf, np.inf) or common != common
        apart = credits > 0 if masked else ~np.ravel(taken_for(common))
        if np.mean(apart[others]) < 0.5:
            return Judgement(0.0)
    return Judgement(float(np.mean(credits)), feedback=entries_right(right, credits.size))


def entries_right(right: int, size: int) -> str:
    """Say how many entries are right."""
    return f"{right} of {size} entries {'is' if right == 1 else 'are'} right."
