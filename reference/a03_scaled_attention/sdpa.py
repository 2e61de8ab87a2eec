"""Scaled dot-product attention for any batch shape, with an optional mask.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.1, eq. 1.
"""

import math

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from autograder.exercise import Exercise, Numbers, Shape, agree, require
from autograder.exercise.properties import keeps_dtype, rows_sum_to_one
from reference.helpers import ATTENTION, softmax

exercise = Exercise(
    "sdpa",
    title="Scaled dot-product attention for any batch shape",
    source="Vaswani et al. (2017), eq. 1",
    minutes=40,
    hints=[
        "Exchange the last two axes of K alone (`np.swapaxes(K, -1, -2)`): axes in front "
        "belong to the batch.",
        "Put −∞ where nothing may be seen *before* the softmax, and subtract the largest "
        "allowed score of each row.",
        "A row without an allowed key has −∞ as its largest score. Replace that maximum by a "
        "finite number, and its sum, which is 0, by one that can be divided by.",
    ],
)


@exercise.part(points=1.25, answer=Shape())
def scores_shape():
    """The shape of the scores for Q and K of shape (2, 3, 4)."""
    return (2, 3, 3)


@scores_shape.misconception()
def transposed_everything():
    """You multiplied Qᵀ with K. Scores compare positions, so both last axes count positions."""
    return (2, 4, 4)


@exercise.part(points=0.25, answer=Numbers())
def scale():
    """The factor 1/√d_k for d_k = 4."""
    return 0.5


scale.mistakes(
    scale_of_d_k=(
        0.25,
        "That is 1/d_k. The spread of a sum of d_k independent products grows like √d_k.",
    ),
    root_not_inverted=(
        2.0,
        "That is √d_k. Scores are divided by it, so the factor is its inverse.",
    ),
    scale_of_d_v=(
        1 / np.sqrt(8),
        "You scaled by the width of the values. Scores are products of queries and keys.",
    ),
)


@exercise.part(points=1.5, answer=Shape())
def out_shape():
    """The shape of the output for V of shape (2, 3, 8)."""
    return (2, 3, 8)


out_shape.mistakes(
    shape_of_the_scores=(
        (2, 3, 3),
        "That is the shape of the scores. The values replace their last axis with their width.",
    ),
    width_of_the_keys=((2, 3, 4), "An output is an average of values, so it has their width."),
)


@exercise.reference(without=ATTENTION)
def attention(
    Q: Float[ndarray, "... n d_k"],
    K: Float[ndarray, "... m d_k"],
    V: Float[ndarray, "... m d_v"],
    mask: Bool[ndarray, "..."] | None = None,  # broadcast to the scores
    scale: float | None = None,
) -> tuple[Float[ndarray, "... n d_v"], Float[ndarray, "... n m"]]:
    """Return softmax(Q Kᵀ · scale) V and the weights; rows without an allowed key are 0."""
    scores = Q @ np.swapaxes(K, -1, -2) * (1 / np.sqrt(Q.shape[-1]) if scale is None else scale)
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = softmax(np.where(allowed, scores, -np.inf))
    return (weights @ V).astype(V.dtype), weights.astype(V.dtype)


@exercise.alternative
def with_einsum(Q, K, V, mask=None, scale=None):
    """Write both products as index sums and add a very negative number to masked scores."""
    factor = Q.shape[-1] ** -0.5 if scale is None else scale
    scores = np.einsum("...nd,...md->...nm", Q, K) * np.asarray(factor, Q.dtype)
    if mask is not None:
        scores = np.where(mask, scores, -1e30)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    if mask is not None:
        e = e * mask
    weights = e / np.maximum(e.sum(axis=-1, keepdims=True), 1e-30)
    return np.einsum("...nm,...mv->...nv", weights, V), weights


@exercise.alternative
def one_example_after_another(Q, K, V, mask=None, scale=None):
    """Go through the queries of all examples in a loop, and look at the allowed keys alone."""
    scale = 1 / math.sqrt(K.shape[-1]) if scale is None else scale
    weights = np.zeros((*Q.shape[:-1], K.shape[-2]), dtype=V.dtype)
    allowed = np.ones(weights.shape, bool) if mask is None else np.broadcast_to(mask, weights.shape)
    for i in np.ndindex(Q.shape[:-1]):
        keys = allowed[i]
        if keys.any():
            s = K[i[:-1]][keys] @ Q[i] * scale
            e = np.exp(s - s.max())
            weights[i][keys] = e / e.sum()
    return np.matmul(weights, V), weights


@exercise.alternative
def through_the_logarithm(Q, K, V, mask=None, scale=None):
    """Scale the queries first, add the mask as 0 and −∞, and subtract the log of the sums."""
    Q = Q * Q.dtype.type(1 / np.sqrt(Q.shape[-1]) if scale is None else scale)
    scores = np.matmul(Q, np.moveaxis(K, -1, -2))
    if mask is not None:
        scores = scores + np.where(mask, 0, -np.inf).astype(scores.dtype)
    log_sums = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(log_sums == -np.inf, 0, log_sums))
    return weights @ V, weights


def qkv(rng, *batch, n=3, m=5, d_k=4, d_v=2):
    """Four different sizes, so that a transposed product cannot fit by accident."""
    return (
        rng.normal(size=(*batch, n, d_k)),
        rng.normal(size=(*batch, m, d_k)),
        rng.normal(size=(*batch, m, d_v)),
    )


def agree_in_turn(found, expected):
    """Weights first: where only the output is wrong, half is right."""
    require(isinstance(found, tuple | list) and len(found) == 2, "output and weights are asked for")
    agree(found[1], expected[1], what="the weights")
    agree(found[0], expected[0], what="the output", credit=0.5)


@exercise.check(points=2, visible=True)
def matches_the_formula(call, rng):
    """Equals softmax(Q Kᵀ / √d_k) V, without a batch axis."""
    for sizes in ({}, {"n": 4, "m": 2}):
        Q, K, V = qkv(rng, **sizes)
        agree_in_turn(call(Q, K, V), attention(Q, K, V))


@exercise.check(points=1.5, visible=True)
def any_axes_in_front(call, rng):
    """With one or two batch axes every example is attended to by itself."""
    for batch in ((2,), (2, 3)):
        Q, K, V = qkv(rng, *batch)
        agree_in_turn(call(Q, K, V), attention(Q, K, V))


@exercise.check(points=0.5)
def rows_add_up_to_one(call, rng):
    """The weights of each query are not negative and add up to 1, however many keys there are."""
    for m in (5, 8):
        Q, K, V = qkv(rng, m=m)
        _, weights = call(Q, K, V)
        require(np.shape(weights) == (3, m), f"the weights have shape {np.shape(weights)}")
        require(np.ptp(weights, axis=-1).min() > 0, "the weights do not depend on the keys")
        rows_sum_to_one(weights)


@exercise.check(points=1)
def scale_can_be_given(call, rng):
    """A scale that is passed in replaces 1/√d_k."""
    Q, K, V = qkv(rng)
    agree_in_turn(call(Q, K, V, scale=0.3), attention(Q, K, V, scale=0.3))


@exercise.check(points=1)
def large_scores_stay_finite(call, rng):
    """Inputs ten thousand times as large do not overflow."""
    Q, K, V = qkv(rng)
    agree_in_turn(call(1e4 * Q, 1e4 * K, V), attention(1e4 * Q, 1e4 * K, V))


@exercise.check(points=0.5)
def single_positions_keep_their_axes(call, rng):
    """One query and one key keep their axes, and the only key gets all of the weight."""
    Q, K, V = qkv(rng, n=1, m=1)
    agree_in_turn(call(Q, K, V), (V, np.ones((1, 1))))


@exercise.check(points=1)
def mask_hides_keys(call, rng):
    """A masked key has weight 0, whatever its score; True changes nothing; a dead row gives 0."""
    Q, K, V = qkv(rng)
    mask = rng.random((3, 5)) < 0.6
    mask[0], mask[1], mask[2, :2] = True, False, (True, False)
    weights = np.asarray(call(Q, K, V, mask=mask)[1])
    agree(weights[[0, 2]], attention(Q, K, V, mask)[1][[0, 2]], what="the weights with a mask")
    for other in (np.ones((3, 5), bool), mask):
        found, expected = call(Q, K, V, mask=other), attention(Q, K, V, other)
        agree(found, expected, what="the result for a row without allowed keys", credit=0.5)
    K[-1] = 1e4 * Q[0]
    found, expected = (f(Q, K, V, mask=np.arange(5) < 4) for f in (call, attention))
    agree(found, expected, what="the result beside a blocked score that is huge", credit=0.5)


@exercise.check(points=0.5, after=rows_add_up_to_one)
def float32_stays_float32(call, rng):
    """Single-precision inputs give single-precision outputs."""
    keeps_dtype(call, *qkv(rng))


def masked_scores(Q, K, mask, scale):
    """Scores as a mistake behind them finds them, of the type of the inputs."""
    factor = Q.shape[-1] ** -0.5 if scale is None else scale
    scores = Q @ np.swapaxes(K, -1, -2) * np.asarray(factor, Q.dtype)
    return scores if mask is None else np.where(mask, scores, np.asarray(-np.inf, Q.dtype))


@exercise.misconception
def softmax_over_everything(Q, K, V, mask=None, scale=None):
    """Softmax ran over the whole array. Each query has weights of its own that add up to 1."""
    scores = masked_scores(Q, K, mask, scale)
    weights = softmax(scores.reshape(-1)).reshape(scores.shape)
    return weights @ V, weights


@exercise.misconception
def softmax_over_queries(Q, K, V, mask=None, scale=None):
    """Softmax is over the wrong axis: for each query the weights of the keys add up to 1."""
    scores = masked_scores(Q, K, mask, scale)
    weights = np.swapaxes(softmax(np.swapaxes(scores, -1, -2)), -1, -2)
    return weights @ V, weights


@exercise.misconception
def all_axes_reversed(Q, K, V, mask=None, scale=None):
    """`K.T` reverses all axes, those of the batch too. Exchange the last two alone."""
    scores = Q @ K.T * (1 / np.sqrt(Q.shape[-1]) if scale is None else scale)
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = softmax(np.where(allowed, scores, -np.inf))
    return (weights @ V).astype(V.dtype), weights.astype(V.dtype)


@exercise.misconception
def axis_of_the_sums_lost(Q, K, V, mask=None, scale=None):
    """Shapes don't fit. Has the sum over the keys lost its axis? `keepdims=True` keeps it."""
    weights = np.exp(Q @ np.swapaxes(K, -1, -2))
    weights = weights / weights.sum(axis=-1)
    return weights @ V, weights


@exercise.misconception
def no_scale(Q, K, V, mask=None, scale=None):
    """The factor 1/√d_k is missing: without it wide keys make the softmax nearly one-hot."""
    return attention(Q, K, V, mask, 1.0 if scale is None else scale)


@exercise.misconception
def divided_by_d_k(Q, K, V, mask=None, scale=None):
    """You divided by d_k. The spread of a sum of d_k independent products grows like √d_k."""
    return attention(Q, K, V, mask, 1 / Q.shape[-1] if scale is None else scale)


@exercise.misconception
def multiplied_by_the_root(Q, K, V, mask=None, scale=None):
    """You multiplied by √d_k. Scores are divided by it."""
    return attention(Q, K, V, mask, np.sqrt(Q.shape[-1]) if scale is None else scale)


@exercise.misconception
def scaled_by_length(Q, K, V, mask=None, scale=None):
    """You scaled by the root of the number of keys. The scale comes from their width d_k."""
    return attention(Q, K, V, mask, 1 / np.sqrt(K.shape[-2]) if scale is None else scale)


@exercise.misconception
def scale_beside_the_root(Q, K, V, mask=None, scale=None):
    """Your `scale` comes in addition to 1/√d_k. It replaces that factor."""
    root = np.sqrt(Q.shape[-1])
    return attention(Q, K, V, mask, 1 / root if scale is None else scale / root)


@exercise.misconception
def scaled_by_the_values(Q, K, V, mask=None, scale=None):
    """You scaled by the width of the values. Scores are products of queries and keys."""
    return attention(Q, K, V, mask, 1 / np.sqrt(V.shape[-1]) if scale is None else scale)


@exercise.misconception
def axes_squeezed(Q, K, V, mask=None, scale=None):
    """Axes of length 1 disappear: `squeeze` removes positions as well as what you meant."""
    out, weights = attention(Q, K, V, mask, scale)
    return np.squeeze(out), np.squeeze(weights)


@exercise.misconception
def scale_ignored(Q, K, V, mask=None, scale=None):
    """The argument `scale` is never used."""
    return attention(Q, K, V, mask)


@exercise.misconception
def exponential_overflows(Q, K, V, mask=None, scale=None):
    """exp overflows. Subtract each row's maximum first: softmax does not change."""
    scores = Q @ np.swapaxes(K, -1, -2) * (1 / np.sqrt(Q.shape[-1]) if scale is None else scale)
    e = np.exp(scores) if mask is None else np.exp(scores) * mask
    total = e.sum(axis=-1, keepdims=True)
    weights = (e / np.where(total == 0, 1, total)).astype(V.dtype)
    return weights @ V, weights


@exercise.misconception
def mask_after_softmax(Q, K, V, mask=None, scale=None):
    """You masked the weights, so they no longer add up to 1. Mask the scores, with −∞."""
    _, weights = attention(Q, K, V, None, scale)
    weights = weights if mask is None else weights * mask
    return weights @ V, weights


@exercise.misconception
def largest_of_all_subtracted(Q, K, V, mask=None, scale=None):
    """You subtract the largest score, allowed or not. If it is blocked, the others underflow."""
    scores = Q @ np.swapaxes(K, -1, -2) * (1 / np.sqrt(Q.shape[-1]) if scale is None else scale)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    e = (e if mask is None else e * mask).astype(V.dtype)
    total = e.sum(axis=-1, keepdims=True)
    weights = e / np.where(total == 0, 1, total)
    return weights @ V, weights


@exercise.misconception
def large_number_for_infinity(Q, K, V, mask=None, scale=None):
    """A large negative number in place of −∞ gives even weights where nothing is allowed, not 0."""
    factor = Q.shape[-1] ** -0.5 if scale is None else scale
    scores = Q @ np.swapaxes(K, -1, -2) * np.asarray(factor, Q.dtype)
    weights = softmax(scores if mask is None else np.where(mask, scores, scores.dtype.type(-1e9)))
    return weights @ V, weights


@exercise.misconception
def blocked_scores_are_zero(Q, K, V, mask=None, scale=None):
    """A blocked score of 0 still has the weight e⁰ before the division. It has to become −∞."""
    factor = Q.shape[-1] ** -0.5 if scale is None else scale
    scores = (Q @ np.swapaxes(K, -1, -2)) * np.asarray(factor, Q.dtype)
    scores = scores if mask is None else scores * mask
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights


@exercise.misconception
def mask_inverted(Q, K, V, mask=None, scale=None):
    """The mask is read the wrong way round: True means that the query may attend."""
    return attention(Q, K, V, None if mask is None else ~mask, scale)


@exercise.misconception
def dead_rows_are_nan(Q, K, V, mask=None, scale=None):
    """A query without any allowed key gets NaN (0/0). Its weights and output should be 0."""
    out, weights = attention(Q, K, V, mask, scale)
    dead = weights.sum(axis=-1, keepdims=True) == 0
    return np.where(dead, np.nan, out), np.where(dead, np.nan, weights)


@exercise.misconception
def forgot_the_values(Q, K, V, mask=None, scale=None):
    """The first output is not multiplied with V."""
    _, weights = attention(Q, K, V, mask, scale)
    return weights, weights


@exercise.misconception
def always_float64(Q, K, V, mask=None, scale=None):
    """The result is float64 although the inputs are float32: some constant has that type."""
    out, weights = attention(Q.astype(float), K.astype(float), V.astype(float), mask, scale)
    return out, weights
