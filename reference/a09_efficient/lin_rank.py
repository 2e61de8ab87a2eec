"""What weights from a few features can't express.

Source: Eckart & Young (1936); Bhojanapalli et al. (2020), "Low-rank bottleneck in multi-head
attention", section 3.
"""

import numpy as np

from autograder.exercise import Count, Exercise, Numbers, Ordering

exercise = Exercise(
    "lin_rank",
    title="What few features can't express",
    source="Eckart & Young (1936); Bhojanapalli et al. (2020), section 3",
    minutes=20,
    hints=[
        "Of which few rows are all rows of the product made? And is a row still made of them "
        "when it has been divided by a number?",
        "The singular values of the identity are all alike: count those that have to go, and "
        "mind which norm is asked for.",
        "For `rest` write one row of the softmax out: there are three exponentials, and two of "
        "them are the same.",
    ],
)


proof = Ordering(
    [
        (
            [
                "Row $i$ of $\\varphi(Q)\\, \\varphi(K)^\\top$ is a sum of the $D$ rows of "
                "$\\varphi(K)^\\top$, each times a feature of $q_i$.",
                "So all rows lie in a space spanned by $D$ vectors: the rank is at most $D$.",
            ],
            [
                "Dividing each row by its sum $z_i$ is a product from the left with the diagonal "
                "matrix of the $1/z_i$.",
                "All features are positive, so no $z_i$ is 0, and that diagonal matrix is "
                "invertible.",
            ],
        ),
        "A product with an invertible matrix has the same rank: the normalised weights have at "
        "most rank $D$, too.",
    ],
    distractors={
        "rank_of_the_sum_lost": (
            "The rows now add up to 1, which is one condition: the rank falls by one.",
            "That the entries of each row add up to 1 makes no row a combination of others.",
        ),
        "exactly_the_width": (
            "A row of features has $D$ entries, so the rank is exactly $D$.",
            "Equal rows of features give a lower rank. D is a bound, and a bound is asked for.",
        ),
        "softmax_keeps_rank": (
            "A function of each entry, such as the exponential, keeps the rank.",
            "It does not: that is how softmax weights get out of the bound.",
        ),
    },
)


@exercise.variant
def draw(rng):
    """n: tokens; D: features; steps: of the proof, by their letters."""
    return {
        "n": int(rng.integers(7, 13)),
        "D": int(rng.integers(2, 5)),
        "steps": proof.shuffled(rng),
    }


@exercise.part(points=1.5, answer=proof)
def order(steps):
    """Normalised weights of D features have at most rank D: the steps of a proof, in order."""
    return proof.order(steps)


@exercise.part(points=0.5, answer=Count())
def rank(D):
    """The rank of the weights of your n tokens with your D features, as a rule."""
    return D


@rank.misconception()
def rank_of_all_tokens(n):
    """That is the number of tokens. Look at the bound that you proved."""
    return n


@rank.misconception()
def one_lower(D):
    """Rows that add up to 1 are no reason for a lower rank."""
    return D - 1


@exercise.part(points=1, answer=Numbers())
def distance(n, D):
    """The smallest Frobenius distance of an n × n matrix of rank D to the identity."""
    return np.sqrt(n - D)


@distance.misconception()
def distance_squared(n, D):
    """That is the square of the distance."""
    return n - D


@distance.misconception()
def norm_of_what_is_kept(n, D):
    """That is the norm of what rank D can keep. Asked for is what is missing."""
    return np.sqrt(D)


@distance.misconception()
def spectral_norm(n, D):
    """That is the spectral norm's distance. Frobenius collects all singular values left out."""
    return 1


@distance.misconception()
def distance_to_nothing(n, D):
    """That is the norm of the whole identity: D of its singular values can be kept."""
    return np.sqrt(n)


@exercise.part(points=0.5, answer=Count())
def softmax_rank():
    """The rank of the softmax weights of eight tokens with d_k = 3."""
    return 8


@softmax_rank.misconception()
def rank_of_the_scores():
    """That is the rank of the scores. The exponential acts on every entry."""
    return 3


@softmax_rank.misconception()
def a_little_more_than_the_scores():
    """Entry by entry the exponential keeps no rank near that of the scores. Try it."""
    return 4


@softmax_rank.misconception()
def one_for_the_sum():
    """The rows add up to 1; that does not make them depend on each other."""
    return 7


@exercise.part(points=0.5, answer=Numbers())
def rest():
    """What softmax(20 I) of three tokens leaves for the other two keys, in units of 10⁻⁹."""
    return 1e9 * 2 * np.exp(-20) / (1 + 2 * np.exp(-20))


@rest.misconception()
def scaled_by_root_three():
    """You divided by √3. No scale is asked for here."""
    return 1e9 * 2 / (2 + np.exp(20 / np.sqrt(3)))


@rest.misconception()
def nothing_left():
    """Little is left, but not nothing. Say how many times 10⁻⁹ it is."""
    return 0


@rest.misconception()
def one_other_key():
    """There are two other keys."""
    return 1e9 / (2 + np.exp(20))
