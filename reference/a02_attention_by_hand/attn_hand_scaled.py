"""Attention by hand with a scale that matters: one query over three keys.

Source: Vaswani et al. (2017), "Attention is all you need", eq. 1.
"""

import numpy as np

from autograder.exercise import Exercise, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "attn_hand_scaled",
    title="The same with a scale that matters",
    source="Vaswani et al. (2017), eq. 1",
    minutes=20,
    hints=[
        "Go in four steps and write each down: scores, scaled, weights, out. A slip is then "
        "found where it was made.",
        "The scale depends on how many entries a key has, not on how many keys there are.",
        "The weights must add up to 1, and every number of the output lies between the "
        "smallest and the largest of its column of V.",
    ],
)


@exercise.variant
def draw(rng):
    """q: (4,), K: (3, 4), V: (3, 2); d_k = 4, so that √d_k = 2 and even scores stay whole."""
    while True:
        q, K, V = rng.integers(-1, 3, 4), rng.integers(-1, 3, (3, 4)), rng.integers(0, 5, (3, 2))
        s = K @ q
        collinear = np.linalg.matrix_rank(V[1:] - V[0]) < 2
        plain = len(set(s)) == 3 and not np.any(s % 2) and np.ptp(s) <= 6 and s.sum()
        if plain and not collinear and outputs_are_apart(s, V):
            return {"q": q, "K": K, "V": V}


def outputs_are_apart(s, V):
    """Is every wrong output at least 0.05 away from the right one?"""
    wrong = [softmax(s), softmax(s / 4), softmax(s / np.sqrt(3)), s / s.sum(), softmax(s) / 2]
    wrong += [np.eye(3)[np.argmax(s)], np.full(3, 1 / 3)]
    return all(np.abs((softmax(s / 2) - w) @ V).max() >= 0.05 for w in wrong)


def distinguishes(answer):
    """Equal scores or weights would make what follows trivial: they are not carried on."""
    return np.ptp(answer) > 0


@exercise.part(points=1, answer=Numbers(), carry_if=distinguishes)
def scores(q, K):
    """The scores K q, one for each key, shape (3,)."""
    return K @ q


@scores.misconception()
def keys_as_columns(q, K):
    """You took the keys from the columns of K. Each row of K is one key."""
    return K[:, :3].T @ q[:3]


@exercise.part(points=1, answer=Numbers(), carry_if=distinguishes)
def scaled(scores, q):
    """The scaled scores K q / √d_k, shape (3,)."""
    return scores / np.sqrt(len(q))


@scaled.misconception()
def no_scale(scores):
    """The scores are not scaled. Dividing by √d_k keeps their variance near 1."""
    return scores


@scaled.misconception()
def divided_by_d_k(scores, q):
    """You divided by d_k. The variance of q·k grows like d_k, so its spread grows like √d_k."""
    return scores / len(q)


@scaled.misconception()
def divided_by_root_of_keys(scores):
    """You divided by the root of the number of keys. The scale comes from their width d_k."""
    return scores / np.sqrt(len(scores))


@exercise.part(points=2, answer=Numbers(), carry_if=distinguishes)
def weights(scaled):
    """The attention weights softmax(scaled scores), shape (3,), adding up to 1."""
    return softmax(scaled)


@weights.misconception()
def linear_weights(scaled):
    """You divided the scores by their sum. Softmax divides their exponentials by theirs."""
    return scaled / scaled.sum()


@weights.misconception()
def from_the_raw_scores(scores):
    """You took the softmax of the raw scores. It is taken of the scaled ones."""
    return softmax(scores)


@weights.misconception()
def not_normalised(scaled):
    """These are exponentials, not yet weights: divide them by their sum."""
    return np.exp(scaled)


@weights.misconception()
def scaled_after_softmax(scores, q):
    """You scaled after the softmax. The scale belongs inside, or the weights lose their sum 1."""
    return softmax(scores) / np.sqrt(len(q))


@exercise.part(points=2, answer=Numbers())
def out(weights, V):
    """The output Σ w_i v_i, shape (2,)."""
    return weights @ V


@out.misconception()
def best_value_only(weights, V):
    """You took the value with the largest weight. Attention averages all of them."""
    return V[np.argmax(weights)]


@out.misconception()
def averaged_once_more(weights, V):
    """You divided by the number of keys. The weights add up to 1: that is a mean already."""
    return weights @ V / len(V)


@out.misconception()
def plain_average(V):
    """You averaged the values evenly. Each one counts with its attention weight."""
    return V.mean(axis=0)
