"""Softmax along any axis, for logits of any size.

Source: Goodfellow, Bengio & Courville (2016), "Deep Learning", section 4.1.
"""

import math

import numpy as np
from jaxtyping import Float, Num
from numpy import inf, ndarray

from autograder.exercise import Exercise, Numbers, agree
from autograder.exercise.properties import keeps_dtype, leaves_alone
from reference.helpers import SOFTMAX

exercise = Exercise(
    "softmax_stable",
    title="A softmax that does not overflow",
    source="Goodfellow et al. (2016), section 4.1",
    minutes=20,
    hints=[
        "Softmax does not change if the same number is taken off all logits of a row. Which "
        "number keeps every exponential from overflowing?",
        "A maximum along an axis has one axis less than x. `keepdims=True` lets it meet the "
        "right entries again.",
        "For the bound, ask what the largest finite number of each type is (`np.finfo` "
        "knows), and which exponent reaches it.",
    ],
)


@exercise.reference(without=SOFTMAX)
def softmax(x: Num[ndarray, "..."], axis: int = -1) -> Float[ndarray, "..."]:
    """Return exp(x) / Σ exp(x) along ``axis``, computed from x − max x."""
    x = as_float(x)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def as_float(x):
    """Integers become float64; floating-point types stay what they are."""
    return x if x.dtype.kind == "f" else x.astype(float)


@exercise.alternative
def one_vector_at_a_time(x, axis=-1):
    """Work on every vector along the axis by itself."""
    return np.apply_along_axis(softmax_of_vector, axis, x)


def softmax_of_vector(v):
    """Numerators first, then their sum, in a loop."""
    top = max(v)
    numerators = [np.exp(as_float(value - top)) for value in v]
    total = numerators[0]
    for numerator in numerators[1:]:
        total = total + numerator
    return np.array([numerator / total for numerator in numerators])


@exercise.alternative
def through_the_logarithm(x, axis=-1):
    """Subtract log Σ exp(x), itself computed from the maximum, and take the exponential."""
    x = np.moveaxis(as_float(x), axis, 0)
    shifted = x - np.amax(x, axis=0)
    return np.moveaxis(np.exp(shifted - np.log(np.exp(shifted).sum(axis=0))), 0, axis)


@exercise.alternative
def in_powers_of_two(x, axis=-1):
    """Write eˣ as 2 to the power x / log 2."""
    x = as_float(x)
    powers = np.exp2((x - x.max(axis=axis, keepdims=True)) / math.log(2))
    return powers / powers.sum(axis=axis, keepdims=True)


@exercise.check(points=1.5, visible=True)
def matches_the_formula(call, rng):
    """Equals exp(x_i) / Σ_j exp(x_j) for a vector."""
    for n in (3, 6):
        x = rng.normal(size=n)
        agree(call(x), softmax(x), rtol=1e-4)


@exercise.check(points=0.5, visible=True)
def every_row_by_itself(call, rng):
    """In a matrix every row is a distribution of its own."""
    x = rng.normal(size=(2, 4))
    agree(call(x), softmax(x), rtol=1e-4)


@exercise.check(points=1, visible=True)
def along_any_axis(call, rng):
    """Works for one to four axes, along each of them, also where a single entry gets all."""
    for shape in ((5,), (1,), (3, 4), (3, 1), (2, 3, 4), (2, 1, 3, 4)):
        for axis in range(-len(shape), len(shape)):
            x = rng.normal(size=shape)
            agree(call(x, axis=axis), softmax(x, axis), rtol=1e-4)


@exercise.check(points=1)
def large_logits_stay_finite(call, rng):
    """Logits in the thousands of either sign neither overflow nor divide 0 by 0."""
    for x in (
        1000 + rng.normal(size=3),
        -10000 + rng.normal(size=3),
        np.array([0.0, 2000.0]),
        np.array([1000.0, 1001.0, 0.0]) + rng.normal(size=3),
    ):
        agree(call(x), softmax(x), rtol=1e-4)


@exercise.check(points=0.25, after=along_any_axis)
def rows_far_apart(call, rng):
    """A row of large logits beside one of small ones leaves both their own."""
    x = np.array([[1000.0, 1001.0], [0.0, 1.0]]) + rng.normal(size=2)
    agree(call(x), softmax(x), rtol=1e-4)


@exercise.check(points=0.5)
def minus_infinity_gets_zero(call, rng):
    """A logit of −∞ gets exactly 0, however low the others are; they share the rest."""
    for offset in (0, -20000):
        x = offset + rng.normal(size=4)
        x[1] = -inf
        agree(call(x), softmax(x), rtol=1e-4)


@exercise.check(points=0.25, after=matches_the_formula)
def adds_up_to_one_exactly(call, rng):
    """The sum is 1 up to rounding: nothing is added to the denominator."""
    x = rng.normal(size=7)
    agree(call(x), softmax(x))


@exercise.check(points=0.5)
def float32_stays_float32(call, rng):
    """Single-precision logits give single-precision probabilities."""
    x = rng.normal(size=4)
    agree(call(x.astype(np.float32)), softmax(x), rtol=1e-3)
    keeps_dtype(call, x)


@exercise.check(points=0.25)
def integers_are_accepted(call, rng):
    """Whole numbers are logits too; the probabilities are still fractions."""
    x = rng.integers(-3, 4, 5)
    agree(call(x), softmax(x), rtol=1e-4)


@exercise.check(points=0.25, after=matches_the_formula)
def input_is_left_alone(call, rng):
    """The array that is passed in is the same afterwards."""
    leaves_alone(call, rng.normal(size=4))


@exercise.misconception
def not_normalised(x, axis=-1):
    """These are exponentials. Probabilities add up to 1: divide by the sum."""
    x = as_float(x)
    return np.exp(x - x.max(axis=axis, keepdims=True))


@exercise.misconception
def axes_not_kept(x, axis=-1):
    """Maximum and sum lose their axis and meet the wrong one. Keep it: `keepdims=True`."""
    e = np.exp(as_float(x) - x.max(axis=axis))
    return e / e.sum(axis=axis)


@exercise.misconception
def small_number_below(x, axis=-1):
    """You add a small number to the denominator. The sum of exponentials is at least 1 already."""
    x = as_float(x)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / (e.sum(axis=axis, keepdims=True) + x.dtype.type(1e-6))


@exercise.misconception
def one_sum_for_all(x, axis=-1):
    """You divided by the sum over the whole array. Each row is a distribution of its own."""
    e = np.exp(as_float(x) - x.max())
    return e / e.sum()


@exercise.misconception
def one_sum_for_all_rows(x, axis=-1):
    """The sum runs over the whole array. Each row adds up to 1 by itself, along `axis`."""
    e = np.exp(as_float(x) - x.max(axis=axis, keepdims=True))
    return e / e.sum()


@exercise.misconception
def always_first_axis(x, axis=-1):
    """You normalised down the columns. Unless told otherwise, use the last axis."""
    return softmax(x, 0)


@exercise.misconception
def axis_ignored(x, axis=-1):
    """The argument `axis` is never used: maximum and sum both belong to that axis."""
    return softmax(x)


@exercise.misconception
def summed_along_the_last_axis(x, axis=-1):
    """Your sum runs along the last axis, whatever `axis` is. It belongs to that axis, too."""
    e = np.exp(as_float(x) - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@exercise.misconception
def not_shifted(x, axis=-1):
    """exp overflows (or all of it underflows). A common shift changes no probability: use one."""
    e = np.exp(as_float(x))
    return e / e.sum(axis=axis, keepdims=True)


@exercise.misconception
def shifted_by_the_mean(x, axis=-1):
    """You shifted by the mean, which can leave a logit far above 0. What is never exceeded?"""
    x = as_float(x)
    e = np.exp(x - x.mean(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@exercise.misconception
def one_maximum_for_all(x, axis=-1):
    """You shifted by one maximum for the whole array, so a low row underflows to 0/0."""
    e = np.exp(as_float(x) - x.max())
    return e / e.sum(axis=axis, keepdims=True)


@exercise.misconception
def logits_clipped(x, axis=-1):
    """You clipped the logits, so different large ones come out equal. A shift loses nothing."""
    return softmax(np.clip(x, -500, 500), axis)


@exercise.misconception
def minus_infinity_replaced(x, axis=-1):
    """You replaced −∞ by a number. Beside logits that are lower still, that entry wins."""
    return softmax(np.where(np.isneginf(x), as_float(x).dtype.type(-1e4), x), axis)


@exercise.misconception
def always_float64(x, axis=-1):
    """The result is float64 although the logits are float32: some step converts them."""
    return softmax(x.astype(float), axis)


@exercise.misconception
def integer_result(x, axis=-1):
    """The result has the integer type of the input, and fractions are cut off to 0."""
    return softmax(x, axis).astype(x.dtype)


@exercise.misconception
def changes_its_input(x, axis=-1):
    """You changed the caller's array (an operator such as `-=` does). Make a new one."""
    x -= x.max(axis=axis, keepdims=True)
    return softmax(x, axis)


@exercise.part(points=1, answer=Numbers())
def overflow_at():
    """From which x on does exp(x) overflow: in float32, in float64?"""
    return np.log([float(np.finfo(kind).max) for kind in (np.float32, np.float64)])


overflow_at.mistakes(
    power_of_two=(
        np.array([128, 1024]),
        "You gave the largest power of two. The question is about powers of e.",
    ),
    power_of_ten=(
        np.log10([float(np.finfo(kind).max) for kind in (np.float32, np.float64)]),
        "You gave the largest power of ten. The question is about powers of e.",
    ),
    largest_number=(
        np.array([float(np.finfo(kind).max) for kind in (np.float32, np.float64)]),
        "That is the largest number of the type, the value of exp(x). Which x gives it?",
    ),
    underflow=(
        np.log([float(np.finfo(kind).tiny) for kind in (np.float32, np.float64)]),
        "Below these exponents exp(x) loses precision near 0. Overflow is at the other end.",
    ),
)
