"""What weights from a few features can't express.

Source: Eckart & Young (1936); Bhojanapalli et al. (2020), "Low-rank bottleneck in multi-head
attention", section 3.
"""

import numpy as np

from autograder.algebra import IndexedChain
from autograder.exercise import Choice, Count, Derivation, Exercise, Numbers

exercise = Exercise(
    "lin_rank",
    title="What few features can't express",
    source="Eckart & Young (1936); Bhojanapalli et al. (2020), section 3",
    minutes=20,
    hints=[
        "In the denominator one sum runs over keys, the other one over features. Which of the two "
        "has a factor that the other index doesn't change?",
        "The singular values of the identity are all alike: count those that have to go, and "
        "mind which norm is asked for.",
        "For `rest` write one row of the softmax out: there are three exponentials, and two of "
        "them are the same.",
    ],
)


@exercise.variant
def draw(rng):
    """n: tokens; D: features."""
    return {"n": int(rng.integers(7, 13)), "D": int(rng.integers(2, 5))}


START = "sum(f_a*g_ja, a, 1, r)/sum(sum(f_a*g_ka, a, 1, r), k)"

chain = IndexedChain(
    start=START,
    target="sum(u_a*g_ja, a, 1, r)",
    indexed=("f", "g", "u", "s"),
    names=("z",),
    indices=("a", "b", "i", "j", "k"),
    sizes=("r",),
    definitions={"s_a": "sum(g_ka, k)", "z": "sum(f_a*s_a, a, 1, r)", "u_a": "f_a/z"},
    rules=("linearity of sums", "order of sums", "definition"),
)


OTHER_STEPS = (
    "sum(sum(u_a*g_ja, a, 1, r), j)",
    "sum(u_a*sum(g_ja, j), a, 1, r)",
    "sum(u_a*s_a, a, 1, r)",
    "sum(f_a*s_a, a, 1, r)/z",
    "1",
)


@exercise.part(points=1, answer=Derivation(chain, practice=OTHER_STEPS))
def steps():
    """One normalised weight, to a sum of r products of what the query and the key bring."""
    return [
        START,
        "sum(f_a*g_ja, a, 1, r)/sum(sum(f_a*g_ka, k), a, 1, r)",
        "sum(f_a*g_ja, a, 1, r)/sum(f_a*sum(g_ka, k), a, 1, r)",
        "sum(f_a*g_ja, a, 1, r)/sum(f_a*s_a, a, 1, r)",
        "sum(f_a*g_ja, a, 1, r)/z",
        "sum((f_a/z)*g_ja, a, 1, r)",
        "sum(u_a*g_ja, a, 1, r)",
    ]


@steps.alternative
def with_rules():
    """Name the rule of each line."""
    return [
        "sum(f_a*g_ja, a, 1, r)/sum(sum(f_a*g_ka, k), a, 1, r)  # order of sums",
        "sum(f_a*g_ja, a, 1, r)/sum(f_a*sum(g_ka, k), a, 1, r)  # linearity of sums",
        "sum(f_a*g_ja, a, 1, r)/z  # definition",
        "sum(f_a*g_ja/z, a, 1, r)  # linearity of sums",
        "sum(u_a*g_ja, a, 1, r)  # definition",
    ]


@steps.alternative
def in_latex():
    """Sums and fractions in LaTeX, the factor in front for a while."""
    return [
        r"\frac{\sum_{a=1}^r f_a g_{ja}}{\sum_k \sum_{a=1}^r f_a g_{ka}}",
        r"= \frac{\sum_{a=1}^r f_a g_{ja}}{\sum_{a=1}^r f_a \sum_k g_{ka}}",
        r"= \frac{\sum_{a=1}^r f_a g_{ja}}{\sum_{a=1}^r f_a s_a}",
        r"= \frac{1}{z} \sum_{a=1}^r f_a g_{ja}",
        r"= \sum_{a=1}^r \frac{f_a}{z} g_{ja}",
        r"= \sum_{a=1}^r u_a g_{ja}",
    ]


@steps.alternative
def multiples_of_z():
    """The features of the query as multiples of z."""
    return [
        START,
        "sum(f_a*g_ja, a, 1, r)/sum(sum(f_a*g_ka, k), a, 1, r)",
        "sum(f_a*g_ja, a, 1, r)/sum(f_a*sum(g_ka, k), a, 1, r)",
        "sum(f_a*g_ja, a, 1, r)/sum(f_a*s_a, a, 1, r)",
        "sum(f_a*g_ja, a, 1, r)/z",
        "sum(z*u_a*g_ja, a, 1, r)/z",
        "sum(u_a*g_ja, a, 1, r)",
    ]


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "The rows add up to 1, which is one condition more: the rank is $D - 1$ at most.",
            "Every row is a combination of the same $D$ rows: the rank is $D$ at most.",
            "A row of features has $D$ numbers: the rank is exactly $D$.",
            "What is done to every entry by itself, such as an exponential or a division, keeps "
            "the rank: it is that of the scores.",
        ]
    ),
)
def conclusion():
    """What follows for the rank of the normalised weights?"""
    return "B"


conclusion.mistakes(
    rank_of_the_sum_lost=(
        "A",
        "That the entries of each row add up to 1 makes no row a combination of others.",
    ),
    exactly_the_width=(
        "C",
        "Equal rows of features give a lower rank. D is a bound, and a bound is asked for.",
    ),
    softmax_keeps_rank=("D", "It does not: that is how softmax weights get out of the bound."),
)


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


softmax_rank.mistakes(
    rank_of_the_scores=(3, "That is the rank of the scores. The exponential acts on every entry."),
    a_little_more_than_the_scores=(
        4,
        "Entry by entry the exponential keeps no rank near that of the scores. Try it.",
    ),
    one_for_the_sum=(7, "The rows add up to 1; that does not make them depend on each other."),
)


@exercise.part(points=0.5, answer=Numbers())
def rest():
    """What softmax(20 I) of three tokens leaves for the other two keys, in units of 10⁻⁹."""
    return 1e9 * 2 * np.exp(-20) / (1 + 2 * np.exp(-20))


rest.mistakes(
    scaled_by_root_three=(
        1e9 * 2 / (2 + np.exp(20 / np.sqrt(3))),
        "You divided by √3. No scale is asked for here.",
    ),
    nothing_left=(0, "Little is left, but not nothing. Say how many times 10⁻⁹ it is."),
    one_other_key=(1e9 / (2 + np.exp(20)), "There are two other keys."),
)
