"""What sines and cosines give, and what they don't.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.5.
"""

import numpy as np

from autograder.exercise import Choice, Count, Exercise, Ordering

exercise = Exercise(
    "pe_why",
    title="Why these functions?",
    source="Vaswani et al. (2017), section 3.5",
    minutes=35,
    hints=[
        "Suppose that two positions have the same row, and look at the first pair alone: what"
        " do equal sine *and* cosine say of the two angles?",
        "The angles of the first pair are whole numbers, and a full turn is 2π: you look for "
        "whole k close to a multiple of that.",
    ],
)


proof = Ordering(
    [
        "Suppose that two different positions $p$ and $p'$ have the same row.",
        "Then their first pairs are equal. The first frequency is 1, so $\\sin p = \\sin p'$ and "
        "$\\cos p = \\cos p'$.",
        "So the angles $p$ and $p'$ belong to one point of the unit circle: $p - p' = 2\\pi m$ "
        "with a whole number $m$.",
        "Here $m$ is not 0, since the positions are different.",
        "So one may divide: $\\pi = (p - p') / (2m)$, a fraction of whole numbers.",
        "But $\\pi$ is irrational, a contradiction: no two positions have the same row.",
    ],
    distractors={
        "sine_alone": (
            "The sine takes each of its values once, so $\\sin p = \\sin p'$ gives $p = p'$.",
            "The sine takes its values again and again: it needs the cosine to tell an angle.",
        ),
        "different_frequencies_suffice": (
            "All pairs have different frequencies, so they are never back at the same time.",
            "Pairs that turn once in 2, 4 and 8 positions differ, and are all back after 8.",
        ),
        "only_as_far_as_the_text": (
            "The slowest pair has a wavelength of over 10,000, and no text is that long.",
            "Asked are all positions, not those of a short text.",
        ),
    },
)


@exercise.variant
def draw(rng):
    """The steps of the proof by their letters."""
    return {"steps": proof.shuffled(rng)}


@exercise.part(points=3.5, answer=proof)
def order(steps):
    """No two positions have the same row: the proof in order."""
    return proof.order(steps)


@exercise.part(
    points=1.5,
    answer=Choice(
        [
            "There is an encoding for every position, however large.",
            "A shift by $k$ is one linear map, the same for all positions.",
            "A model that was trained on short texts works as well on long ones.",
            "No entry is ever larger than 1 in size.",
            "After finitely many positions the encodings start again.",
        ],
        multiple=True,
    ),
)
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
def turns_by_another_fraction():
    """333 comes close, since 333/106 is near π. There is a shift that comes closer still."""
    return 333


@nearest_return.misconception()
def seven_turns():
    """44 comes close, since 22/7 is near π. Which fraction is closer still?"""
    return 44
