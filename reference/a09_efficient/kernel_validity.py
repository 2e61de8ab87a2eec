"""Which similarities are sure to give weights.

Source: Tsai et al. (2019), "Transformer dissection", section 2; Choromanski et al. (2021).
"""

import numpy as np

from autograder.exercise import Choice, Exercise, Numbers

exercise = Exercise(
    "kernel_validity",
    title="Which similarities give weights?",
    source="Tsai et al. (2019), section 2; Choromanski et al. (2021), section 2",
    minutes=20,
    hints=[
        "There are two conditions: no weight below 0, and no row of zeros. Ask each similarity "
        "for both.",
        "Try extreme vectors: a query that points away from all keys, one at right angles to "
        "them, one with negative entries alone.",
    ],
)


@exercise.variant
def draw(rng):
    """q: (2,), a query; K: (2, 2), two keys; omega: the frequency of a cosine."""
    while True:
        q, K = rng.integers(-2, 3, 2), rng.integers(-2, 3, (2, 2))
        omega = int(rng.integers(1, 4))
        products, waves = K @ q, np.cos(omega * (q - K)[:, 0])
        if products.min() < 0 and waves.min() < 0 and len(set(products)) == 2:
            return {"q": q, "K": K, "omega": omega}


@exercise.part(
    points=3,
    answer=Choice(
        [
            "$e^{q \\cdot k}$",
            "$q \\cdot k$",
            "$(q \\cdot k)^2$",
            "$\\max(q, 0) \\cdot \\max(k, 0)$, the maximum entry by entry",
            "$\\varphi(q) \\cdot \\varphi(k)$ with $\\varphi = \\operatorname{elu} + 1$",
            "$\\cos(\\omega \\cdot (q - k))$",
            "$\\varphi(q) \\cdot \\varphi(k)$ with features $\\varphi_j(x) = e^{\\omega_j "
            "\\cdot x}$ for random vectors $\\omega_j$",
        ],
        multiple=True,
    ),
)
def valid():
    """Which similarities always give non-negative weights and a positive sum in every row?"""
    return "AEG"


valid.mistakes(
    dot_product_accepted=(
        "ABEG",
        "You accept the dot product. What is it for two vectors that point away from each other?",
    ),
    square_accepted=(
        "ACEG",
        "You accept the square of the dot product. What if a query is orthogonal to every key?",
    ),
    relu_accepted=(
        "ADEG",
        "You accept max(·, 0). What does a query of nothing but negative entries get?",
    ),
    cosine_accepted=(
        "AEFG",
        "You accept the cosine. It is a positive definite kernel; is it never negative?",
    ),
    non_negative_is_enough=(
        "ACDEG",
        "None of yours is ever negative. But a row of zeros can't be divided by its sum.",
    ),
    positive_definite_is_enough=(
        "ABCDEFG",
        "You asked for positive definite kernels. That is about sums of squares, not about signs.",
    ),
    random_features_rejected=("AE", "Random or not: what sign has each of those features?"),
    exponential_alone=(
        "A",
        "Softmax is one choice. Features that are all positive give positive products as well.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def dots(q, K):
    """The dot products of your query with both keys."""
    return K @ q


@dots.misconception()
def squares_of_dots(q, K):
    """These are the squares."""
    return (K @ q) ** 2


@dots.misconception()
def dots_scaled(q, K):
    """You divided by √2. No scale is asked for here."""
    return K @ q / np.sqrt(2)


@dots.misconception()
def cut_off(q, K):
    """You cut negative products off. The dot product itself may well be negative."""
    return np.maximum(K @ q, 0)


@exercise.part(points=0.5, answer=Numbers())
def cosines(q, K, omega):
    """The cosine of omega times the difference of the first entries, for both keys."""
    return np.cos(omega * (q - K)[:, 0])


@cosines.misconception()
def frequency_forgotten(q, K, omega):
    """You left out the frequency (or it stands outside the cosine)."""
    return np.cos((q - K)[:, 0])


@cosines.misconception()
def of_the_sum(q, K, omega):
    """You added the entries. The cosine is one of their difference."""
    return np.cos(omega * (q + K)[:, 0])


@cosines.misconception()
def degrees(q, K, omega):
    """Your angle is in degrees. It is in radians."""
    return np.cos(np.deg2rad(omega * (q - K)[:, 0]))


@cosines.misconception()
def cosine_of_the_angle(q, K, omega):
    """That is the cosine of the angle between the vectors. Here a difference goes into it."""
    lengths = np.linalg.norm(K, axis=1) * np.linalg.norm(q)
    return K @ q / np.where(lengths == 0, 1, lengths)


@cosines.misconception()
def both_entries(q, K, omega):
    """You took both entries of the difference. Only the first one is asked for."""
    return np.cos(omega * (q - K).sum(axis=1))


@cosines.misconception()
def second_entries(q, K, omega):
    """You took the second entries."""
    return np.cos(omega * (q - K)[:, 1])
