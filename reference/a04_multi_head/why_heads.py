"""What one head cannot do.

Source: Vaswani et al. (2017), section 3.2.2; Michel et al. (2019), "Are sixteen heads really better
than one?".
"""

import numpy as np

from autograder.exercise import Count, Essay, Exercise, Numbers

exercise = Exercise(
    "why_heads",
    title="What one head cannot do",
    source="Vaswani et al. (2017), section 3.2.2; Michel et al. (2019)",
    minutes=30,
    hints=[
        "Equal weights on two values give their mean. Is there a value in the list that the "
        "result could be mistaken for?",
        "Subtracting each row's mean is a product with one matrix. Which vector does that "
        "matrix send to 0?",
    ],
)


@exercise.part(points=0.25, answer=Numbers())
def blended():
    """The output for equal weights on the first and the last of the values 0, 1, 4."""
    return 2.0


@blended.misconception()
def sum_of_both():
    """That is their sum. Each has the weight one half."""
    return 4.0


@blended.misconception()
def mean_of_all():
    """You averaged all three: the second one has no weight here."""
    return 5 / 3


@blended.misconception()
def mean_of_the_last_two():
    """You averaged the last two. The weights are on the first and the last."""
    return 2.5


@exercise.part(points=1.75, answer=Count())
def needed():
    """The rank of the 4 × 4 identity after each row's mean was subtracted."""
    return int(np.linalg.matrix_rank(np.eye(4) - 0.25))


@needed.misconception()
def rank_of_the_identity():
    """That is the rank of the identity itself. What do its rows add up to after the subtraction?"""
    return 4


@needed.misconception()
def enough_to_look_mostly():
    """That is enough to look mostly at oneself. Asked for is the rank of exactly this table."""
    return 2


@needed.misconception()
def one_direction():
    """Compute it: the rows point into several directions."""
    return 1


@exercise.part(points=3, answer=Essay())
def benefit_cost_caveat():
    """What do several heads bring, what do they cost, and what should one not conclude?

    (1) Benefit: several averages for each token, with different weights, instead of one blend.

    (2) Cost: each head has d/h dimensions for its scores, which limits the patterns it can form.

    (3) Caveat: that heads specialise is observed in some trained models; nothing enforces it, and
    many heads can be removed without much harm.
    """
    return (
        "Several heads give a token several averages with weights of their own, where one head can "
        "only blend. Each of them has d/h dimensions for its scores, so single patterns are more "
        "restricted. That heads take on different roles is seen in some trained models and "
        "enforced by nothing; often many of them can be removed."
    )
