"""A penalty for the distance is a reward for the position.

Source: Press, Smith & Lewis (2022), "Train short, test long", section 3.
"""

import numpy as np

from autograder.algebra import IndexedChain
from autograder.exercise import Choice, Derivation, Exercise, Numbers

exercise = Exercise(
    "alibi_shift",
    title="A rewriting",
    source="Press et al. (2022), section 3",
    minutes=30,
    hints=[
        "In a row of the weights i is fixed. Which part of −m (i − j) does not depend on the key?",
        "What is added to all scores of a row changes nothing: softmax can't see it.",
    ],
)


@exercise.variant
def draw(rng):
    """slope: of one head; steps: how far two keys are apart."""
    return {
        "slope": float(rng.choice([0.125, 0.2, 0.25, 0.4, 0.5])),
        "steps": int(rng.choice([3, 4, 5, 6, 8])),
    }


chain = IndexedChain(
    start="exp(s_j - m*(i - j))/sum(exp(s_k - m*(i - k)), k)",
    target="exp(s_j + m*j)/sum(exp(s_k + m*k), k)",
    indexed=("s",),
    names=("m",),
    indices=("i", "j", "k"),
    rules=("linearity of sums",),
)


@exercise.part(points=2, answer=Derivation(chain))
def steps_taken():
    """One weight, from the penalty for the distance to a reward for the position of the key."""
    return [
        "exp(s_j - m*(i - j))/sum(exp(s_k - m*(i - k)), k)",
        "exp(-m*i)*exp(s_j + m*j)/sum(exp(-m*i)*exp(s_k + m*k), k)",
        "exp(-m*i)*exp(s_j + m*j)/(exp(-m*i)*sum(exp(s_k + m*k), k))",
        "exp(s_j + m*j)/sum(exp(s_k + m*k), k)",
    ]


@steps_taken.alternative
def brackets_first():
    """Multiply the bracket out before the factor is split off."""
    return [
        "exp(s_j - m*(i - j))/sum(exp(s_k - m*(i - k)), k)",
        "exp(s_j - m*i + m*j)/sum(exp(s_k - m*i + m*k), k)",
        "exp(-m*i)*exp(s_j + m*j)/sum(exp(-m*i)*exp(s_k + m*k), k)",
        "exp(-m*i)*exp(s_j + m*j)/(exp(-m*i)*sum(exp(s_k + m*k), k))",
        "exp(s_j + m*j)/sum(exp(s_k + m*k), k)",
    ]


@steps_taken.alternative
def multiplied_above_and_below():
    """Multiply above and below by e^(m i), which no key depends on."""
    return [
        "exp(s_j - m*(i - j))/sum(exp(s_k - m*(i - k)), k)",
        "exp(m*i)*exp(s_j - m*(i - j))/(exp(m*i)*sum(exp(s_k - m*(i - k)), k))",
        "exp(m*i)*exp(s_j - m*(i - j))/sum(exp(m*i)*exp(s_k - m*(i - k)), k)",
        "exp(s_j + m*j)/sum(exp(s_k + m*k), k)",
    ]


@steps_taken.alternative
def divided_by_the_factor():
    """Write the factor as a divisor."""
    return [
        "exp(s_j - m*(i - j))/sum(exp(s_k - m*(i - k)), k)",
        "(exp(s_j + m*j)/exp(m*i))/sum(exp(s_k + m*k)/exp(m*i), k)",
        "(exp(s_j + m*j)/exp(m*i))/(sum(exp(s_k + m*k), k)/exp(m*i))",
        "exp(s_j + m*j)/sum(exp(s_k + m*k), k)",
    ]


@exercise.part(points=1.5, answer=Numbers())
def weight_ratio(slope, steps):
    """Equal scores: the weight of a key over that of one which is so many steps nearer."""
    return np.exp(-slope * steps)


@weight_ratio.misconception()
def ratio_upside_down(slope, steps):
    """Upside down: the farther key has the smaller weight."""
    return np.exp(slope * steps)


@weight_ratio.misconception()
def taken_off_the_weight(slope, steps):
    """You took the penalty off the weight. It is taken off the score, before the exponential."""
    return 1 - slope * steps


@weight_ratio.misconception()
def slope_taken_as_the_factor(slope, steps):
    """You multiplied by the slope at every step. It is subtracted from the score."""
    return slope**steps


@weight_ratio.misconception()
def one_step(slope):
    """That is the ratio of neighbours. Your keys are more steps apart."""
    return np.exp(-slope)


@weight_ratio.misconception()
def one_step_too_few(slope, steps):
    """That is one step too few: count the steps between the keys, not the keys in between."""
    return np.exp(-slope * (steps - 1))


@weight_ratio.misconception()
def one_step_too_many(slope, steps):
    """That is one step too many: count the steps between the keys, not the keys."""
    return np.exp(-slope * (steps + 1))


@weight_ratio.misconception()
def powers_of_two(slope, steps):
    """You took a power of 2. A softmax takes powers of e."""
    return 2 ** (-slope * steps)


@weight_ratio.misconception()
def linear_decay(slope, steps):
    """That is how much the score falls. What becomes of it in a softmax?"""
    return -slope * steps


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Yes, by the same proof: what the query adds is in every score, with a mask and "
            "without one.",
            "Yes, but only for queries in the middle of the text.",
            "No: with keys on both sides of the query the factor that cancels is not the same "
            "for all.",
        ]
    ),
)
def without_mask():
    """Does the rewriting hold for the penalty −m |i − j| without a mask?"""
    return "C"


without_mask.mistakes(
    holds_always=("A", "Write |i − j| without the bars for a key ahead: which sign has j then?"),
    holds_in_the_middle=(
        "B",
        "A query in the middle has keys on both sides, and the sign of j differs between them.",
    ),
)
