"""How far linear attention with φ = elu + 1 is from softmax attention.

Source: Katharopoulos et al. (2020), "Transformers are RNNs", section 3.2.
"""

from functools import cache, lru_cache

import numpy as np

from autograder.exercise import Essay, Exercise, Numbers

exercise = Exercise(
    "linear_gap",
    title="How different are the outputs?",
    source="Katharopoulos et al. (2020), section 3.2",
    minutes=30,
    pool=4,  # n = 5000 takes its time
    practice="it is an experiment of one's own",
    hints=[
        "No whole matrix of weights is needed: go through the rows in blocks, add up the "
        "squares of the differences, and take the root at the end.",
        "Both outputs are weighted means of the same values. What can the inputs look like so "
        "that the weights agree, whatever the similarity is?",
        "For the reading follow `rel` from the first n to the last, and ask of the feature map "
        "what more tokens could improve about it.",
    ],
)

standard_attention = exercise.carries("a08_cost/time_attention", "standard_attention")
linear_attention = exercise.carries("a08_cost/time_attention", "linear_attention")

lengths = (100, 500, 1000, 2000, 5000)
width = 64
SCALE = 0.125  # 1/√64


@exercise.variant
def draw(rng):
    """seed: for your random generator."""
    return {"seed": int(rng.integers(1, 1000))}


def fresh(seed):
    """Q, K and V for each length, each from a new generator."""
    return [np.random.default_rng(seed).normal(size=(3, n, width)) for n in lengths]


@lru_cache(maxsize=1)  # each of the functions below wants them, one after the other
def inputs(seed):
    """Q, K and V for each length, all from one generator."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(3, n, width)) for n in lengths]


def rows_of(Q, K, V, scale):
    """Softmax attention, a few queries at a time; float32 is exact enough here.

    So few, and in place, that a block stays near the processor.
    """
    Q, K, V = (x.astype(np.float32) for x in (Q, K, V))
    outputs = []
    for first in range(0, len(Q), 100):
        A = Q[first : first + 100] * np.float32(scale) @ K.T
        A -= A.max(axis=1, keepdims=True)
        np.exp(A, out=A)
        outputs.append(A @ V / A.sum(axis=1, keepdims=True))
    return np.concatenate(outputs)


@cache
def standard(seed, scale):
    """Softmax attention for all lengths."""
    return [rows_of(*qkv, scale) for qkv in inputs(seed)]


def elu1(x):
    """x + 1 above 0, exp(x) below."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def relu1(x):
    """max(x, 0) + 1."""
    return np.maximum(x, 0) + 1


def linear_of(Q, K, V, phi=elu1, normalised=True):
    """Linear attention."""
    q, k = phi(Q), phi(K)
    above = q @ (k.T @ V)
    return above / (q @ k.sum(axis=0))[:, None] if normalised else above


@cache
def linear(seed, phi, normalised):
    """Linear attention for all lengths."""
    return [linear_of(*qkv, phi, normalised) for qkv in inputs(seed)]


def norms(matrices):
    """Their Frobenius norms."""
    return np.array([np.linalg.norm(matrix) for matrix in matrices])


@cache
def softmax_norms(seed):
    """The size of the outputs of softmax attention."""
    return norms(standard(seed, SCALE))


def linear_norms(seed):
    """The size of the outputs of linear attention, by the function of the race."""
    qkv = (each.astype(np.float32) for each in inputs(seed))
    return norms(np.asarray(linear_attention(Q, K, V)) for Q, K, V in qkv)


@cache
def gaps(seed, scale=SCALE, phi=elu1, normalised=True):
    """Differences between the two, one matrix for each length."""
    pairs = zip(standard(seed, scale), linear(seed, phi, normalised), strict=True)
    return [x - y for x, y in pairs]


@cache
def gap_norms(seed, **ways):
    """Their Frobenius norms."""
    return norms(gaps(seed, **ways))


@exercise.part(points=2, answer=Numbers())
def l2(seed):
    """Frobenius norms of the difference for your seed, one for each n."""
    return gap_norms(seed)


@l2.alternative
def l2_from_all_entries(seed):
    """The root of the sum of all squares."""
    return np.array([np.sqrt(np.sum(gap**2)) for gap in gaps(seed)])


def outputs(seed):
    """What the functions of the race give for each length; float32 is exact enough here.

    All queries at once, since those of a wrong function may depend on each other.
    """
    for qkv in inputs(seed):
        Q, K, V = qkv.astype(np.float32)
        yield np.asarray(standard_attention(Q, K, V)), np.asarray(linear_attention(Q, K, V))


@l2.alternative
def l2_by_the_functions(seed):
    """With the functions of the race."""
    return np.array([np.linalg.norm(slow - fast) for slow, fast in outputs(seed)])


@l2.misconception()
def scale_forgotten(seed):
    """Your softmax attention lacks the scale 1/√d."""
    return gap_norms(seed, scale=1.0)


@l2.misconception()
def seeded_anew(seed):
    """You made a new generator for each n. All inputs come from one, one n after the other."""
    return norms([rows_of(*qkv, SCALE) - linear_of(*qkv) for qkv in fresh(seed)])


@l2.misconception()
def relu_for_elu(seed):
    """You used max(x, 0) + 1. Below 0 the feature map of this exercise is exp(x)."""
    return gap_norms(seed, phi=relu1)


@l2.misconception()
def not_normalised(seed):
    """Your linear attention is not divided by the sum of its weights."""
    return gap_norms(seed, normalised=False)


@l2.misconception()
def squared(seed):
    """That is the squared norm: take the root."""
    return gap_norms(seed) ** 2


@l2.misconception()
def root_mean_square(seed):
    """You divided by the number of entries. That is a mean; asked for is the norm."""
    return gap_norms(seed) / np.sqrt(width * np.array(lengths))


@l2.misconception()
def sizes_added(seed):
    """You added the sizes of the differences. Asked for is the root of the sum of their squares."""
    return np.array([np.abs(gap).sum() for gap in gaps(seed)])


@l2.misconception()
def largest_entry(seed):
    """That is the largest difference of an entry. A norm collects all of them."""
    return np.array([np.abs(gap).max() for gap in gaps(seed)])


@l2.misconception()
def spectral_norm(seed):
    """That is the spectral norm, the largest singular value: np.linalg.norm without `2`."""
    return np.array([np.sqrt(np.linalg.eigvalsh(gap.T @ gap)[-1]) for gap in gaps(seed)])


@exercise.part(points=1, answer=Numbers())
def rel(l2, seed):
    """The same, divided by the norm of the standard output."""
    return l2 / softmax_norms(seed)


@rel.alternative
def rel_by_the_functions(seed):
    """With the functions of the race."""
    found = [np.linalg.norm(slow - fast) / np.linalg.norm(slow) for slow, fast in outputs(seed)]
    return np.array(found)


@rel.misconception()
def rel_scale_forgotten(seed):
    """Your softmax attention lacks the scale 1/√d."""
    return gap_norms(seed, scale=1.0) / norms(standard(seed, 1.0))


@rel.misconception()
def rel_seeded_anew(seed):
    """You made a new generator for each n. All inputs come from one, one n after the other."""
    slow = [rows_of(*qkv, SCALE) for qkv in fresh(seed)]
    gaps = [x - linear_of(*qkv) for x, qkv in zip(slow, fresh(seed), strict=True)]
    return norms(gaps) / norms(slow)


@rel.misconception()
def divided_by_linear(l2, seed):
    """You divided by the norm of the linear output: softmax attention is the measure here."""
    return l2 / linear_norms(seed)


@rel.misconception()
def difference_of_norms(seed):
    """That is the difference of two norms. Two vectors of one length can point anywhere."""
    return np.abs(softmax_norms(seed) - linear_norms(seed)) / softmax_norms(seed)


@rel.misconception()
def divided_by_the_length(l2):
    """You divided by n. The measure is the size of the output itself."""
    return l2 / np.array(lengths)


@rel.misconception()
def in_percent(l2, seed):
    """These are percentages; asked for are fractions."""
    return 100 * l2 / softmax_norms(seed)


@exercise.part(points=2, answer=Essay())
def reading():
    """What do the five numbers say? Does linear attention come closer to softmax as n grows?

    (1) The relative difference stays near 0.75; it does not shrink with n.
    (2) elu + 1 is another similarity, not an approximation of the exponential, so the
    difference is no error of approximation.
    (3) A case in which both agree: equal keys make both the plain mean of the values.
    (4) What would converge: random features of the exponential, with a growing number of them.
    """
    return (
        "The relative difference stays at about three quarters from n = 100 to n = 5000. elu + 1 "
        "defines another similarity than the exponential, so this is not an error that more data "
        "could reduce. With equal keys both are the mean of the values. Random features whose "
        "products average to the exponential do converge, as their number grows."
    )
