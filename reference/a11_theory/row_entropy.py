"""The entropy of attention rows, its bound and its exponential.

Source: Shannon (1948), "A mathematical theory of communication", section 6.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Exercise, Numbers, agree, require
from reference.helpers import softmax

exercise = Exercise(
    "row_entropy",
    title="How focused is a row?",
    source="Shannon (1948), section 6",
    minutes=35,
    hints=[
        "Which row over three keys leaves you most in doubt about where it looks? Under a mask "
        "ask the same for as many keys as the row may see.",
        "Logarithms to two bases differ by a constant factor. You can find it from two equal "
        "weights, which have 1 bit.",
        "A weight of 0 is to add nothing. Whatever harmless number you let the logarithm have "
        "there, the product with 0 removes it.",
    ],
)

words = np.array([[1, 0], [0, 1], [1, 1]])
A = softmax(words @ words.T)


def entropy(p, axis=-1):
    """Return −Σ p log p along an axis, where 0 log 0 is 0."""
    return -np.sum(p * np.log(np.where(p > 0, p, 1)), axis=axis)


def for_each_row(H):
    """One number for each row can be carried on."""
    return np.shape(H) == (3,)


@exercise.part(points=1, answer=Numbers(), carry_if=for_each_row)
def H():
    """The entropies of the three rows in nats."""
    return entropy(A)


@H.misconception()
def columns():
    """You added up the columns. A row is the distribution of one query."""
    return entropy(A, axis=0)


@H.misconception()
def summed():
    """That is the sum over all rows. Each row is a distribution of its own."""
    return entropy(A).sum()


@H.misconception()
def averaged_over_keys():
    """You took the mean over the keys. The terms of a row are added up."""
    return entropy(A) / 3


@H.misconception(credit=0.3)
def in_bits():
    """These are bits. Nats come from the natural logarithm."""
    return entropy(A) / np.log(2)


@H.misconception()
def weights_forgotten():
    """You added up −log p. Each surprise counts with its probability."""
    return -np.log(A).sum(axis=-1)


@exercise.part(points=0.5, answer=Numbers())
def largest():
    """The largest entropy, in nats, that a row over three keys can have."""
    return np.log(3)


largest.mistakes(
    number_of_keys=(3.0, "That counts the keys. It is the entropy that is asked for."),
    bound_in_bits=(np.log2(3), "That is the bound in bits.", 0.3),
)


@largest.misconception()
def best_of_these():
    """That is the largest of these three rows. Which weights would have more?"""
    return entropy(A).max()


@exercise.part(points=0.5, answer=Numbers())
def bits(H):
    """The entropy of the row of "cat" in bits."""
    return H[1] / np.log(2)


@bits.misconception()
def still_in_nats(H):
    """That is in nats. Bits are asked for."""
    return H[1]


@bits.misconception()
def multiplied(H):
    """You multiplied by log 2. A bit is less than a nat, so there are more of them."""
    return H[1] * np.log(2)


@bits.misconception()
def base_ten(H):
    """You took logarithms to base 10. Bits come from base 2."""
    return H[1] / np.log(10)


@bits.misconception(credit=0.3)
def row_of_sat(H):
    """That is the row of "sat", the last one."""
    return H[2] / np.log(2)


@exercise.part(points=1, answer=Numbers())
def effective(H):
    """The effective number of keys e^H of each row."""
    return np.exp(H)


@effective.misconception()
def bases_mixed(H):
    """You raised 2 to an entropy in nats. Logarithm and power have to be of one base."""
    return 2**H


@effective.misconception()
def inverse_of_the_squares():
    """That is 1/Σ p², another measure of spread."""
    return 1 / (A**2).sum(axis=-1)


@effective.misconception()
def share_of_the_bound(H):
    """You compared with the bound. The effective number counts keys."""
    return H / np.log(3)


@exercise.part(points=1, answer=Numbers())
def causal_largest():
    """The largest entropies of the five rows under a causal mask, in nats."""
    return np.log(np.arange(1, 6))


causal_largest.mistakes(
    mask_forgotten=(
        np.full(5, np.log(5)),
        "You gave every row five keys. What does the mask leave to the first one?",
    ),
    later_keys=(
        np.log(np.arange(5, 0, -1)),
        "Your first row has the most keys. A causal mask leaves it one, and all to the last row.",
    ),
    keys_counted=(np.arange(1.0, 6), "You counted keys. It is an entropy that is asked for.", 0.3),
    without_itself=(
        np.log([1, 1, 2, 3, 4]),
        "A query sees itself, too: row i has one more key than there are before it.",
    ),
    one_key_too_many=(
        np.log(np.arange(2, 7)),
        "You gave every row one key too many: the first query sees itself alone.",
    ),
)


@exercise.reference
def attention_entropy(
    A: Float[ndarray, "..."], axis: int = -1, base: int | float | None = None
) -> Float[ndarray, "..."] | float:
    """Return the entropies along an axis, in nats unless a base is given."""
    return entropy(A, axis) / (1 if base is None else np.log(base))


@exercise.alternative
def logarithm_where_positive(A, axis=-1, base=None):
    """Take the logarithm only where there is something."""
    logs = np.zeros_like(A)
    np.log(A, out=logs, where=A > 0)
    found = -(A * logs).sum(axis)
    return found if base is None else found / np.log(base)


@exercise.alternative
def without_the_nan(A, axis=-1, base=None):
    """Compute 0 log 0 and leave it out."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = -A * np.log(A) / np.log(np.e if base is None else base)
    return np.nansum(terms, axis=axis)


@exercise.alternative
def smallest_positive_number(A, axis=-1, base=None):
    """Clip the weights at the smallest number."""
    clipped = np.clip(A, np.finfo(A.dtype).tiny, None)
    return np.sum(A * -np.log(clipped), axis=axis) / np.log(base or np.e)


@exercise.alternative
def small_epsilon(A, axis=-1, base=None):
    """A number too small to matter inside the logarithm."""
    return -(A * np.log(A + 1e-9)).sum(axis=axis) / np.log(base or np.e)


@exercise.alternative
def row_by_row(A, axis=-1, base=None):
    """Plain Python for each row."""

    def one(p):
        nats = -sum(x * np.log(x) for x in p if x > 0)
        return nats if base is None else nats / np.log(base)

    return np.apply_along_axis(one, axis, A)


def weights(rng, *shape):
    """Positive weights that add up to 1 along the last axis, well spread."""
    return softmax(2 * rng.normal(size=shape))


@exercise.check(points=1, visible=True)
def entropy_of_each_row(call, rng):
    """The entropies −Σ p log p of the rows of a matrix, in nats; uniform rows have log n."""
    A = weights(rng, 4, 6)
    agree(call(A), entropy(A), rtol=1e-7)
    agree(call(np.full((2, 7), 1 / 7)), np.full(2, np.log(7)), rtol=1e-7)


@exercise.check(points=1)
def zeros_add_nothing(call, rng):
    """A weight of 0 contributes 0: a one-hot row has the entropy 0, a masked row stays finite."""
    A = weights(rng, 5, 5) * np.tri(5)
    A /= A.sum(-1, keepdims=True)
    found = call(A)
    require(np.isfinite(found).all(), "a weight of 0 gives NaN or an infinity")
    agree(found, entropy(A), atol=1e-7)
    agree(call(np.eye(4)), np.zeros(4), atol=1e-7)


@exercise.check(points=0.5)
def batches_heads_and_axes(call, rng):
    """Works for (batch, heads, n, m), and along another axis if one is given."""
    A = weights(rng, 2, 3, 4, 5)
    agree(call(A), entropy(A), atol=1e-7)
    agree(call(np.moveaxis(A, -1, 1), axis=1), entropy(A), atol=1e-7)


@exercise.check(points=0.5)
def other_bases(call, rng):
    """With `base=2` the result is in bits, with `base=10` in decimal digits."""
    A = weights(rng, 3, 4)
    for base in (2, 10):
        agree(call(A, base=base), entropy(A) / np.log(base), atol=1e-7)


@exercise.misconception
def zero_times_infinity(A, axis=-1, base=None):
    """0 · log 0 is NaN for a computer. In an entropy it counts as 0: treat it by itself."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return -np.sum(A * np.log(A), axis=axis) / np.log(base or np.e)


@exercise.misconception(credit=0.5)
def large_epsilon(A, axis=-1, base=None):
    """The number that you add inside the logarithm is large enough to change the entropy."""
    return -np.sum(A * np.log(A + 1e-3), axis=axis) / np.log(base or np.e)


@exercise.misconception
def base_ignored(A, axis=-1, base=None):
    """You always return nats: `base` has no effect."""
    return entropy(A, axis)


@exercise.misconception
def divided_by_the_base(A, axis=-1, base=None):
    """You divided by the base. To change the base, divide by its logarithm."""
    return entropy(A, axis) / (1 if base is None else base)


@exercise.misconception
def multiplied_by_the_logarithm(A, axis=-1, base=None):
    """You multiplied by the logarithm of the base. Two equal weights have 1 bit: try them."""
    return entropy(A, axis) * np.log(base or np.e)


@exercise.misconception(credit=0.5)
def bits_by_default(A, axis=-1, base=None):
    """Without a base you return bits. Asked for are nats."""
    return entropy(A, axis) / np.log(2 if base is None else base)


@exercise.misconception
def axis_ignored(A, axis=-1, base=None):
    """You always add up along the last axis: `axis` has no effect."""
    return entropy(A) / np.log(base or np.e)


@exercise.misconception(credit=0.4)
def down_the_columns(A, axis=-1, base=None):
    """You add up along the first axis. The default is the last one."""
    return entropy(A, 0 if axis == -1 else axis) / np.log(base or np.e)


@exercise.misconception(credit=0.5)
def axis_kept(A, axis=-1, base=None):
    """You keep the axis that you add along. The result has one axis less than A."""
    return np.expand_dims(entropy(A, axis), axis) / np.log(base or np.e)


@exercise.misconception
def mean_over_rows(A, axis=-1, base=None):
    """You return one number. Each row has an entropy of its own."""
    return entropy(A, axis).mean() / np.log(base or np.e)


@exercise.misconception(credit=0.5)
def sign_forgotten(A, axis=-1, base=None):
    """Logarithms of probabilities are negative. An entropy isn't."""
    return -entropy(A, axis) / np.log(base or np.e)
