"""Many queries and a single key: which variance is that?

Source: any text on estimation; for the scores Vaswani et al. (2017), section 3.2.1.
"""

from functools import cache

import numpy as np

from autograder.exercise import Choice, Exercise, Numbers, require
from autograder.exercise.properties import drawn

exercise = Exercise(
    "variance_trap",
    title="One key is not a sample of keys",
    source="Vaswani et al. (2017), section 3.2.1, footnote 4, put to the test",
    minutes=20,
    hints=[
        "While the key stays fixed, what is random in q · k? Write the variance over q alone.",
        "Compare your two rows of numbers with each other before you read on: how far are "
        "they apart, and how far from d?",
        "For a fair estimate no draw is used twice: n queries, n keys, n scores.",
    ],
)

widths = (8, 32, 128, 512)


def scored(queries, key):
    """The scores of all queries with the one key, and the key."""
    return queries @ key.T, key


@cache  # each part and each mistake wants them again
def experiment():
    """Return scores and key for each width, from the generator that the notebook seeds."""
    state = np.random.RandomState(42)
    return [scored(state.randn(1000, d), state.randn(1, d)) for d in widths]


@cache
def seeded_anew():
    """Return the same, with the seed set for each width."""
    found = []
    for d in widths:
        state = np.random.RandomState(42)
        found.append(scored(state.randn(1000, d), state.randn(1, d)))
    return found


@cache
def newer_generator():
    """Return the same, from `default_rng` with this seed."""
    rng = np.random.default_rng(42)
    return [scored(rng.standard_normal((1000, d)), rng.standard_normal((1, d))) for d in widths]


@exercise.part(points=2, answer=Numbers())
def var():
    """The variance of the 1000 scores, for the four widths."""
    return np.array([s.var() for s, _ in experiment()])


@var.misconception()
def seeded_for_each_width():
    """You set the seed anew for each width. It is set once, before the first one."""
    return np.array([s.var() for s, _ in seeded_anew()])


@var.misconception()
def another_generator():
    """These are numbers of `default_rng`. Run the experiment as it stands, with its generator."""
    return np.array([s.var() for s, _ in newer_generator()])


@var.misconception()
def what_theory_says():
    """You gave the widths themselves. Run the experiment: it says something else."""
    return np.array(widths, float)


@var.misconception()
def standard_deviations():
    """These are standard deviations. Asked for are variances."""
    return np.array([s.std() for s, _ in experiment()])


@var.misconception()
def scaled_variances():
    """You divided by √d first. Here the scores are raw."""
    return np.array([(s / np.sqrt(len(k[0]))).var() for s, k in experiment()])


@exercise.part(points=1.5, answer=Numbers())
def ksq():
    """The squared length of each of the four keys."""
    return np.array([(k**2).sum() for _, k in experiment()])


@ksq.alternative
def of_the_keys_drawn(var):
    """Of the run that `var` comes from, whichever that is."""
    runs = experiment(), seeded_anew(), newer_generator()
    return min(
        ([(k**2).sum() for _, k in run] for run in runs),
        key=lambda lengths: np.abs(np.log(lengths / np.abs(var))).max(),
    )


@ksq.misconception()
def keys_seeded_for_each_width():
    """You set the seed anew for each width. It is set once, before the first one."""
    return np.array([(k**2).sum() for _, k in seeded_anew()])


@ksq.misconception()
def lengths():
    """These are lengths, not yet squared."""
    return np.array([np.linalg.norm(k) for _, k in experiment()])


@ksq.misconception()
def mean_squares():
    """These are means of squares. A squared length is a sum."""
    return np.array([(k**2).mean() for _, k in experiment()])


@exercise.part(
    points=0.5,
    answer=Choice(
        [
            "$\\operatorname{Var}(q \\cdot k) = d$, but 1000 queries are far too few.",
            "$\\operatorname{Var}(q \\cdot k) = d$, but `randn` is a poor generator.",
            "The variance of $q \\cdot k$ for one given $k$. That is $\\lVert k \\rVert^2$, "
            "which itself varies around $d$ by a share of $\\sqrt{2/d}$.",
            "$\\operatorname{Var}(q \\cdot k) = d$, but `.var()` divides by $n$ instead of $n - "
            "1$.",
        ]
    ),
)
def estimated():
    """What does the experiment estimate?"""
    return "C"


estimated.mistakes(
    too_few_queries=(
        "A",
        "More queries would make each number more exact. But what would it come close to?",
    ),
    bad_generator=("B", "The generator is fine. Compare your two rows of numbers."),
    divided_by_n=("D", "For 1000 scores, dividing by 999 instead of 1000 changes a thousandth."),
)


@exercise.reference
def fair_variance(d: int, n: int, seed: int) -> float:
    """Draw n independent pairs of a query and a key; return the variance of their scores."""
    q, k = np.random.default_rng(seed).standard_normal((2, n, d))
    return float((q * k).sum(axis=1).var())


@exercise.alternative
def with_einsum(d, n, seed):
    """Sum over the entries with einsum."""
    rng = np.random.default_rng([seed, 7])
    scores = np.einsum("ij,ij->i", rng.normal(size=(n, d)), rng.normal(size=(n, d)))
    return np.mean(scores**2) - np.mean(scores) ** 2


@exercise.alternative
def column_by_column(d, n, seed):
    """Add up entry by entry; needs less memory."""
    rng, scores = np.random.RandomState(seed), np.zeros(n)
    for _ in range(d):
        scores += rng.randn(n) * rng.randn(n)
    return np.var(scores, ddof=1)


@exercise.alternative
def in_batches(d, n, seed):
    """Collect the scores of a thousand pairs at a time."""
    rng = np.random.default_rng(seed)
    rest = [min(1000, n - start) for start in range(0, n, 1000)]
    scores = [(rng.normal(size=(m, d)) * rng.normal(size=(m, d))).sum(axis=1) for m in rest]
    return np.concatenate(scores).var()


#: A right estimate from 50,000 pairs is farther off less than once in ten million cases.
CLOSE = 0.05


@exercise.check(points=2)
def close_to_the_width(call, rng):
    """Within 5 % of d for 50,000 pairs; with fewer the results scatter as measured ones do."""
    found = []
    for d in (4, 8, 12):
        value = np.asarray(call(d, 50_000, int(rng.integers(1000))))
        require(value.shape == () and value.dtype.kind == "f", "the result is not one number")
        require(abs(value - d) < CLOSE * d, "the variance is more than 5 % away from d")
        found.append(float(value) / d)
    require(1.0 not in found, "the result is exactly d: is it measured?")
    for pairs in (64, 1024):
        seeds = rng.choice(1000, 40, replace=False)
        few = [float(value) for value in call.each(*((6, pairs, int(seed)) for seed in seeds))]
        scatter = np.std(few) / 6 / np.sqrt(3 / pairs)  # in units of what theory says
        require(
            1 / 2 < scatter < 2,
            f"with {pairs} pairs the results of 40 seeds don't scatter as measured ones do: are "
            "pairs drawn?",
        )
    drawn(call, 12, 50_000, 1000, numbers=50_000 * 12)


@exercise.misconception
def one_key_only(d, n, seed):
    """You draw one key for all queries, so the result is its squared length."""
    rng = np.random.default_rng(seed)
    return float((rng.standard_normal((n, d)) @ rng.standard_normal(d)).var())


@exercise.misconception
def one_query_only(d, n, seed):
    """You draw one query for all keys, so the result is its squared length."""
    rng = np.random.default_rng(seed)
    q = rng.standard_normal(d)
    return float((rng.standard_normal((n, d)) @ q).var())


@exercise.misconception(credit=0.5)
def standard_deviation(d, n, seed):
    """That is the standard deviation. Asked for is the variance."""
    return fair_variance(d, n, seed) ** 0.5


@exercise.misconception(credit=0.5)
def query_is_the_key(d, n, seed):
    """Query and key are the same vector in yours; then the variance is 2 d."""
    q = np.random.default_rng(seed).standard_normal((n, d))
    return float((q * q).sum(axis=1).var())


@exercise.misconception(credit=0.5)
def scaled_scores(d, n, seed):
    """You divided the scores by √d. Asked for is the variance of the raw ones."""
    return fair_variance(d, n, seed) / d


@exercise.misconception(credit=0.5)
def products_not_added(d, n, seed):
    """You took the variance of all products. A score is the sum of d of them."""
    q, k = np.random.default_rng(seed).standard_normal((2, n, d))
    return float((q * k).var())


@exercise.misconception(fatal="nothing is drawn")
def nothing_drawn(d, n, seed):
    """You return the width, changed a little. Draw pairs, and measure their variance."""
    return d * (1 + 1e-9 * (seed + 1))


@exercise.misconception(fatal="nothing is drawn")
def noise_of_the_right_size(d, n, seed):
    """You return the width, with noise. Draw pairs, and measure the variance of their scores."""
    return d * (1 + np.sqrt(3 / n) * np.random.default_rng(seed).standard_normal())


@exercise.misconception(fatal="nothing is measured")
def typed_in(d, n, seed):
    """You return the width, whatever is drawn. Measure it."""
    return float(d)
