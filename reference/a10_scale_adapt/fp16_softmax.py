"""Softmax in half precision.

Source: Micikevicius et al. (2018), "Mixed precision training", section 3.3.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Exercise, Numbers, agree, require
from autograder.exercise.properties import keeps_dtype, leaves_alone, rows_sum_to_one
from reference.helpers import SOFTMAX, softmax

exercise = Exercise(
    "fp16_softmax",
    title="Where the exponential overflows",
    source="Micikevicius et al. (2018), section 3.3",
    minutes=35,
    hints=[
        "Compare every intermediate result with the largest number of half precision, not only "
        "the last one.",
        "What is infinity divided by infinity, and a finite number divided by infinity? "
        "`np.float16` answers both.",
        "For `softmax16` decide three things: what is subtracted, in which precision you add "
        "up, and in which the result is returned.",
    ],
)

half = np.float16
Z = np.array([12.0, 11, 0])


@exercise.part(points=0.4, answer=Numbers())
def threshold():
    """The natural logarithm of the largest number of half precision."""
    return np.log(65504)


threshold.mistakes(
    logarithm_to_base_2=(
        np.log2(65504),
        "That is the logarithm to the base 2. The exponential has the base e.",
    ),
    logarithm_to_base_10=(
        np.log10(65504),
        "That is the logarithm to the base 10. The exponential has the base e.",
    ),
)


@exercise.part(points=0.6, answer=Numbers(special=True))
def exponentials():
    """exp(11) and exp(12) in half precision."""
    return np.array([59872, np.inf])


exponentials.mistakes(
    exponentials_in_single=(
        np.exp([11.0, 12]),
        "These are the true values. The second one is larger than half precision goes.",
    ),
    clipped_at_the_top=(
        np.array([59872.0, 65504]),
        "Beyond the largest number there is infinity: results are not clipped.",
    ),
)


@exercise.part(points=0.5, answer=Numbers(special=True))
def naive():
    """The softmax of (12, 11, 0) in half precision without a shift."""
    return np.array([np.nan, 0, 0])


naive.mistakes(
    infinity_over_infinity_is_one=(np.array([1.0, 0, 0]), "∞/∞ is no number: not 1."),
    all_not_a_number=(
        np.full(3, np.nan),
        "A finite number divided by ∞ is 0. Only one entry of yours is right.",
    ),
    infinite_weight=(np.array([np.inf, 0, 0]), "The denominator is infinite as well."),
)


@exercise.part(points=0.5, answer=Numbers())
def right():
    """The right softmax of (12, 11, 0)."""
    return softmax(Z)


@right.misconception()
def powers_of_two():
    """You took powers of 2. A softmax takes powers of e."""
    return 2.0**Z / (2.0**Z).sum()


@right.misconception()
def largest_alone():
    """You gave all to the largest one. The second logit is smaller by 1 only."""
    return np.array([1.0, 0, 0])


@right.misconception()
def not_divided():
    """These don't add up to 1: divide by their sum."""
    return np.exp(Z - Z.max())


@right.misconception()
def divided_linearly():
    """You divided the logits by their sum. A softmax takes exponentials first."""
    return Z / Z.sum()


@exercise.part(points=1, answer=Numbers(special=True))
def overflows():
    """In half: exp(10) + exp(10), the sum of three exp(10.5), 200 · 300, 300 · 300."""
    return np.array([44064, np.inf, 60000, np.inf])


overflows.mistakes(
    nothing_overflows=(
        np.array([2 * np.exp(10), 3 * np.exp(10.5), 60000, 90000]),
        "Three terms that fit have a sum that needn't, and two factors a product.",
    ),
    stopped_at_the_largest=(
        np.array([44064, 65504, 60000, 65504]),
        "Half precision doesn't stop at its largest number: what is larger becomes ∞.",
    ),
    everything_overflows=(np.full(4, np.inf), "Compare each result with 65,504: two of them fit."),
    products_are_safe=(
        np.array([44064, np.inf, 60000, 90000]),
        "300 · 300 is larger than 65,504. So are scores of wide heads before they are scaled.",
    ),
)


@exercise.reference(without=SOFTMAX)
def softmax16(z: Float[ndarray, "..."]) -> Float[ndarray, "..."]:
    """Softmax along the last axis, computed in float32 and returned in half precision."""
    return softmax(z.astype(np.float32)).astype(half)


@exercise.alternative
def shifted_in_half(z):
    """Shift in half precision, add up in float32."""
    with np.errstate(over="ignore"):
        e = np.exp(z - z.max(axis=-1, keepdims=True))
    total = e.sum(axis=-1, keepdims=True, dtype=np.float32)
    return (e / total).astype(half)


@exercise.alternative
def by_logarithms(z):
    """Subtract the log-sum-exp."""
    wide = z.astype(np.float64)
    top = wide.max(axis=-1, keepdims=True)
    return np.exp(wide - top - np.log(np.exp(wide - top).sum(-1, keepdims=True))).astype(half)


@exercise.alternative
def row_by_row(z):
    """One row after the other."""
    out = np.empty(z.shape, half)
    for index in np.ndindex(z.shape[:-1]):
        row = np.array([float(x) for x in z[index]])
        e = np.exp(row - max(row))
        out[index] = e / sum(e)
    return out


def close(given, z):
    """Require a softmax that is right to a thousandth, with finite entries."""
    require(np.isfinite(np.asarray(given, float)).all(), "an entry is not finite")
    agree(given, softmax(z.astype(float)), rtol=0, atol=1e-3)


@exercise.check(points=0.75, visible=True)
def moderate_logits(call, rng):
    """Right to a thousandth for moderate logits, along the last axis."""
    for shape in ((5,), (3, 4), (2, 3, 4)):
        z = rng.uniform(-3, 3, shape).astype(half)
        close(call(z), z)


@exercise.check(points=0.75)
def large_logits(call, rng):
    """Finite and right for all finite logits, the largest and the smallest among them."""
    for row in ([12, 11, 0], [200, 201, 199], [65504, -65504, 0], [-500, -501, -502]):
        z = np.array(row, half)
        close(call(z), z)
    z = np.array([[12, 11, 0], [-500, -501, -502]], half)
    close(call(z), z)


@exercise.check(points=0.75)
def long_rows(call, rng):
    """A row of 70,000 equal logits gets weights that add up to 1."""
    z = np.full(70_000, half(1.5))
    weights = np.asarray(call(z), float)
    require(weights.shape == z.shape, "a row of weights has the shape of its logits")
    total = weights.sum()
    require(abs(total - 1) < 0.02, "the weights of a long row don't add up to 1")


@exercise.check(points=0.75)
def stays_half(call, rng):
    """Half precision in, half precision out; the input is left alone."""
    z = rng.uniform(-3, 3, 5).astype(half)
    rows_sum_to_one(call(z))
    keeps_dtype(call, z, dtype="float16")
    leaves_alone(call, z)


@exercise.misconception
def not_shifted(z):
    """Without a shift the exponentials overflow. Subtract the largest logit first."""
    with np.errstate(all="ignore"):
        e = np.exp(z).astype(np.float32)
        return (e / e.sum(axis=-1, keepdims=True)).astype(half)


@exercise.misconception
def not_shifted_in_single(z):
    """float32 reaches further, not to all logits of half precision: subtract the largest first."""
    with np.errstate(all="ignore"):
        e = np.exp(z.astype(np.float32))
        return (e / e.sum(axis=-1, keepdims=True)).astype(half)


@exercise.misconception
def one_maximum_for_all(z):
    """You subtract the largest of all entries. Far below it a row vanishes: take each row's own."""
    with np.errstate(all="ignore"):
        e = np.exp(z.astype(np.float32) - z.max())
        return (e / e.sum(axis=-1, keepdims=True)).astype(half)


@exercise.misconception
def summed_in_half(z):
    """You add up in half precision: a long row overflows. Accumulate in float32."""
    with np.errstate(all="ignore"):
        e = np.exp(z - z.max(axis=-1, keepdims=True))
        return (e / e.sum(axis=-1, keepdims=True, dtype=half)).astype(half)


@exercise.misconception
def stays_single(z):
    """The result is float32. Its readers expect what came in: float16."""
    return softmax(z.astype(np.float32))


@exercise.misconception
def all_axes_at_once(z):
    """All entries of an array share one sum in yours. Softmax acts along the last axis."""
    return softmax(z.astype(np.float32).ravel()).reshape(z.shape).astype(half)


@exercise.misconception
def shifted_by_the_mean(z):
    """You shift by the mean: a logit far above it overflows all the same."""
    with np.errstate(all="ignore"):
        e = np.exp((z - z.mean(axis=-1, keepdims=True, dtype=np.float32)).astype(half))
        total = e.sum(axis=-1, keepdims=True, dtype=np.float32)
        return (e / total).astype(half)
