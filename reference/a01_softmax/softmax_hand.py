"""Softmax by hand: five logits, one shift, one sum.

Source: Goodfellow, Bengio & Courville (2016), "Deep Learning", section 6.2.2.3.
"""

import numpy as np

from autograder.exercise import Exercise, Numbers

exercise = Exercise(
    "softmax_hand",
    title="Five logits by hand",
    source="Goodfellow et al. (2016), 6.2.2.3",
    minutes=15,
    hints=[
        "Find the largest logit first and subtract it from all five: no exponent is above 0 then.",
        "Add the five exponentials up, and divide each of them by that one sum. A look at the"
        " total tells whether you slipped.",
    ],
)


@exercise.variant
def draw(rng):
    """z: five whole numbers from −1 to 4, three of them different; no p_i needs a fifth decimal."""
    while True:
        z = rng.integers(-1, 5, 5)
        if np.ptp(z) >= 2 and len(set(z)) >= 3 and z.sum() and normalised(np.exp(z)).min() > 0.005:
            return {"z": z}


def normalised(weights):
    """Divide by the sum."""
    return weights / weights.sum()


def tells_logits_apart(e):
    """A wrong answer is worth carrying on if it is positive and not the same everywhere."""
    return np.all(e > 0) and np.ptp(e) > 0.01


@exercise.part(points=2, answer=Numbers(), carry_if=tells_logits_apart)
def e(z):
    """The exponentials after the largest logit was subtracted, five numbers."""
    return np.exp(z - z.max())


@e.misconception()
def without_the_shift(z):
    """You took the exponentials as they are. Subtract the largest logit first: none exceeds 1."""
    return np.exp(z)


@e.misconception()
def shifted_the_other_way(z):
    """You subtracted the logits from the largest one: now the largest logit weighs least."""
    return np.exp(z.max() - z)


@e.misconception()
def shifted_powers_of_two(z):
    """These are powers of 2. The softmax of this course is made of powers of e."""
    return 2.0 ** (z - z.max())


@e.misconception()
def shift_alone(z):
    """This is the shift. The exponentials are still to be taken."""
    return z - z.max()


@exercise.part(points=2, answer=Numbers())
def p(e):
    """The probabilities softmax(z), five positive numbers that add up to 1."""
    return normalised(e)


@p.misconception()
def logits_over_their_sum(z):
    """You divided the logits by their sum. A logit can be 0 or negative; its exponential can't."""
    return normalised(z)


@p.misconception()
def powers_of_two(z):
    """You took powers of 2 in place of powers of e: the ratios come out too small."""
    return normalised(2.0**z)


@p.misconception()
def one_sigmoid_each(z):
    """You put each logit into a sigmoid by itself. In a softmax they compete for one unit."""
    return 1 / (1 + np.exp(-z))


@p.misconception()
def equal_logits_counted_once(e):
    """You counted equal logits once in the sum. Each of the five takes its part of it."""
    return e / np.unique(e).sum()


@p.misconception()
def sum_left_out(e):
    """These are exponentials, not yet probabilities: do they add up to 1?"""
    return e


@p.misconception()
def over_the_largest(z, e):
    """You divided by the largest exponential once more. Divide by all of them together."""
    return e / np.exp(z.max())
