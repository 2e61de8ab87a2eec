"""Free fall from a tower.

Source: Galilei (1638), "Two new sciences", third day.
"""

import numpy as np

from autograder.exercise import Choice, Essay, Exercise, Numbers

exercise = Exercise("fall", title="Free fall", source="Galilei (1638), third day")
g = 9.81


@exercise.variant
def draw(rng):
    """h: the height of the tower in metres."""
    return {"h": int(rng.integers(20, 100))}


@exercise.part(points=2, answer=Numbers())
def seconds(h):
    """The time √(2 h/g), in seconds."""
    return np.sqrt(2 * h / g)


@seconds.misconception(credit=0.5)
def half_forgotten(h):
    """This is √(h/g). While it falls it gets faster, so that the mean speed is half the last."""
    return np.sqrt(h / g)


@exercise.part(points=2, answer=Numbers())
def speed(seconds):
    """The speed g t, in m/s."""
    return g * seconds


@speed.misconception(credit=0.5)
def mean_speed(seconds):
    """This is the mean speed. The last one is twice as large."""
    return g * seconds / 2


@exercise.part(points=1, answer=Choice("ABC"))
def heavier():
    """Which of two masses is down first?"""
    return "B"


@heavier.misconception()
def weight_alone():
    """Its weight is twice as large, and so is the mass that it moves."""
    return "A"


@exercise.part(points=3, answer=Essay())
def why():
    """Why does the mass not count?

    (1) The weight grows with the mass.
    (2) So does the force that an acceleration takes, and the mass cancels.
    """
    return "In m a = m g the mass stands on both sides."
