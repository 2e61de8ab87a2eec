"""Grouped queries: several query heads share one head of keys and values.

Source: Shazeer (2019), "Fast transformer decoding: one write-head is all you need"; Ainslie et al.
(2023), "GQA: training generalized multi-query transformer models from multi-head checkpoints".
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from autograder.exercise import Choice, Count, Exercise, Numbers, agree, covers, within
from autograder.exercise.properties import refuses
from reference.helpers import ATTENTION, attention, softmax

exercise = Exercise(
    "gqa",
    title="Eight queries, two keys",
    source="Shazeer (2019); Ainslie et al. (2023)",
    minutes=30,
    hints=[
        "Cut the h query heads into g groups of neighbours. Which shape have the queries then, "
        "and which one lets the keys be broadcast against them?",
        "For each matrix, and for each thing that is stored, ask whose width it has: that of h "
        "heads, or that of g.",
        "To pool, bring the heads into a shape with an axis of groups and one within the group.",
    ],
)


@exercise.variant
def draw(rng):
    """heads: (4, 2), the columns of W_K of four key heads with d_k = 1, as rows."""
    return {"heads": rng.integers(-4, 5, (4, 2))}


@exercise.reference(without=ATTENTION)
def gqa(
    Q: Float[ndarray, "*b h n k"],
    K: Float[ndarray, "*b g m k"],
    V: Float[ndarray, "*b g m v"],
    mask: Bool[ndarray, "..."] | None = None,
) -> Float[ndarray, "*b h n v"]:
    """Return attention in which query head j reads key and value head j // (h/g)."""
    *batch, h, n, d_k = Q.shape
    g, m, d_v = V.shape[-3:]
    if h % g:
        raise ValueError(f"{h} query heads can't share {g} key heads evenly")
    grouped = Q.reshape(*batch, g, h // g, n, d_k)
    scores = grouped @ np.swapaxes(K, -1, -2)[..., None, :, :] / np.sqrt(d_k)
    scores = scores.reshape(*batch, h, n, m)
    A = softmax(scores if mask is None else np.where(mask, scores, -np.inf))
    out = A.reshape(*batch, g, h // g, n, m) @ V[..., None, :, :]
    return out.reshape(*batch, h, n, d_v)


@exercise.alternative
def head_by_head(Q, K, V, mask=None):
    """A loop over the query heads, each with a view of its group's keys."""
    h, g = Q.shape[-3], K.shape[-3]
    if h % g:
        raise ValueError
    masks = None if mask is None else np.broadcast_to(mask, (*Q.shape[:-1], K.shape[-2]))
    found = []
    for j in range(h):
        i = j // (h // g)
        allowed = None if masks is None else masks[..., j, :, :]
        found.append(attention(Q[..., j, :, :], K[..., i, :, :], V[..., i, :, :], allowed)[0])
    return np.stack(found, axis=-3)


@exercise.alternative
def folded_into_the_rows(Q, K, V, mask=None):
    """The query heads of a group are more rows of queries for the same keys."""
    *batch, h, n, d_k = Q.shape
    g, m = K.shape[-3:-1]
    if h % g:
        raise ValueError
    Q = Q.reshape(*batch, g, h // g * n, d_k)
    if mask is not None:
        mask = np.broadcast_to(mask, (*batch, h, n, m)).reshape(*batch, g, h // g * n, m)
    return attention(Q, K, V, mask)[0].reshape(*batch, h, n, -1)


@exercise.alternative
def with_einsum(Q, K, V, mask=None):
    """Name every axis."""
    *batch, h, n, d_k = Q.shape
    g, m = K.shape[-3:-1]
    if h % g != 0:
        raise ValueError
    Q = Q.reshape(*batch, g, h // g, n, d_k)
    S = np.einsum("...grnk,...gmk->...grnm", Q, K).reshape(*batch, h, n, m) / d_k**0.5
    if mask is not None:
        S = S + np.where(mask, 0.0, -np.inf)
    A = np.exp(S - S.max(-1, keepdims=True))
    A = (A / A.sum(-1, keepdims=True)).reshape(*batch, g, h // g, n, m)
    return np.einsum("...grnm,...gmv->...grnv", A, V).reshape(*batch, h, n, -1)


def repeated(Q, K, V, mask=None):
    """Copy keys and values until every query head has its own."""
    r = Q.shape[-3] // K.shape[-3]
    return attention(Q, np.repeat(K, r, axis=-3), np.repeat(V, r, axis=-3), mask)[0]


def qkv(rng, h, g, n=3, m=5, batch=(), d_k=4, d_v=3):
    """Queries of h heads, keys and values of g."""
    return (
        rng.normal(size=(*batch, h, n, d_k)),
        rng.normal(size=(*batch, g, m, d_k)),
        rng.normal(size=(*batch, g, m, d_v)),
    )


@exercise.check(points=0.75, visible=True)
def groups_share_a_head(call, rng):
    """Neighbouring query heads share a head: as if keys and values were repeated for them."""
    for h, g in ((4, 2), (6, 3), (6, 2)):
        Q, K, V = qkv(rng, h, g)
        agree(call(Q, K, V), repeated(Q, K, V))


@exercise.check(points=0.5)
def both_ends(call, rng):
    """g = h is multi-head attention, and g = 1 is one head of keys and values for all."""
    for g in (4, 1):
        Q, K, V = qkv(rng, 4, g)
        agree(call(Q, K, V), attention(Q, K, V)[0])


@exercise.check(points=0.5)
def masks(call, rng):
    """A causal mask, and one for each query head: a masked key has no weight."""
    Q, K, V = qkv(rng, 6, 2, n=5)
    for mask in (np.tri(5, dtype=bool), (rng.random((6, 5, 5)) < 0.5) | np.eye(5, dtype=bool)):
        agree(call(Q, K, V, mask), repeated(Q, K, V, mask))


@exercise.check(points=0.25)
def batches(call, rng):
    """Axes in front of the heads are kept, one of them or two."""
    for batch in ((3,), (2, 3)):
        Q, K, V = qkv(rng, 4, 2, batch=batch)
        agree(call(Q, K, V), repeated(Q, K, V))


@exercise.check(points=0.25)
def weights_sum_to_one(call, rng):
    """Where all values are 1, all outputs are."""
    Q, K, V = qkv(rng, 6, 2)
    agree(call(3 * Q, K, np.ones_like(V)), np.ones((6, 3, 3)))


@exercise.check(points=0.25, after=groups_share_a_head)
def uneven_groups_are_refused(call, rng):
    """A ValueError where h is no multiple of g."""
    for h, g in ((4, 3), (6, 4), (2, 4)):
        refuses(call, *qkv(rng, h, g), why=f"{h} query heads on {g} key heads")


@exercise.check(points=0.5, after=groups_share_a_head)
def keys_are_not_copied(call, rng):
    """With many keys no array is as large as keys for all h heads would be."""
    h, g, m, d_k = 8, 2, 2048, 16
    Q, K, V = qkv(rng, h, g, n=1, m=m, d_k=d_k, d_v=d_k)
    work = call.work(Q, K, V)
    agree(work.value, repeated(Q, K, V))
    covers(work, 4 * h * m * d_k)
    within(
        call,
        "largest array / entries of the keys",
        work.largest / (g * m * d_k),
        2,
        "keys or values are copied for every query head",
        kind="copies",
    )


@exercise.misconception(credit=0.4)
def every_gth_head(Q, K, V, mask=None):
    """Neighbouring query heads share a key head: use whole division, not the remainder."""
    h, g = Q.shape[-3], K.shape[-3]
    if h % g:
        raise ValueError
    i = np.arange(h) % g
    return attention(Q, K[..., i, :, :], V[..., i, :, :], mask)[0]


@exercise.misconception
def averaged(Q, K, V, mask=None):
    """You averaged keys and values over the groups. Every group keeps its own keys."""
    if Q.shape[-3] % K.shape[-3]:
        raise ValueError
    K, V = (x.mean(axis=-3, keepdims=True) for x in (K, V))
    return attention(Q, K, V, mask)[0]


@exercise.misconception
def copied(Q, K, V, mask=None):
    """You copied keys and values for every query head. Shared keys are read, not copied.

    (Where torch's `matmul` broadcasts, it copies by itself: let the queries of a group be rows of
    one product.)
    """
    if Q.shape[-3] % K.shape[-3]:
        raise ValueError
    return repeated(Q, K, V, mask)


@exercise.misconception
def uneven_groups(Q, K, V, mask=None):
    """Uneven groups must raise a ValueError; you share the keys out somehow."""
    h, g = Q.shape[-3], K.shape[-3]
    i = np.arange(h) * g // h
    found = [
        gqa(Q[..., j : j + 1, :, :], K[..., k : k + 1, :, :], V[..., k : k + 1, :, :])
        for j, k in enumerate(i)
    ]
    return np.concatenate(found, axis=-3) if mask is None else gqa(Q, K, V, mask)


@exercise.misconception(credit=0.4)
def not_scaled(Q, K, V, mask=None):
    """The scores are not divided by √d_k."""
    return gqa(Q * np.sqrt(Q.shape[-1]), K, V, mask)


@exercise.misconception(credit=0.4)
def divided_by_d_k(Q, K, V, mask=None):
    """You divide the scores by d_k. It is its root that their spread grows with."""
    return gqa(Q / np.sqrt(Q.shape[-1]), K, V, mask)


def copied_out(Q, K, V, weigh):
    """Attend with copies of keys and values, and other weights of the scaled scores."""
    r = Q.shape[-3] // K.shape[-3]
    S = Q @ np.swapaxes(np.repeat(K, r, axis=-3), -1, -2) / np.sqrt(Q.shape[-1])
    return weigh(S) @ np.repeat(V, r, axis=-3)


@exercise.misconception
def softmax_over_the_queries(Q, K, V, mask=None):
    """Your columns sum to 1. A query's weights stand in a row: use the last axis."""
    may = np.ones(1, bool) if mask is None else mask
    return copied_out(Q, K, V, lambda S: softmax(np.where(may, S, -np.inf), axis=-2))


@exercise.misconception
def blocked_scores_zero(Q, K, V, mask=None):
    """Blocked scores are 0 in yours, but exp(0) is 1. Which score has the exponential 0?"""
    may = np.ones(1, bool) if mask is None else mask
    return copied_out(Q, K, V, lambda S: softmax(np.where(may, S, 0)))


@exercise.misconception
def mask_ignored(Q, K, V, mask=None):
    """Your mask has no effect: every query sees every key."""
    return gqa(Q, K, V)


@exercise.misconception
def mask_after_softmax(Q, K, V, mask=None):
    """Your mask removes weights, and the rest no longer sums to 1: mask the scores."""
    r = Q.shape[-3] // K.shape[-3]
    S = Q @ np.swapaxes(np.repeat(K, r, axis=-3), -1, -2) / np.sqrt(Q.shape[-1])
    return softmax(S) * (1 if mask is None else mask) @ np.repeat(V, r, axis=-3)


@exercise.misconception
def first_example_for_all(Q, K, V, mask=None):
    """Every example of a batch has its own keys and values."""
    lead = (0,) * (K.ndim - 3)
    K, V = (np.broadcast_to(x[lead], x.shape) for x in (K, V))
    return gqa(Q, K, V, mask)


@exercise.misconception(credit=0.4)
def not_normalised(Q, K, V, mask=None):
    """Your weights don't add up to 1: divide the exponentials by their sum over the keys."""
    r = Q.shape[-3] // K.shape[-3]
    E = np.exp(Q @ np.swapaxes(np.repeat(K, r, axis=-3), -1, -2) / np.sqrt(Q.shape[-1]))
    return E * (1 if mask is None else mask) @ np.repeat(V, r, axis=-3)


D, HEADS, WIDTH, LAYERS = 4096, 32, 128, 32
GROUPS = np.array([32, 8, 1])


@exercise.part(points=1, answer=Count())
def parameters():
    """The weights of W_Q, W_K, W_V and W_O together, for g = 32, 8, 1."""
    return 2 * D * HEADS * WIDTH + 2 * D * GROUPS * WIDTH


parameters.mistakes(
    all_four_small=(
        4 * D * GROUPS * WIDTH,
        "Only keys and values are shared; there are still h query heads.",
    ),
    output_left_out=(
        D * HEADS * WIDTH + 2 * D * GROUPS * WIDTH,
        "You left out W_O, which reads the outputs of all h heads.",
    ),
    output_small=(
        D * HEADS * WIDTH + 3 * D * GROUPS * WIDTH,
        "Every query head has an output, so W_O reads h heads.",
    ),
    values_not_shared=(
        3 * D * HEADS * WIDTH + D * GROUPS * WIDTH,
        "Values are shared as well as keys.",
    ),
    one_small_matrix=(
        2 * D * HEADS * WIDTH + D * GROUPS * WIDTH,
        "Keys and values have a matrix each.",
    ),
    nothing_shared=([4 * D * HEADS * WIDTH] * 3, "W_K and W_V get narrower with g."),
    group_size_for_groups=(
        2 * D * HEADS * WIDTH + 2 * D * (HEADS // GROUPS) * WIDTH,
        "You took the number of query heads that share a key head. g counts the key heads.",
    ),
    all_layers=(
        LAYERS * (2 * D * HEADS * WIDTH + 2 * D * GROUPS * WIDTH),
        "Those are the weights of all layers. One layer was asked for.",
    ),
)


@exercise.part(points=0.5, answer=Count(unit="B"))
def bytes_per_token():
    """The bytes of cache per token, for g = 32, 8, 1."""
    return LAYERS * 2 * GROUPS * WIDTH * 2


bytes_per_token.mistakes(
    values_forgotten=(LAYERS * GROUPS * WIDTH * 2, "Keys and values are both kept."),
    one_layer=(
        2 * GROUPS * WIDTH * 2,
        "That is one layer. Each of them has keys and values of its own.",
    ),
    four_bytes=(LAYERS * 2 * GROUPS * WIDTH * 4, "That is float32. Here a number takes two bytes."),
    width_of_the_model=(
        LAYERS * 2 * GROUPS * D * 2,
        "A key is as wide as a head, not as the model.",
    ),
    query_heads_stored=(
        LAYERS * 2 * HEADS * WIDTH * 2 * np.ones(3, int),
        "You counted 32 heads in all three cases. Stored are the g heads of keys and values.",
    ),
    bits=(LAYERS * 2 * GROUPS * WIDTH * 2 * 8, "Those are bits. Eight of them are a byte."),
    heads_of_a_group=(
        LAYERS * 2 * (HEADS // GROUPS) * WIDTH * 2,
        "You took the number of query heads that share a key head. g counts the key heads.",
    ),
)


@exercise.part(points=0.5, answer=Numbers(unit="GiB"))
def gib(bytes_per_token):
    """The cache of 8192 tokens in GiB, for g = 32, 8, 1."""
    return np.asarray(bytes_per_token) * 8192 / 2**30


@gib.misconception()
def in_gb(bytes_per_token):
    """These are GB. A GiB is 2³⁰ bytes."""
    return np.asarray(bytes_per_token) * 8192 / 1e9


@gib.misconception()
def in_mib(bytes_per_token):
    """These are MiB: divide once more by 1024."""
    return np.asarray(bytes_per_token) * 8192 / 2**20


@gib.misconception()
def of_one_token(bytes_per_token):
    """That is one token. The text has 8192 of them."""
    return np.asarray(bytes_per_token) / 2**30


@gib.misconception()
def layers_counted_twice(bytes_per_token):
    """The bytes of a token hold all 32 layers already."""
    return np.asarray(bytes_per_token) * LAYERS * 8192 / 2**30


@exercise.part(points=1, answer=Numbers())
def W(heads):
    """Your four key heads, pooled to two groups by their means: shape (2, 2)."""
    return heads.reshape(2, 2, 2).mean(axis=1)


@W.misconception()
def first_of_each_group(heads):
    """Start from the mean of the group: it uses what all its heads had learned."""
    return heads[[0, 2]]


@W.misconception()
def with_a_stride(heads):
    """You pooled heads 0 and 2. The heads of a group stand next to each other."""
    return heads.reshape(2, 2, 2).mean(axis=0)


@W.misconception()
def summed(heads):
    """The sum doubles the scores."""
    return heads.reshape(2, 2, 2).sum(axis=1)


@W.misconception()
def within_a_head(heads):
    """You averaged the numbers of each head. Average heads, entry by entry."""
    return heads.reshape(2, 2, 2).mean(axis=2)


@W.misconception()
def one_mean_for_both(heads):
    """You averaged all four heads. Each group has a mean of its own."""
    return np.tile(heads.mean(axis=0), (2, 1))


@exercise.part(
    points=1,
    answer=Choice(
        [
            "The cache.",
            "The bytes that are read for each decoded token.",
            "The number of weights in $W_K$ and $W_V$.",
            "The number of attention weights.",
            "The multiply–adds of $Q K^\\top$.",
        ],
        multiple=True,
    ),
)
def shrinks():
    """What shrinks when g falls?"""
    return "ABC"


@shrinks.misconception()
def cache_denied():
    """You left out “The cache”. What is kept for each token, and for how many heads?"""
    return "BC"


@shrinks.misconception()
def reading_denied():
    """You left out “The bytes that are read for each decoded token”.

    A decoding step reads the whole cache once.
    """
    return "AC"


@shrinks.misconception()
def weights_denied():
    """You left out “The number of weights in $W_K$ and $W_V$”.

    How many columns have W_K and W_V?
    """
    return "AB"


@shrinks.misconception()
def fewer_weights_of_attention():
    """You marked “The number of attention weights”.

    How many rows of weights are there, and how many query heads?
    """
    return "ABCD"


@shrinks.misconception()
def fewer_products():
    """You marked “The multiply–adds of …”.

    Every query head still meets every key, shared or not.
    """
    return "ABCE"
