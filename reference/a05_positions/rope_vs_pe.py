"""How much of a table of scores is explained by the offset alone?

Source: Su et al. (2021), "RoFormer", section 3.2; Ke et al. (2021), "Rethinking positional
encoding", section 3.1.
"""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from autograder.exercise import Essay, Exercise, Numbers, agree

exercise = Exercise(
    "rope_vs_pe",
    title="Measure the relative information",
    source="Su et al. (2021), section 3.2; Ke et al. (2021), section 3.1",
    minutes=50,
    hints=[
        "All 64 scores have the same offset: they are a piece of one diagonal of a larger table. "
        "How much do they differ?",
        "The mean of a diagonal explains the part of the variance that depends on the offset:"
        " compare the variance of these means with that of all scores.",
    ],
)
positional_encoding = exercise.carries("a05_positions/pe_code", "positional_encoding")

d, n = 32, 64


@exercise.variant
def draw(rng):
    """seed: of the two contents x and y; offset: of the query from the key."""
    return {"seed": int(rng.integers(1000)), "offset": int(rng.integers(2, 9))}


def contents(seed):
    """Return x and y, as the notebook draws them."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=d), rng.normal(size=d)


def rotated(x, positions):
    """Return x at every position, shape (n, d)."""
    angle = np.asarray(positions)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    a, b, c, s = x[0::2], x[1::2], np.cos(angle), np.sin(angle)
    return np.stack([a * c - b * s, a * s + b * c], axis=-1).reshape(-1, d)


@exercise.part(points=1.75, answer=Numbers())
def added(seed, offset):
    """The standard deviation of the 64 scores with encodings added to x and y."""
    x, y = contents(seed)
    P = positional_encoding(n + offset, d)
    return np.std([(x + P[m + offset]) @ (y + P[m]) for m in range(n)])


@added.misconception()
def divided_by_n_less_one(seed, offset):
    """You divided by n − 1. np.std, as asked for, divides by n."""
    x, y = contents(seed)
    P = positional_encoding(n + offset, d)
    return np.std([(x + P[m + offset]) @ (y + P[m]) for m in range(n)], ddof=1)


@added.misconception()
def scaled(seed, offset):
    """You divided the scores by √d. Here they are taken without a scale."""
    return added.compute(seed, offset) / np.sqrt(d)


@added.misconception()
def without_offset(seed):
    """Query and key stand at the same position in yours."""
    x, y = contents(seed)
    return np.std(np.sum((x + positional_encoding(n, d)) * (y + positional_encoding(n, d)), axis=1))


@added.misconception()
def variance_instead(seed, offset):
    """That is the variance. Asked for is its root."""
    x, y = contents(seed)
    P = positional_encoding(n + offset, d)
    return np.var([(x + P[m + offset]) @ (y + P[m]) for m in range(n)])


@added.misconception()
def mean_instead(seed, offset):
    """That is the mean of the scores. Asked for is their standard deviation."""
    x, y = contents(seed)
    P = positional_encoding(n + offset, d)
    return np.mean([(x + P[m + offset]) @ (y + P[m]) for m in range(n)])


@added.misconception()
def key_ahead(seed, offset):
    """Query and key are exchanged: x, drawn first, is the query's, and stands at m + offset."""
    x, y = contents(seed)
    P = positional_encoding(n + offset, d)
    return np.std([(x + P[m]) @ (y + P[m + offset]) for m in range(n)])


@exercise.part(points=0.25, answer=Numbers(between=(0, 1e-12)))
def turned():
    """The same with rotations instead: a number so small that only rounding is left."""
    return 0.0


@turned.misconception()
def queries_turned_alone(seed, offset):
    """You turned the queries alone. Keys are turned by their own positions as well."""
    x, y = contents(seed)
    return np.std(rotated(x, np.arange(n) + offset) @ y)


@turned.misconception()
def score_itself(seed, offset):
    """That is one of the scores. Asked for is by how much the 64 differ."""
    x, y = contents(seed)
    return rotated(x, [offset])[0] @ y


@exercise.reference
def offset_r2(S: Float[ndarray, "n n"]) -> float:
    """Return the share of the variance of S that the mean of each diagonal explains."""
    n = len(S)
    i, j = np.indices(S.shape)
    offset = (i - j + n - 1).ravel()
    means = np.bincount(offset, S.ravel()) / np.bincount(offset)
    return float(1 - ((S.ravel() - means[offset]) ** 2).sum() / ((S - S.mean()) ** 2).sum())


@exercise.alternative
def diagonal_by_diagonal(S):
    """Add up what is left around the mean of each diagonal."""
    n = len(S)
    left = sum(((np.diag(S, o) - np.diag(S, o).mean()) ** 2).sum() for o in range(1 - n, n))
    return 1 - left / ((S - S.mean()) ** 2).sum()


@exercise.alternative
def by_variances(S):
    """The variance between the diagonals over the whole one."""
    means = np.zeros(S.shape)
    for o in range(1 - len(S), len(S)):
        means += np.diag(np.full(len(S) - abs(o), np.diag(S, o).mean()), o)
    return means.var() / S.var()


@exercise.alternative
def by_regression(S):
    """Least squares on one indicator per offset."""
    n = len(S)
    i, j = np.indices(S.shape)
    D = ((i - j).ravel()[:, None] == np.arange(1 - n, n)).astype(float)
    fit = D @ np.linalg.lstsq(D, S.ravel(), rcond=None)[0]
    return 1 - np.var(S.ravel() - fit) / np.var(S)


@exercise.check(points=1, visible=True)
def of_a_small_table(call, rng):
    """The right share for small tables of any numbers."""
    for n in (3, 6):
        S = rng.normal(size=(n, n))
        agree(call(S), offset_r2(S))


@exercise.check(points=1)
def one_for_a_toeplitz_table(call, rng):
    """A table that is constant along its diagonals is explained wholly, others aren't."""
    b, n = rng.normal(size=15), 8
    S = rng.normal(size=(n, n))
    agree(call(S), offset_r2(S))
    i, j = np.indices((n, n))
    agree(call(b[j - i + n - 1]), 1.0)


@exercise.check(points=1)
def large_means_change_nothing(call, rng):
    """Adding a constant to all scores, or scaling them, changes nothing."""
    S = rng.normal(size=(7, 7))
    agree(call(3 * S + 100), offset_r2(S), rtol=1e-7)


@exercise.misconception(credit=0.5)
def distance_without_direction(S):
    """You grouped by |i − j|. Ahead and behind are two different offsets."""
    i, j = np.indices(S.shape)
    distance = abs(i - j).ravel()
    means = np.bincount(distance, S.ravel()) / np.bincount(distance)
    return float(1 - ((S.ravel() - means[distance]) ** 2).sum() / ((S - S.mean()) ** 2).sum())


@exercise.misconception(credit=0.4)
def antidiagonals(S):
    """You grouped by i + j. An offset is a difference."""
    return offset_r2(S[:, ::-1])


@exercise.misconception(credit=0.5)
def share_left_over(S):
    """That is the share which the offset doesn't explain."""
    return 1 - offset_r2(S)


@exercise.misconception(credit=0.5)
def root_of_it(S):
    """You took the root. The share is R² itself."""
    return float(np.sqrt(offset_r2(S)))


@exercise.misconception(credit=0.4)
def mean_not_subtracted(S):
    """You compare with Σ S². A variance is measured around the mean of all entries."""
    left = (1 - offset_r2(S)) * ((S - S.mean()) ** 2).sum()
    return float(1 - left / (S**2).sum())


@exercise.misconception(credit=0.5)
def every_diagonal_counts_alike(S):
    """You averaged over diagonals. The long ones have more entries, so they count more."""
    n = len(S)
    means = np.array([np.diag(S, o).mean() for o in range(1 - n, n)])
    return float(means.var() / S.var())


@exercise.misconception(credit=0.5)
def every_rest_counts_alike(S):
    """You averaged the variances of the diagonals. Long ones have more entries and count more."""
    n = len(S)
    return float(1 - np.mean([np.diag(S, o).var() for o in range(1 - n, n)]) / S.var())


@exercise.misconception
def a_line_is_fitted(S):
    """You fitted a line over i − j. Every offset has a mean of its own, on no line."""
    i, j = np.indices(S.shape)
    return float(np.corrcoef((i - j).ravel(), S.ravel())[0, 1] ** 2)


@exercise.part(points=2, answer=Essay())
def reading():
    """What do the two shares say, and what don't they?

    (1) The product of two encodings depends on the offset alone; what spoils the sum are the cross
    terms of content and position. A rotation has none.

    (2) It says which information is there for two fixed contents, nothing yet about what a trained
    model makes of it.
    """
    return (
        "With encodings added the score has four terms: x·y, which is constant, P·P, which is a "
        "function of the offset, and two cross terms that depend on one position each. Rotations "
        "have no cross terms. Both are statements on the scores of two fixed vectors; a trained "
        "model may learn to use or to ignore either."
    )
