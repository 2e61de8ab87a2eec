"""Decoding with cached keys and values gives what one causal pass gives.

Source: Pope et al. (2022), "Efficiently scaling transformer inference", section 2.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Choice, Exercise, agree, covers, within
from reference.helpers import ATTENTION, attention, merge_heads, split_heads

exercise = Exercise(
    "kv_equivalence",
    title="A cache changes nothing",
    source="Pope et al. (2022), section 2",
    minutes=85,
    hints=[
        "A cached step sees the keys that have come so far. Which rows of the whole matrix "
        "see no others?",
        "Append the new key and value first, then let the new query look at all of them, its "
        "own included.",
    ],
)


def rotate(x, positions):
    """Turn pairs of neighbouring columns, taken as complex numbers, by their position."""
    d = x.shape[-1]
    turns = np.exp(1j * np.outer(positions, 10000.0 ** (-np.arange(0, d, 2) / d)))
    pairs = (x[..., ::2] + 1j * x[..., 1::2]) * turns
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape).astype(x.dtype)


def offset_mask(t, total):
    """The last t of all positions may look at themselves and at everything before."""
    return np.arange(total) <= np.arange(total - t, total)[:, None]


@exercise.reference(without=ATTENTION)
class KVCache:
    """Causal self-attention that remembers keys and values."""

    def __init__(self, W: Float[ndarray, "4 d d"], h: int = 1, rope: bool = False):
        self.W, self.h, self.rope = W, h, rope
        self.reset()

    def reset(self):
        """Forget everything."""
        self.K = self.V = None

    @property
    def length(self):
        """How many tokens are in the cache."""
        return 0 if self.K is None else self.K.shape[2]

    def step(self, x: Float[ndarray, "b t d"]) -> Float[ndarray, "b t d"]:
        """Take in new tokens and return their outputs."""
        positions = self._positions(x)
        k, v = self._heads(x, 1, positions), self._heads(x, 2)
        self.K = k if self.K is None else np.concatenate([self.K, k], axis=2)
        self.V = v if self.V is None else np.concatenate([self.V, v], axis=2)
        q = self._heads(x, 0, positions)
        mask = self._mask(x.shape[1], self.K.shape[2])
        return merge_heads(attention(q, self.K, self.V, mask)[0]) @ self.W[3]

    def _positions(self, x):
        """Where the new tokens stand, if that matters."""
        first = 0 if self.K is None else self.K.shape[2]
        return first + np.arange(x.shape[1]) if self.rope else None

    def _heads(self, x, i, positions=None):
        """Project, split, and rotate if there are positions."""
        split = split_heads(x @ self.W[i], self.h)
        return split if positions is None else rotate(split, positions)

    def _mask(self, t, total):
        """What the last t of all positions may look at."""
        return offset_mask(t, total)


@exercise.alternative
class IntoABuffer(KVCache):
    """Write keys and values into arrays that are doubled where they are full."""

    def reset(self):
        """Forget everything."""
        self.used, self.room = 0, None

    @property
    def length(self):
        """How many tokens are in the cache."""
        return self.used

    def _positions(self, x):
        """Where the new tokens stand, if that matters."""
        return self.used + np.arange(x.shape[1]) if self.rope else None

    def step(self, x):
        """Take in new tokens and return their outputs."""
        B, t, d = x.shape
        new = slice(self.used, self.used + t)
        if self.room is None or new.stop > self.room.shape[3]:
            room = np.zeros((2, B, self.h, 2 * new.stop, d // self.h), x.dtype)
            if self.room is not None:
                room[:, :, :, : self.used] = self.room[:, :, :, : self.used]
            self.room = room
        positions = self._positions(x)
        self.room[0][:, :, new] = self._heads(x, 1, positions)
        self.room[1][:, :, new] = self._heads(x, 2)
        self.used = new.stop
        K, V = self.room[:, :, :, : self.used]
        out, _ = attention(self._heads(x, 0, positions), K, V, offset_mask(t, self.used))
        return merge_heads(out) @ self.W[3]


@exercise.alternative
class TokenByToken(KVCache):
    """Take a chunk apart and never need a mask."""

    def step(self, x):
        """Take in new tokens and return their outputs."""
        one = super().step
        return np.concatenate([one(x[:, i : i + 1]) for i in range(x.shape[1])], axis=1)


@exercise.alternative
class WithEinsum:
    """Name every axis; keep keys and values as lists of blocks, and the length as a number."""

    def __init__(self, W, h=1, rope=False):
        d = W.shape[-1]
        self.P, self.O, self.rope = W.reshape(4, d, h, d // h), W[3], rope
        self.reset()

    def reset(self):
        """Forget everything."""
        self.keys, self.values, self.length = [], [], 0

    def step(self, x):
        """Take in new tokens and return their outputs."""
        at = np.arange(self.length, self.length + x.shape[1])
        q, k, v = (np.einsum("btd,dhc->bhtc", x, self.P[i]) for i in range(3))
        if self.rope:
            q, k = rotate(q, at), rotate(k, at)
        self.keys.append(k)
        self.values.append(v)
        self.length += x.shape[1]
        S = np.einsum("bhic,bhjc->bhij", q, np.concatenate(self.keys, 2)) / q.shape[-1] ** 0.5
        A = np.exp(S) * (np.arange(self.length) <= at[:, None])
        A = A / A.sum(axis=-1, keepdims=True)
        o = np.einsum("bhij,bhjc->bihc", A, np.concatenate(self.values, 2))
        return o.reshape(x.shape) @ self.O


@exercise.alternative
class InSinglePrecision(KVCache):
    """The same in float32."""

    def __init__(self, W, h=1, rope=False):
        super().__init__(W.astype(np.float32), h, rope)

    def step(self, x):
        """Take in new tokens and return their outputs."""
        return super().step(x.astype(np.float32)).astype(np.float32)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "All of them, none excepted.",
            "None of them at all.",
            "The last one alone.",
        ]
    ),
)
def without_mask():
    """Which rows are right if a layer without causal mask is decoded with a cache?"""
    return "C"


without_mask.mistakes(
    cache_is_always_right=(
        "A",
        "What did row 0 look at when it was computed, and what would it look at now?",
    ),
    nothing_would_agree=(
        "B",
        "The newest query sees everything there is, with a mask or without. Is its row wrong?",
    ),
)


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "A new token changes the keys of the earlier ones, so that those in the cache "
            "are out of date.",
            "Earlier rows were given out before later tokens, which they should have seen, were "
            "there.",
            "A new token changes the queries of the earlier ones.",
            "The cache lacks keys or values that are needed.",
        ]
    ),
    after=without_mask,
)
def because():
    """Why?"""
    return "B"


because.mistakes(
    keys_would_change=(
        "A",
        "A key is a projection of its own token: in this layer none of them changes.",
    ),
    queries_would_change=(
        "C",
        "A query is a projection of its own token, too: it stays what it was.",
    ),
    cache_would_lack_something=(
        "D",
        "The cache holds the keys and values of all tokens, with a mask or without.",
    ),
)


def layer(rng, d, h, B=1, n=7):
    """Tokens and weights of a layer with h heads of even width."""
    return rng.normal(size=(B, n, d)), rng.normal(size=(4, d, d)) / np.sqrt(d)


def causal(x, W, h, rope=False):
    """One pass over all tokens, which is what decoding must reproduce."""
    return KVCache(W, h, rope).step(x)


def last(x, W, h):
    """The last row of that pass, which asks with one token alone."""
    q, k, v = (split_heads(part @ W[i], h) for i, part in enumerate((x[:, -1:], x, x)))
    return merge_heads(attention(q, k, v)[0]) @ W[3]


def fed(cache, x, *sizes):
    """The outputs of a cache that takes in the tokens in chunks of these sizes."""
    chunks = np.split(x, np.cumsum(sizes)[:-1], axis=1)
    return np.concatenate([cache.step(chunk) for chunk in chunks], axis=1)


@exercise.check(points=1, visible=True)
def one_by_one(call, rng):
    """Seven tokens decoded one by one give every row of the causal pass; the cache holds seven."""
    x, W = layer(rng, 4, 1)
    cache = call.make(W)
    agree(fed(cache, x, *[1] * 7), causal(x, W, 1))
    agree(cache.length, 7, what="the length", credit=0.75)


@exercise.check(points=1, after=one_by_one)
def chunks_of_any_size(call, rng):
    """A prefill of four and a chunk of three, chunks of three, or all at once: the same rows."""
    x, W = layer(rng, 6, 1)
    for sizes in ((4, 3), (3, 3, 1), (7,), (1, 5, 1)):
        cache = call.make(W)
        agree(fed(cache, x, *sizes), causal(x, W, 1))
        agree(cache.length, 7, what="the length", credit=0.75)


@exercise.check(points=0.5, after=one_by_one)
def heads_and_batch(call, rng):
    """Works for several heads; every example, and every cache, keeps to itself."""
    x, W = layer(rng, 8, 2, B=3)
    cache, other = call.make(W, 2), call.make(W[::-1], 2)
    other.step(x)
    agree(fed(cache, x, *[1] * 7), causal(x, W, 2))


@exercise.check(points=1, after=one_by_one)
def positions_continue(call, rng):
    """With rotated queries and keys the positions go on where the cache ends."""
    x, W = layer(rng, 8, 2)
    for sizes in ([4, 1, 1, 1], [1] * 7):
        agree(fed(call.make(W, 2, rope=True), x, *sizes), causal(x, W, 2, True))


@exercise.check(points=0.5, after=one_by_one)
def reset_forgets(call, rng):
    """After reset() the cache is empty: what was decoded before has no effect."""
    x, W = layer(rng, 4, 1)
    cache = call.make(W)
    cache.step(rng.normal(size=(1, 3, 4)))
    cache.reset()
    length = cache.length
    agree(fed(cache, x, *[1] * 7), causal(x, W, 1))
    agree(length, 0, what="the length of an empty cache")


WIDTH, HEADS = 16, 8
NARROW = 2.0  # how many times the necessary work a step may do; honest code does 1.4 times


def needed(t):
    """The FLOPs of step t: four projections, two products, and a softmax for every head."""
    return 8 * WIDTH**2 + (4 * WIDTH + 8 * HEADS) * t


def one_step(call, rng, t):
    """The work of step t: of a cache that has taken in a prompt, and then a token."""
    x, W = layer(rng, WIDTH, HEADS, n=t)
    cache = call.make(W, HEADS)
    cache.step(x[:, : t - 2])
    cache.step(x[:, t - 2 : t - 1])
    work = cache.step.work(x[:, t - 1 :])
    agree(work.value, last(x, W, HEADS))
    covers(work, 8 * WIDTH**2)
    return work


@exercise.check(points=1.5, after=one_by_one)
def step_is_linear(call, rng):
    """A step projects its own token alone, and its further work grows with t, not with t²."""
    times = (48, 144, 432)
    works = [one_step(call, rng, t) for t in times]
    early, middle, late = (work.flops for work in works)
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
    within(
        call,
        "entries of the largest array of a step at t = 432 / those of keys and values",
        works[-1].largest / (2 * times[2] * WIDTH),
        4.0,
        "a step makes an array that grows with t²",
        kind="masks",
    )


@exercise.check(points=0.5, after=step_is_linear)
def memory_is_linear(call, rng):
    """What is kept from step to step grows with the number of tokens, not with its square."""
    few, many = (one_step(call, rng, n) for n in (96, 288))
    within(
        call,
        "exponent of the memory from 96 tokens to 288",
        np.log(many.peak / few.peak) / np.log(3),
        1.4,
        "more than keys and values is kept: the memory grows faster than the number of tokens",
        kind="kept" if many.flops < NARROW * needed(288) else "all rows",
    )


class Tokens(KVCache):
    """A cache that keeps the tokens instead."""

    def reset(self):
        """Forget everything."""
        self.x = None

    @property
    def length(self):
        """How many tokens are in the cache."""
        return 0 if self.x is None else self.x.shape[1]

    def _positions(self, x):
        """Where the new tokens stand, if that matters."""
        return self.length + np.arange(x.shape[1]) if self.rope else None

    def _seen(self, x):
        """All tokens so far, the new ones last."""
        self.x = x if self.x is None else np.concatenate([self.x, x], axis=1)
        return self.x


@exercise.misconception
class AllRowsAgain(Tokens):
    """Each step computes the rows of all earlier queries again. Which of them is new?"""

    def step(self, x):
        """Take in new tokens and return their outputs."""
        return causal(self._seen(x), self.W, self.h, self.rope)[:, -x.shape[1] :]


@exercise.misconception
class PrefixProjectedAgain(Tokens):
    """Each step projects the whole prefix again. Keep keys and values, not the tokens."""

    def step(self, x):
        """Take in new tokens and return their outputs."""
        at, t = self._positions(x), x.shape[1]
        tokens = self._seen(x)
        every = None if at is None else np.arange(tokens.shape[1])
        k, v = self._heads(tokens, 1, every), self._heads(tokens, 2)
        out, _ = attention(self._heads(x, 0, at), k, v, offset_mask(t, tokens.shape[1]))
        return merge_heads(out) @ self.W[3]


@exercise.misconception
class WholeBufferRead(KVCache):
    """Each step reads a buffer for hundreds of tokens, however few are in it."""

    def reset(self):
        """Forget everything."""
        self.used = 0

    @property
    def length(self):
        """How many tokens are in the cache."""
        return self.used

    def step(self, x):
        """Take in new tokens and return their outputs."""
        room = 512
        if not self.used:
            self.K, self.V = np.zeros((2, len(x), self.h, room, x.shape[-1] // self.h))
        at = np.arange(self.used, self.used + x.shape[1])
        positions = at if self.rope else None
        self.K[:, :, at], self.V[:, :, at] = self._heads(x, 1, positions), self._heads(x, 2)
        self.used += x.shape[1]
        q = self._heads(x, 0, positions)
        out, _ = attention(q, self.K, self.V, np.arange(room) <= at[:, None])
        return merge_heads(out) @ self.W[3]


@exercise.misconception
class MaskOfEverything(KVCache):
    """Each step makes a t × t mask to use its last row. A single new token needs no mask at all."""

    def _mask(self, t, total):
        """Make them all."""
        return np.tril(np.ones((total, total), bool))[total - t :]


@exercise.misconception
class WeightsKept(KVCache):
    """You keep the weights of every step: together they are the t × t matrix. Nobody needs them."""

    def reset(self):
        """Forget everything."""
        super().reset()
        self.kept = []

    def step(self, x):
        """Take in new tokens and return their outputs."""
        out = super().step(x)
        self.kept.append(np.ones((len(x), self.h, x.shape[1], self.length)))
        return out


@exercise.misconception
class WindowOfKeys(KVCache):
    """The cache holds the newest keys alone. Every token attends to all tokens before it."""

    def _mask(self, t, total):
        """Allow the newest 32."""
        return offset_mask(t, total) & ~np.tril(np.ones((t, total), bool), total - t - 32)


@exercise.misconception(credit=0.4)
class TopLeftMask(KVCache):
    """In a chunk your mask starts at the first key. Row i of it is position (cached + i)."""

    def _mask(self, t, total):
        """Begin at the first key."""
        return np.tril(np.ones((t, total), bool))


@exercise.misconception
class NoMaskInAChunk(KVCache):
    """Tokens of a chunk see later tokens of the same chunk. Each may look back only."""

    def _mask(self, t, total):
        """Allow everything."""
        return np.ones((t, total), bool)


@exercise.misconception(fatal="nothing is cached")
class CacheNeverRead(KVCache):
    """Each chunk attends to itself alone: the cached keys and values take no part."""

    def _mask(self, t, total):
        """Allow what is in the chunk."""
        return offset_mask(t, total) & (np.arange(total) >= total - t)


@exercise.misconception
class NewestKeyLeftOut(KVCache):
    """You attend before the new key is stored. A token also looks at itself."""

    def _mask(self, t, total):
        """Allow what comes before."""
        return np.arange(total) < np.arange(total - t, total)[:, None]


@exercise.misconception
class PositionsRestart(KVCache):
    """Your positions start again at 0 in every step. They go on where the cache ends."""

    def _positions(self, x):
        """Count from 0."""
        return np.arange(x.shape[1]) if self.rope else None


@exercise.misconception
class PositionsIgnored(KVCache):
    """With `rope=True` nothing is rotated."""

    def _positions(self, x):
        """Rotate nothing."""


@exercise.misconception
class ValuesRotatedToo(KVCache):
    """You rotated the values. Positions enter the scores: queries and keys are rotated."""

    def _heads(self, x, i, positions=None):
        """Rotate values as well."""
        return super()._heads(x, i, self._positions(x) if i == 2 else positions)


@exercise.misconception(credit=0.4)
class WholeWidthUnderTheRoot(KVCache):
    """You divided the scores by √d. A head's keys have the width d/h."""

    def _heads(self, x, i, positions=None):
        """Make the queries too short."""
        found = super()._heads(x, i, positions)
        return found / np.sqrt(self.h) if i == 0 else found


@exercise.misconception
class OneHeadOnly(KVCache):
    """The number of heads has no effect: split the columns into h groups before attending."""

    def __init__(self, W, h=1, rope=False):
        super().__init__(W, 1, rope)


@exercise.misconception
class FirstExampleCached(KVCache):
    """All examples attend to the cache of the first one. Keep the axis of the batch."""

    def _heads(self, x, i, positions=None):
        """Keep the first example's keys and values."""
        return super()._heads(x[:1] if i else x, i, positions)


@exercise.misconception
class OutputNotProjected(KVCache):
    """The fourth matrix, W_O, is never used: it comes after the heads are joined."""

    def __init__(self, W, h=1, rope=False):
        super().__init__(np.stack([*W[:3], np.eye(W.shape[-1])]), h, rope)


@exercise.misconception
class StepsCounted(KVCache):
    """`length` counts your calls. A chunk adds as many tokens as it has."""

    def reset(self):
        """Forget everything."""
        super().reset()
        self.steps = 0

    def step(self, x):
        """Take in new tokens and return their outputs."""
        self.steps += 1
        return super().step(x)

    @property
    def length(self):
        """The calls."""
        return self.steps


@exercise.misconception
class NothingForgotten(KVCache):
    """reset() leaves keys and values in the cache."""

    K = V = None

    def reset(self):
        """Do nothing."""


@exercise.misconception
class LengthNotReset(KVCache):
    """reset() leaves `length` as it was. An empty cache has the length 0."""

    total = 0

    def step(self, x):
        """Take in new tokens and return their outputs."""
        self.total += x.shape[1]
        return super().step(x)

    @property
    def length(self):
        """All tokens that ever came."""
        return self.total
