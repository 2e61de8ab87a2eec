"""Classical test theory, for a table of points: a row for each student, a column per exercise.

References
----------
Cronbach, L. J. (1951). Coefficient alpha and the internal structure of tests. Psychometrika 16.
Feldt, L. S. (1965). The approximate sampling distribution of Kuder-Richardson reliability
coefficient twenty. Psychometrika 30.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import mpmath
import numpy as np

Array = np.ndarray[Any, Any]
Interval = tuple[float, float]
LEVEL = 0.95  #: of every interval


def alpha(points: Array) -> float | None:
    """Return Cronbach's α; None where points do not vary, or there is one exercise.

    >>> alpha(np.array([[1, 1], [2, 2], [3, 3]])), alpha(np.array([[1.0, 2.0], [1.0, 2.0]]))
    (1.0, None)
    """
    students, exercises = points.shape
    if students < 2 or exercises < 2:
        return None
    total = np.var(points.sum(axis=1), ddof=1)
    if total < 1e-12:
        return None
    own = np.var(points, axis=0, ddof=1).sum()
    return float(exercises / (exercises - 1) * (1 - own / total))


def alpha_interval(found: float, students: int, exercises: int) -> Interval:
    """Return Feldt's interval of α: (1 − α)/(1 − α̂) follows an F distribution."""
    n, m = students - 1, (students - 1) * (exercises - 1)
    tail = (1 - LEVEL) / 2
    return (
        1 - (1 - found) * f_quantile(1 - tail, n, m),
        1 - (1 - found) * f_quantile(tail, n, m),
    )


def f_quantile(probability: float, n: int, m: int) -> float:
    """Return a quantile of the F distribution with n and m degrees of freedom, by bisection.

    >>> round(f_quantile(0.95, 4, 20), 3)
    2.866
    """
    low, high = 0.0, 1.0  # of n F / (n F + m), which has a beta distribution
    for _ in range(50):
        middle = (low + high) / 2
        below = mpmath.betainc(n / 2, m / 2, 0, middle, regularized=True) < probability
        low, high = (middle, high) if below else (low, middle)
    return m * low / (n * (1 - low))


def item_rest(points: Array) -> list[float | None]:
    """Return the correlation of each exercise with the sum of the others (corrected item-total).

    None where either does not vary.

    >>> item_rest(np.array([[1, 2, 0], [2, 4, 0], [3, 6, 0]]))
    [1.0, 1.0, None]
    """
    rest = points.sum(axis=1, keepdims=True) - points
    return [_correlation(points[:, i], rest[:, i]) for i in range(points.shape[1])]


def _correlation(a: Array, b: Array) -> float | None:
    if len(a) < 3 or np.ptp(a) < 1e-9 or np.ptp(b) < 1e-9:
        return None
    return round(float(np.corrcoef(a, b)[0, 1]), 12)


def correlation_interval(found: float, students: int) -> Interval | None:
    """Return Fisher's interval of a correlation; None for fewer than four students.

    >>> [round(end, 2) for end in correlation_interval(0.5, 28)]
    [0.16, 0.74]
    """
    if students < 4:
        return None
    z = math.atanh(max(-0.999999, min(0.999999, found)))
    half = NormalDist().inv_cdf((1 + LEVEL) / 2) / math.sqrt(students - 3)
    return math.tanh(z - half), math.tanh(z + half)
