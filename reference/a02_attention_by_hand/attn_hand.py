"""Attention by hand, unscaled: one query over three keys whose scores tie.

Source: Bahdanau, Cho & Bengio (2015), eq. 5 and 6, with the dot product as score.
"""

import numpy as np

from autograder.exercise import Choice, Exercise, Numbers

exercise = Exercise(
    "attn_hand",
    title="One query, three keys",
    source="Bahdanau et al. (2015), eq. 5 and 6",
    minutes=15,
    hints=[
        "One key is one row of K. Its score is the product with q, entry by entry, added up.",
        "Look at the scores before you reach for the exponential: what must hold for the "
        "weights of keys whose scores are equal?",
        "The output has as many numbers as a *value* has, not as many as there are keys.",
    ],
)

query = np.array([1, 0, 1])
keys = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0]])
values = np.array([[2, 0], [0, 5], [1, 1]])


@exercise.variant
def draw(rng):
    """q: (3,), K: (3, 3), V: (3, 2): always the same numbers, in another order."""
    features, key, value = rng.permutation(3), rng.permutation(3), rng.permutation(3)
    return {"q": query[features], "K": keys[key][:, features], "V": values[value]}


@exercise.part(points=0.25, answer=Numbers(), carry_if=np.any)
def scores(q, K):
    """The scores K q, one for each key, shape (3,)."""
    return K @ q


@scores.misconception()
def keys_as_columns(q, K):
    """You took the keys from the columns of K. Each row of K is one key."""
    return q @ K


@scores.misconception()
def query_left_out(K):
    """You added up each key. A score compares the key with the query, entry by entry."""
    return K.sum(axis=1)


@exercise.part(points=0.25, answer=Numbers(), carry_if=np.any)
def weights(scores):
    """The attention weights softmax(s), shape (3,), adding up to 1."""
    e = np.exp(scores - scores.max())
    return e / e.sum()


@weights.misconception()
def exponentials_only(scores):
    """These are exponentials, not yet weights: divide them by their sum."""
    return np.exp(scores)


@weights.misconception()
def scores_are_no_weights(scores):
    """These are the scores. Weights add up to 1, whatever the scores are."""
    return scores


@weights.misconception()
def made_to_fit():
    """You rounded, and made the last one fit the sum. Equal scores get equal weights."""
    return np.array([0.33, 0.33, 0.34])


@weights.misconception()
def one_winner(scores):
    """You gave everything to one key. Equal scores get equal weights."""
    return np.eye(len(scores))[np.argmax(scores)]


@exercise.part(points=3, answer=Numbers())
def out(weights, V):
    """The output Σ w_i v_i, shape (2,)."""
    return weights @ V


@out.misconception()
def weights_not_normalised(scores, V):
    """You added the values up with weights e^s. Weights have to add up to 1: normalise first."""
    return np.exp(scores) @ V


@out.misconception()
def scores_as_weights(scores, V):
    """You added the values up, or took the scores for weights. Weights add up to 1: see softmax."""
    return scores @ V


@out.misconception()
def best_value_only(q, K, V):
    """You took one of the values. Attention averages all of them."""
    return V[np.argmax(K @ q)]


@out.misconception()
def keys_averaged(weights, K):
    """You averaged the keys. Keys only decide how much counts; what counts are the values."""
    return weights @ K


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "The value $v_i$ is the right answer with probability $w_i$.",
            "The key $k_i$ is important, whoever asks.",
            "The query fits $k_i$ better than the other keys, so $v_i$ dominates the average.",
            "The value $v_i$ has large entries.",
        ]
    ),
)
def large_weight():
    """What does a large weight w_i mean?"""
    return "C"


large_weight.mistakes(
    probability_of_being_right=(
        "A",
        "No answer is right or wrong here, so nothing has a probability of being right.",
    ),
    property_of_the_key=(
        "B",
        "Think of another query that meets the same key: does the weight stay what it is?",
    ),
    property_of_the_value=(
        "D",
        "The values have not been looked at when the weights are computed.",
    ),
)


other = exercise.for_practice(scores, weights, out)


@other.variant
def draw_other(rng):
    """q: (3,), K: (3, 3), V: (3, 2): numbers of which two scores tie, and the third is smaller."""
    while True:
        q, K, V = rng.integers(-1, 3, 3), rng.integers(-1, 3, (3, 3)), rng.integers(0, 6, (3, 2))
        low, tied, high = np.sort(K @ q)
        if tied == high and 1 <= high - low <= 2 and high <= 3 and len(np.unique(K, axis=0)) == 3:
            return {"q": q, "K": K, "V": V}


@other.part(points=1, answer=Choice("ABC"))
def doubled_query():
    """If the query is doubled, what becomes of the weights?

    A  Nothing: they still add up to 1.

    B  They are doubled, too.

    C  The large weights grow, the small ones shrink.
    """
    return "C"


doubled_query.mistakes(
    sum_decides=("A", "That they add up to 1 leaves room: compare e² : e¹ with e⁴ : e²."),
    weights_are_linear=(
        "B",
        "The scores are doubled. The weights can't be: they would add up to 2.",
    ),
)
