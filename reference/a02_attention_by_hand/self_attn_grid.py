"""The whole attention matrix of four tokens, who wins in it, and its picture.

Source: Vaswani et al. (2017), "Attention is all you need", eq. 1 and figure 3.
"""

import numpy as np

from autograder.exercise import Choice, Count, Exercise, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "self_attn_grid",
    title="A 4 × 4 attention matrix",
    source="Vaswani et al. (2017), eq. 1",
    minutes=35,
    hints=[
        "X Xᵀ is symmetric, but the weights aren't: every row is divided by a sum of its own.",
        "What a word *receives* is added up over those who look at it: decide whether that is"
        " a row or a column.",
        "After dividing each row of X by its length, every diagonal score is the same number,"
        " and no score is larger.",
    ],
)


@exercise.variant
def draw(rng):
    """X: (4, 3), the vectors of four words as rows; different, not 0, not all equally long."""
    while True:
        X = rng.integers(0, 3, (4, 3))
        lengths = np.linalg.norm(X, axis=1)
        if lengths.all() and np.ptp(lengths) and len(np.unique(X, axis=0)) == 4:
            return {"X": X}


def scores(X):
    """Return the scaled scores X Xᵀ / √d_k."""
    return X @ X.T / np.sqrt(X.shape[1])


def tells_apart(A):
    """A row of equal weights has no winner: such a matrix is not carried on."""
    return np.ptp(A, axis=1).min() > 0


@exercise.part(points=4, answer=Numbers(), carry_if=tells_apart)
def A(X):
    """The weights softmax(X Xᵀ / √d_k), shape (4, 4)."""
    return softmax(scores(X))


@A.misconception()
def no_scale(X):
    """The scores are not scaled: divide them by √d_k."""
    return softmax(X @ X.T)


@A.misconception()
def scaled_by_d_k(X):
    """You divided by d_k. The scale is its root."""
    return softmax(scores(X) / np.sqrt(X.shape[1]))


@A.misconception()
def scaled_by_root_of_words(X):
    """You took the number of words. The scale comes from their width."""
    return softmax(X @ X.T / np.sqrt(len(X)))


@A.misconception()
def one_sum_for_all(X):
    """All sixteen weights together add up to 1. Each row has to, by itself."""
    return softmax(scores(X), axis=None)


@A.misconception()
def columns_add_up(X):
    """Your columns add up to 1. Rows are queries, and each query hands out a weight of 1."""
    return softmax(scores(X), axis=0)


@exercise.part(points=1, answer=Count())
def most_attended(A):
    """For each row the column of its largest weight (the first of equal ones), counted from 0."""
    behind = A.max(axis=1, keepdims=True) - A
    return np.argmax(behind < 1e-3, axis=1)  # written weights are rounded


@most_attended.misconception()
def counted_from_one(A):
    """You counted from 1. Positions start at 0 in this course, as in NumPy."""
    return most_attended.compute(A) + 1


@most_attended.misconception()
def always_itself(A):
    """You gave every word to itself. Look for the largest weight of each row."""
    return np.arange(len(A))


COSINE = 0.4  # between two words


@exercise.part(points=0.25, answer=Numbers())
def itself():
    """The largest length at which the other word gets no more than the word of length 1 itself."""
    return 1 / COSINE


itself.mistakes(
    as_long_as_itself=(
        1,
        "Being longer is enough only for a word that points the same way. What is x·y here?",
    ),
    shorter_by_the_cosine=(
        COSINE,
        "You multiplied by the cosine. Which length makes 0.4 times the length as large as x·x?",
    ),
    moved_by_the_scale=(
        np.sqrt(3) / COSINE,
        "The scale divides both scores by the same number, so it doesn't move the place.",
    ),
    root_of_the_length=(
        1 / np.sqrt(COSINE),
        "You took a root. The score x·y is the product of lengths and cosine, and |x| is 1.",
    ),
)


@exercise.part(points=1, answer=Numbers())
def unit_diagonal(X):
    """The diagonal of the weights after every row of X was divided by its length, shape (4,)."""
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    return np.diag(softmax(scores(U)))


@unit_diagonal.misconception()
def rows_left_as_they_are(A):
    """This is the diagonal of your first matrix. Divide each word by its length first."""
    return np.diag(A)


@unit_diagonal.misconception()
def sums_for_lengths(X):
    """You divided by the sum of the entries. The length is the root of the sum of squares."""
    return np.diag(softmax(scores(X / X.sum(axis=1, keepdims=True))))


@unit_diagonal.misconception()
def squares_for_lengths(X):
    """You divided by the squared length. The length is the root of the sum of squares."""
    return np.diag(softmax(scores(X / (X**2).sum(axis=1, keepdims=True))))


@unit_diagonal.misconception()
def scale_forgotten(X):
    """The scores are not scaled: divide them by √d_k."""
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    return np.diag(softmax(U @ U.T))


@unit_diagonal.misconception()
def scale_without_a_root(X):
    """You divided by d_k. The scale is its root."""
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    return np.diag(softmax(scores(U) / np.sqrt(X.shape[1])))


@unit_diagonal.misconception()
def scale_from_the_words(X):
    """You took the number of words. The scale comes from their width."""
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    return np.diag(softmax(U @ U.T / np.sqrt(len(X))))


@exercise.part(points=1.5, answer=Numbers())
def received(A):
    """What every word receives from all four together, itself included, shape (4,)."""
    return A.sum(axis=0)


@received.misconception()
def handed_out(A):
    """You added up rows: that is what a word hands out, 1 for each. Columns receive."""
    return A.sum(axis=1)


@received.misconception()
def from_the_others(A):
    """You left out what the words keep for themselves. Each is one of its own keys."""
    return A.sum(axis=0) - np.diag(A)


@received.misconception()
def mean_share(A):
    """These are means over the queries. Asked for is what arrives in all."""
    return A.mean(axis=0)


@exercise.part(
    points=0.25,
    answer=Choice(
        [
            "Those of the queries; the fields of each row.",
            "Those of the keys; the fields of each row.",
            "Those of the queries; the fields of each column.",
            "Those of the queries; all fields together.",
        ]
    ),
)
def vertical():
    """What stands beside the vertical axis of the heatmap, and which fields add up to 1?"""
    return "A"


vertical.mistakes(
    keys_on_the_vertical_axis=(
        "B",
        "Where the fields of a row add up to 1, the row belongs to the word that hands them out.",
    ),
    columns_are_distributions=(
        "C",
        "Add up a column of your heatmap. Nobody fixes how much a word is looked at in total.",
    ),
    all_fields_together=("D", "Add up all sixteen fields: four words each hand out a weight of 1."),
)
