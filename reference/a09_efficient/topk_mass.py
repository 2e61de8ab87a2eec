"""How much is lost by keeping the largest weights alone.

Source: Gupta et al. (2021), "Memory-efficient transformers via top-k attention", section 3.
"""

import numpy as np

from autograder.algebra import Fact, IndexedChain
from autograder.exercise import Count, Derivation, Exercise, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "topk_mass",
    title="Keep the largest weights",
    source="Gupta et al. (2021), section 3",
    minutes=30,
    hints=[
        "Take one softmax over the whole row: everything about the row, the entropy as well, is "
        "made of these weights.",
        "In the proof split the first sum at m. What is kept then stands in two terms: write "
        "the factor 1 − 1/M with R before you take absolute values apart.",
    ],
)

logits = np.array([4.0, 3, 1, 0, 0, 0, 0, 0])
values = np.arange(8.0)
p = softmax(logits)


@exercise.part(points=1, answer=Numbers())
def mass():
    """The weight of the largest one, two and three keys together."""
    return np.cumsum(p[:3])


@mass.misconception(credit=0.3)
def single_weights():
    """These are single weights. Add up those that are kept."""
    return p[:3]


@mass.misconception()
def softmax_of_the_kept():
    """You took the softmax over the three largest logits: all eight share the sum."""
    return np.cumsum(softmax(logits[:3]))


@mass.misconception()
def shares_of_the_logits():
    """You took shares of the logits. Weights are shares of their exponentials."""
    return np.cumsum(logits[:3]) / logits.sum()


@exercise.part(points=0.5, answer=Numbers())
def full():
    """The output with all weights."""
    return p @ values


@full.misconception()
def mean_of_the_values():
    """You averaged the values evenly."""
    return values.mean()


@full.misconception()
def values_counted_from_one():
    """The values are 0 to 7."""
    return p @ (values + 1)


@exercise.part(points=0.5, answer=Numbers())
def top2():
    """The output with the two largest weights, renormalised."""
    return p[:2] @ values[:2] / p[:2].sum()


top2.mistakes(
    not_renormalised=(
        p[:2] @ values[:2],
        "What is left of the weights no longer adds up to 1: divide by its sum.",
        0.3,
    ),
    evenly_shared=(0.5, "The two weights are not equal."),
)


chain = IndexedChain(
    start="abs(sum(w_i*v_i, i) - sum(w_i*v_i, i, 1, m)/M)",
    target="2*R*max(abs(v_j), j)",
    names=("M", "R"),
    indexed=("w", "v", "s"),
    positive=("w", "M", "R"),
    indices=("i", "j", "k"),
    parts=("m",),
    relation="<=",
    definitions={
        "w_i": "exp(s_i)/sum(exp(s_j), j)",
        "M": "sum(w_i, i, 1, m)",
        "R": "sum(w_i, i, m+1, n)",
    },
    rules=(
        "parts of a sum",
        "triangle inequality",
        "largest term",
        "definition",
        Fact("weights sum to one", "R", "1 - M"),
    ),
)


@exercise.part(points=1.5, answer=Derivation(chain))
def bound_steps():
    """How far the output can move if the m largest weights are kept and made to add up to 1."""
    return [
        "abs(sum(w_i*v_i, i) - sum(w_i*v_i, i, 1, m)/M)",
        "= abs(sum(w_i*v_i, i, 1, m) + sum(w_i*v_i, i, m+1, n) - sum(w_i*v_i, i, 1, m)/M)",
        "= abs(sum(w_i*v_i, i, m+1, n) - R/M*sum(w_i*v_i, i, 1, m))  # weights sum to one",
        "<= abs(sum(w_i*v_i, i, m+1, n)) + R/M*abs(sum(w_i*v_i, i, 1, m))  # triangle inequality",
        "<= sum(w_i*abs(v_i), i, m+1, n) + R/M*sum(w_i*abs(v_i), i, 1, m)  # triangle inequality",
        "<= max(abs(v_j), j)*sum(w_i, i, m+1, n) + R/M*max(abs(v_j), j)*sum(w_i, i, 1, m)",
        "= max(abs(v_j), j)*R + R/M*max(abs(v_j), j)*M  # definition",
        "= 2*R*max(abs(v_j), j)  # algebra",
    ]


@bound_steps.alternative
def one_bound_after_the_other():
    """Bound the two sums separately."""
    return [
        "= abs(sum(w_i*v_i, i, m+1, n) + sum(w_i*v_i, i, 1, m) - sum(w_i*v_i, i, 1, m)/M)",
        "= abs(sum(w_i*v_i, i, m+1, n) - sum(w_i*v_i, i, 1, m)*R/M)",
        "<= abs(sum(w_i*v_i, i, m+1, n)) + R/M*abs(sum(w_i*v_i, i, 1, m))",
        "<= sum(w_i*abs(v_i), i, m+1, n) + R/M*abs(sum(w_i*v_i, i, 1, m))",
        "<= sum(w_i*abs(v_i), i, m+1, n) + R/M*sum(w_i*abs(v_i), i, 1, m)",
        "<= max(abs(v_j), j)*sum(w_i, i, m+1, n) + R/M*sum(w_i*abs(v_i), i, 1, m)",
        "<= max(abs(v_j), j)*sum(w_i, i, m+1, n) + R/M*max(abs(v_j), j)*sum(w_i, i, 1, m)",
        "= R*max(abs(v_j), j) + R/M*max(abs(v_j), j)*M",
        "= 2*R*max(abs(v_j), j)",
    ]


@bound_steps.alternative
def both_triangles_at_once():
    """The triangle inequality between the sums and within them."""
    return [
        "= abs(sum(w_i*v_i, i, m+1, n) + sum(w_i*v_i, i, 1, m) - sum(w_i*v_i, i, 1, m)/M)",
        "= abs(sum(w_i*v_i, i, m+1, n) - sum(w_i*v_i, i, 1, m)*R/M)",
        "<= sum(w_i*abs(v_i), i, m+1, n) + R/M*sum(w_i*abs(v_i), i, 1, m)",
        "<= max(abs(v_j), j)*sum(w_i, i, m+1, n) + R/M*max(abs(v_j), j)*sum(w_i, i, 1, m)",
        "= R*max(abs(v_j), j) + R/M*max(abs(v_j), j)*M",
        "= 2*R*max(abs(v_j), j)",
    ]


@bound_steps.alternative
def other_index():
    """The largest value under another index."""
    return [
        "= abs(sum(w_i*v_i, i, 1, m) + sum(w_i*v_i, i, m+1, n) - sum(w_i*v_i, i, 1, m)/M)",
        "= abs(sum(w_i*v_i, i, m+1, n) - R/M*sum(w_i*v_i, i, 1, m))",
        "<= abs(sum(w_i*v_i, i, m+1, n)) + R/M*abs(sum(w_i*v_i, i, 1, m))",
        "<= sum(w_i*abs(v_i), i, m+1, n) + R/M*sum(w_i*abs(v_i), i, 1, m)",
        "<= max(abs(v_k), k)*sum(w_i, i, m+1, n) + R/M*max(abs(v_k), k)*sum(w_i, i, 1, m)",
        "= max(abs(v_k), k)*R + R/M*max(abs(v_k), k)*M",
        "= 2*R*max(abs(v_k), k)",
    ]


@exercise.part(points=0.5, answer=Numbers())
def bound(mass):
    """The bound for the two largest of these weights."""
    return 2 * (1 - mass[1]) * values.max()


@bound.misconception()
def two_forgotten(mass):
    """The bound has a factor 2: weights are left out, and the others are made larger."""
    return (1 - mass[1]) * values.max()


@bound.misconception()
def kept_for_left_out(mass):
    """R is what is left out."""
    return 2 * mass[1] * values.max()


@bound.misconception()
def largest_of_the_kept(mass):
    """The largest of all values counts, of those that are left out, too."""
    return 2 * (1 - mass[1]) * values[1]


@bound.misconception()
def one_value_more(mass):
    """The largest value isn't 8: eight values from 0 on."""
    return 2 * (1 - mass[1]) * 8


@bound.misconception()
def actual_difference():
    """That is how far the output does move. The bound holds for all values up to the largest."""
    return p @ values - p[:2] @ values[:2] / p[:2].sum()


@exercise.part(points=0.5, answer=Count())
def above():
    """How many weights are above 0.01."""
    return 8


above.mistakes(
    logits_counted=(
        3,
        "That is how many logits are above 0.01. Compute the weights of the others, too.",
    ),
    small_ones_taken_for_nothing=(2, "A logit of 0 does not give a weight of 0."),
)


@exercise.part(points=0.5, answer=Numbers())
def perplexity():
    """The perplexity e^H of the weights, by how many keys the attention is spread."""
    return np.exp(-(p @ np.log(p)))


perplexity.mistakes(
    entropy_itself=(-(p @ np.log(p)), "That is the entropy. Its exponential counts keys."),
    bases_mixed=(
        np.exp(-(p @ np.log2(p))),
        "You took the logarithm to base 2 and raised e to it. The two have to match.",
    ),
    two_to_the_nats=(
        2 ** -(p @ np.log(p)),
        "You took the natural logarithm and raised 2 to it. The two have to match.",
    ),
    inverse_of_the_squares=(1 / (p @ p), "That is 1/Σ p², another measure of spread."),
)
