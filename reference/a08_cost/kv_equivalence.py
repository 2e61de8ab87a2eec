"""Decoding with cached keys and values gives what one causal pass gives.

Source: Pope et al. (2022), "Efficiently scaling transformer inference", section 2.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Choice, Exercise, agree, covers, within
from reference.helpers import attention, merge_heads, split_heads

exercise = Exercise(
    "kv_equivalence", title="A cache changes nothing", source="Pope et al. (2022), section 2"
)


def rotate(x, positions):
    """Turn pairs of neighbouring columns, taken as complex numbers, by their position."""
    d = x.shape[-1]
    turns = np.exp(1j * np.outer(positions, 10000.0 ** (-np.arange(0, d, 2) / d)))
    pairs = (x[..., ::2] + 1j * x[..., 1::2]) * turns
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape).astype(x.dtype)


def attend(q, k, v, allowed):
    """The outputs alone."""
    return attention(q, k, v, allowed)[0]


def offset_mask(t, total):
    """The last t of all positions may look at themselves and at everything before."""
    return np.arange(total) <= np.arange(total - t, total)[:, None]


def keys_and_values(x, W, h, positions):
    """Keys and values of new tokens, heads apart, the keys rotated if there are positions."""
    k, v = split_heads(x @ W[1], h), split_heads(x @ W[2], h)
    return (k if positions is None else rotate(k, positions)), v


def queries(x, W, h, positions):
    """Queries of new tokens."""
    q = split_heads(x @ W[0], h)
    return q if positions is None else rotate(q, positions)


def as_they_are(k, v, _positions):
    """What goes into the cache: keys and values."""
    return k, v


def fed(chunks, W, h, rope, mask=offset_mask, restart=False, keep=as_they_are):
    """Step through the chunks with a growing cache; ``keep`` says what goes into it."""
    K = V = np.zeros((len(chunks[0]), h, 0, W.shape[-1] // h))
    outputs = []
    for x in chunks:
        first, t = (0 if restart else K.shape[2]), x.shape[1]
        positions = np.arange(first, first + t) if rope else None
        k, v = keep(*keys_and_values(x, W, h, positions), positions)
        K, V = np.concatenate([K, k], axis=2), np.concatenate([V, v], axis=2)
        q = queries(x, W, h, positions)
        outputs.append(merge_heads(attend(q, K, V, mask(t, K.shape[2]))) @ W[3])
    return np.concatenate(outputs, axis=1), K.shape[2]


@exercise.reference
def decode(
    chunks: list,
    W: Float[ndarray, "4 d d"],
    h: int = 1,
    rope: bool = False,
    before: Float[ndarray, "b t d"] | None = None,
) -> tuple[Float[ndarray, "b n d"], int]:
    """Feed ``chunks`` to a cache; return all outputs, and how many tokens it holds."""
    return fed(chunks, W, h, rope)


@exercise.alternative
def into_a_buffer(chunks, W, h=1, rope=False, before=None):
    """Write keys and values into arrays that are large enough from the start."""
    B, d, room = len(chunks[0]), W.shape[-1], sum(x.shape[1] for x in chunks)
    K, V = np.zeros((2, B, h, room, d // h), chunks[0].dtype)
    outputs, used = [], 0
    for x in chunks:
        new = slice(used, used + x.shape[1])
        positions = np.arange(room)[new] if rope else None
        K[:, :, new], V[:, :, new] = keys_and_values(x, W, h, positions)
        used = new.stop
        allowed = offset_mask(x.shape[1], used)
        q = queries(x, W, h, positions)
        outputs.append(merge_heads(attend(q, K[:, :, :used], V[:, :, :used], allowed)) @ W[3])
    return np.concatenate(outputs, axis=1), used


@exercise.alternative
def token_by_token(chunks, W, h=1, rope=False, before=None):
    """Take a chunk apart and never need a mask."""
    tokens = [x[:, i : i + 1] for x in chunks for i in range(x.shape[1])]
    return fed(tokens, W, h, rope)


@exercise.alternative
def with_einsum(chunks, W, h=1, rope=False, before=None):
    """Name every axis; keep keys and values as lists of blocks."""
    B, d = len(chunks[0]), W.shape[-1]
    P = W.reshape(4, d, h, d // h)
    keys, values, outputs, used = [], [], [], 0
    for x in chunks:
        at = np.arange(used, used + x.shape[1])
        used += x.shape[1]
        q, k, v = (np.einsum("btd,dhc->bhtc", x, P[i]) for i in range(3))
        keys.append(rotate(k, at) if rope else k)
        values.append(v)
        q = rotate(q, at) if rope else q
        S = np.einsum("bhic,bhjc->bhij", q, np.concatenate(keys, 2)) / (d // h) ** 0.5
        A = np.exp(S) * (np.arange(used) <= at[:, None])
        A = A / A.sum(axis=-1, keepdims=True)
        o = np.einsum("bhij,bhjc->bihc", A, np.concatenate(values, 2)).reshape(B, -1, d)
        outputs.append(o @ W[3])
    return np.concatenate(outputs, axis=1), used


@exercise.alternative
def in_single_precision(chunks, W, h=1, rope=False, before=None):
    """The same in float32."""
    outputs, length = fed([x.astype(np.float32) for x in chunks], W.astype(np.float32), h, rope)
    return outputs.astype(np.float32), length


@exercise.part(points=1, answer=Choice("ABCD"))
def without_mask():
    """May a layer without causal mask be decoded with a cache?"""
    return "C"


@without_mask.misconception()
def cache_is_always_right():
    """What did row 0 look at when it was computed, and what would it look at now?"""
    return "A"


@without_mask.misconception()
def keys_would_change():
    """A key is a projection of its own token: in this layer none of them changes."""
    return "B"


@without_mask.misconception()
def nothing_would_agree():
    """The newest query sees everything there is, with a mask or without. Is its row wrong?"""
    return "D"


def layer(rng, d, h, B=1, n=7):
    """Tokens and weights of a layer with h heads of even width."""
    return rng.normal(size=(B, n, d)), rng.normal(size=(4, d, d)) / np.sqrt(d)


def cut(x, *sizes):
    """The chunks of so many tokens."""
    return np.split(x, np.cumsum(sizes)[:-1], axis=1)


def causal(x, W, h, rope=False):
    """One pass over all tokens, which is what decoding must reproduce."""
    return fed([x], W, h, rope)


@exercise.check(points=1, visible=True)
def one_by_one(call, rng):
    """Seven tokens decoded one by one give every row of the causal pass; the cache holds seven."""
    x, W = layer(rng, 4, 1)
    agree(call(cut(x, *[1] * 7), W), causal(x, W, 1))


@exercise.check(points=1, after=one_by_one)
def chunks_of_any_size(call, rng):
    """A prefill of four and a chunk of three, chunks of three, or all at once: the same rows."""
    x, W = layer(rng, 6, 1)
    for sizes in ((4, 3), (3, 3, 1), (7,), (1, 5, 1)):
        agree(call(cut(x, *sizes), W), causal(x, W, 1))


@exercise.check(points=0.5, after=one_by_one)
def heads_and_batch(call, rng):
    """Works for several heads, and every example of a batch has a cache of its own."""
    x, W = layer(rng, 8, 2, B=3)
    agree(call(cut(x, *[1] * 7), W, 2), causal(x, W, 2))


@exercise.check(points=1, after=one_by_one)
def positions_continue(call, rng):
    """With rotated queries and keys the positions go on where the cache ends."""
    x, W = layer(rng, 8, 2)
    for sizes in ([4, 1, 1, 1], [1] * 7):
        agree(call(cut(x, *sizes), W, 2, rope=True), causal(x, W, 2, True))


@exercise.check(points=0.5, after=one_by_one)
def reset_forgets(call, rng):
    """After reset() the cache is empty: what was decoded before has no effect."""
    x, W = layer(rng, 4, 1)
    before = rng.normal(size=(1, 3, 4))
    answer = call(cut(x, *[1] * 7), W, before=before)
    agree(answer, causal(x, W, 1))


WIDTH, HEADS = 16, 8
NARROW = 2.0  # how many times the necessary work a step may do; honest code does 1.4 times


def needed(t):
    """The FLOPs of step t: four projections, two products, and a softmax for every head."""
    return 8 * WIDTH**2 + (4 * WIDTH + 8 * HEADS) * t


def step_flops(call, rng, t):
    """The FLOPs of step t: those of a prompt and that step, less those of the prompt."""
    x, W = layer(rng, WIDTH, HEADS, n=t)
    flops = []
    for sizes in ((t - 1,), (t - 1, 1)):
        n = sum(sizes)
        work = call.work(cut(x[:, :n], *sizes), W, HEADS)
        agree(work.value, causal(x[:, :n], W, HEADS))
        covers(work, n * 8 * WIDTH**2)
        flops.append(work.flops)
    return flops[1] - flops[0]


@exercise.check(points=1.5, after=one_by_one)
def step_is_linear(call, rng):
    """A step projects its own token alone, and its further work grows with t, not with t²."""
    times = (48, 144, 432)
    early, middle, late = (step_flops(call, rng, t) for t in times)
    first, second = (
        (middle - early) / (times[1] - times[0]),
        (late - middle) / (times[2] - times[1]),
    )
    within(
        call,
        "how much more a cached token costs at t = 432 than at t = 144",
        second / max(first, 1),
        1.4,
        "the work of a step grows faster than its number t",
        kind="all rows" if late > 20 * needed(times[2]) else "masks",
    )
    within(
        call,
        "work of a step at t = 432 / what it needs",
        late / needed(times[2]),
        NARROW,
        "each cached token costs a step too much work",
        kind="projections",
    )
    within(
        call,
        "work of a step at t = 48 / what it needs",
        early / needed(times[0]),
        NARROW,
        "every step does far more work than its t needs",
        kind="constant",
    )


@exercise.check(points=0.5, after=step_is_linear)
def memory_is_linear(call, rng):
    """What is kept from step to step grows with the number of tokens, not with its square."""
    peaks = []
    for n in (96, 288):
        x, W = layer(rng, WIDTH, HEADS, n=n)
        work = call.work(cut(x, *[1] * n), W, HEADS)
        agree(work.value, causal(x, W, HEADS))
        covers(work, n * 8 * WIDTH**2)
        peaks.append(work.peak)
    within(
        call,
        "exponent of the memory from 96 tokens to 288",
        np.log(peaks[1] / peaks[0]) / np.log(3),
        1.4,
        "more than keys and values is kept: the memory grows faster than the number of tokens",
        kind="kept" if work.flops < NARROW * sum(map(needed, range(1, n + 1))) else "all rows",
    )


@exercise.misconception
def all_rows_again(chunks, W, h=1, rope=False, before=None):
    """Each step computes the rows of all earlier queries again. Which of them is new?"""
    x = np.concatenate(chunks, axis=1)
    rows, n = [], 0
    for chunk in chunks:
        n += chunk.shape[1]
        rows.append(causal(x[:, :n], W, h, rope)[0][:, -chunk.shape[1] :])
    return np.concatenate(rows, axis=1), n


@exercise.misconception
def prefix_projected_again(chunks, W, h=1, rope=False, before=None):
    """Each step projects the whole prefix again. Keep keys and values, not the tokens."""
    x = np.concatenate(chunks, axis=1)
    rows, n = [], 0
    for chunk in chunks:
        t = chunk.shape[1]
        n += t
        positions = np.arange(n) if rope else None
        k, v = keys_and_values(x[:, :n], W, h, positions)
        q = queries(chunk, W, h, positions[-t:] if rope else None)
        rows.append(merge_heads(attend(q, k, v, offset_mask(t, n))) @ W[3])
    return np.concatenate(rows, axis=1), n


@exercise.misconception
def whole_buffer_read(chunks, W, h=1, rope=False, before=None):
    """Each step reads a buffer for hundreds of tokens, however few are in it."""
    room = 512
    K, V = np.zeros((2, len(chunks[0]), h, room, W.shape[-1] // h))
    rows, n = [], 0
    for x in chunks:
        at = np.arange(n, n + x.shape[1])
        positions = at if rope else None
        K[:, :, at], V[:, :, at] = keys_and_values(x, W, h, positions)
        n += x.shape[1]
        q = queries(x, W, h, positions)
        rows.append(merge_heads(attend(q, K, V, np.arange(room) <= at[:, None])) @ W[3])
    return np.concatenate(rows, axis=1), n


@exercise.misconception
def mask_of_everything(chunks, W, h=1, rope=False, before=None):
    """Each step makes a t × t mask to use its last row. A single new token needs no mask at all."""
    return fed(
        chunks, W, h, rope, lambda t, total: np.tril(np.ones((total, total), bool))[total - t :]
    )


@exercise.misconception
def weights_kept(chunks, W, h=1, rope=False, before=None):
    """You keep the weights of every step: together they are the t × t matrix. Nobody needs them."""
    outputs, n = fed(chunks, W, h, rope)
    kept = [np.ones((len(x), h, 1, i)) for i, x in enumerate(chunks, start=1)]
    return outputs + 0 * kept[0][0, 0, 0, 0], n


@exercise.misconception
def window_of_keys(chunks, W, h=1, rope=False, before=None):
    """The cache holds the newest keys alone. Every token attends to all tokens before it."""

    def newest(t, total):
        allowed = offset_mask(t, total)
        return allowed & ~np.tril(np.ones((t, total), bool), total - t - 32)

    return fed(chunks, W, h, rope, newest)


@exercise.misconception
def top_left_mask(chunks, W, h=1, rope=False, before=None):
    """In a chunk your mask starts at the first key. Row i of it is position (cached + i)."""
    return fed(chunks, W, h, rope, lambda t, total: np.tril(np.ones((t, total), bool)))


@exercise.misconception
def no_mask_in_a_chunk(chunks, W, h=1, rope=False, before=None):
    """Tokens of a chunk see later tokens of the same chunk. Each may look back only."""
    return fed(chunks, W, h, rope, lambda t, total: np.ones((t, total), bool))


@exercise.misconception
def cache_never_read(chunks, W, h=1, rope=False, before=None):
    """Each chunk attends to itself alone: the cached keys and values take no part."""
    alone = [fed([x], W, h, rope) for x in chunks]
    return np.concatenate([o for o, _ in alone], axis=1), sum(n for _, n in alone)


@exercise.misconception
def newest_key_left_out(chunks, W, h=1, rope=False, before=None):
    """You attend before the new key is stored. A token also looks at itself."""
    outputs, n = fed(
        chunks, W, h, rope, lambda t, total: np.arange(total) < np.arange(total - t, total)[:, None]
    )
    return np.nan_to_num(outputs), n


@exercise.misconception
def positions_restart(chunks, W, h=1, rope=False, before=None):
    """Your positions start again at 0 in every step. They go on where the cache ends."""
    return fed(chunks, W, h, rope, restart=True)


@exercise.misconception
def positions_ignored(chunks, W, h=1, rope=False, before=None):
    """With `rope=True` nothing is rotated."""
    return fed(chunks, W, h, False)


@exercise.misconception
def values_rotated_too(chunks, W, h=1, rope=False, before=None):
    """You rotated the values. Positions enter the scores: queries and keys are rotated."""
    return fed(chunks, W, h, rope, keep=lambda k, v, at: (k, v if at is None else rotate(v, at)))


@exercise.misconception
def one_head_only(chunks, W, h=1, rope=False, before=None):
    """The number of heads has no effect: split the columns into h groups before attending."""
    return fed(chunks, W, 1, rope)


@exercise.misconception
def first_example_cached(chunks, W, h=1, rope=False, before=None):
    """All examples attend to the cache of the first one. Keep the axis of the batch."""

    def of_the_first(k, v, _positions):
        return np.broadcast_to(k[:1], k.shape), np.broadcast_to(v[:1], v.shape)

    return fed(chunks, W, h, rope, keep=of_the_first)


@exercise.misconception
def output_not_projected(chunks, W, h=1, rope=False, before=None):
    """The fourth matrix, W_O, is never used: it comes after the heads are joined."""
    return fed(chunks, np.stack([*W[:3], np.eye(W.shape[-1])]), h, rope)


@exercise.misconception
def steps_counted(chunks, W, h=1, rope=False, before=None):
    """`length` counts your calls. A chunk adds as many tokens as it has."""
    return fed(chunks, W, h, rope)[0], len(chunks)


@exercise.misconception
def nothing_forgotten(chunks, W, h=1, rope=False, before=None):
    """reset() leaves keys and values in the cache."""
    if before is None:
        return fed(chunks, W, h, rope)
    outputs, n = fed([before, *chunks], W, h, rope)
    return outputs[:, before.shape[1] :], n


@exercise.misconception
def length_not_reset(chunks, W, h=1, rope=False, before=None):
    """reset() leaves `length` as it was. An empty cache has the length 0."""
    outputs, n = fed(chunks, W, h, rope)
    return outputs, n if before is None else n + before.shape[1]
