"""Histograms of scores, unscaled and scaled, for several widths.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.1, footnote 4.
"""

import functools
import math

import numpy as np

from autograder.exercise import Exercise, Figure, Numbers

exercise = Exercise(
    "score_histograms",
    title="Histograms of scores",
    source="Vaswani et al. (2017), section 3.2.1, footnote 4",
    minutes=25,
    hints=[
        "`np.histogram(scores, bins=edges)` counts what falls between the edges. By which number "
        "do counts become shares of all pairs?",
        "What lies outside the outermost edges is in no bin. So what does the sum of all your "
        "bars say?",
        "For `predicted`: which deviation have scores of this width, and how many deviations wide "
        "is the bin?",
    ],
)

WIDTHS = (4, 16, 64, 256)
PAIRS = 2000
EDGES, NARROW = np.linspace(-32, 32, 33), np.linspace(-4, 4, 33)


@exercise.variant
def draw(rng):
    """seed: of the generator that draws your queries and keys."""
    return {"seed": int(rng.integers(100, 1000))}


@functools.lru_cache(maxsize=1)  # 11 MB, and most of the time that this exercise takes
def numbers(seed):
    """All that a seed draws, in a row: however it is dealt out, it is the same."""
    return np.random.default_rng(seed).normal(size=2 * PAIRS * sum(WIDTHS))


def products(seed, order):
    """The products q · k of each width, where the numbers are dealt out to widths in an order."""
    parts = np.split(numbers(seed), np.cumsum([PAIRS * d for d in order])[:-1])
    for d in WIDTHS:
        q, k = (part.reshape(PAIRS, d) for part, own in zip(parts, order, strict=True) if own == d)
        yield d, (q * k).sum(axis=1)


@functools.cache  # each part and each mistake wants them again
def scores(seed):
    """The scores of 2000 pairs for each width, in the order in which the text draws them."""
    return dict(products(seed, np.repeat(WIDTHS, 2)))


def shares(values, edges):
    """The share of all pairs that falls into each bin."""
    return np.histogram(values, bins=edges)[0] / len(values)


@exercise.part(points=1, answer=Figure())
def unscaled(seed):
    """The share of the 2000 scores q · k in each bin of `edges`: {d_k: 32 heights}."""
    return {d: shares(s, EDGES) for d, s in scores(seed).items()}


@unscaled.alternative
def by_counting_below(seed):
    """Differences of the shares below each edge."""
    below = {d: (s[:, None] < EDGES).mean(axis=0) for d, s in scores(seed).items()}
    return {d: np.diff(share) for d, share in below.items()}


@unscaled.misconception(credit=0.5)
def counts_drawn(seed):
    """These are counts. Divide by the number of pairs, so that a height is a share."""
    return {d: PAIRS * shares(s, EDGES) for d, s in scores(seed).items()}


@unscaled.misconception(credit=0.5)
def densities_drawn(seed):
    """These are densities: shares of what lies inside, for each unit. What is outside is hidden."""
    return {d: np.histogram(s, EDGES, density=True)[0] for d, s in scores(seed).items()}


@unscaled.misconception(credit=0.5)
def shares_of_the_inside(seed):
    """Your bars always add up to 1: scores beyond the edges are hidden. Divide by all pairs."""
    bars = {d: shares(s, EDGES) for d, s in scores(seed).items()}
    return {d: row / row.sum() for d, row in bars.items()}


@unscaled.misconception()
def scaled_drawn_first(seed):
    """These scores are divided by √d_k. First come those that aren't."""
    return {d: shares(s / np.sqrt(d), EDGES) for d, s in scores(seed).items()}


@unscaled.misconception()
def keys_before_queries(seed):
    """Your numbers are drawn in another order. For each width first q, then k, as in the text."""
    return {d: shares(s, EDGES) for d, s in products(seed, WIDTHS * 2)}


@exercise.part(points=1, answer=Figure())
def scaled(seed):
    """The share of the scores q · k / √d_k in each bin of `narrow`: {d_k: 32 heights}."""
    return {d: shares(s / np.sqrt(d), NARROW) for d, s in scores(seed).items()}


@scaled.alternative
def wider_edges(seed):
    """Scale the edges instead of the scores."""
    return {d: shares(s, NARROW * np.sqrt(d)) for d, s in scores(seed).items()}


@scaled.misconception()
def divided_by_the_width(seed):
    """You divided by d_k: wide heads have hardly any scores left but 0. Divide by its root."""
    return {d: shares(s / d, NARROW) for d, s in scores(seed).items()}


@scaled.misconception()
def not_scaled_at_all(seed):
    """These are the unscaled scores between narrower edges."""
    return {d: shares(s, NARROW) for d, s in scores(seed).items()}


@scaled.misconception()
def edges_too_wide(seed):
    """You took the wide edges again. Scaled scores need the narrow ones to be told apart."""
    return {d: shares(s / np.sqrt(d), EDGES) for d, s in scores(seed).items()}


@scaled.misconception(credit=0.5)
def scaled_counts(seed):
    """These are counts. Divide by the number of pairs, so that a height is a share."""
    return {d: PAIRS * shares(s / np.sqrt(d), NARROW) for d, s in scores(seed).items()}


@scaled.misconception(credit=0.5)
def scaled_densities(seed):
    """These are densities: shares of what lies inside, for each unit. What is outside is hidden."""
    return {
        d: np.histogram(s / np.sqrt(d), NARROW, density=True)[0] for d, s in scores(seed).items()
    }


@exercise.part(points=0.5, answer=Numbers())
def outside(seed):
    """The share of the unscaled scores of width 256 that no bin shows."""
    return np.mean(abs(scores(seed)[256]) > 32)


@outside.alternative
def what_the_bins_leave(unscaled):
    """What is missing to 1 in the student's own bins."""
    return 1 - np.sum(unscaled["256"])


@outside.misconception()
def inside(seed):
    """That is the share that the bins do show."""
    return np.mean(abs(scores(seed)[256]) <= 32)


@outside.misconception()
def one_side(seed):
    """These are the scores above 32. There are some below −32, too."""
    return np.mean(scores(seed)[256] > 32)


@outside.misconception()
def how_many(seed):
    """That is how many there are. Asked for is their share."""
    return np.sum(abs(scores(seed)[256]) > 32)


@exercise.part(points=0.5, answer=Numbers())
def predicted():
    """The share of unscaled scores of width 1024 between −2 and 2, if scores are normal."""
    return math.erf(2 / 32 / math.sqrt(2))


predicted.mistakes(
    deviation_is_the_width=(
        math.erf(2 / 1024 / math.sqrt(2)),
        "1024 is the variance of such scores. How large is the deviation?",
    ),
    one_half_of_the_bin=(
        math.erf(2 / 32 / math.sqrt(2)) / 2,
        "That is the share between 0 and 2. The bin has two halves.",
    ),
    of_scaled_scores=(
        math.erf(2 / math.sqrt(2)),
        "That is the share of scaled scores. These are as they come.",
    ),
)
