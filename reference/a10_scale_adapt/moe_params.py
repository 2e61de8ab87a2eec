"""Total and active parameters of a layer of experts.

Source: Fedus, Zoph & Shazeer (2022), "Switch Transformers", section 1.
"""

from autograder.exercise import Count, Exercise, Numbers

exercise = Exercise(
    "moe_params",
    title="Total and active",
    source="Fedus et al. (2022), section 1",
    minutes=20,
    hints=[
        "A linear map has inputs times outputs weights, and with a bias as many more as there "
        "are outputs. An expert is two such maps, one behind the other.",
        "How often is the gate there, and how much of it does a token meet on its way to the "
        "experts?",
    ],
)


@exercise.variant
def draw(rng):
    """E: experts, k: of them active, d: width, f: hidden width of an expert."""
    d = int(rng.choice([256, 384, 512, 768, 1024]))
    return {
        "E": int(rng.choice([8, 16, 32])),
        "k": int(rng.choice([2, 4])),
        "d": d,
        "f": d * int(rng.choice([2, 3, 4])),
    }


@exercise.part(points=0.5, answer=Count())
def dense(d, f):
    """The parameters of one feed-forward network."""
    return 2 * d * f + f + d


@dense.misconception()
def biases_forgotten(d, f):
    """The two matrices are right. Each comes with a bias."""
    return 2 * d * f


@dense.misconception()
def one_matrix(d, f):
    """There are two matrices: up to the hidden width and down again."""
    return d * f + f


@dense.misconception()
def second_bias_forgotten(d, f):
    """The second matrix has a bias as well, as wide as what it returns."""
    return 2 * d * f + f


@dense.misconception()
def two_wide_biases(d, f):
    """The second bias is as wide as the output, not as the hidden layer."""
    return 2 * d * f + 2 * f


@exercise.part(points=0.75, answer=Count())
def total(dense, E, d):
    """The parameters of the whole layer."""
    return E * dense + d * E


@total.misconception()
def gate_forgotten(dense, E):
    """The gate has parameters, too: a logit for each expert."""
    return E * dense


@total.misconception()
def gate_with_bias(dense, E, d):
    """This gate is a matrix without a bias."""
    return E * dense + d * E + E


@total.misconception()
def gate_is_square(dense, E, d):
    """The gate maps d numbers to as many logits as there are experts."""
    return E * dense + d * d


@exercise.part(points=0.75, answer=Count())
def active(dense, k, E, d):
    """The parameters that one token meets."""
    return k * dense + d * E


@active.misconception()
def active_without_gate(dense, k):
    """Every token passes through the gate, too."""
    return k * dense


@active.misconception()
def gate_of_the_chosen(dense, k, d):
    """The gate computes the logits of all experts, before anything is chosen."""
    return k * dense + d * k


@active.misconception()
def active_is_one(dense, E, d):
    """You took one expert. Each token goes through k of them."""
    return dense + d * E


@exercise.part(points=1, answer=Numbers(places=3))
def ratio(total, active):
    """Total divided by active, to three decimals."""
    return total / active


@ratio.misconception()
def experts_over_chosen(E, k):
    """Nearly. The gate is in both numbers, in full."""
    return E / k


@ratio.misconception()
def inverted(total, active):
    """That is the share which is active: its inverse is asked for."""
    return active / total
