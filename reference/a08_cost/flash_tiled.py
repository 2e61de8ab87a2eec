"""Attention tile by tile, without the matrix of weights.

Source: Dao et al. (2022), "FlashAttention", algorithm 1.
"""

import numpy as np
from jaxtyping import Float
from numpy import inf, ndarray

from autograder.algebra import IndexedChain
from autograder.exercise import (
    Count,
    Derivation,
    Exercise,
    Numbers,
    agree,
    covers,
    grows,
    grows_on_gpu,
    require,
    within,
)
from reference.helpers import ATTENTION

exercise = Exercise(
    "flash_tiled",
    title="Attention without the matrix",
    source="Dao et al. (2022), algorithm 1",
    minutes=100,
    hints=[
        "Count the blocks along one side, then square; with causal skipping, those on and "
        "below the diagonal stay.",
        "The running statistics have two numbers for each row.",
        "In the proof write the output gradient's product out entry by entry, and exchange "
        "the two sums.",
    ],
)


def tiles(n, m, block, causal):
    """Rows and columns of the tiles that are needed, row by row."""
    for i in range(0, n, block):
        last = min(i + block, n) - 1
        yield i, [j for j in range(0, m, block) if j <= last or not causal]


def scores(Q, K, i, j, block, causal):
    """Scaled scores of one tile, −∞ where a key comes later than the query."""
    q, k = Q[i : i + block], K[j : j + block]
    S = q @ k.T / np.sqrt(Q.shape[1]).astype(Q.dtype)
    if causal and j + block > i:
        later = np.arange(j, j + len(k)) > np.arange(i, i + len(q))[:, None]
        S = np.where(later, Q.dtype.type(-inf), S)
    return S


def states(Q, K, V, block, causal):
    """For every block of queries the maximum, the sum and the weighted sum over all its tiles."""
    for i, columns in tiles(len(Q), len(K), block, causal):
        rows = len(Q[i : i + block])
        top, total = np.full(rows, -inf, Q.dtype), np.zeros(rows, Q.dtype)
        mixed = np.zeros((rows, V.shape[1]), Q.dtype)
        for j in columns:
            S = scores(Q, K, i, j, block, causal)
            new = np.maximum(top, S.max(axis=1))
            P, old = np.exp(S - new[:, None]), np.exp(top - new)
            total = old * total + P.sum(axis=1)
            mixed = old[:, None] * mixed + P @ V[j : j + block]
            top = new
        yield top, total, mixed


def joined(parts):
    """Outputs and log-sum-exps of all rows, from those of some rows after others."""
    return tuple(map(np.concatenate, zip(*parts, strict=True)))


def torch_flash(Q, K, V, block=1024):
    """Return softmax(Q Kᵀ/√d) V of tensors (…, n, d), the running numbers in float32."""
    import torch  # here, because importing it takes seconds

    kind, outputs = torch.float32, []
    for q in Q.split(block, dim=-2):
        top = torch.full((*q.shape[:-1], 1), -inf, dtype=kind, device=q.device)
        total, mixed = torch.zeros_like(top), torch.zeros_like(q, dtype=kind)
        for k, v in zip(K.split(block, dim=-2), V.split(block, dim=-2), strict=True):
            S = (q @ k.mT).to(kind) / Q.shape[-1] ** 0.5
            new = torch.maximum(top, S.amax(dim=-1, keepdim=True))
            P, old = torch.exp(S - new), torch.exp(top - new)
            total = old * total + P.sum(dim=-1, keepdim=True)
            mixed = old * mixed + (P.to(v.dtype) @ v).to(kind)
            top = new
        outputs.append((mixed / total).to(V.dtype))
    return torch.cat(outputs, dim=-2)


@exercise.reference(without=ATTENTION)
def flash_attention(
    Q: Float[ndarray, "n d_k"],
    K: Float[ndarray, "m d_k"],
    V: Float[ndarray, "m d_v"],
    block: int = 64,
    causal: bool = False,
) -> tuple[Float[ndarray, "n d_v"], Float[ndarray, " n"]]:
    """Return softmax(Q Kᵀ/√d_k) V and the log-sum-exp of every row; of tensors the first alone."""
    if not isinstance(Q, ndarray):
        return torch_flash(Q, K, V)
    return joined(
        (mixed / total[:, None], top + np.log(total))
        for top, total, mixed in states(Q, K, V, block, causal)
    )


@exercise.alternative
def keys_outside(Q, K, V, block=64, causal=False):
    """Go through the keys in the outer loop, and keep the states of all queries."""
    if not isinstance(Q, ndarray):
        return torch_flash(Q, K, V)
    n = len(Q)
    top, total = np.full(n, -inf, Q.dtype), np.zeros(n, Q.dtype)
    mixed = np.zeros((n, V.shape[1]), Q.dtype)
    for j in range(0, len(K), block):
        for i in range(0, n, block):
            if causal and j > min(i + block, n) - 1:
                continue
            at = slice(i, i + block)
            S = scores(Q, K, i, j, block, causal)
            new = np.maximum(top[at], S.max(axis=1))
            P, old = np.exp(S - new[:, None]), np.exp(top[at] - new)
            total[at] = total[at] * old + P.sum(axis=1)
            mixed[at] = mixed[at] * old[:, None] + P @ V[j : j + block]
            top[at] = new
    return mixed / total[:, None], top + np.log(total)


@exercise.alternative
def normalised_at_every_step(Q, K, V, block=64, causal=False):
    """Keep the output and the log-sum-exp instead of the two sums."""
    if not isinstance(Q, ndarray):
        return torch_flash(Q, K, V)
    out, lse = np.zeros((len(Q), V.shape[1]), Q.dtype), np.full(len(Q), -inf, Q.dtype)
    for i, columns in tiles(len(Q), len(K), block, causal):
        at = slice(i, i + block)
        for j in columns:
            S = scores(Q, K, i, j, block, causal)
            high = S.max(axis=1, keepdims=True)
            P = np.exp(S - high)
            total = P.sum(axis=1)
            tile = high[:, 0] + np.log(total)
            both = np.logaddexp(lse[at], tile)
            share, old = np.exp(tile - both) / total, np.exp(lse[at] - both)
            out[at] = out[at] * old[:, None] + P @ V[j : j + block] * share[:, None]
            lse[at] = both
    return out, lse


@exercise.alternative
def with_einsum(Q, K, V, block=64, causal=False):
    """The products as sums over named indices, in place on slices of the result."""
    if not isinstance(Q, ndarray):
        return torch_flash(Q, K, V)
    Q = Q / np.sqrt(Q.shape[1]).astype(Q.dtype)
    out, lse = np.zeros((len(Q), V.shape[1]), Q.dtype), np.empty(len(Q), Q.dtype)
    for i, columns in tiles(len(Q), len(K), block, causal):
        at = np.arange(i, min(i + block, len(Q)))
        top, total = np.full(len(at), -inf, Q.dtype), np.zeros(len(at), Q.dtype)
        for j in columns:
            k, v = K[j : j + block], V[j : j + block]
            S = np.einsum("nd,md->nm", Q[i : i + block], k)
            if causal:
                S[np.arange(j, j + len(k)) > at[:, None]] = -inf
            new = np.maximum(top, np.max(S, axis=1))
            P = np.exp(S - new[:, None])
            out[i : i + block] *= np.exp(top - new)[:, None]
            out[i : i + block] += np.einsum("nm,mv->nv", P, v)
            total = total * np.exp(top - new) + np.sum(P, axis=1)
            top = new
        out[i : i + block] /= total[:, None]
        lse[i : i + block] = top + np.log(total)
    return out, lse


@exercise.alternative
def with_a_column_of_ones(Q, K, V, block=64, causal=False):
    """Append ones to the values: the sum of the weights comes out as one more column."""
    if not isinstance(Q, ndarray):
        return torch_flash(Q, K, V)
    V, outputs, sums = np.concatenate([V, np.ones_like(V[:, :1])], axis=1), [], []
    for i, columns in tiles(len(Q), len(K), block, causal):
        top = np.full((len(Q[i : i + block]), 1), -inf, Q.dtype)
        mixed = np.zeros((len(top), V.shape[1]), Q.dtype)
        for j in columns:
            S = scores(Q, K, i, j, block, causal)
            new = np.maximum(top, S.max(axis=1, keepdims=True))
            mixed = np.exp(top - new) * mixed + np.exp(S - new) @ V[j : j + block]
            top = new
        outputs.append(mixed[:, :-1] / mixed[:, -1:])
        sums.append(top[:, 0] + np.log(mixed[:, -1]))
    return np.concatenate(outputs), np.concatenate(sums)


@exercise.alternative
def padded_to_whole_blocks(Q, K, V, block=64, causal=False):
    """Pad queries and keys to whole blocks, and mask the keys that were added."""
    if not isinstance(Q, ndarray):
        return torch_flash(Q, K, V)
    n, m = len(Q), len(K)
    Q = np.pad(Q, ((0, -n % block), (0, 0))) / np.sqrt(Q.shape[1]).astype(Q.dtype)
    K, V = (np.pad(x, ((0, -m % block), (0, 0))) for x in (K, V))
    out, lse = np.empty((len(Q), V.shape[1]), Q.dtype), np.empty(len(Q), Q.dtype)
    for i in range(0, len(Q), block):
        at = np.arange(i, i + block)
        top, total = np.full(block, -inf, Q.dtype), np.zeros(block, Q.dtype)
        mixed = np.zeros((block, V.shape[1]), Q.dtype)
        for j in range(0, min(len(K), i + block) if causal else len(K), block):
            key = np.arange(j, j + block)
            hidden = (key >= m) | (causal & (key > at[:, None]))
            S = np.where(hidden, Q.dtype.type(-inf), Q[i : i + block] @ K[j : j + block].T)
            new = np.maximum(top, S.max(axis=1))
            P, old = np.exp(S - new[:, None]), np.exp(top - new)
            total, mixed = old * total + P.sum(axis=1), old[:, None] * mixed + P @ V[j : j + block]
            top = new
        out[i : i + block], lse[i : i + block] = mixed / total[:, None], top + np.log(total)
    return out[:n], lse[:n]


def of_scores(S, V):
    """Output and log-sum-exp of rows that have all their scores."""
    top = S.max(axis=1, keepdims=True)
    P = np.exp(S - top)
    total = P.sum(axis=1, keepdims=True)
    return P @ V / total, (top + np.log(total))[:, 0]


def all_scores(Q, K, causal=False):
    """The matrix of scores."""
    return scores(Q, K, 0, 0, max(len(Q), len(K)), causal)


def ordinary(Q, K, V, causal=False):
    """All weights at once."""
    return of_scores(all_scores(Q, K, causal), V)


def qkv(rng, n, m, d_k=4, d_v=3, scale=1.0):
    """Inputs with n queries and m keys."""
    return scale * rng.normal(size=(n, d_k)), rng.normal(size=(m, d_k)), rng.normal(size=(m, d_v))


def agree_in_turn(found, expected):
    """Outputs first: where only the log-sum-exps are wrong, half is right."""
    require(isinstance(found, tuple | list) and len(found) == 2, "two results are asked for")
    agree(found[0], expected[0], what="the output")
    agree(found[1], expected[1], what="the log-sum-exp", credit=0.5)


@exercise.check(points=1, visible=True)
def equals_ordinary_attention(call, rng):
    """Output and log-sum-exp are those of ordinary attention, for two tiles by three."""
    Q, K, V = qkv(rng, 8, 12)
    agree_in_turn(call(Q, K, V, block=4), ordinary(Q, K, V))


@exercise.check(points=1, after=equals_ordinary_attention)
def any_size_and_block(call, rng):
    """Sizes needn't be multiples of the block; blocks of 1, and blocks larger than everything."""
    for n, m, block in ((7, 10, 4), (5, 5, 1), (6, 3, 50), (70, 70, None)):
        Q, K, V = qkv(rng, n, m)
        given = {} if block is None else {"block": block}
        agree_in_turn(call(Q, K, V, **given), ordinary(Q, K, V))


@exercise.check(points=0.5, after=equals_ordinary_attention)
def large_scores(call, rng):
    """Scores 25 and 2000 times as large neither overflow nor underflow."""
    for scale in (25.0, 2000.0):
        Q, K, V = qkv(rng, 9, 12, scale=scale)
        agree_in_turn(call(Q, K, V, block=4), ordinary(Q, K, V))


@exercise.check(points=1, after=equals_ordinary_attention)
def causal_mask(call, rng):
    """With `causal=True` no query sees a later key, whatever the blocks."""
    for n, block in ((8, 4), (11, 4), (5, 1), (6, 50)):
        Q, K, V = qkv(rng, n, n)
        agree_in_turn(call(Q, K, V, block=block, causal=True), ordinary(Q, K, V, True))


@exercise.check(points=0.5, after=equals_ordinary_attention)
def float32_stays_float32(call, rng):
    """Inputs in float32 give results in float32."""
    Q, K, V = (x.astype(np.float32) for x in qkv(rng, 9, 10))
    out, lse = call(Q, K, V, block=4)
    agree_in_turn((out, lse), ordinary(Q, K, V))
    for result in (out, lse):
        kind = np.asarray(result).dtype
        require(kind == np.float32, f"float32 inputs give a {kind} result")


#: Narrow inputs and long blocks: a tile has 3,600 entries, an input about 500.
NARROW, BLOCK, SMALL_BLOCK = 3, 60, 12
LENGTHS = (177, 180)  # the second is a multiple of both blocks
#: Wide inputs for counting arithmetic; the last block lacks one row.
WIDE, LENGTH, WIDE_BLOCK = 31, 329, 33
#: Four rows of four tiles, of which ten are needed; who goes one too far in each computes 13.
FEW = 83

#: Limits, each between what is right and the next mistake.
ARRAY_IN_TILES = 1.4  # the largest array: one tile, against two of `wide_tiles`
STRIP_IN_TILES = 2.5  # what is larger is a strip of whole rows
STEPS_OF_BLOCKS = 0.5  # blocks five times as large take a 25th of the tiles
STEPS_OF_ONE_TILE = 40  # array operations of who makes a single tile of everything
SHARE_OF_CAUSAL = 0.72  # 10 of 16 tiles are 0.63, 13 of them 0.81
SHARE_OF_ALL = 0.9
STEPS_OF_ONE_CALL = 100  # array operations of who masks everything at once
ARRAY_IN_INPUTS = 2.0
WORK_OF_ONE_PASS = 1.2  # two passes take half as much again


def counted(call, rng, n, width, block, causal=False):
    """The work of one call; with whole blocks, its output was found right (others: see above)."""
    Q, K, V = qkv(rng, n, n, width, width)
    work = call.work(Q, K, V, block=block, causal=causal)
    require(isinstance(work.value, tuple | list), "two results are asked for")
    if n % block == 0:
        agree(work.value[0], ordinary(Q, K, V, causal)[0], what="the output")
    covers(work, (2 if causal else 4) * n**2 * width)
    return work


def too_large(entries, n):
    """What kind of array is it?"""
    if entries >= n**2:
        return "matrix where blocks fit" if n % BLOCK == 0 else "matrix"
    return "strip" if entries > STRIP_IN_TILES * BLOCK**2 else "tiles"


@exercise.check(points=1, after=equals_ordinary_attention)
def never_holds_the_matrix(call, rng):
    """No array is larger than a tile or an input, and the memory grows like n: no tile is kept."""
    for n in LENGTHS:
        work = counted(call, rng, n, NARROW, BLOCK)
        shape = " × ".join(map(str, max(work.shapes, key=np.prod, default=())))
        within(
            call,
            "entries of the largest array / a tile",
            work.largest / BLOCK**2,
            ARRAY_IN_TILES,
            f"for {n} tokens of width {NARROW} and block={BLOCK} an array of {shape} numbers is "
            f"made; a tile is {BLOCK} × {BLOCK}",
            kind=too_large(work.largest, n),
        )
    grows(
        call,
        lambda n: (*qkv(rng, n, n, 19, 19), 37),
        rows=lambda i, Q, K, V, _block: ordinary(Q[i], K, V),
        floor=lambda n: 4 * n**2 * 19,
        of="memory",
        sizes=(74, 148, 259, 518),
    )


@exercise.check(points=0.5, after=equals_ordinary_attention)
def blocks_are_as_asked(call, rng):
    """`block` says how large the tiles are: with smaller blocks there are more of them."""
    n = LENGTHS[0]
    large, small = (counted(call, rng, n, NARROW, block) for block in (BLOCK, SMALL_BLOCK))
    within(
        call,
        f"array operations with block={BLOCK} / with block={SMALL_BLOCK}",
        large.operations / max(small.operations, 1),
        STEPS_OF_BLOCKS,
        f"block={SMALL_BLOCK} takes no more steps than block={BLOCK}: the tiles have another size",
        kind="matrix" if small.largest >= n**2 else str(large.operations > STEPS_OF_ONE_TILE),
    )


def all_computed(work, share):
    """How does a function compute more with a mask than it needs?"""
    if work.largest >= LENGTH**2:
        return "matrix"
    if work.largest >= LENGTH * FEW:
        return "rows"
    if share < SHARE_OF_ALL:
        return "beside"
    return "all tiles" if work.operations > STEPS_OF_ONE_CALL else "one call"


@exercise.check(points=0.5, after=causal_mask)
def later_tiles_are_skipped(call, rng):
    """With `causal=True` tiles in which nothing may be seen are not computed."""
    masked = counted(call, rng, LENGTH, WIDE, FEW, causal=True)
    share = masked.flops / counted(call, rng, LENGTH, WIDE, FEW).flops
    kind = all_computed(masked, share)
    within(
        call,
        "work with causal=True / without",
        share,
        SHARE_OF_CAUSAL,
        "with causal=True tiles are computed in which nothing may be seen"
        if kind == "beside"
        else "with causal=True about as much is computed as without",
        kind=kind,
    )
    within(
        call,
        "entries of the largest array with causal=True / an input",
        masked.largest / (LENGTH * WIDE),
        ARRAY_IN_INPUTS,
        f"with causal=True an array of {masked.largest} numbers is made, larger than every input",
    )


@exercise.check(points=0.5, after=equals_ordinary_attention)
def every_tile_once(call, rng):
    """Every tile is computed once: the maximum is corrected on the way, not looked for first."""
    n = LENGTH + 1  # whole blocks
    needed = 4 * n**2 * WIDE + 8 * n**2
    within(
        call,
        "work / that of one pass over the tiles",
        counted(call, rng, n, WIDE, WIDE_BLOCK).flops / needed,
        WORK_OF_ONE_PASS,
        "more is computed than one pass over the tiles needs",
        kind="twice",
    )


def some_rows(i, Q, K, V):
    """Rows i of ordinary attention."""
    return (Q[..., i, :] @ K.mT / Q.shape[-1] ** 0.5).softmax(dim=-1) @ V


@exercise.check(points=0.5, after=equals_ordinary_attention, gpu=True)
def memory_on_a_gpu_grows_like_n(call, rng):
    """On a GPU the peak memory of torch_flash grows like n, up to n = 32 768, the time like n²."""
    grows_on_gpu(call, time=2, memory=1, rows=some_rows, sizes=[2**i for i in range(10, 16)])


@exercise.misconception
def builds_the_matrix(Q, K, V, block=64, causal=False):
    """You make an n × m array of scores. Which parts of it are needed at the same time?"""
    return ordinary(Q, K, V, causal)


@exercise.misconception
def whole_rows(Q, K, V, block=64, causal=False):
    """You compute whole rows of scores, `block` of them at a time. Cut along the keys, too."""
    parts = []
    for i in range(0, len(Q), block):
        S = Q[i : i + block] @ K.T / np.sqrt(Q.shape[1]).astype(Q.dtype)
        if causal:
            S = np.where(np.arange(len(K)) > np.arange(i, i + len(S))[:, None], -inf, S)
        parts.append(of_scores(S, V))
    return joined(parts)


@exercise.misconception
def wide_tiles(Q, K, V, block=64, causal=False):
    """Your tiles are wider than `block` keys. Blocks of queries and of keys have `block` rows."""
    if causal:
        return flash_attention(Q, K, V, block, True)
    rows = (Q[i : i + block] for i in range(0, len(Q), block))
    return joined(flash_attention(q, K, V, 2 * block) for q in rows)


@exercise.misconception
def block_ignored(Q, K, V, block=64, causal=False):
    """Your tiles have the same size whatever `block` says."""
    return flash_attention(Q, K, V, 64, causal)


@exercise.misconception
def whole_where_blocks_fit(Q, K, V, block=64, causal=False):
    """Where the blocks fit exactly you make the whole matrix, which is no smaller for that."""
    if len(Q) % block or len(K) % block:
        return flash_attention(Q, K, V, block, causal)
    return ordinary(Q, K, V, causal)


@exercise.misconception
def mask_of_everything(Q, K, V, block=64, causal=False):
    """You make an n × n mask. A tile's own rows and columns are enough to tell what it may see."""
    if causal:
        np.tril(np.ones((len(Q), len(K)), bool))
    return flash_attention(Q, K, V, block, causal)


@exercise.misconception
def tiles_kept(Q, K, V, block=64, causal=False):
    """Your tiles are small, but you keep all of them: together they are the matrix."""
    kept = [
        [(j, scores(Q, K, i, j, block, causal)) for j in columns]
        for i, columns in tiles(len(Q), len(K), block, causal)
    ]
    parts = []
    for row in kept:
        top = np.max([S.max(axis=1) for _, S in row], axis=0)
        shifted = [(np.exp(S - top[:, None]), V[j : j + block]) for j, S in row]
        total = sum(P.sum(axis=1) for P, _ in shifted)
        mixed = sum(P @ v for P, v in shifted)
        parts.append((mixed / total[:, None], top + np.log(total)))
    return joined(parts)


@exercise.misconception
def two_passes(Q, K, V, block=64, causal=False):
    """You go through the tiles twice, first for the maximum. Correct it on the way instead."""
    parts = []
    for i, columns in tiles(len(Q), len(K), block, causal):
        top = np.full(len(Q[i : i + block]), -inf, Q.dtype)
        for j in columns:
            top = np.maximum(top, scores(Q, K, i, j, block, causal).max(axis=1))
        total, mixed = 0, 0
        for j in columns:
            P = np.exp(scores(Q, K, i, j, block, causal) - top[:, None])
            total, mixed = total + P.sum(axis=1), mixed + P @ V[j : j + block]
        parts.append((mixed / total[:, None], top + np.log(total)))
    return joined(parts)


def with_later_tiles(Q, K, V, block, causal, most):
    """Add so many tiles of every row in which nothing may be seen: masked, they add 0."""
    out, lse = flash_attention(Q, K, V, block, causal)
    for i in range(0, len(Q) if causal else 0, block):
        for j in [*range(i + block, len(K), block)][:most]:
            out[i : i + block] += np.exp(scores(Q, K, i, j, block, True)) @ V[j : j + block]
    return out, lse


@exercise.misconception
def nothing_skipped(Q, K, V, block=64, causal=False):
    """You mask tiles in which nothing may be seen. They needn't be computed at all."""
    return with_later_tiles(Q, K, V, block, causal, most=None)


@exercise.misconception
def one_tile_beside(Q, K, V, block=64, causal=False):
    """You compute a tile to the right of the diagonal in every row of tiles. What is seen there?"""
    return with_later_tiles(Q, K, V, block, causal, most=1)


def slipped(Q, K, V, block, causal, *, shifted=True, rescaled=()):
    """The same without a maximum, or where not all of the sums get their factor."""
    parts = []
    for i, columns in tiles(len(Q), len(K), block, causal):
        top = np.full(len(Q[i : i + block]), -inf if shifted else 0, Q.dtype)
        total, mixed = np.zeros_like(top), np.zeros((len(top), V.shape[1]), Q.dtype)
        for j in columns:
            S = scores(Q, K, i, j, block, causal)
            new = np.maximum(top, S.max(axis=1)) if shifted else top
            P, old = np.exp(S - new[:, None]), np.exp(top - new)
            total = (old * total if "sum" in rescaled else total) + P.sum(axis=1)
            mixed = (old[:, None] * mixed if "output" in rescaled else mixed) + P @ V[j : j + block]
            top = new
        parts.append((mixed / total[:, None], top + np.log(total)))
    return joined(parts)


@exercise.misconception
def never_rescaled(Q, K, V, block=64, causal=False):
    """Tiles with different maxima are added up as they are. What was collected needs a factor."""
    return slipped(Q, K, V, block, causal)


@exercise.misconception
def output_not_rescaled(Q, K, V, block=64, causal=False):
    """l gets its factor when the maximum grows, and o does not. Both belong to the old maximum."""
    return slipped(Q, K, V, block, causal, rescaled=["sum"])


@exercise.misconception
def plain_exponentials(Q, K, V, block=64, causal=False):
    """You use exp of the scores as they are. Large scores overflow: subtract a running maximum."""
    return slipped(Q, K, V, block, causal, shifted=False)


@exercise.misconception
def tiles_averaged(Q, K, V, block=64, causal=False):
    """You averaged the outputs of the tiles. They count by their sums of exponentials."""
    out, lse = [], ordinary(Q, K, V, causal)[1]
    for i, columns in tiles(len(Q), len(K), block, causal):
        parts = []
        for j in columns:
            P = np.exp(scores(Q, K, i, j, block, causal) - lse[i : i + block, None])
            parts.append(P @ V[j : j + block] / P.sum(axis=1, keepdims=True))
        out.append(np.mean(parts, axis=0))
    return np.concatenate(out), lse


@exercise.misconception
def not_scaled(Q, K, V, block=64, causal=False):
    """The scores are not divided by √d_k."""
    return flash_attention(Q * np.sqrt(Q.shape[1]).astype(Q.dtype), K, V, block, causal)


@exercise.misconception
def sum_for_log_sum_exp(Q, K, V, block=64, causal=False):
    """The second result is log l alone. The maximum that was subtracted belongs to it."""
    return joined(
        (mixed / total[:, None], np.log(total))
        for _, total, mixed in states(Q, K, V, block, causal)
    )


@exercise.misconception
def last_tile_lost(Q, K, V, block=64, causal=False):
    """Keys beyond the last full block are lost. The last tile may be smaller."""
    m = max(len(K) // block * block, min(block, len(K)))
    return flash_attention(Q, K[:m], V[:m], block, causal)


@exercise.misconception
def last_tile_padded(Q, K, V, block=64, causal=False):
    """You padded the last tile with zeros. A key of zeros has the score 0, not the weight 0."""
    pad = -len(K) % block if len(K) > block else 0
    K, V = (np.pad(x, ((0, pad), (0, 0))) for x in (K, V))
    return flash_attention(Q, K, V, block, causal)


@exercise.misconception
def mask_of_the_first_tile(Q, K, V, block=64, causal=False):
    """Every tile has the mask of the first one. Compare positions in the whole sequence."""
    if not causal:
        return flash_attention(Q, K, V, block)
    within_tile = np.arange(len(Q)) % block
    hidden = within_tile > within_tile[:, None]
    return of_scores(np.where(hidden, -inf, all_scores(Q, K)), V)


@exercise.misconception
def diagonal_tiles_open(Q, K, V, block=64, causal=False):
    """You skip tiles, but the tiles on the diagonal are not masked inside."""
    if not causal:
        return flash_attention(Q, K, V, block)
    tile = np.arange(len(Q)) // block
    return of_scores(np.where(tile > tile[:, None], -inf, all_scores(Q, K)), V)


@exercise.misconception
def own_key_hidden(Q, K, V, block=64, causal=False):
    """Your mask hides the query's own key, and the first query sees nothing: that gives NaN."""
    if not causal:
        return flash_attention(Q, K, V, block)
    with np.errstate(all="ignore"):
        return of_scores(np.where(np.tri(len(Q), k=-1) > 0, all_scores(Q, K), -inf), V)


@exercise.misconception
def causal_ignored(Q, K, V, block=64, causal=False):
    """The argument `causal` has no effect."""
    return flash_attention(Q, K, V, block)


@exercise.misconception
def always_float64(Q, K, V, block=64, causal=False):
    """The result is float64 although the inputs are float32: np.zeros makes float64."""
    return tuple(x.astype(float) for x in flash_attention(Q, K, V, block, causal))


@exercise.part(points=0.5, answer=Count())
def tile_count():
    """Tiles for n = 8192 and blocks of 128."""
    return (8192 // 128) ** 2


tile_count.mistakes(
    tiles_of_one_row=(8192 // 128, "That is one row of tiles. There are as many rows."),
    lower_tiles=(64 * 65 // 2, "Without a mask every tile is visited."),
    entries_of_a_tile=(128**2, "That is the size of a tile. How many of them are there?"),
    sides_added=(
        64 + 64,
        "You added the two sides. Every block of queries meets every block of keys.",
    ),
    one_side_cut=(8192**2 // 128, "You cut along one side. A tile has 128 rows and 128 columns."),
)


@exercise.part(points=0.5, answer=Count())
def tiles_causal():
    """Tiles that are visited with causal skipping."""
    return 64 * 65 // 2


tiles_causal.mistakes(
    half_of_them=(64 * 64 // 2, "Tiles on the diagonal are needed as well."),
    below_the_diagonal=(
        64 * 63 // 2,
        "These are the tiles below the diagonal. Those on it are needed as well.",
    ),
    all_tiles=(64**2, "That is every tile. In many of them nothing may be seen."),
)


@exercise.part(points=0.5, answer=Count())
def running_floats():
    """Numbers in the running statistics m and l of all rows."""
    return 2 * 8192


running_floats.mistakes(
    log_sum_exps=(
        8192,
        "One number per row is what stays at the end. While it runs there are two.",
    ),
    statistics_of_a_block=(2 * 128, "That is one block of rows. The question is about all 8192."),
    statistics_per_tile=(
        2 * 128 * 64**2,
        "Statistics belong to rows: they are carried from tile to tile.",
    ),
)


@exercise.part(points=0.25, answer=Count())
def full_floats():
    """Numbers in the full matrix."""
    return 8192**2


full_floats.mistakes(
    bytes_of_the_matrix=(4 * 8192**2, "These are bytes in float32. Numbers are asked for."),
    lower_half=(8192 * 8193 // 2, "The matrix is stored with both halves."),
    one_row_of_weights=(8192, "That is a single row."),
)


@exercise.part(points=0.25, answer=Numbers(unit="KiB"))
def tile_kib():
    """KiB of one tile in float32."""
    return 128 * 128 * 4 / 1024


tile_kib.mistakes(
    kilobytes=(128 * 128 * 4 / 1000, "These are kB. A KiB has 1024 bytes."),
    numbers_in_k=(128 * 128 / 1024, "You counted numbers. A float32 takes four bytes."),
    tile_in_float64=(128 * 128 * 8 / 1024, "That is float64."),
)


chain = IndexedChain(
    start="sum(s_j*A_j, j)",
    target="sum(g_k*o_k, k)",
    indexed=("A", "g", "o", "v", "s"),
    definitions={"s_j": "sum(g_k*v_{j,k}, k)", "o_k": "sum(A_j*v_{j,k}, j)"},
    rules=("linearity of sums", "order of sums", "definition"),
)


@exercise.part(points=2, answer=Derivation(chain))
def shortcut_steps():
    """One row of rowsum(dA ∘ A), down to the row of rowsum(dO ∘ O)."""
    return [
        "sum(s_j*A_j, j)",
        "sum(sum(g_k*v_{j,k}, k)*A_j, j)",
        "sum(sum(g_k*v_{j,k}*A_j, k), j)",
        "sum(sum(g_k*v_{j,k}*A_j, j), k)",
        "sum(g_k*sum(A_j*v_{j,k}, j), k)",
        "sum(g_k*o_k, k)",
    ]


@shortcut_steps.alternative
def order_and_linearity_at_once():
    """Exchange the sums and take g_k out in one line."""
    return [
        "sum(sum(g_k*v_{j,k}, k)*A_j, j)",
        "sum(sum(g_k*v_{j,k}*A_j, k), j)",
        "sum(g_k*sum(A_j*v_{j,k}, j), k)",
        "sum(g_k*o_k, k)",
    ]


@shortcut_steps.alternative
def shortcut_in_latex():
    """Sums in LaTeX, the weight in front."""
    return [
        r"= \sum_j A_j \sum_k g_k v_{jk}",
        r"= \sum_j \sum_k A_j g_k v_{jk}",
        r"= \sum_k \sum_j A_j g_k v_{jk}",
        r"= \sum_k g_k \sum_j A_j v_{jk}",
        r"= \sum_k g_k o_k",
    ]


@shortcut_steps.alternative
def rules_named():
    """Name the rule of each line."""
    return [
        "= sum(A_j*sum(g_k*v_{j,k}, k), j)  # definition",
        "= sum(sum(A_j*g_k*v_{j,k}, k), j)  # linearity of sums",
        "= sum(sum(A_j*g_k*v_{j,k}, j), k)  # order of sums",
        "= sum(g_k*sum(A_j*v_{j,k}, j), k)  # linearity of sums",
        "= sum(g_k*o_k, k)  # definition",
    ]
