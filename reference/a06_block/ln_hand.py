"""Layer norm with pencil and paper.

Source: Ba, Kiros & Hinton (2016), "Layer normalization", section 3.
"""

import numpy as np

from autograder.exercise import Exercise, Numbers

exercise = Exercise(
    "ln_hand",
    title="Layer norm with round numbers",
    source="Ba et al. (2016), section 3",
    minutes=20,
    hints=[
        "The variance is the mean of the *squared* deviations from the mean: divide by how "
        "many there are.",
        "Divide the deviations by the root of the variance; a check: the result has mean 0 "
        "and mean square 1.",
        "Scale and shift come last, entry by entry.",
    ],
)

# deviations ±a and ±b whose mean square is s²: a² + b² = 2s²
ROUND = ((7, 1), (17, 7), (23, 7), (14, 2), (21, 3), (31, 17))


@exercise.variant
def draw(rng):
    """x: (4,) with round mean and deviation; gamma, beta: (4,), scale and shift."""
    a, b = ROUND[rng.integers(len(ROUND))]
    while True:
        centre = int(rng.integers(-5, 11))
        gamma, beta = rng.permutation([2, 1, 1, 2]), rng.permutation([0, 1, 0, -1])
        if abs(centre) > 1 and np.any(gamma * beta != beta):
            return {"x": rng.permutation([-a, -b, b, a]) + centre, "gamma": gamma, "beta": beta}


def positive(variance):
    """Only a positive variance can be carried on."""
    return variance > 0


@exercise.part(points=0.5, answer=Numbers())
def mean(x):
    """The mean of your four numbers."""
    return x.mean()


@mean.misconception()
def sum_of_all(x):
    """That is the sum. Divide it by how many numbers there are."""
    return x.sum()


@mean.misconception()
def middle(x):
    """That is halfway between the smallest and the second smallest. All four numbers count."""
    return np.sort(x)[:2].mean()


@mean.misconception()
def signs_lost(x):
    """You added up sizes. A negative number makes the sum smaller."""
    return np.abs(x).mean()


@exercise.part(points=0.5, answer=Numbers(), carry_if=positive)
def var(x, mean):
    """Their variance, the mean of the squared deviations."""
    return ((x - mean) ** 2).mean()


@var.misconception()
def over_one_less(x):
    """You divided by d − 1. Layer norm divides by d: it describes these numbers, not a sample."""
    return x.var(ddof=1)


@var.misconception()
def deviation_instead(x):
    """That is the standard deviation. The variance is its square."""
    return x.std()


@var.misconception()
def squares_without_the_mean(x):
    """That is the mean of the squares. Subtract the mean from the numbers first."""
    return (x**2).mean()


@var.misconception()
def squares_summed(x):
    """You added up the squared deviations. Divide by how many there are."""
    return len(x) * x.var()


@exercise.part(points=2, answer=Numbers())
def xhat(x, mean, var):
    """The normalised vector, before scale and shift."""
    return (x - mean) / np.sqrt(var)


@xhat.misconception()
def normalised_over_one_less(x):
    """You divided by the root of a variance over d − 1. Here it is over d."""
    return (x - x.mean()) / x.std(ddof=1)


@xhat.misconception(credit=0.5)
def divided_by_the_variance(x, mean, var):
    """You divided by the variance. Its root has the same unit as x."""
    return (x - mean) / var


@xhat.misconception()
def mean_not_removed(x, var):
    """The mean is still in there: the entries of a normalised vector add up to 0."""
    return x / np.sqrt(var)


@xhat.misconception()
def root_mean_square(x):
    """You divided by the root mean square. That is another norm; here the mean goes first."""
    return x / np.sqrt((x**2).mean())


@xhat.misconception()
def deviations_alone(x, mean):
    """These are the deviations. Now bring them to variance 1."""
    return x - mean


@exercise.part(points=1, answer=Numbers())
def y(xhat, gamma, beta):
    """The output, after scale and shift."""
    return gamma * xhat + beta


@y.misconception(credit=0.5)
def shift_before_scale(xhat, gamma, beta):
    """You shifted first and scaled the shift, too. Scale, then shift."""
    return gamma * (xhat + beta)


@y.misconception(credit=0.5)
def no_shift(xhat, gamma):
    """The shift is missing: add β after the scaling."""
    return gamma * xhat


@y.misconception(credit=0.5)
def no_scale(xhat, beta):
    """The scale is missing: each entry is multiplied by its own γ."""
    return xhat + beta


@y.misconception()
def not_normalised(x, gamma, beta):
    """You scaled and shifted x itself. It is the normalised vector that is scaled and shifted."""
    return gamma * x + beta


@y.misconception()
def roles_exchanged(xhat, gamma, beta):
    """You scaled by β and shifted by γ. It is the other way round."""
    return beta * xhat + gamma
