"""Self-attention of three tokens that are query, key and value at once.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.3.
"""

import numpy as np

from autograder.exercise import Choice, Exercise, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "self_attn_cat",
    title='"cat" looks around',
    source="Vaswani et al. (2017), section 3.2.3",
    minutes=35,
    hints=[
        "If each word simply is its own query, what does W_Q do to a vector?",
        '"cat" is the second row of X. Its scores are that row times every row, itself included.',
        "A smaller spread of the scores makes the weights more even; so check that the scaled"
        " weights are closer to each other than the unscaled ones.",
    ],
)

CAT = 1  # its row


@exercise.variant
def draw(rng):
    """X: (3, 4), the vectors of The, cat and sat as rows; different, binary and not 0."""
    while True:
        X = rng.integers(0, 2, (3, 4))
        if X.any(axis=1).all() and len(np.unique(X, axis=0)) == 3:
            return {"X": X}


def scale(X):
    """Return √d_k."""
    return np.sqrt(X.shape[1])


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "All three are zero matrices.",
            "All three are identity matrices.",
            "They are learned, but equal to each other.",
            "Nothing: they are a matter of training.",
        ]
    ),
)
def projections():
    """What does "each word is query, key and value" say about W_Q, W_K and W_V?"""
    return "B"


projections.mistakes(
    zero_matrices=(
        "A",
        "A zero matrix sends every word to the zero vector. What leaves a vector as it is?",
    ),
    learned_and_shared=(
        "C",
        "Equal matrices give equal queries and keys, but these need not be the words themselves.",
    ),
    nothing_said=("D", "Writing x for the query x W_Q says something about W_Q. What?"),
)


def is_weighting(row):
    """Are these weights that tell the words apart?  Others would make what follows trivial."""
    return np.ptp(row) > 0


@exercise.part(points=1.5, answer=Numbers(), carry_if=is_weighting)
def row(X):
    """The weights with which "cat" looks at The, cat, sat, without a scale, shape (3,)."""
    return softmax(X @ X[CAT])


@exercise.part(points=1.5, answer=Numbers(), carry_if=is_weighting)
def row_scaled(X):
    """The same with scores divided by √d_k, shape (3,)."""
    return softmax(X @ X[CAT] / scale(X))


@row.misconception()
def scaled_although_not_asked(X):
    """You scaled the scores. Here they are used as they are; the next answer has the scale."""
    return softmax(X @ X[CAT] / scale(X))


@row.misconception()
def down_the_column(X):
    """You took the row from weights whose columns add up to 1. Each query has its own sum."""
    return softmax(X @ X.T, axis=0)[CAT]


@row.misconception()
def over_the_matrix(X):
    """You divided by the sum over all nine exponentials. Each query has its own sum."""
    return softmax(X @ X.T, axis=None)[CAT]


@row.misconception()
def another_word_asks(X):
    """These are the weights of *sat*, the last word. *cat* is the second."""
    return softmax(X @ X[-1])


@row.misconception()
def first_word_asks(X):
    """These are the weights of *The*, the first word. *cat* is the second."""
    return softmax(X @ X[0])


@row_scaled.misconception()
def another_word_asks_again(X):
    """These are the weights of *sat*, the last word. *cat* is the second."""
    return softmax(X @ X[-1] / scale(X))


@row_scaled.misconception()
def first_word_asks_again(X):
    """These are the weights of *The*, the first word. *cat* is the second."""
    return softmax(X @ X[0] / scale(X))


@row_scaled.misconception()
def scale_left_out(X):
    """The scores are not scaled: divide them by √d_k before the exponential."""
    return softmax(X @ X[CAT])


@row_scaled.misconception()
def scaled_by_d_k(X):
    """You divided by d_k. The scale is its root."""
    return softmax(X @ X[CAT] / X.shape[1])


@row_scaled.misconception()
def scaled_by_root_of_words(X):
    """You took the number of words. The scale comes from their width."""
    return softmax(X @ X[CAT] / np.sqrt(len(X)))


@row_scaled.misconception()
def scaled_by_words(X):
    """You divided by the number of words. The scale comes from their width."""
    return softmax(X @ X[CAT] / len(X))


@row_scaled.misconception()
def scaled_down_the_column(X):
    """You took the row from weights whose columns add up to 1. Each query has its own sum."""
    return softmax(X @ X.T / scale(X), axis=0)[CAT]


@row_scaled.misconception()
def scaled_over_the_matrix(X):
    """You divided by the sum over all nine exponentials. Each query has its own sum."""
    return softmax(X @ X.T / scale(X), axis=None)[CAT]


@exercise.part(
    points=0.25,
    answer=Choice(
        [
            "*The*",
            "*cat*",
            "*sat*",
        ],
        multiple=True,
    ),
)
def most(row):
    """The words that "cat" gives most weight to: all that share the first place."""
    first = row >= row.max() - 0.01  # as rounding leaves it: other weights are e times smaller
    return "".join(word for word, leads in zip("ABC", first, strict=True) if leads)


@most.misconception()
def itself_alone():
    """The word itself is among them. Is its weight really larger than each of the others?"""
    return "B"


@most.misconception()
def others_alone(row):
    """You left out "cat" itself. In self-attention a word is one of its own keys."""
    return most.compute(row).replace("B", "")


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "The weights depend on the words, not just on where they stand.",
            "Once the model is trained, the weights are the same for every sentence.",
            "Every word reaches every other word in one step.",
            "The number of pairs that are compared grows like $n \\cdot c$.",
            "The number of pairs that are compared grows like $n^2$.",
            "Nothing in the formula knows the order of the words.",
        ],
        multiple=True,
    ),
)
def window():
    """What distinguishes self-attention from a fixed window with fixed weights?"""
    return "ACEF"


window.mistakes(
    weights_of_a_window=(
        "ABCEF",
        "You called the weights fixed. They are computed anew from the words of each sentence.",
    ),
    cost_of_a_window=(
        "ACDF",
        "The cost is that of a window. Count the pairs of words that are compared here.",
    ),
    order_built_in=(
        "ACE",
        "Exchange two words: the same vectors meet, only in other rows and columns. What follows?",
    ),
    many_steps_for_far_words=(
        "AEF",
        "You denied that far words meet directly. Which scores are missing from the matrix?",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def out(row, X):
    """The output of "cat", Σ w_j x_j, with the unscaled weights, shape (4,)."""
    return row @ X


@exercise.part(points=0.5, answer=Numbers())
def out_scaled(row_scaled, X):
    """The output of "cat" with the scaled weights, shape (4,)."""
    return row_scaled @ X


@out.misconception()
def favourite_only(X):
    """You took the vector with the largest weight. Attention averages all of them."""
    return X[np.argmax(X @ X[CAT])]


@out_scaled.misconception()
def scaled_favourite_only(X):
    """You took the vector with the largest weight. Attention averages all of them."""
    return X[np.argmax(X @ X[CAT])]


@exercise.part(points=2.75, answer=Numbers())
def A(X):
    """All attention weights without a scale, shape (3, 3), row by row."""
    return softmax(X @ X.T)


@A.misconception()
def columns_add_up(X):
    """Your columns add up to 1. Rows are queries, and each query hands out a weight of 1."""
    return softmax(X @ X.T, axis=0)


@A.misconception()
def one_sum_for_all(X):
    """All nine weights together add up to 1. Each row has to, by itself."""
    return softmax(X @ X.T, axis=None)


@A.misconception()
def scaled_matrix(X):
    """You divided the scores by √d_k. This matrix is asked for without a scale."""
    return softmax(X @ X.T / scale(X))
