"""When a low rank is enough: singular values of the wanted update.

Source: Eckart & Young (1936), "The approximation of one matrix by another of lower rank".
"""

import numpy as np

from autograder.exercise import Count, Exercise, Numbers, Ordering

exercise = Exercise(
    "lora_best_rank",
    title="When is low rank enough?",
    source="Eckart & Young (1936)",
    minutes=40,
    hints=[
        "List the squares of the singular values and their running sums, from both ends: errors "
        "and energies can be read off there.",
        "The proof bounds the error of any X from below, and then shows who reaches the bound. "
        "What has to be introduced before it can be used?",
        "The identity has equal singular values: which share of the squares is left out?",
    ],
)

SIGMA = np.array([5, 3, 1, 0.5])

proof = Ordering(
    [
        "Let $X$ be any matrix of rank $r$ at most, and $P$ the orthogonal projection onto the "
        "space of its columns.",
        (
            [
                "Since $PX = X$, the difference $M - X$ is the sum of $(I - P)M$ and $PM - X$, "
                "which are orthogonal to each other.",
                r"So $\|M - X\|^2 \ge \|(I - P)M\|^2 = \|M\|^2 - \|PM\|^2$.",
            ],
            [
                "With the left singular vectors $u_i$ of $M$ and $c_i = \\|P u_i\\|^2$ one has "
                r"$\|PM\|^2 = \sum_i \sigma_i^2 c_i$.",
                "A projection lengthens no vector, so $0 \\le c_i \\le 1$; and the sum of all "
                "$c_i$ is the trace of $P$, which is $r$ at most.",
                "Under these conditions the sum is largest if the $r$ largest $\\sigma_i^2$ count "
                "fully and the others not at all.",
            ],
        ),
        r"Together: $\|M - X\|^2 \ge \sum_{i > r} \sigma_i^2$, whatever $X$ is.",
        "The singular value decomposition, cut off after $r$ terms, has exactly this error; and "
        "it is 0 if and only if the rank of $M$ is $r$ at most.",
    ],
    distractors={
        "columns_are_singular_vectors": (
            "Since $X$ has rank $r$, its columns are multiples of the first $r$ left singular "
            "vectors of $M$.",
            "X is any matrix of that rank: that these are the best columns has to come out.",
        ),
        "norms_subtracted": (
            r"So $\|M - X\| = \|M\| - \|X\|$.",
            "A norm of a difference is no difference of norms.",
        ),
        "errors_added": (
            r"What is left out adds up to $\|M - X\| = \sigma_{r+1} + \dots + \sigma_n$.",
            "The terms that are left out are orthogonal: squares are added, not lengths.",
        ),
    },
)


@exercise.variant
def draw(rng):
    """The steps of the proof by their letters."""
    return {"proof_steps": proof.shuffled(rng)}


@exercise.part(points=2, answer=Numbers())
def errors():
    """The least error for r = 0 … 4."""
    return np.sqrt([(SIGMA[r:] ** 2).sum() for r in range(5)])


@errors.misconception()
def singular_values_added():
    """You added the singular values up. Their squares are added, and then comes the root."""
    return np.array([SIGMA[r:].sum() for r in range(5)])


@errors.misconception(credit=0.5)
def one_rank_ahead():
    """You begin with rank 1. With r = 0 nothing is kept: how large is the error then?"""
    return np.sqrt([(SIGMA[r:] ** 2).sum() for r in range(1, 6)])


@errors.misconception()
def errors_squared():
    """These are squares of the error: take the root."""
    return np.array([(SIGMA[r:] ** 2).sum() for r in range(5)])


@errors.misconception()
def spectral_norm():
    """That is the largest singular value left out: the error in another norm."""
    return np.append(SIGMA, 0)


@errors.misconception()
def what_is_kept():
    """That is the norm of what is kept, not of what is left out."""
    return np.sqrt([(SIGMA[:r] ** 2).sum() for r in range(5)])


@exercise.part(points=0.5, answer=Numbers())
def energy():
    """The share of Σ σ² for r = 1 … 4."""
    return np.cumsum(SIGMA**2) / (SIGMA**2).sum()


@energy.misconception()
def energy_not_squared():
    """Energy is counted in squares of singular values."""
    return np.cumsum(SIGMA) / SIGMA.sum()


@energy.misconception()
def energy_of_each():
    """These are the shares of each one. Add them up from the first on."""
    return SIGMA**2 / (SIGMA**2).sum()


@exercise.part(points=0.5, answer=Count())
def smallest(energy):
    """The smallest ranks with 70 %, 90 % and 99 % of the energy."""
    return [int((energy < share).sum()) + 1 for share in (0.7, 0.9, 0.99)]


@smallest.misconception()
def counted_from_zero(energy):
    """The first share belongs to rank 1."""
    return [int((energy < share).sum()) for share in (0.7, 0.9, 0.99)]


@exercise.part(points=0.5, answer=Numbers())
def stable_rank():
    """Σ σ² / σ₁²."""
    return (SIGMA**2).sum() / SIGMA[0] ** 2


@stable_rank.misconception()
def stable_not_squared():
    """Take squares, above and below."""
    return SIGMA.sum() / SIGMA[0]


@stable_rank.misconception()
def divided_by_the_largest():
    """The squares are right. What they are divided by is a square, too."""
    return (SIGMA**2).sum() / SIGMA[0]


@stable_rank.misconception()
def number_of_singular_values():
    """That is the rank. The stable rank counts small singular values for less."""
    return 4.0


@exercise.part(points=0.5, answer=Numbers())
def entropy_rank():
    """exp H(p) with p = σ / Σ σ."""
    p = SIGMA / SIGMA.sum()
    return np.exp(-(p * np.log(p)).sum())


@entropy_rank.misconception()
def entropy_itself():
    """That is the entropy: its exponential is asked for."""
    p = SIGMA / SIGMA.sum()
    return -(p * np.log(p)).sum()


@entropy_rank.misconception()
def entropy_of_squares():
    """Here the shares are those of the singular values, not of their squares."""
    p = SIGMA**2 / (SIGMA**2).sum()
    return np.exp(-(p * np.log(p)).sum())


@entropy_rank.misconception()
def two_to_the_nats():
    """You raised 2 to an entropy in nats. Logarithm and power have to be of one base."""
    p = SIGMA / SIGMA.sum()
    return 2 ** -(p * np.log(p)).sum()


@entropy_rank.misconception()
def entropy_in_bits():
    """You took logarithms to the base 2 and the exponential to the base e."""
    p = SIGMA / SIGMA.sum()
    return np.exp(-(p * np.log2(p)).sum())


@exercise.part(points=3, answer=proof)
def proof_order(proof_steps):
    """No matrix of rank r is nearer than the truncated decomposition: the steps in order."""
    return proof.order(proof_steps)


@exercise.part(points=1, answer=Numbers())
def identity():
    """Relative errors for the identity with d = 768: r = 10, r = 100, r = 384."""
    return np.sqrt(1 - np.array([10, 100, 384]) / 768)


identity.mistakes(
    identity_not_rooted=(
        1 - np.array([10, 100, 384]) / 768,
        "These are shares of the squared norm: take the root.",
    ),
    identity_kept=(
        np.sqrt(np.array([10, 100, 384]) / 768),
        "That is what is kept. What is left out?",
    ),
)
