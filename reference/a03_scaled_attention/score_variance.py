"""How much the score of two random vectors varies.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.1, footnote 4.
"""

import re

import numpy as np

from autograder.algebra import Fact, IndexedChain
from autograder.exercise import Count, Derivation, Exercise, Formula

exercise = Exercise(
    "score_variance",
    title="Variance of a dot product",
    source="Vaswani et al. (2017), section 3.2.1, footnote 4",
    minutes=40,
    hints=[
        "A product of independent factors has E[q²k²] = E[q²] E[k²], and E[q²] holds a mean "
        "and a variance.",
        "The terms of different entries are independent, so their variances add up: work out "
        "one entry.",
        "If a random number is divided by c, what becomes of its variance? Choose c so that 1 "
        "is left.",
    ],
)


@exercise.variant
def draw(rng):
    """d: the width; mean_q, mean_k: what all entries of a query and of a key have as their mean."""
    mean_q, mean_k = rng.integers(0, 3, 2)
    if not mean_q + mean_k:
        mean_q = 1
    return {
        "d": int(rng.choice([16, 36, 64, 100])),
        "mean_q": int(mean_q),
        "mean_k": int(mean_k),
    }


chain = IndexedChain(
    start="Var(sum(q_i*k_i, i))",
    target="n*((s^2 + a^2)*(t^2 + b^2) - a^2*b^2)",
    names=("a", "b", "s", "t"),
    indexed=("q", "k"),
    indices=("i", "j", "l"),  # q and k are names here
    moments={"q_i": ("a", "s^2"), "k_i": ("b", "t^2")},
    rules=(
        "variance of a sum",
        "definition of Var",
        "independence",
        "linearity of sums",
        Fact("variance of q", "Var(q_i)", "s^2"),
        Fact("variance of k", "Var(k_i)", "t^2"),
        Fact("mean of q", "E(q_i)", "a"),
        Fact("mean of k", "E(k_i)", "b"),
        Fact("squares of q", "E(q_i^2)", "s^2 + a^2"),
        Fact("squares of k", "E(k_i^2)", "t^2 + b^2"),
    ),
)


@exercise.part(points=3, answer=Derivation(chain))
def steps():
    """The variance of q · k, from the sum over the entries to the means and deviations."""
    return [
        "Var(sum(q_i*k_i, i))",
        "sum(Var(q_i*k_i), i)  # variance of a sum",
        "sum(E((q_i*k_i)^2) - E(q_i*k_i)^2, i)  # definition of Var",
        "sum(E(q_i^2)*E(k_i^2) - E(q_i)^2*E(k_i)^2, i)  # independence",
        "sum((s^2 + a^2)*E(k_i^2) - E(q_i)^2*E(k_i)^2, i)  # squares of q",
        "sum((s^2 + a^2)*(t^2 + b^2) - E(q_i)^2*E(k_i)^2, i)  # squares of k",
        "sum((s^2 + a^2)*(t^2 + b^2) - a^2*E(k_i)^2, i)  # mean of q",
        "sum((s^2 + a^2)*(t^2 + b^2) - a^2*b^2, i)  # mean of k",
        "n*((s^2 + a^2)*(t^2 + b^2) - a^2*b^2)  # linearity of sums",
    ]


@steps.alternative
def two_sums():
    """Split the sum before the moments are put in."""
    return [
        "Var(sum(q_j*k_j, j))",
        "sum(Var(q_j*k_j), j)",
        "sum(E(q_j^2*k_j^2) - E(q_j*k_j)^2, j)",
        "sum(E(q_j^2*k_j^2), j) - sum(E(q_j*k_j)^2, j)",
        "sum(E(q_j^2)*E(k_j^2), j) - sum((E(q_j)*E(k_j))^2, j)",
        "sum((s^2 + a^2)*E(k_j^2), j) - sum((E(q_j)*E(k_j))^2, j)",
        "sum((s^2 + a^2)*(t^2 + b^2), j) - sum((E(q_j)*E(k_j))^2, j)",
        "sum((s^2 + a^2)*(t^2 + b^2), j) - sum((a*E(k_j))^2, j)",
        "sum((s^2 + a^2)*(t^2 + b^2), j) - sum((a*b)^2, j)",
        "n*((s^2 + a^2)*(t^2 + b^2) - a^2*b^2)",
    ]


@steps.alternative
def means_first():
    """Put the means in before the squares."""
    return [
        "Var(sum(q_i*k_i, i))",
        "sum(Var(q_i*k_i), i)",
        "sum(E(q_i^2*k_i^2) - E(q_i*k_i)^2, i)",
        "sum(E(q_i^2)*E(k_i^2) - (E(q_i)*E(k_i))^2, i)",
        "sum(E(q_i^2)*E(k_i^2) - (a*E(k_i))^2, i)",
        "sum(E(q_i^2)*E(k_i^2) - (a*b)^2, i)",
        "sum((a^2 + s^2)*E(k_i^2) - a^2*b^2, i)",
        "sum((a^2 + s^2)*(b^2 + t^2) - a^2*b^2, i)",
        "n*((a^2 + s^2)*(b^2 + t^2) - a^2*b^2)",
    ]


@steps.alternative
def number_of_terms_early():
    """Multiply by the number of terms while the squares still stand there."""
    return [
        "Var(sum(q_i*k_i, i))",
        "sum(Var(q_i*k_i), i)",
        "sum(E((q_i*k_i)^2) - E(q_i*k_i)^2, i)",
        "sum(E(q_i^2)*E(k_i^2) - E(q_i)^2*E(k_i)^2, i)",
        "sum(E(q_i^2)*E(k_i^2) - a^2*E(k_i)^2, i)",
        "sum(E(q_i^2)*E(k_i^2) - a^2*b^2, i)",
        "sum((s^2 + a^2)*E(k_i^2) - a^2*b^2, i)",
        "sum((s^2 + a^2)*(t^2 + b^2) - a^2*b^2, i)",
        "n*(s^2 + a^2)*(t^2 + b^2) - n*a^2*b^2",
        "n*((s^2 + a^2)*(t^2 + b^2) - a^2*b^2)",
    ]


@exercise.part(
    points=2,
    answer=Formula(
        "d mu_q mu_k sigma_q sigma_k",
        practice=("The mean of q · k, in the same names.", "d*mu_q*mu_k"),
    ),
)
def var():
    """The variance of q · k in the width, the means and the standard deviations."""
    return "d*(sigma_q**2*sigma_k**2 + mu_q**2*sigma_k**2 + mu_k**2*sigma_q**2)"


@var.alternative
def var_as_a_difference():
    """Second moments less squared means."""
    return "d*((mu_q**2 + sigma_q**2)*(mu_k**2 + sigma_k**2) - mu_q**2*mu_k**2)"


@var.alternative
def where_the_steps_end(steps):
    """What the student's own derivation comes to, in the names that are asked for."""
    names = {"n": "d", "a": "mu_q", "b": "mu_k", "s": "sigma_q", "t": "sigma_k"}
    return re.sub(r"\b[nabst]\b", lambda found: names[found[0]], steps.end)


var.mistakes(
    means_forgotten=(
        "d*sigma_q**2*sigma_k**2",
        "You took both means for 0. Where they are not, the square of a mean adds to the variance.",
    ),
    second_moment=(
        "d*(mu_q**2 + sigma_q**2)*(mu_k**2 + sigma_k**2)",
        "That is the sum of the second moments of the products: their squared means are to go.",
    ),
    product_of_the_means=(
        "d*(sigma_q**2*sigma_k**2 + mu_q**2*mu_k**2)",
        "Two fixed means multiplied do not vary. What does, where one of the factors is a mean?",
    ),
    deviations_for_variances=("d*sigma_q*sigma_k", "The standard deviations come in squared."),
    own_deviation=(
        "d*(sigma_q**2*sigma_k**2 + mu_q**2*sigma_q**2 + mu_k**2*sigma_k**2)",
        "You put each mean beside its own deviation. What varies while one factor is its mean?",
    ),
    deviations_beside_squares=(
        "d*((sigma_q + mu_q**2)*(sigma_k + mu_k**2) - mu_q**2*mu_k**2)",
        "The means are squared in yours, and the standard deviations not yet.",
    ),
    one_product=(
        "sigma_q**2*sigma_k**2 + mu_q**2*sigma_k**2 + mu_k**2*sigma_q**2",
        "That is the variance of a single product. How many of them are added up?",
    ),
)


@exercise.part(points=2, answer=Count())
def cases(var, d, mean_q, mean_k):
    """The variance for means 0, for your means, and for q = k with means 0; all deviations 1."""
    ones = {"d": d, "sigma_q": 1, "sigma_k": 1}
    return [var(**ones, mu_q=0, mu_k=0), var(**ones, mu_q=mean_q, mu_k=mean_k), 2 * d]


@cases.misconception()
def equal_taken_for_independent(var, d, mean_q, mean_k):
    """The third case is another one: q and k are equal, so the terms are squares of normals."""
    ones = {"d": d, "sigma_q": 1, "sigma_k": 1}
    return [var(**ones, mu_q=0, mu_k=0), var(**ones, mu_q=mean_q, mu_k=mean_k), d]


@cases.misconception()
def fourth_moment_alone(var, d, mean_q, mean_k):
    """In the third case you took E q⁴ = 3 for the variance of q². Subtract its squared mean."""
    ones = {"d": d, "sigma_q": 1, "sigma_k": 1}
    return [var(**ones, mu_q=0, mu_k=0), var(**ones, mu_q=mean_q, mu_k=mean_k), 3 * d]


@cases.misconception()
def second_moment_of_the_square(var, d, mean_q, mean_k):
    """In the third case you took the mean of (q · q)². Subtract the squared mean of q · q."""
    ones = {"d": d, "sigma_q": 1, "sigma_k": 1}
    return [var(**ones, mu_q=0, mu_k=0), var(**ones, mu_q=mean_q, mu_k=mean_k), d * (d + 2)]


@cases.misconception()
def standard_deviations(var, d, mean_q, mean_k):
    """These are standard deviations, rounded. Asked for are variances."""
    ones = {"d": d, "sigma_q": 1, "sigma_k": 1}
    variances = [var(**ones, mu_q=0, mu_k=0), var(**ones, mu_q=mean_q, mu_k=mean_k), 2 * d]
    return [round(np.sqrt(float(v))) for v in variances]


@exercise.part(
    points=0.5,
    answer=Formula(
        "d",
        practice=(
            "By what is a sum of d independent numbers of variance 3 divided for variance 1?",
            "sqrt(3*d)",
        ),
    ),
)
def divisor():
    """By what must a score be divided so that its variance is 1, for means 0 and deviations 1?"""
    return "sqrt(d)"


divisor.mistakes(
    divided_by_the_variance=("d", "Dividing by a number divides the variance by its square."),
    divided_by_the_square=("d**2", "The variance is d. Which number has the square d?"),
)


@exercise.part(
    points=0.5,
    answer=Formula(
        "d",
        practice=(
            "The variance of the mean of d independent numbers, of which each has the variance 3.",
            "3/d",
        ),
    ),
)
def over_width():
    """The variance of (q · k)/d, for means 0 and deviations 1."""
    return "1/d"


over_width.mistakes(
    taken_for_one=("1", "Dividing by d divides the variance, which was d, by d²."),
    deviation_for_variance=(
        "1/sqrt(d)",
        "That is the standard deviation of what is left. Asked for is its variance.",
    ),
    divided_once_too_often=("1/d**2", "You forgot that the variance of q · k itself is d."),
)
