"""The best approximation of a matrix of weights by one of low rank.

Source: Eckart & Young (1936); Wang et al. (2020), "Linformer", section 3.
"""

import numpy as np

from autograder.exercise import Count, Exercise, Numbers, Shape
from reference.helpers import softmax

exercise = Exercise(
    "lowrank_svd",
    title="The best low-rank weights",
    source="Eckart & Young (1936); Wang et al. (2020), section 3",
    minutes=20,
    hints=[
        "Compute A first, row by row; then `np.linalg.svd` gives U, the singular values and Vᵀ "
        "at once.",
        "A Frobenius distance is the root of a sum of squares. Which squares are left when the "
        "largest singular values are kept?",
        "A matrix of rank one is a column times a row, times a number: all three stand in the "
        "decomposition.",
    ],
)

X = np.array([[1, 0], [0, 1], [1, 1]])
A = softmax((X @ X.T).astype(float))
left, values, right = np.linalg.svd(A)


def rank_one():
    """Return the best approximation of A by a matrix of rank 1."""
    return values[0] * np.outer(left[:, 0], right[0])


@exercise.part(points=1, answer=Numbers())
def singular():
    """The three singular values of A, the largest first."""
    return values


singular.mistakes(
    eigenvalues=(
        np.sort(np.linalg.eigvals(A).real)[::-1],
        "These are eigenvalues. A is not symmetric, so its singular values are others.",
    ),
    squares=(values**2, "These are the squares: eigenvalues of AᵀA. Take roots."),
    of_the_scores=(
        np.linalg.svd(X @ X.T, compute_uv=False),
        "These are the singular values of the scores. The softmax comes first.",
    ),
    rows_not_normalised=(
        np.linalg.svd(np.exp(X @ X.T), compute_uv=False),
        "These belong to the exponentials of the scores. Each row of weights adds up to 1.",
    ),
)


@singular.misconception()
def of_scaled_weights():
    """You divided the scores by √2. These weights are without a scale."""
    return np.linalg.svd(softmax(X @ X.T / np.sqrt(2)), compute_uv=False)


@exercise.part(points=1, answer=Numbers())
def errors(singular):
    """The Frobenius errors of the best approximations of rank 1 and of rank 2."""
    squared = singular**2
    return np.sqrt([squared[1] + squared[2], squared[2]])


@errors.misconception()
def next_value_alone(singular):
    """That is the error in the spectral norm. Frobenius collects all values that are left out."""
    return singular[1:]


@errors.misconception()
def values_added(singular):
    """You added the values that are left out. Their squares add up, under a root."""
    return np.array([singular[1] + singular[2], singular[2]])


@errors.misconception()
def squared_errors(singular):
    """These are the squares of the errors."""
    return np.array([singular[1] ** 2 + singular[2] ** 2, singular[2] ** 2])


@errors.misconception()
def what_is_kept(singular):
    """That is the norm of what is kept. The error is made of what is left out."""
    return np.sqrt(np.cumsum(singular[:2] ** 2))


@exercise.part(points=0.25, answer=Shape())
def U_shape():
    """The shape of U."""
    return (1024, 16)


@U_shape.misconception()
def U_lies_flat():
    """Then U Vᵀ does not have 1024 rows."""
    return (16, 1024)


@exercise.part(points=0.25, answer=Shape())
def V_shape():
    """The shape of V."""
    return (1024, 16)


@V_shape.misconception()
def transposed_twice():
    """That is the shape of Vᵀ. With this V the product U Vᵀ would not exist."""
    return (16, 1024)


@exercise.part(points=0.5, answer=Count())
def numbers():
    """How many numbers U and V hold together, and how many the full matrix."""
    return [2 * 1024 * 16, 1024**2]


numbers.mistakes(
    one_factor=([1024 * 16, 1024**2], "You counted one of the two factors."),
    factors_multiplied=(
        [(1024 * 16) ** 2, 1024**2],
        "The two factors are stored side by side: add their numbers.",
    ),
)


@exercise.part(points=1, answer=Numbers())
def row_sums():
    """The row sums of the best approximation of rank 1."""
    return rank_one().sum(axis=1)


@row_sums.misconception()
def taken_for_weights():
    """The rows of A add up to 1. Compute those of the approximation."""
    return np.ones(3)


@row_sums.misconception()
def sums_of_scaled_weights():
    """You divided the scores by √2. These weights are without a scale."""
    u, s, v = np.linalg.svd(softmax(X @ X.T / np.sqrt(2)))
    return s[0] * u[:, 0] * v[0].sum()


@row_sums.misconception()
def column_sums():
    """You added up columns."""
    return rank_one().sum(axis=0)


@row_sums.misconception()
def first_value_left_out():
    """You left out the singular value: the approximation is s₁ u₁ v₁ᵀ."""
    return rank_one().sum(axis=1) / values[0]
