"""Layer norm along the last axis.

Source: Ba, Kiros & Hinton (2016), "Layer normalization", section 3, with the ε of all libraries.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Exercise, Numbers, agree
from autograder.exercise.properties import each_by_itself, keeps_dtype, leaves_alone
from reference.helpers import NORMS
from reference.helpers import layer_norm as normalised

exercise = Exercise(
    "ln_code",
    title="Layer norm for any shape",
    source="Ba et al. (2016), section 3",
    minutes=40,
    hints=[
        "`keepdims=True` lets mean and variance meet the entries that they belong to, "
        "whatever axes stand in front.",
        "ε belongs under the root, beside the variance.",
    ],
)

TINY = np.array([0.001, 0.007, 0.009, 0.015])


@exercise.reference(without=NORMS)
def layer_norm(
    x: Float[ndarray, "*batch d"],
    gamma: Float[ndarray, " d"],
    beta: Float[ndarray, " d"],
    eps: float = 1e-5,
) -> Float[ndarray, "*batch d"]:
    """Normalise the last axis, then scale and shift."""
    return normalised(x, gamma, beta, eps)


@exercise.alternative
def with_numpy_s_variance(x, gamma, beta, eps=1e-5):
    """Let numpy compute the variance."""
    mean = np.mean(x, -1, keepdims=True)
    return gamma * (x - mean) * (np.var(x, -1, keepdims=True) + eps) ** -0.5 + beta


@exercise.alternative
def row_by_row(x, gamma, beta, eps=1e-5):
    """One vector after the other."""
    out = np.empty_like(x)
    for place in np.ndindex(x.shape[:-1]):
        row = x[place]
        centred = row - row.mean()
        out[place] = gamma * centred / np.sqrt(centred @ centred / len(row) + eps) + beta
    return out


@exercise.alternative
def transposed(x, gamma, beta, eps=1e-5):
    """Put the axis of the features first, so that nothing needs to keep its dimension."""
    x = np.moveaxis(x, -1, 0)
    centred = x - x.mean(axis=0)
    scaled = np.moveaxis(centred / np.sqrt(np.mean(centred**2, axis=0) + eps), 0, -1)
    return scaled * gamma + beta


@exercise.alternative
def in_double_precision(x, gamma, beta, eps=1e-5):
    """Compute in float64 and go back."""
    wide = np.asarray(x, float)
    mean, var = wide.mean(-1), wide.var(-1)
    y = (wide - mean[..., None]) / np.sqrt(var + eps)[..., None] * gamma + beta
    return y.astype(x.dtype)


def plain(d):
    """Scale 1 and shift 0."""
    return np.ones(d), np.zeros(d)


NEARLY = {"rtol": 1e-4, "atol": 1e-4}  # ε has a check of its own


@exercise.check(points=1.5, visible=True)
def rows_are_normalised(call, rng):
    """With γ = 1 and β = 0 each row gets mean 0 and variance (nearly) 1, as in the formula."""
    for shape in ((3, 4), (2, 5)):
        x = rng.normal(size=shape) * 3 + 1
        agree(call(x, *plain(shape[-1])), normalised(x), **NEARLY)


@exercise.check(points=0.75, after=rows_are_normalised, visible=True)
def any_number_of_axes(call, rng):
    """One vector alone, or four axes: each vector is normalised as if it were alone."""
    for shape in ((5, 4), (2, 2, 3, 4)):
        x = rng.normal(size=shape) * np.array([1, 5, 2, 3]) + 1
        each_by_itself(lambda x: call(x, *plain(4)), x)


@exercise.check(points=1, after=rows_are_normalised)
def scale_and_shift(call, rng):
    """Each feature has its own γ, which may be negative, and its own β."""
    x, beta = rng.normal(size=(3, 4)), rng.normal(size=4)
    gamma = np.array([-1.5, 0.5, 2.0, -0.7]) * rng.uniform(0.8, 1.2)
    right = np.asarray(call(x, *plain(4)))
    agree(call(x, gamma, beta), gamma * right + beta)


@exercise.check(points=0.75)
def epsilon_counts(call, rng):
    """ε is added to the variance, as the argument says: rows with a small variance show it."""
    x = rng.normal(size=(3, 4)) * 0.003
    for eps in (1e-5, 1e-3):
        agree(call(x, *plain(4), eps), normalised(x, eps=eps))


@exercise.check(points=0.5)
def constant_rows(call, rng):
    """A constant row, and a row of a single feature, give β and no NaN."""
    for d in (4, 1):
        x, gamma, beta = np.full((2, d), float(rng.integers(2, 9))), np.ones(d), rng.normal(size=d)
        agree(call(x, gamma, beta), np.broadcast_to(beta, (2, d)))


@exercise.check(points=0.5, after=rows_are_normalised)
def type_is_kept(call, rng):
    """float32 comes out as float32; the input is left alone."""
    x, gamma, beta = rng.normal(size=(3, 4)), *plain(4)
    leaves_alone(call, x, gamma, beta)
    keeps_dtype(call, x, gamma, beta)


@exercise.misconception(credit=0.5)
def over_d_minus_one(x, gamma, beta, eps=1e-5):
    """You divided the squares by d − 1. Layer norm divides by d."""
    x = np.asarray(x)
    d = x.shape[-1]
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).sum(-1, keepdims=True) / max(d - 1, 1)
    return (gamma * (x - mean) / np.sqrt(var + eps) + beta).astype(x.dtype)


@exercise.misconception
def over_the_tokens(x, gamma, beta, eps=1e-5):
    """You normalised over the tokens. Each token is normalised by itself, over its features."""
    return normalised(x, gamma, beta, eps, axis=-2 if x.ndim > 1 else -1)


@exercise.misconception
def over_everything(x, gamma, beta, eps=1e-5):
    """One mean and one variance for the whole array: each vector needs its own."""
    return normalised(x, gamma, beta, eps, axis=None)


@exercise.misconception
def divided_by_the_variance(x, gamma, beta, eps=1e-5):
    """You divided by the variance. Divide by its root."""
    centred = x - x.mean(-1, keepdims=True)
    return gamma * centred / (x.var(-1, keepdims=True) + eps) + beta


@exercise.misconception
def mean_left_in(x, gamma, beta, eps=1e-5):
    """The mean is not subtracted."""
    return gamma * x / np.sqrt(x.var(-1, keepdims=True) + eps) + beta


@exercise.misconception
def mean_left_in_below(x, gamma, beta, eps=1e-5):
    """You divide by the root of the mean square. A variance is about the mean."""
    square = (x**2).mean(-1, keepdims=True)
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(square + eps) + beta


@exercise.misconception
def scale_and_shift_exchanged(x, gamma, beta, eps=1e-5):
    """`gamma` and `beta` are exchanged: the first one multiplies, the second one is added."""
    return normalised(x, beta, gamma, eps)


@exercise.misconception
def epsilon_added_at_the_end(x, gamma, beta, eps=1e-5):
    """Your ε is added to the result. It keeps the variance from being 0: where does it belong?"""
    with np.errstate(invalid="ignore", divide="ignore"):
        return normalised(x, gamma, beta, 0) + np.asarray(eps, x.dtype)


@exercise.misconception
def epsilon_outside(x, gamma, beta, eps=1e-5):
    """You added ε to the root. It belongs to the variance, inside the root."""
    return gamma * (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + eps) + beta


@exercise.misconception
def epsilon_fixed(x, gamma, beta, eps=1e-5):
    """The argument `eps` has no effect."""
    return normalised(x, gamma, beta)


@exercise.misconception
def without_epsilon(x, gamma, beta, eps=1e-5):
    """Your ε has no effect on rows whose entries differ. It is added to every variance."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return normalised(x, gamma, beta, 0)


@exercise.misconception
def shift_before_scale(x, gamma, beta, eps=1e-5):
    """You shifted first and scaled the shift, too. Scale, then shift."""
    return gamma * (normalised(x, eps=eps) + beta)


@exercise.misconception
def scale_ignored(x, gamma, beta, eps=1e-5):
    """γ has no effect."""
    return normalised(x, beta=beta, eps=eps)


@exercise.misconception
def shift_ignored(x, gamma, beta, eps=1e-5):
    """β has no effect."""
    return normalised(x, gamma, eps=eps)


@exercise.misconception
def scale_made_positive(x, gamma, beta, eps=1e-5):
    """A negative γ stays negative: it turns its feature round."""
    return normalised(x, np.abs(gamma), beta, eps)


@exercise.misconception
def three_axes_alone(x, gamma, beta, eps=1e-5):
    """You named the axes by number. The features are on the last axis, however many there are."""
    return normalised(x, gamma, beta, eps, axis=min(2, x.ndim - 1) if x.ndim != 1 else None)


@exercise.misconception
def always_double(x, gamma, beta, eps=1e-5):
    """The result is float64 whatever comes in. The type of x is kept."""
    return normalised(np.asarray(x, float), gamma, beta, eps).astype(float)


@exercise.misconception
def changed_in_place(x, gamma, beta, eps=1e-5):
    """You changed the array that you were given."""
    x -= x.mean(-1, keepdims=True)
    x /= np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    return gamma * x + beta


@exercise.part(points=2, answer=Numbers())
def tiny():
    """x̂ for the small vector: ε = 1e-5 inside, ε = 1e-8 inside, ε = 1e-5 added to the root."""
    centred = TINY - TINY.mean()
    roots = np.sqrt([TINY.var() + 1e-5, TINY.var() + 1e-8]), TINY.std() + 1e-5
    return centred / np.append(*roots)[:, None]


@tiny.misconception()
def epsilon_left_out():
    """Here ε is not small beside the variance of x = 0.001 · (1, 7, 9, 15), which is 2.5e-5."""
    return np.tile((TINY - TINY.mean()) / TINY.std(), (3, 1))


@tiny.misconception(credit=0.5)
def inside_every_time():
    """In the third row ε is added to the root, not to the variance."""
    rows = tiny.compute()
    return rows[[0, 1, 0]]


@tiny.misconception(credit=0.6)
def variance_in_the_third_row():
    """In the third row you divided by the variance. ε is added to its root there."""
    rows = tiny.compute()
    return np.vstack([rows[:2], (TINY - TINY.mean()) / (TINY.var() + 1e-5)])


@tiny.misconception(credit=0.5)
def variance_scaled_by_the_factor():
    """The variance of 0.001 times a vector is 0.001² times that of the vector."""
    centred, var = TINY - TINY.mean(), 1e3 * TINY.var()
    return centred / np.array([[(var + 1e-5) ** 0.5], [(var + 1e-8) ** 0.5], [var**0.5 + 1e-5]])


@tiny.misconception()
def mean_still_there():
    """The mean is still in there: the entries of a row add up to 0."""
    centred = TINY - TINY.mean()
    return tiny.compute() * TINY / centred


@tiny.misconception()
def variance_over_one_less():
    """You divided the squares by d − 1."""
    centred = TINY - TINY.mean()
    var = TINY.var(ddof=1)
    return centred / np.array([[(var + 1e-5) ** 0.5], [(var + 1e-8) ** 0.5], [var**0.5 + 1e-5]])
