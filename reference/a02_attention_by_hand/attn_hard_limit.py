"""From soft to hard: the leading weight and the gradient as the temperature falls.

Source: Hinton, Vinyals & Dean (2015), "Distilling the knowledge in a neural network", eq. 1.
"""

import numpy as np

from autograder.exercise import Choice, Exercise, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "attn_hard_limit",
    title="From soft to hard",
    source="Hinton et al. (2015), eq. 1",
    minutes=30,
    hints=[
        "Divide by the largest exponential: the weight depends on the gaps to the best score,"
        " divided by τ.",
        "The derivative with respect to s is the softmax Jacobian at s/τ times the inner "
        "derivative. The Frobenius norm squares all entries, adds them up and takes the root.",
        "If two keys tie, no temperature can tell them apart. What is left to share between them?",
    ],
)

s = np.array([2, 1, 0])
temperatures = 2, 1, 0.5, 0.1


def jacobian(z):
    """Return the derivatives of softmax, diag(p) − p pᵀ."""
    p = softmax(z)
    return np.diag(p) - np.outer(p, p)


@exercise.part(points=1.5, answer=Numbers())
def p():
    """The leading weight of softmax(s/τ) at the four temperatures, shape (4,)."""
    return np.array([softmax(s / t)[0] for t in temperatures])


@p.misconception()
def multiplied_by_temperature():
    """You multiplied by τ. The scores are divided by it, so a low temperature sharpens."""
    return np.array([softmax(s * t)[0] for t in temperatures])


@p.misconception()
def last_weight():
    """You gave the smallest weight. The leading one belongs to the largest score."""
    return np.array([softmax(s / t)[-1] for t in temperatures])


@p.misconception()
def temperature_left_out():
    """You wrote the same weight four times. Divide the scores by each temperature."""
    return np.full(4, softmax(s)[0])


@exercise.part(points=2.25, answer=Numbers())
def g():
    """The Frobenius norm of the derivative of softmax(s/τ) with respect to s, shape (4,)."""
    return np.array([np.linalg.norm(jacobian(s / t)) / t for t in temperatures])


@g.misconception()
def multiplied_there_too():
    """You multiplied by τ. The scores are divided by it, so a low temperature sharpens."""
    return np.array([np.linalg.norm(jacobian(s * t)) * t for t in temperatures])


@g.misconception()
def multiplied_by_temperature_inside():
    """You multiplied by τ. The scores are divided by it, so a low temperature sharpens."""
    return np.array([np.linalg.norm(jacobian(s * t)) / t for t in temperatures])


@g.misconception()
def inner_derivative_left_out():
    """You differentiated with respect to s/τ. The chain rule adds the derivative of s/τ itself."""
    return np.array([np.linalg.norm(jacobian(s / t)) for t in temperatures])


@g.misconception()
def inner_derivative_inverted():
    """You multiplied by τ. What is the derivative of s/τ with respect to s?"""
    return np.array([np.linalg.norm(jacobian(s / t)) * t for t in temperatures])


@g.misconception()
def diagonal_only():
    """You left out the entries off the diagonal: a score also changes the other weights."""
    return np.array([np.linalg.norm(np.diag(jacobian(s / t))) / t for t in temperatures])


@g.misconception()
def not_squared():
    """You added up absolute values. The Frobenius norm is the root of the sum of squares."""
    return np.array([np.abs(jacobian(s / t)).sum() / t for t in temperatures])


@g.misconception()
def root_not_taken():
    """This is the sum of squares. The Frobenius norm is its root."""
    return np.array([(np.linalg.norm(jacobian(s / t)) / t) ** 2 for t in temperatures])


@g.misconception()
def spectral_norm():
    """This is the spectral norm, the largest singular value. Frobenius counts every entry."""
    return np.array([np.linalg.norm(jacobian(s / t), 2) / t for t in temperatures])


@exercise.part(
    points=0.25,
    answer=Choice(
        [
            "To the value of the first of the two.",
            "To the mean of all values.",
            "Nowhere: it jumps between the two.",
            "To the mean of the two values.",
        ]
    ),
)
def tie():
    """The limit of the output for τ → 0 when the two best keys tie."""
    return "D"


tie.mistakes(
    first_of_the_tied=(
        "A",
        "That is what `argmax` does. The weights of equal scores are equal at every temperature.",
    ),
    mean_of_all=(
        "B",
        "That is the other end: a high temperature. Here the key that is behind loses its weight.",
    ),
    no_limit=(
        "C",
        "Follow the weights: those of equal scores are equal at every τ, so nothing jumps.",
    ),
)
