"""Sampling from a softmax by adding noise and taking the maximum.

Source: Maddison, Tarlow & Minka (2014), "A* sampling", section 2.
"""

import numpy as np
from jaxtyping import Float, Int
from numpy import inf, ndarray

from autograder.exercise import Exercise, agree, require
from reference.helpers import softmax

exercise = Exercise(
    "gumbel_max",
    title="Sampling by adding noise",
    source="Maddison et al. (2014), section 2",
    minutes=15,
    hints=[
        "The distribution function of Gumbel noise is exp(−e^{−g}). Set it equal to a uniform"
        " number u and solve for g.",
        "Each sample needs noise for every logit: draw an array of shape (size, n) and look "
        "for the largest entry of each row.",
        "−∞ plus a finite number stays −∞, so blocked logits need no special care if you add "
        "the noise to the logits themselves.",
    ],
)


@exercise.reference
def gumbel_sample(z: Float[ndarray, " n"], size: int, rng: int) -> Int[ndarray, " size"]:
    """Return ``size`` indices, drawn as argmax(z + g) with standard Gumbel noise g."""
    g = np.random.default_rng(rng).gumbel(size=(size, len(z)))
    return np.argmax(z + g, axis=1)


@exercise.alternative
def noise_from_uniform_numbers(z, size, rng):
    """Turn uniform numbers into Gumbel noise: g = −log(−log u)."""
    u = np.random.default_rng(rng).uniform(np.finfo(float).tiny, 1, (size, len(z)))
    return (z - np.log(-np.log(u))).argmax(axis=1)


@exercise.alternative
def logit_by_logit(z, size, rng):
    """Keep the best value so far, one logit after the other."""
    rng = np.random.default_rng(rng)
    best, index = np.full(size, -inf), np.zeros(size, dtype=int)
    for i in range(len(z)):
        value = z[i] + rng.gumbel(size=size)
        index[value > best] = i
        best = np.maximum(best, value)
    return index


@exercise.alternative
def race_of_exponentials(z, size, rng):
    """The first of n clocks with rates e^z to ring: the same law, written without a logarithm."""
    rates = np.exp(z - z.max())
    with np.errstate(divide="ignore"):
        return (np.random.default_rng(rng).exponential(size=(size, len(z))) / rates).argmin(axis=1)


@exercise.alternative
def in_single_precision(z, size, rng):
    """Noise and sums in float32."""
    g = np.random.default_rng(rng).gumbel(size=(size, len(z))).astype(np.float32)
    return np.argmax((z - z.max()).astype(np.float32) + g, axis=1).astype(np.int32)


def frequencies(call, z, rng, size=20_000):
    """How often each index comes in so many samples."""
    samples = np.asarray(call(z, size, int(rng.integers(1 << 30))))
    require(samples.shape == (size,), f"size={size} gives a result of another shape")
    require(samples.dtype.kind in "iu", f"indices are whole numbers, not {samples.dtype}")
    inside = samples.min() >= 0 and samples.max() < len(z)
    require(inside, f"an index lies outside 0, …, {len(z) - 1}")
    return np.bincount(samples, minlength=len(z)) / len(samples)


def follow(frequency, p, within=0.016):
    """The frequencies are as close to the probabilities as chance lets them be, 4.5 deviations."""
    require(
        np.abs(frequency - p).max() < within,
        "the frequencies of many samples are not the softmax probabilities",
    )


@exercise.check(points=0.5, visible=True)
def certain_outcome(call, rng):
    """Beside −∞ a single finite logit is drawn every time, `size` times."""
    samples = call(np.array([-inf, -inf, 0.0, -inf]), 8, 5)
    agree(samples, np.full(8, 2), what="the sample")


@exercise.check(points=1.5, after=certain_outcome)
def frequencies_are_probabilities(call, rng):
    """In 200 000 samples for (1, 2, 3) every index comes as often as softmax says, within 0.005."""
    z = np.array([1.0, 2.0, 3.0])
    follow(frequencies(call, z, rng, 200_000), softmax(z), within=0.005)
    z = np.array([0.0, 0.0, -1.0, 0.5])
    follow(frequencies(call, z, rng), softmax(z))


@exercise.check(points=0.5, after=frequencies_are_probabilities)
def common_shift_changes_nothing(call, rng):
    """Logits around 1000 or −1000 are sampled like the same logits around 0."""
    z = np.array([1.0, 2.0, 3.0])
    for shift in (1000, -1000):
        follow(frequencies(call, z + shift, rng), softmax(z))


@exercise.check(points=0.5, after=frequencies_are_probabilities)
def blocked_logits_never_come(call, rng):
    """An index with the logit −∞ never comes; the others share as usual."""
    z = np.array([1.0, -inf, 2.0, 0.5])
    frequency = frequencies(call, z, rng)
    require(frequency[1] == 0, "an index with the logit −∞ has been drawn")
    follow(frequency, softmax(z))


@exercise.misconception
def normal_noise(z, size, rng):
    """Your noise has a normal distribution. Only with Gumbel noise does the maximum fit softmax."""
    return np.argmax(z + np.random.default_rng(rng).normal(size=(size, len(z))), axis=1)


@exercise.misconception
def uniform_noise(z, size, rng):
    """You added uniform numbers as they are. Their logarithms, taken twice, are Gumbel noise."""
    return np.argmax(z + np.random.default_rng(rng).random((size, len(z))), axis=1)


@exercise.misconception
def one_logarithm_only(z, size, rng):
    """−log u is exponential noise. Gumbel noise takes the logarithm twice."""
    u = np.random.default_rng(rng).random((size, len(z)))
    return np.argmax(z - np.log(u), axis=1)


@exercise.misconception(fatal="nothing is sampled anew")
def same_noise_for_all(z, size, rng):
    """You drew the noise once, so all samples are the same. Each sample needs noise of its own."""
    g = np.random.default_rng(rng).gumbel(size=len(z))
    return np.full(size, np.argmax(z + g))


@exercise.misconception
def minimum_taken(z, size, rng):
    """You took the smallest of the noisy logits. The largest one wins."""
    g = np.random.default_rng(rng).gumbel(size=(size, len(z)))
    return np.argmin(z + g, axis=1)


@exercise.misconception(fatal="nothing is sampled")
def always_the_best(z, size, rng):
    """The same index comes every time. Every logit of every sample needs noise of its own."""
    return np.full(size, np.argmax(z))


@exercise.misconception
def values_instead_of_indices(z, size, rng):
    """You returned the largest values. Asked for is where they are, as whole numbers."""
    g = np.random.default_rng(rng).gumbel(size=(size, len(z)))
    return np.max(z + g, axis=1)


@exercise.misconception
def inverse_without_a_shift(z, size, rng):
    """You computed exp(z), which overflows for large logits. Adding noise needs no exponential."""
    e = np.exp(z)
    bounds = np.cumsum(e / e.sum())
    return np.searchsorted(bounds, np.random.default_rng(rng).random(size)).clip(0, len(z) - 1)


@exercise.misconception
def floor_instead_of_infinity(z, size, rng):
    """You replaced −∞ by a number, so a blocked index still comes now and then."""
    g = np.random.default_rng(rng).gumbel(size=(size, len(z)))
    finite = np.isfinite(z).sum() > 1
    return np.argmax(np.where(np.isneginf(z) & finite, z[np.isfinite(z)].min() - 4, z) + g, axis=1)
