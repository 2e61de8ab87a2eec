"""Scores that meet a vector for the offset: one query by hand, then all of them.

Source: Shaw, Uszkoreit & Vaswani (2018), "Self-attention with relative position representations".
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Count, Exercise, Numbers, agree, covers, within
from autograder.exercise.properties import each_by_itself

exercise = Exercise(
    "shaw_score",
    title="A vector for every offset",
    source="Shaw et al. (2018), section 3",
    minutes=35,
    hints=[
        "Begin with the offsets j − i of all keys from your query. Which of them are beyond ±K?",
        "The first row of R belongs to the offset −K. What has to be added to an offset to make "
        "it the number of a row?",
        "The same few products of a query with the rows of R serve all of its keys: compute them "
        "once, and pick for each key the one that it needs.",
    ],
)


@exercise.variant
def draw(rng):
    """q: (4,), the query at position i; K: (4, 4), keys; R: (3, 4), for the offsets −1, 0, 1."""
    return {
        "q": rng.integers(-2, 4, 4),
        "K": rng.integers(-1, 3, (4, 4)),
        "R": rng.integers(-1, 4, (3, 4)),
        "i": int(rng.integers(0, 4)),
    }


def row_of(offset, K):
    """The row of a table for −K … K that an offset gets."""
    return np.clip(offset, -K, K) + K


def are_rows(rows):
    """Are these numbers of rows of R?"""
    return bool(np.all((rows >= 0) & (rows <= 2)))


@exercise.part(points=0.5, answer=Count(), carry_if=are_rows)
def rows(i):
    """The row of R for each of the four keys, counted from 0."""
    return row_of(np.arange(4) - i, 1)


@rows.misconception()
def rows_reversed(i):
    """You took i − j. The offset of a key is j − i, negative for keys before the query."""
    return row_of(i - np.arange(4), 1)


@rows.misconception()
def offsets_themselves(i):
    """These are the clipped offsets. The first row of R is for −1, and its number is 0."""
    return np.clip(np.arange(4) - i, -1, 1)


@rows.misconception()
def offsets_not_clipped(i):
    """R has three rows. Farther keys take the nearer end."""
    return np.arange(4) - i + 1


@rows.misconception()
def wrapped_around(i):
    """Far offsets begin again at the other end in yours. Clipped, they stay at their own end."""
    return (np.arange(4) - i + 1) % 3


@exercise.part(points=1, answer=Numbers())
def scores(q, K, R, rows):
    """The four scores (q · k_j + q · r) / √d_k of your query."""
    return (K @ q + R[np.asarray(rows, int)] @ q) / 2


@scores.misconception(credit=0.25)
def content_alone(q, K):
    """These are the scores without the vectors for the offsets."""
    return K @ q / 2


@scores.misconception(credit=0.5)
def location_outside(q, K, R, rows):
    """You divided one of the two products. Both of them grow with the width: divide the sum."""
    return K @ q / 2 + R[np.asarray(rows, int)] @ q


@scores.misconception(credit=0.5)
def not_divided(q, K, R, rows):
    """The division by √d_k is missing."""
    return K @ q + R[np.asarray(rows, int)] @ q


@scores.misconception(credit=0.5)
def divided_by_the_width(q, K, R, rows):
    """You divided by d_k. Divide by its root."""
    return (K @ q + R[np.asarray(rows, int)] @ q) / 4


@scores.misconception(credit=0.25)
def keys_meet_the_offsets(q, K, R, rows):
    """In yours the vectors for the offsets meet the keys. It is the query that meets them."""
    return (K @ q + (K * R[np.asarray(rows, int)]).sum(axis=1)) / 2


@exercise.reference
def relative_scores(
    Q: Float[ndarray, "*batch n d"], K: Float[ndarray, "*batch n d"], R: Float[ndarray, "o d"]
) -> Float[ndarray, "*batch n n"]:
    """Add to each score the query times the vector of the clipped offset, and scale the sum."""
    location = Q @ R.T
    rows = np.broadcast_to(table(Q, R), (*Q.shape[:-1], Q.shape[-2]))
    content = Q @ np.swapaxes(K, -1, -2)
    return (content + np.take_along_axis(location, rows, -1)) / np.sqrt(Q.shape[-1])


def table(Q, R):
    """The row of R for each pair of a query and a key, (n, n)."""
    position = np.arange(Q.shape[-2])
    return row_of(position - position[:, None], len(R) // 2)


@exercise.alternative
def query_after_query(Q, K, R):
    """Add the vectors to the keys, for one query at a time."""
    rows, result = table(Q, R), np.zeros((*Q.shape[:-1], Q.shape[-2]))
    for i in range(Q.shape[-2]):
        keys = K + R[rows[i]]
        result[..., i, :] = np.einsum("...d,...jd->...j", Q[..., i, :], keys)
    return result / Q.shape[-1] ** 0.5


@exercise.alternative
def offset_after_offset(Q, K, R):
    """Where does each row of R belong?"""
    rows = table(Q, R)
    scores = Q @ np.swapaxes(K, -1, -2)
    for number, r in enumerate(R):
        scores = scores + (rows == number) * (Q @ r)[..., None]
    return scores * Q.shape[-1] ** -0.5


@exercise.alternative
def by_windows(Q, K, R):
    """Repeat the ends of the products, then cut a window out for every query."""
    n, c = Q.shape[-2], len(R) // 2
    location = np.einsum("...id,od->...io", Q, R)
    long = np.pad(location, [(0, 0)] * (Q.ndim - 1) + [(n, n)], mode="edge")
    cut = [long[..., i, n + c - i : 2 * n + c - i] for i in range(n)]
    return (np.einsum("...id,...jd->...ij", Q, K) + np.stack(cut, -2)) / np.sqrt(Q.shape[-1])


def inputs(rng, n, d, c, *batch):
    """Queries, keys, and vectors for the offsets −c … c."""
    q, k = rng.normal(size=(2, *batch, n, d))
    return q, k, rng.normal(size=(2 * c + 1, d))


@exercise.check(points=1, visible=True)
def matches_the_formula(call, rng):
    """Score i, j is (q_i · k_j + q_i · r) / √d_k, where no offset is clipped."""
    Q, K, R = inputs(rng, 4, 6, 3)
    agree(call(Q, K, R), relative_scores(Q, K, R))


@exercise.check(points=0.5)
def offsets_beyond_are_clipped(call, rng):
    """Offsets beyond ±K take the vector at ±K; a single vector is everybody's."""
    for n, c in ((7, 2), (3, 0)):
        Q, K, R = inputs(rng, n, 5, c)
        agree(call(Q, K, R), relative_scores(Q, K, R))


@exercise.check(points=0.5)
def batches_and_heads(call, rng):
    """Axes in front belong to examples and heads, which share R."""
    Q, K, R = inputs(rng, 4, 3, 1, 2, 3)
    each_by_itself(lambda Q, K: call(Q, K, R), Q, K)
    agree(call(Q, K, R), relative_scores(Q, K, R))


@exercise.check(points=0.5, after=matches_the_formula)
def no_table_of_pairs(call, rng):
    """Nothing is as large as a vector for every pair of a query and a key."""
    n, d = 48, 40
    Q, K, R = inputs(rng, n, d, n)  # long enough for whoever doesn't clip
    work = call.work(Q, K, R)
    agree(work.value, relative_scores(Q, K, R))
    covers(work, 2 * n * n * d)
    within(
        call,
        "largest array / n²",
        work.largest / n**2,
        8,
        "a vector is laid out for every pair",
        kind="memory",
    )


@exercise.misconception(credit=0.5)
def transposed_offsets(Q, K, R):
    """You took i − j. The offset of a key is j − i, negative for keys before the query."""
    return relative_scores(Q, K, R[::-1])


@exercise.misconception(credit=0.5)
def key_meets_the_vector(Q, K, R):
    """In yours a key meets the vector of an offset. It is the query that does, in its own row."""
    rows = np.broadcast_to(table(Q, R), (*Q.shape[:-1], Q.shape[-2]))
    location = np.take_along_axis(K @ R.T, rows, -1)
    return (Q @ np.swapaxes(K, -1, -2) + location) / np.sqrt(Q.shape[-1])


@exercise.misconception(credit=0.5)
def index_not_moved(Q, K, R):
    """Your index is the offset itself. But R[0] is for the offset −K: the diagonal takes R[K]."""
    return relative_scores(Q, K, np.roll(R, len(R) // 2, axis=0))


@exercise.misconception(credit=0.5)
def unscaled(Q, K, R):
    """The division by √d_k is missing."""
    return relative_scores(Q, K, R) * np.sqrt(Q.shape[-1])


@exercise.misconception(credit=0.5)
def only_content_scaled(Q, K, R):
    """You divided one of the two products. Both of them grow with the width: divide the sum."""
    content = relative_scores(Q, K, 0 * R)
    return content + np.sqrt(Q.shape[-1]) * (relative_scores(Q, K, R) - content)


@exercise.misconception(credit=0.3)
def key_times_offset(Q, K, R):
    """In yours the vectors for the offsets meet the keys. It is the query that meets them."""
    location = relative_scores(K, 0 * K, R[::-1])
    return relative_scores(Q, K, 0 * R) + np.swapaxes(location, -1, -2)


@exercise.misconception(fatal="these are the scores of attention without positions")
def content_only(Q, K, R):
    """These are the scores without the vectors for the offsets."""
    return relative_scores(Q, K, 0 * R)


@exercise.misconception(credit=0.5)
def never_clipped(Q, K, R):
    """Offsets beyond ±K have no row of their own in R: they take the one at the nearer end."""
    position = np.arange(Q.shape[-2])
    rows = position - position[:, None] + len(R) // 2
    location = np.take_along_axis(Q @ R.T, np.broadcast_to(rows, (*Q.shape[:-1], len(rows))), -1)
    return relative_scores(Q, K, 0 * R) + location / np.sqrt(Q.shape[-1])


@exercise.misconception(credit=0.5)
def zero_beyond(Q, K, R):
    """Far offsets get no vector in yours. Clipped, they take the last one that there is."""
    position = np.arange(Q.shape[-2])
    near = abs(position - position[:, None]) <= len(R) // 2
    return np.where(near, relative_scores(Q, K, R), relative_scores(Q, K, 0 * R))


@exercise.misconception
def batch_forgotten(Q, K, R):
    """`.T` turns all axes round. Of a batch exchange the last two alone."""
    return Q @ K.T / np.sqrt(Q.shape[-1]) + relative_scores(Q, 0 * K, R)


@exercise.misconception
def vector_for_every_pair(Q, K, R):
    """The result is right, but n² vectors are laid out. A query meets 2K + 1 of them at most."""
    pairs = R[table(Q, R)]
    scores = Q @ np.swapaxes(K, -1, -2) + np.einsum("...id,ijd->...ij", Q, pairs)
    return scores / np.sqrt(Q.shape[-1])
