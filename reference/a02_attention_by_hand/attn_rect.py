"""Two queries, three keys and values of another width: the smallest case with no square in it.

Source: Vaswani et al. (2017), "Attention is all you need", eq. 1.
"""

import numpy as np

from autograder.exercise import Exercise, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "attn_rect",
    title="Two queries, three keys, wider values",
    source="Vaswani et al. (2017), eq. 1",
    minutes=20,
    hints=[
        "Decide the shapes first: queries stand in rows, keys in columns, and the outputs "
        "have the width of V.",
        "The softmax belongs to a query: every *row* of A adds up to 1.",
        "Under the root stands the width of the keys, which is neither of the two counts, nor"
        " the width of the values.",
    ],
)


@exercise.variant
def draw(rng):
    """Q: (2, 4), K: (3, 4), V: (3, 5); no query is 0, no row of scores or column of V constant.

    Nor is the difference of the two rows of scores: a softmax over the queries then has rows that
    differ inside, and is carried on.
    """
    while True:
        Q, K, V = rng.integers(0, 3, (2, 4)), rng.integers(0, 3, (3, 4)), rng.integers(0, 4, (3, 5))
        rows = np.vstack([Q @ K.T, (Q[0] - Q[1]) @ K.T])
        if Q.any(axis=1).all() and np.ptp(rows, axis=1).all() and np.ptp(V, axis=0).all():
            return {"Q": Q, "K": K, "V": V}


def rows_differ_inside(answer):
    """A row of equal numbers makes what follows trivial: it is not carried on."""
    return np.ptp(answer, axis=1).min() > 0


@exercise.part(points=1, answer=Numbers(), carry_if=rows_differ_inside)
def S(Q, K):
    """The raw scores Q Kᵀ, shape (2, 3)."""
    return Q @ K.T


@S.misconception()
def scaled_already(Q, K):
    """You divided by √d_k. First the raw scores are asked for, the scale comes in the next step."""
    return Q @ K.T / np.sqrt(Q.shape[1])


@S.misconception()
def one_row_for_each_key(Q, K):
    """Your matrix has a row for each key. Rows belong to queries, columns to keys."""
    return K @ Q.T


@exercise.part(points=2, answer=Numbers(), carry_if=rows_differ_inside)
def A(S, Q):
    """The weights softmax(S / √d_k), shape (2, 3)."""
    return softmax(S / np.sqrt(Q.shape[1]))


@A.misconception()
def no_scale(S):
    """The scores are not scaled: divide them by √d_k."""
    return softmax(S)


@A.misconception()
def scaled_by_d_k(S, Q):
    """You divided by d_k. The scale is its root."""
    return softmax(S / Q.shape[1])


@A.misconception()
def scaled_by_root_d_v(S, V):
    """You took the width of the values. The scale undoes a sum over the width of the keys."""
    return softmax(S / np.sqrt(V.shape[1]))


@A.misconception()
def scaled_by_root_of_keys(S):
    """You took the number of keys. The scale undoes a sum over the width of a key."""
    return softmax(S / np.sqrt(S.shape[1]))


@A.misconception()
def softmax_over_queries(S, Q):
    """Your columns add up to 1. Each query, so each row, hands out a weight of 1."""
    return softmax(S / np.sqrt(Q.shape[1]), axis=0)


@A.misconception()
def softmax_over_everything(S, Q):
    """All six weights together add up to 1. Each row has to, by itself."""
    return softmax(S / np.sqrt(Q.shape[1]), axis=None)


@exercise.part(points=2, answer=Numbers())
def O(A, V):  # noqa: E743 - the letter of the formula
    """The outputs A V, shape (2, 5)."""
    return A @ V


@O.misconception()
def best_value_only(Q, K, V):
    """You took one value for each query. Attention averages all of them."""
    return V[np.argmax(Q @ K.T, axis=1)]


@O.misconception()
def plain_average(A, V):
    """You averaged the values evenly. Each one counts with its weight."""
    return np.tile(V.mean(axis=0), (len(A), 1))


@O.misconception()
def keys_averaged(A, K):
    """You averaged the keys. Their work is done with the scores; now it is the values' turn."""
    return A @ K


def demo(randn, scale=2, axis=-1):
    """Weights for the numbers of a generator: Q first, then K, one standard normal each."""
    Q, K = randn(2, 4), randn(3, 4)
    return softmax(Q @ K.T / scale, axis)


@exercise.part(points=1, answer=Numbers())
def A_demo():
    """The weights for the numbers that `np.random.seed(42)` leads to, shape (2, 3)."""
    return demo(np.random.RandomState(42).randn)


@A_demo.misconception()
def demo_no_scale():
    """The scores are not scaled: divide them by √d_k."""
    return demo(np.random.RandomState(42).randn, scale=1)


@A_demo.misconception()
def demo_softmax_over_queries():
    """Your columns add up to 1. Each query, so each row, hands out a weight of 1."""
    return demo(np.random.RandomState(42).randn, axis=0)


@A_demo.misconception()
def demo_keys_first():
    """You drew K before Q. The stream gives its numbers in order, so the order is part of it."""
    stream = np.random.RandomState(42).randn
    K, Q = stream(3, 4), stream(2, 4)
    return softmax(Q @ K.T / 2)


@A_demo.misconception()
def demo_other_generator():
    """These numbers come from `default_rng(42)`, another generator with the same seed."""
    rng = np.random.default_rng(42)
    return demo(lambda *shape: rng.standard_normal(shape))
