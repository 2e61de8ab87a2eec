"""A dictionary that answers with a blend of all its entries.

Source: Graves, Wayne & Danihelka (2014), "Neural Turing Machines", section 3.3.1.
"""

import numpy as np

from autograder.exercise import Essay, Exercise, Numbers

exercise = Exercise(
    "soft_lookup",
    title="A dictionary that blends",
    source="Graves et al. (2014), section 3.3.1",
    minutes=30,
    hints=[
        "Nothing is scaled here: the similarities go into the softmax as they are.",
        "`mix` has two numbers: one blend of the first column of V and one of the second, "
        "both with the same weights.",
    ],
)


@exercise.variant
def draw(rng):
    """q: (2,), K: (3, 2), V: (3, 2); three different similarities."""
    while True:
        q, K = rng.integers(0, 3, 2), rng.choice([0, 0.5, 1], (3, 2))
        if K.any(axis=1).all() and len(set(K @ q)) == 3:
            return {"q": q, "K": K, "V": rng.integers(0, 5, (3, 2))}


def distinguishes(answer):
    """Equal similarities or weights would make what follows trivial: they are not carried on."""
    return np.ptp(answer) > 0


@exercise.part(points=1, answer=Numbers(), carry_if=distinguishes)
def sims(q, K):
    """The similarity q · k_i of the query with each key, shape (3,)."""
    return K @ q


@sims.misconception()
def cosine(q, K):
    """You divided by the lengths: that is the cosine. The dot product keeps the lengths in."""
    return K @ q / (np.linalg.norm(K, axis=1) * np.linalg.norm(q))


@sims.misconception()
def distance(q, K):
    """These are distances, which are largest for the keys that fit worst."""
    return np.linalg.norm(K - q, axis=1)


@exercise.part(points=1, answer=Numbers(), carry_if=distinguishes)
def w(sims):
    """The weights softmax(similarities), shape (3,)."""
    e = np.exp(sims - sims.max())
    return e / e.sum()


@w.misconception()
def scaled_by_root_two(sims):
    """You divided by √2 before the softmax. No scale is asked for here."""
    return w.compute(sims / np.sqrt(2))


@w.misconception()
def linear_weights(sims):
    """You divided the similarities by their sum. Softmax divides their exponentials by theirs."""
    return sims / sims.sum()


@w.misconception()
def not_normalised(sims):
    """These are exponentials, not yet weights: divide them by their sum."""
    return np.exp(sims)


@exercise.part(points=2, answer=Numbers())
def mix(w, V):
    """What the soft dictionary returns, Σ w_i v_i, shape (2,)."""
    return w @ V


@mix.misconception()
def hard_lookup(w, V):
    """That is what an ordinary dictionary returns: one entry. Here every entry contributes."""
    return V[np.argmax(w)]


@mix.misconception()
def plain_average(V):
    """You averaged the entries evenly. Each one counts with its weight."""
    return V.mean(axis=0)


@mix.misconception()
def keys_blended(w, K):
    """You blended the keys. A dictionary compares keys and returns values."""
    return w @ K


@exercise.part(points=3, answer=Essay())
def soft_vs_hard():
    """How does the soft lookup differ from a hard one?

    (1) Every entry contributes: all weights are positive.
    (2) The result is differentiable in query, keys and values; a hard pick has zero gradient
    almost everywhere with respect to the scores.
    (3) The result need not be a stored value, and tends to the hard pick as the similarities are
    multiplied: (2, 1, 0) gives weights of 0.6652, 0.2447 and 0.0900, and ten times as large ones
    give 0.9999546, 4.54e-5 and 2.06e-9.
    """
    return (
        "Softmax weights are never 0, so the answer is a blend to which every entry contributes, "
        "while a hard lookup returns exactly one stored value. The blend changes smoothly with "
        "query, keys and values, so gradients can train all three; a hard pick jumps at ties and "
        "has zero gradient with respect to the scores everywhere else. The blend need not be any "
        "stored value, and multiplying all scores by a growing factor turns it into the hard pick."
    )
