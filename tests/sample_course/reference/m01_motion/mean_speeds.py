"""Mean speeds from readings.

Source: Newton (1687), "Principia", definitions.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Exercise, agree

exercise = Exercise("mean_speeds", title="A drive", source="Newton (1687), definitions")


def uneven(rng):
    """Numbers that grow by steps of different sizes."""
    return np.cumsum(rng.uniform(0.5, 2.0, 5))


@exercise.reference
def mean_speeds(t: Float[ndarray, " n"], x: Float[ndarray, " n"]) -> Float[ndarray, " n-1"]:
    """Return the mean speed between each reading and the next."""
    return np.diff(x) / np.diff(t)


@exercise.alternative
def with_a_loop(t, x):
    """Go from reading to reading."""
    return np.array([(x[i + 1] - x[i]) / (t[i + 1] - t[i]) for i in range(len(x) - 1)])


@exercise.check(points=1, visible=True)
def of_a_steady_drive(call, rng):
    """A steady drive has the same speed all the way."""
    t = uneven(rng)
    agree(call(t, 3 * t + 7), np.full(4, 3.0))


@exercise.check(points=2)
def of_any_drive(call, rng):
    """Each speed is the way by the time that it took."""
    t, x = uneven(rng), uneven(rng)
    agree(call(t, x), mean_speeds(t, x))


@exercise.check(points=1)
def of_a_way_back(call, rng):
    """On a way back speeds are negative."""
    t, x = uneven(rng), -uneven(rng)
    agree(call(t, x), mean_speeds(t, x))


@exercise.misconception
def from_the_start(t, x):
    """You divided by the times themselves. A mean speed takes the time between two readings."""
    return x[1:] / t[1:]


@exercise.misconception
def never_backwards(t, x):
    """A way back has a negative speed."""
    return np.abs(np.diff(x)) / np.diff(t)
