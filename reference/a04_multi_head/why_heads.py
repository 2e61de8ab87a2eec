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


blended.mistakes(
    sum_of_both=(4.0, "That is their sum. Each has the weight one half."),
    mean_of_all=(5 / 3, "You averaged all three: the second one has no weight here."),
    mean_of_the_last_two=(
        2.5,
        "You averaged the last two. The weights are on the first and the last.",
    ),
)


@exercise.part(points=1.75, answer=Count())
def needed():
    """The rank of the 4 × 4 identity after each row's mean was subtracted."""
    return int(np.linalg.matrix_rank(np.eye(4) - 0.25))


needed.mistakes(
    rank_of_the_identity=(
        4,
        "That is the rank of the identity itself. What do its rows add up to after the "
        "subtraction?",
    ),
    enough_to_look_mostly=(
        2,
        "That is enough to look mostly at oneself. Asked for is the rank of exactly this table.",
    ),
    one_direction=(1, "Compute it: the rows point into several directions."),
)


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
