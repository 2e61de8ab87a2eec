"""How much the position of a query tells about the key that it looks at.

Source: Cover & Thomas (2006), "Elements of Information Theory", section 2.4.
"""

import numpy as np

from autograder.exercise import Choice, Exercise, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "attn_information",
    title="What a position says about the key",
    source="Cover & Thomas (2006), section 2.4",
    minutes=30,
    hints=[
        "How probable is it that the first query is drawn *and* looks at the first key? Add such "
        "products up over the queries.",
        "For the extremes ask two things: how uncertain is the key before i is known, and how "
        "uncertain is it afterwards?",
    ],
)
attention_entropy = exercise.carries("a11_theory/row_entropy", "attention_entropy")

words = np.array([[1, 0], [0, 1], [1, 1]])
A = softmax(words @ words.T)


def is_distribution(p):
    """Only weights that add up to 1 have an entropy to go on with."""
    return (p > 0).all() and abs(p.sum() - 1) < 0.02


@exercise.part(points=1, answer=Numbers(), carry_if=is_distribution)
def marginal():
    """The probabilities of the three keys."""
    return A.mean(axis=0)


@marginal.misconception()
def not_divided():
    """These add up to 3. Each query has the probability 1/3."""
    return A.sum(axis=0)


marginal.mistakes(
    of_the_queries=(
        np.full(3, 1 / 3),
        "Those are the probabilities of the queries. Add up over them to get those of the keys.",
    ),
    last_row=(A[2], "That is how one query looks. All three of them count."),
)


@exercise.part(points=1, answer=Numbers())
def conditional():
    """The mean entropy of a row."""
    return attention_entropy(A).mean()


@conditional.misconception()
def rows_added_up():
    """You added up the rows. Each query has the probability 1/3."""
    return attention_entropy(A).sum()


@conditional.misconception()
def averaged_over_all_entries():
    """You averaged over all nine entries. Add up along each row, then average over the rows."""
    return attention_entropy(A).mean() / 3


@conditional.misconception()
def joint_entropy():
    """That is the entropy of query and key together. How much of it is left once i is known?"""
    return attention_entropy(A).mean() + np.log(3)


@conditional.misconception()
def entropy_of_the_marginal():
    """That is the entropy of the key when nothing is known about the query."""
    return attention_entropy(A.mean(axis=0))


@exercise.part(points=1, answer=Numbers())
def information(marginal, conditional):
    """The mutual information of query and key, in nats."""
    return attention_entropy(marginal) - conditional


@information.misconception()
def uniform_marginal(conditional):
    """You took log 3 for the entropy of the keys. Do all keys get the same attention?"""
    return np.log(3) - conditional


@information.misconception()
def added(marginal, conditional):
    """You added the two entropies. What is known about i takes uncertainty away."""
    return attention_entropy(marginal) + conditional


@information.misconception(credit=0.3)
def information_in_bits(marginal, conditional):
    """These are bits. Nats come from the natural logarithm."""
    return (attention_entropy(marginal) - conditional) / np.log(2)


@information.misconception()
def what_remains(conditional):
    """That is what remains uncertain. Information is by how much the uncertainty fell."""
    return conditional


@exercise.part(points=1, answer=Numbers())
def extremes():
    """I for the identity; the mean row entropy and I where all rows are the same one-hot row."""
    return np.array([np.log(3), 0, 0])


extremes.mistakes(
    collapse_informs=(
        np.array([np.log(3), 0, np.log(3)]),
        "If all rows are alike, what does the query's position say about the key?",
    ),
    identity_says_nothing=(
        np.zeros(3),
        "Sharp rows leave nothing uncertain. But before i was known, something was.",
    ),
    collapsed_rows_called_uniform=(
        np.array([np.log(3), np.log(3), 0]),
        "A one-hot row has no entropy, even if all rows are the same.",
    ),
)


@exercise.part(
    points=1,
    answer=Choice(
        [
            "The sharper the rows, the more the query tells about the key.",
            "Softmax attention chooses its weights such that $I$ is as large as possible.",
            "The flatter the rows, the more the query tells about the key.",
            "Rows without entropy go with the largest $I$ and with none: the entropy of rows "
            "alone doesn't tell how much attention depends on the query.",
        ]
    ),
)
def lesson():
    """What follows from the two extremes?"""
    return "D"


lesson.mistakes(
    sharp_is_informative=(
        "A",
        "Both extremes have rows without entropy. Is the information of both large?",
    ),
    softmax_maximises_information=(
        "B",
        "What softmax maximises stands in the exercise on that, row by row. Does I occur there?",
    ),
    flat_is_informative=("C", "Make all rows uniform: what does the query then say about the key?"),
)
