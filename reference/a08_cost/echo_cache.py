"""A trained model that writes with one's own cache, and what that saves.

Source: Pope et al. (2022), "Efficiently scaling transformer inference", section 2; Shazeer (2019),
"Fast transformer decoding", section 2.4.
"""

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from autograder.exercise import Count, Exercise, agree, covers, data_file, within
from reference.helpers import (
    ATTENTION,
    attention,
    echo_layers,
    merge_heads,
    rms_norm,
    rotated,
    small_model,
    split_heads,
    swiglu,
)

exercise = Exercise(
    "echo_cache",
    title="Your own cache writes",
    source="Pope et al. (2022), section 2",
    minutes=50,
    hints=[
        "Each layer has a cache of its own: its keys and values are made from the stream that "
        "reaches it.",
        "A step is the whole model for the new symbols alone. Only scores and values reach back.",
        "For the counts write down which symbols are read, and which keys each of them sees. Is "
        "the last symbol that is written ever read?",
    ],
)

LETTERS = "^ABCDEFGHIJ"
ECHO = {name: w.astype(float) for name, w in np.load(data_file("a08_cost/echo.npz")).items()}
WEIGHTS, PER_KEY = 5296, 64  # madds of the model's matrices for a symbol, and of a query for a key


@exercise.variant
def draw(rng):
    """prompt: `^` and two letters; steps: how many letters are written."""
    while True:
        prompt = "^" + "".join(rng.choice(list(LETTERS[1:]), 2, replace=False))
        steps = int(rng.integers(9, 15))
        if np.diff(np.sort(logits_on_the_way(prompt, steps))[:, -2:]).min() > 0.02:
            return {"prompt": prompt, "steps": steps}


def read(sentence):  # given
    """The ids of a sentence."""
    return np.array([LETTERS.index(letter) for letter in sentence])


@exercise.reference(without=ATTENTION)
class EchoCache:
    """The whole model, which remembers keys and values of every layer."""

    def __init__(self, model: dict):
        self.model, self.length = model, 0
        self.kept = [None] * len(model["wq"])

    def step(self, ids: Int[ndarray, " t"]) -> Float[ndarray, "t V"]:
        """Take in new symbols and return their logits."""
        at = self.length + np.arange(len(ids))
        self.length += len(ids)
        x = self.model["embed"][ids]
        for layer, w in enumerate(echo_layers(self.model)):
            x = x + self._attend(layer, rms_norm(x, w["norm1"]), w, at)
            x = x + swiglu(rms_norm(x, w["norm2"]), w)
        return rms_norm(x, self.model["norm"]) @ self.model["unembed"]

    def _attend(self, layer, y, w, at):
        """Let the new symbols look at what the cache holds, with theirs in it."""
        q, *new = self._heads(y, w, at)
        old = self.kept[layer]
        k, v = (
            new if old is None else (np.concatenate(pair, 1) for pair in zip(old, new, strict=True))
        )
        self.kept[layer] = k, v
        out, _ = attention(q, k, v, self._mask(at, k.shape[1]))
        return merge_heads(out) @ w["wo"]

    def _joined(self, old, new):
        """Keys and values, the new ones behind the old."""
        pairs = zip(old, new, strict=True) if old else ()
        return [np.concatenate(pair, axis=1) for pair in pairs] or new

    def _heads(self, y, w, at):
        """Queries, keys and values of the new symbols."""
        q, k, v = (split_heads(y @ w[name], 2) for name in ("wq", "wk", "wv"))
        return rotated(q, at), rotated(k, at), v

    def _mask(self, at, total):
        """What the new symbols may look at."""
        return np.arange(total) <= at[:, None]


@exercise.alternative
class IntoOneBuffer:
    """One array for all layers, keys and values, which grows by doubling; loops over heads."""

    def __init__(self, model):
        self.w, self.length = model, 0
        L, d, _ = model["wq"].shape
        self.room = np.zeros((L, 2, 8, d))

    def step(self, ids):
        """Take in new symbols and return their logits."""
        w, old, new = self.w, self.length, self.length + len(ids)
        while new > self.room.shape[2]:
            self.room = np.concatenate([self.room, np.zeros_like(self.room)], axis=2)
        d = w["embed"].shape[1]
        half, at, x = d // 2, np.arange(old, new), np.take(w["embed"], ids, axis=0)
        turns = np.exp(1j * np.outer(at, 100.0 ** (-np.arange(0, half, 2) / half)))
        size = lambda x: np.sqrt((x**2).mean(-1)[:, None] + 1e-5)  # noqa: E731
        for i in range(len(self.room)):
            y = x / size(x) * w["norm1"][i]
            self.room[i, 1, old:new] = y @ w["wv"][i]
            for first in (0, half):
                own = slice(first, first + half)
                q, k = ((y @ w[name][i][:, own]).reshape(len(ids), -1, 2) for name in ("wq", "wk"))
                q, k = ((z[..., 0] + 1j * z[..., 1]) * turns for z in (q, k))
                self.room[i, 0, old:new, own] = np.stack([k.real, k.imag], -1).reshape(-1, half)
                q = np.stack([q.real, q.imag], -1).reshape(-1, half)
                S = q @ self.room[i, 0, :new, own].T / half**0.5
                S[at[:, None] < np.arange(new)] = -np.inf
                E = np.exp(S - S.max(axis=1)[:, None])
                x = x + E / E.sum(axis=1)[:, None] @ self.room[i, 1, :new, own] @ w["wo"][i][own]
            y = x / size(x) * w["norm2"][i]
            z = y @ w["gate"][i]
            x = x + (z / (1 + np.exp(-z)) * (y @ w["up"][i])) @ w["down"][i]
        self.length = new
        return x / size(x) * w["norm"] @ w["unembed"]


@exercise.alternative
class SymbolBySymbol(EchoCache):
    """Take a chunk apart and never need a mask."""

    def step(self, ids):
        """Take in new symbols and return their logits."""
        one = super().step
        return np.concatenate([one(ids[i : i + 1]) for i in range(len(ids))])


@exercise.alternative
class ListsOfBlocks(EchoCache):
    """Keep what comes as a list, name every axis."""

    def __init__(self, model):
        super().__init__(model)
        self.kept = [[] for _ in model["wq"]]

    def _attend(self, layer, y, w, at):
        """Let the new symbols look at all blocks."""
        q, k, v = self._heads(y, w, at)
        self.kept[layer].append((k, v))
        k, v = (np.concatenate(blocks, axis=1) for blocks in zip(*self.kept[layer], strict=True))
        S = np.einsum("hic,hjc->hij", q, k) / q.shape[-1] ** 0.5
        A = np.exp(S - S.max(axis=-1, keepdims=True)) * self._mask(at, k.shape[1])
        A = A / A.sum(axis=-1, keepdims=True)
        o = np.einsum("hij,hjc->ihc", A, v)
        return o.reshape(y.shape) @ w["wo"]


def fed(cache, ids, *sizes):
    """The logits of a cache that takes in the symbols in chunks of these sizes."""
    return np.concatenate([cache.step(part) for part in np.split(ids, np.cumsum(sizes)[:-1])])


def same(found, ids, model):
    """Agree with one pass over all symbols."""
    agree(found, EchoCache(model).step(ids), rtol=1e-3, atol=1e-3)


@exercise.check(points=0.5, visible=True)
def one_by_one(call, rng):
    """Two symbols, and five more one by one, give every row of one pass; a drawn model."""
    ids, model = rng.integers(0, 7, 7), small_model(rng, 2)
    cache = call.make(model)
    same(fed(cache, ids, 2, *[1] * 5), ids, model)
    agree(cache.length, 7, what="the length", credit=0.75)


@exercise.check(points=0.25, after=one_by_one)
def chunks_and_depths(call, rng):
    """A prompt of four and a chunk of three, or all at once; one layer, or three."""
    for L, *sizes in ((1, 4, 3), (3, 4, 3), (2, 7), (3, 1, 5, 1)):
        ids, model = rng.integers(0, 7, 7), small_model(rng, L)
        cache = call.make(model)
        same(fed(cache, ids, *sizes), ids, model)
        agree(cache.length, 7, what="the length", credit=0.75)


@exercise.check(points=0.25, after=one_by_one)
def the_trained_model(call, rng):
    """The trained model, in two caches that are fed in turn and keep to themselves."""
    first, second = (read("^" + "".join(rng.permutation(list(LETTERS[1:]))) * 2) for _ in range(2))
    caches = call.make(ECHO), call.make(ECHO)
    rows = [
        [cache.step(ids[part]) for cache, ids in zip(caches, (first, second), strict=True)]
        for part in (slice(12), *(slice(i, i + 1) for i in range(12, len(first))))
    ]
    for found, ids in zip(zip(*rows, strict=True), (first, second), strict=True):
        same(np.concatenate(found), ids, ECHO)


def needed(t):
    """The FLOPs of step t: the matrices, two products of each layer, a softmax for each head."""
    return 2 * WEIGHTS + (2 * PER_KEY + 2 * 2 * 8) * t


@exercise.check(points=0.5, after=one_by_one)
def a_step_is_cheap(call, rng):
    """A step takes the model's matrices once, and 64 madds for each key: of the trained model."""
    t = 240
    ids, cache = rng.integers(0, 11, t), call.make(ECHO)
    cache.step(ids[: t - 2])
    cache.step(ids[t - 2 : t - 1])
    work = cache.step.work(ids[t - 1 :])
    agree(work.value, EchoCache(ECHO).step(ids)[-1:], rtol=1e-3, atol=1e-3)
    covers(work, 2 * WEIGHTS)
    within(
        call,
        f"work of a step at t = {t} / what it needs",
        work.flops / needed(t),
        2.0,
        "a step does far more work than a new symbol needs",
        kind="all rows" if work.flops > 20 * needed(t) else "again",
    )


@exercise.misconception
class EverythingAgain(EchoCache):
    """Each step sends all symbols through the model. Keep keys and values, not the symbols."""

    def __init__(self, model):
        super().__init__(model)
        self.seen = np.zeros(0, int)

    def step(self, ids):
        """Take in new symbols and return their logits."""
        self.seen = np.concatenate([self.seen, ids])
        self.length = len(self.seen)
        return EchoCache(self.model).step(self.seen)[-len(ids) :]


@exercise.misconception(fatal="nothing is cached")
class NothingKept(EchoCache):
    """New symbols see one another alone: the cached keys and values take no part."""

    def _mask(self, at, total):
        """Allow what is new."""
        return super()._mask(at, total) & (np.arange(total) >= at[0])


@exercise.misconception(credit=0.4)
class FirstLayerAlone(EchoCache):
    """Your first layer has a cache, the others have none. Each needs its own."""

    def _attend(self, layer, y, w, at):
        """Forget what other layers have."""
        if layer:
            self.kept[layer] = None
            new = np.arange(len(at))
            q, k, v = self._heads(y, w, at)
            return merge_heads(attention(q, k, v, new <= new[:, None])[0]) @ w["wo"]
        return super()._attend(layer, y, w, at)


@exercise.misconception(credit=0.4)
class OneCacheForAll(EchoCache):
    """Your layers put their keys and values into one cache. Each has a cache of its own."""

    def _attend(self, layer, y, w, at):
        """Put everything into the first layer's."""
        q, *new = self._heads(y, w, at)
        self.kept[0] = k, v = self._joined(self.kept[0], new)
        mask = self._mask(np.arange(k.shape[1])[-len(at) :], k.shape[1])
        return merge_heads(attention(q, k, v, mask)[0]) @ w["wo"]


@exercise.misconception(credit=0.4)
class PositionsRestart(EchoCache):
    """Your positions start again at 0 in every step. They go on where the cache ends."""

    def _heads(self, y, w, at):
        """Count from 0."""
        return super()._heads(y, w, at - at[0])


@exercise.misconception(credit=0.4)
class NothingRotated(EchoCache):
    """Nothing is rotated: turn queries and keys by their positions."""

    def _heads(self, y, w, at):
        """Take all at 0."""
        return super()._heads(y, w, 0 * at)


@exercise.misconception(credit=0.4)
class ValuesRotatedToo(EchoCache):
    """You rotated the values. Positions enter the scores: queries and keys are rotated."""

    def _heads(self, y, w, at):
        """Rotate all three."""
        q, k, v = super()._heads(y, w, at)
        return q, k, rotated(v, at)


@exercise.misconception(credit=0.4)
class KeysNotRotated(EchoCache):
    """Your queries are rotated, your keys aren't."""

    def _heads(self, y, w, at):
        """Take keys as they are."""
        q, _, v = super()._heads(y, w, at)
        return q, split_heads(y @ w["wk"], 2), v


@exercise.misconception(credit=0.4)
class RotatedBeforeTheHeads(EchoCache):
    """You rotated whole rows. Split them first: each head has angles for its own width."""

    def _heads(self, y, w, at):
        """Rotate all columns as one head's."""
        q, k, v = (y @ w[name] for name in ("wq", "wk", "wv"))
        return (*(split_heads(rotated(z, at), 2) for z in (q, k)), split_heads(v, 2))


@exercise.misconception(credit=0.4)
class OneHead(EchoCache):
    """You attended with one head of the whole width. This model has two."""

    def _heads(self, y, w, at):
        """Split nothing."""
        q, k, v = (split_heads(y @ w[name], 1) for name in ("wq", "wk", "wv"))
        return rotated(q, at), rotated(k, at), v


@exercise.misconception(credit=0.4)
class NewestKeyLeftOut(EchoCache):
    """You attend before the new key is stored. A symbol also looks at itself."""

    def _mask(self, at, total):
        """Allow what comes before."""
        return np.arange(total) < at[:, None]


@exercise.misconception
class NoMaskInAChunk(EchoCache):
    """Symbols of a chunk see later ones of the same chunk. Each may look back only."""

    def _mask(self, at, total):
        """Allow everything."""
        return np.ones((len(at), total), bool)


@exercise.misconception
class TopLeftMask(EchoCache):
    """In a chunk your mask starts at the first key. Row i of it is position (cached + i)."""

    def _mask(self, at, total):
        """Begin at the first key."""
        return super()._mask(at - at[0], total)


@exercise.misconception(credit=0.4)
class LastNormMissing(EchoCache):
    """The last norm is missing: the output matrix reads the stream behind it."""

    def step(self, ids):
        """Leave out the norm behind the layers."""
        at = self.length + np.arange(len(ids))
        self.length += len(ids)
        x = self.model["embed"][ids]
        for layer, w in enumerate(echo_layers(self.model)):
            x = x + self._attend(layer, rms_norm(x, w["norm1"]), w, at)
            x = x + swiglu(rms_norm(x, w["norm2"]), w)
        return x @ self.model["unembed"]


@exercise.misconception
class StepsCounted(EchoCache):
    """`length` counts your calls. A chunk adds as many symbols as it has."""

    def step(self, ids):
        """Count calls."""
        at, self.length = self.length, getattr(self, "true", 0)
        found = super().step(ids)
        self.true, self.length = self.length, at + 1
        return found


def written(prompt, steps, pick=np.argmax, EchoCache=EchoCache):
    """The letters that are written behind a prompt, and the logits of each."""
    cache = EchoCache(ECHO)
    rows = [cache.step(read(prompt))[-1]]
    letters = [int(pick(rows[-1]))]
    while len(letters) < steps:
        rows.append(cache.step(np.array(letters[-1:]))[-1])
        letters.append(int(pick(rows[-1])))
    return letters, np.array(rows)


def logits_on_the_way(prompt, steps):
    """The logits of each letter that is written."""
    return written(prompt, steps)[1]


@exercise.part(points=0.5, answer=Count())
def word(prompt, steps):
    """The letters that the model writes behind your prompt, A being 1."""
    return written(prompt, steps)[0]


@word.alternative
def by_ones_own_cache(EchoCache, prompt, steps):
    """Let the cache that is there write."""
    return written(prompt, steps, EchoCache=EchoCache)[0]


@word.misconception(credit=0.5)
def letters_from_zero(prompt, steps):
    """You counted A as 0. `^` is 0, and A is 1."""
    return [letter - 1 for letter in written(prompt, steps)[0]]


@word.misconception()
def least_likely(prompt, steps):
    """You took the smallest logits."""
    return written(prompt, steps, np.argmin)[0]


@word.misconception()
def one_early(prompt, steps):
    """You began at a row too early: the row at the last symbol of the prompt predicts the first."""
    shorter, _ = written(prompt[:-1], 1)
    return shorter + written(prompt[:-1] + LETTERS[shorter[0]], steps - 1)[0]


def readings(prompt, steps):
    """How many symbols the model has read when the last letter is written."""
    return len(prompt) + steps - 1


@exercise.part(points=0.25, answer=Count())
def kept(prompt, steps):
    """How many numbers all caches hold when the last letter has just been written."""
    return 64 * readings(prompt, steps)


@kept.misconception(credit=0.5)
def last_letter_read(prompt, steps):
    """You counted the last letter. It is written, and never read."""
    return 64 * (readings(prompt, steps) + 1)


@kept.misconception(credit=0.5)
def half_of_it(prompt, steps):
    """Each symbol has a key *and* a value of width 16, in either layer."""
    return 32 * readings(prompt, steps)


@exercise.part(points=0.75, answer=Count())
def madds(prompt, steps):
    """The madds of all that is read, with the cache, and with every step sending all through."""
    return [with_cache(prompt, steps), anew(prompt, steps)]


def once(n, per_key=PER_KEY):
    """Madds of n symbols that are read once, each with the keys up to its own."""
    return WEIGHTS * n + per_key * n * (n + 1) // 2


def with_cache(prompt, steps, **changed):
    """Madds with a cache: each symbol is read once."""
    return once(readings(prompt, steps), **changed)


def anew(prompt, steps, **changed):
    """Madds without: all that is there is read again for each letter."""
    n = len(prompt)
    return sum(once(t, **changed) for t in range(n, n + steps))


@madds.misconception(credit=0.5)
def one_product_alone(prompt, steps):
    """You counted one product for each key: there are one for its score and one for its value."""
    return [f(prompt, steps, per_key=PER_KEY // 2) for f in (with_cache, anew)]


@madds.misconception(credit=0.5)
def matrices_alone(prompt, steps):
    """You counted the matrices. Scores and values take madds, too."""
    return [f(prompt, steps, per_key=0) for f in (with_cache, anew)]


@madds.misconception(credit=0.5)
def attention_alone(prompt, steps):
    """You counted scores and values. The matrices take madds, too."""
    n = readings(prompt, steps)
    found = with_cache(prompt, steps), anew(prompt, steps)
    reads = n, sum(range(len(prompt), n + 1))
    return [a - WEIGHTS * b for a, b in zip(found, reads, strict=True)]


@madds.misconception(credit=0.5)
def every_pair(prompt, steps):
    """You let every symbol see all keys. It sees its own and those before."""
    n = readings(prompt, steps)
    whole = lambda n: WEIGHTS * n + PER_KEY * n * n  # noqa: E731
    return [whole(n), sum(map(whole, range(len(prompt), n + 1)))]


@madds.misconception(credit=0.5)
def last_letter_read_too(prompt, steps):
    """You let the model read the last letter. It is written, and never read."""
    return [f(prompt, steps + 1) for f in (with_cache, anew)]


@madds.misconception(credit=0.5)
def prompt_left_out(prompt, steps):
    """You left out the prompt: its symbols are read, too."""
    first = once(len(prompt))
    return [with_cache(prompt, steps) - first, anew(prompt, steps) - first]


@madds.misconception(credit=0.5)
def exchanged(prompt, steps):
    """You exchanged the two."""
    return [anew(prompt, steps), with_cache(prompt, steps)]
