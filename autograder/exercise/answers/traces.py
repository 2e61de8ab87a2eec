"""A known mistake in some entries of an answer: where it shows, and when that may be chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.exercise.answers.slips import CHANCE, SMALL

Array = np.ndarray[Any, Any]

#: So often a single entry is off by 1 or by a factor of 2 for another reason.
_SLIP = 0.1
_NEAR = 1e-3


def explains(mistaken: Array, right: Array, *, off: Array, own: Array, reach: Any) -> bool:
    """Tell whether every wrong entry of an answer is a mistake's own, and that is no chance.

    Parameters
    ----------
    mistaken, right
        The answer of the mistake, and the right one; of one shape.
    off, own
        Which of the student's entries are not right, and which are the mistake's.
    reach
        How far from an entry of the mistake's one may be, and is still taken for it.

    Examples
    --------
    >>> right, mistaken = np.array([0.21, 0.32, 0.47]), np.array([0.12, 0.37, 0.81])
    >>> given = np.array([0.21, 0.37, 0.47])
    >>> found = {"off": given != right, "own": given == mistaken}
    >>> [explains(mistaken, right, **found, reach=reach) for reach in (0.0004, 0.01)]
    [True, False]
    """
    off, own = np.ravel(off), np.ravel(own)
    if not off.any() or not own[off].all():
        return False
    values, instead = (np.ravel(each).astype(float) for each in (mistaken, right))
    reach = np.ravel(np.broadcast_to(reach, np.shape(mistaken)))
    with np.errstate(all="ignore"):
        telling = off & np.isfinite(values) & ~_plain(values, reach)
        apart = np.abs(values - np.where(np.isfinite(instead), instead, 0))
        chances = np.minimum(2 * reach / apart, 1)
    if not own.all():
        # What stands elsewhere in the right answer may be exchanged, or have the wrong sign.
        telling &= ~_among(np.abs(values), np.abs(instead))
        others = np.stack([instead + 1, instead - 1, instead * 2, instead / 2])
        slip = _near(values, others).any(axis=0)
        chances = np.where(slip, np.maximum(chances, _SLIP), chances)
    _, first = np.unique(values[telling], return_index=True)  # what is repeated tells it once
    return bool(np.prod(chances[telling][first]) < CHANCE)


def _plain(values: Array, reach: Array) -> Array:
    """Tell which numbers many ways lead to: whole ones, halves and quarters that are small."""
    off = np.abs(values - np.round(4 * values) / 4)
    return np.asarray((np.abs(values) < SMALL) & (off <= reach))


def _among(values: Array, others: Array) -> Array:
    """Tell which values are near to one of the others."""
    others = np.sort(others)
    above = np.searchsorted(others, values).clip(max=len(others) - 1)
    return _near(values, others[above]) | _near(values, others[(above - 1).clip(min=0)])


def _near(a: Array, b: Array) -> Array:
    return np.isclose(a, b, rtol=_NEAR, atol=1e-9)
