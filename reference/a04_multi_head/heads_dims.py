"""Sizes, costs and the purpose of several heads.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.2.
"""

import numpy as np

from autograder.exercise import Choice, Count, Exercise, Numbers

exercise = Exercise(
    "heads_dims",
    title="Splitting a width",
    source="Vaswani et al. (2017), section 3.2.2",
    minutes=35,
    hints=[
        "The width is divided among the heads: h heads of d/h columns each.",
        "For the scores of one head multiply rows, columns and the width that is summed over;"
        " then there are h of them.",
        "The scale belongs to the vectors that are multiplied: those of a head.",
    ],
)


@exercise.variant
def draw(rng):
    """d: the width of the model, h: the heads, which divide it, n: tokens."""
    while True:
        d, h = int(rng.choice([256, 384, 512, 768])), int(rng.choice([4, 6, 8, 12]))
        if d % h == 0:
            return {"d": d, "h": h, "n": int(rng.choice([50, 80, 100, 120, 200]))}


@exercise.part(points=1, answer=Count())
def d_k(d, h):
    """The width of one head."""
    return d // h


@d_k.misconception()
def whole_width(d):
    """That is the width of all heads together."""
    return d


@d_k.misconception()
def number_of_heads(h):
    """That is the number of heads. How many columns does each of them get?"""
    return h


@d_k.misconception()
def multiplied(d, h):
    """The heads share the width: they don't multiply it."""
    return d * h


@exercise.part(points=1, answer=Count())
def joined(d_k, h):
    """The width after the heads have been put side by side."""
    return d_k * h


@joined.misconception()
def one_head(d_k):
    """That is one head. All of them stand side by side."""
    return d_k


@joined.misconception()
def width_multiplied(d, h):
    """You put h full widths side by side. How wide is one head?"""
    return d * h


@exercise.part(
    points=1,
    answer=Choice(
        [
            "Several patterns for each token, with as many parameters and madds for the scores "
            "as a single head of the full width.",
            "A layer with several heads has more parameters.",
            "A row of weights is one average: half and half on two values gives their mean, and "
            "neither of them.",
            "Fewer scores have to be computed.",
            "Each head takes over one task of grammar.",
        ],
        multiple=True,
    ),
)
def reasons():
    """What speaks for several heads?"""
    return "AC"


reasons.mistakes(
    more_parameters=(
        "ABC",
        "Count the parameters: h heads of width d/h have as many as one of width d.",
    ),
    fewer_scores=(
        "ACD",
        "Each head has n² scores. How many are there in all, and how many products do they take?",
    ),
    guaranteed=("ACE", "Which reason would be a guarantee that nothing in the architecture gives?"),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Yes, the architecture makes sure of it.",
            "Yes, the loss punishes equal heads.",
            "No, and so trained heads are all alike.",
            "No. They start differently and are trained; how much they differ has to be measured.",
        ]
    ),
)
def differ():
    """Do heads have to become different?"""
    return "D"


differ.mistakes(
    by_construction=(
        "A",
        "All heads are computed by the same formula. What makes their matrices differ?",
    ),
    by_the_loss=(
        "B",
        "The loss sees the output of the layer. Two equal heads would not be punished.",
    ),
    always_the_same=(
        "C",
        "They start from different random matrices, and get different gradients.",
    ),
)


@exercise.part(points=3, answer=Count())
def costs(d, d_k, h, n):
    """Madds of the scores with h heads and with one; weights with h heads and with one."""
    return [h * n * n * d_k, n * n * d, h * n * n, n * n]


@costs.misconception()
def heads_of_full_width(d, h, n):
    """Your heads have the full width, so the scores cost h times as much."""
    return [h * n * n * d, n * n * d, h * n * n, n * n]


@costs.misconception()
def a_single_matrix(d, d_k, h, n):
    """Every head has weights of its own, n² of them."""
    return [h * n * n * d_k, n * n * d, n * n, n * n]


@costs.misconception()
def scores_of_one_head(d, d_k, h, n):
    """The first number is that of one head. There are h."""
    return [n * n * d_k, n * n * d, h * n * n, n * n]


@costs.misconception()
def one_query_alone(d, h, n):
    """You counted the scores of one query. There are n of them."""
    return [n * d, n * d, h * n * n, n * n]


@exercise.part(points=1.5, answer=Numbers())
def scale(d_k):
    """The factor by which the scores of a head are multiplied."""
    return 1 / float(d_k) ** 0.5


@scale.misconception()
def scale_of_the_model(d):
    """You took the width of the model. A score is a product of two vectors of the head's width."""
    return 1 / np.sqrt(d)


@scale.misconception()
def root_forgotten(d_k):
    """That is 1/d_k. A sum of d_k independent products spreads like √d_k."""
    return 1 / float(d_k)


@scale.misconception()
def scale_of_the_heads(h):
    """You took the number of heads. The scale comes from their width."""
    return 1 / np.sqrt(h)


@scale.misconception()
def root_not_inverted(d_k):
    """Scores are divided by that: the factor is its inverse."""
    return float(d_k) ** 0.5
