"""Attention of one query over any number of key–value pairs, unscaled.

Source: Bahdanau, Cho & Bengio (2015), eq. 5 and 6, with the dot product as score.
"""

import numpy as np
from jaxtyping import Float, Num
from numpy import ndarray

from autograder.exercise import Exercise, agree, require
from autograder.exercise.properties import (
    keeps_dtype,
    permutation_equivariant,
    permutation_invariant,
    rows_sum_to_one,
)
from reference.helpers import ATTENTION, softmax

exercise = Exercise(
    "attn_single_query",
    title="Code for one query",
    source="Bahdanau et al. (2015), eq. 5 and 6",
    minutes=30,
    hints=[
        "`K @ q` has one number for each key, `w @ V` one for each column of V. Compare with "
        "the shapes that are asked for.",
        "Take the largest score off before the exponential, so that large scores stay finite.",
    ],
)


@exercise.reference(without=ATTENTION)
def attend_one(
    q: Num[ndarray, " d"], K: Num[ndarray, "m d"], V: Num[ndarray, "m dv"]
) -> tuple[Float[ndarray, " dv"], Float[ndarray, " m"]]:
    """Return the output softmax(K q) V and the weights."""
    weights = softmax(as_float(K @ q))
    return weights @ V, weights


def as_float(x):
    """Integers become float64; floating-point types stay what they are."""
    return x if x.dtype.kind == "f" else x.astype(float)


@exercise.alternative
def pair_by_pair(q, K, V):
    """Loop over the pairs, and add the values up."""
    scores = [sum(a * b for a, b in zip(q, key, strict=True)) for key in K]
    top = max(scores)
    numerators = [np.exp(as_float(score - top)) for score in scores]
    total = sum(numerators[1:], numerators[0])
    out = V[0] * (numerators[0] / total)
    for numerator, value in zip(numerators[1:], V[1:], strict=True):
        out = out + value * (numerator / total)
    return out, np.array([numerator / total for numerator in numerators])


@exercise.alternative
def with_einsum(q, K, V):
    """Write both products as index sums."""
    scores = np.einsum("d,md->m", q, K)
    weights = softmax(as_float(scores))
    return np.einsum("m,mv->v", weights, V), weights


@exercise.alternative
def numerator_and_denominator(q, K, V):
    """Sum the weighted values first, and divide once at the end."""
    scores = as_float((K * q).sum(axis=1))
    e = np.exp(scores - scores.max())
    return (e[:, None] * V).sum(axis=0) / e.sum(), e / e.sum()


@exercise.alternative
def through_the_logarithm(q, K, V):
    """Subtract log Σ exp(s) from the scores; values as columns."""
    scores = as_float(q @ K.T)
    shifted = scores - np.amax(scores)
    weights = np.exp(shifted - np.log(np.exp(shifted).sum()))
    return V.T @ weights, weights


def pairs(rng, m=5, d=3, dv=2):
    """Three different sizes, so that a wrong product cannot fit by accident."""
    return rng.normal(size=d), rng.normal(size=(m, d)), rng.normal(size=(m, dv))


def both(call, q, K, V):
    """Call, and insist on the two arrays that are to be looked at."""
    answer = call(q, K, V)
    shapes = [np.shape(a) for a in answer] if isinstance(answer, tuple | list) else []
    if shapes == [V.shape[:1], V.shape[1:]] and len(set(shapes)) == 2:
        return answer[::-1]  # in which order they come is asked above
    require(
        shapes == [V.shape[1:], V.shape[:1]],
        "two arrays should come back, the output (dv,) and the weights (m,)",
    )
    return answer


@exercise.check(points=1, visible=True)
def matches_the_formula(call, rng):
    """Equals softmax(K q) V, for values as many as their width and for wider ones."""
    for m, d, dv in ((3, 2, 3), (5, 3, 4)):
        q, K, V = pairs(rng, m, d, dv)
        agree(call(q, K, V), attend_one(q, K, V))


@exercise.check(points=0.25)
def one_pair(call, rng):
    """With one pair the output is its value, whatever the query, and the weights are [1]."""
    for _ in range(2):
        q, K, V = pairs(rng, m=1)
        agree(both(call, q, K, V), (V[0], np.ones(1)))


@exercise.check(points=0.25)
def weights_add_up(call, rng):
    """The weights are positive and add up to 1."""
    _, weights = both(call, *pairs(rng))
    rows_sum_to_one(weights)
    require(np.all(np.asarray(weights) > 0), "a weight is not positive")


@exercise.check(points=0.25)
def equal_values(call, rng):
    """If all values are equal, that is the output."""
    q, K, V = pairs(rng)
    V[:] = V[0]
    out, _ = both(call, q, K, V)
    agree(out, V[0])


@exercise.check(points=0.25)
def order_of_pairs(call, rng):
    """Another order of the pairs gives the same output, and the weights in that order."""
    q, K, V = pairs(rng)
    pairs_in_rows = np.hstack([K, V])

    def answer(rows):
        return both(call, q, rows[:, :3], rows[:, 3:])

    permutation_invariant(lambda x: answer(x)[0], pairs_in_rows, rng, what="the output")
    permutation_equivariant(
        lambda x: answer(x)[1], pairs_in_rows, rng, axis=0, what="the vector of weights"
    )


@exercise.check(points=0.5)
def large_scores(call, rng):
    """Scores of ten thousand, of either sign, stay finite."""
    for sign in (1, -1):
        q, K, V = pairs(rng)
        q, K = np.abs(q), sign * 1e4 * np.abs(K)
        agree(both(call, q, K, V), attend_one(q, K, V))


@exercise.check(points=0.25)
def integers(call, rng):
    """Whole numbers are accepted; the output is a blend, not rounded."""
    q, K, V = rng.integers(-1, 2, 3), rng.integers(-1, 2, (4, 3)), rng.integers(-5, 6, (4, 2))
    agree(both(call, q, K, V), attend_one(q, K, V))


@exercise.check(points=0.25)
def float32(call, rng):
    """Single-precision inputs give single-precision answers."""
    q, K, V = (x.astype(np.float32) for x in pairs(rng))
    agree(both(call, q, K, V), attend_one(q, K, V))
    keeps_dtype(lambda *pair: both(call, *pair), q, K, V)


@exercise.misconception
def weights_meet_columns(q, K, V):
    """You computed V @ w, which pairs weights with columns of V. Each row of V is one value."""
    _, weights = attend_one(q, K, V)
    return V @ weights, weights  # raises where V isn't square


@exercise.misconception
def softmax_over_features(q, K, V):
    """You normalised the features of each key. The softmax compares keys with each other."""
    products = as_float(K * q)
    e = np.exp(products - products.max(axis=1, keepdims=True))
    weights = (e / e.sum(axis=1, keepdims=True)).sum(axis=1)
    return weights @ V, weights


@exercise.misconception
def scaled_anyway(q, K, V):
    """You divided by √d. Here the scores are used as they are."""
    weights = softmax(as_float(K @ q) / np.sqrt(len(q)))
    return weights @ V, weights


@exercise.misconception
def linear_weights(q, K, V):
    """You divided the scores by their sum. Softmax divides their exponentials by theirs."""
    scores = K @ q
    return scores @ V / scores.sum(), scores / scores.sum()


@exercise.misconception
def not_normalised(q, K, V):
    """The weights are exponentials that don't add up to 1: divide by their sum."""
    e = np.exp(as_float(K @ q))
    return e @ V, e


@exercise.misconception
def best_value_only(q, K, V):
    """You returned the value that fits best. Attention averages all of them."""
    weights = np.eye(len(K))[np.argmax(K @ q)]
    return weights @ V, weights


@exercise.misconception
def scores_sorted(q, K, V):
    """You sorted the scores, so weights and values no longer belong together."""
    weights = softmax(np.sort(as_float(K @ q)))
    return weights @ V, weights


@exercise.misconception
def output_alone(q, K, V):
    """Only the output came back. Return the output and the weights."""
    return attend_one(q, K, V)[0]


@exercise.misconception
def weights_first(q, K, V):
    """The output comes first, then the weights."""
    return attend_one(q, K, V)[::-1]


@exercise.misconception
def axes_squeezed(q, K, V):
    """A single pair loses its axis: `squeeze` turns weights of shape (1,) into a number."""
    out, weights = attend_one(q, K, V)
    return out, np.squeeze(weights)


@exercise.misconception
def exponential_overflows(q, K, V):
    """exp overflows, or all of it underflows. Subtract the largest score first."""
    e = np.exp(as_float(K @ q))
    return e @ V / e.sum(), e / e.sum()


@exercise.misconception
def integer_output(q, K, V):
    """The output has the integer type of the values, and fractions are cut off."""
    out, weights = attend_one(q, K, V)
    return out.astype(V.dtype), weights


@exercise.misconception
def always_float64(q, K, V):
    """The result is float64 although the inputs are float32: some step converts them."""
    return attend_one(q.astype(float), K.astype(float), V.astype(float))
