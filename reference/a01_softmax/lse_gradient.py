"""Log-sum-exp, its derivatives, and the gradient of the cross-entropy.

Source: Boyd & Vandenberghe (2004), "Convex Optimization", section 3.1.5.
"""

import numpy as np

from autograder.algebra import IndexedChain
from autograder.exercise import Derivation, Exercise, Formula, Numbers

exercise = Exercise(
    "lse_gradient",
    title="Log-sum-exp and cross-entropy",
    source="Boyd & Vandenberghe (2004), section 3.1.5",
    minutes=20,
    hints=[
        "Differentiate the logarithm from the outside in: 1 over the sum, times the "
        "derivative of the sum. Which terms of the sum contain z_j?",
        "The first derivative is a quantity that you have met under another name. For the "
        "second one you can use what you know about that.",
        "Write −log p_y as a difference of two terms before you differentiate it.",
    ],
)
softmax = exercise.carries("a01_softmax/softmax_stable", "softmax")


@exercise.variant
def draw(rng):
    """z: three different whole numbers 0–4; y: the index of the target, from 0."""
    return {"z": rng.permutation(5)[:3], "y": int(rng.integers(3))}


probabilities = Formula(
    "p1 p2 p3",
    definitions={
        "Z": "exp(z1) + exp(z2) + exp(z3)",
        "p1": "exp(z1)/Z",
        "p2": "exp(z2)/Z",
        "p3": "exp(z3)/Z",
    },
)


SUM = "sum(exp(z_k), k)"

slope_chain = IndexedChain(
    start=f"D(log({SUM}), z_j)",
    target="p_j",
    indexed=("z", "p"),
    definitions={"p_i": f"exp(z_i)/{SUM}"},
    rules=(
        "chain rule",
        "derivative of a sum",
        "derivative of exp",
        "delta contraction",
        "definition",
    ),
    reasons=True,
)


@exercise.part(points=1, answer=Derivation(slope_chain))
def lse_steps():
    """∂ LSE/∂z_j for n logits, with the reason of each step."""
    return [
        f"D({SUM}, z_j)/{SUM}  # chain rule",
        f"sum(D(exp(z_k), z_j), k)/{SUM}  # derivative of a sum",
        f"sum(exp(z_k)*delta(k,j), k)/{SUM}  # derivative of exp",
        f"exp(z_j)/{SUM}  # delta contraction",
        "p_j  # definition",
    ]


@lse_steps.alternative
def factor_first():
    """Write the fraction in front."""
    return [
        f"1/{SUM}*D({SUM}, z_j)  # chain rule",
        f"1/{SUM}*sum(D(exp(z_l), z_j), l)  # derivative of a sum",
        f"1/{SUM}*sum(exp(z_l)*delta(l,j), l)  # derivative of exp",
        f"1/{SUM}*exp(z_j)  # delta contraction",
        "p_j  # definition",
    ]


@lse_steps.alternative
def by_chain_rules():
    """Call the derivative of exp a chain rule, too."""
    return [
        f"D({SUM}, z_j)/{SUM}  # chain rule",
        f"sum(D(exp(z_k), z_j), k)/{SUM}  # derivative of a sum",
        f"sum(exp(z_k)*delta(k,j), k)/{SUM}  # chain rule",
        f"exp(z_j)/{SUM}  # delta contraction",
        "p_j  # definition",
    ]


@lse_steps.alternative
def lse_in_latex():
    """Write sums and fractions with their signs."""
    return [
        r"\frac{D(\sum_{k=1}^n e^{z_k}, z_j)}{\sum_{k=1}^n e^{z_k}}  # chain rule",
        r"\frac{\sum_{k=1}^n D(e^{z_k}, z_j)}{\sum_{k=1}^n e^{z_k}}  # derivative of a sum",
        r"\frac{\sum_{k=1}^n e^{z_k} \delta_{kj}}{\sum_{k=1}^n e^{z_k}}  # derivative of exp",
        r"\frac{e^{z_j}}{\sum_{k=1}^n e^{z_k}}  # delta contraction",
        "p_j  # definition",
    ]


@exercise.part(points=0.25, answer=probabilities)
def lse_slope():
    """∂ LSE/∂z₁ in terms of the probabilities."""
    return "p1"


@lse_slope.alternative
def by_the_other_probabilities():
    """They add up to 1."""
    return "1 - p2 - p3"


lse_slope.mistakes(
    derivative_of_the_probability=(
        "p1*(1 - p1)",
        "You differentiated p₁. Here the logarithm of the sum is differentiated.",
    ),
    inner_derivative_of_one=(
        "1",
        "The logarithm of a sum is not the sum of the logarithms. Use the chain rule.",
    ),
    logarithm_of_the_probability=("log(p1)", "That is z₁ − LSE. The derivative is asked for."),
)


@exercise.part(points=0.75, answer=probabilities)
def lse_curvature():
    """∂² LSE/∂z₁∂z₂ in terms of the probabilities."""
    return "-p1*p2"


@lse_curvature.alternative
def of_the_own_slope(lse_slope):
    """∂p_i/∂z₂ = p_i (δ_i2 − p₂), for each probability in the student's own slope."""
    slope = lse_slope.expression
    each = [f"({slope.diff(p)})*{p}*({int(p.name == 'p2')} - p2)" for p in slope.free_symbols]
    return " + ".join(["0", *sorted(each)])


lse_curvature.mistakes(
    sign_of_the_curvature=(
        "p1*p2",
        "The sign: if the second logit grows, does the first probability grow or fall?",
    ),
    both_times_the_first=("p1*(1 - p1)", "You differentiated twice with respect to z₁."),
    as_on_the_diagonal=(
        "p1*(1 - p2)",
        "The 1 belongs to the diagonal, where both derivatives are with respect to the same logit.",
    ),
    mixed_derivative_vanishes=("0", "Each probability depends on all logits, through the sum."),
)


@exercise.part(points=1, answer=Numbers())
def loss(z, y):
    """The cross-entropy −log p_y, one number."""
    return -np.log(softmax(z)[y])


@loss.misconception()
def minus_forgotten(z, y):
    """The sign: a probability is at most 1, so the loss can't be negative."""
    return np.log(softmax(z)[y])


@loss.misconception()
def probability_itself(z, y):
    """This is the probability of the target. The loss is its negative logarithm."""
    return softmax(z)[y]


@loss.misconception()
def target_counted_from_one(z, y):
    """You counted the target from 1. As in Python, the first class has index 0."""
    return -np.log(softmax(z)[y - 1])


@loss.misconception()
def target_left_out(z):
    """That is log Σ exp(z_k). The target's own logit is still to be subtracted."""
    return np.log(np.exp(z).sum())


@loss.misconception()
def in_bits(z, y):
    """You took the logarithm to base 2. This course uses natural logarithms."""
    return -np.log2(softmax(z)[y])


@exercise.part(points=1, answer=Numbers())
def grad(z, y):
    """The gradient of the loss with respect to z, three numbers."""
    return softmax(z) - (np.arange(3) == y)


@grad.misconception()
def gradient_reversed(z, y):
    """The sign: a larger logit of the target should lower the loss."""
    return (np.arange(3) == y) - softmax(z)


@grad.misconception()
def slopes_of_the_probabilities(z):
    """You took p(1 − p), the derivative of each probability by its own logit."""
    return softmax(z) * (1 - softmax(z))


@grad.misconception()
def target_not_subtracted(z):
    """This is the gradient of log-sum-exp. The loss has one more term, the target's logit."""
    return softmax(z)


@grad.misconception()
def gradient_counted_from_one(z, y):
    """You counted the target from 1. As in Python, the first class has index 0."""
    return softmax(z) - (np.arange(3) == (y - 1) % 3)
