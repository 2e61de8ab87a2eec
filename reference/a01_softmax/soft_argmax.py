"""The expected index, which is no maximum, and two smooth maxima.

Source: Boyd & Vandenberghe (2004), "Convex Optimization", section 3.1.5.
"""

import numpy as np
import sympy

from autograder.algebra import Chain, Waypoint
from autograder.exercise import Choice, Derivation, Exercise, Formula, Numbers

exercise = Exercise(
    "soft_argmax",
    title="Expected index is not a maximum",
    source="Boyd & Vandenberghe (2004), section 3.1.5",
    minutes=30,
    hints=[
        "An expected index weights each index by its probability; indices begin with 0 here.",
        "Take the largest logit out of the sum: what is left are exponentials of numbers that"
        " are 0 or negative.",
        "For the bounds ask which term of the sum is known exactly, and how large the others "
        "can be at most.",
    ],
)
softmax = exercise.carries("a01_softmax/softmax_stable", "softmax")


@exercise.variant
def draw(rng):
    """z: five whole numbers 0–5 with one largest, which isn't in the middle; a: from 3 to 6."""
    while True:
        z = rng.integers(0, 6, 5)
        if np.count_nonzero(z == z.max()) == 1 and z.argmax() != 2 and np.ptp(z) >= 2:
            return {"z": z, "a": int(rng.integers(3, 7))}


def both(z, a):
    """The vector z and the vector (a, 0, a)."""
    return z, np.array([a, 0, a])


@exercise.part(points=2, answer=Numbers())
def ei(z, a):
    """The expected index Σ i p_i, counted from 0, of z and of (a, 0, a): two numbers."""
    return np.array([softmax(v) @ np.arange(len(v)) for v in both(z, a)])


@ei.misconception()
def counted_from_one(z, a):
    """You counted the entries from 1. Here, as in Python, the first index is 0."""
    return np.array([softmax(v) @ np.arange(1, len(v) + 1) for v in both(z, a)])


@ei.misconception()
def hard_index(z, a):
    """These are positions of largest logits. Every index counts with its probability."""
    return np.array([v.argmax() for v in both(z, a)])


@ei.misconception()
def expected_logit(z, a):
    """You averaged the logits. Here the positions 0, 1, 2, … are averaged."""
    return np.array([softmax(v) @ v for v in both(z, a)])


@ei.misconception()
def logits_as_weights(z, a):
    """You weighted each index with its logit. The weights are the probabilities."""
    return np.array([v @ np.arange(len(v)) / v.sum() for v in both(z, a)])


@exercise.part(points=1.5, answer=Numbers())
def lse(z):
    """log Σ exp(z_i) for your z, one number."""
    return np.log(np.exp(z).sum())


@lse.misconception()
def logarithm_left_out(z):
    """This is the sum of exponentials; its logarithm brings it back to the size of a logit."""
    return np.exp(z).sum()


@lse.misconception()
def just_the_maximum(z):
    """This is the largest logit itself. The other ones add something, however little."""
    return z.max()


@lse.misconception()
def log_of_the_mean(z):
    """You took the mean of the exponentials. Add them up."""
    return np.log(np.exp(z).mean())


@lse.misconception()
def maximum_not_added_back(z):
    """You shifted by the largest logit and did not add it back at the end."""
    return np.log(np.exp(z - z.max()).sum())


@exercise.part(points=1, answer=Numbers())
def boltz(z):
    """Σ z_i p_i for your z, one number."""
    return softmax(z) @ z


@boltz.misconception()
def evenly_weighted(z):
    """You averaged evenly. Each logit counts with its probability."""
    return z.mean()


@boltz.misconception()
def divided_again(z):
    """The probabilities add up to 1 already: there is nothing more to divide by."""
    return softmax(z) @ z / len(z)


@boltz.misconception()
def entropy_included(z):
    """You added the entropy of p, which is how log-sum-exp differs from this mean."""
    return np.log(np.exp(z).sum())


def factor_is_shown(line):
    """Does e^m or e^−m stand there as a factor, or in a logarithm of its own?"""
    m = sympy.Symbol("m", real=True)
    powers = {sympy.exp(m), sympy.exp(-m)}
    if any(powers & {*above} and len(above) > 1 for above, _ in line.products):
        return True
    return line.shows("log(exp(m))", "log(exp(-m))", "exp(z1)/exp(m)")


def logarithm_is_split(line):
    """Does m stand beside the logarithm?"""
    return line.contains(target)


target = "m + log(exp(z1 - m) + exp(z2 - m) + exp(z3 - m))"
chain = Chain(
    start="log(exp(z1) + exp(z2) + exp(z3))",
    target=target,
    names=("z1", "z2", "z3", "m"),
    waypoints=(Waypoint("Show the factor exp(m), or exp(−m).", factor_is_shown),),
    ends=Waypoint(
        "End with m plus the logarithm of a sum in the differences z_i − m.", logarithm_is_split
    ),
)


@exercise.part(points=1.5, answer=Derivation(chain))
def bound_steps():
    """From log Σ exp(z_i) to a form in the differences z_i − m, one equality a line."""
    return [
        "log(exp(z1) + exp(z2) + exp(z3))",
        "log(exp(m)*(exp(z1 - m) + exp(z2 - m) + exp(z3 - m)))",
        "m + log(exp(z1 - m) + exp(z2 - m) + exp(z3 - m))",
    ]


@bound_steps.alternative
def nothing_added():
    """Add m − m = m + log e^−m."""
    return [
        "m - m + log(exp(z1) + exp(z2) + exp(z3))",
        "m + log(exp(-m)) + log(exp(z1) + exp(z2) + exp(z3))",
        "m + log(exp(-m)*(exp(z1) + exp(z2) + exp(z3)))",
        "m + log(exp(-m)*exp(z1) + exp(-m)*exp(z2) + exp(-m)*exp(z3))",
        "m + log(exp(z1 - m) + exp(z2 - m) + exp(z3 - m))",
    ]


@bound_steps.alternative
def divided_by_the_factor():
    """Write every term as a quotient by e^m first."""
    return [
        "log(exp(m)*exp(z1)/exp(m) + exp(m)*exp(z2)/exp(m) + exp(m)*exp(z3)/exp(m))",
        "log(exp(m)) + log(exp(z1)/exp(m) + exp(z2)/exp(m) + exp(z3)/exp(m))",
        "m + log(exp(z1 - m) + exp(z2 - m) + exp(z3 - m))",
    ]


@bound_steps.alternative
def in_latex():
    """Add m to every exponent and take it away again."""
    return [
        r"\log\left(e^{z_1} + e^{z_2} + e^{z_3}\right)",
        r"\log\left(e^m \left(e^{z_1 - m} + e^{z_2 - m} + e^{z_3 - m}\right)\right)",
        r"\log(e^m) + \log\left(e^{z_1 - m} + e^{z_2 - m} + e^{z_3 - m}\right)",
        r"m + \log\left(e^{z_1 - m} + e^{z_2 - m} + e^{z_3 - m}\right)",
    ]


@exercise.part(
    points=0.25,
    answer=Formula(
        "n",
        {"n": "positive integer"},
        practice=("The best lower bound of the same sum if the largest logit occurs twice.", "2"),
    ),
)
def at_least():
    """The best lower bound of Σ exp(z_i − m) for n logits whose largest is m."""
    return "1"


at_least.mistakes(
    nothing_but_positive=(
        "0",
        "True, but too weak, and its logarithm is −∞. One of the terms is known exactly.",
    ),
    largest_at_both_ends=(
        "n",
        "That is where all logits are equal. How small can the other terms become?",
    ),
)


@exercise.part(
    points=0.25,
    answer=Formula(
        "n",
        {"n": "positive integer"},
        practice=(
            "The best upper bound of the same sum if all others are at least 1 below the largest.",
            "1 + (n - 1)*exp(-1)",
        ),
    ),
)
def at_most():
    """The best upper bound of the same sum."""
    return "n"


at_most.mistakes(
    one_term_only=("1", "You bounded a single term. All of them can be that large at once."),
    one_term_too_few=("n - 1", "The largest logit has a term of its own. Count it too."),
    logarithm_too_early=(
        "log(n)",
        "That is the logarithm of the bound. The question is about the sum itself.",
    ),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "Little: lying halfway between the two largest entries, it describes both of them.",
            "The value names the least likely entry, and another numbering of the entries would "
            "give another one.",
            "The temperature is too high. For $\\tau \\to 0$ it becomes the index of a largest "
            "entry.",
            "It is an effect of rounding, since the two large entries are equal.",
        ]
    ),
)
def why():
    """Why can't the expected index of (a, 0, a) be read as the index of the maximum?"""
    return "B"


why.mistakes(
    halfway_is_good=("A", "What is the probability of the entry that the value names?"),
    blamed_on_the_temperature=(
        "C",
        "Lower the temperature: two equal logits share everything, and the mean stays in between.",
    ),
    blamed_on_rounding=("D", "The value is exact, by symmetry. Look at what lies there."),
)
