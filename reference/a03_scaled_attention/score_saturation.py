"""How fast a softmax of unscaled scores saturates.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.1.
"""

from functools import cache

import numpy as np

from autograder.exercise import Choice, Exercise, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "score_saturation",
    title="How fast does an unscaled softmax saturate?",
    source="Vaswani et al. (2017), section 3.2.1",
    minutes=35,
    hints=[
        "Draw queries and keys, form all scores, and take the softmax twice: once as they are"
        " and once scaled.",
        "The trace needs the probabilities alone: add p (1 − p) along a row, then average "
        "over the rows.",
        "Judge the claims by your numbers: does something happen at one width, or little by "
        "little at all of them?",
    ],
)

widths = (4, 16, 64, 256, 1024)
BAND = 0.03  # a mean over 2,000 repetitions has a standard error below 0.007


@cache
def measured(*powers):
    """Return the mean largest weight and the mean trace of the Jacobian, each (powers, widths).

    For a fixed q the scores of random keys are independent normals with the deviation ‖q‖, and
    ‖q‖² follows a χ² distribution. Scores are divided by the width to each of the powers.
    """
    rng = np.random.default_rng(0)
    largest, trace = np.empty((2, len(powers), len(widths)))
    for column, d in enumerate(widths):
        scores = np.sqrt(rng.chisquare(d, (20_000, 1))) * rng.standard_normal((20_000, 32))
        for row, power in enumerate(powers):
            p = softmax(scores / d**power)
            largest[row, column] = p.max(axis=1).mean()
            trace[row, column] = (1 - (p**2).sum(axis=1)).mean()
    return largest, trace


@exercise.part(points=3.5, answer=Numbers(tolerance=BAND))
def max_w():
    """The mean largest weight, unscaled and scaled, for the five widths, shape (2, 5)."""
    return measured(0, 0.5)[0]


@max_w.misconception()
def scaled_above():
    """The rows are exchanged: the unscaled scores come first."""
    return measured(0.5, 0)[0]


@max_w.misconception()
def never_scaled():
    """Both rows are those of unscaled scores."""
    return measured(0, 0)[0]


@exercise.part(points=2.5, answer=Numbers(tolerance=BAND))
def trace():
    """The mean trace Σ p_i (1 − p_i) of the Jacobian, in the same order, shape (2, 5)."""
    return measured(0, 0.5)[1]


@trace.alternative
def of_the_same_scores(max_w):
    """Of scores that were divided by the width itself, if that is what the weights show."""
    power = min((0.5, 1), key=lambda power: np.abs(measured(0, power)[0] - max_w).max())
    return measured(0, power)[1]


@trace.misconception()
def sum_of_squares():
    """That is Σ p_i². What is missing to 1 is the trace."""
    return 1 - measured(0, 0.5)[1]


@trace.misconception()
def mean_of_the_diagonal():
    """You averaged over the keys. A trace adds the diagonal up."""
    return measured(0, 0.5)[1] / 32


@trace.misconception()
def trace_scaled_above():
    """The rows are exchanged: the unscaled scores come first."""
    return measured(0.5, 0)[1]


@trace.misconception()
def trace_never_scaled():
    """Both rows are those of unscaled scores."""
    return measured(0, 0)[1]


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "It holds: up to 64 all is well, from there on nothing gets through.",
            "It is wrong: unscaled scores do no harm at any width.",
            "There is no threshold: the decline is gradual, and clear at $d = 16$ already.",
            "It holds for scaled scores, too.",
        ]
    ),
)
def threshold():
    """What becomes of the claim that gradients vanish beyond d_k = 64?"""
    return "C"


threshold.mistakes(
    holds_exactly=(
        "A",
        "Look at your traces from one width to the next. Does anything happen at 64?",
    ),
    never_vanish=("B", "Your unscaled traces fall towards 0."),
    also_scaled=("D", "Your scaled row hardly moves."),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "It has been proved to be the best one for learning.",
            "It gives scores variance 1 under assumptions that hold at the start; which "
            "temperature works best depends on the task.",
            "Any temperature serves as well.",
            "It keeps the variance of the scores at 1 all through training.",
        ]
    ),
)
def best_scale():
    """What is known about the temperature √d_k?"""
    return "B"


best_scale.mistakes(
    proved_to_be_best=(
        "A",
        "No theorem says so. What is proved concerns a variance, under assumptions.",
    ),
    any_will_do=("C", "Compare your two rows: at the start of training it makes a difference."),
    keeps_its_promise_later=(
        "D",
        "Training changes queries and keys, which are then neither independent nor normal.",
    ),
)
