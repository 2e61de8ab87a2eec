"""Scores in 64 dimensions: one of them, and how their spread grows.

Source: Vaswani et al. (2017), "Attention is all you need", section 3.2.1.
"""

import numpy as np

from autograder.exercise import Essay, Exercise, Mismatch, Numbers, require
from autograder.exercise.properties import drawn

exercise = Exercise(
    "score_growth",
    title="Scores in 64 dimensions",
    source="Vaswani et al. (2017), section 3.2.1",
    minutes=30,
    hints=[
        "The scale is the one number for this width: work out the root of 64 in your head and"
        " check the ratio of your two answers.",
        "A variance grows like d. How does its root grow, and which slope has that on "
        "logarithmic axes?",
        "Draw queries *and* keys anew for every pair: arrays of shape (pairs, d), multiplied "
        "entry by entry and added along the last axis.",
    ],
)


@exercise.variant
def draw(rng):
    """seed: of your query and your key."""
    return {"seed": int(rng.integers(1000))}


def query_and_key(seed):
    """Return q, then k, as the notebook draws them."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal(64), rng.standard_normal(64)


@exercise.part(points=1, answer=Numbers())
def dot(seed):
    """The score q · k of your two vectors."""
    q, k = query_and_key(seed)
    return q @ k


@dot.misconception()
def query_with_itself(seed):
    """You multiplied the query with itself. The key is drawn after it, by the same generator."""
    q, _ = query_and_key(seed)
    return q @ q


@dot.misconception()
def rows_of_one_draw(seed):
    """You drew pairs: q is the first 64 numbers, k the next 64."""
    both = np.random.default_rng(seed).standard_normal((64, 2))
    return both[:, 0] @ both[:, 1]


@dot.misconception()
def mean_of_products(seed):
    """You averaged the products. A dot product adds them up."""
    q, k = query_and_key(seed)
    return q @ k / 64


@dot.misconception()
def older_generator(seed):
    """These are numbers of `np.random.seed`, an older generator. Take the one of the notebook."""
    q, k = np.random.RandomState(seed).randn(2, 64)
    return q @ k


@exercise.part(points=1, answer=Numbers())
def scaled(dot):
    """The same score, scaled as in attention."""
    return dot / 8


@scaled.misconception()
def divided_by_d(dot):
    """You divided by d_k. It is the root of d_k."""
    return dot / 64


@scaled.misconception()
def divided_by_root_two(dot):
    """You divided by the root of the number of vectors. The scale comes from their width."""
    return dot / np.sqrt(2)


@scaled.misconception()
def multiplied(dot):
    """You multiplied by √d_k: that makes the spread larger still."""
    return dot * 8


@exercise.part(points=1, answer=Numbers())
def sd():
    """The standard deviation of q · k for d = 1, 4, 16, 64, 256, 1024."""
    return np.sqrt([1, 4, 16, 64, 256, 1024])


sd.mistakes(
    variances=(
        np.array([1, 4, 16, 64, 256, 1024.0]),
        "These are variances. A standard deviation is the root of one.",
    ),
    scaled_ones=(np.ones(6), "These are those of scaled scores. Asked for are the raw ones."),
)


widths = np.array([4, 8, 16, 32, 64])


def fitted(spread):
    """Return the slope of log(spread) against log(width)."""
    return float(np.polyfit(np.log(widths), np.log(spread), 1)[0])


@exercise.reference
def slope(seed: int) -> float:
    """Measure the slope of log sd against log d with 20,000 pairs for each width."""
    rng = np.random.default_rng(seed)
    pairs = [rng.standard_normal((2, 20_000, d)) for d in widths]
    return fitted([np.std((q * k).sum(axis=1)) for q, k in pairs])


@exercise.alternative
def by_least_squares(seed):
    """Solve for slope and intercept, with einsum and base 2."""
    rng = np.random.default_rng([seed, 1])
    spread = []
    for d in widths:
        q, k = rng.standard_normal((20_000, d)), rng.standard_normal((20_000, d))
        spread.append(np.sqrt(np.einsum("nd,nd->n", q, k).var(ddof=1)))
    A = np.column_stack([np.log2(widths), np.ones(5)])
    return np.linalg.lstsq(A, np.log2(spread), rcond=None)[0][0]


@exercise.alternative
def by_covariance(seed):
    """Covariance over variance, with the legacy generator."""
    rng = np.random.RandomState(seed)
    x = np.log(widths)
    y = [np.log((rng.randn(20_000, d) * rng.randn(20_000, d)).sum(1).std()) for d in widths]
    return np.cov(x, y)[0, 1] / np.var(x, ddof=1)


@exercise.alternative
def by_the_largest_steps(seed):
    """Average the slopes between the two narrowest and the two widest, in one draw."""
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, 20_000, 64))
    partial = np.log(np.cumsum(q * k, axis=1).std(axis=0))[widths - 1]
    return float((partial[3:].mean() - partial[:2].mean()) / (3 * np.log(2)))


#: Slopes scatter by 0.0025; those of six seeds by a 25th of it less than once in a million cases.
#: A slope takes a twentieth of a second, so no more seeds are asked for.
SCATTER = 0.0001, 0.01


@exercise.check(points=2)
def measures_the_slope(call, rng):
    """A slope of 0.5 within 0.02, measured anew for each seed: six scatter as measured ones do."""
    values = [call(int(seed)) for seed in rng.choice(1000, 6, replace=False)]
    for value in values:
        number = np.asarray(value)
        require(number.shape == () and number.dtype.kind == "f", "the slope is not one number")
        if abs(number - 1) < 0.1:
            raise Mismatch("this is the slope of the variance: take the root")
        if abs(number - 2) < 0.2:
            raise Mismatch("this is the slope of log d against log sd: exchange the two")
        require(abs(number - 0.5) < 0.02, "the slope is more than 0.02 away from the expected one")
    require(len(set(map(float, values))) > 1, "all seeds give the same slope: is it measured?")
    least, most = SCATTER
    require(
        least < np.std(values) < most,
        "the slopes of six seeds don't scatter as those of 20,000 pairs do: is it measured?",
    )
    drawn(call, 1000, numbers=20_000 * 64)


@exercise.misconception(credit=0.5)
def of_the_variance(seed):
    """That is the slope of the variance. Take the root first."""
    rng = np.random.default_rng(seed)
    pairs = [rng.standard_normal((2, 20_000, d)) for d in widths]
    return fitted([np.var((q * k).sum(axis=1)) for q, k in pairs])


@exercise.misconception(credit=0.5)
def products_not_added(seed):
    """Your spread is that of single products. A score is a sum of d of them."""
    rng = np.random.default_rng(seed)
    pairs = [rng.standard_normal((2, 20_000, d)) for d in widths]
    return fitted([np.std(q * k) for q, k in pairs])


@exercise.misconception(credit=0.5)
def one_key_for_all(seed):
    """You drew one key for all queries: its length by accident is in the result."""
    rng = np.random.default_rng(seed)
    pairs = [(rng.standard_normal((20_000, d)), rng.standard_normal(d)) for d in widths]
    return fitted([np.std(Q @ k) for Q, k in pairs])


@exercise.misconception(credit=0.5)
def axes_exchanged(seed):
    """Your slope is that of log d against log sd: exchange the two."""
    rng = np.random.default_rng(seed)
    pairs = [rng.standard_normal((2, 20_000, d)) for d in widths]
    spread = [np.std((q * k).sum(axis=1)) for q, k in pairs]
    return float(np.polyfit(np.log(spread), np.log(widths), 1)[0])


@exercise.misconception(fatal="nothing is measured")
def typed_in(seed):
    """You return what theory says, whatever the seed. Measure it."""
    return 0.5


@exercise.misconception(fatal="nothing is drawn")
def nothing_drawn(seed):
    """You return what theory says, changed a little for each seed. Draw pairs, and measure it."""
    return 0.5 + 1e-9 * seed


@exercise.misconception(fatal="nothing is drawn")
def noise_of_the_right_size(seed):
    """You return what theory says, with noise. Draw pairs, and measure their scores."""
    return 0.5 + 0.0025 * np.random.default_rng(seed).standard_normal()


@exercise.misconception(credit=0.5)
def without_logarithms(seed):
    """The slope is to be measured on logarithmic axes: log sd against log d."""
    rng = np.random.default_rng(seed)
    pairs = [rng.standard_normal((2, 20_000, d)) for d in widths]
    return float(np.polyfit(widths, [np.std((q * k).sum(axis=1)) for q, k in pairs], 1)[0])


@exercise.part(points=2, answer=Essay())
def why_it_helps():
    """Why does dividing by √d_k help?

    (1) The spread of the scores no longer depends on the width.

    (2) At the start of training the softmax is then neither flat nor nearly one-hot.

    (3) Its Jacobian is not close to 0, so gradients get through.

    (4) It is the spread that grows with the width, not the mean, which is 0 for every width.
    """
    return (
        "The mean of q·k is 0 for every width, but its standard deviation is √d. Divided by it, "
        "scores have a spread of about 1 whatever the width is, so that at initialisation the "
        "softmax is neither flat nor one-hot, and its Jacobian, which vanishes at a one-hot "
        "vector, lets gradients through."
    )
