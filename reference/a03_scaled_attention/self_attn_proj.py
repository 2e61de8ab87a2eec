"""Self-attention with projections: queries, keys and values of the same three words.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.
"""

import numpy as np

from autograder.algebra import Fact, IndexedChain
from autograder.exercise import Derivation, Exercise, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "self_attn_proj",
    title="Projections first",
    source="Vaswani et al. (2017), section 3.2",
    minutes=30,
    hints=[
        "Tokens are rows, so the matrix stands to their right: X W.",
        "Under the root stands the width of the *projected* keys, not that of X.",
        "For the last part put the changed projections in and look at what stands between W_Q"
        " and W_Kᵀ.",
    ],
)
attention = exercise.carries("a03_scaled_attention/sdpa", "attention")


@exercise.variant
def draw(rng):
    """X: (3, 3) with entries 0–2; W_Q, W_K: (3, 2), W_V: (3, 4) with entries 0 and 1."""
    while True:
        X, W_V = rng.integers(0, 3, (3, 3)), rng.integers(0, 2, (3, 4))
        W_Q, W_K = rng.integers(0, 2, (2, 3, 2))
        S = X @ W_Q @ (X @ W_K).T
        if np.ptp(S, axis=1).min() > 0 and np.ptp(X @ W_V, axis=0).max() > 0 and S.max() < 13:
            return {"X": X, "W_Q": W_Q, "W_K": W_K, "W_V": W_V}


def can_be_compared(answer):
    """Rows that are all alike would make what follows trivial."""
    return np.ptp(answer) > 0


@exercise.part(points=0.5, answer=Numbers(), carry_if=can_be_compared)
def Q(X, W_Q):
    """The queries X W_Q, shape (3, 2)."""
    return X @ W_Q


@exercise.part(points=0.5, answer=Numbers(), carry_if=can_be_compared)
def K(X, W_K):
    """The keys X W_K, shape (3, 2)."""
    return X @ W_K


@exercise.part(points=1, answer=Numbers(), carry_if=can_be_compared)
def V(X, W_V):
    """The values X W_V, shape (3, 4)."""
    return X @ W_V


@Q.misconception()
def queries_from_columns(X, W_Q):
    """You multiplied the transposed X. Each row of X is a word."""
    return X.T @ W_Q


@K.misconception()
def keys_from_columns(X, W_K):
    """You multiplied the transposed X. Each row of X is a word."""
    return X.T @ W_K


@V.misconception()
def values_from_columns(X, W_V):
    """You multiplied the transposed X. Each row of X is a word."""
    return X.T @ W_V


@exercise.part(points=2, answer=Numbers(), carry_if=can_be_compared)
def A(Q, K):
    """The weights softmax(Q Kᵀ / √d_k), shape (3, 3)."""
    return attention(Q, K, K)[1]


@A.misconception()
def queries_and_keys_exchanged(Q, K):
    """Queries and keys are exchanged: row i belongs to the query i."""
    return softmax(K @ Q.T / np.sqrt(2))


@A.misconception()
def scaled_by_the_model_width(Q, K):
    """You divided by the root of X's width. The width of queries and keys counts."""
    return softmax(Q @ K.T / np.sqrt(3))


@A.misconception()
def not_scaled(Q, K):
    """The scores are not scaled."""
    return softmax(Q @ K.T)


@A.misconception()
def divided_by_d_k(Q, K):
    """You divided by d_k. It is the root of d_k."""
    return softmax(Q @ K.T / 2)


@A.misconception()
def softmax_down_the_columns(Q, K):
    """Your columns add up to 1. For each query the weights of the keys do."""
    return softmax(K @ Q.T / np.sqrt(2)).T


@A.misconception()
def without_projections(X):
    """You compared the rows of X. Queries and keys are what the projections make of them."""
    return softmax(X @ X.T / np.sqrt(2))


@exercise.part(points=2, answer=Numbers())
def O(A, V):  # noqa: E743 -- the letter of the formula
    """The output A V, shape (3, 4)."""
    return A @ V


@O.misconception()
def weights_transposed(A, V):
    """You used the columns of A as weights."""
    return A.T @ V


@O.misconception()
def best_value_only(A, V):
    """You took the value with the largest weight. Attention averages all of them."""
    return V[np.argmax(A, axis=1)]


chain = IndexedChain(
    start="X*W_Q*R*(X*W_K*S^T)^T",
    target="X*W_Q*W_K^T*X^T",
    matrices=("X", "W_Q", "W_K", "R", "S"),
    indices=("i",),
    where={"S": "R^(-1)"},
    rules=("transpose of a product", Fact("S is the inverse of R", "R*S", "I")),
    reasons=True,
)


@exercise.part(points=2, answer=Derivation(chain))
def same_scores():
    """The scores of the changed projections, led back to those of W_Q and W_K, with reasons."""
    return [
        "X*W_Q*R*(S^T)^T*W_K^T*X^T  # transpose of a product",
        "X*W_Q*R*S*W_K^T*X^T  # transpose of a product",
        "X*W_Q*I*W_K^T*X^T  # S is the inverse of R",
        "X*W_Q*W_K^T*X^T  # algebra",
    ]


@same_scores.alternative
def one_transpose_after_the_other():
    """Take the transpose apart in two lines."""
    return [
        "X*W_Q*R*(W_K*S^T)^T*X^T  # transpose of a product",
        "X*W_Q*R*(S*W_K^T)*X^T  # transpose of a product",
        "X*W_Q*(R*S)*W_K^T*X^T  # algebra",
        "X*W_Q*W_K^T*X^T  # S is the inverse of R",
    ]


@same_scores.alternative
def from_the_other_side():
    """Move R into the second factor first."""
    return [
        "X*W_Q*(X*W_K*S^T*R^T)^T  # transpose of a product",
        "X*W_Q*(X*W_K*(R*S)^T)^T  # transpose of a product",
        "X*W_Q*(X*W_K*I)^T  # S is the inverse of R",
        "X*W_Q*W_K^T*X^T  # transpose of a product",
    ]


@same_scores.alternative
def in_latex():
    """Write the transposes with their sign."""
    return [
        r"X W_Q R S W_K^\top X^\top  # transpose of a product",
        r"X W_Q I W_K^\top X^\top  # S is the inverse of R",
        r"X W_Q W_K^\top X^\top",
    ]
