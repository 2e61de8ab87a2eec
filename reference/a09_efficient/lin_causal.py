"""Causal linear attention: prefix sums, or a recurrent network.

Source: Katharopoulos et al. (2020), "Transformers are RNNs", section 3.3.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Count, Exercise, Numbers, agree, covers, grows, require, within

exercise = Exercise(
    "lin_causal",
    title="A transformer that is a recurrence",
    source="Katharopoulos et al. (2020), section 3.3",
    minutes=65,
    hints=[
        "Write S and z down for the first three tokens. When does a token's own term come in: "
        "before the sums are read, or after?",
        "In a chunk every output has two contributions, from the state that was brought along "
        "and from a small triangle. That holds above and below the fraction bar.",
        "For `break_even` write both sizes as formulas in t, set them equal, and solve.",
    ],
)


@exercise.variant
def draw(rng):
    """D: features, and the width of keys; d_v: the width of values; t: tokens so far."""
    D, d_v = rng.choice([32, 48, 64, 80, 96, 128], 2, replace=False)
    return {"D": int(D), "d_v": int(d_v), "t": int(rng.choice([500, 800, 1200, 1500, 2000]))}


def elu1(x):
    """elu(x) + 1."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def chunked(Q, K, V, size=32, eps=0.0):
    """A prefix state for what lies before a chunk, a small triangle within it."""
    q, k = elu1(Q), elu1(K)
    S, z, parts = np.zeros((K.shape[1], V.shape[1])), np.zeros(K.shape[1]), []
    for first in range(0, len(V), size):
        a, b, v = q[first : first + size], k[first : first + size], V[first : first + size]
        inside = np.tril(a @ b.T)
        parts.append((a @ S + inside @ v) / (a @ z + inside.sum(axis=1) + eps)[:, None])
        S, z = S + b.T @ v, z + b.sum(axis=0)
    return np.concatenate(parts)


@exercise.reference
def causal_linear_attention(
    Q: Float[ndarray, "n d_k"], K: Float[ndarray, "n d_k"], V: Float[ndarray, "n d_v"]
) -> Float[ndarray, "n d_v"]:
    """Go through the tokens in chunks."""
    return chunked(Q, K, V)


@exercise.alternative
def by_cumulative_sums(Q, K, V):
    """All prefix sums at once, in an array of shape (n, d_k, d_v)."""
    q, k = elu1(Q), elu1(K)
    S = np.cumsum(k[:, :, None] * V[:, None, :], axis=0)
    return np.einsum("nd,ndv->nv", q, S) / (q * np.cumsum(k, axis=0)).sum(axis=1)[:, None]


@exercise.alternative
def in_long_chunks(Q, K, V):
    """Chunks of 1024: up to that length it is the quadratic form."""
    return chunked(Q, K, V, 1024)


@exercise.alternative
def step_by_step(Q, K, V):
    """One token after the other; the state is a matrix and a vector."""
    state, rows = (np.zeros((K.shape[1], V.shape[1])), np.zeros(K.shape[1])), []
    for q, k, v in zip(Q, K, V, strict=True):
        state, row = recurrent_step(state, q, k, v)
        rows.append(row)
    return np.array(rows)


@exercise.alternative
def in_single_precision(Q, K, V):
    """The same in float32."""
    return chunked(*(x.astype(np.float32) for x in (Q, K, V)), 64).astype(np.float32)


def masked(Q, K, V):
    """The quadratic form: all products of features, those of later keys left out."""
    A = np.tril(elu1(Q) @ elu1(K).T)
    return A @ V / A.sum(axis=1, keepdims=True)


def qkv(rng, n, d_k=3, d_v=2):
    """Inputs for n tokens."""
    return tuple(rng.standard_normal((n, d)) for d in (d_k, d_k, d_v))


@exercise.check(points=1, visible=True)
def matches_the_masked_form(call, rng):
    """causal_linear_attention equals the quadratic form without the products of later keys."""
    for n in (6, 75):
        Q, K, V = qkv(rng, n)
        agree(np.asarray(call(Q, K, V))[1:], masked(Q, K, V)[1:], rtol=1e-4)


@exercise.check(points=0.5)
def first_output_is_the_first_value(call, rng):
    """The first token sees itself alone: o_0 = v_0, also for a single token."""
    for n in (1, 2):
        Q, K, V = qkv(rng, n)
        out = np.asarray(call(Q, K, V))
        require(out.shape == V.shape, f"the outputs have shape {out.shape}")
        agree(out[0], V[0], what="the first output")
        alone = n > 1 and abs(out[1] - V[1]).max() < 1e-6
        require(not alone, "the second token sees itself alone, too")
        agree(call(Q - 9, K - 9, V)[0], V[0], what="the first output")


@exercise.check(points=1.5, after=matches_the_masked_form)
def work_is_linear(call, rng):
    """Arithmetic and memory of causal_linear_attention grow like n."""
    grows(
        call,
        lambda n: tuple(x + 3 for x in qkv(rng, n, 32, 16)),  # no feature is small
        rows=lambda i, Q, K, V: chunked(Q, K, V)[i],
        floor=lambda n: 4 * n * 32 * 16,
    )


@exercise.misconception
def builds_the_matrix(Q, K, V):
    """You form all n × n products of features and mask them. Which sums are enough?"""
    return masked(Q, K, V)


@exercise.misconception
def sums_begun_anew(Q, K, V):
    """For each token you sum over its whole prefix again. The last sum is a good beginning."""
    q, k = elu1(Q), elu1(K)
    rows = [
        q[t] @ (k[: t + 1].T @ V[: t + 1]) / (q[t] @ k[: t + 1].sum(axis=0)) for t in range(len(V))
    ]
    return np.array(rows)


@exercise.misconception
def sums_over_all_keys(Q, K, V):
    """Every token sees all keys, later ones too. The sums run over the keys up to its own."""
    q, k = elu1(Q), elu1(K)
    return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]


@exercise.misconception
def upper_triangle(Q, K, V):
    """Your triangle is the upper one: a token sees itself and what comes later."""
    A = np.triu(elu1(Q) @ elu1(K).T)
    return A @ V / A.sum(axis=1, keepdims=True)


@exercise.misconception(credit=0.4)
def own_key_left_out(Q, K, V):
    """Your sums stop before the token itself. Then nothing is left for the first one: 0/0."""
    A = np.tril(elu1(Q) @ elu1(K).T, -1)
    return A @ V / A.sum(axis=1, keepdims=True)


@exercise.misconception
def first_output_zero(Q, K, V):
    """The first output is 0: the sums must hold the token's own key before they are used."""
    A = np.tril(elu1(Q) @ elu1(K).T, -1)
    sums = A.sum(axis=1, keepdims=True)
    return np.where(sums > 0, A @ V / np.where(sums > 0, sums, 1), 0)


@exercise.misconception(credit=0.4)
def normaliser_of_all_keys(Q, K, V):
    """The numerator is causal and the denominator isn't: z is a prefix sum as well."""
    A = elu1(Q) @ elu1(K).T
    return np.tril(A) @ V / A.sum(axis=1, keepdims=True)


@exercise.misconception
def never_divided(Q, K, V):
    """The denominator is missing: the weights of a token should add up to 1."""
    return np.tril(elu1(Q) @ elu1(K).T) @ V


def summed(q, k, V):
    """Add up keys times values from the start, and ask them with each token's query."""
    return np.einsum("nd,ndv->nv", q, np.cumsum(k[:, :, None] * V[:, None], axis=0))


@exercise.misconception
def divided_by_the_count(Q, K, V):
    """You divide by the number of tokens so far. What do the weights of a token add up to?"""
    return summed(elu1(Q), elu1(K), V) / np.arange(1, len(Q) + 1)[:, None]


@exercise.misconception
def features_forgotten(Q, K, V):
    """φ is missing: without it products of queries and keys can be negative, and sums near 0."""
    below = (Q * np.cumsum(K, axis=0)).sum(axis=1, keepdims=True)
    return summed(Q, K, V) / below


@exercise.misconception
def features_of_the_keys_alone(Q, K, V):
    """φ is applied to the keys alone. Queries need it as well."""
    k = elu1(K)
    return summed(Q, k, V) / (Q * np.cumsum(k, axis=0)).sum(axis=1, keepdims=True)


@exercise.misconception
def normaliser_begun_with_one(Q, K, V):
    """The token's own key is missing in your denominator. Take it into z before you divide."""
    q, k = elu1(Q), elu1(K)
    below = (q * (np.cumsum(k, axis=0) - k)).sum(axis=1, keepdims=True) + 1
    return summed(q, k, V) / below


@exercise.misconception
def summed_along_the_features(Q, K, V):
    """The sum z runs along the features in yours. It adds up tokens, as S does."""
    q, k = elu1(Q), elu1(K)
    return summed(q, k, V) / (q * np.cumsum(k, axis=1)).sum(axis=1, keepdims=True)


@exercise.misconception(fatal="nothing of the linear method is there")
def softmax_instead(Q, K, V):
    """That is causal softmax attention. The similarity here is a product of features."""
    S = Q @ K.T / np.sqrt(Q.shape[1])
    A = np.tril(np.exp(S - S.max()))
    return A @ V / A.sum(axis=1, keepdims=True)


@exercise.misconception
def epsilon_below(Q, K, V):
    """You add a small number to the denominator. Beside small features it is not small."""
    return chunked(Q, K, V, eps=1e-6)


@exercise.reference
def recurrent_step(
    state: tuple,
    q: Float[ndarray, " d_k"],
    k: Float[ndarray, " d_k"],
    v: Float[ndarray, " d_v"],
):
    """Take the token into both sums, then read them."""
    S, z = state[0] + np.outer(elu1(k), v), state[1] + elu1(k)
    return (S, z), elu1(q) @ S / (elu1(q) @ z)


@exercise.alternative
def in_place(state, q, k, v):
    """Change the arrays of the state."""
    S, z = state
    S += elu1(k)[:, None] * v
    z += elu1(k)
    return (S, z), elu1(q) @ S / (elu1(q) @ z)


@exercise.alternative
def with_a_list(state, q, k, v):
    """Return lists and sums over named indices."""
    S = state[0] + np.einsum("d,v->dv", elu1(k), v)
    z = state[1] + elu1(k)
    top, below = np.einsum("d,dv->v", elu1(q), S), np.einsum("d,d->", elu1(q), z)
    return [[S, z], top / below]


@exercise.alternative
def step_in_single_precision(state, q, k, v):
    """The same in float32."""
    S, z, q, k, v = (x.astype(np.float32) for x in (*state, q, k, v))
    return recurrent_step((S, z), q, k, v)


def nothing(d_k, d_v):
    """The state before the first token."""
    return np.zeros((d_k, d_v)), np.zeros(d_k)


@exercise.check(points=1, visible=True)
def steps_match_the_masked_form(call, rng):
    """recurrent_step, called for one token after the other, gives the same rows."""
    for n in (1, 6):
        Q, K, V = qkv(rng, n)
        state, rows = nothing(3, 2), []
        for t in range(n):
            state, row = call(state, Q[t], K[t], V[t])
            rows.append(row)
        agree(np.array(rows), masked(Q, K, V), rtol=1e-4, what="the outputs")


@exercise.check(points=1, after=steps_match_the_masked_form)
def a_step_costs_always_the_same(call, rng):
    """Late steps take no more work than early ones: the state doesn't grow."""
    Q, K, V = qkv(rng, 24, 8, 4)
    right, state, rows, works = masked(Q, K, V), nothing(8, 4), [], []
    for t in range(24):
        if t in (5, 23):
            work = call.work(state, Q[t], K[t], V[t])
            agree(work.value[1], right[t], rtol=1e-4, what="the output")
            covers(work, 4 * 8 * 4)
            works.append(work)
        state, row = call(state, Q[t], K[t], V[t])
        rows.append(row)
    agree(np.array(rows), right, rtol=1e-4, what="the outputs")
    early, late = works
    within(
        call,
        "work of step 24 / that of step 6",
        max(late.flops / early.flops, late.steps / early.steps),
        1.4,
        "a later step takes more work than an early one",
        kind="steps that grow dearer",
    )
    sizes = [[np.size(part) for part in work.value[0]] for work in works]
    require(sizes[0] == sizes[1], "the state grows: S or z has more numbers in a later step")


@exercise.misconception
def step_keeps_all_keys(state, q, k, v):
    """Each step goes through all keys so far: that is a cache. The sums alone are enough."""
    K, V = state
    if V.ndim == 1:  # the state before the first token
        K, V = np.empty((0, len(k))), np.empty((0, len(v)))
    K, V = np.vstack([K, k]), np.vstack([V, v])
    a = elu1(K) @ elu1(q)
    return (K, V), a @ V / a.sum()


@exercise.misconception
def step_keeps_keys_beside_the_sums(state, q, k, v):
    """Your S grows by a column with each token. The state has one size, however long the text."""
    width = len(v)
    S, z = state[0][:, :width] + np.outer(elu1(k), v), state[1] + elu1(k)
    return (np.column_stack([S, state[0][:, width:], k]), z), elu1(q) @ S / (elu1(q) @ z)


@exercise.misconception(credit=0.4)
def step_without_features(state, q, k, v):
    """Query and key come in as they are: the feature map is missing."""
    S, z = state[0] + np.outer(k, v), state[1] + k
    return (S, z), q @ S / (q @ z)


@exercise.misconception(credit=0.4)
def step_with_bare_keys(state, q, k, v):
    """You apply the feature map to the query, but not to the key."""
    S, z = state[0] + np.outer(k, v), state[1] + k
    return (S, z), elu1(q) @ S / (elu1(q) @ z)


@exercise.misconception(credit=0.4)
def step_with_bare_keys_in_z(state, q, k, v):
    """In recurrent_step z adds up the keys as they are. It adds up their features, as S does."""
    S, z = state[0] + np.outer(elu1(k), v), state[1] + k
    return (S, z), elu1(q) @ S / (elu1(q) @ z)


@exercise.misconception(credit=0.4)
def step_reads_too_early(state, q, k, v):
    """You read the sums before the token is in them. It sees its own key, too."""
    S, z = state
    new = S + np.outer(elu1(k), v), z + elu1(k)
    return new, elu1(q) @ S / (elu1(q) @ z)


@exercise.misconception(credit=0.4)
def step_with_a_bare_query(state, q, k, v):
    """φ is applied to the keys alone. Queries need it as well."""
    S, z = state[0] + np.outer(elu1(k), v), state[1] + elu1(k)
    return (S, z), q @ S / (q @ z)


@exercise.misconception(credit=0.4)
def step_divides_by_the_old_sum(state, q, k, v):
    """The token's own key is missing in your denominator. Take it into z before you divide."""
    S, z = state[0] + np.outer(elu1(k), v), state[1] + elu1(k)
    return (S, z), elu1(q) @ S / (elu1(q) @ state[1] + 1)


@exercise.misconception
def step_never_divides(state, q, k, v):
    """The denominator is missing: the weights of a token should add up to 1."""
    new, _ = recurrent_step(state, q, k, v)
    return new, elu1(q) @ new[0]


@exercise.misconception
def step_forgets(state, q, k, v):
    """recurrent_step returns the old state, so every token stands alone. Return the new one."""
    return state, recurrent_step(state, q, k, v)[1]


@exercise.misconception
def step_resets_the_normaliser(state, q, k, v):
    """recurrent_step keeps S but not z: both are sums over all keys so far."""
    S = state[0] + np.outer(elu1(k), v)
    return (S, elu1(k)), elu1(q) @ S / (elu1(q) @ elu1(k))


@exercise.part(points=0.5, answer=Count())
def state_numbers(D, d_v):
    """Numbers in the state S, z for your D and d_v."""
    return D * d_v + D


@state_numbers.misconception()
def normaliser_left_out(D, d_v):
    """That is S. The denominator needs z."""
    return D * d_v


@state_numbers.misconception()
def two_vectors(D, d_v):
    """S is a matrix: every feature with every column of the values."""
    return D + d_v


@state_numbers.misconception()
def normaliser_of_values(D, d_v):
    """You gave z the width of a value. It is a sum of the keys' features."""
    return D * d_v + d_v


@state_numbers.misconception()
def state_for_every_token(D, d_v, t):
    """The state replaces all tokens so far: their number doesn't enter."""
    return t * (D * d_v + D)


@exercise.part(points=0.5, answer=Count())
def cached_numbers(D, d_v, t):
    """Numbers that softmax attention caches at your t, keys of width D and values of width d_v."""
    return t * (D + d_v)


@cached_numbers.misconception()
def keys_alone(D, t):
    """You cached the keys. Values are needed as well."""
    return t * D


@cached_numbers.misconception()
def weights_cached(t):
    """Weights aren't kept: each is used in one step alone."""
    return t**2


@cached_numbers.misconception()
def products_cached(D, d_v, t):
    """You multiplied the widths. A key and a value are stored side by side."""
    return t * D * d_v


@cached_numbers.misconception()
def values_as_wide_as_keys(D, t):
    """You took the width of a key for both. Values have a width of their own."""
    return 2 * t * D


@cached_numbers.misconception()
def queries_cached(D, d_v, t):
    """A query is used once, in its own step: it needs no place in the cache."""
    return t * (2 * D + d_v)


@exercise.part(points=1, answer=Numbers())
def break_even(state_numbers, cached_numbers, t):
    """The t at which state and cache have the same size."""
    return state_numbers / (cached_numbers / t)


@break_even.misconception()
def keys_only(state_numbers, D):
    """A token adds a key and a value to the cache."""
    return state_numbers / D


@break_even.misconception()
def one_width_for_both(state_numbers, D):
    """You took the width of a key for both. Values have a width of their own."""
    return state_numbers / (2 * D)


@break_even.misconception()
def without_z(D, d_v):
    """The state holds z as well as S."""
    return D * d_v / (D + d_v)


@break_even.misconception()
def upside_down(state_numbers, cached_numbers, t):
    """You divided the other way round."""
    return (cached_numbers / t) / state_numbers
