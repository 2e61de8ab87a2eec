"""Six things that are said about sinusoidal encodings.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.5.
"""

import numpy as np

from autograder.exercise import Choice, Exercise, Numbers

exercise = Exercise(
    "pe_claims",
    title="Six claims on trial",
    source="Vaswani et al. (2017), section 3.5",
    minutes=30,
    hints=[
        "Test each claim with a small table of encodings before you believe or refuse it.",
        "A row is made of pairs, each of which has the length that sin² + cos² gives; the "
        "number of pairs depends on the width.",
    ],
)
positional_encoding = exercise.carries("a05_positions/pe_code", "positional_encoding")


@exercise.variant
def draw(rng):
    """n: positions of the table with d = 8; d: the width of the wide one."""
    return {
        "n": int(rng.choice([60, 80, 100, 120, 150, 200])),
        "d": int(rng.choice([64, 128, 256, 512, 768, 1024])),
    }


def cosine(x, y):
    """Return the cosine of the angle between two vectors."""
    return x @ y / np.sqrt(x @ x * (y @ y))


@exercise.part(
    points=1.5,
    answer=Choice(
        [
            "*Deterministic*: a position has the same encoding whenever it is computed.",
            "*Even steps*: from each position to the next the vector moves by the same length.",
            "*Periodic*: after some number of positions the whole vectors come back.",
            "*Orthogonal*: any two different columns of a table of 100 positions are orthogonal.",
            "*Equal length*: all encodings have the same length.",
            "*Similar neighbours*: a position's encoding is more similar to the next one's than "
            "to any that is ten positions away.",
        ],
        multiple=True,
    ),
)
def true_set():
    """Which of the six claims are true?"""
    return "ABEF"


true_set.mistakes(
    orthogonal_accepted=(
        "ABDEF",
        "You accept that the columns are orthogonal. Compute the cosine of columns 5 and 7.",
    ),
    periodic_accepted=(
        "ABCEF",
        "You accept that the vectors repeat. Every pair turns, but is there a common whole period?",
    ),
    both_accepted=(
        "ABCDEF",
        "Two of them are often said and wrong: one about columns, one about returning vectors.",
    ),
)


@exercise.part(points=1.5, answer=Numbers())
def columns(n):
    """The cosines of columns 0 and 1 and of columns 5 and 7, for d = 8 and your n positions."""
    table = positional_encoding(n, 8)
    return np.array([cosine(table[:, 0], table[:, 1]), cosine(table[:, 5], table[:, 7])])


@columns.misconception()
def rows_compared(n):
    """You compared rows. A column is one entry of the encoding at all positions."""
    table = positional_encoding(n, 8)
    return np.array([cosine(table[0], table[1]), cosine(table[5], table[7])])


@columns.misconception()
def products_of_columns(n):
    """These are inner products. For a cosine divide by both lengths."""
    table = positional_encoding(n, 8)
    return np.array([table[:, 0] @ table[:, 1], table[:, 5] @ table[:, 7]])


@columns.misconception()
def correlations(n):
    """You subtracted the means first: these are correlations. The claim is about the columns."""
    table = positional_encoding(n, 8)
    table -= table.mean(axis=0)
    return np.array([cosine(table[:, 0], table[:, 1]), cosine(table[:, 5], table[:, 7])])


@exercise.part(points=1, answer=Numbers())
def step(d):
    """The length of the step from one encoding to the next, at your wide d."""
    first, second = positional_encoding(2, d)
    return np.linalg.norm(second - first)


@step.misconception()
def step_squared(d):
    """That is the square of the length."""
    first, second = positional_encoding(2, d)
    return np.sum((second - first) ** 2)


@step.misconception()
def step_of_the_doubled_exponent(d):
    """Your pairs are too slow: the exponent of the pair i is 2i/d."""
    first, second = positional_encoding(2, d, 10000**2)
    return np.linalg.norm(second - first)


def longer_than_one(length):
    """Every pair adds 1 to the square of the length."""
    return length > 1


@exercise.part(points=0.5, answer=Numbers(), carry_if=longer_than_one)
def norm(d):
    """The length of every row at your wide d."""
    return np.sqrt(d / 2)


@norm.misconception()
def root_of_the_width(d):
    """That is √d. A pair adds sin² + cos² to the square of the length, so how much do d/2 pairs?"""
    return np.sqrt(d)


@norm.misconception()
def norm_squared(d):
    """That is the square of the length."""
    return d / 2


@exercise.part(points=0.5, answer=Numbers())
def neighbours(step, norm):
    """The cosine of two neighbouring rows at your wide d."""
    return 1 - step**2 / (2 * norm**2)


@neighbours.alternative
def product_over_the_lengths(d, step, norm):
    """The inner product of two neighbours, divided by both lengths."""
    return (d / 2 - step**2 / 2) / norm**2


@neighbours.misconception()
def product_of_neighbours(step, norm):
    """That is the inner product. For a cosine divide by both lengths."""
    return norm**2 - step**2 / 2


@neighbours.misconception()
def half_forgotten(step, norm):
    """You subtract twice as much as there is. |a − b|² has the inner product twice."""
    return 1 - step**2 / norm**2


@neighbours.misconception()
def one_norm_as_the_width(step, norm):
    """You subtract half of what there is. What is the square of the length of a row?"""
    return 1 - step**2 / (4 * norm**2)


@neighbours.misconception()
def what_is_missing_from_one(step, norm):
    """That is how far the cosine is from 1."""
    return step**2 / (2 * norm**2)


@neighbours.misconception()
def distance_of_directions(step, norm):
    """That is a distance of the two directions, or their angle. The cosine of equal ones is 1."""
    return step / norm
