"""What sines and cosines give, and what they don't.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.5.
"""

import numpy as np

from autograder.exercise import Choice, Count, Exercise

exercise = Exercise(
    "pe_why", title="Why these functions?", source="Vaswani et al. (2017), section 3.5"
)


@exercise.part(points=2, answer=Choice("ABCDE", multiple=True))
def holds():
    """Which statements about sinusoidal encodings hold?"""
    return "ABD"


@holds.misconception()
def extrapolates():
    """One of yours is a claim about trained models. What is defined need not be learned."""
    return "ABCD"


@holds.misconception()
def repeats_itself():
    """Each pair turns round and round. But is there a whole number of turns for a whole shift?"""
    return "ABDE"


@exercise.part(points=1, answer=Count())
def nearest_return():
    """The shift k from 1 to 999 after which the first pair is nearest to where it was."""
    k = np.arange(1, 1000)
    return int(k[np.argmin(np.hypot(np.sin(k), np.cos(k) - 1))])


@nearest_return.misconception()
def one_turn():
    """After about 2π positions the pair has turned once. Of many turns one may come closer."""
    return 6


@nearest_return.misconception()
def approximation_of_pi():
    """355/113 is close to π, so 355 is close to 113π. Is that a whole number of turns?"""
    return 355


@nearest_return.misconception()
def seven_turns():
    """44 comes close, since 22/7 is near π. Which fraction is closer still?"""
    return 44
