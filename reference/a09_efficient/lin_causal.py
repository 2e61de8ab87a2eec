"""Causal linear attention: prefix sums, or a recurrent network.

Source: Katharopoulos et al. (2020), "Transformers are RNNs", section 3.3.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Count, Exercise, Numbers, agree, covers, grows, within

exercise = Exercise(
    "lin_causal",
    title="A transformer that is a recurrence",
    source="Katharopoulos et al. (2020), section 3.3",
)


def elu1(x):
    """elu(x) + 1."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def recurrence(Q, K, V, eps=0.0):
    """One token after the other; the state is a matrix and a vector."""
    q, k = elu1(Q), elu1(K)
    S, z = np.zeros((K.shape[1], V.shape[1])), np.zeros(K.shape[1])
    rows = []
    for t in range(len(V)):
        S = S + k[t][:, None] * V[t]
        z = z + k[t]
        rows.append(q[t] @ S / (q[t] @ z + eps))
    return np.array(rows)


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
def causal_or_steps(
    Q: Float[ndarray, "n d_k"],
    K: Float[ndarray, "n d_k"],
    V: Float[ndarray, "n d_v"],
    steps: bool = False,
) -> Float[ndarray, "n d_v"]:
    """Call ``causal_linear_attention``, or ``recurrent_step`` once for every token."""
    return recurrence(Q, K, V) if steps else chunked(Q, K, V)


@exercise.alternative
def by_cumulative_sums(Q, K, V, steps=False):
    """All prefix sums at once, in an array of shape (n, d_k, d_v)."""
    if steps:
        return recurrence(Q, K, V)
    q, k = elu1(Q), elu1(K)
    S = np.cumsum(k[:, :, None] * V[:, None, :], axis=0)
    return np.einsum("nd,ndv->nv", q, S) / (q * np.cumsum(k, axis=0)).sum(axis=1)[:, None]


@exercise.alternative
def in_long_chunks(Q, K, V, steps=False):
    """Chunks of 1024: up to that length it is the quadratic form."""
    return recurrence(Q, K, V) if steps else chunked(Q, K, V, 1024)


@exercise.alternative
def always_step_by_step(Q, K, V, steps=False):
    """The recurrence serves for both."""
    return recurrence(Q, K, V)


@exercise.alternative
def in_single_precision(Q, K, V, steps=False):
    """The same in float32."""
    Q, K, V = (x.astype(np.float32) for x in (Q, K, V))
    return (recurrence(Q, K, V) if steps else chunked(Q, K, V, 64)).astype(np.float32)


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
        agree(call(Q, K, V)[0], V[0], what="the first output")
        agree(call(Q - 9, K - 9, V)[0], V[0], what="the first output")


@exercise.check(points=1, visible=True)
def steps_match_the_masked_form(call, rng):
    """recurrent_step, called for one token after the other, gives the same rows."""
    for n in (1, 6):
        Q, K, V = qkv(rng, n)
        agree(call(Q, K, V, steps=True), masked(Q, K, V), rtol=1e-4)


@exercise.check(points=1.5, after=matches_the_masked_form)
def work_is_linear(call, rng):
    """Arithmetic and memory of causal_linear_attention grow like n."""
    grows(
        call,
        lambda n: tuple(x + 3 for x in qkv(rng, n, 32, 16)),  # no feature is small
        rows=lambda i, Q, K, V: chunked(Q, K, V)[i],
        floor=lambda n: 4 * n * 32 * 16,
    )


@exercise.check(points=1, after=steps_match_the_masked_form)
def a_step_costs_always_the_same(call, rng):
    """Late steps take no more work than early ones: the state doesn't grow."""
    early, late = (step_work(call, rng, t) for t in (24, 192))
    within(
        call,
        "work of step 192 / that of step 24",
        late / early,
        1.4,
        "a later step takes more work than an early one",
        kind="steps that grow dearer",
    )


def step_work(call, rng, t):
    """The FLOPs of step t: those of t steps less those of t − 1."""
    Q, K, V = qkv(rng, t, 8, 4)
    flops = []
    for n in (t - 1, t):
        work = call.work(Q[:n], K[:n], V[:n], steps=True)
        agree(work.value, masked(Q[:n], K[:n], V[:n]), rtol=1e-4)
        covers(work, 4 * n * 8 * 4)
        flops.append(work.flops)
    return flops[1] - flops[0]


@exercise.misconception
def builds_the_matrix(Q, K, V, steps=False):
    """You form all n × n products of features and mask them. Which sums are enough?"""
    return recurrence(Q, K, V) if steps else masked(Q, K, V)


@exercise.misconception
def sums_begun_anew(Q, K, V, steps=False):
    """For each token you sum over its whole prefix again. The last sum is a good beginning."""
    if steps:
        return recurrence(Q, K, V)
    q, k = elu1(Q), elu1(K)
    rows = [
        q[t] @ (k[: t + 1].T @ V[: t + 1]) / (q[t] @ k[: t + 1].sum(axis=0)) for t in range(len(V))
    ]
    return np.array(rows)


@exercise.misconception
def step_keeps_all_keys(Q, K, V, steps=False):
    """Each step goes through all keys so far: that is a cache. The sums alone are enough."""
    if not steps:
        return chunked(Q, K, V)
    rows = []
    for t in range(1, len(V) + 1):
        a = elu1(K[:t]) @ elu1(Q[t - 1])
        rows.append(a @ V[:t] / a.sum())
    return np.array(rows)


@exercise.misconception(fatal=True)
def sums_over_all_keys(Q, K, V, steps=False):
    """Every token sees all keys, later ones too. The sums run over the keys up to its own."""
    q, k = elu1(Q), elu1(K)
    return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]


@exercise.misconception(fatal=True)
def own_key_left_out(Q, K, V, steps=False):
    """Your sums stop before the token itself. Then nothing is left for the first one: 0/0."""
    A = np.tril(elu1(Q) @ elu1(K).T, -1)
    return A @ V / A.sum(axis=1, keepdims=True)


@exercise.misconception(fatal=True)
def first_output_zero(Q, K, V, steps=False):
    """The first output is 0: the state must hold the token's own key before it is read."""
    out = causal_or_steps(Q, K, V, steps)
    A = np.tril(elu1(Q) @ elu1(K).T, -1)
    sums = A.sum(axis=1, keepdims=True)
    return np.where(sums > 0, A @ V / np.where(sums > 0, sums, 1), 0 * out)


@exercise.misconception(fatal=True)
def normaliser_of_all_keys(Q, K, V, steps=False):
    """The numerator is causal and the denominator isn't: z is a prefix sum as well."""
    A = elu1(Q) @ elu1(K).T
    return np.tril(A) @ V / A.sum(axis=1, keepdims=True)


@exercise.misconception(fatal=True)
def never_divided(Q, K, V, steps=False):
    """The denominator is missing: the weights of a token should add up to 1."""
    return np.tril(elu1(Q) @ elu1(K).T) @ V


@exercise.misconception(fatal=True)
def softmax_instead(Q, K, V, steps=False):
    """That is causal softmax attention. The similarity here is a product of features."""
    S = Q @ K.T / np.sqrt(Q.shape[1])
    A = np.tril(np.exp(S - S.max()))
    return A @ V / A.sum(axis=1, keepdims=True)


@exercise.misconception
def epsilon_below(Q, K, V, steps=False):
    """You add a small number to the denominator. Beside small features it is not small."""
    return recurrence(Q, K, V, 1e-6) if steps else chunked(Q, K, V, eps=1e-6)


@exercise.misconception
def step_forgets(Q, K, V, steps=False):
    """recurrent_step returns the old state, so every token stands alone. Return the new one."""
    return V.copy() if steps else chunked(Q, K, V)


@exercise.misconception
def step_resets_the_normaliser(Q, K, V, steps=False):
    """recurrent_step keeps S but not z: both are sums over all keys so far."""
    if not steps:
        return chunked(Q, K, V)
    q, k = elu1(Q), elu1(K)
    return np.tril(q @ k.T) @ V / (q * k).sum(axis=1, keepdims=True)


@exercise.part(points=0.5, answer=Count())
def state_numbers():
    """Numbers in the state S, z for D = d_v = 64."""
    return 64 * 64 + 64


@state_numbers.misconception()
def normaliser_left_out():
    """That is S. The denominator needs z."""
    return 64 * 64


@state_numbers.misconception()
def two_vectors():
    """S is a matrix: every feature with every column of the values."""
    return 2 * 64


@state_numbers.misconception()
def state_for_every_token():
    """The state replaces all tokens so far: their number doesn't enter."""
    return 1000 * (64 * 64 + 64)


@exercise.part(points=0.5, answer=Count())
def cached_numbers():
    """Numbers that softmax attention caches at t = 1000 with keys and values of width 64."""
    return 2 * 1000 * 64


@cached_numbers.misconception()
def keys_alone():
    """You cached the keys. Values are needed as well."""
    return 1000 * 64


@cached_numbers.misconception()
def weights_cached():
    """Weights aren't kept: each is used in one step alone."""
    return 1000**2


@cached_numbers.misconception()
def queries_cached():
    """A query is used once, in its own step: it needs no place in the cache."""
    return 3 * 1000 * 64


@exercise.part(points=1, answer=Numbers())
def break_even(state_numbers, cached_numbers):
    """The t at which state and cache have the same size."""
    return state_numbers / (cached_numbers / 1000)


@break_even.misconception()
def keys_only(state_numbers):
    """A token adds a key and a value to the cache."""
    return state_numbers / 64


@break_even.misconception()
def without_z():
    """The state holds z as well as S."""
    return 64 * 64 / (2 * 64)


@break_even.misconception()
def upside_down(state_numbers, cached_numbers):
    """You divided the other way round."""
    return (cached_numbers / 1000) / state_numbers
