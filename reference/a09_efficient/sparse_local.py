"""Windows: each query sees the keys near it.

Source: Child et al. (2019), "Sparse Transformers"; Beltagy et al. (2020), "Longformer".
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from autograder.exercise import Count, Exercise, Formula, Numbers, agree, grows, require
from reference.helpers import ATTENTION, attention, softmax
from reference.helpers import local_mask as window

exercise = Exercise(
    "sparse_local",
    title="Windows",
    source="Beltagy et al. (2020), section 3.1; Child et al. (2019)",
    minutes=50,
    hints=[
        "Make a table of the differences i − j: a window is a condition on it, and blocks are "
        "one on the numbers of the blocks.",
        "No query needs more than 2w + 1 scores. Index keys and values by a table of positions, "
        "and decide what happens with positions outside the text.",
        "For `edges` count as if no window were cut off, and then what the first w queries "
        "lose, one after the other.",
    ],
)


@exercise.variant
def draw(rng):
    """n: tokens; w: how far a query sees to each side; d: the dilation."""
    w = int(rng.integers(2, 5))
    return {"n": int(rng.integers(2 * w + 6, 21)), "w": w, "d": int(rng.choice([2, 4, 5]))}


@exercise.reference
def local_mask(n: int, w: int, causal: bool = False, dilation: int = 1) -> Bool[ndarray, "n n"]:
    """Return True for keys 0, ±1, … ±w times the dilation away, with causal none ahead."""
    behind = np.arange(n)[:, None] - np.arange(n)
    near = (abs(behind) <= w * dilation) & (behind % dilation == 0)
    return near & (behind >= 0) if causal else near


@exercise.alternative
def row_by_row(n, w, causal=False, dilation=1):
    """Ask each pair."""
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for step in range(-w, 1 if causal else w + 1):
            if 0 <= i + step * dilation < n:
                mask[i, i + step * dilation] = True
    return mask


@exercise.alternative
def from_diagonals(n, w, causal=False, dilation=1):
    """Lay one diagonal after the other."""
    mask = np.zeros((n, n), dtype=bool)
    for step in range(-w, 1 if causal else w + 1):
        mask |= np.eye(n, k=step * dilation, dtype=bool)
    return mask


@exercise.alternative
def between_two_triangles(n, w, causal=False, dilation=1):
    """Cut a band out with triangles, then keep diagonals at multiples of the dilation."""
    reach = w * dilation
    band = np.tri(n, k=0 if causal else reach) - np.tri(n, k=-reach - 1)
    i, j = np.indices((n, n))
    return (band > 0) & ((i - j) % dilation == 0)


def mask_of(call, *args, **options):
    """The answer by what counts as true: its type is asked for elsewhere."""
    mask = np.asarray(call(*args, **options))
    n = args[0]
    require(mask.shape == (n, n), f"the mask for {n} tokens has shape {mask.shape}")
    return mask != 0


@exercise.check(points=0.5, visible=True)
def plain_windows(call, rng):
    """True where query and key are at most w apart; an array of n × n Boolean values."""
    n, w = int(rng.integers(9, 13)), 4  # half of it, and one less, are different numbers
    agree(mask_of(call, n, w), window(n, w))
    require(np.asarray(call(n, w)).dtype == bool, "the mask does not hold True and False")


@exercise.check(points=0.25)
def narrowest_and_widest(call, rng):
    """For w = 0 every token sees itself alone, for w ≥ n all see all."""
    agree(mask_of(call, 5, 0), np.eye(5, dtype=bool))
    agree(mask_of(call, 5, 5), np.ones((5, 5), dtype=bool))
    agree(mask_of(call, 1, 3), np.ones((1, 1), dtype=bool))


@exercise.check(points=0.25)
def causal_windows(call, rng):
    """With causal=True nobody sees a key ahead."""
    n, w = int(rng.integers(9, 13)), 4
    agree(mask_of(call, n, w, causal=True), local_mask(n, w, causal=True))


@exercise.check(points=0.5)
def dilated_windows(call, rng):
    """With a dilation the keys lie that far apart, and there are as many of them as before."""
    n = int(rng.integers(15, 19))
    for dilation in (3, 2):
        agree(mask_of(call, n, 4, dilation=dilation), local_mask(n, 4, dilation=dilation))
    causal = mask_of(call, n, 4, causal=True, dilation=3)
    agree(np.tril(causal, -1), np.tril(local_mask(n, 4, True, 3), -1))
    if not np.triu(mask_of(call, n, 4, causal=True), 1).any():  # else that is paid for
        require(not np.triu(causal, 1).any(), "with causal=True a dilated window sees keys ahead")


@exercise.misconception(credit=0.4)
def total_width(n, w, causal=False, dilation=1):
    """You took w for the width of the whole window. It is the reach to each side."""
    return local_mask(n, w // 2, causal, dilation)


@exercise.misconception
def dilated_sees_ahead(n, w, causal=False, dilation=1):
    """With a dilation your causal window sees keys ahead. Causal holds for each dilation."""
    return local_mask(n, w, causal and dilation == 1, dilation)


@exercise.misconception(credit=0.4)
def ends_left_out(n, w, causal=False, dilation=1):
    """Keys exactly w away belong to the window."""
    return local_mask(n, max(w - 1, 0), causal, dilation)


@exercise.misconception(credit=0.5)
def wraps_around(n, w, causal=False, dilation=1):
    """At the ends your window goes on at the other end of the text. There it is cut off."""
    mask = local_mask(n, w, causal, dilation)
    for step in range(-w, 1 if causal else w + 1):
        mask[np.arange(n), (np.arange(n) + step * dilation) % n] = True
    return mask


@exercise.misconception
def causal_ignored(n, w, causal=False, dilation=1):
    """With causal=True your queries still see ahead."""
    return local_mask(n, w, False, dilation)


@exercise.misconception
def causal_without_itself(n, w, causal=False, dilation=1):
    """Causal means up to and including the token itself."""
    mask = local_mask(n, w, causal, dilation)
    return mask & ~np.eye(n, dtype=bool) if causal else mask


@exercise.misconception
def dilation_ignored(n, w, causal=False, dilation=1):
    """The dilation has no effect in yours."""
    return local_mask(n, w, causal)


@exercise.misconception
def reach_not_stretched(n, w, causal=False, dilation=1):
    """Your dilated window has lost keys. It keeps w to each side, and so it reaches further."""
    return local_mask(n, w // dilation, causal, dilation)


@exercise.misconception
def gaps_filled(n, w, causal=False, dilation=1):
    """Your dilated window reaches far enough, but it should leave gaps."""
    return local_mask(n, w * dilation, causal)


@exercise.misconception(credit=0.5)
def ones_and_zeros(n, w, causal=False, dilation=1):
    """The mask holds numbers 1 and 0. True and False can't be added to scores by mistake."""
    return local_mask(n, w, causal, dilation).astype(int)


@exercise.reference
def block_mask(n: int, size: int, causal: bool = False) -> Bool[ndarray, "n n"]:
    """Return True where the block of the key is that of the query or next to it."""
    block = np.arange(n) // size
    near = abs(block[:, None] - block) <= 1
    return near & np.tri(n, dtype=bool) if causal else near


@exercise.alternative
def blocks_repeated(n, size, causal=False):
    """Make a small mask of blocks and enlarge it."""
    count = -(-n // size)
    near = np.kron(window(count, 1), np.ones((size, size), dtype=bool))[:n, :n]
    return np.tril(near) if causal else near


@exercise.alternative
def block_by_block(n, size, causal=False):
    """Fill the rows of one block at a time."""
    mask = np.zeros((n, n), dtype=bool)
    for first in range(0, n, size):
        mask[first : first + size, max(first - size, 0) : first + 2 * size] = True
    return mask * np.tri(n, dtype=bool) if causal else mask


@exercise.alternative
def pair_by_pair(n, size, causal=False):
    """Ask each pair."""
    pairs = [
        [abs(i // size - j // size) < 2 and (j <= i or not causal) for j in range(n)]
        for i in range(n)
    ]
    return np.array(pairs)


@exercise.check(points=0.25, visible=True)
def neighbouring_blocks(call, rng):
    """A query sees its own block and those beside it; the last block may be shorter."""
    for n, size in ((12, 3), (int(rng.integers(8, 11)) * 2 + 1, 4)):
        agree(mask_of(call, n, size), block_mask(n, size))


@exercise.check(points=0.25)
def causal_blocks(call, rng):
    """With causal=True nobody sees a key ahead, not even within its own block."""
    n = int(rng.integers(9, 16))
    agree(mask_of(call, n, 4, causal=True), block_mask(n, 4, True))


@exercise.misconception(credit=0.5)
def own_block_alone(n, size, causal=False):
    """Your blocks are islands. The neighbouring blocks are seen as well."""
    block = np.arange(n) // size
    near = block[:, None] == block
    return near & np.tri(n, dtype=bool) if causal else near


@exercise.misconception(credit=0.5)
def window_for_blocks(n, size, causal=False):
    """That is a window around each query. All queries of a block see the same keys."""
    return local_mask(n, size, causal)


@exercise.misconception
def causal_between_blocks_alone(n, size, causal=False):
    """Within a block your queries see ahead. Causal is about tokens, not about blocks."""
    block = np.arange(n) // size
    near = abs(block[:, None] - block) <= 1
    return near & (block[:, None] >= block) if causal else near


@exercise.misconception
def causal_left_out(n, size, causal=False):
    """With causal=True your queries still see ahead."""
    return block_mask(n, size)


@exercise.reference(without=ATTENTION)
def window_attention(
    Q: Float[ndarray, "n d"], K: Float[ndarray, "n d"], V: Float[ndarray, "n d_v"], w: int
) -> Float[ndarray, "n d_v"]:
    """Return attention in a window, from the 2w + 1 scores of each row alone."""
    n, d = K.shape
    key = np.arange(n)[:, None] + np.arange(-w, w + 1)
    inside = (key >= 0) & (key < n)
    key = np.clip(key, 0, n - 1)
    scores = np.einsum("nd,nkd->nk", Q, K[key]) / np.sqrt(d)
    return np.einsum("nk,nkv->nv", softmax(np.where(inside, scores, -np.inf)), V[key])


@exercise.alternative
def padded(Q, K, V, w):
    """Pad keys and values, then look at windows of the padded arrays."""
    n, d = K.shape
    pad = ((w, w), (0, 0))
    keys, values = np.pad(K, pad), np.pad(V, pad)
    there = np.pad(np.ones(n, bool), w)
    scores = np.stack([(Q * keys[o : o + n]).sum(1) for o in range(2 * w + 1)], axis=1) / d**0.5
    there = np.stack([there[o : o + n] for o in range(2 * w + 1)], axis=1)
    weights = softmax(np.where(there, scores, -np.inf))
    return sum(weights[:, o, None] * values[o : o + n] for o in range(2 * w + 1))


@exercise.alternative
def in_blocks(Q, K, V, w):
    """A block of rows needs its own keys and w more at each side."""
    n, parts = len(Q), []
    for first in range(0, n, 64):
        low, last = max(first - w, 0), min(first + 64, n)
        high = min(last + w, n)
        mask = abs(np.arange(first, last)[:, None] - np.arange(low, high)) <= w
        parts.append(attention(Q[first:last], K[low:high], V[low:high], mask)[0])
    return np.concatenate(parts)


@exercise.alternative
def token_by_token(Q, K, V, w):
    """A loop over the queries: slow, and linear."""
    rows = []
    for i in range(len(Q)):
        keys = slice(max(i - w, 0), i + w + 1)
        s = K[keys] @ Q[i] / np.sqrt(K.shape[1])
        e = np.exp(s - s.max())
        rows.append(e @ V[keys] / e.sum())
    return np.array(rows)


def qkv(rng, n, d=4, d_v=3):
    """Inputs for n tokens."""
    return rng.normal(size=(n, d)), rng.normal(size=(n, d)), rng.normal(size=(n, d_v))


def some_rows(i, Q, K, V, w):
    """The right outputs of these queries."""
    key = i[:, None] + np.arange(-w, w + 1)
    inside = (key >= 0) & (key < len(K))
    key = np.clip(key, 0, len(K) - 1)
    scores = np.einsum("nd,nkd->nk", Q[i], K[key]) / np.sqrt(K.shape[1])
    return np.einsum("nk,nkv->nv", softmax(np.where(inside, scores, -np.inf)), V[key])


@exercise.check(points=0.5, visible=True)
def matches_the_masked_form(call, rng):
    """Equals attention under the mask of the window, at both ends, too."""
    Q, K, V = qkv(rng, 9)
    for w in (2, 3):
        agree(call(Q, K, V, w), attention(Q, K, V, window(9, w))[0], rtol=1e-4)


@exercise.check(points=0.5, after=matches_the_masked_form)
def work_is_linear(call, rng):
    """With w fixed, arithmetic and memory grow like n: most of the scores are never computed."""
    grows(
        call,
        lambda n: (*qkv(rng, n, 16, 16), 4),
        rows=some_rows,
        floor=lambda n: 4 * n * 9 * 16,
    )


@exercise.misconception
def all_scores_masked(Q, K, V, w):
    """You compute all n × n scores and throw most of them away."""
    return attention(Q, K, V, window(len(Q), w))[0]


@exercise.misconception
def padding_seen(Q, K, V, w):
    """At the ends your queries see keys of zeros that are not there. Their score is −∞."""
    n, d = K.shape
    pad = ((w, w), (0, 0))
    keys, values = np.pad(K, pad), np.pad(V, pad)
    scores = np.stack([(Q * keys[o : o + n]).sum(1) for o in range(2 * w + 1)], axis=1)
    weights = softmax(scores / np.sqrt(d))
    return sum(weights[:, o, None] * values[o : o + n] for o in range(2 * w + 1))


@exercise.misconception
def ends_wrap_around(Q, K, V, w):
    """At the ends your window goes on at the other end of the text. There it is cut off."""
    n = len(Q)
    key = (np.arange(n)[:, None] + np.arange(-w, w + 1)) % n
    scores = np.einsum("nd,nkd->nk", Q, K[key]) / np.sqrt(K.shape[1])
    return np.einsum("nk,nkv->nv", softmax(scores), V[key])


@exercise.misconception(credit=0.4)
def not_scaled(Q, K, V, w):
    """The scores are not divided by √d."""
    return window_attention(Q * np.sqrt(Q.shape[1]), K, V, w)


@exercise.misconception(credit=0.4)
def last_key_missed(Q, K, V, w):
    """The last key of each window is missing: a slice ends before its end."""
    i, j = np.indices((len(Q), len(K)))
    return attention(Q, K, V, (j >= i - w) & ((j < i + w) | (j == 0)))[0]


@exercise.misconception
def only_behind(Q, K, V, w):
    """Your window looks back only. Nothing causal is asked for here."""
    return attention(Q, K, V, local_mask(len(Q), w, causal=True))[0]


@exercise.part(
    points=2,
    answer=Formula(
        "n w",
        question="sum(min(i + w, n) - max(i - w, 1) + 1, i, 1, n)",
        practice=("The pairs of n tokens that are exactly w apart, 0 < w < n.", "2*(n - w)"),
    ),
)
def edges():
    """The allowed pairs of a window for n tokens, w < n."""
    return "n*(2*w + 1) - w*(w + 1)"


@edges.alternative
def diagonal_by_diagonal():
    """The diagonal, and two of each length below n."""
    return "n + 2*n*w - w^2 - w"


edges.mistakes(
    cut_ends_forgotten=(
        "n*(2*w + 1)",
        "Near the ends of the text windows are cut off. How many pairs are lost there?",
        0.3,
    ),
    cut_at_one_end=(
        "n*(2*w + 1) - w*(w + 1)/2",
        "You cut windows off at one end of the text. Those near the other end are shorter, too.",
        0.5,
    ),
    as_many_lost_by_each=(
        "n*(2*w + 1) - 2*w^2",
        "Not every query near an end loses as many keys: how many does the second one lose?",
    ),
    one_lost_by_each=(
        "n*(2*w + 1) - 2*w",
        "Queries near an end lose more than one key each: how many does the first one lose?",
    ),
    lost_pairs_from_zero=(
        "n*(2*w + 1) - w*(w - 1)",
        "Of the first w queries the first one loses w keys and the last one loses 1.",
        0.5,
    ),
    lost_pairs_squared=(
        "n*(2*w + 1) - w^2",
        "The first w queries lose w, w − 1, …, 1 keys. Add that up once more.",
        0.5,
    ),
    both_ends_whole=(
        "n*(2*w + 1) - 2*w*(w + 1)",
        "You subtracted too much: a row near the end loses only the keys beyond it.",
    ),
    own_token_forgotten=("2*n*w - w*(w + 1)", "A token sees itself, too."),
    width_in_all=("n*(w + 1) - w*(w + 2)/4", "You took w for the width of the whole window."),
    causal_pairs=("n*(w + 1) - w*(w + 1)/2", "These are the pairs of the causal window."),
)


def pairs(n, w, dilation=1):
    """Count the allowed pairs."""
    return int(local_mask(n, w, dilation=dilation).sum())


def causal(n, w):
    """Count the allowed pairs of the causal window."""
    return int(local_mask(n, w, causal=True).sum())


@exercise.part(points=1, answer=Count())
def counts(n, w):
    """The allowed pairs for your n and w, without and with a causal mask."""
    return [pairs(n, w), causal(n, w)]


@counts.alternative
def counted_in_the_mask(local_mask, n, w):
    """Add up the masks themselves."""
    return [int(np.sum(local_mask(n, w, causal=c))) for c in (False, True)]


@counts.alternative
def counted_by_the_formula(edges, n, w):
    """The first number from the student's own formula."""
    return [edges(n=n, w=w), causal(n, w)]


@counts.misconception()
def counts_without_ends(n, w):
    """Near the ends of the text windows are cut off."""
    return [n * (2 * w + 1), n * (w + 1)]


@counts.misconception(credit=0.5)
def causal_count_without_end(n, w):
    """The first tokens have fewer than w others before them: causal windows are cut off, too."""
    return [pairs(n, w), n * (w + 1)]


@counts.misconception()
def counts_of_the_total_width(n, w):
    """You took w for the width of the whole window. It is the reach to each side."""
    return [pairs(n, w // 2), causal(n, w // 2)]


@counts.misconception()
def counts_halved(n, w):
    """The diagonal belongs to the causal half as well."""
    return [pairs(n, w), (pairs(n, w) - n) // 2]


@counts.misconception()
def half_of_all_pairs(n, w):
    """Half of all pairs would halve the diagonal, too."""
    return [pairs(n, w), pairs(n, w) // 2]


@exercise.part(points=0.5, answer=Count())
def long_edges(edges):
    """The allowed pairs for n = 4096 and w = 256."""
    return edges(n=4096, w=256)


@long_edges.alternative
def counted_in_masks(local_mask):
    """Add up masks: behind the window's length each further token adds as many pairs."""
    short, longer = (int(np.sum(local_mask(n, 256))) for n in (600, 601))
    return short + (4096 - 600) * (longer - short)


@long_edges.misconception()
def long_without_ends():
    """Near the ends of the text windows are cut off."""
    return 4096 * 513


@exercise.part(points=0.5, answer=Numbers())
def density(long_edges):
    """Their share of all pairs."""
    return long_edges / 4096**2


@density.misconception()
def per_row(long_edges):
    """That is how many keys a query sees on average. Divide by all pairs."""
    return long_edges / 4096


@density.misconception()
def density_of_the_causal_half(long_edges):
    """There are n² pairs; no causal mask is asked for here."""
    return long_edges / (4096 * 4097 / 2)


@exercise.part(points=1, answer=Count())
def dilated(d):
    """For 16 tokens, w = 2 and your dilation: the pairs; positions seen through 3 layers."""
    return [pairs(16, 2, d), 2 * 3 * 2 * d + 1]


@dilated.alternative
def dilated_in_the_mask(local_mask, d):
    """Add up the mask itself."""
    return [int(np.sum(local_mask(16, 2, dilation=d))), 2 * 3 * 2 * d + 1]


@dilated.misconception()
def three_single_fields(d):
    """Three fields side by side would be as wide. A layer adds to the field below, not its own."""
    return [pairs(16, 2, d), 3 * (2 * 2 * d + 1)]


@dilated.misconception()
def pairs_without_dilation(d):
    """Those are the pairs of a window without gaps: further keys are cut off in more rows."""
    return [pairs(16, 2), 2 * 3 * 2 * d + 1]


@dilated.misconception(credit=0.5)
def dilated_pairs_without_ends(d):
    """Near the ends of the text dilated windows are cut off as well, and in more rows."""
    return [16 * 5, 2 * 3 * 2 * d + 1]


@dilated.misconception()
def field_of_one_layer(d):
    """That is the field of one layer. What a key has seen one layer below counts as well."""
    return [pairs(16, 2, d), 2 * 2 * d + 1]


@dilated.misconception()
def field_without_dilation(d):
    """Each layer reaches w times the dilation further, to both sides."""
    return [pairs(16, 2, d), 2 * 3 * 2 + 1]


@dilated.misconception()
def own_position_forgotten(d):
    """Between what you counted on both sides stands the token itself."""
    return [pairs(16, 2, d), 2 * 3 * 2 * d]


@dilated.misconception()
def one_sided_field(d):
    """The field goes to both sides, and the token itself belongs to it."""
    return [pairs(16, 2, d), 3 * 2 * d]
