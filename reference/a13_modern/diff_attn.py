"""The difference of two softmaxes: what both maps look at is subtracted.

Source: Ye et al. (2024), "Differential Transformer".
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from autograder.exercise import Exercise, Formula, Numbers, Witness, agree, require
from reference.helpers import ATTENTION, softmax
from reference.helpers import attention as scaled_attention

exercise = Exercise(
    "diff_attn",
    title="Subtracting the noise",
    source="Ye et al. (2024), Differential Transformer",
    minutes=30,
    hints=[
        "Take both softmaxes first, each with a sum of its own, and subtract afterwards.",
        "For `lam` look at one of the three equal keys: which weight has it in either map?",
        "For the witness a single negative coordinate is enough. Which key must the second map "
        "like, and the first one not?",
    ],
)


@exercise.variant
def draw(rng):
    """s1, s2: scores, of which some weight becomes negative; t: a score of the first key."""
    while True:
        s1, s2 = rng.integers(0, 4, (2, 4)).astype(float)
        if np.ptp(s1) > 0 and np.ptp(s2) > 0 and a.compute(s1, s2).min() < -0.004:
            return {"s1": s1, "s2": s2, "t": float(rng.choice([1, 1.5, 2, 2.5, 3]))}


@exercise.part(points=1, answer=Numbers())
def a(s1, s2):
    """The weights softmax(s₁) − ½ softmax(s₂), four numbers."""
    return softmax(s1) - softmax(s2) / 2


@a.misconception()
def scores_subtracted(s1, s2):
    """Softmax of a difference is a product of weights, not their difference."""
    return softmax(s1 - s2 / 2)


@a.misconception(credit=0.3)
def divided_by_their_sum(s1, s2):
    """You divided by the sum. The weights stay as the subtraction leaves them."""
    return 2 * a.compute(s1, s2)


@a.misconception()
def absolute_values(s1, s2):
    """Negative weights are the point: they subtract what both maps agree on."""
    return abs(a.compute(s1, s2)) / abs(a.compute(s1, s2)).sum()


@a.misconception()
def lam_forgotten(s1, s2):
    """You subtracted the whole second map. It counts with λ."""
    return softmax(s1) - softmax(s2)


@a.misconception()
def second_added(s1, s2):
    """You added the second map. It is taken away."""
    return softmax(s1) + softmax(s2) / 2


@a.misconception()
def first_map_alone(s1):
    """That is the first map. Take λ times the second one away."""
    return softmax(s1)


@a.misconception()
def other_way_round(s1, s2):
    """You subtracted the first map from the second."""
    return softmax(s2) - softmax(s1) / 2


@a.misconception()
def half_of_both(s1, s2):
    """You halved both maps. Only the second one is multiplied by λ."""
    return (softmax(s1) - softmax(s2)) / 2


@a.misconception()
def lam_on_the_scores(s1, s2):
    """You multiplied the scores by λ. It multiplies the weights of the second map."""
    return softmax(s1) - softmax(s2 / 2)


@a.misconception()
def negative_ones_cut_off(s1, s2):
    """You set negative weights to 0. They stay as they are: what both maps like is subtracted."""
    return np.maximum(softmax(s1) - softmax(s2) / 2, 0)


@exercise.part(
    points=1,
    answer=Formula(
        "lam",
        practice=(
            "The sum of a row of A₁ − λ A₂ + λ² A₃, where each A is a softmax.",
            "1 - lam + lam^2",
        ),
    ),
)
def row_sum():
    """The sum of a row of these weights."""
    return "1 - lam"


row_sum.mistakes(
    maps_added=("1 + lam", "The second map is taken away."),
    two_shares=(
        "1 - 2*lam",
        "Each softmax adds up to 1 by itself, and only the second one is multiplied.",
    ),
    second_map_alone=(
        "lam",
        "That is what the second map takes away. What does the first one bring?",
    ),
    row_of_a_softmax=("1", "Each of the two maps sums to 1. What is the sum of their difference?"),
    lam_left_out=("0", "The two maps have the same sum. But the second one counts with λ."),
)


def first_map(t):
    """softmax(t, 0, 0, 0)."""
    return softmax(np.array([t, 0.0, 0, 0]))


@exercise.part(points=0.5, answer=Numbers())
def lam(t):
    """The λ that removes the three equal keys."""
    return 4 / (np.exp(t) + 3)


@lam.misconception()
def weight_of_an_equal_key(t):
    """That is the weight of an equal key in the first map. λ times its second weight removes it."""
    return 1 / (np.exp(t) + 3)


@lam.misconception()
def three_keys_together(t):
    """Compare each key with itself: the three together weigh ¾ in the second map."""
    return 3 / (np.exp(t) + 3)


@lam.misconception()
def first_key_removed(t):
    """With this λ the first key vanishes, and it is the one to keep."""
    return 4 * first_map(t)[0]


@lam.misconception()
def four_equal_keys(t):
    """Three keys have the score 0, not four."""
    return 4 / (np.exp(t) + 4)


@lam.misconception()
def score_for_exponential(t):
    """You put the score t into the denominator. Its exponential belongs there."""
    return 4 / (t + 3)


@exercise.part(points=0.5, answer=Numbers())
def left(t, lam):
    """The four weights that are left."""
    return first_map(t) - lam / 4


@left.misconception(credit=0.3)
def left_sums_to_one(t):
    """Nothing is divided afterwards: what is left need not add up to 1."""
    return np.array([1.0, 0, 0, 0])


@left.misconception()
def first_key_untouched(t):
    """The second map has a weight for the first key, too."""
    return first_map(t) * [1, 0, 0, 0]


@left.misconception()
def second_map_not_taken(t):
    """That is the first map. Take λ times the second one away."""
    return first_map(t)


@left.misconception()
def second_map_put_on(t, lam):
    """You added the second map. It is taken away."""
    return first_map(t) + lam / 4


@left.misconception()
def whole_lam_taken(t, lam):
    """You took λ from every weight. Each key has a quarter of the second map."""
    return first_map(t) - lam


values = np.array([[0.0, 0], [1, 0], [0, 1]])


def place(s):
    """Where the output of two rows of scores lies, divided by the sum of the weights."""
    first, second = softmax(s)
    if np.allclose(first, second, atol=1e-9):
        return "equal maps"
    x, y = (first - second / 2) @ values / 0.5
    if min(x, y, 1 - x - y) < -1e-4:
        return "outside"
    return "inside"


@exercise.part(points=1, answer=Witness(place))
def s():
    """Two rows of three scores whose output, divided by the sum of the weights, lies outside."""
    return np.array([[4.0, 0, 0], [0, 4, 0]])


@s.alternative
def beyond_the_long_side():
    """Subtract the value at the origin."""
    return np.array([[0.0, 1, 1], [2, 0, 0]])


@s.alternative
def a_flat_first_map():
    """All keys alike in the first map."""
    return np.array([[0, 0, 0], [0, 3, -1]])


s.mistakes(
    still_inside=(
        np.array([[0.0, 0, 0], [0.5, 0, 0]]),
        "Your output is in the triangle. Let the second map like a key that the first one doesn't.",
    ),
    maps_alike=(
        np.array([[0.0, 4, 0], [0, 4, 0]]),
        "Your two maps are equal. Then the difference is the map itself, made shorter.",
    ),
)


@exercise.reference(without=ATTENTION)
def diff_attention(
    Q1: Float[ndarray, "... n d_k"],
    K1: Float[ndarray, "... m d_k"],
    Q2: Float[ndarray, "... n d_k"],
    K2: Float[ndarray, "... m d_k"],
    V: Float[ndarray, "... m d_v"],
    lam: float,
    mask: Bool[ndarray, "n m"] | None = None,
) -> Float[ndarray, "... n d_v"]:
    """Subtract one attention from the other; they share their values."""
    return (weights(Q1, K1, mask) - lam * weights(Q2, K2, mask)) @ V


def weights(Q, K, mask=None):
    """Return the weights of scaled attention."""
    return scaled_attention(Q, K, K, mask)[1]


@exercise.alternative
def outputs_subtracted(Q1, K1, Q2, K2, V, lam, mask=None):
    """Two outputs instead of one."""
    first = scaled_attention(Q1, K1, V, mask)[0]
    return first - lam * scaled_attention(Q2, K2, V, mask)[0]


@exercise.alternative
def with_index_sums(Q1, K1, Q2, K2, V, lam, mask=None):
    """Both maps in one array, with a very negative number where masked."""
    Q, K = np.stack([Q1, Q2]), np.stack([K1, K2])
    s = np.einsum("...nd,...md->...nm", Q, K) / np.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -1e30)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    A = e / e.sum(axis=-1, keepdims=True)
    return np.einsum("...nm,...mv->...nv", A[0] - lam * A[1], V)


@exercise.alternative
def maps_side_by_side(Q1, K1, Q2, K2, V, lam, mask=None):
    """One long row of weights, the second half of it negative, meets the values twice."""

    def attend(Q, K):
        s = np.matmul(Q, K.swapaxes(-2, -1)) * K.shape[-1] ** -0.5
        return softmax(s if mask is None else s + np.where(mask, 0, -np.inf))

    A = np.concatenate([attend(Q1, K1), -lam * attend(Q2, K2)], axis=-1)
    return A @ np.concatenate([V, V], axis=-2)


def inputs(rng, *batch, n=3, m=5, d_k=4, d_v=2):
    """Five arrays of different sizes."""
    shapes = (n, d_k), (m, d_k), (n, d_k), (m, d_k), (m, d_v)
    return [rng.normal(size=(*batch, *shape)) for shape in shapes]


@exercise.check(points=0.5, visible=True)
def matches_the_definition(call, rng):
    """Equals (softmax(Q₁K₁ᵀ/√d_k) − λ softmax(Q₂K₂ᵀ/√d_k)) V."""
    for lam, sizes in ((0.3, {}), (0.8, {"n": 4, "m": 2})):
        x = inputs(rng, **sizes)
        agree(call(*x, lam), diff_attention(*x, lam))


@exercise.check(points=0.25)
def nothing_subtracted(call, rng):
    """With λ = 0 it is attention by the first pair; it isn't the second pair's."""
    x = inputs(rng)
    agree(call(*x, 0.0), diff_attention(*x, 0.0))


@exercise.check(points=0.25)
def equal_pairs(call, rng):
    """With equal pairs a share of 1 − λ of ordinary attention is left."""
    Q, K, _, _, V = inputs(rng)
    agree(call(Q, K, Q, K, V, 0.4), 0.6 * scaled_attention(Q, K, V)[0])


@exercise.check(points=0.25)
def columns_alike(call, rng):
    """Columns of values that are all alike show what a row adds up to."""
    x = inputs(rng)
    for lam in (0.3, 0.9):
        out = np.asarray(call(*x[:4], np.tile([1.0, -2.0], (5, 1)), lam))
        require(out.shape == (3, 2), f"the output has shape {out.shape}")
        agree(out, np.tile([1 - lam, 2 * lam - 2], (3, 1)))


@exercise.check(points=0.5)
def mask_for_both_maps(call, rng):
    """The mask holds for both maps: a key behind it has weight 0 in either."""
    x = inputs(rng)
    mask = np.tri(3, 5, 1, dtype=bool)
    agree(call(*x, 0.5, mask=mask), diff_attention(*x, 0.5, mask))


@exercise.check(points=0.25)
def axes_in_front(call, rng):
    """Axes in front, as for batches and heads, are kept."""
    for batch in ((2,), (2, 3)):
        x = inputs(rng, *batch)
        agree(call(*x, 0.3), diff_attention(*x, 0.3))


@exercise.misconception(credit=0.4)
def softmax_of_the_difference(Q1, K1, Q2, K2, V, lam, mask=None):
    """You subtracted scores. Softmax of a difference is a product of weights, not a difference."""
    s = (Q1 @ np.swapaxes(K1, -1, -2) - lam * Q2 @ np.swapaxes(K2, -1, -2)) / np.sqrt(Q1.shape[-1])
    return softmax(s if mask is None else np.where(mask, s, -np.inf)) @ V


@exercise.misconception(credit=0.5)
def second_map_added(Q1, K1, Q2, K2, V, lam, mask=None):
    """You added the second map. It is taken away."""
    return diff_attention(Q1, K1, Q2, K2, V, -lam, mask)


@exercise.misconception(credit=0.5)
def divided_afterwards(Q1, K1, Q2, K2, V, lam, mask=None):
    """You divided by 1 − λ. A row is meant to sum to 1 − λ."""
    return diff_attention(Q1, K1, Q2, K2, V, lam, mask) / (1 - lam)


@exercise.misconception(credit=0.5)
def two_maps_mixed(Q1, K1, Q2, K2, V, lam, mask=None):
    """You gave the first map the weight 1 − λ. It keeps its weight 1."""
    return ((1 - lam) * weights(Q1, K1, mask) - lam * weights(Q2, K2, mask)) @ V


@exercise.misconception(credit=0.5)
def pairs_exchanged(Q1, K1, Q2, K2, V, lam, mask=None):
    """You subtracted the first map from the second."""
    return diff_attention(Q2, K2, Q1, K1, V, lam, mask)


@exercise.misconception(credit=0.5)
def queries_of_the_first_map(Q1, K1, Q2, K2, V, lam, mask=None):
    """Your second map has the queries of the first one."""
    return diff_attention(Q1, K1, Q1, K2, V, lam, mask)


@exercise.misconception(credit=0.5)
def never_divided_by_the_root(Q1, K1, Q2, K2, V, lam, mask=None):
    """Scores are divided by √d_k as before."""
    root = np.sqrt(Q1.shape[-1])
    return diff_attention(Q1 * root, K1, Q2 * root, K2, V, lam, mask)


@exercise.misconception(credit=0.5)
def divided_by_d_k(Q1, K1, Q2, K2, V, lam, mask=None):
    """You divide the scores by d_k. As before it is √d_k."""
    root = np.sqrt(Q1.shape[-1])
    return diff_attention(Q1 / root, K1, Q2 / root, K2, V, lam, mask)


def of_weights(Q1, K1, Q2, K2, V, lam, weigh):
    """Subtract two maps that are made of the scaled scores in another way."""
    one, other = (
        weigh(Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])) for Q, K in ((Q1, K1), (Q2, K2))
    )
    return (one - lam * other) @ V


@exercise.misconception(credit=0.4)
def softmax_over_the_queries(Q1, K1, Q2, K2, V, lam, mask=None):
    """Your columns sum to 1. A query's weights stand in a row: use the last axis."""
    may = np.ones(1, bool) if mask is None else mask
    weigh = lambda S: softmax(np.where(may, S, -np.inf), axis=-2)  # noqa: E731
    return of_weights(Q1, K1, Q2, K2, V, lam, weigh)


@exercise.misconception
def blocked_scores_zero(Q1, K1, Q2, K2, V, lam, mask=None):
    """Blocked scores are 0 in yours, but exp(0) is 1. Which score has the exponential 0?"""
    may = np.ones(1, bool) if mask is None else mask
    return of_weights(Q1, K1, Q2, K2, V, lam, lambda S: softmax(np.where(may, S, 0)))


@exercise.misconception(credit=0.5)
def second_map_never_divided(Q1, K1, Q2, K2, V, lam, mask=None):
    """Only the first map's scores are divided by √d_k. The second map is scaled as well."""
    return diff_attention(Q1, K1, Q2 * np.sqrt(Q2.shape[-1]), K2, V, lam, mask)


@exercise.misconception
def first_map_masked_alone(Q1, K1, Q2, K2, V, lam, mask=None):
    """Only the first map is masked. The second one sees the future, and takes it away."""
    return (weights(Q1, K1, mask) - lam * weights(Q2, K2)) @ V


@exercise.misconception
def weights_masked(Q1, K1, Q2, K2, V, lam, mask=None):
    """You masked the weights, whose sum is no longer 1 − λ. Mask the scores of both maps."""
    A = weights(Q1, K1) - lam * weights(Q2, K2)
    return (A if mask is None else A * mask) @ V


@exercise.misconception
def mask_ignored(Q1, K1, Q2, K2, V, lam, mask=None):
    """The mask has no effect."""
    return diff_attention(Q1, K1, Q2, K2, V, lam)


@exercise.misconception
def all_axes_reversed(Q1, K1, Q2, K2, V, lam, mask=None):
    """`K.T` reverses all axes, those of the batch too. Exchange the last two alone."""
    first, second = (softmax(Q @ K.T / np.sqrt(Q.shape[-1])) for Q, K in ((Q1, K1), (Q2, K2)))
    if mask is not None:
        return diff_attention(Q1, K1, Q2, K2, V, lam, mask)
    return (first - lam * second) @ V
