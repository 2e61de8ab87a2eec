"""Attention without positions can't tell one order of the words from another.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.5.
"""

import numpy as np

from autograder.exercise import Choice, Exercise, Numbers
from reference.helpers import attention

exercise = Exercise(
    "order_blind",
    title="Two sentences, one bag",
    source="Vaswani et al. (2017), section 3.5",
    minutes=30,
    hints=[
        "Attention adds up over the words of a sentence. Does a sum know in which order its "
        "terms came?",
        "With encodings, the same word stands at another position in the second sentence: add"
        " the row of the position that it has *there*.",
    ],
)


@exercise.variant
def draw(rng):
    """X: (3, 4), the vectors of cat, eats and fish: one-hot in an order by lot, and a constant."""
    X = np.eye(3, 4)[:, [*rng.permutation(3), 3]]
    X[:, 3] = rng.choice([0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 1.6, 1.8])
    return {"X": X}


def attended(X, scale=0.5):
    """Return self-attention of the rows of X without projections."""
    return attention(X, X, X, scale=scale)[0]


def encoding(n, d=4):
    """Return the sinusoidal encodings of the positions 0 … n − 1, shape (n, d)."""
    angle = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(n, d)


def at_cat(X, positions=encoding, scale=0.5):
    """Return the outputs at "cat" in "cat eats fish" and in "fish eats cat"."""
    added = positions(3)
    return np.stack([attended(X + added, scale)[0], attended(X[::-1] + added, scale)[2]])


def nowhere(n):
    """Encode no position at all."""
    return np.zeros((n, 4))


@exercise.part(points=2.5, answer=Numbers())
def plain(X):
    """The output at "cat" in both sentences without positions, shape (2, 4)."""
    return at_cat(X, nowhere)


@plain.misconception()
def plain_without_scale(X):
    """You forgot to divide the scores by √d_k."""
    return at_cat(X, nowhere, scale=1)


@plain.misconception()
def plain_without_the_root(X):
    """You divided the scores by d_k = 4. The scale has its root."""
    return at_cat(X, nowhere, scale=1 / 4)


@plain.misconception()
def even_weights(X):
    """You took the mean of all words. A word has a larger score with itself than with others."""
    return np.stack([X.mean(axis=0)] * 2)


@plain.misconception()
def first_word_of_both(X):
    """In the second sentence "cat" is the last word. You gave the output at its first word."""
    return np.stack([attended(X)[0], attended(X[::-1])[0]])


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Invariance: permuting the inputs leaves the list of outputs exactly as it is.",
            "Equivariance: permuting the inputs permutes the outputs in the same way.",
            "Translation equivariance: shifting the sentence shifts the outputs.",
            "None: with other vectors the two rows would differ.",
        ]
    ),
)
def property_name():
    """What is the property called that you have just seen?"""
    return "B"


property_name.mistakes(
    taken_for_invariance=(
        "A",
        "Invariant would mean that the outputs stay in place. Here each one moves with its word.",
    ),
    taken_for_translation=(
        "C",
        "A shift of the whole sentence is something else: here the words change places.",
    ),
    taken_for_a_coincidence=(
        "D",
        "It holds for all vectors. Which step of attention looks at where a word stands?",
    ),
)


@exercise.part(
    points=1,
    answer=Choice(
        [
            "Something that depends on the position is added to the embeddings.",
            "Every output is sent through the same feed-forward network.",
            "Queries and keys are changed by their positions just before they are compared.",
            "Something that depends on both positions is added to the scores.",
            "The scores are divided by another number than $\\sqrt{d_k}$.",
        ],
        multiple=True,
    ),
)
def ways_in():
    """In which places can information about the order enter?"""
    return "ACD"


@ways_in.misconception()
def only_embeddings():
    """Adding to the embeddings is one way. Scores are computed later: can't they know it, too?"""
    return "A"


@ways_in.misconception()
def everywhere():
    """One of them treats all words alike, wherever they stand, so it can't bring in an order."""
    return "ABCDE"


ways_in.mistakes(
    by_the_scale=(
        "ACDE",
        "Another divisor changes all scores alike, in whatever order the words stand.",
    ),
    by_the_feed_forward_network=(
        "ABCD",
        "The feed-forward network comes after the weights, and is the same for every place.",
    ),
)


@exercise.part(points=2, answer=Numbers())
def placed(X):
    """The same two outputs with sinusoidal encodings added to the embeddings, shape (2, 4)."""
    return at_cat(X)


@placed.misconception()
def added_after_attention(X):
    """You added the encodings to the outputs. They must be there when the scores are computed."""
    return at_cat(X, nowhere) + encoding(3)[[0, 2]]


@placed.misconception()
def position_moves_with_the_word(X):
    """Your "cat" kept its position when it moved. An encoding belongs to a place, not to a word."""
    return np.stack([attended(X + encoding(3))[0]] * 2)


@placed.misconception()
def placed_without_scale(X):
    """You forgot to divide the scores by √d_k."""
    return at_cat(X, scale=1)


@placed.misconception()
def placed_without_the_root(X):
    """You divided the scores by d_k = 4. The scale has its root."""
    return at_cat(X, scale=1 / 4)


@placed.misconception()
def not_in_the_values(X):
    """The encodings are missing in the values: these are the embeddings with them, too."""
    outputs = []
    for sentence, place in ((X, 0), (X[::-1], 2)):
        placed = sentence + encoding(3)
        weights = np.exp(placed[place] @ placed.T / 2)
        outputs.append(weights @ sentence / weights.sum())
    return np.stack(outputs)


@placed.misconception()
def positions_from_one(X):
    """You counted positions from 1. Here the first word is at position 0."""
    return at_cat(X, lambda n: encoding(n + 1)[1:])
