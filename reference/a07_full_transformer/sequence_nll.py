"""A sequence's probability by the chain rule, and what is minimised in training.

Source: Vaswani et al. (2017), section 3.1; Radford et al. (2019), section 2.
"""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from autograder.exercise import Exercise, Numbers, agree, require
from autograder.exercise.properties import shift_invariant
from reference.helpers import LOSSES

exercise = Exercise(
    "sequence_nll",
    title="The chain rule as a loss",
    source="Radford et al. (2019), section 2, eq. 1",
    minutes=35,
    hints=[
        "Multiply the conditional probabilities for the joint one; the logarithm turns that "
        "into a sum.",
        "From nats to bits is a division by log 2; the perplexity is the exponential of the "
        "mean in nats.",
        "In code, take only the labels that aren't ignored, for the sum as well as for the "
        "number it is divided by.",
    ],
)


@exercise.variant
def draw(rng):
    """p: (3,), the probability of each token after the tokens before it."""
    return {"p": rng.choice([0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 0.8, 0.9], 3, False)}


@exercise.part(points=0.5, answer=Numbers())
def joint(p):
    """The probability of the whole sequence."""
    return p.prod()


@joint.misconception()
def added_up(p):
    """You added probabilities. All three must happen, each after the ones before."""
    return p.sum()


@joint.misconception()
def mean_probability(p):
    """This is the mean of the three. How likely is it that all of them happen?"""
    return p.mean()


@joint.misconception()
def last_one(p):
    """This is the last token's alone."""
    return p[-1]


@exercise.part(points=0.5, answer=Numbers())
def total(joint):
    """Its negative log-likelihood, in nats."""
    return -np.log(joint)


@total.misconception()
def total_sign(joint):
    """A logarithm of a probability is negative, and its negative is asked for."""
    return np.log(joint)


@total.misconception()
def total_in_bits(joint):
    """Here nats are asked for: the natural logarithm."""
    return -np.log2(joint)


@total.misconception()
def total_in_tens(joint):
    """That is the logarithm to base 10."""
    return -np.log10(joint)


@exercise.part(points=0.5, answer=Numbers())
def mean(total):
    """The mean negative log-likelihood of a token, in nats."""
    return total / 3


@mean.misconception()
def log_of_the_mean(p):
    """You took the logarithm of the mean. The mean of the logarithms is asked for."""
    return -np.log(p.mean())


@mean.misconception()
def mean_in_bits(total):
    """These are bits. Nats come from the natural logarithm."""
    return total / 3 / np.log(2)


@mean.misconception()
def not_divided(total):
    """This is the total. Divide by the number of tokens."""
    return total


@mean.misconception()
def one_token_less(total):
    """You divided by 2. The first token is predicted as well: there are three."""
    return total / 2


@exercise.part(points=0.5, answer=Numbers())
def bits(mean):
    """The same in bits per token."""
    return mean / np.log(2)


@bits.misconception()
def still_in_nats(mean):
    """That is in nats. Bits are asked for."""
    return mean


@bits.misconception()
def multiplied(mean):
    """A bit is less than a nat: there must be more bits than nats."""
    return mean * np.log(2)


@bits.misconception()
def bits_in_total(total):
    """These are the bits of the whole sequence."""
    return total / np.log(2)


@exercise.part(points=1, answer=Numbers())
def perplexity(mean):
    """The perplexity."""
    return np.exp(mean)


@perplexity.alternative
def from_the_bits(bits):
    """Two to the bits per token."""
    return 2**bits


@perplexity.misconception()
def reciprocal_of_the_mean(p):
    """You took the reciprocal of the mean probability. The mean is taken of the logarithms."""
    return 1 / p.mean()


@perplexity.misconception()
def exponential_of_the_total(total):
    """You took the exponential of the total. Perplexity is per token."""
    return np.exp(total)


@perplexity.misconception()
def two_to_the_nats(mean):
    """You raised 2 to a number of nats. With nats, the base is e."""
    return 2**mean


@perplexity.misconception()
def e_to_the_bits(bits):
    """You raised e to a number of bits. With bits, the base is 2."""
    return np.exp(bits)


@perplexity.misconception()
def geometric_mean(mean):
    """This is a mean probability, below 1. Perplexity is among how many one seems to choose."""
    return np.exp(-mean)


@exercise.reference(without=LOSSES)
def nll(logits: Float[ndarray, "n V"], labels: Int[ndarray, " n"], ignore: int = -100) -> float:
    """Return the mean negative log-likelihood of the labels that are not ignored."""
    kept = labels != ignore
    logits, labels = logits[kept], labels[kept]
    return float(-log_softmax(logits)[np.arange(len(labels)), labels].mean())


def log_softmax(logits):
    """Return the logarithm of the softmax of each row."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@exercise.alternative
def row_by_row(logits, labels, ignore=-100):
    """Go through the rows and keep the losses."""
    losses = []
    for row, label in zip(logits, labels, strict=True):
        if label != ignore:
            losses.append(
                np.log(np.sum(np.exp(row - row[label])))
                if row.max() - row[label] < 500
                else row.max() - row[label] + np.log(np.sum(np.exp(row - row.max())))
            )
    return sum(losses) / len(losses)


@exercise.alternative
def with_one_hot_targets(logits, labels, ignore=-100):
    """Weigh with a mask, and divide by what was kept."""
    kept = np.where(labels == ignore, 0.0, 1.0)
    target = np.eye(logits.shape[1])[np.where(labels == ignore, 0, labels)]
    picked = (target * log_softmax(logits)).sum(axis=1)
    return -(picked * kept).sum() / kept.sum()


@exercise.alternative
def by_logaddexp(logits, labels, ignore=-100):
    """NumPy adds exponentials in logarithms."""
    at = np.flatnonzero(labels != ignore)
    return np.mean(np.logaddexp.reduce(logits[at], axis=1) - logits[at, labels[at]])


def task(rng, n=5, V=4):
    """Logits and labels of a short sequence."""
    return rng.normal(size=(n, V)) * 2, rng.integers(0, V, n)


@exercise.check(points=1, visible=True)
def matches_the_formula(call, rng):
    """The mean of −log p(label) over all positions; logits are moderate, nothing is ignored."""
    logits, labels = task(rng)
    agree(call(logits, labels), nll(logits, labels), what="the loss")


@exercise.check(points=0.75)
def ignored_positions(call, rng):
    """Ignored positions leave the sum, and the mean is of the others."""
    logits, labels = task(rng, 7)
    labels[[1, 2, 5]] = -100
    agree(call(logits, labels), nll(logits, labels), what="the loss")


@exercise.check(points=0.25)
def another_sign_for_ignored(call, rng):
    """What is to be ignored may have another number, a token's own id among them."""
    for ignore in (-100, -1, 2):
        logits, labels = task(rng, 6)
        labels[[0, 3]], labels[[1, 4]] = ignore, 1
        agree(call(logits, labels, ignore), nll(logits, labels, ignore), what="the loss")


@exercise.check(points=1)
def large_logits_stay_finite(call, rng):
    """Logits of ±10000 give a finite loss, in rows that lie far apart as well."""
    logits, labels = task(rng)
    far = np.array([1e4, 0, -1e4, 5e3, 0])[:, None]
    shift_invariant(lambda x: call(x, labels), logits, far, what="the loss")
    wrong = np.array([[1e4, 0.0], [0.0, 1e4]])
    value = call(wrong, np.array([1, 0]))
    require(np.all(np.isfinite(value)), "the loss is not finite where the label is very unlikely")
    agree(value, 1e4, what="the loss")


@exercise.misconception
def ignored_count_in_the_mean(logits, labels, ignore=-100):
    """You divide by all positions. Those that are ignored leave the mean, too."""
    return nll(logits, labels, ignore) * (labels != ignore).mean()


@exercise.misconception
def nothing_ignored(logits, labels, ignore=-100):
    """Positions that are to be ignored count in yours."""
    return nll(logits, labels % logits.shape[1], -1)


@exercise.misconception
def only_minus_hundred(logits, labels, ignore=-100):
    """You ignore −100 alone. `ignore` says what is to be ignored."""
    return nll(logits, labels)


@exercise.misconception
def negatives_ignored(logits, labels, ignore=-100):
    """You ignore all that is negative. `ignore` says what is to be ignored."""
    return nll(logits, np.where(labels < 0, ignore, labels), min(ignore, -1))


@exercise.misconception
def token_zero_ignored(logits, labels, ignore=-100):
    """You leave out the label 0. It is a token like any other."""
    return nll(logits, np.where(labels == 0, ignore, labels), ignore)


@exercise.misconception
def sum_of_losses(logits, labels, ignore=-100):
    """You added the losses up. The mean is asked for."""
    return nll(logits, labels, ignore) * (labels != ignore).sum()


@exercise.misconception
def loss_in_bits(logits, labels, ignore=-100):
    """Your loss is in bits. Take natural logarithms."""
    return nll(logits, labels, ignore) / np.log(2)


@exercise.misconception
def sign_forgotten(logits, labels, ignore=-100):
    """Yours is a log-likelihood, which is negative. Its negative is asked for."""
    return -nll(logits, labels, ignore)


@exercise.misconception
def log_of_the_mean_probability(logits, labels, ignore=-100):
    """You took the logarithm of the mean probability. The mean is of the logarithms."""
    kept = labels != ignore
    picked = log_softmax(logits[kept])[np.arange(kept.sum()), labels[kept]]
    return float(-np.log(np.exp(picked).mean()))


@exercise.misconception
def logits_not_normalised(logits, labels, ignore=-100):
    """These are the logits of the labels. What turns logits into probabilities?"""
    kept = labels != ignore
    return float(-logits[kept][np.arange(kept.sum()), labels[kept]].mean())


@exercise.misconception
def softmax_over_positions(logits, labels, ignore=-100):
    """Your probabilities add up to 1 along the positions. At each one a token is chosen."""
    kept = labels != ignore
    logp = log_softmax(logits[kept].T).T
    return float(-logp[np.arange(kept.sum()), labels[kept]].mean())


@exercise.misconception
def softmax_typed_in(logits, labels, ignore=-100):
    """exp of a large logit overflows, and log of an underflown probability is −∞."""
    kept = labels != ignore
    with np.errstate(all="ignore"):
        e = np.exp(logits[kept])
        p = e / e.sum(axis=1, keepdims=True)
        return float(-np.log(p[np.arange(len(p)), labels[kept]]).mean())


@exercise.misconception
def softmax_and_then_log(logits, labels, ignore=-100):
    """Your softmax is safe, its logarithm is not: a probability that underflows to 0 gives −∞."""
    kept = labels != ignore
    p = np.exp(log_softmax(logits[kept]))
    with np.errstate(all="ignore"):
        return float(-np.log(p[np.arange(len(p)), labels[kept]]).mean())


@exercise.misconception
def one_shift_for_all(logits, labels, ignore=-100):
    """You subtract one maximum from all rows: a row far below it underflows."""
    kept = labels != ignore
    shifted = logits[kept] - logits[kept].max()
    with np.errstate(all="ignore"):
        logp = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return float(-logp[np.arange(len(logp)), labels[kept]].mean())


@exercise.misconception
def small_number_added(logits, labels, ignore=-100):
    """You add a small number before the logarithm: an unlikely label then costs too little."""
    kept = labels != ignore
    p = np.exp(log_softmax(logits[kept]))
    return float(-np.log(p[np.arange(len(p)), labels[kept]] + 1e-12).mean())
