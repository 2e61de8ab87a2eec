"""How large the positional encoding is beside the embedding that it is added to.

Source: Vaswani et al. (2017), sections 3.4 and 3.5.
"""

import numpy as np

from autograder.exercise import Exercise, Numbers

exercise = Exercise(
    "position_in_stack",
    title="Balance of embedding and position",
    source="Vaswani et al. (2017), sections 3.4 and 3.5",
    minutes=15,
    hints=[
        "The encoding consists of pairs sin, cos. How long is a pair, and how many are there?",
        "If every entry of an embedding has the variance 1/d, what is its squared length on "
        "average, and what does a factor do to a length?",
    ],
)

D = 512


@exercise.part(points=1, answer=Numbers())
def norms():
    """The norm of an encoding, of an embedding, of an embedding with its factor."""
    return [np.sqrt(D / 2), 1.0, np.sqrt(D)]


norms.mistakes(
    every_column_one=(
        [np.sqrt(D), 1.0, np.sqrt(D)],
        "A sine and a cosine are a pair: their squares together make 1.",
    ),
    one_pair=(
        [1.0, 1.0, np.sqrt(D)],
        "That is one pair of sine and cosine. An encoding has many of them.",
    ),
    squared_norms=([D / 2, 1.0, D], "These are the squares of the norms."),
    one_entry_each=(
        [np.sqrt(0.5), 1 / np.sqrt(D), 1.0],
        "You gave the size of an entry. A norm is of all 512 together.",
    ),
    factor_of_the_width=(
        [np.sqrt(D / 2), 1.0, D],
        "You multiplied by d. The factor is chosen so that each entry gets variance 1.",
    ),
)


@exercise.part(points=1, answer=Numbers())
def ratio(norms):
    """Encoding over embedding, with the factor and without it."""
    encoding, plain, scaled = norms
    return [encoding / scaled, encoding / plain]


@ratio.misconception()
def other_order(norms):
    """You gave them in the other order: first with the factor, then without."""
    encoding, plain, scaled = norms
    return [encoding / plain, encoding / scaled]


@ratio.misconception()
def upside_down(norms):
    """You divided the other way round."""
    encoding, plain, scaled = norms
    return [scaled / encoding, plain / encoding]
