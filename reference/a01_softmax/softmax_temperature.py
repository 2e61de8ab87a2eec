"""Softmax at a temperature: sharper when cold, even when hot.

Source: Hinton, Vinyals & Dean (2015), "Distilling the knowledge in a neural network", eq. 1.
"""

import numpy as np

from autograder.exercise import Choice, Exercise, Formula, Numbers

exercise = Exercise(
    "softmax_temperature",
    title="Cold, warm, hot",
    source="Hinton et al. (2015), eq. 1",
    minutes=30,
    hints=[
        "Divide all logits by τ first; the softmax itself stays what it is.",
        "Near τ = 0 only the distance to the largest logit matters. How many logits are the "
        "largest?",
        "For large τ all exponents are small: use e^x ≈ 1 + x above and below, and keep what "
        "has one factor 1/τ.",
    ],
)
softmax = exercise.carries("a01_softmax/softmax_stable", "softmax")


@exercise.variant
def draw(rng):
    """z: four whole numbers 0–5, one of them the largest; tau: 0.5, 3 and 5 in some order."""
    while True:
        z = rng.integers(0, 6, 4)
        if np.count_nonzero(z == z.max()) == 1:
            return {"z": z, "tau": rng.permutation([0.5, 3.0, 5.0])}


@exercise.part(points=3.5, answer=Numbers())
def p(z, tau):
    """softmax(z/τ), a row for each of your temperatures, shape (3, 4)."""
    return softmax(z / tau[:, None])


@p.misconception()
def multiplied_by_the_temperature(z, tau):
    """You multiplied by τ, so your hot rows are the sharp ones. Heat should level differences."""
    return softmax(z * tau[:, None])


@p.misconception()
def temperature_ignored(z, tau):
    """Your rows are all alike: τ has no effect in them. Every row has a temperature of its own."""
    return softmax(z + 0 * tau[:, None])


@p.misconception()
def divided_after_the_softmax(z, tau):
    """You divided the probabilities by τ: they no longer add up to 1. Divide the logits."""
    return softmax(z) / tau[:, None]


tied = np.array([1, 4, 4, 2])


@exercise.part(points=1, answer=Numbers())
def cold():
    """The limit of softmax((1, 4, 4, 2)/τ) for τ → 0⁺, four exact numbers."""
    return (tied == tied.max()) / np.count_nonzero(tied == tied.max())


cold.mistakes(
    one_winner_despite_the_tie=(
        np.array([0, 1, 0, 0]),
        "Two logits are equal at every temperature: how could one of the two get everything?",
    ),
    all_to_each_winner=(
        np.array([0, 1, 1, 0]),
        "Each of the two largest gets 1 in your answer. There is one unit to be shared.",
    ),
    limits_exchanged_cold=(
        np.full(4, 0.25),
        "That is the other end: large τ levels the logits. Small τ blows their differences up.",
    ),
)


@exercise.part(points=0.25, answer=Numbers())
def hot():
    """The limit of the same for τ → ∞, four exact numbers."""
    return np.full(4, 1 / len(tied))


hot.mistakes(
    limits_exchanged_hot=(
        np.array([0, 0.5, 0.5, 0]),
        "That is the other end: small τ leaves the largest alone. What is z/τ when τ is huge?",
    ),
    everything_vanishes=(
        np.zeros(4),
        "The logits go to 0, but their exponentials do not, and the sum stays 1.",
    ),
)


@hot.misconception()
def proportional_to_the_logits():
    """You divided the logits by their sum. All z/τ tend to the same number: which shares follow?"""
    return tied / tied.sum()


@exercise.part(
    points=2.75,
    answer=Formula(
        "z_i zbar n tau",
        {"tau": "positive", "n": "positive integer"},
        practice=("log Σ exp(z_k/τ) for large τ, up to the term in 1/τ.", "log(n) + zbar/tau"),
    ),
)
def first_order():
    """softmax(z/τ)_i for large τ, up to the term in 1/τ."""
    return "1/n + (z_i - zbar)/(n*tau)"


@first_order.alternative
def over_one_denominator():
    """Put everything over n τ."""
    return "(tau + z_i - zbar)/(n*tau)"


first_order.mistakes(
    denominator_not_expanded=(
        "1/n + z_i/(n*tau)",
        "You kept the denominator at n. It grows with the logits too: do your terms add up to 1?",
    ),
    share_not_divided=(
        "1/n + (z_i - zbar)/tau",
        "The correction lacks a factor: for n equal shares, each is 1/n of the whole.",
    ),
    correction_grows_with_heat=(
        "1/n + (z_i - zbar)*tau/n",
        "Your correction grows with τ. At high temperature the shares should become even.",
    ),
    correction_reversed=(
        "1/n - (z_i - zbar)/(n*tau)",
        "The sign: does a logit above the mean get more than an even share, or less?",
    ),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Greedy decoding takes the most probable next word; a lower temperature makes "
            "another word come out.",
            "Weight decay makes all parameters a little smaller after each step.",
            "Distillation: a small network learns to reproduce a large one's probabilities, at "
            "$\\tau > 1$, so that the small ones among them count.",
            "A chat program lets its users choose how adventurous the sampled answers are.",
        ]
    ),
)
def application():
    """Which of these uses the temperature as a device of training?"""
    return "C"


application.mistakes(
    changes_no_maximum=(
        "A",
        "Dividing all logits by τ > 0 keeps their order, so the largest stays the largest.",
    ),
    not_a_temperature=(
        "B",
        "Nothing is divided inside a softmax there: no temperature is involved.",
    ),
    after_training=(
        "D",
        "This is done with a finished model. The question is about how one is trained.",
    ),
)
