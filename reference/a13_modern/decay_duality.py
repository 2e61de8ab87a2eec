"""One map, three programs: a state that forgets, a masked table, and chunks of both.

Source: Katharopoulos et al. (2020), "Transformers are RNNs" (a = 1); Sun et al. (2023), "Retentive
network" (constant a); Dao & Gu (2024), "Transformers are SSMs"; Schlag et al. (2021) and Yang et
al. (2024) for the delta rule.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Choice, Count, Exercise, Formula, Numbers, agree, grows
from autograder.exercise.properties import causal

exercise = Exercise(
    "decay_duality",
    title="One map, three programs",
    source="Sun et al. (2023); Dao & Gu (2024); Schlag et al. (2021); Yang et al. (2024)",
    minutes=65,
    hints=[
        "Write S down for the first three steps and multiply out: which factors has the term of "
        "token j collected by step i?",
        "In a chunk the state of all earlier tokens decays from the chunk's beginning to row i, "
        "and each of the chunk's tokens from its own place to the chunk's end.",
        "For the delta rule ask first what the state answers to the new key. Only the difference "
        "to the new value is written.",
    ],
)


def decays(a):
    """The products a_(j+1) ⋯ a_i for j ≤ i, row by row: no quotient, so a 0 does no harm."""
    later = np.tri(len(a), k=-1, dtype=bool)
    return np.tril(np.cumprod(np.where(later, a[:, None], 1.0), axis=0))


A = np.array([1, 0.5, 0, 0.5])
QUERIES, KEYS, VALUES = np.array([[1, 1, 2, 1], [1, 2, 1, 1], [4, 1, 3, 2]])


@exercise.part(points=0.5, answer=Numbers())
def L():
    """The matrix of decays for the four tokens."""
    return decays(A)


@L.misconception()
def own_factor_too():
    """a_t acts on the old state, the new token enters fresh."""
    return decays(A) * A


@L.misconception()
def factors_of_the_next_step():
    """Between j and i stand the factors j + 1 … i."""
    return decays(np.append(A[1:], 1))


@L.misconception()
def factors_of_the_step_before():
    """You begin with a_j and stop before a_i. What acts on a state when token i comes?"""
    return decays(np.append(1, A[:-1]))


@L.misconception()
def plain_triangle():
    """With a = 1 nothing is ever forgotten."""
    return np.tri(4)


@L.misconception()
def upper():
    """Rows are queries: row i holds what earlier tokens j still count for."""
    return decays(A).T


@L.misconception()
def diagonal_left_out():
    """A token's own term is there as well: no factor stands between j and i = j."""
    return decays(A) - np.eye(4)


L.mistakes(
    all_factors_from_the_start=(
        np.tri(4) * np.cumprod(A)[:, None],
        "You multiplied all factors up to i. Those up to j are over before token j comes.",
    ),
    last_factor_alone=(
        np.tri(4, k=-1) * A[:, None] + np.eye(4),
        "You took a_i for the whole row. Between j and i all factors are multiplied.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def y(L):
    """The four outputs."""
    return (L * np.outer(QUERIES, KEYS)) @ VALUES


@y.misconception()
def nothing_decays():
    """With a = 1 nothing is ever forgotten."""
    return (np.tri(4) * np.outer(QUERIES, KEYS)) @ VALUES


@y.misconception()
def own_token_decayed():
    """a_t acts on the old state, the new token enters fresh."""
    return (decays(A) * A * np.outer(QUERIES, KEYS)) @ VALUES


@y.misconception()
def decay_of_the_next_step():
    """Between j and i stand the factors j + 1 … i: the first factor meets an empty state."""
    return (decays(np.append(A[1:], 1)) * np.outer(QUERIES, KEYS)) @ VALUES


@y.misconception()
def queries_left_out():
    """The state is read with the query."""
    return decays(A) @ (KEYS * VALUES)


@y.misconception()
def keys_left_out():
    """The state holds keys times values."""
    return QUERIES * (decays(A) @ VALUES)


@y.misconception()
def own_token_not_read():
    """You read the state before the token is in it. A token sees itself."""
    return (decays(A) - np.eye(4)) * np.outer(QUERIES, KEYS) @ VALUES


def qkv(rng, n, d=3, d_v=2):
    """Queries, keys, values and factors for n tokens."""
    Q, K = rng.standard_normal((2, n, d))
    return Q, K, rng.standard_normal((n, d_v)), rng.uniform(0.2, 1, n)


def table(Q, K, V, a):
    """The right outputs, from the table of decays."""
    return (decays(a) * (Q @ K.T)) @ V


def in_chunks(Q, K, V, a, c):
    """A state for what lies before a chunk, a small table within it."""
    S, parts = np.zeros((K.shape[1], V.shape[1])), []
    for first in range(0, len(V), c):
        q, k, v, b = (x[first : first + c] for x in (Q, K, V, a))
        inside, into = decays(b), np.cumprod(b)
        parts.append((inside * (q @ k.T)) @ v + into[:, None] * (q @ S))
        S = into[-1] * S + (inside[-1][:, None] * k).T @ v  # the last row: decay to the end
    return np.concatenate(parts)


def with_zeros(rng, n, *shape):
    """Inputs of which some factors are 0, the first one among them."""
    Q, K, V, a = qkv(rng, n, *shape)
    a[[0, n // 3, n // 3 + 1, n - 2]] = 0
    return Q, K, V, a


def fading(rng, n, factor):
    """Inputs with one factor everywhere, so that products of many are too small for a number."""
    return *qkv(rng, n)[:3], np.full(n, factor)


@exercise.reference
def decay_recurrent(
    Q: Float[ndarray, "n d"],
    K: Float[ndarray, "n d"],
    V: Float[ndarray, "n d_v"],
    a: Float[ndarray, " n"],
) -> Float[ndarray, "n d_v"]:
    """Token by token, with a state of fixed size."""
    S, Y = np.zeros((K.shape[1], V.shape[1])), np.empty(V.shape)
    for t in range(len(V)):
        S = a[t] * S + np.outer(K[t], V[t])
        Y[t] = Q[t] @ S
    return Y


@exercise.alternative
def with_einsum(Q, K, V, a):
    """Collect the outputs in a list."""
    S, rows = 0.0, []
    for q, k, v, factor in zip(Q, K, V, a, strict=True):
        S = factor * S + np.einsum("d,v->dv", k, v)
        rows.append(np.einsum("d,dv->v", q, S))
    return np.array(rows)


@exercise.alternative
def in_chunks_of_sixteen(Q, K, V, a):
    """A state that goes from chunk to chunk."""
    return in_chunks(Q, K, V, a, 16)


@exercise.alternative
def in_long_chunks(Q, K, V, a):
    """Chunks of 1024: up to that length it is the table of all pairs."""
    return in_chunks(Q, K, V, a, 1024)


@exercise.alternative
def state_on_its_side(Q, K, V, a):
    """A row of the state for each value, so that the query comes last."""
    S, Y = np.zeros((V.shape[1], K.shape[1])), np.zeros(V.shape)
    for t, factor in enumerate(a):
        S = factor * S + V[t][:, None] * K[t]
        Y[t] = S @ Q[t]
    return Y


@exercise.check(points=0.5, visible=True)
def recurrence_matches_the_table(call, rng):
    """decay_recurrent gives what the definition gives, token by token."""
    for n in (1, 6, 11):
        Q, K, V, a = qkv(rng, n)
        agree(call(Q, K, V, a), table(Q, K, V, a), rtol=1e-6)


@exercise.check(points=0.25)
def recurrence_remembers_and_forgets(call, rng):
    """a = 1 gives sums over all earlier tokens, a = 0 the own token alone."""
    Q, K, V, _ = qkv(rng, 7)
    agree(call(Q, K, V, np.ones(7)), np.tril(Q @ K.T) @ V, rtol=1e-6, what="the outputs for a = 1")
    own = (Q * K).sum(axis=1)[:, None] * V
    agree(call(Q, K, V, np.zeros(7)), own, rtol=1e-6, what="the outputs for a = 0")
    long = fading(rng, 1280, 0.5)
    agree(call(*long), in_chunks(*long, 64), rtol=1e-6, what="the outputs of a long text")


@exercise.check(points=0.5)
def recurrence_is_linear(call, rng):
    """Work and memory of decay_recurrent grow like n."""
    grows(
        call,
        lambda n: (*qkv(rng, n, 16, 8)[:3], np.ones(n)),
        rows=lambda i, Q, K, V, a: in_chunks(Q, K, V, a, 32)[i],
        floor=lambda n: 4 * n * 16 * 8,
        sizes=(129, 258, 1251, 2502),  # it goes through them in Python
    )


@exercise.misconception
def own_token_fades(Q, K, V, a):
    """a_t acts on the old state, the new token enters fresh."""
    return in_chunks(Q, a[:, None] * K, V, a, 32)


@exercise.misconception
def factor_of_the_next_step(Q, K, V, a):
    """Between j and i stand the factors j + 1 … i."""
    return in_chunks(Q, K, V, np.append(a[1:], 1), 32)


@exercise.misconception
def nothing_fades(Q, K, V, a):
    """With a = 1 nothing is ever forgotten."""
    return in_chunks(Q, K, V, np.ones(len(a)), 32)


@exercise.misconception
def read_before_written(Q, K, V, a):
    """You read the state before the token is in it. A token sees itself."""
    own = (Q * K).sum(axis=1)[:, None] * V
    return in_chunks(Q, K, V, a, 32) - own


@exercise.misconception
def the_whole_table(Q, K, V, a):
    """You form all n × n products. The state is enough."""
    return table(Q, K, V, a)


@exercise.reference
def decay_quadratic(
    Q: Float[ndarray, "n d"],
    K: Float[ndarray, "n d"],
    V: Float[ndarray, "n d_v"],
    a: Float[ndarray, " n"],
) -> Float[ndarray, "n d_v"]:
    """The table of all pairs."""
    return table(Q, K, V, a)


@exercise.alternative
def by_cumulative_products(Q, K, V, a):
    """Column by column: 1 up to j, then the factors, multiplied up."""
    n = len(a)
    factors = np.where(np.tri(n, k=-1) > 0, a[:, None], 1.0)
    return (np.tril(np.cumprod(factors, axis=0)) * (Q @ K.T)) @ V


@exercise.alternative
def pair_by_pair(Q, K, V, a):
    """Every product by itself."""
    Y = np.zeros(V.shape)
    for i in range(len(a)):
        for j in range(i + 1):
            Y[i] += np.prod(a[j + 1 : i + 1]) * (Q[i] @ K[j]) * V[j]
    return Y


@exercise.alternative
def distance_by_distance(Q, K, V, a):
    """All pairs of one distance at once; each distance more brings one more factor."""
    n, Y = len(a), np.zeros(V.shape)
    stretch = np.ones(n)
    for lag in range(n):
        scores = stretch * (Q[lag:] * K[: n - lag]).sum(axis=1)
        Y[lag:] += scores[:, None] * V[: n - lag]
        stretch = stretch[:-1] * a[lag + 1 :]
    return Y


@exercise.check(points=0.75, visible=True)
def table_matches_the_recurrence(call, rng):
    """decay_quadratic gives what the recurrence gives."""
    for n in (1, 6, 11):
        Q, K, V, a = qkv(rng, n)
        agree(call(Q, K, V, a), decay_recurrent(Q, K, V, a), rtol=1e-6)


@exercise.check(points=0.5)
def table_stands_zeros_and_underflow(call, rng):
    """Factors of 0, and products too small for a number, leave decay_quadratic finite and right."""
    for inputs in (with_zeros(rng, 9), fading(rng, 300, 0.05)):
        agree(call(*inputs), decay_recurrent(*inputs), rtol=1e-6)


@exercise.misconception
def ratio_of_products(Q, K, V, a):
    """A product of a stretch is not safe as a ratio: multiply the stretch."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.cumprod(a)[:, None] / np.cumprod(a)
    return (np.where(np.tri(len(a)) > 0, ratio, 0) * (Q @ K.T)) @ V


@exercise.misconception
def own_column_fades(Q, K, V, a):
    """a_t acts on the old state, the new token enters fresh."""
    return (decays(a) * a * (Q @ K.T)) @ V


@exercise.misconception
def table_of_the_step_before(Q, K, V, a):
    """You begin with a_j and stop before a_i. What acts on a state when token i comes?"""
    return table(Q, K, V, np.append(1, a[:-1]))


@exercise.misconception
def not_masked(Q, K, V, a):
    """Pairs above the diagonal count for nothing: L is 0 there."""
    return ((decays(a) + np.triu(np.ones((len(a), len(a))), 1)) * (Q @ K.T)) @ V


@exercise.misconception
def table_without_decay(Q, K, V, a):
    """With a = 1 nothing is ever forgotten."""
    return np.tril(Q @ K.T) @ V


@exercise.reference
def decay_chunked(
    Q: Float[ndarray, "n d"],
    K: Float[ndarray, "n d"],
    V: Float[ndarray, "n d_v"],
    a: Float[ndarray, " n"],
    c: int,
) -> Float[ndarray, "n d_v"]:
    """A state between the chunks, a table within."""
    return in_chunks(Q, K, V, a, c)


@exercise.alternative
def products_from_behind(Q, K, V, a, c):
    """Decays to the end of a chunk by products from behind."""
    n, S = len(a), np.zeros((K.shape[1], V.shape[1]))
    Y = np.empty(V.shape)
    for s in range(0, n, c):
        part = slice(s, min(s + c, n))
        b = a[part]
        out = np.append(np.cumprod(b[:0:-1])[::-1], 1.0)
        Y[part] = table(Q[part], K[part], V[part], b) + np.cumprod(b)[:, None] * (Q[part] @ S)
        S = b.prod() * S + np.einsum("t,td,tv->dv", out, K[part], V[part])
    return Y


@exercise.alternative
def states_first(Q, K, V, a, c):
    """All states in a first pass, all outputs in a second one."""
    chunks = [tuple(x[s : s + c] for x in (Q, K, V, a)) for s in range(0, len(a), c)]
    S, states = np.zeros((K.shape[1], V.shape[1])), []
    for _, k, v, b in chunks:
        states.append(S)
        S = np.prod(b) * S + k.T @ (decays(b)[-1][:, None] * v)
    rows = [
        table(q, k, v, b) + (np.cumprod(b)[:, None] * q) @ S
        for (q, k, v, b), S in zip(chunks, states, strict=True)
    ]
    return np.vstack(rows)


@exercise.alternative
def all_chunks_at_once(Q, K, V, a, c):
    """Fill up the last chunk; only the state goes from chunk to chunk in a loop."""
    n = len(a)
    fill = -n % c
    q, k, v = (np.pad(x, ((0, fill), (0, 0))).reshape(-1, c, x.shape[1]) for x in (Q, K, V))
    b = np.append(a, np.ones(fill)).reshape(-1, c)
    later = np.tri(c, k=-1, dtype=bool)
    inside = np.tril(np.cumprod(np.where(later, b[:, :, None], 1.0), axis=1))
    into, new = np.cumprod(b, axis=1), np.einsum("ut,utd,utv->udv", inside[:, -1], k, v)
    S = np.zeros_like(new)
    for u in range(1, len(S)):
        S[u] = into[u - 1, -1] * S[u - 1] + new[u - 1]
    Y = (inside * np.einsum("utd,usd->uts", q, k)) @ v + into[..., None] * (q @ S)
    return Y.reshape(-1, V.shape[1])[:n]


@exercise.check(points=0.4, visible=True)
def chunks_match_the_recurrence(call, rng):
    """decay_chunked gives the same for chunks that fit, that don't, and of one token."""
    for n, c in ((12, 4), (11, 3), (11, 1)):
        Q, K, V, a = qkv(rng, n)
        agree(call(Q, K, V, a, c), decay_recurrent(Q, K, V, a), rtol=1e-6)


@exercise.check(points=0.35)
def one_chunk_is_the_table(call, rng):
    """With a chunk for all tokens, or a longer one, decay_chunked gives the table's outputs."""
    for c in (11, 20):
        Q, K, V, a = qkv(rng, 11)
        agree(call(Q, K, V, a, c), table(Q, K, V, a), rtol=1e-6)


@exercise.check(points=0.25)
def chunks_stand_zeros_and_underflow(call, rng):
    """Factors of 0, and products too small for a number, leave decay_chunked finite and right."""
    for inputs, c in ((with_zeros(rng, 12), 4), (fading(rng, 1280, 0.5), 64)):
        agree(call(*inputs, c), in_chunks(*inputs, 16), rtol=1e-6)  # a step for each takes long


@exercise.check(points=0.25)
def chunks_hide_what_is_to_come(call, rng):
    """A change of a later token changes no earlier output of decay_chunked, nor within a chunk."""
    Q, K, V, a = qkv(rng, 6)
    causal(lambda x: call(x, x, V, a, 6), Q, rng)
    causal(lambda x: call(Q, K, x, a, 6), V, rng)
    causal(lambda x: call(Q, K, x, a, 3), V, rng)


def apart(rng, n, c=32):
    """Chunks that hear nothing of the one before, and hardly of others: work alone is judged."""
    Q, K, V, _ = qkv(rng, n, 16, 8)
    own = (np.arange(n)[:, None] // c % 2) == np.arange(16) % 2
    return own * Q, own * K, V, np.where(np.arange(n) % c, 1.0, 1e-12), c


@exercise.check(points=0.25, after=chunks_hide_what_is_to_come)
def chunks_are_linear(call, rng):
    """With chunks of one length, work and memory of decay_chunked grow like n."""
    grows(
        call,
        lambda n: apart(rng, n),
        rows=lambda i, Q, K, V, a, c: in_chunks(Q, K, V, a, c)[i],
        floor=lambda n: 4 * n * 16 * 8,
    )


@exercise.misconception
def state_left_out(Q, K, V, a, c):
    """Every chunk also reads the state and adds to it."""
    pieces = [tuple(x[s : s + c] for x in (Q, K, V, a)) for s in range(0, len(a), c)]
    return np.concatenate([table(*piece) for piece in pieces])


@exercise.misconception
def state_read_undecayed(Q, K, V, a, c):
    """By row i the state has decayed by all factors of the chunk up to i."""
    S, parts = np.zeros((K.shape[1], V.shape[1])), []
    for s in range(0, len(V), c):
        q, k, v, b = (x[s : s + c] for x in (Q, K, V, a))
        parts.append(table(q, k, v, b) + q @ S)
        S = b.prod() * S + (decays(b)[-1][:, None] * k).T @ v
    return np.concatenate(parts)


@exercise.misconception
def chunk_added_undecayed(Q, K, V, a, c):
    """A token of the chunk decays from its own place to the chunk's end."""
    S, parts = np.zeros((K.shape[1], V.shape[1])), []
    for s in range(0, len(V), c):
        q, k, v, b = (x[s : s + c] for x in (Q, K, V, a))
        parts.append(table(q, k, v, b) + np.cumprod(b)[:, None] * (q @ S))
        S = b.prod() * S + k.T @ v
    return np.concatenate(parts)


@exercise.misconception
def chunks_of_the_step_before(Q, K, V, a, c):
    """You begin with a_j and stop before a_i. What acts on a state when token i comes?"""
    S, parts = np.zeros((K.shape[1], V.shape[1])), []
    for s in range(0, len(V), c):
        q, k, v, b = (x[s : s + c] for x in (Q, K, V, a))
        inside, into = decays(np.append(1, b[:-1])), np.cumprod(b)
        parts.append((inside * (q @ k.T)) @ v + into[:, None] * (q @ S))
        S = into[-1] * S + (inside[-1][:, None] * k).T @ v
    return np.concatenate(parts)


@exercise.misconception
def chunk_not_masked(Q, K, V, a, c):
    """Within a chunk, too, a token sees those up to itself: L is 0 above the diagonal."""
    Y = in_chunks(Q, K, V, a, c)
    for s in range(0, len(V), c):
        q, k, v = (x[s : s + c] for x in (Q, K, V))
        Y[s : s + c] += np.triu(q @ k.T, 1) @ v
    return Y


@exercise.misconception
def own_token_fades_in_chunks(Q, K, V, a, c):
    """a_t acts on the old state, the new token enters fresh."""
    return in_chunks(Q, a[:, None] * K, V, a, c)


@exercise.misconception
def ratios_within_chunks(Q, K, V, a, c):
    """A product of a stretch is not safe as a ratio: multiply the stretch."""
    S, parts = np.zeros((K.shape[1], V.shape[1])), []
    for s in range(0, len(V), c):
        q, k, v, b = (x[s : s + c] for x in (Q, K, V, a))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            into = np.cumprod(b)
            inside = np.where(np.tri(len(b)) > 0, into[:, None] / into, 0)
        parts.append((inside * (q @ k.T)) @ v + into[:, None] * (q @ S))
        S = into[-1] * S + (inside[-1][:, None] * k).T @ v
    return np.concatenate(parts)


@exercise.misconception
def one_chunk_for_all(Q, K, V, a, c):
    """You form all n × n products, as if there were one chunk."""
    return table(Q, K, V, a)


@exercise.part(points=1, answer=Count())
def ranks():
    """The rank of the block of L, and that of the block of L ∘ QKᵀ."""
    return [1, 3]


ranks.mistakes(
    full_ranks=(
        [3, 4],
        "Row i of that block is row 4 times a number. What does that say about its rank?",
    ),
    ranks_of_the_decays=(
        [1, 1],
        "A product with QKᵀ, entry by entry, multiplies the rank by at most that of QKᵀ.",
    ),
    ranks_of_the_whole=(
        [8, 8],
        "L itself has ones on its diagonal and full rank. Asked for is a block below it.",
    ),
    full_rank_of_the_product=(
        [1, 4],
        "The first one is right. The rank of the second is at most the product of two ranks.",
    ),
    rank_of_the_products=(
        [3, 3],
        "The second one is right. Row i of the first block is row 5 times a number.",
    ),
)


@exercise.part(points=1.5, answer=Formula("n c d"))
def madds():
    """The madds of the chunked form, without the decays."""
    return "2*n*c*d + 2*n*d^2"


madds.mistakes(
    madds_without_state=("2*n*c*d", "Every chunk also reads the state and adds to it."),
    madds_within_left_out=(
        "2*n*d^2",
        "Those are the madds of the state. Within a chunk all pairs are multiplied, twice.",
    ),
    state_read_alone=("2*n*c*d + n*d^2", "The state is read by each chunk, and renewed."),
    scores_alone=(
        "n*c*d + 2*n*d^2",
        "Within a chunk the table is multiplied with the values as well.",
    ),
    of_one_chunk=("2*c^2*d + 2*c*d^2", "That is one chunk. How many are there?"),
    whole_table=(
        "2*n^2*d",
        "That is the table of all tokens. Within a chunk a row has c entries, not n.",
    ),
    table_of_all_tokens=(
        "2*n^2*d + 2*n*d^2",
        "Within a chunk a row of the table has c entries, not n.",
    ),
    state_once_per_chunk=(
        "2*n*c*d + 2*n*d^2/c",
        "The state passes on once per chunk, but every token of a chunk reads it and adds to it.",
    ),
)


FIRST, SECOND = np.array([1, 0]), np.array([0.6, 0.8])
READING = np.stack([SECOND, FIRST])


@exercise.part(points=0.5, answer=Numbers())
def added():
    """What is read with the second key, then with the first, if both are added."""
    return READING @ (5 * FIRST + 4 * SECOND)


added.mistakes(
    no_overlap=(
        np.array([4.0, 5]),
        "The keys are not orthogonal: each reads a part of what the other one wrote.",
    ),
    values_added_up=(
        np.array([9.0, 5]),
        "You added both values. Equal keys would read all of that; these overlap in part.",
    ),
    overlap_one_way=(
        np.array([7.0, 5]),
        "The overlap works both ways: the first key reads a part of what the second one wrote.",
    ),
    overlap_the_other_way=(
        np.array([4, 7.4]),
        "The overlap works both ways: the second key reads a part of what the first one wrote.",
    ),
)


@exercise.part(points=0.5, answer=Numbers())
def corrected():
    """The same by the delta rule."""
    state = 5 * FIRST
    return READING @ (state + (4 - SECOND @ state) * SECOND)


corrected.mistakes(
    both_kept=(
        np.array([4.0, 5]),
        "The second key gets its value. But what it writes is read by the first key, too.",
    ),
    as_added=(
        np.array([7, 7.4]),
        "That is the plain sum. What does the state answer to the second key before you write?",
    ),
    difference_upside_down=(
        np.array([2, 4.4]),
        "You made the state answer less to the second key. Did it answer too much before?",
    ),
    whole_state_replaced=(
        np.array([4, 2.4]),
        "You wrote over everything. Only what the second key reads is corrected.",
    ),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "It is 0/0 where some factor is 0, and where products have become too small for a "
            "number.",
            "It needs $n^2$ divisions.",
            "It is wrong for $j = 0$.",
            "It is not causal.",
        ]
    ),
)
def why_no_ratio():
    """Why is L not computed as a ratio of cumulative products?"""
    return "A"


why_no_ratio.mistakes(
    too_many_divisions=("B", "L has n² entries, whichever way they are computed."),
    wrong_for_the_first=("C", "For j = 0 the ratio leaves out the factor 0, as it should."),
    not_causal=("D", "A mask makes any table causal."),
)
