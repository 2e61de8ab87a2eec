"""Two pictures of the temperature: what happens to a distribution, and to a duel.

Source: Hinton, Vinyals & Dean (2015), "Distilling the knowledge in a neural network", eq. 1.
"""

import numpy as np

from autograder.exercise import Essay, Exercise, Figure

exercise = Exercise(
    "temperature_figure",
    title="Plot the two temperature pictures",
    source="Hinton et al. (2015), eq. 1",
    minutes=15,
    hints=[
        "Compute one row of probabilities for each τ, in a loop or with broadcasting, and "
        "keep it in the dictionary under τ.",
        "For the curves, let x be an array of points and build the logits for all of them at "
        "once, one row to a point.",
    ],
)
softmax = exercise.carries("a01_softmax/softmax_stable", "softmax")

temperatures = (1, 2, 4)
logits = np.array([1, 2, 3, 4])
rival = np.linspace(-2, 2, 201)


def against_rival(difference):
    """The probability of a logit that is so much larger than its only rival."""
    return 1 / (1 + np.exp(-difference))


@exercise.part(points=0.5, answer=Figure())
def bars():
    """softmax((1, 2, 3, 4)/τ) for τ = 1, 2 and 4: {τ: four numbers}."""
    return {tau: softmax(logits / tau) for tau in temperatures}


@bars.alternative
def bars_by_ratios():
    """Every step of 1 between logits is a factor e^{1/τ}."""
    powers = {tau: np.exp(np.arange(4) / tau) for tau in temperatures}
    return {tau: row / sum(row) for tau, row in powers.items()}


@bars.misconception()
def bars_multiplied():
    """You multiplied by τ: your bars become more uneven as it gets hotter."""
    return {tau: softmax(logits * tau) for tau in temperatures}


@bars.misconception()
def bars_reversed():
    """Your bars stand in reversed order: the largest logit is the last one."""
    return {tau: softmax(logits / tau)[::-1] for tau in temperatures}


@bars.misconception()
def bars_not_normalised():
    """These are exponentials. Divide each row by its sum."""
    return {tau: np.exp(logits / tau) for tau in temperatures}


@exercise.part(points=1.5, answer=Figure())
def curve():
    """The probability of logit 3 beside x, for x from −2 to 2 and τ = 1, 2 and 4: {τ: (x, y)}."""
    return {tau: (rival, against_rival((3 - rival) / tau)) for tau in temperatures}


@curve.alternative
def curve_on_a_coarser_grid():
    """Forty-one points of a softmax of two logits."""
    x = np.linspace(-2, 2, 41)
    rows = {tau: np.exp([3 / tau + 0 * x, x / tau]) for tau in temperatures}
    return {tau: (x, two[0] / two.sum(axis=0)) for tau, two in rows.items()}


@curve.misconception()
def probability_of_the_rival():
    """Your curves rise: they show the rival. Its growth should lower the other probability."""
    return {tau: (rival, against_rival((rival - 3) / tau)) for tau in temperatures}


@curve.misconception()
def curve_multiplied():
    """You multiplied by τ. The hotter, the closer a curve should be to 1/2."""
    return {tau: (rival, against_rival((3 - rival) * tau)) for tau in temperatures}


@curve.misconception()
def only_the_rival_is_divided():
    """You divided one of the two logits by τ. The temperature belongs to both."""
    return {tau: (rival, against_rival(3 - rival / tau)) for tau in temperatures}


@exercise.part(points=1, answer=Essay())
def picture():
    """The two pictures, for a marker to look at.

    (1) Both axes of both pictures have labels.
    (2) A legend with three entries says which curve and which bars belong to which τ.
    (3) The three can be told apart without colour: by line style, marker or hatching.
    """
    return (
        "Left: bars for the indices 0 to 3, three beside each other, hatched differently, with the "
        "axes labelled index and probability. Right: three falling curves, solid, dashed and "
        "dotted, over the rival logit. Each has a legend with the three temperatures."
    )
