"""Latent keys and values: one short vector for each token, and keys that are never built.

Source: DeepSeek-AI (2024), "DeepSeek-V2", section 2.1.
"""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from autograder.exercise import Choice, Count, Exercise, Numbers, agree, covers, require, within
from reference.helpers import ATTENTION, softmax

exercise = Exercise(
    "mla",
    title="Keys that are never built",
    source="DeepSeek-AI (2024), DeepSeek-V2, section 2.1",
    minutes=35,
    hints=[
        "A score is q · (c W). Which product can be made before any token of the cache comes in?",
        "The same works behind the weights: first a weighted mean of the latents, then one "
        "product with the matrix of the values.",
        "For `madds` ask for every product: how many heads, how many cached tokens, and over how "
        "many numbers does its sum run?",
    ],
)


@exercise.variant
def draw(rng):
    """W_UK: (2, 3), c: (2,), q: (3,); sizes: h, g, d_k, d_c, d_r and m."""
    while True:
        W, c, q = rng.integers(-2, 4, (2, 3)), rng.integers(1, 4, 2), rng.integers(-2, 4, 3)
        several = (np.count_nonzero(x) > 1 for x in (q, c @ W, W @ q))
        if all(several) and np.any(c > 1) and q @ (c @ W):
            break
    sizes = {
        "h": rng.choice([32, 64, 96, 128]),
        "g": rng.choice([4, 8, 16]),
        "d_k": rng.choice([64, 128]),
        "d_c": rng.choice([256, 384, 512]),
        "d_r": rng.choice([32, 48, 64]),
        "m": rng.choice([2048, 4096, 8192]),
    }
    return {"W_UK": W, "c": c, "q": q} | {name: int(size) for name, size in sizes.items()}


@exercise.part(points=0.25, answer=Numbers())
def key(c, W_UK):
    """The key c W_UK, three numbers."""
    return c @ W_UK


@key.misconception()
def rows_added(W_UK):
    """You added up the rows of the matrix. Each row counts with its entry of c."""
    return W_UK.sum(axis=0)


@key.misconception()
def terms_of_the_key(c, W_UK):
    """You multiplied each row by its entry of c. Now add the rows."""
    return c[:, None] * W_UK


@exercise.part(points=0.25, answer=Numbers())
def score(q, key):
    """The score q · k, not yet divided."""
    return q @ key


@score.misconception()
def divided_already(q, key):
    """You divided by √3. The product itself was asked for; the scale comes at the end."""
    return q @ key / np.sqrt(3)


@score.misconception()
def terms_of_the_score(q, key):
    """These are the terms. A score is their sum."""
    return q * key


@exercise.part(points=0.5, answer=Numbers())
def absorbed(q, W_UK):
    """The absorbed query q′, two numbers with q′ · c = q · k."""
    return W_UK @ q


@absorbed.misconception()
def scale_inside(q, W_UK):
    """q′ · c shall be the unscaled score: divide once, at the end."""
    return W_UK @ q / np.sqrt(3)


@absorbed.misconception()
def row_by_row_with_c(q, W_UK, c):
    """These are the two terms of the score. c is multiplied in later: q′ serves every token."""
    return c * (W_UK @ q)


@absorbed.misconception()
def query_left_out(W_UK):
    """You added up the columns of the matrix. Each column counts with its entry of q."""
    return W_UK.sum(axis=1)


@exercise.part(points=1, answer=Count())
def cached(h, g, d_k, d_c, d_r):
    """Numbers cached per token and layer: all heads, shared keys, the latent form."""
    return [2 * h * d_k, 2 * g * d_k, d_c + d_r]


@cached.misconception()
def rotated_key_per_head(h, g, d_k, d_c, d_r):
    """The rotated key is shared by all heads: that is why it is cheap."""
    return [2 * h * d_k, 2 * g * d_k, d_c + h * d_r]


@cached.misconception()
def two_latents(h, g, d_k, d_c, d_r):
    """Keys and values are both read off the same c."""
    return [2 * h * d_k, 2 * g * d_k, 2 * d_c + d_r]


@cached.misconception()
def values_forgotten(h, g, d_k, d_c, d_r):
    """In the first two forms keys *and* values are kept."""
    return [h * d_k, g * d_k, d_c + d_r]


@cached.misconception()
def rotated_key_not_kept(h, g, d_k, d_c, d_r):
    """The rotated key can't be made of c: it is kept beside it."""
    return [2 * h * d_k, 2 * g * d_k, d_c]


@cached.misconception()
def latent_per_head(h, g, d_k, d_c, d_r):
    """The latent vector belongs to the token. All heads read the same one."""
    return [2 * h * d_k, 2 * g * d_k, h * (d_c + d_r)]


@cached.misconception()
def rotated_keys_everywhere(h, g, d_k, d_c, d_r):
    """In the first two forms rotated keys take no extra room."""
    return [2 * h * (d_k + d_r), 2 * g * (d_k + d_r), d_c + d_r]


@exercise.reference(without=ATTENTION)
def mla(
    q: Float[ndarray, "h n d_k"],
    q_r: Float[ndarray, "h n d_r"],
    c: Float[ndarray, "m d_c"],
    k_r: Float[ndarray, "m d_r"],
    W_UK: Float[ndarray, "h d_c d_k"],
    W_UV: Float[ndarray, "h d_c d_v"],
    mask: Bool[ndarray, "n m"] | None = None,
) -> Float[ndarray, "h n d_v"]:
    """Let the queries absorb W_UK, and let W_UV wait until the latents are averaged."""
    scores = (q @ np.swapaxes(W_UK, 1, 2)) @ c.T + q_r @ k_r.T
    return (weigh(scores / root(q, q_r), mask) @ c) @ W_UV


def root(q, q_r):
    """Return √(d_k + d_r)."""
    return np.sqrt(q.shape[-1] + q_r.shape[-1])


def weigh(scores, mask):
    """Return the weights of the allowed keys."""
    return softmax(scores if mask is None else np.where(mask, scores, -np.inf))


@exercise.alternative
def one_long_query(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """Put absorbed and rotated queries side by side: one product with what is cached."""
    query = np.concatenate([np.einsum("hnd,hcd->hnc", q, W_UK), q_r], axis=-1)
    scores = query @ np.concatenate([c, k_r], axis=-1).T / root(q, q_r)
    return np.einsum("hnc,hcv->hnv", weigh(scores, mask) @ c, W_UV)


@exercise.alternative
def head_by_head(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """Write a loop over the heads."""
    outputs = []
    for i in range(len(q)):
        scores = q[i] @ W_UK[i].T @ c.T + q_r[i] @ k_r.T
        outputs.append(weigh(scores / root(q, q_r), mask) @ c @ W_UV[i])
    return np.stack(outputs)


@exercise.alternative
def heads_below_each_other(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """The queries of all heads in one matrix, and a very negative number where masked."""
    h, n, _ = q.shape
    query = np.matmul(q, W_UK.transpose(0, 2, 1)).reshape(h * n, -1)
    scores = (query @ c.T + q_r.reshape(h * n, -1) @ k_r.T) / root(q, q_r)
    if mask is not None:
        scores = np.where(np.tile(mask, (h, 1)), scores, -1e30)
    E = np.exp(scores - scores.max(axis=1, keepdims=True))
    means = E @ c / E.sum(axis=1, keepdims=True)
    return means.reshape(h, n, -1) @ W_UV


def rebuilt(q, q_r, c, k_r, W_UK, W_UV, mask=None, scores=None):
    """Attention with keys and values of every head."""
    if scores is None:
        scores = (content(q, c, W_UK) + q_r @ k_r.T) / root(q, q_r)
    return weigh(scores, mask) @ (c @ W_UV)


def content(q, c, W_UK):
    """Return q · k for every head."""
    return q @ np.swapaxes(c @ W_UK, 1, 2)


def inputs(rng, h=3, n=2, m=5, d_k=4, d_r=2, d_c=6, d_v=3):
    """Seven different sizes, so that no wrong product fits by accident."""
    shapes = (h, n, d_k), (h, n, d_r), (m, d_c), (m, d_r), (h, d_c, d_k), (h, d_c, d_v)
    return [rng.normal(size=shape) for shape in shapes]


@exercise.check(points=1, visible=True)
def equals_the_form_with_keys(call, rng):
    """Gives what attention with the keys c W_UK and the values c W_UV gives."""
    for sizes in ({}, {"n": 4, "m": 7}):
        x = inputs(rng, **sizes)
        agree(call(*x), rebuilt(*x))


@exercise.check(points=0.25)
def content_alone(call, rng):
    """Where the rotated queries are 0, only the content decides; where q is 0, only the place.

    So it is with scores in the thousands.
    """
    q, q_r, *rest = inputs(rng)
    for x in ((q, 0 * q_r, *rest), (0 * q, q_r, *rest), (3000 * q, q_r, *rest)):
        agree(call(*x), rebuilt(*x))


@exercise.check(points=0.25)
def equal_latents_give_their_value(call, rng):
    """If all tokens have the same latent vector, each head gives the value of that vector."""
    q, q_r, c, k_r, W_UK, W_UV = inputs(rng)
    c[:] = c[0]
    out = call(q, q_r, c, k_r, W_UK, W_UV)
    agree(out, np.repeat((c[0] @ W_UV)[:, None], 2, axis=1))


@exercise.check(points=0.5)
def mask_hides_tokens(call, rng):
    """A token that the mask blocks has no weight; a mask of True changes nothing."""
    for mask in (np.ones((4, 5), bool), np.tri(4, 5, 1, dtype=bool)):
        x = inputs(rng, n=4)
        agree(call(*x, mask=mask), rebuilt(*x, mask))


@exercise.check(points=0.25)
def one_head(call, rng):
    """A single head, a single query and a single cached token keep their axes."""
    for sizes in ({"h": 1}, {"h": 1, "n": 1}, {"n": 1, "m": 1}):
        x = inputs(rng, **sizes)
        out = call(*x)
        require(np.shape(out) == rebuilt(*x).shape, f"the output has shape {np.shape(out)}")
        agree(out, rebuilt(*x))


@exercise.check(points=0.75, after=equals_the_form_with_keys)
def no_keys_are_built(call, rng):
    """With one query and 1024 cached tokens no array holds the keys or values of the heads."""
    h, m, d = 8, 1024, 32
    x = inputs(rng, h, 1, m, d, 16, d, d)
    work = call.work(*x)
    agree(work.value, rebuilt(*x))
    needed = 2 * h * m * (2 * d + 16)
    covers(work, needed)
    within(
        call,
        "entries of the largest array / keys of all heads",
        work.largest / (h * m * d),
        0.5,
        "an array is as large as the keys, or the values, of all heads",
        kind="array",
    )
    within(
        call,
        "arithmetic / what the absorbed form needs",
        work.flops / needed,
        6,
        "keys or values are built, one head after the other",
        kind="flops",
    )


@exercise.misconception
def keys_rebuilt(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """You build keys and values of all cached tokens. Change the brackets: W_UK can go to q."""
    return rebuilt(q, q_r, c, k_r, W_UK, W_UV, mask)


@exercise.misconception
def keys_rebuilt_for_each_head(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """You build keys and values, a head at a time. That saves memory and no work."""
    heads = zip(q, q_r, W_UK, W_UV, strict=True)
    return np.stack(
        [rebuilt(a[None], b[None], c, k_r, U[None], W[None], mask)[0] for a, b, U, W in heads]
    )


@exercise.misconception(credit=0.5)
def root_of_d_k(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """You divided by √d_k. The score is that of a key of d_k + d_r numbers."""
    scores = (content(q, c, W_UK) + q_r @ k_r.T) / np.sqrt(q.shape[-1])
    return rebuilt(q, q_r, c, k_r, W_UK, W_UV, mask, scores)


@exercise.misconception(credit=0.5)
def root_of_the_latent(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """You divided by √(d_c + d_r). Absorbing is a change of brackets: the score stays the same."""
    scores = (content(q, c, W_UK) + q_r @ k_r.T) / np.sqrt(c.shape[-1] + q_r.shape[-1])
    return rebuilt(q, q_r, c, k_r, W_UK, W_UV, mask, scores)


@exercise.misconception(credit=0.4)
def rotated_part_left_out(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """The rotated part is missing. Without it the layer knows no positions."""
    scores = content(q, c, W_UK) / np.sqrt(q.shape[-1])
    return rebuilt(q, q_r, c, k_r, W_UK, W_UV, mask, scores)


@exercise.misconception(credit=0.4)
def rotated_part_in_the_root_alone(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """The rotated part counts in your root, and its product is missing from the scores."""
    return rebuilt(q, q_r, c, k_r, W_UK, W_UV, mask, content(q, c, W_UK) / root(q, q_r))


@exercise.misconception(credit=0.5)
def scaled_separately(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """You divided both parts by roots of their own. They make one score, which has one scale."""
    scores = content(q, c, W_UK) / np.sqrt(q.shape[-1]) + q_r @ k_r.T / np.sqrt(q_r.shape[-1])
    return rebuilt(q, q_r, c, k_r, W_UK, W_UV, mask, scores)


@exercise.misconception(credit=0.4)
def no_maximum_taken_off(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """Your exponentials overflow for large scores: take the largest score of each row off."""
    scores = (content(q, c, W_UK) + q_r @ k_r.T) / root(q, q_r)
    with np.errstate(all="ignore"):
        weights = np.exp(scores if mask is None else np.where(mask, scores, -np.inf))
        weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ (c @ W_UV)


@exercise.misconception(credit=0.4)
def never_scaled(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """The scores are not divided: the root of the width is missing."""
    scores = content(q, c, W_UK) + q_r @ k_r.T
    return rebuilt(q, q_r, c, k_r, W_UK, W_UV, mask, scores)


@exercise.misconception(credit=0.4)
def values_of_the_first_head(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """All heads read their values with the first head's matrix. Each has a W_UV of its own."""
    return mla(q, q_r, c, k_r, W_UK, np.broadcast_to(W_UV[:1], W_UV.shape), mask)


@exercise.misconception
def mask_ignored(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """The mask has no effect."""
    return mla(q, q_r, c, k_r, W_UK, W_UV)


@exercise.misconception
def weights_masked(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """You masked the weights, which no longer add up to 1. Mask the scores."""
    if mask is None:
        return mla(q, q_r, c, k_r, W_UK, W_UV)
    scores = (content(q, c, W_UK) + q_r @ k_r.T) / root(q, q_r)
    return softmax(scores) * mask @ c @ W_UV


@exercise.misconception
def axes_squeezed(q, q_r, c, k_r, W_UK, W_UV, mask=None):
    """Axes of length 1 disappear: a single head is still a head."""
    return np.squeeze(mla(q, q_r, c, k_r, W_UK, W_UV, mask))


@exercise.part(points=1.5, answer=Count())
def madds(h, m, d_k, d_c, d_r):
    """Madds of scores and weighted sums for one query: stored, absorbed, rebuilt."""
    stored = h * m * (d_k + d_r + d_k)
    return [stored, h * m * (d_c + d_r + d_c), stored + h * m * d_c * 2 * d_k]


@madds.misconception()
def scores_alone(h, m, d_k, d_c, d_r):
    """You counted the scores. The weighted sum takes as much again, but for the rotated part."""
    scores = h * m * (d_k + d_r)
    return [scores, h * m * (d_c + d_r), scores + h * m * d_c * d_k]


@madds.misconception()
def rotated_part_forgotten(h, m, d_k, d_c, d_r):
    """The product of the rotated parts is missing in all three."""
    return [2 * h * m * d_k, 2 * h * m * d_c, 2 * h * m * d_k + 2 * h * m * d_c * d_k]


@madds.misconception()
def keys_rebuilt_once(h, m, d_k, d_c, d_r):
    """What is rebuilt are keys *and* values, and every head has its own."""
    stored = h * m * (d_k + d_r + d_k)
    return [stored, h * m * (2 * d_c + d_r), stored + m * d_c * 2 * d_k]


@madds.misconception()
def one_head_alone(m, d_k, d_c, d_r):
    """That is one head. Every head has a query of its own."""
    stored = m * (2 * d_k + d_r)
    return [stored, m * (2 * d_c + d_r), stored + m * d_c * 2 * d_k]


@madds.misconception()
def one_cached_token(h, d_k, d_c, d_r):
    """That is for one cached token. There are m of them."""
    stored = h * (2 * d_k + d_r)
    return [stored, h * (2 * d_c + d_r), stored + h * d_c * 2 * d_k]


@madds.misconception()
def rotated_values(h, m, d_k, d_c, d_r):
    """The rotated part counts for the scores alone. Values have no such part."""
    stored = 2 * h * m * (d_k + d_r)
    return [stored, 2 * h * m * (d_c + d_r), stored + h * m * d_c * 2 * d_k]


@madds.misconception()
def rotated_scores_left_out_when_absorbed(h, m, d_k, d_c, d_r):
    """In the absorbed form the rotated queries meet the rotated keys as before."""
    stored = h * m * (2 * d_k + d_r)
    return [stored, 2 * h * m * d_c, stored + h * m * d_c * 2 * d_k]


@madds.misconception()
def values_built_when_absorbed(h, m, d_k, d_c, d_r):
    """In the absorbed form the weights meet the latents. How many numbers has each of those?"""
    stored = h * m * (2 * d_k + d_r)
    return [stored, h * m * (d_c + d_r + d_k), stored + h * m * d_c * 2 * d_k]


@madds.misconception()
def built_and_not_used(h, m, d_k, d_c, d_r):
    """In the last form keys and values are built *and then used*, as the stored ones are."""
    return [h * m * (2 * d_k + d_r), h * m * (2 * d_c + d_r), h * m * d_c * 2 * d_k]


@madds.misconception()
def keys_alone_rebuilt(h, m, d_k, d_c, d_r):
    """Values are built from c as well as keys."""
    stored = h * m * (2 * d_k + d_r)
    return [stored, h * m * (2 * d_c + d_r), stored + h * m * d_c * d_k]


@madds.misconception()
def absorbing_counted(h, m, d_k, d_c, d_r):
    """In the absorbed form the products of the single query with W_UK and W_UV are left out."""
    stored, absorbed = h * m * (2 * d_k + d_r), h * m * (2 * d_c + d_r)
    return [stored, absorbed + 2 * h * d_c * d_k, stored + h * m * d_c * 2 * d_k]


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "It would stand between $W_Q$ and $W_{UK}^\\top$ and depend on $i - j$, so that no "
            "fixed product of the two exists.",
            "Rotations change norms, and with them the variance of the scores.",
            "$c$ is too short to be rotated in pairs.",
            "The values, which are made of $c$ as well, would be rotated with it.",
        ]
    ),
)
def why_apart():
    """Why is the rotation kept out of the latent part?"""
    return "A"


why_apart.mistakes(
    norms_change=(
        "B",
        "A rotation keeps every length. What becomes of W_Q W_UKᵀ with a rotation in its middle?",
    ),
    too_short=(
        "C",
        "c is hundreds of numbers long. What becomes of W_Q W_UKᵀ with a rotation in its middle?",
    ),
    values_too=(
        "D",
        "One may rotate keys alone. What becomes of W_Q W_UKᵀ with a rotation in its middle?",
    ),
)
