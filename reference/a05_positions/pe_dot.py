"""The inner product of two encodings is a function of their distance.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.5.
"""

import numpy as np

from autograder.exercise import Choice, Exercise, Figure, Formula, Numbers

exercise = Exercise(
    "pe_dot",
    title="Inner products know the distance",
    source="Vaswani et al. (2017), section 3.5",
    minutes=35,
    hints=[
        "Each pair contributes sin a sin b + cos a cos b. Is there a name for that?",
        "The position p drops out; what is left is a sum over pairs that depends on k alone.",
    ],
)
positional_encoding = exercise.carries("a05_positions/pe_code", "positional_encoding")


@exercise.variant
def draw(rng):
    """base: that of the table at d = 4; k: three shifts at d = 128 and base 10000."""
    k = np.sort(rng.choice([1, 2, 3, 5, 8, 10, 20, 30, 50, 80, 100], 3, replace=False))
    return {"base": int(rng.choice([25, 64, 100, 400, 900])), "k": k}


def product(k, d, base=10000):
    """Return Σ cos(k ω_i) for every k."""
    return np.cos(np.multiply.outer(k, base ** (-np.arange(0, d, 2) / d))).sum(axis=-1)


@exercise.part(points=2, answer=Formula("k w1 w2 w3"))
def closed_form():
    """PE(p) · PE(p + k) for three pairs with the frequencies w1, w2, w3."""
    return "cos(k*w1) + cos(k*w2) + cos(k*w3)"


@closed_form.alternative
def with_the_sign_of_k():
    """A cosine is even."""
    return "cos(-w1*k) + cos(-w2*k) + cos(-w3*k)"


closed_form.mistakes(
    sines_instead=(
        "sin(k*w1) + sin(k*w2) + sin(k*w3)",
        "At k = 0 this is 0. What is the inner product of a vector with itself?",
    ),
    number_of_pairs=(
        "3",
        "That is the product of an encoding with itself. Does a shift change nothing?",
    ),
    frequencies_added=(
        "cos(k*(w1 + w2 + w3))",
        "You added the frequencies up first. Every pair contributes a cosine of its own.",
    ),
    pairs_multiplied=(
        "cos(k*w1)*cos(k*w2)*cos(k*w3)",
        "You multiplied the pairs. In an inner product the contributions of all columns are added.",
    ),
    both_columns_alike=(
        "2*cos(k*w1) + 2*cos(k*w2) + 2*cos(k*w3)",
        "Each pair is counted twice: sine times sine and cosine times cosine make one cosine.",
    ),
    closed_form_divided=(
        "(cos(k*w1) + cos(k*w2) + cos(k*w3))/3",
        "These are cosines of angles between encodings: you divided by their lengths.",
    ),
)


@exercise.part(points=1, answer=Numbers())
def small(base):
    """The products for k = 0, 1, 2, 3 at d = 4 and your base, shape (4,)."""
    return product(np.arange(4), 4, base)


@small.misconception()
def exponent_doubled(base):
    """The second pair turns too slowly. Its frequency is base^(−2i/d) with i = 1."""
    return product(np.arange(4), 4, base**2)


@small.misconception()
def begun_at_one(base):
    """Your list begins with k = 1. The first k is 0: a vector with itself."""
    return product(np.arange(1, 5), 4, base)


@small.misconception()
def divided_by_the_norm(base):
    """These are cosines of angles between encodings: you divided by their lengths."""
    return product(np.arange(4), 4, base) / 2


@exercise.part(points=1, answer=Numbers())
def wide(k):
    """The products for your three shifts k at d = 128 and base 10000, shape (3,)."""
    return product(k, 128)


@wide.alternative
def wide_from_a_table(k):
    """Multiply the first row of a table with some others."""
    table = np.asarray(positional_encoding(1 + int(max(k)), 128))
    return table[k] @ table[0]


@wide.misconception()
def wide_exponent_doubled(k):
    """Your waves are too long: the exponent of the pair i is 2i/d."""
    return product(k, 128, 10000**2)


@wide.misconception()
def wide_exponent_halved(k):
    """Your waves are too short: here the base is 10000, and the exponent of the pair i is 2i/d."""
    return product(k, 128, 10000**0.5)


@wide.misconception()
def half_of_the_pairs(k):
    """You added up 32 pairs. Of 128 columns two make a pair."""
    return product(k, 64)


@wide.misconception()
def wide_divided(k):
    """These are cosines of angles between encodings: you divided by their lengths."""
    return product(k, 128) / 64


@exercise.part(points=2, answer=Figure())
def curve():
    """The product against k = 0 … 199 at d = 128: (x, y)."""
    k = np.arange(200)
    return {"curve": (k, product(k, 128))}


@curve.alternative
def curve_from_a_table():
    """Multiply the first row of a table with all of its rows."""
    table = np.asarray(positional_encoding(200, 128))
    return {"curve": (np.arange(200), table @ table[0])}


@curve.misconception()
def curve_begun_at_one():
    """Your k runs from 1 to 200. The curve begins with k = 0."""
    k = np.arange(1, 201)
    return {"curve": (k, product(k, 128))}


@curve.misconception()
def curve_of_half_the_pairs():
    """Your curve begins at 32: you added up 32 pairs. Of 128 columns two make a pair."""
    k = np.arange(200)
    return {"curve": (k, product(k, 64))}


@curve.misconception()
def curve_divided():
    """These are cosines of angles between encodings: you divided by their lengths."""
    k = np.arange(200)
    return {"curve": (k, product(k, 128) / 64)}


@curve.misconception()
def curve_exponent_doubled():
    """Your waves are too long: the exponent of the pair i is 2i/d."""
    k = np.arange(200)
    return {"curve": (k, product(k, 128, 10000**2))}


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "The farther, the smaller: it falls all the way, so that no two distances share a "
            "value.",
            "It falls at first and then wavers; it can't tell a position before from one behind.",
            "It tells a position before from one behind.",
            "Beyond some distance positions are orthogonal: the product stays at 0 from there.",
        ]
    ),
)
def reading():
    """What does the curve say?"""
    return "B"


reading.mistakes(
    strictly_falling=("A", "Zoom in: it rises for the first time soon after k = 10."),
    knows_the_direction=(
        "C",
        "The product with the encoding k positions back is the same, since cosines are even.",
    ),
    reaches_zero=(
        "D",
        "The slow pairs hardly turn in 200 positions, and each still contributes nearly 1.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def norm():
    """The length of every encoding at d = 512."""
    return 16.0


norm.mistakes(
    root_of_the_width=(
        np.sqrt(512),
        "That is √d. A pair adds sin² + cos² to the square of the length, so how much do d/2 "
        "pairs?",
    ),
    squared_length=(256.0, "That is the square of the length."),
    length_of_a_pair=(1.0, "That is the length of one pair. There are d/2 of them."),
)
