"""Scores of low rank, weights of full rank.

Source: Bhojanapalli et al. (2020), "Low-rank bottleneck in multi-head attention models".
"""

import numpy as np

from autograder.exercise import Choice, Count, Exercise, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "rank_logits",
    title="Low-rank scores, full-rank attention",
    source="Bhojanapalli et al. (2020), section 3",
)


@exercise.variant
def draw(rng):
    """x: three different whole numbers, at once queries and keys of width 1."""
    return {"x": np.sort(rng.choice([-3, -2, -1, 1, 2, 3], 3, replace=False))}


@exercise.part(points=1, answer=Numbers())
def A(x):
    """The weights softmax(x xᵀ), shape (3, 3); d_k = 1, so that nothing is divided."""
    return softmax(np.outer(x, x).astype(float))


@A.misconception()
def scaled_by_three(x):
    """You divided by √3. The width of these queries and keys is 1."""
    return softmax(np.outer(x, x) / np.sqrt(3))


@A.misconception()
def columns_add_up(x):
    """Your columns add up to 1. For each query the weights of the keys do."""
    return softmax(np.outer(x, x).astype(float)).T


@A.misconception()
def softmax_of_the_numbers(x):
    """You took the softmax of the keys alone: each query multiplies them first."""
    return np.tile(softmax(x.astype(float)), (3, 1))


@exercise.part(points=1, answer=Count())
def ranks(x):
    """The rank of the scores x xᵀ, and that of the weights."""
    return [1, 3]


@ranks.misconception()
def softmax_keeps_the_rank(x):
    """The softmax takes each entry's exponential: that is no linear map. Compute det A."""
    return [1, 1]


@ranks.misconception()
def both_full(x):
    """All rows of x xᵀ are multiples of one row."""
    return [3, 3]


@ranks.misconception()
def one_is_lost(x):
    """Rows that add up to 1 needn't be dependent. Compute det A."""
    return [1, 2]


@exercise.part(points=1, answer=Numbers())
def det(A):
    """The determinant of A."""
    return np.linalg.det(A)


@det.misconception()
def product_of_the_diagonal(A):
    """That is the product of the diagonal. A is no triangular matrix."""
    return np.prod(np.diag(A))


@det.misconception()
def trace(A):
    """That is the trace."""
    return np.trace(A)


@exercise.part(points=1, answer=Choice("ABCD"))
def statement():
    """Which statement is right?"""
    return "B"


@statement.misconception()
def weights_bounded_too():
    """You have just seen weights of rank 3 with d_k = 1."""
    return "A"


@statement.misconception()
def softmax_never_lowers():
    """Scores that are all 0 have rank 0. And their weights?"""
    return "C"


@statement.misconception()
def always_full():
    """Equal queries have equal rows of weights."""
    return "D"
