"""A hard choice that sends back the gradient of a soft one.

Source: Jang, Gu & Poole (2017), "Categorical reparameterization with Gumbel-softmax"; Maddison,
Mnih & Teh (2017), "The concrete distribution"; Bengio, Léonard & Courville (2013), "Estimating or
propagating gradients through stochastic neurons for conditional computation".
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Choice, Exercise, Formula, Numbers, agree, require
from autograder.exercise.properties import differences
from reference.helpers import softmax

exercise = Exercise(
    "straight_through",
    title="Forward hard, backward soft",
    source="Jang et al. (2017); Maddison et al. (2017); Bengio et al. (2013)",
    minutes=55,
    hints=[
        "The noise is a given number: by the chain rule only one factor is new beside the "
        "Jacobian of the first notebook.",
        "Of the one-hot the way back knows nothing. Compute the soft sample there once more, and "
        "take a product with its Jacobian.",
        "For `means` write the mean as an integral over y from 0 to 1.",
    ],
)

TAUS = np.array([1, 0.1, 0.02])


@exercise.variant
def draw(rng):
    """z, g: three logits and their noise; tau; v: the gradient for the one-hot; gap."""
    z, g = rng.integers(-1, 2, 3) * 1.0, rng.integers(-5, 15, 3) / 10
    while np.ptp(z) == 0 or np.diff(np.sort(z + g)).min() < 0.25 or np.ptp(z + g) > 1.5:
        z, g = rng.integers(-1, 2, 3) * 1.0, rng.integers(-5, 15, 3) / 10
    return {
        "z": z,
        "g": g,
        "tau": float(rng.choice([0.4, 0.5, 0.8, 2])),
        "v": rng.permutation([-2, -1, 1, 2, 3])[:3],
        "gap": float(rng.choice([0.2, 0.22, 0.25, 0.3])),
    }


@exercise.part(points=0.25, answer=Numbers())
def y(z, g, tau):
    """The soft sample, three numbers."""
    return softmax((z + g) / tau)


@y.misconception()
def noise_after_dividing(z, g, tau):
    """The temperature divides the sum: logits and noise."""
    return softmax(z / tau + g)


@y.misconception()
def noise_left_out(z, tau):
    """Where is the noise? Without it the sample would be the same each time."""
    return softmax(z / tau)


@y.misconception()
def multiplied_by_tau(z, g, tau):
    """You multiplied by τ. A low temperature makes differences larger."""
    return softmax((z + g) * tau)


@exercise.part(
    points=0.25,
    answer=Formula(
        "y_i tau",
        {"*": "positive"},
        practice=("The derivative of −log y_i by its own logit.", "-(1 - y_i)/tau"),
    ),
)
def own():
    """The derivative of an entry by its own logit."""
    return "y_i*(1 - y_i)/tau"


own.mistakes(
    own_without_tau=(
        "y_i*(1 - y_i)",
        "The logit is divided by τ before the softmax: the chain rule has a factor for that.",
    ),
    own_times_tau=(
        "tau*y_i*(1 - y_i)",
        "The logit is divided by τ. Which factor is the derivative of that?",
    ),
    numerator_alone=("y_i/tau", "The logit stands in the denominator of the softmax as well."),
)


@exercise.part(
    points=0.25,
    answer=Formula(
        "y_i y_j tau",
        {"*": "positive"},
        practice=(
            "The derivative of y_i y_j by a third logit, whose entry is 1 − y_i − y_j.",
            "-2*y_i*y_j*(1 - y_i - y_j)/tau",
        ),
    ),
)
def other():
    """The derivative of an entry by another logit."""
    return "-y_i*y_j/tau"


other.mistakes(
    other_without_tau=(
        "-y_i*y_j",
        "The logit is divided by τ before the softmax: the chain rule has a factor for that.",
    ),
    other_times_tau=(
        "-tau*y_i*y_j",
        "The logit is divided by τ. Which factor is the derivative of that?",
    ),
    own_for_other=(
        "y_i*(1 - y_j)/tau",
        "That is no derivative by *another* logit: that one stands in the denominator alone.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def back(own, other, y, tau, v):
    """The gradient for the three logits."""
    J = other(y_i=y[:, None], y_j=y, tau=tau)
    return v @ np.where(np.eye(3), own(y_i=y, tau=tau), J)


@back.misconception()
def diagonal_alone(own, y, tau, v):
    """Each logit moves all three entries: the derivatives off the diagonal are missing."""
    return v * own(y_i=y, tau=tau)


@back.misconception()
def passed_on(v):
    """You passed the gradient on as it came. Here it goes through the soft sample's Jacobian."""
    return v


@back.misconception()
def tau_forgotten(y, v):
    """That is for τ = 1. What does your Jacobian say of yours?"""
    return y * (v - v @ y)


@back.misconception()
def without_the_noise(z, tau, v):
    """You took the softmax of the logits alone. The noise belongs to the sample, back as well."""
    y = softmax(z / tau)
    return y * (v - v @ y) / tau


def one_hot(scores):
    """1 at the largest entry along the last axis, 0 elsewhere."""
    return 1.0 * (np.arange(scores.shape[-1]) == scores.argmax(axis=-1)[..., None])


def through(y, tau, gradient):
    """Send a gradient back through the soft sample y."""
    return y * (gradient - (gradient * y).sum(axis=-1, keepdims=True)) / tau


@exercise.reference
def straight_through(
    logits: Float[ndarray, "*batch n"],
    noise: Float[ndarray, "*batch n"],
    tau: float,
    gradient: Float[ndarray, "*batch n"],
) -> tuple[Float[ndarray, "*batch n"], Float[ndarray, "*batch n"]]:
    """The one-hot of the largest sum, and the gradient for the logits as if y had gone forward."""
    scores = logits + noise
    return one_hot(scores), through(softmax(scores / tau), tau, gradient)


@exercise.alternative
def with_the_jacobian(logits, noise, tau, gradient):
    """Write the matrix down."""
    y = softmax((logits + noise) / tau)
    J = (y[..., None] * np.eye(y.shape[-1]) - y[..., :, None] * y[..., None, :]) / tau
    return np.where(y == y.max(axis=-1, keepdims=True), 1, 0), np.einsum(
        "...i,...ij->...j", gradient, J
    )


@exercise.alternative
def vector_by_vector(logits, noise, tau, gradient):
    """Loop over all vectors of a batch."""
    n = logits.shape[-1]
    hard, sent = np.zeros_like(logits), np.zeros_like(logits)
    for index in np.ndindex(logits.shape[:-1]):
        s = (logits[index] + noise[index]) / tau
        e = np.exp(s - max(s))
        y = e / sum(e)
        hard[index] = np.eye(n)[s.argmax()]
        sent[index] = [
            sum(gradient[index][i] * y[i] * ((i == j) - y[j]) for i in range(n)) / tau
            for j in range(n)
        ]
    return hard, sent


@exercise.alternative
def through_log_softmax(logits, noise, tau, gradient):
    """Sort for the hard choice, and take the soft one from its logarithm."""
    scores = logits + noise
    scaled = (scores - np.max(scores, axis=-1, keepdims=True)) / tau
    y = np.exp(scaled - np.log(np.sum(np.exp(scaled), axis=-1, keepdims=True)))
    hard = np.zeros(scores.shape)
    np.put_along_axis(hard, np.argsort(scores, axis=-1)[..., -1:], 1.0, axis=-1)
    mean = np.einsum("...i,...i->...", y, gradient)
    return hard, (y * gradient - y * mean[..., None]) / tau


def inputs(rng, *shape):
    """Logits, noise and a gradient; no two sums near each other, nor in the order of the logits."""
    scores = rng.permuted(np.broadcast_to(np.linspace(-1, 1.5, shape[-1]), shape), axis=-1)
    logits = rng.permuted(scores, axis=-1) + rng.uniform(0, 0.1, shape)
    return logits, scores - logits, rng.normal(size=shape)


def both(call, logits, noise, tau, gradient):
    """What goes forward, and what goes back."""
    found = call(logits, noise, tau, gradient)
    require(
        isinstance(found, tuple | list) and len(found) == 2,
        "return two arrays: the one-hot that goes forward, and what goes back to the logits",
    )
    return found


@exercise.check(points=0.25, visible=True)
def forward_is_hard(call, rng):
    """What goes forward is 1 where logit plus noise is largest, and 0 elsewhere."""
    for tau in (0.5, 2.0):
        logits, noise, gradient = inputs(rng, 5)
        hard, _ = both(call, logits, noise, tau, gradient)
        agree(hard, one_hot(logits + noise), what="the one-hot")


@exercise.check(points=0.5)
def backward_is_soft(call, rng):
    """What goes back agrees with central differences of the soft sample."""
    for tau in (0.5, 2.0):
        logits, noise, gradient = inputs(rng, 4)
        _, sent = both(call, logits, noise, tau, gradient)
        right = differences(lambda z, m=noise, t=tau, v=gradient: v @ softmax((z + m) / t), logits)
        agree(sent, right, rtol=1e-6, atol=1e-8, what="the gradient")


@exercise.check(points=0.25)
def each_vector_by_itself(call, rng):
    """In a batch each vector along the last axis is a choice of its own."""
    args = inputs(rng, 2, 3, 4)
    hard, sent = both(call, *args[:2], 0.7, args[2])
    right = straight_through(*args[:2], 0.7, args[2])
    agree(hard, right[0], what="the one-hots")
    agree(sent, right[1], what="the gradients")


@exercise.check(points=0.25)
def low_temperatures(call, rng):
    """Both are finite at temperatures such as 0.001."""
    logits, noise, gradient = inputs(rng, 4)
    with np.errstate(all="ignore"):
        hard, sent = both(call, logits + 5, noise, 1e-3, gradient)
    agree(hard, one_hot(logits + noise), what="the one-hot")
    agree(sent, np.zeros(4), what="the gradient")


@exercise.misconception(credit=0.5)
def soft_goes_forward(logits, noise, tau, gradient):
    """You send the soft sample forward: that is Gumbel-softmax without the straight-through."""
    y = softmax((logits + noise) / tau)
    return y, through(y, tau, gradient)


@exercise.misconception(credit=0.5)
def noise_only_backward(logits, noise, tau, gradient):
    """Your one-hot is that of the logits. The choice is made where logit plus noise is largest."""
    return one_hot(logits), straight_through(logits, noise, tau, gradient)[1]


@exercise.misconception(credit=0.5)
def noise_only_forward(logits, noise, tau, gradient):
    """Backward you leave the noise out: it belongs to the soft sample."""
    return one_hot(logits + noise), through(softmax(logits / tau), tau, gradient)


@exercise.misconception(credit=0.5)
def factor_left_out(logits, noise, tau, gradient):
    """The temperature divides the logits: the chain rule has a factor for that."""
    hard, sent = straight_through(logits, noise, tau, gradient)
    return hard, sent * tau


@exercise.misconception(credit=0.5)
def as_if_identity(logits, noise, tau, gradient):
    """You pass the gradient on as it came. It was to go back through the soft sample."""
    return one_hot(logits + noise), gradient


@exercise.misconception(credit=0.5)
def jacobian_of_the_one_hot(logits, noise, tau, gradient):
    """You put the one-hot into the Jacobian. Which sample is differentiated?"""
    hard = one_hot(logits + noise)
    return hard, through(hard, tau, gradient)


@exercise.misconception(credit=0.5)
def own_logit_alone(logits, noise, tau, gradient):
    """Each logit moves all entries: you have the diagonal of the Jacobian alone."""
    y = softmax((logits + noise) / tau)
    return one_hot(logits + noise), gradient * y * (1 - y) / tau


@exercise.misconception
def one_choice_for_all(logits, noise, tau, gradient):
    """You make one choice for the whole batch. Work along the last axis."""
    flat = straight_through(logits.ravel(), noise.ravel(), tau, gradient.ravel())
    return [x.reshape(logits.shape) for x in flat]


@exercise.misconception
def exponentials_overflow(logits, noise, tau, gradient):
    """At a low temperature your exponentials overflow. Subtract the largest score first."""
    with np.errstate(all="ignore"):
        e = np.exp((logits + noise) / tau)
        y = e / e.sum(axis=-1, keepdims=True)
    return one_hot(logits + noise), through(y, tau, gradient)


def share(gap, tau):
    """The first of two entries of a soft sample whose sums are so far apart."""
    return softmax(np.stack([gap / tau, 0 * tau]), axis=0)[0]


@exercise.part(points=0.5, answer=Numbers())
def slopes(own, gap):
    """∂y₁/∂z₁ of two entries for τ = 1, 0.1 and 0.02: apart by your gap, and equal."""
    return np.array([own(y_i=share(apart, TAUS), tau=TAUS) for apart in (gap, 0)])


@slopes.misconception()
def slopes_without_tau(gap):
    """You left out the factor with τ, by which the two rows behave so differently."""
    y = np.array([share(apart, TAUS) for apart in (gap, 0)])
    return y * (1 - y)


@slopes.misconception()
def gap_not_divided(gap):
    """In the softmax, too, the gap is divided by τ."""
    y = np.array([share(apart, np.ones(3)) for apart in (gap, 0)])
    return y * (1 - y) / TAUS


@slopes.misconception()
def samples_themselves(gap):
    """These are the entries y₁. Asked for are their derivatives."""
    return np.array([share(apart, TAUS) for apart in (gap, 0)])


@exercise.part(points=0.5, answer=Numbers())
def means():
    """Two equal logits, τ = 1: the mean of y₁(1 − y₁), and the derivative of p₁."""
    return [1 / 6, 1 / 4]


means.mistakes(
    mean_put_in=(
        [1 / 4, 1 / 4],
        "You put the mean of y into y (1 − y). Take the mean of the product.",
        0.5,
    ),
    probability_for_derivative=(
        [1 / 6, 1 / 2],
        "The second is the probability itself. Asked for is its derivative by the logit.",
        0.5,
    ),
    means_of_the_entry=(
        [1 / 2, 1 / 2],
        "These are the mean of y and the probability. Asked for are slopes.",
    ),
    mean_of_the_square=(
        [1 / 3, 1 / 4],
        "That is the mean of y². From which mean is it taken away?",
        0.5,
    ),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "The sample: with noise and temperature the indices come with other probabilities "
            "than those of $\\operatorname{softmax}(z)$.",
            "The gradient: the function that is evaluated, a step, and the one that is "
            "differentiated, a soft sample, are two different functions.",
            "The gradient: Gumbel noise has the mean 0.577 and not 0, which shifts all logits "
            "and thus the Jacobian.",
            "Nothing: a single draw may be far off, and in the mean over the noise the errors "
            "cancel.",
        ]
    ),
)
def biased():
    """What is biased, and why."""
    return "B"


biased.mistakes(
    sample_biased=(
        "A",
        "How often comes each index as the largest sum, and does dividing by τ change the order?",
    ),
    noise_without_mean_zero=(
        "C",
        "Add the same number to all logits: what does a softmax make of that?",
    ),
    cancels_in_the_mean=(
        "D",
        "Compare your two `means`: the mean over the noise has been taken there.",
    ),
)
