"""Derivatives of a sparse mixture of experts with respect to the logits.

Source: Shazeer et al. (2017), section 2.1; Fedus et al. (2022), section 2.1.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Exercise, Numbers, agree
from autograder.exercise.properties import differences
from reference.helpers import GRADIENTS, softmax

exercise = Exercise(
    "moe_gradient",
    title="Is the selection differentiable?",
    source="Shazeer et al. (2017), section 2.1; Fedus et al. (2022), section 2.1",
    minutes=35,
    hints=[
        "While the choice is held fixed, the output is an ordinary function of the logits. "
        "Which of them stand in it with plain gates, and which with renormalised ones?",
        "A change of one logit moves all gates of its softmax. Find the derivatives of the "
        "gates first, then weight them with the outputs of the chosen experts.",
        "With one expert write the renormalised gate down before you differentiate. The loss is a "
        "function of the output: by the chain rule, how do its derivatives follow from yours?",
    ],
)

Z = np.array([2.0, 1, 0, -1])
Y = np.array([10.0, 20, 30, 40])


def output(z, y, k, renormalise):
    """The output of the k experts with the largest logits."""
    chosen = np.argsort(-z)[:k]
    gates = softmax(z[chosen]) if renormalise else softmax(z)[chosen]
    return gates @ y[chosen]


@exercise.reference(without=GRADIENTS)
def router_gradient(
    z: Float[ndarray, " E"], y: Float[ndarray, " E"], k: int, renormalise: bool
) -> Float[ndarray, " E"]:
    """The derivative of the output by the logits, the choice being held fixed."""
    chosen = np.zeros(len(z), bool)
    chosen[np.argsort(-z)[:k]] = True
    gates = softmax(np.where(chosen, z, -np.inf)) if renormalise else softmax(z)
    values = np.where(chosen, y, 0)
    return gates * (values - gates @ values)


@exercise.alternative
def by_the_jacobian(z, y, k, renormalise):
    """Write the Jacobian of the softmax down."""
    chosen = np.argsort(-z)[:k]
    if renormalise:
        g = softmax(z[chosen])
        found = np.zeros(len(z))
        found[chosen] = (np.diag(g) - np.outer(g, g)) @ y[chosen]
        return found
    g = softmax(z)
    return (np.diag(g) - np.outer(g, g))[:, chosen] @ y[chosen]


@exercise.alternative
def by_the_quotient_rule(z, y, k, renormalise):
    """Numerator and denominator as sums of exponentials."""
    e = np.exp(z - z.max())
    chosen = z >= np.sort(z)[-k]
    below = chosen if renormalise else np.ones(len(z), bool)
    top, bottom = (e * chosen) @ y, e @ below
    return e * chosen * y / bottom - top * e * below / bottom**2


@exercise.alternative
def one_logit_after_the_other(z, y, k, renormalise):
    """A loop, and lists."""
    order = sorted(range(len(z)), key=lambda e: -z[e])
    chosen = order[:k]
    pool = chosen if renormalise else order
    weights = {e: np.exp(z[e] - max(z)) for e in pool}
    g = {e: w / sum(weights.values()) for e, w in weights.items()}
    out = sum(g[e] * y[e] for e in chosen)
    return [g.get(e, 0.0) * ((y[e] if e in chosen else 0.0) - out) for e in range(len(z))]


def data(rng, E=5):
    """Logits well apart, and outputs of experts."""
    return rng.permutation(np.linspace(-1, 1.5, E)) + rng.uniform(0, 0.2, E), rng.normal(size=E) + 2


@exercise.check(points=0.5, visible=True)
def plain_gates(call, rng):
    """With plain gates it agrees with central differences of the output."""
    z, y = data(rng)
    for k in (2, 3):
        right = differences(lambda x, k=k: output(x, y, k, False), z)
        agree(call(z, y, k, False), right, rtol=1e-6, atol=1e-8)


@exercise.check(points=0.5)
def renormalised_gates(call, rng):
    """With renormalised gates, too."""
    z, y = data(rng, 6)
    for k in (1, 3, 6):
        right = differences(lambda x, k=k: output(x, y, k, True), z)
        agree(call(z, y, k, True), right, rtol=1e-6, atol=1e-8)


@exercise.misconception(credit=0.4)
def as_if_dense(z, y, k, renormalise):
    """The experts that are not chosen contribute to your output. Their values don't count."""
    g = softmax(z)
    return g * (y - g @ y)


@exercise.misconception
def others_get_nothing(z, y, k, renormalise):
    """The plain gates share a denominator with all experts: the others' logits count as well."""
    found = router_gradient(z, y, k, renormalise)
    return np.where(np.isin(np.arange(len(z)), np.argsort(-z)[:k]), found, 0)


@exercise.misconception(credit=0.4)
def all_in_the_mean(z, y, k, renormalise):
    """The mean that you subtract holds all experts. The output holds the chosen ones alone."""
    chosen = np.isin(np.arange(len(z)), np.argsort(-z)[:k])
    g = softmax(np.where(chosen, z, -np.inf)) if renormalise else softmax(z)
    return g * (np.where(chosen, y, 0) - g @ y)


@exercise.misconception(credit=0.4)
def own_gate_alone(z, y, k, renormalise):
    """Each logit changes all gates: g (1 − g) is the diagonal of the Jacobian alone."""
    chosen = np.isin(np.arange(len(z)), np.argsort(-z)[:k])
    g = softmax(np.where(chosen, z, -np.inf)) if renormalise else softmax(z)
    return g * (1 - g) * np.where(chosen, y, 0)


@exercise.misconception(credit=0.4)
def plain_denominator_held(z, y, k, renormalise):
    """With plain gates you hold the denominator constant: the logits of all experts are in it."""
    if renormalise:
        return router_gradient(z, y, k, True)
    chosen = np.isin(np.arange(len(z)), np.argsort(-z)[:k])
    return softmax(z) * np.where(chosen, y, 0)


@exercise.misconception
def kept_mass_held(z, y, k, renormalise):
    """You divide by the mass that is kept as if it were a number. It depends on the logits, too."""
    kept = np.sort(softmax(z))[-k:].sum() if renormalise else 1
    return router_gradient(z, y, k, False) / kept


@exercise.misconception(credit=0.4)
def plain_gate_in_front(z, y, k, renormalise):
    """The gate in front of your bracket isn't renormalised, and the one inside is."""
    if not renormalise:
        return router_gradient(z, y, k, False)
    kept = np.sort(softmax(z))[-k:].sum()
    return router_gradient(z, y, k, True) * kept


@exercise.misconception(credit=0.4)
def chosen_by_outputs(z, y, k, renormalise):
    """You chose the experts that return most. The logits choose, before any expert is run."""
    chosen = np.isin(np.arange(len(z)), np.argsort(-y)[:k])
    g = softmax(np.where(chosen, z, -np.inf)) if renormalise else softmax(z)
    values = np.where(chosen, y, 0)
    return g * (values - g @ values)


@exercise.misconception(credit=0.4)
def normalisation_ignored(z, y, k, renormalise):
    """The flag changes nothing in yours. Which logits stand in the denominator?"""
    return router_gradient(z, y, k, not renormalise)


@exercise.part(points=0.5, answer=Numbers())
def plain(router_gradient):
    """The four derivatives with plain gates and k = 2."""
    return router_gradient(Z, Y, 2, False)


@plain.misconception()
def plain_diagonal():
    """Each logit changes all gates: g (1 − g) is the diagonal of the Jacobian alone."""
    return own_gate_alone(Z, Y, 2, False)


@plain.misconception()
def denominator_held():
    """You held the denominator of the softmax constant: all four logits are in it."""
    return softmax(Z) * np.where(Z > 0, Y, 0)


@plain.misconception()
def plain_all_experts():
    """These are the derivatives if all four experts are computed."""
    return as_if_dense(Z, Y, 2, False)


@plain.misconception()
def plain_chosen_alone():
    """The others' logits stand in the denominator of every gate, so they count."""
    return others_get_nothing(Z, Y, 2, False)


@exercise.part(points=0.5, answer=Numbers())
def renormalised(router_gradient):
    """The same with renormalised gates and k = 2."""
    return router_gradient(Z, Y, 2, True)


@renormalised.misconception()
def renormalised_plain():
    """These are the derivatives with plain gates."""
    return router_gradient(Z, Y, 2, False)


@renormalised.misconception()
def kept_mass_held_constant():
    """You divide by the mass that is kept as if it were a number. It depends on the logits, too."""
    return kept_mass_held(Z, Y, 2, True)


@renormalised.misconception()
def renormalised_diagonal():
    """Each logit changes all gates: g (1 − g) is the diagonal of the Jacobian alone."""
    return own_gate_alone(Z, Y, 2, True)


@exercise.part(points=1, answer=Numbers())
def one_expert(router_gradient):
    """Two rows for k = 1: with the plain gate, and with the renormalised one."""
    return np.array([router_gradient(Z, Y, 1, mode) for mode in (False, True)])


@one_expert.misconception(credit=0.5)
def signal_after_renormalising():
    """A single gate that is renormalised is always 1. What does it depend on?"""
    return np.array([router_gradient(Z, Y, 1, False)] * 2)


@one_expert.misconception()
def no_signal_at_all():
    """The plain gate of the chosen expert moves with every logit, although the choice doesn't."""
    return np.zeros((2, 4))


WANTED, RATE = 20.0, 0.01
OFF = output(Z, Y, 2, False) - WANTED


@exercise.part(points=1, answer=Numbers())
def stepped(router_gradient):
    """The four logits after one step of gradient descent, with plain gates and k = 2."""
    return Z - RATE * OFF * np.asarray(router_gradient(Z, Y, 2, False))


@stepped.misconception()
def away_from_the_output():
    """You went up the loss. The output is below 20 and should grow."""
    return Z + RATE * OFF * router_gradient(Z, Y, 2, False)


@stepped.misconception()
def output_for_the_loss():
    """That is a step down the output itself. What is the loss's derivative by the output?"""
    return Z - RATE * router_gradient(Z, Y, 2, False)


@stepped.misconception()
def output_of_all_experts(router_gradient):
    """You took the output of all four experts. Only the two that are chosen are in it."""
    off = softmax(Z) @ Y - WANTED
    return Z - RATE * off * np.asarray(router_gradient(Z, Y, 2, False))


@stepped.misconception()
def half_forgotten():
    """You went twice as far: the loss is half of a square."""
    return Z - 2 * RATE * OFF * router_gradient(Z, Y, 2, False)


@stepped.misconception()
def chosen_logits_alone():
    """You left the logits of the others as they were. Which of your derivatives are 0?"""
    return Z - RATE * OFF * others_get_nothing(Z, Y, 2, False)


@stepped.misconception()
def renormalised_step():
    """You took the derivatives with renormalised gates. Here the gates are plain."""
    return Z - RATE * (output(Z, Y, 2, True) - WANTED) * router_gradient(Z, Y, 2, True)


@stepped.misconception()
def renormalised_derivatives():
    """You took the derivatives with renormalised gates. Here the gates are plain."""
    return Z - RATE * OFF * router_gradient(Z, Y, 2, True)
