"""Two of four experts, with plain and with renormalised gates.

Source: Shazeer et al. (2017), "Outrageously large neural networks", section 2.
"""

import numpy as np

from autograder.algebra import Chain
from autograder.exercise import Derivation, Exercise, Numbers
from reference.helpers import softmax

exercise = Exercise(
    "moe_gate",
    title="Two of four experts",
    source="Shazeer et al. (2017), section 2",
    minutes=35,
    hints=[
        "The gates come from one softmax over all logits; the choice of two comes after it.",
        "All gates have the same Z below the fraction bar. What becomes of it in a quotient of "
        "gates?",
    ],
)


@exercise.variant
def draw(rng):
    """z: four different logits; y: what the four experts return."""
    while True:
        z = rng.choice(np.arange(-2, 4), 4, replace=False).astype(float)
        y = 5.0 * rng.choice(np.arange(1, 11), 4, replace=False)
        outputs = [f(z, y) for f in (plain_output, renormalised_output, *wrong_outputs)]
        apart = np.abs(np.subtract.outer(outputs, outputs)) + np.eye(len(outputs))
        if apart.min() > 0.05:
            return {"z": z, "y": y}


def best(z, k=2):
    """The indices of the k largest logits, the largest first."""
    return np.argsort(-z)[:k]


def plain_output(z, y):
    """The gates of the chosen experts are those of the softmax over all."""
    return softmax(z)[best(z)] @ y[best(z)]


def renormalised_output(z, y):
    """The gates of the chosen experts add up to 1."""
    return softmax(z[best(z)]) @ y[best(z)]


def differ(answer):
    """Equal gates choose nobody: they are not carried on."""
    return np.ptp(answer) > 0


def every_expert(z, y):
    """All four outputs are in this mean. Only two experts are computed at all."""
    return softmax(z) @ y


def smallest_gates(z, y):
    """You took the two experts with the smallest gates."""
    return softmax(z)[best(-z)] @ y[best(-z)]


def evenly(z, y):
    """You averaged the two outputs evenly. Each one is multiplied by its gate."""
    return y[best(z)].mean()


def sigmoids(z, y):
    """Your gates are sigmoids, each of its own logit. A softmax compares all logits."""
    return (1 / (1 + np.exp(-z[best(z)]))) @ y[best(z)]


def only_the_best(z, y):
    """You took one expert. Here two are chosen."""
    return y[np.argmax(z)]


def first_two(z, y):
    """You took the first two experts. Which two have the largest logits?"""
    chosen = softmax(z)[:2]
    return chosen @ y[:2] if set(best(z)) != {0, 1} else 0.0


def by_outputs(z, y):
    """You chose the two experts that return most. The gates choose, before any expert is run."""
    return softmax(z)[best(y)] @ y[best(y)]


wrong_outputs = every_expert, smallest_gates, evenly, sigmoids, only_the_best, first_two, by_outputs


@exercise.part(points=0.5, answer=Numbers(), carry_if=differ)
def G(z):
    """The gates: the softmax over all four logits, shape (4,)."""
    return softmax(z)


@G.misconception()
def gates_linear(z):
    """These don't come from exponentials. The gate is a softmax of the logits."""
    return (z - z.min() + 1) / (z - z.min() + 1).sum()


@G.misconception()
def gates_by_sigmoid(z):
    """These are sigmoids, each of its own logit. Gates of a softmax add up to 1."""
    return 1 / (1 + np.exp(-z))


@G.misconception()
def powers_of_two(z):
    """These come from powers of 2. The base of the exponentials is e."""
    return 2**z / (2**z).sum()


@G.misconception()
def divided_by_the_largest(z):
    """You divided by the largest of the exponentials. Gates add up to 1: divide by their sum."""
    return np.exp(z - z.max())


@G.misconception()
def others_set_to_zero(z):
    """You renormalised already. Here the gates of all four experts are asked for."""
    return np.where(np.isin(np.arange(4), best(z)), softmax(z), 0) / softmax(z)[best(z)].sum()


@exercise.part(points=0.5, answer=Numbers())
def kept(G):
    """The mass that the two largest gates keep."""
    return np.sort(G)[-2:].sum()


@kept.misconception()
def largest_alone(G):
    """That is the largest gate by itself. Two experts are chosen."""
    return G.max()


@kept.misconception()
def mass_by_outputs(G, y):
    """You chose the two experts that return most. The gates choose, before any expert is run."""
    return G[best(y)].sum()


@kept.misconception()
def mass_lost(G):
    """That is what is lost: the mass of the experts that are not chosen."""
    return np.sort(G)[:2].sum()


@exercise.part(points=2, answer=Numbers())
def plain(G, y):
    """The output with the two largest gates as they are."""
    top = best(G)
    return G[top] @ y[top]


@exercise.part(points=1, answer=Numbers(), carry_if=differ)
def gates(G):
    """The two largest gates after renormalising, the larger first."""
    top = np.sort(G)[:1:-1]
    return top / top.sum()


@gates.alternative
def divided_by_what_is_kept(G, kept):
    """By the student's own mass."""
    return np.sort(G)[:1:-1] / kept


@gates.misconception()
def gates_by_outputs(G, y):
    """You chose the two experts that return most. The gates choose, before any expert is run."""
    top = np.sort(G[best(y)])[::-1]
    return top / top.sum()


@gates.misconception()
def not_renormalised(G):
    """These two don't add up to 1 yet."""
    return np.sort(G)[:1:-1]


@gates.misconception()
def smaller_first(G):
    """The right numbers in the other order: the larger gate comes first."""
    return np.sort(G)[2:] / np.sort(G)[2:].sum()


@exercise.part(points=1, answer=Numbers())
def renormalised(gates, z, y):
    """The output with the renormalised gates."""
    return gates @ y[best(z)]


for part in (plain, renormalised):
    for wrong in wrong_outputs:
        part.misconception()(wrong)


@plain.misconception()
def renormalised_too_early(z, y):
    """That is the output with renormalised gates. Here they stay as the softmax gave them."""
    return renormalised_output(z, y)


@renormalised.misconception()
def renormalised_by_outputs(z, y):
    """You chose the two experts that return most. The gates choose, before any expert is run."""
    return softmax(z[best(y)]) @ y[best(y)]


@renormalised.misconception()
def gates_exchanged(gates, z, y):
    """Your gates meet each other's expert: the larger one belongs to the larger logit."""
    return gates[::-1] @ y[best(z)]


@renormalised.misconception()
def divided_by_two(plain):
    """You divided by the number of experts. By what do you divide their gates?"""
    return plain / 2


@renormalised.misconception()
def still_plain(z, y):
    """Your gates don't add up to 1: that is the output with the plain ones."""
    return plain_output(z, y)


chain = Chain(
    start="g1/(g1 + g2)",
    target="exp(z1)/(exp(z1) + exp(z2))",
    names=("g1", "g2", "Z", "z1", "z2", "z3", "z4"),
    definitions={
        "g1": "exp(z1)/Z",
        "g2": "exp(z2)/Z",
        "Z": "exp(z1) + exp(z2) + exp(z3) + exp(z4)",
    },
)


@exercise.part(points=1, answer=Derivation(chain))
def steps():
    """A renormalised gate is a softmax over the chosen logits alone."""
    return [
        "g1/(g1 + g2)",
        "(exp(z1)/Z)/(exp(z1)/Z + exp(z2)/Z)",
        "(exp(z1)/Z)/((exp(z1) + exp(z2))/Z)",
        "exp(z1)/(exp(z1) + exp(z2))",
    ]


@steps.alternative
def multiplied_by_the_sum():
    """Multiply above and below by Z."""
    return [
        "g1/(g1 + g2)",
        "g1*Z/(g1*Z + g2*Z)",
        "exp(z1)/(exp(z1) + exp(z2))",
    ]


@steps.alternative
def without_a_name_for_the_sum():
    """Write the common denominator out."""
    Z = "(exp(z1) + exp(z2) + exp(z3) + exp(z4))"
    return [
        "g1/(g1 + g2)",
        f"(exp(z1)/{Z})/(exp(z1)/{Z} + exp(z2)/{Z})",
        "exp(z1)/(exp(z1) + exp(z2))",
    ]


@steps.alternative
def from_the_reciprocal():
    """Divide above and below by the first gate."""
    return [
        "g1/(g1 + g2)",
        "1/(1 + g2/g1)",
        "1/(1 + exp(z2)/exp(z1))",
        "exp(z1)/(exp(z1) + exp(z2))",
    ]
