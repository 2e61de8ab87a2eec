"""How the entropy of softmax falls with the inverse temperature.

Source: Cover & Thomas (2006), "Elements of Information Theory", chapter 12.
"""

import numpy as np

from autograder.algebra import Fact, IndexedChain
from autograder.exercise import Derivation, Exercise, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "entropy_slope",
    title="Sharper means less entropy",
    source="Cover & Thomas (2006), chapter 12",
    minutes=35,
    hints=[
        "Put the logarithm of p_i in before anything else: the sum falls into two, and each of "
        "them has a name or a value.",
        "m depends on b as well, so the product b m gives two terms. Look for what cancels before "
        "you write m as a sum.",
        "For the slopes compute the weights at each β first: both factors of your last line "
        "depend on β.",
    ],
)

scores = np.array([0.0, 1, 3])
NAMES = {
    "names": ("b", "Z", "m"),
    "indexed": ("p", "s"),
    "indices": ("i", "j", "k", "l"),  # m is a name here
    "positive": ("p", "b", "Z"),
    "definitions": {
        "p_i": "exp(b*s_i)/Z",
        "Z": "sum(exp(b*s_k), k)",
        "m": "sum(p_k*s_k, k)",
    },
}


entropy_chain = IndexedChain(
    start="-sum(p_i*log(p_i), i)",
    target="log(Z) - b*m",
    rules=(
        "definition",
        "linearity of sums",
        Fact("weights sum to one", "sum(p_k, k)", "1"),
    ),
    **NAMES,
)


OTHER_ENTROPY_STEPS = (
    "sum(p_i*(log(p_i) + log(Z)), i)",
    "sum(p_i*b*s_i, i)",
    "b*sum(p_i*s_i, i)",
    "b*m",
)


@exercise.part(points=1, answer=Derivation(entropy_chain, practice=OTHER_ENTROPY_STEPS))
def entropy_steps():
    """The entropy of p_i = e^(b s_i)/Z, led to log Z − b m."""
    return [
        "-sum(p_i*(b*s_i - log(Z)), i)  # definition",
        "log(Z)*sum(p_i, i) - b*sum(p_i*s_i, i)  # linearity of sums",
        "log(Z) - b*sum(p_i*s_i, i)  # weights sum to one",
        "log(Z) - b*m  # definition",
    ]


@entropy_steps.alternative
def mean_first():
    """Write m before the weights are added up."""
    return [
        "-sum(p_i*(b*s_i - log(Z)), i)",
        "log(Z)*sum(p_i, i) - b*sum(p_i*s_i, i)",
        "log(Z)*sum(p_i, i) - b*m",
        "log(Z) - b*m",
    ]


@entropy_steps.alternative
def sums_apart():
    """Split the sum before anything is taken out of it."""
    return [
        "sum(p_j*(log(Z) - b*s_j), j)",
        "sum(p_j*log(Z), j) - sum(b*p_j*s_j, j)",
        "log(Z)*sum(p_j, j) - b*sum(p_j*s_j, j)",
        "log(Z) - b*sum(p_j*s_j, j)",
        "log(Z) - b*m",
    ]


@entropy_steps.alternative
def in_latex():
    """Write sums with their signs."""
    return [
        r"-\sum_i p_i (b s_i - \log Z)",
        r"\log(Z) \sum_i p_i - b \sum_i p_i s_i",
        r"\log(Z) - b \sum_i p_i s_i",
        r"\log(Z) - b m",
    ]


slope_chain = IndexedChain(
    start="D(log(Z) - b*m, b)",
    target="-b*(sum(p_i*s_i^2, i) - m^2)",
    rules=(
        "differentiate",
        "definition",
        "linearity of sums",
        Fact("slope of log Z", "D(log(Z), b)", "m"),
        Fact("slope of a weight", "D(p_i, b)", "p_i*(s_i - m)"),
    ),
    **NAMES,
)


OTHER_SLOPE_STEPS = (
    "D(Z*m, b)",
    "D(sum(exp(b*s_i)*s_i, i), b)",
    "sum(exp(b*s_i)*s_i^2, i)",
    "Z*sum(p_i*s_i^2, i)",
)


@exercise.part(points=2, answer=Derivation(slope_chain, practice=OTHER_SLOPE_STEPS))
def slope_steps():
    """dH/db of H = log Z − b m, led to −b times a variance."""
    return [
        "D(log(Z), b) - m - b*D(m, b)  # differentiate",
        "-b*D(m, b)  # slope of log Z",
        "-b*D(sum(p_i*s_i, i), b)  # definition",
        "-b*sum(s_i*D(p_i, b), i)  # differentiate",
        "-b*sum(s_i*p_i*(s_i - m), i)  # slope of a weight",
        "-b*(sum(p_i*s_i^2, i) - m*sum(p_i*s_i, i))  # linearity of sums",
        "-b*(sum(p_i*s_i^2, i) - m^2)  # definition",
    ]


@slope_steps.alternative
def log_z_by_hand():
    """Differentiate log Z yourself."""
    return [
        "D(Z, b)/Z - m - b*D(m, b)",
        "D(sum(exp(b*s_k), k), b)/Z - m - b*D(m, b)",
        "sum(s_k*exp(b*s_k), k)/Z - m - b*D(m, b)",
        "sum(s_k*exp(b*s_k)/Z, k) - m - b*D(m, b)",
        "-b*D(m, b)  # definition",
        "-b*D(sum(p_i*s_i, i), b)",
        "-b*sum(s_i*D(p_i, b), i)",
        "-b*sum(s_i*p_i*(s_i - m), i)",
        "-b*(sum(p_i*s_i^2, i) - m*sum(p_i*s_i, i))",
        "-b*(sum(p_i*s_i^2, i) - m^2)",
    ]


@slope_steps.alternative
def mean_written_out_first():
    """Write m as a sum where it is differentiated, before log Z."""
    return [
        "D(log(Z), b) - m - b*D(m, b)",
        "D(log(Z), b) - m - b*D(sum(p_k*s_k, k), b)",
        "D(log(Z), b) - m - b*sum(s_k*D(p_k, b), k)",
        "D(log(Z), b) - m - b*sum(s_k*p_k*(s_k - m), k)",
        "-b*sum(s_k*p_k*(s_k - m), k)",
        "-b*sum(p_k*s_k^2, k) + b*m*sum(p_k*s_k, k)",
        "-b*(sum(p_k*s_k^2, k) - m^2)",
    ]


@slope_steps.alternative
def one_derivative_after_the_other():
    """The difference first, then the product."""
    return [
        "D(log(Z), b) - D(b*m, b)",
        "m - D(b*m, b)",
        "m - m - b*D(m, b)",
        "-b*D(sum(p_i*s_i, i), b)",
        "-b*sum(s_i*D(p_i, b), i)",
        "-b*sum(s_i*p_i*(s_i - m), i)",
        "b*m*sum(p_i*s_i, i) - b*sum(p_i*s_i^2, i)",
        "b*m^2 - b*sum(p_i*s_i^2, i)",
    ]


def entropies(betas):
    """Return the entropy of softmax(β s) for each β."""
    p = softmax(np.outer(betas, scores))
    return -(p * np.log(p)).sum(axis=-1)


def variance(beta):
    """Return the variance of the scores under softmax(β s)."""
    p = softmax(beta * scores)
    return p @ scores**2 - (p @ scores) ** 2


@exercise.part(points=1, answer=Numbers())
def entropy_at():
    """The entropy of softmax(β s) at β = 0, ½, 1 and 2."""
    return entropies([0, 0.5, 1, 2])


@entropy_at.misconception()
def divided_by_beta():
    """You divided by β. It multiplies the scores: at β = 0 all of them are equal."""
    return np.r_[0, entropies([2, 1, 0.5])]


@entropy_at.misconception()
def a_temperature_beyond_zero():
    """You divided by β wherever you could. It multiplies the scores: the rows get sharper."""
    return entropies([0, 2, 1, 0.5])


@entropy_at.misconception(credit=0.3)
def entropy_in_bits():
    """These are bits. Nats come from the natural logarithm."""
    return entropies([0, 0.5, 1, 2]) / np.log(2)


@entropy_at.misconception()
def zero_entropy_at_zero():
    """At β = 0 the weights don't vanish: they are equal."""
    return entropies([0, 0.5, 1, 2]) * [0, 1, 1, 1]


@exercise.part(points=1, answer=Numbers())
def slope_at():
    """The slope of the entropy at β = 1 and 2."""
    return np.array([-variance(1), -2 * variance(2)])


@slope_at.misconception()
def beta_forgotten():
    """You left out a factor that is 1 at the first of the two points."""
    return np.array([-variance(1), -variance(2)])


@slope_at.misconception()
def sign_forgotten():
    """The entropy falls as β grows."""
    return np.array([variance(1), 2 * variance(2)])


@slope_at.misconception()
def evenly_weighted():
    """You took the variance of the scores with equal weights. Which weights belong to this β?"""
    return -np.var(scores) * np.array([1, 2])


@slope_at.misconception()
def deviation_for_variance():
    """You took the standard deviation. The bracket is the variance, without a root."""
    return -np.sqrt([variance(1), 4 * variance(2)])


@slope_at.misconception()
def mean_not_squared():
    """You subtracted the mean as it is. In a variance it is squared."""
    weights = (softmax(beta * scores) for beta in (1, 2))
    return -np.array([1, 2]) * [p @ scores**2 - p @ scores for p in weights]


@slope_at.misconception()
def mean_square():
    """The square of the mean is missing: a variance is not the mean of the squares."""
    return -np.array([beta * softmax(beta * scores) @ scores**2 for beta in (1, 2)])
