"""Linear attention with pencil and paper.

Source: Katharopoulos et al. (2020), "Transformers are RNNs", eq. 5 and 6.
"""

import numpy as np

from autograder.exercise import Exercise, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "lin_hand",
    title="By hand",
    source="Katharopoulos et al. (2020), eq. 5 and 6",
    minutes=15,
    hints=[
        "Follow the worked example with vectors in place of numbers: each key gives a small "
        "table, its features down and its value across.",
        "For the weights go the slow way, from the query's product with each key. They have to "
        "lead to your output: use that as a check.",
    ],
)


@exercise.variant
def draw(rng):
    """q: (2,), K: (3, 2), the features of a query and of three keys; V: (3, 2)."""
    while True:
        q, K = rng.integers(1, 4, 2), rng.integers(0, 4, (3, 2))
        scores = K @ q
        if np.ptp(scores) > 0 and np.count_nonzero(scores) > 1:  # no key has all the weight
            return {"q": q, "K": K, "V": rng.integers(0, 6, (3, 2))}


@exercise.part(points=0.5, answer=Numbers())
def S(K, V):
    """The sum of φ(k_j) v_jᵀ over the keys, shape (2, 2): a row for each feature."""
    return K.T @ V


@S.misconception()
def keys_with_keys(K, V):
    """You multiplied the keys with themselves. S joins keys and values."""
    return K.T @ K


@S.misconception()
def first_key_alone(K, V):
    """That is the term of the first key. S is the sum over all three."""
    return np.outer(K[0], V[0])


@S.misconception()
def sums_multiplied(K, V):
    """You summed keys and values before you multiplied. The sum runs over products."""
    return np.outer(K.sum(axis=0), V.sum(axis=0))


@exercise.part(points=0.5, answer=Numbers())
def z(K):
    """The sum of φ(k_j) over the keys, shape (2,)."""
    return K.sum(axis=0)


@z.misconception()
def values_summed(V):
    """You added up the values. The denominator is made of keys."""
    return V.sum(axis=0)


@z.misconception()
def mean_of_the_keys(K):
    """That is the mean of the keys: here nothing is divided by their number."""
    return K.mean(axis=0)


@exercise.part(points=0.5, answer=Numbers())
def numerator(q, S):
    """φ(q)ᵀ S, shape (2,)."""
    return q @ S


@numerator.misconception()
def wrong_side(q, S):
    """That is S φ(q). The query meets the features, and those are the rows of S."""
    return S @ q


@numerator.misconception()
def without_the_query(S):
    """You added up the rows of S. Each row counts with the query's feature."""
    return S.sum(axis=0)


@exercise.part(points=0.5, answer=Numbers())
def denominator(q, z):
    """φ(q) · z, one number."""
    return q @ z


@denominator.misconception()
def keys_counted(K):
    """That is the number of keys. The weights φ(q) · φ(k_j) don't add up to that."""
    return len(K)


@denominator.misconception()
def features_added(z):
    """You added up z. Each entry counts with the query's feature."""
    return z.sum()


@exercise.part(points=1, answer=Numbers())
def out(numerator, denominator):
    """The output, shape (2,)."""
    return numerator / denominator


@out.misconception(credit=0.3)
def never_divided(numerator):
    """You left out the denominator, by which the weights come to add up to 1."""
    return numerator


@out.misconception(credit=0.3)
def divided_by_the_number_of_keys(numerator, K):
    """You divided by the number of keys. The denominator is the sum of the weights."""
    return numerator / len(K)


@out.misconception()
def softmax_of_the_products(q, K, V):
    """You took a softmax of the products. Here the products themselves are the weights."""
    return softmax(K @ q) @ V


@out.misconception()
def plain_mean(V):
    """You averaged the values evenly. Each of them has a weight."""
    return V.mean(axis=0)


@exercise.part(points=1, answer=Numbers())
def weights(q, K, denominator):
    """The weights of the three keys that give the same output, shape (3,)."""
    return K @ q / denominator


@weights.misconception()
def products(q, K):
    """These are the products of features. Weights add up to 1."""
    return K @ q


@weights.misconception()
def exponentials(q, K):
    """You took a softmax of the products. Divide them by their sum."""
    return softmax(K @ q)


@weights.misconception()
def shared_by_number(q, K):
    """You divided the products by the number of keys. Divide them by their sum."""
    return K @ q / len(K)
